/* Compactions: how much memory they leave, in how many mappings, and that max_overhead has its effect
 * without a call. */
#include "gc/compacting.h"
#include "gc/mappings.h"

#include "base/check.h"
#include "gc/store/chunk.h"

/* ---- mixed heaps ---- */

static uint64_t draw(uint64_t *random) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return *random >> 33;
}

/* Of the words about half are in small blocks, a quarter in medium ones, and a quarter in large ones. */
static size_t draw_words(uint64_t *random) {
  const size_t least_large = CHUNK_WORDS / 2 + 1;
  uint64_t kind = draw(random) % 100000;
  if (kind < 99000) return 1 + draw(random) % 60;
  if (kind < 99990) return 257 + draw(random) % 2600;
  return least_large + draw(random) % least_large;
}

/* Puts a new block into a place, with the place's number in its last field. */
static void fill(wn_domain *domain, wn_ref array, size_t place, uint64_t *random) {
  WN_SCOPE(domain);
  size_t words = draw_words(random);
  wn_ref block = wn_alloc(domain, words, 1);
  wn_set_int(domain, block, words - 1, (intptr_t)place);
  wn_set(domain, array, place, block);
}

static wn_ref fill_all(wn_domain *domain, size_t places, uint64_t *random) {
  wn_ref array = wn_alloc(domain, places, 0);
  for (size_t i = 0; i < places; i++) fill(domain, array, i, random);
  return array;
}

static void check_numbers(wn_domain *domain, wn_ref array) {
  for (size_t i = 0; i < wn_words(wn_value_of(array)); i++) {
    WN_SCOPE(domain);
    wn_value block = wn_field(array, i);
    if (!wn_is_int(block))
      assert_int_equal(wn_to_int(wn_field(wn_get(domain, array, i), wn_words(block) - 1)), i);
  }
}

/* ---- what is left ---- */

enum { WORDS_A_BLOCK = 65 }; /* about, of draw_words */

static double resident_by_live(wn_domain *domain) {
  return (double)mappings_resident() / (8 * (double)read_stat(domain).live_words);
}

/* What the blocks that died had in whole chunks goes back without a compaction. */
static void a_heap_that_fell_below_half_gives_back_memory_at_the_first_cycle(void **state) { /* G31c */
  (void)state;
  enum { BYTES = 384 << 20, PLACES = BYTES / 8 / WORDS_A_BLOCK };
  struct journal of;
  uint64_t random = 1;
  if (TINY) skip();
  open_with(&of, ONLY_REQUESTED ",s=16k");
  {
    WN_SCOPE(of.domain);
    wn_ref array = fill_all(of.domain, PLACES, &random);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    for (size_t i = PLACES / 16; i < PLACES; i++) wn_set_int(of.domain, array, i, 0);
    assert_int_equal(wn_gc_major(of.domain), WN_OK);
    double share = resident_by_live(of.domain);
    print_message("%.3f of what is live is resident\n", share);
    assert_true(share < 8);
    check_numbers(of.domain, array);
  }
  journal_close(&of);
}

/* In the tiny build, minor heaps are larger than what it has time to fill. */
static void at_most_a_fifth_more_than_what_is_live_is_resident(void **state) { /* G28 */
  (void)state;
  enum { BYTES = 384 << 20 };
  struct journal of;
  uint64_t random = 1;
  if (TINY) skip();
  open_with(&of, ONLY_REQUESTED ",s=16k");
  {
    WN_SCOPE(of.domain);
    wn_ref array = fill_all(of.domain, BYTES / 8 / WORDS_A_BLOCK, &random);
    drop_four_of_five(of.domain, array);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    double before = resident_by_live(of.domain);
    compact_heap(of.domain);
    double after = resident_by_live(of.domain);
    print_message("%.3f of what is live was resident, then %.3f\n", before, after);
    assert_true(before > 2);
    assert_true(after <= 1.2);
    check_numbers(of.domain, array);
  }
  journal_close(&of);
}

/* The system allows a process 65,530 mappings. It joins neighbours, which may hide mappings that are
 * never given back, so that those are counted as Winnow asked for them, too. */
static void a_thousand_compactions_leave_few_mappings(void **state) { /* G28 */
  (void)state;
  enum { PLACES = TINY ? 1000 : 8000, TIMES = 1000, CHANGES = PLACES / 50 };
  struct journal of;
  uint64_t random = 2;
  long most = 0, most_asked = 0;
  open_moving(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref array = fill_all(of.domain, PLACES, &random);
    for (size_t i = 0; i < TIMES; i++) {
      size_t dropped = i % 20 < 10 ? 3 : 1; /* of four changes: the heap shrinks, and grows again */
      for (size_t k = 0; k < CHANGES; k++) {
        size_t place = draw(&random) % PLACES;
        if (k % 4 < dropped)
          wn_set_int(of.domain, array, place, 0);
        else
          fill(of.domain, array, place, &random);
      }
      assert_int_equal(wn_gc_compact(of.domain), WN_OK);
      long now = mappings_of_process(), asked = (long)mappings.count;
      if (now > most) most = now;
      if (asked > most_asked) most_asked = asked;
    }
    print_message("at most %ld mappings, and %ld that Winnow asked for\n", most, most_asked);
    assert_in_range(most, 1, 999);
    assert_in_range(most_asked, 1, 999);
    assert_int_equal(quick_stat(of.domain).compactions, TIMES);
  }
  journal_close(&of);
}

/* ---- without a call ---- */

static double overhead(wn_domain *domain) {
  wn_gc_stat stat = read_stat(domain);
  return (double)(stat.heap_words - stat.live_words) / (double)stat.live_words;
}

/* Allocates until a compaction has come by itself, or as many cycles have ended. */
static void allocate_until_compacted(wn_domain *domain, long cycles) {
  wn_gc_stat before = quick_stat(domain), now = before;
  for (; now.compactions == before.compactions && now.major_collections < before.major_collections + cycles;
       now = quick_stat(domain))
    allocate(domain, 100, 7);
}

/* Drops all but one block in five, others in each turn. */
static void drop_all_but(wn_domain *domain, wn_ref array, uint64_t turn) {
  uint64_t random = turn;
  for (size_t i = 0; i < wn_words(wn_value_of(array)); i++)
    if (draw(&random) % 5) wn_set_int(domain, array, i, 0);
}

static void refill(wn_domain *domain, wn_ref array, uint64_t *random) {
  for (size_t i = 0; i < wn_words(wn_value_of(array)); i++)
    if (wn_is_int(wn_field(array, i))) fill(domain, array, i, random);
}

/* Large blocks are few, and chunks are coarse: hence so large a heap, and PERCENT. */
static void max_overhead_is_kept_to_without_a_call(void **state) { /* G29 */
  (void)state;
  enum { PERCENT = 50, PLACES = TINY ? 8000 : 80000, TURNS = 3, CYCLES = 3 };
  struct journal of;
  uint64_t random = 3;
  wn_heap_options options = without_helpers();
  options.parameters.max_overhead = PERCENT;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref array = fill_all(of.domain, PLACES, &random);
    for (uint64_t turn = 0; turn < TURNS; turn++) {
      drop_all_but(of.domain, array, turn);
      wn_gc_stat before = quick_stat(of.domain);
      allocate_until_compacted(of.domain, CYCLES);
      wn_gc_stat after = quick_stat(of.domain);
      assert_int_equal(after.compactions, before.compactions + 1);
      assert_int_equal(after.forced_major_collections, before.forced_major_collections);
      assert_true(overhead(of.domain) < PERCENT / 100.0);
      check_numbers(of.domain, array);
      refill(of.domain, array, &random);
    }
  }
  journal_close(&of);
}

/* A heap of which `kept` blocks in twelve are left: the cycle whose end is followed by its only
 * compaction; 0: none of six is. */
static int cycle_that_compacts(const char *text, uint64_t kept) {
  enum { PLACES = TINY ? 3000 : 30000, CYCLES = 6 };
  struct journal of;
  uint64_t random = 4;
  int when = 0;
  open_with(&of, text);
  {
    WN_SCOPE(of.domain);
    wn_ref array = fill_all(of.domain, PLACES, &random);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    long before = quick_stat(of.domain).compactions;
    for (size_t i = 0; i < PLACES; i++)
      if (draw(&random) % 12 >= kept) wn_set_int(of.domain, array, i, 0);
    for (int cycle = 1; cycle <= CYCLES; cycle++) {
      assert_int_equal(wn_gc_major(of.domain), WN_OK);
      if (!when && quick_stat(of.domain).compactions > before) when = cycle;
    }
    assert_int_equal(quick_stat(of.domain).compactions, before + (when != 0));
    if (when) assert_true(overhead(of.domain) < (TINY ? 1 : 0.5));
    check_numbers(of.domain, array);
  }
  journal_close(&of);
  return when;
}

static void a_heap_that_became_smaller_is_compacted_when_two_cycles_have_found_it_so(void **state) { /* G29 */
  (void)state;
  assert_int_equal(cycle_that_compacts("O=500", 4), 2);
  assert_int_equal(cycle_that_compacts("O=500", 8), 0);       /* the next cycle allocates what is free */
  assert_int_equal(cycle_that_compacts("O=500,o=250", 4), 0); /* so it does here */
  assert_int_equal(cycle_that_compacts("O=1200", 4), 0);
  assert_int_equal(cycle_that_compacts("O=1000000", 1), 0);
  assert_int_equal(cycle_that_compacts("O=100", 4), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_heap_that_fell_below_half_gives_back_memory_at_the_first_cycle),
      cmocka_unit_test(at_most_a_fifth_more_than_what_is_live_is_resident),
      cmocka_unit_test(a_thousand_compactions_leave_few_mappings),
      cmocka_unit_test(max_overhead_is_kept_to_without_a_call),
      cmocka_unit_test(a_heap_that_became_smaller_is_compacted_when_two_cycles_have_found_it_so),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
