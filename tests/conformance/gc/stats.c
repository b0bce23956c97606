/* Statistics: counts are exact, over all domains, and cost nothing but the look. */
#include "gc/journal.h"

#include "base/check.h"
#include "gc/collect/major.h"
#include "gc/domains/domain.h"
#include <stdio.h>

static double allocated(const wn_gc_stat *stat) {
  return stat->minor_words + stat->major_words - stat->promoted_words;
}

/* ---- what was allocated ---- */

static void asking_for_minor_words_allocates_nothing(void **state) { /* G14 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  allocate(of.domain, 10, 3);
  double before = wn_gc_minor_words(of.domain), minor, promoted, major;
  assert_true(before == 40);
  wn_gc_counters(of.domain, &minor, &promoted, &major);
  assert_true(wn_gc_allocated_bytes(of.domain) == 8 * 40);
  assert_true(wn_gc_minor_words(of.domain) == before);
  assert_true(minor == before && promoted == 0 && major == 0);
  journal_close(&of);
}

static void a_million_blocks_count_exactly_whatever_is_collected_meanwhile(void **state) { /* G1, G11 */
  (void)state;
  struct journal of;
  const long blocks = TINY ? 20000 : 1000000;
  journal_open(&of, NULL);
  for (int round = 0; round < 5; round++) {
    double before = wn_gc_minor_words(of.domain);
    for (int part = 0; part < 4; part++) {
      allocate(of.domain, blocks / 4, 2);
      if (round == 1) assert_int_equal(wn_gc_minor(of.domain), WN_OK);
      if (round == 2) wn_gc_major_slice(of.domain, 0);
      if (round == 3) assert_int_equal(wn_gc_major(of.domain), WN_OK);
      if (round == 4) assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    }
    assert_true(wn_gc_minor_words(of.domain) - before == 3.0 * (double)blocks);
  }
  journal_close(&of);
}

static void survivors_count_as_promoted_once(void **state) { /* G2, G3 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    double minor, promoted, major;
    make_list(of.domain, 30, 3);
    allocate(of.domain, 5, 3);
    wn_gc_minor(of.domain);
    wn_gc_full_major(of.domain);
    wn_gc_counters(of.domain, &minor, &promoted, &major);
    assert_true(minor == 140);
    assert_true(promoted == (TINY ? promoted : 120) && promoted >= 120);
    assert_true(major == promoted);
    assert_true(wn_gc_allocated_bytes(of.domain) == 8 * 140);
  }
  journal_close(&of);
}

static void large_blocks_count_as_major_words(void **state) { /* G3 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  allocate(of.domain, 3, 1000);
  allocate(of.domain, 2, 500000);
  double minor, promoted, major;
  wn_gc_counters(of.domain, &minor, &promoted, &major);
  assert_true(minor == 0 && promoted == 0 && major == 3 * 1001 + 2 * 500001.0);
  journal_close(&of);
}

static void minor_free_is_in_words(void **state) { /* G15 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  wn_gc_control control;
  wn_gc_get(of.domain, &control);
  assert_int_equal(wn_gc_get_minor_free(of.domain), control.minor_heap_size);
  allocate(of.domain, 10, 9);
  assert_int_equal(wn_gc_get_minor_free(of.domain), control.minor_heap_size - 100);
  wn_gc_minor(of.domain);
  assert_int_equal(wn_gc_get_minor_free(of.domain), control.minor_heap_size);
  journal_close(&of);
}

/* ---- several domains ---- */

enum { SMALL_BLOCKS = TINY ? 3000 : 200000, BIG_BLOCKS = 20 };

struct work {
  double words;
  bool survives;
};

static void allocate_known(wn_domain *domain, void *argument) {
  const struct work *work = argument;
  double minor, promoted, major;
  for (int part = 0; part < 10; part++) {
    WN_SCOPE(domain);
    if (work->survives)
      make_list(domain, SMALL_BLOCKS / 10, 4);
    else
      allocate(domain, SMALL_BLOCKS / 10, 4);
    allocate(domain, BIG_BLOCKS / 10, 700);
    wn_gc_minor(domain);
  }
  wn_gc_counters(domain, &minor, &promoted, &major);
  assert_true(minor + major - promoted == work->words);
  assert_true(minor == SMALL_BLOCKS * 5.0);
  assert_true(promoted <= minor && promoted <= major);
  assert_true(wn_gc_allocated_bytes(domain) == 8 * work->words);
}

static void three_domains_allocate_exactly_what_is_counted(void **state) { /* G11, G14 */
  (void)state;
  struct journal of;
  wn_join *joins[3];
  const double words = SMALL_BLOCKS * 5.0 + BIG_BLOCKS * 701.0;
  struct work work[3] = {{words, true}, {words, false}, {words, true}};
  journal_open(&of, NULL);
  for (int i = 0; i < 3; i++) joins[i] = spawn(of.domain, allocate_known, &work[i]);
  double before = 0;
  for (int i = 0; i < 50; i++) { /* while they run, what is counted grows, by no more than there is */
    wn_gc_stat stat = i % 2 ? read_stat(of.domain) : quick_stat(of.domain);
    assert_true(allocated(&stat) >= before && allocated(&stat) <= 3 * words);
    assert_true(stat.minor_words >= stat.promoted_words);
    before = allocated(&stat);
  }
  for (int i = 0; i < 3; i++) join_wait(of.domain, joins[i]);
  wn_gc_stat stat = quick_stat(of.domain); /* those that ended are included */
  assert_true(allocated(&stat) == 3 * words);
  assert_true(wn_gc_allocated_bytes(of.domain) == 0);
  journal_close(&of);
}

/* Young blocks that two domains hold: whichever thread copies one, it is promoted once, and counts
 * where it was born. */
struct shared {
  wn_global *list;
  _Atomic(int) step;
};

static void hold_the_list(wn_domain *domain, void *argument) {
  struct shared *shared = argument;
  WN_SCOPE(domain);
  double minor, promoted, major;
  wn_ref list = wn_global_get(domain, shared->list);
  make_list(domain, 10, 4);
  atomic_store(&shared->step, 1);
  wait_for_step(domain, &shared->step, 2);
  wn_gc_counters(domain, &minor, &promoted, &major);
  assert_true(minor == 50 && promoted == 50 && major == 50);
  assert_int_equal(length_of(domain, list), TINY ? 500 : 20000);
}

static void a_block_that_two_domains_hold_is_promoted_once(void **state) { /* G2 */
  (void)state;
  for (int round = 0; round < (TINY ? 2 : 20); round++) {
    struct journal of;
    struct shared shared = {0};
    journal_open(&of, NULL);
    {
      WN_SCOPE(of.domain);
      shared.list = wn_global_new(of.domain, wn_root(of.domain, wn_int(0)));
      wn_ref list = make_list(of.domain, TINY ? 500 : 20000, 3);
      wn_global_set(of.domain, shared.list, list);
      wn_join *join = spawn(of.domain, hold_the_list, &shared);
      wait_for_step(of.domain, &shared.step, 1);
      assert_int_equal(wn_gc_minor(of.domain), WN_OK);
      wn_gc_stat stat = quick_stat(of.domain);
      double minor, promoted, major;
      wn_gc_counters(of.domain, &minor, &promoted, &major);
      assert_true(promoted == (TINY ? 500 : 20000) * 4.0 && major == promoted);
      assert_true(stat.promoted_words == promoted + 50);
      atomic_store(&shared.step, 2);
      join_wait(of.domain, join);
      wn_global_free(of.domain, shared.list);
    }
    journal_close(&of);
  }
}

static _Atomic(int) stage;

static void allocate_and_wait(wn_domain *domain, void *argument) {
  (void)argument;
  WN_SCOPE(domain);
  for (int i = 0; i < 7; i++) wn_root(domain, wn_int(i));
  allocate(domain, 12, 4);
  atomic_store(&stage, 1);
  while (atomic_load(&stage) != 2) wn_poll(domain);
}

static void what_a_running_domain_has_just_allocated_is_counted(void **state) { /* G1 */
  (void)state;
  struct journal of;
  wn_join *join;
  journal_open(&of, NULL);
  atomic_store(&stage, 0);
  join = spawn(of.domain, allocate_and_wait, NULL);
  while (atomic_load(&stage) != 1) wn_poll(of.domain);
  wn_gc_stat stat = quick_stat(of.domain);
  assert_true(stat.minor_words == 60);
  assert_int_equal(stat.stack_size, 7);
  assert_int_equal(stat.minor_collections, TINY ? stat.minor_collections : 0);
  atomic_store(&stage, 2);
  join_wait(of.domain, join);
  stat = quick_stat(of.domain);
  assert_true(stat.minor_words == 60);
  assert_int_equal(stat.stack_size, 0);
  journal_close(&of);
}

/* ---- both kinds ---- */

static void count_call(wn_domain *domain, void *context) {
  (void)domain;
  ++*(int *)context;
}

static void statistics_neither_collect_nor_call(void **state) { /* G13 */
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  int calls = 0;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  assert_int_equal(wn_gc_create_alarm(of.domain, count_call, &calls, &alarm), WN_OK);
  {
    WN_SCOPE(of.domain);
    wn_gc_finalise_last(of.domain, count_call, &calls, wn_alloc(of.domain, 3, 1));
  }
  major_full(of.domain, STOP_REQUEST); /* leaves calls due */
  wn_gc_stat before = quick_stat(of.domain);
  long free_before = wn_gc_get_minor_free(of.domain);
  for (int i = 0; i < 10; i++) {
    read_stat(of.domain);
    quick_stat(of.domain);
  }
  wn_gc_stat after = quick_stat(of.domain);
  assert_int_equal(calls, 0);
  assert_memory_equal(&before, &after, sizeof before);
  assert_int_equal(wn_gc_get_minor_free(of.domain), free_before);
  wn_poll(of.domain);
  assert_int_equal(calls, 2);
  journal_close(&of);
}

static void quick_statistics_are_the_others_but_for_the_walk(void **state) { /* G12 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 5000, 3);
    make_list(of.domain, 10, 3000);
    wn_gc_full_major(of.domain);
    wn_gc_stat full = read_stat(of.domain), quick = quick_stat(of.domain);
    assert_true(full.live_words && full.live_blocks && full.free_words && full.free_blocks &&
                full.largest_free && full.fragments);
    full.live_words = full.live_blocks = full.free_words = full.free_blocks = 0;
    full.largest_free = full.fragments = 0;
    assert_memory_equal(&full, &quick, sizeof full);
  }
  journal_close(&of);
}

static void the_most_stays_when_the_heap_shrinks(void **state) { /* G7, G10 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  long most;
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 8, 200000);
    most = quick_stat(of.domain).heap_words;
    assert_true(most >= 8 * 200001);
    assert_int_equal(quick_stat(of.domain).heap_chunks, 8);
  }
  wn_gc_full_major(of.domain);
  wn_gc_stat stat = read_stat(of.domain);
  assert_true(stat.heap_words < most);
  assert_true(stat.top_heap_words >= most);
  journal_close(&of);
}

static void each_handle_counts_in_stack_size(void **state) { /* G7 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    for (int i = 0; i < 20000; i++) {
      assert_false(wn_is_null(wn_root(of.domain, wn_int(i))));
      if (i % 5000 == 0) assert_int_equal(quick_stat(of.domain).stack_size, i + 1);
    }
  }
  assert_int_equal(quick_stat(of.domain).stack_size, 0);
  journal_close(&of);
}

static void a_compaction_collects_once_and_is_counted(void **state) { /* G10 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  wn_gc_full_major(of.domain);
  wn_gc_stat before = quick_stat(of.domain);
  assert_int_equal(wn_gc_compact(of.domain), WN_OK);
  wn_gc_stat after = quick_stat(of.domain);
  assert_int_equal(after.major_collections, before.major_collections + 1);
  assert_int_equal(after.forced_major_collections, before.forced_major_collections + 1);
  assert_int_equal(after.compactions, before.compactions + 1);
  journal_close(&of);
}

/* ---- printing ---- */

static void what_is_printed_has_the_known_layout(void **state) { /* G16 */
  (void)state;
  struct journal of;
  char expected[2000], printed[2000] = "";
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 5000, 3);
    wn_gc_full_major(of.domain);
    wn_gc_stat s = read_stat(of.domain);
    char number[40];
    int wide = snprintf(number, sizeof number, "%.0f", s.minor_words);
    int heap = snprintf(number, sizeof number, "%ld", s.top_heap_words);
    snprintf(expected, sizeof expected,
             "minor_collections:      %ld\nmajor_collections:      %ld\ncompactions:            %ld\n"
             "forced_major_collections: %ld\n\nminor_words:    %*.0f\npromoted_words: %*.0f\n"
             "major_words:    %*.0f\n\ntop_heap_words: %*ld\nheap_words:     %*ld\nlive_words:     %*ld\n"
             "free_words:     %*ld\nlargest_free:   %*ld\nfragments:      %*ld\n\nlive_blocks: %ld\n"
             "free_blocks: %ld\nheap_chunks: %ld\nstack_size: %ld\n",
             s.minor_collections, s.major_collections, s.compactions, s.forced_major_collections, wide,
             s.minor_words, wide, s.promoted_words, wide, s.major_words, heap, s.top_heap_words, heap,
             s.heap_words, heap, s.live_words, heap, s.free_words, heap, s.largest_free, heap, s.fragments,
             s.live_blocks, s.free_blocks, s.heap_chunks, s.stack_size);
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(wn_gc_print_stat(of.domain, out), WN_OK);
    rewind(out);
    assert_true(fread(printed, 1, sizeof printed - 1, out) > 0);
    fclose(out);
    assert_string_equal(printed, expected);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(asking_for_minor_words_allocates_nothing),
      cmocka_unit_test(a_million_blocks_count_exactly_whatever_is_collected_meanwhile),
      cmocka_unit_test(survivors_count_as_promoted_once),
      cmocka_unit_test(large_blocks_count_as_major_words),
      cmocka_unit_test(minor_free_is_in_words),
      cmocka_unit_test(three_domains_allocate_exactly_what_is_counted),
      cmocka_unit_test(what_a_running_domain_has_just_allocated_is_counted),
      cmocka_unit_test(a_block_that_two_domains_hold_is_promoted_once),
      cmocka_unit_test(statistics_neither_collect_nor_call),
      cmocka_unit_test(quick_statistics_are_the_others_but_for_the_walk),
      cmocka_unit_test(the_most_stays_when_the_heap_shrinks),
      cmocka_unit_test(each_handle_counts_in_stack_size),
      cmocka_unit_test(a_compaction_collects_once_and_is_counted),
      cmocka_unit_test(what_is_printed_has_the_known_layout),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
