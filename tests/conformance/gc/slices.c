/* Which domain marks and sweeps: each has a part in the work that its allocation makes. The domains
 * take turns, so that the counts do not depend on the system. */
#include "base/check.h"
#include "gc/blocks.h"

#include <string.h>
#include <winnow/events.h>

enum { HEAP_WORDS = 32768, LARGE_WORDS = 999, RING = 1000, TURNS = 100, MOST = 4 };

static struct {
  int domains;
  _Atomic(int) turn;
  /* By the number of the domain. */
  _Atomic(size_t) slice_words[MOST];
  _Atomic(int) stops[MOST];
  _Atomic(int) old_allocation_stops;
} shared;

static void hear(const wn_gc_event *event, void *context) {
  (void)context;
  assert_true(event->domain < MOST);
  if (event->kind == WN_GC_SLICE) {
    shared.slice_words[event->domain] += event->words;
  } else {
    shared.stops[event->domain]++;
    shared.old_allocation_stops += event->cause == WN_GC_CAUSE_OLD_ALLOCATION;
  }
}

static wn_domain *open_heap(wn_heap **heap, wn_gc_listener **listener) {
  wn_domain *domain;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = HEAP_WORDS;
  memset(&shared, 0, sizeof shared);
  assert_int_equal(wn_heap_open(&options, heap), WN_OK);
  assert_int_equal(wn_domain_attach(*heap, &domain), WN_OK);
  uint64_t kinds = WN_GC_EVENT(WN_GC_SLICE) | WN_GC_EVENT(WN_GC_STOP_BEGINS);
  assert_int_equal(wn_gc_listen(domain, kinds, hear, NULL, listener), WN_OK);
  return domain;
}

static void close_heap(wn_heap *heap, wn_domain *domain, wn_gc_listener *listener) {
  assert_int_equal(wn_gc_unlisten(domain, listener), WN_OK);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

static void refill(wn_domain *domain, wn_ref ring, size_t *at, size_t blocks, size_t words) {
  for (size_t i = 0; i < blocks; i++) {
    WN_SCOPE(domain);
    wn_set(domain, ring, (*at)++ % RING, wn_alloc(domain, words, 0));
  }
}

/* The first domain allocates large blocks only, a quarter of what would make it collect; the others
 * fill a minor heap each with small ones. */
static void take_turns(wn_domain *domain, void *argument) {
  int self = *(int *)argument;
  size_t at = 0;
  WN_SCOPE(domain);
  wn_ref ring = wn_alloc(domain, RING, 0);
  for (int turn = self; turn < TURNS * shared.domains; turn += shared.domains) {
    wait_for_step(domain, &shared.turn, turn);
    if (self)
      refill(domain, ring, &at, HEAP_WORDS / 11, 10);
    else
      refill(domain, ring, &at, HEAP_WORDS / 2 / 4 / (LARGE_WORDS + 1), LARGE_WORDS);
    atomic_fetch_add(&shared.turn, 1);
  }
}

static void check_parts(int domains) {
  wn_heap *heap;
  wn_gc_listener *listener;
  wn_join *joins[MOST];
  int numbers[MOST] = {0, 1, 2, 3};
  size_t all = 0;
  wn_domain *domain = open_heap(&heap, &listener);
  shared.domains = domains;
  for (int i = 1; i < domains; i++) joins[i] = spawn(domain, take_turns, &numbers[i]);
  int before = shared.stops[0];
  take_turns(domain, &numbers[0]);
  assert_int_equal(shared.stops[0], before); /* the others lead all collections */
  for (int i = 0; i < domains; i++) all += shared.slice_words[i];
  assert_true(shared.slice_words[0] > all / (size_t)domains / 20);
  for (int i = 1; i < domains; i++) join_wait(domain, joins[i]);
  close_heap(heap, domain, listener);
}

static void a_domain_that_allocates_large_blocks_only_does_its_part_of_the_slices(void **state) { /* G30 */
  (void)state;
  check_parts(2);
  check_parts(MOST);
}

static void words_that_a_collection_has_counted_begin_no_other(void **state) { /* G30 */
  wn_heap *heap;
  wn_gc_listener *listener;
  (void)state;
  wn_domain *domain = open_heap(&heap, &listener);
  for (int i = 0; i < 100; i++) {
    allocate(domain, HEAP_WORDS / 2 / 4 / (LARGE_WORDS + 1), LARGE_WORDS);
    assert_int_equal(wn_gc_minor(domain), WN_OK);
  }
  assert_int_equal(shared.old_allocation_stops, 0);
  allocate(domain, HEAP_WORDS / LARGE_WORDS, LARGE_WORDS); /* twice as much as makes it collect */
  assert_true(shared.old_allocation_stops > 0);
  close_heap(heap, domain, listener);
}

/* Half a minor heap each. The cycle ends, begins, and ends its marking: each of these is a stop. */
static void where_little_lives_not_each_large_block_begins_a_collection(void **state) { /* G30 */
  enum { BLOCKS = 100 };
  wn_heap *heap;
  wn_gc_listener *listener;
  (void)state;
  wn_domain *domain = open_heap(&heap, &listener);
  allocate(domain, BLOCKS, HEAP_WORDS / 2);
  assert_in_range(shared.old_allocation_stops, BLOCKS / 2, BLOCKS * 8 / 10);
  close_heap(heap, domain, listener);
}

/* What is live lasts for so many half minor heaps that each of them would be too much. */
static void beside_much_that_lives_large_blocks_begin_few_collections(void **state) { /* G30 */
  enum { LIVE = 40 * HEAP_WORDS, ALLOWANCE = LIVE / 100 * 120, ALLOWANCES = 3 };
  wn_heap *heap;
  wn_gc_listener *listener;
  (void)state;
  if (TINY) skip(); /* its slices are too small for so much */
  wn_domain *domain = open_heap(&heap, &listener);
  {
    WN_SCOPE(domain);
    wn_ref live = make_list(domain, LIVE / (LARGE_WORDS + 1), LARGE_WORDS);
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
    wn_gc_stat before = quick_stat(domain);
    shared.old_allocation_stops = 0;
    allocate(domain, ALLOWANCES * (ALLOWANCE / (LARGE_WORDS + 1)), LARGE_WORDS);
    wn_gc_stat after = quick_stat(domain);
    assert_in_range(shared.old_allocation_stops, ALLOWANCES * 4, ALLOWANCES * 14);
    assert_int_equal(after.minor_collections - before.minor_collections, shared.old_allocation_stops);
    assert_in_range(after.major_collections - before.major_collections, ALLOWANCES, 2 * ALLOWANCES);
    assert_true(after.top_heap_words < LIVE + ALLOWANCE + ALLOWANCE / 8);
    assert_false(wn_is_int(wn_value_of(live)));
  }
  close_heap(heap, domain, listener);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_domain_that_allocates_large_blocks_only_does_its_part_of_the_slices),
      cmocka_unit_test(words_that_a_collection_has_counted_begin_no_other),
      cmocka_unit_test(where_little_lives_not_each_large_block_begins_a_collection),
      one_thread_test(beside_much_that_lives_large_blocks_begin_few_collections),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
