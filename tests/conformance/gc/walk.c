/* What the walk of the heap tells: each word is live, free or a fragment. */
#include "gc/journal.h"

#include "base/check.h"
#include "gc/collect/major.h"
#include "gc/domains/heap.h"

static void live_words_are_those_of_the_blocks(void **state) { /* G8 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_gc_full_major(of.domain);
    wn_gc_stat stat = read_stat(of.domain);
    assert_int_equal(stat.live_blocks, 0);
    assert_int_equal(stat.live_words, 0);
    make_list(of.domain, 1000, 1);
    make_list(of.domain, 1000, 16); /* whose class has a word too much */
    make_list(of.domain, 100, 256);
    make_list(of.domain, 10, 300);
    make_list(of.domain, 2, 300000);
    allocate(of.domain, 1000, 5);
    allocate(of.domain, 5, 5000);
    wn_gc_full_major(of.domain);
    stat = read_stat(of.domain);
    assert_int_equal(stat.live_blocks, 2112);
    assert_int_equal(stat.live_words, 1000 * 2 + 1000 * 17 + 100 * 257 + 10 * 301 + 2 * 300001);
    assert_true(stat.fragments >= 1000);
    assert_true(stat.heap_chunks >= 4);
  }
  wn_gc_full_major(of.domain);
  wn_gc_stat stat = read_stat(of.domain);
  assert_int_equal(stat.live_words, 0);
  journal_close(&of);
}

static void the_walk_is_exact_in_every_phase(void **state) { /* G9, G13 */
  (void)state;
  struct journal of;
  bool seen[3] = {false, false, false};
  wn_heap_options options = without_helpers();
  options.parameters.space_overhead = 50;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, TINY ? 500 : 100000, 5);
    make_list(of.domain, TINY ? 20 : 300, 400);
    for (int i = 0; i < 100000 && !(seen[0] && seen[1] && seen[2]); i++) {
      WN_SCOPE(of.domain);
      make_list(of.domain, TINY ? 5 : 50, 7);
      make_list(of.domain, 3, 300);
      int phase = heap_phase(of.heap);
      if (seen[phase] && i % 100) continue;
      read_stat(of.domain);
      assert_int_equal(heap_phase(of.heap), phase);
      seen[phase] = true;
    }
  }
  assert_true(seen[PHASE_IDLE] && seen[PHASE_MARK] && seen[PHASE_SWEEP]);
  journal_close(&of);
}

/* A whole cycle's marking: one that runs may have begun too early. */
static void reach_sweeping(struct journal *of) {
  if (heap_phase(of->heap) != PHASE_IDLE) major_finish_cycle(of->domain, STOP_REQUEST);
  for (int i = 0; i < 1000 && heap_phase(of->heap) != PHASE_SWEEP; i++) {
    major_collect(of->domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_REQUEST);
    if (heap_phase(of->heap) == PHASE_MARK) major_work(of->domain, SIZE_MAX);
  }
  assert_int_equal(heap_phase(of->heap), PHASE_SWEEP);
}

static void garbage_is_free_once_marking_has_ended(void **state) { /* G8 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  wn_gc_full_major(of.domain);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 100, 5);
    wn_ref block = wn_alloc(of.domain, 1000, 1);
    (void)block;
    wn_gc_minor(of.domain);
    wn_gc_stat stat = read_stat(of.domain);
    assert_int_equal(stat.live_words, 600 + 1001);
  }
  wn_gc_stat stat = read_stat(of.domain); /* it is not known yet */
  if (!TINY) assert_int_equal(stat.live_words, 600 + 1001);
  reach_sweeping(&of);
  stat = read_stat(of.domain);
  assert_int_equal(stat.live_words, 0);
  assert_int_equal(stat.live_blocks, 0);
  journal_close(&of);
}

static void free_runs_are_counted_one_by_one(void **state) { /* G6, G7 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref kept[5];
    {
      wn_ref blocks[9];
      for (int i = 0; i < 9; i++)
        blocks[i] = wn_alloc(of.domain, 319, 1); /* 320 words, which is what they take */
      for (int i = 0; i < 5; i++) kept[i] = blocks[2 * i];
      for (int i = 0; i < 4; i++) wn_assign_int(blocks[2 * i + 1], 0);
    }
    wn_gc_full_major(of.domain);
    wn_gc_stat stat = read_stat(of.domain);
    assert_int_equal(stat.live_words, 5 * 320);
    assert_int_equal(stat.heap_words, CHUNK_WORDS);
    assert_int_equal(stat.free_blocks, 5);
    assert_int_equal(stat.free_words, CHUNK_WORDS - 5 * 320);
    assert_int_equal(stat.largest_free, CHUNK_WORDS - 9 * 320);
    assert_int_equal(stat.fragments, 0);
    assert_int_equal(stat.heap_chunks, 1);
    wn_assign_int(kept[1], 0); /* three that touch become one */
    wn_gc_full_major(of.domain);
    stat = read_stat(of.domain);
    assert_int_equal(stat.free_blocks, 4);
    assert_int_equal(stat.live_words, 4 * 320);
  }
  journal_close(&of);
}

static void words_that_no_allocation_can_use_are_fragments(void **state) { /* G9 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref blocks[3];
    for (int i = 0; i < 3; i++) blocks[i] = wn_alloc(of.domain, 300, 1); /* 301 words take 304 */
    wn_gc_full_major(of.domain);
    wn_gc_stat stat = read_stat(of.domain);
    assert_int_equal(stat.fragments, 3 * 3);
    wn_assign_int(blocks[1], 0);
    wn_gc_full_major(of.domain);
    wn_ref smaller = wn_alloc(of.domain, 271, 1); /* takes 272: the 32 words that are left are too few */
    assert_false(wn_is_null(smaller));
    stat = read_stat(of.domain);
    assert_int_equal(stat.fragments, 2 * 3 + 32);
    assert_int_equal(stat.free_blocks, 1);
  }
  journal_close(&of);
}

static void leave_a_list(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  *(wn_global **)argument = wn_global_new(domain, make_list(domain, 100, 7));
}

static void what_domains_that_ended_left_is_still_the_heaps(void **state) { /* G6 */
  (void)state;
  struct journal of;
  wn_global *list;
  journal_open(&of, NULL);
  join_wait(of.domain, spawn(of.domain, leave_a_list, &list));
  wn_gc_full_major(of.domain);
  wn_gc_stat stat = read_stat(of.domain);
  assert_int_equal(stat.live_blocks, 100);
  assert_int_equal(stat.live_words, 800);
  assert_true(stat.heap_words >= 800);
  wn_global_free(of.domain, list);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_words_are_those_of_the_blocks),
      one_thread_test(the_walk_is_exact_in_every_phase),
      cmocka_unit_test(garbage_is_free_once_marking_has_ended),
      cmocka_unit_test(free_runs_are_counted_one_by_one),
      cmocka_unit_test(words_that_no_allocation_can_use_are_fragments),
      cmocka_unit_test(what_domains_that_ended_left_is_still_the_heaps),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
