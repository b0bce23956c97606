/* The public walk of the heap: each block once, in all phases of a cycle. */
#include "gc/collect/major.h"
#include "gc/small_heap.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <winnow/weak.h>

enum { TAGS = 256, SEEN_MOST = 4096 };

/* What a walk has found. */
struct census {
  long blocks, words, of_tag[TAGS];
  size_t outside;
  wn_value seen[SEEN_MOST];
};

static void count(const wn_gc_block *block, void *context) {
  struct census *census = context;
  assert_int_equal(block->words, wn_words(block->value));
  assert_int_equal(block->tag, wn_tag(block->value));
  assert_int_equal(block->ops != NULL, block->tag == WN_TAG_CUSTOM);
  if (census->blocks < SEEN_MOST) census->seen[census->blocks] = block->value;
  census->blocks++;
  census->words += (long)block->words + 1;
  census->of_tag[block->tag]++;
  census->outside += block->outside;
}

static int by_value(const void *a, const void *b) {
  const wn_value *one = a, *other = b;
  return (*one > *other) - (*one < *other);
}

/* The walk finds what the statistics count, and nothing twice. */
static struct census take_census(wn_domain *domain) {
  static struct census census;
  memset(&census, 0, sizeof census);
  assert_int_equal(wn_gc_walk(domain, count, &census), WN_OK);
  wn_gc_stat stat = read_stat(domain);
  assert_int_equal(census.blocks, stat.live_blocks);
  assert_int_equal(census.words, stat.live_words);
  assert_true(census.blocks <= SEEN_MOST);
  qsort(census.seen, (size_t)census.blocks, sizeof *census.seen, by_value);
  for (long i = 1; i < census.blocks; i++) assert_true(census.seen[i - 1] < census.seen[i]);
  return census;
}

static const wn_custom_ops ops = {"test", NULL};

static void every_block_is_visited_once(void **state) {
  wn_domain *domain = open_heap();
  (void)state;
  WN_SCOPE(domain);
  assert_int_equal(take_census(domain).blocks, 0);
  static const size_t sizes[] = {0, 1, 2, 40, 255, 256, 257, 300, 5000, 40000, 140000};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  for (size_t i = 0; i < SIZES; i++) wn_alloc(domain, sizes[i], 100 + (unsigned)i);
  wn_alloc_bytes(domain, 100), wn_alloc_bytes(domain, 10000);
  wn_alloc_custom(domain, &ops, 10, 1000), wn_alloc_custom(domain, &ops, 10, 3000000);
  wn_weak_new(domain, 10);
  make_list(domain, 100, 7);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  struct census census = take_census(domain);
  for (unsigned i = 0; i < SIZES; i++) assert_int_equal(census.of_tag[100 + i], 1);
  assert_int_equal(census.of_tag[1], 100);
  assert_int_equal(census.of_tag[WN_TAG_RAW], 2);
  assert_int_equal(census.of_tag[WN_TAG_CUSTOM], 2);
  assert_int_equal(census.of_tag[WN_TAG_WEAK], 1);
  assert_int_equal(census.blocks, SIZES + 100 + 5);
  assert_int_equal(census.outside, 3001000);
  close_heap(domain);
}

/* Young blocks are visited where they are after a minor collection; dead ones are not. */
static void dead_blocks_are_not_visited_when_they_are_known_to_be_dead(void **state) {
  wn_domain *domain = open_heap();
  (void)state;
  WN_SCOPE(domain);
  wn_ref kept = make_list(domain, 50, 3), lost = make_list(domain, 200, 4);
  allocate(domain, 30, 2);
  assert_int_equal(take_census(domain).blocks, 250);
  wn_assign_int(lost, 0);
  assert_int_equal(take_census(domain).blocks, 250); /* no cycle has found that they are dead */
  major_collect(domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_REQUEST);
  assert_int_equal(heap_phase(domain->heap), PHASE_MARK);
  assert_int_equal(take_census(domain).blocks, 250);
  while (heap_phase(domain->heap) == PHASE_MARK) wn_gc_major_slice(domain, 50);
  assert_int_equal(heap_phase(domain->heap), PHASE_SWEEP);
  assert_int_equal(take_census(domain).blocks, 50);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(take_census(domain).blocks, 50);
  assert_int_equal(length_of(domain, kept), 50);
  close_heap(domain);
}

/* The blocks of other domains are visited, also of one that is blocked. */
struct other {
  _Atomic(int) step;
};

static void keep_and_block(wn_domain *domain, void *argument) {
  struct other *other = argument;
  WN_SCOPE(domain);
  make_list(domain, 70, 5);
  atomic_store(&other->step, 1);
  wn_blocking_begin(domain);
  while (atomic_load(&other->step) < 2) sched_yield();
  wn_blocking_end(domain);
}

static void blocks_of_all_domains_are_visited(void **state) {
  wn_domain *domain = open_heap();
  struct other other = {0};
  (void)state;
  wn_join *join = spawn(domain, keep_and_block, &other);
  wait_for_step(domain, &other.step, 1);
  assert_int_equal(take_census(domain).blocks, 70);
  atomic_store(&other.step, 2);
  join_wait(domain, join);
  close_heap(domain);
}

/* ---- errors ---- */

static void ignore(const wn_gc_block *block, void *context) { (void)block, (void)context; }

static void walk_again(const wn_gc_block *block, void *context) {
  wn_domain *domain = context;
  assert_int_equal(wn_gc_walk(domain, ignore, NULL), WN_ESTATE);
  (void)block;
}

static void note_call(wn_domain *domain, void *context) {
  (void)domain;
  ++*(int *)context;
}

static void a_walk_is_refused_where_it_cannot_be(void **state) {
  wn_domain *domain = open_heap();
  int calls = 0;
  (void)state;
  WN_SCOPE(domain);
  assert_int_equal(wn_gc_walk(NULL, ignore, NULL), WN_EINVAL);
  assert_int_equal(wn_gc_walk(domain, NULL, NULL), WN_EINVAL);
  block_of(domain, 1);
  assert_int_equal(wn_gc_walk(domain, walk_again, domain), WN_OK);
  {
    WN_SCOPE(domain);
    assert_int_equal(wn_gc_finalise_last(domain, note_call, &calls, block_of(domain, 2)), WN_OK);
  }
  assert_int_equal(wn_gc_walk(domain, ignore, NULL), WN_OK);
  assert_int_equal(calls, 0);
  wn_poll(domain);
  assert_int_equal(calls, 1);
  close_heap(domain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_block_is_visited_once),
      cmocka_unit_test(dead_blocks_are_not_visited_when_they_are_known_to_be_dead),
      cmocka_unit_test(blocks_of_all_domains_are_visited),
      cmocka_unit_test(a_walk_is_refused_where_it_cannot_be),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
