/* Compactions of a heap that is large enough for several workers: domains that wait for the leader do
 * a part of its work. */
#include "gc/compacting.h"

#include "base/check.h"
#include "gc/collect/collector.h"
#include "gc/domains/heap.h"
#include <sched.h>

/* BLOCKS in each domain are enough for two workers besides the leader (WORKERS of compact.h). */
enum { DOMAINS = 4, BLOCKS = TINY ? 1000 : 9000, TIMES = 3 };

struct blocks {
  wn_ref array, list; /* the list's blocks lead to each other */
};

static struct blocks make_blocks(wn_domain *domain) {
  wn_ref array = make_mixed(domain, BLOCKS);
  return (struct blocks){array, make_list(domain, BLOCKS, 3)};
}

static void check_blocks(wn_domain *domain, struct blocks blocks) {
  check_mixed(domain, blocks.array);
  assert_int_equal(length_of(domain, blocks.list), BLOCKS);
}

enum { ALL_ARE_THERE = DOMAINS - 1, OVER };

static void wait_and_check(wn_domain *domain, void *argument) {
  _Atomic(int) *step = argument;
  WN_SCOPE(domain);
  struct blocks blocks = make_blocks(domain);
  atomic_fetch_add(step, 1);
  wait_for_step(domain, step, OVER);
  check_blocks(domain, blocks);
}

/* The leader offers its work, and waits until another worker has taken the first task of the step, so
 * that the scheduler does not decide whether the work is shared. */
static _Atomic(bool) holds_leader;
void __real_world_share_collection(wn_heap *heap);
void __wrap_world_share_collection(wn_heap *heap);
void __wrap_world_share_collection(wn_heap *heap) {
  struct compaction *compaction = &heap->collector->compaction;
  __real_world_share_collection(heap);
  while (holds_leader && atomic_load(&compaction->open) && !atomic_load(&compaction->next)) sched_yield();
}

static void compact_shared(const struct journal *of) {
  const struct compaction *compaction = &of->heap->collector->compaction;
  compact_heap(of->domain);
  for (unsigned step = 0; step < STEPS_SHARED; step++)
    assert_int_not_equal(atomic_load(&compaction->shared_tasks[step]), 0);
}

static void domains_that_wait_evacuate_and_update_a_part(void **state) { /* G28 */
  (void)state;
  struct journal of;
  _Atomic(int) step = 0;
  wn_join *joins[DOMAINS - 1];
  open_moving(&of);
  bool can_share = of.heap->processors > 1;
  holds_leader = can_share;
  {
    WN_SCOPE(of.domain);
    for (int i = 0; i < DOMAINS - 1; i++) joins[i] = spawn(of.domain, wait_and_check, &step);
    wait_for_step(of.domain, &step, ALL_ARE_THERE);
    struct blocks blocks = make_blocks(of.domain);
    for (int i = 0; i < TIMES && can_share; i++) compact_shared(&of);
    holds_leader = false;
    check_blocks(of.domain, blocks);
    atomic_store(&step, OVER);
    for (int i = 0; i < DOMAINS - 1; i++) join_wait(of.domain, joins[i]);
  }
  journal_close(&of);
  if (!can_share) skip(); /* the leader wakes no waiter on one processor */
}

/* Nothing is shared with a domain in a blocking section, whose thread may be anywhere. */
static void block_until_over(wn_domain *domain, void *argument) {
  _Atomic(int) *step = argument;
  WN_SCOPE(domain);
  struct blocks blocks = make_blocks(domain);
  wn_blocking_begin(domain);
  atomic_fetch_add(step, 1);
  while (atomic_load(step) < OVER) sched_yield();
  wn_blocking_end(domain);
  check_blocks(domain, blocks);
}

static void domains_that_block_leave_all_work_to_the_leader(void **state) { /* G28 */
  (void)state;
  struct journal of;
  _Atomic(int) step = 0;
  wn_join *joins[DOMAINS - 1];
  open_moving(&of);
  const struct compaction *compaction = &of.heap->collector->compaction;
  {
    WN_SCOPE(of.domain);
    for (int i = 0; i < DOMAINS - 1; i++) joins[i] = spawn(of.domain, block_until_over, &step);
    wait_for_step(of.domain, &step, ALL_ARE_THERE);
    for (int i = 0; i < 3; i++) {
      compact_heap(of.domain);
      for (unsigned k = 0; k < STEPS_SHARED; k++)
        assert_int_equal(atomic_load(&compaction->shared_tasks[k]), 0);
    }
    atomic_store(&step, OVER);
    for (int i = 0; i < DOMAINS - 1; i++) join_wait(of.domain, joins[i]);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(domains_that_wait_evacuate_and_update_a_part),
      cmocka_unit_test(domains_that_block_leave_all_work_to_the_leader),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
