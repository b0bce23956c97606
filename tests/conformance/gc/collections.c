/* The collections that a program asks for, and those that come by themselves. */
#include "gc/journal.h"

#include "base/check.h"
#include "gc/collect/collector.h"
#include "gc/domains/heap.h"
#include <sched.h>
#include <string.h>

/* ---- minor collections ---- */

static _Atomic(long) released;
static void release(void *bytes) {
  (void)bytes;
  atomic_fetch_add(&released, 1);
}
static const wn_custom_ops counted = {"counted", release};

static void dead_custom(wn_domain *domain) {
  WN_SCOPE(domain);
  assert_false(wn_is_null(wn_alloc_custom(domain, &counted, 8, 0)));
}

static void what_an_old_field_leads_to_is_promoted_side_by_side(void **state) { /* G24 */
  enum { LISTS = 40, LENGTH = 20, APART = 3 * sizeof(wn_value) };
  struct journal of;
  wn_heap_options options = without_helpers();
  (void)state;
  options.parameters.minor_heap_size = 1 << 14; /* in the tiny build, too */
  journal_open(&of, &options);
  wn_ref array = wn_alloc(of.domain, LISTS, 0);
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  for (size_t i = 0; i < LISTS; i++) {
    WN_SCOPE(of.domain);
    wn_set(of.domain, array, i, make_list(of.domain, LENGTH, 2));
  }
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  int together = 0;
  for (size_t i = 0; i < LISTS; i++) {
    wn_value first = wn_field(array, i), second = wn_field_of(first, 0);
    together += first - second == APART || second - first == APART;
  }
  assert_in_range(together, LISTS * 3 / 4, LISTS); /* but where a pool ends */
  journal_close(&of);
}

struct sleeper {
  _Atomic(int) step;
  long size;
};

static void fill_and_wait(wn_domain *domain, void *argument) {
  struct sleeper *sleeper = argument;
  WN_SCOPE(domain);
  wn_ref list = make_list(domain, 50, 2);
  dead_custom(domain);
  atomic_store(&sleeper->step, 1);
  wait_for_step(domain, &sleeper->step, 2);
  assert_int_equal(wn_gc_get_minor_free(domain), sleeper->size);
  assert_int_equal(length_of(domain, list), 50);
}

static void a_minor_collection_empties_the_minor_heaps_of_all_domains_and_counts_once(void **state) {
  /* G4, G24 */
  (void)state;
  struct journal of;
  struct sleeper sleeper = {0};
  journal_open(&of, NULL);
  sleeper.size = get_control(of.domain).minor_heap_size;
  atomic_store(&released, 0);
  wn_join *join = spawn(of.domain, fill_and_wait, &sleeper);
  wait_for_step(of.domain, &sleeper.step, 1);
  long before = quick_stat(of.domain).minor_collections;
  allocate(of.domain, 10, 3);
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  assert_int_equal(atomic_load(&released), 1);
  assert_int_equal(wn_gc_get_minor_free(of.domain), sleeper.size);
  assert_int_equal(quick_stat(of.domain).minor_collections, before + 1);
  atomic_store(&sleeper.step, 2);
  join_wait(of.domain, join);
  journal_close(&of);
}

static void raise_seven(wn_domain *domain, void *context) {
  WN_SCOPE(domain);
  (void)context;
  wn_raise(domain, block_of(domain, 7));
}

static void callbacks_of_a_minor_collection_run_before_it_returns_and_may_raise(void **state) { /* G24 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry entry = {&of, 1};
  dead_last(&of, &entry);
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 1);
  {
    WN_SCOPE(of.domain);
    {
      WN_SCOPE(of.domain);
      assert_int_equal(wn_gc_finalise_last(of.domain, raise_seven, NULL, block_of(of.domain, 0)), WN_OK);
    }
    assert_int_equal(wn_gc_minor(of.domain), WN_EBUSY);
    assert_int_equal(number_of(wn_take_exception(of.domain)), 7);
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  }
  journal_close(&of);
}

/* ---- slices ---- */

static void a_slice_begins_with_a_minor_collection(void **state) { /* G25 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  const long words[] = {0, 1, 1 << 20, -5};
  for (int i = 0; i < 4; i++) {
    allocate(of.domain, 10, 5);
    long before = quick_stat(of.domain).minor_collections;
    assert_true(wn_gc_major_slice(of.domain, words[i]) >= 0);
    assert_int_equal(wn_gc_get_minor_free(of.domain), get_control(of.domain).minor_heap_size);
    assert_int_equal(quick_stat(of.domain).minor_collections, before + 1);
  }
  journal_close(&of);
}

/* How many slices of so many words a cycle takes, in a heap that was at rest. */
static long slices_of_a_cycle(long words) {
  struct journal of;
  long slices = 0;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 20000, 9);
    wn_gc_full_major(of.domain);
    long before = quick_stat(of.domain).major_collections;
    for (; slices < 100000 && quick_stat(of.domain).major_collections == before; slices++)
      wn_gc_major_slice(of.domain, words);
    assert_int_equal(quick_stat(of.domain).major_collections, before + 1);
    assert_int_equal(quick_stat(of.domain).forced_major_collections, 1);
  }
  journal_close(&of);
  return slices;
}

static void slices_alone_complete_a_cycle_the_larger_the_sooner(void **state) { /* G25 */
  (void)state;
  assert_in_range(slices_of_a_cycle(1L << 40), 1, 4);
  long large = slices_of_a_cycle(50000), small = slices_of_a_cycle(TINY ? 20000 : 10000);
  assert_true(large < small);
}

/* One block, in which there is nothing more to mark. */
static void a_slice_ends_within_a_block_that_is_larger(void **state) { /* G25 */
  (void)state;
  enum { WORDS = 1 << 20, SLICE = 10000 };
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_alloc(of.domain, WORDS, 0);
    wn_gc_full_major(of.domain);
    long before = quick_stat(of.domain).major_collections, slices = 0;
    for (; slices < 100000 && quick_stat(of.domain).major_collections == before; slices++)
      wn_gc_major_slice(of.domain, SLICE);
    assert_in_range(slices, WORDS / SLICE / 2, WORDS / SLICE * 2);
  }
  journal_close(&of);
}

static void a_slice_of_the_computed_size_leaves_less_to_do(void **state) { /* G25 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 4096;
  options.parameters.space_overhead = 20;
  journal_open(&of, &options);
  assert_int_equal(wn_gc_major_slice(of.domain, 0), 0); /* at rest there is no debt */
  {
    WN_SCOPE(of.domain);
    wn_ref list = make_list(of.domain, 20000, 5);
    wn_gc_full_major(of.domain);
    long computed = 0;
    for (int i = 0; i < 100000 && computed <= 0; i++) {
      WN_SCOPE(of.domain);
      wn_assign(list, make_list(of.domain, 20, 5));
      computed = wn_gc_major_slice(of.domain, 1);
    }
    assert_true(computed > 0);
    long again = wn_gc_major_slice(of.domain, 0);
    assert_in_range(again, 0, computed);
    if (!TINY) assert_true(wn_gc_major_slice(of.domain, 0) < computed);
  }
  journal_close(&of);
}

/* ---- cycles ---- */

static void begin_a_cycle(wn_domain *domain, const wn_heap *heap) {
  for (int i = 0; i < 10 && heap_phase(heap) != PHASE_MARK; i++) wn_gc_major_slice(domain, 1);
  assert_int_equal(heap_phase(heap), PHASE_MARK);
}

/* What paces the next cycle. Blocks of these sizes fill their places; in the tiny build large ones
 * have places of other sizes. */
static void a_cycle_finds_the_words_that_are_live(void **state) { /* G30 */
  static const size_t sizes[] = {1, 2, 6, 511, 100351};
  const size_t count = TINY ? 3 : sizeof sizes / sizeof *sizes;
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    for (size_t i = 0; i < count; i++) make_list(of.domain, 20, sizes[i]);
    allocate(of.domain, 1000, 3);
    wn_gc_full_major(of.domain);
    wn_gc_stat stat = read_stat(of.domain);
    assert_true(stat.live_words >= 20 * (2 + 3 + 7));
    assert_int_equal(atomic_load(&of.heap->collector->pace.live_words), stat.live_words);
  }
  journal_close(&of);
}

static void major_finishes_the_cycle_that_runs_and_full_major_one_more(void **state) { /* G5, G26 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 5000, 5);
    wn_gc_major(of.domain);
    long cycles = quick_stat(of.domain).major_collections;
    assert_int_equal(wn_gc_major(of.domain), WN_OK); /* at rest: a cycle of its own */
    assert_int_equal(quick_stat(of.domain).major_collections, cycles + 1);
    begin_a_cycle(of.domain, of.heap);
    assert_int_equal(wn_gc_major(of.domain), WN_OK);
    assert_int_equal(quick_stat(of.domain).major_collections, cycles + 2);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(quick_stat(of.domain).major_collections, cycles + 3);
    begin_a_cycle(of.domain, of.heap);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(quick_stat(of.domain).major_collections, cycles + 5);
    assert_int_equal(wn_gc_get_minor_free(of.domain), get_control(of.domain).minor_heap_size);
  }
  journal_close(&of);
}

/* Leaves old garbage in a ring, and young garbage, and blocks. */
static void leave_garbage_and_block(wn_domain *domain, void *argument) {
  struct sleeper *sleeper = argument;
  {
    WN_SCOPE(domain);
    wn_ref ring = wn_alloc(domain, 2, 0), last = wn_pair(domain, 0, ring, ring);
    wn_set(domain, ring, 0, last);
    wn_set(domain, ring, 1, wn_alloc_custom(domain, &counted, 8, 0));
    wn_gc_minor(domain);
  }
  dead_custom(domain);
  wn_blocking_begin(domain);
  atomic_store(&sleeper->step, 1);
  while (atomic_load(&sleeper->step) < 2) sched_yield();
  wn_blocking_end(domain);
}

static void a_full_collection_collects_the_garbage_of_all_domains(void **state) { /* G27 */
  (void)state;
  struct journal of;
  struct sleeper sleeper = {0};
  journal_open(&of, NULL);
  atomic_store(&released, 0);
  wn_join *join = spawn(of.domain, leave_garbage_and_block, &sleeper);
  wait_for_step(of.domain, &sleeper.step, 1);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(atomic_load(&released), 2);
  atomic_store(&sleeper.step, 2);
  join_wait(of.domain, join);
  journal_close(&of);
}

/* Far more to mark at once than a mark stack of 16 entries holds. */
static void wide_and_deep_structures_survive_a_mark_stack_that_is_too_small(void **state) { /* G27 */
  (void)state;
  enum { LISTS = TINY ? 300 : 20000 };
  struct journal of;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = "mark_stack=16";
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref table = wn_alloc(of.domain, LISTS, 0);
    for (size_t i = 0; i < LISTS; i++) {
      WN_SCOPE(of.domain);
      wn_set(of.domain, table, i, make_list(of.domain, (long)i % 10, 2));
    }
    wn_ref deep = make_list(of.domain, LISTS, 1);
    for (int round = 0; round < 3; round++) {
      assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
      for (size_t i = 0; i < LISTS; i++) {
        WN_SCOPE(of.domain);
        assert_int_equal(length_of(of.domain, wn_get(of.domain, table, i)), i % 10);
      }
      assert_int_equal(length_of(of.domain, deep), LISTS);
    }
  }
  journal_close(&of);
}

static long forced(wn_domain *domain) { return quick_stat(domain).forced_major_collections; }

static void only_full_majors_and_compactions_that_complete_are_forced_ones(void **state) { /* G10, G26 */
  (void)state;
  struct journal of;
  wn_gc_stat stat;
  journal_open(&of, NULL);
  wn_gc_minor(of.domain);
  wn_gc_major(of.domain);
  wn_gc_major_slice(of.domain, 1 << 20);
  wn_gc_read_stat(of.domain, &stat);
  assert_int_equal(forced(of.domain), 0);
  wn_gc_full_major(of.domain);
  assert_int_equal(forced(of.domain), 1);
  wn_gc_compact(of.domain);
  assert_int_equal(forced(of.domain), 2);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise_last(of.domain, raise_seven, NULL, block_of(of.domain, 0)), WN_OK);
  }
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_full_major(of.domain), WN_EBUSY);
    assert_int_equal(forced(of.domain), 2);
    wn_take_exception(of.domain);
  }
  journal_close(&of);
}

/* ---- compactions ---- */

static void compact_gives_empty_memory_back_and_keeps_what_is_live(void **state) { /* G28 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref kept = make_list(of.domain, 100, 20);
    wn_gc_full_major(of.domain);
    {
      WN_SCOPE(of.domain);
      make_list(of.domain, TINY ? 30 : 3000, 1000);
      make_list(of.domain, 4, 300000);
      wn_gc_minor(of.domain);
    }
    size_t before = atomic_load(&of.heap->store.chunks.mapped_bytes);
    assert_int_equal(wn_gc_compact(of.domain), WN_OK);
    size_t after = atomic_load(&of.heap->store.chunks.mapped_bytes);
    assert_true(after + (TINY ? 30 : 3000) * 8000L <= before);
    assert_true(quick_stat(of.domain).heap_words <= (long)(after / 8));
    assert_int_equal(length_of(of.domain, kept), 100);
  }
  journal_close(&of);
}

static void thousands_of_compactions_of_a_growing_list_are_sound(void **state) { /* G28 */
  (void)state;
  enum { COMPACTIONS = TINY ? 200 : 3000 };
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0));
    for (int i = 0; i < COMPACTIONS; i++) {
      WN_SCOPE(of.domain);
      wn_ref cell = wn_alloc(of.domain, 1 + (size_t)i % 40, 0);
      wn_set(of.domain, cell, 0, list);
      wn_assign(list, cell);
      assert_int_equal(wn_gc_compact(of.domain), WN_OK);
    }
    assert_int_equal(length_of(of.domain, list), COMPACTIONS);
    assert_int_equal(quick_stat(of.domain).forced_major_collections, COMPACTIONS);
  }
  journal_close(&of);
}

/* ---- by themselves ---- */

/* Each list lives until it is old, by the minor collections that `collects` asks for, or that come
 * by themselves. */
static void survive_a_while(wn_domain *domain, long i, bool collects) {
  static wn_global *kept[500];
  WN_SCOPE(domain);
  wn_global **place = &kept[i % 500];
  if (i == 0) memset(kept, 0, sizeof kept);
  if (*place) wn_global_free(domain, *place);
  *place = wn_global_new(domain, make_list(domain, 2, 20));
  if (collects && i % 8 == 0) wn_gc_minor(domain);
}
static void survive(wn_domain *domain, long i) { survive_a_while(domain, i, false); }
static void survive_if_asked(wn_domain *domain, long i) { survive_a_while(domain, i, true); }
static void allocate_large(wn_domain *domain, long i) { allocate(domain, 1, 400 + (size_t)i % 1000); }
static void allocate_huge(wn_domain *domain, long i) { allocate(domain, 1, 300000 + (size_t)i % 1000); }
static void allocate_outside(wn_domain *domain, long i) {
  WN_SCOPE(domain);
  assert_false(wn_is_null(wn_alloc_custom(domain, &counted, 8, 100000 + (size_t)i)));
}

/* Four cycles run, and the heap stays small, without more than what `kind` does. */
static void collects_itself(void (*kind)(wn_domain *, long)) {
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 8192;
  journal_open(&of, &options);
  for (long i = 0; i < 200000 && quick_stat(of.domain).major_collections < 4; i++) kind(of.domain, i);
  wn_gc_stat stat = quick_stat(of.domain);
  assert_true(stat.major_collections >= 4);
  assert_true(stat.top_heap_words < 16L << 20);
  assert_int_equal(stat.forced_major_collections, 0);
  journal_close(&of);
}

static void old_garbage_of_every_kind_is_collected_without_being_asked_for(void **state) { /* G30 */
  (void)state;
  collects_itself(survive);
  collects_itself(allocate_large);
  collects_itself(allocate_huge);
  collects_itself(allocate_outside);
}

static void a_program_that_asks_for_minor_collections_only_has_its_old_garbage_collected(void **state) {
  /* G24, G30 */
  (void)state;
  collects_itself(survive_if_asked);
}

/* Cycles of a program that has so much live, and lets more garbage than that become old. */
static long cycles_with_soft_limit(size_t bytes) {
  struct journal of;
  long cycles;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 8192;
  options.parameters.space_overhead = 500;
  options.soft_limit_bytes = bytes;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 50, 20000);
    allocate(of.domain, 400, 20000);
    cycles = quick_stat(of.domain).major_collections;
  }
  journal_close(&of);
  return cycles;
}

static void a_program_that_promotes_little_has_its_old_garbage_collected_soon(void **state) { /* G30 */
  (void)state;
  enum { MINOR_HEAPS = TINY ? 1000 : 40 };
  struct journal of;
  struct entry entry = {&of, 1};
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    register_first(&of, &entry, block_of(of.domain, 1));
    make_list(of.domain, 1000, 3);
    assert_int_equal(wn_gc_minor(of.domain), WN_OK); /* it is old, and then dead */
  }
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  long words = get_control(of.domain).minor_heap_size;
  long before = quick_stat(of.domain).minor_collections;
  while (!of.count && quick_stat(of.domain).minor_collections - before < MINOR_HEAPS) {
    allocate(of.domain, words / 40, 9);
    wn_poll(of.domain);
  }
  assert_true(of.count > 0);
  assert_int_equal(quick_stat(of.domain).forced_major_collections, 0);
  journal_close(&of);
}

static void beyond_the_soft_limit_one_cycle_follows_the_other(void **state) { /* H7 */
  (void)state;
  long without = cycles_with_soft_limit(0), far = cycles_with_soft_limit((size_t)1 << 40);
  assert_int_equal(without, far);
  long beyond = cycles_with_soft_limit(4 << 20);
  assert_true(beyond > (TINY ? without : 3 * without)); /* tiny slices hold it up */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_minor_collection_empties_the_minor_heaps_of_all_domains_and_counts_once),
      cmocka_unit_test(what_an_old_field_leads_to_is_promoted_side_by_side),
      cmocka_unit_test(callbacks_of_a_minor_collection_run_before_it_returns_and_may_raise),
      cmocka_unit_test(a_slice_begins_with_a_minor_collection),
      cmocka_unit_test(slices_alone_complete_a_cycle_the_larger_the_sooner),
      cmocka_unit_test(a_slice_ends_within_a_block_that_is_larger),
      cmocka_unit_test(a_slice_of_the_computed_size_leaves_less_to_do),
      cmocka_unit_test(a_cycle_finds_the_words_that_are_live),
      cmocka_unit_test(major_finishes_the_cycle_that_runs_and_full_major_one_more),
      cmocka_unit_test(a_full_collection_collects_the_garbage_of_all_domains),
      cmocka_unit_test(wide_and_deep_structures_survive_a_mark_stack_that_is_too_small),
      cmocka_unit_test(only_full_majors_and_compactions_that_complete_are_forced_ones),
      cmocka_unit_test(compact_gives_empty_memory_back_and_keeps_what_is_live),
      cmocka_unit_test(thousands_of_compactions_of_a_growing_list_are_sound),
      cmocka_unit_test(old_garbage_of_every_kind_is_collected_without_being_asked_for),
      cmocka_unit_test(a_program_that_asks_for_minor_collections_only_has_its_old_garbage_collected),
      cmocka_unit_test(a_program_that_promotes_little_has_its_old_garbage_collected_soon),
      one_thread_test(beyond_the_soft_limit_one_cycle_follows_the_other),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
