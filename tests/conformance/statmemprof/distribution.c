/* How many words are sampled, of blocks of every kind: each word, header included, with the same
 * probability.
 *
 * Sums of samples are binomial; 5.7 deviations are one false alarm in a hundred million, and seeds
 * are always the same. */
#include "tracker.h"

#include <math.h>

struct setting {
  double rate;
  size_t words;
  int blocks;
};

static void check_sum(double samples, double trials, double rate) {
  assert_true(fabs(samples - trials * rate) <= 5.7 * sqrt(trials * rate * (1 - rate)) + 0.5);
}

static void check_blocks(const struct setting *setting, bool minor) {
  struct tracked all;
  double words = (double)(setting->words + 1);
  tracked_open(&all, setting->rate);
  for (int i = 0; i < setting->blocks; i++) {
    allocate(all.of.domain, 1, setting->words);
    if (i % 64 == 0) wn_poll(all.of.domain);
  }
  wn_poll(all.of.domain);
  long born = minor ? all.allocs_minor : all.allocs_major;
  assert_int_equal(minor ? all.allocs_major : all.allocs_minor, 0);
  assert_int_equal(all.words, born * (long)setting->words);
  check_sum((double)all.samples, words * setting->blocks, setting->rate);
  /* Blocks that took a sample are binomial, too. */
  check_sum((double)born, setting->blocks, 1 - pow(1 - setting->rate, words));
  tracked_check(&all);
  tracked_close(&all);
}

static void young_blocks_of_all_sizes_are_sampled_by_their_words(void **state) { /* M1 */
  static const struct setting settings[] = {{0.01, 1, 300000}, {0.01, 25, 30000}, {0.42, 1, 30000},
                                            {0.42, 100, 300},  {0.83, 30, 2000},  {0.001, 250, 30000}};
  (void)state;
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) check_blocks(&settings[i], true);
}

static void old_blocks_of_all_sizes_are_sampled_by_their_words(void **state) { /* M1 */
  static const struct setting settings[] = {
      {0.01, 300, 3000}, {0.42, 300, 300}, {0.83, 1000, 100}, {0.1, 300000, 20}, {0.0001, 300000, 20}};
  (void)state;
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) check_blocks(&settings[i], false);
}

static void lists_are_sampled_by_their_words(void **state) { /* M1 */
  static const struct setting settings[] = {{0.1, 2, 300000}, {0.001, 2, 1000000}, {0.01, 2, 400000}};
  (void)state;
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    struct tracked all;
    tracked_open(&all, settings[i].rate);
    for (int made = 0; made < settings[i].blocks; made += 1000) {
      WN_SCOPE(all.of.domain);
      make_list(all.of.domain, 1000, 2);
      wn_poll(all.of.domain);
    }
    check_sum((double)all.samples, 3.0 * settings[i].blocks, settings[i].rate);
    tracked_close(&all);
  }
}

static void at_rate_one_the_sums_are_the_heaps_own_counters(void **state) { /* M7 */
  struct tracked all;
  double minor, promoted, major, minor_after, promoted_after, major_after;
  (void)state;
  tracked_open(&all, 1);
  wn_gc_counters(all.of.domain, &minor, &promoted, &major);
  for (size_t words = 1; words < 600; words += 7) {
    WN_SCOPE(all.of.domain);
    make_list(all.of.domain, 20, words < WN_MAX_YOUNG_WORDS ? words + 1 : 2);
    allocate(all.of.domain, 5, words);
    wn_gc_minor(all.of.domain);
  }
  wn_gc_counters(all.of.domain, &minor_after, &promoted_after, &major_after);
  assert_int_equal(all.samples,
                   (long)(minor_after - minor) + (long)(major_after - major - (promoted_after - promoted)));
  tracked_check(&all);
  tracked_close(&all);
}

/* One of ten blocks with 256 bytes outside is kept: of those told of, a tenth is promoted. */
static void memory_outside_is_sampled_and_promoted_in_proportion(void **state) { /* M13 */
  static const wn_custom_ops ops = {.name = "outside"};
  enum { BLOCKS = 20000, KEPT = 10, OUTSIDE = 256 };
  struct tracked all;
  (void)state;
  tracked_open(&all, 0.01);
  {
    WN_SCOPE(all.of.domain);
    wn_ref kept = wn_alloc(all.of.domain, BLOCKS / KEPT, 0);
    wn_poll(all.of.domain);
    long before = all.samples;
    for (size_t i = 0; i < BLOCKS; i++) {
      WN_SCOPE(all.of.domain);
      wn_ref block = wn_alloc_custom(all.of.domain, &ops, 0, OUTSIDE);
      if (i % KEPT == 0) wn_set(all.of.domain, kept, i / KEPT, block);
      wn_poll(all.of.domain);
    }
    wn_gc_minor(all.of.domain);
    wn_poll(all.of.domain);
    double own = (double)wn_words(wn_field(kept, 0)) + 1, outside = OUTSIDE / 8.0;
    check_sum((double)(all.samples - before), BLOCKS * (own + outside), 0.01);
    check_sum((double)all.promotes, (double)(all.promotes + all.deallocs_minor), 1.0 / KEPT);
  }
  tracked_check(&all);
  tracked_close(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(young_blocks_of_all_sizes_are_sampled_by_their_words),
      cmocka_unit_test(old_blocks_of_all_sizes_are_sampled_by_their_words),
      cmocka_unit_test(lists_are_sampled_by_their_words),
      cmocka_unit_test(at_rate_one_the_sums_are_the_heaps_own_counters),
      cmocka_unit_test(memory_outside_is_sampled_and_promoted_in_proportion),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
