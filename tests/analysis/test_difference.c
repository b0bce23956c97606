/* The interval of a difference between two runs, measured: two populations with known totals are
 * sampled, each by its own run of the real sampler, and the intervals must hold the true difference
 * in 95 of 100 pairs. With 2000 pairs the coverage of a cell has a standard error of half a
 * percent. */
#include "analysis/sampled.h"
#include "support/test.h"

#include "analysis/load/estimate.h"
#include "base/words.h"
#include "memprof/sampler.h"
#include <math.h>

enum { PAIRS = 2000, BLOCK_BYTES = 120 };

/* Blocks of which one in 16 is 20 times as large. */
static size_t size_of(unsigned i) { return i % 16 ? BLOCK_BYTES : 20 * BLOCK_BYTES; }

static double truth_of(unsigned blocks) {
  double bytes = 0;
  for (unsigned i = 0; i < blocks; i++) bytes += (double)size_of(i);
  return bytes;
}

static struct estimate sample(unsigned blocks, double rate, uint64_t seed, uint64_t stream) {
  struct sum sum = {0};
  struct thread thread;
  thread_begin(&thread, rate, seed, stream);
  for (unsigned i = 0; i < blocks; i++) {
    size_t words = malloc_words(size_of(i));
    if (is_sampled(&thread, words)) sum_add(&sum, (double)size_of(i), inclusion_probability(rate, words));
  }
  return estimate_of(&sum, 8 / rate);
}

struct cell {
  unsigned one, other; /* blocks */
  double rate;
};

static double coverage_of(const struct cell *cell, uint64_t seed, double *sure) {
  double truth = truth_of(cell->one) - truth_of(cell->other);
  int covered = 0, differ = 0;
  for (uint64_t pair = 0; pair < PAIRS; pair++) {
    struct estimate one = sample(cell->one, cell->rate, seed + pair, 1),
                    other = sample(cell->other, cell->rate, seed + pair, 2),
                    difference = difference_of(&one, &other);
    assert_true(difference.low <= difference.estimate && difference.estimate <= difference.high);
    assert_int_equal(difference.samples, one.samples + other.samples);
    covered += difference.low <= truth && truth <= difference.high;
    differ += difference_is_sure(&difference);
  }
  *sure = 100.0 * differ / PAIRS;
  return 100.0 * covered / PAIRS;
}

static void intervals_hold_the_difference_of_two_runs(void **state) {
  (void)state;
  static const struct cell cells[] = {{4000, 4000, 1e-4}, {4000, 4000, 1e-3}, {4000, 2000, 1e-3},
                                      {4000, 3600, 1e-2}, {4000, 400, 1e-3},  {4000, 100, 1e-3},
                                      {100, 4000, 2e-4},  {0, 4000, 1e-3}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    double sure, coverage = coverage_of(&cells[i], 1000 * i, &sure);
    print_message("%4u and %4u blocks at %g: %.1f %% covered, %.1f %% surely different\n", cells[i].one,
                  cells[i].other, cells[i].rate, coverage, sure);
    assert_true(coverage > 92);
    if (cells[i].one == cells[i].other) assert_true(sure < 7);
  }
}

/* Blocks of two equal runs. */
struct few {
  const char *what;
  double rate;
  size_t sizes[8]; /* up to a 0 */
};

static struct estimate sample_few(const struct few *few, uint64_t seed, uint64_t stream) {
  struct sum sum = {0};
  struct thread thread;
  thread_begin(&thread, few->rate, seed, stream);
  for (const size_t *size = few->sizes; *size; size++) {
    size_t words = malloc_words(*size);
    if (is_sampled(&thread, words)) sum_add(&sum, (double)*size, inclusion_probability(few->rate, words));
  }
  return estimate_of(&sum, 8 / few->rate);
}

/* One run may have sampled a block that the other run missed, beside blocks that are certain. */
static void equal_runs_of_few_blocks_rarely_differ(void **state) {
  (void)state;
  static const struct few all[] = {
      {"one of two is certain", 1e-3, {72704, 4096}},
      {"one is missed in four of ten", 1e-4, {80000, 10000000}},
      {"three small ones", 1e-3, {1000000, 4000, 4000, 4000}},
      {"sizes of all kinds", 1e-4, {1000000, 200000, 80000, 40000, 20000, 10000, 1000}},
      {"one alone", 1e-4, {80000}},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    int differ = 0;
    for (uint64_t pair = 0; pair < PAIRS; pair++) {
      struct estimate one = sample_few(&all[i], pair, 1), other = sample_few(&all[i], pair, 2),
                      difference = difference_of(&one, &other);
      differ += difference_is_sure(&difference);
    }
    print_message("%s: %.1f %% surely different\n", all[i].what, 100.0 * differ / PAIRS);
    assert_true(differ < 0.06 * PAIRS);
  }
}

/* A block that is never missed is new for certain. */
static void a_large_new_block_is_a_sure_difference(void **state) {
  (void)state;
  static const struct few before = {"", 1e-4, {4000000}}, after = {"", 1e-4, {4000000, 1000000}};
  for (uint64_t pair = 0; pair < 100; pair++) {
    struct estimate one = sample_few(&after, pair, 1), other = sample_few(&before, pair, 2),
                    more = difference_of(&one, &other), less = difference_of(&other, &one);
    assert_true(more.low > 0 && less.high < 0);
  }
}

static void a_difference_of_exact_numbers_is_exact(void **state) {
  (void)state;
  struct estimate one = {.estimate = 10, .low = 10, .high = 10, .samples = 5},
                  other = {.estimate = 4, .low = 4, .high = 4, .samples = 2};
  struct estimate more = difference_of(&one, &other), less = difference_of(&other, &one);
  assert_true(more.low == 6 && more.estimate == 6 && more.high == 6 && difference_is_sure(&more));
  assert_true(less.low == -6 && less.estimate == -6 && less.high == -6 && difference_is_sure(&less));
  struct estimate none = difference_of(&one, &one);
  assert_true(none.low == 0 && none.high == 0 && !difference_is_sure(&none));
}

static void each_end_rests_on_the_ends_that_matter_for_it(void **state) {
  (void)state;
  struct estimate one = {.estimate = 10, .low = 7, .high = 20, .samples = 5},
                  other = {.estimate = 5, .low = 4, .high = 9, .samples = 2};
  struct estimate difference = difference_of(&one, &other);
  assert_true(fabs(difference.low - (5 - hypot(3, 4))) < 1e-12);
  assert_true(fabs(difference.high - (5 + hypot(10, 1))) < 1e-12);
  assert_true(difference.samples == 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_hold_the_difference_of_two_runs),
      cmocka_unit_test(equal_runs_of_few_blocks_rarely_differ),
      cmocka_unit_test(a_large_new_block_is_a_sure_difference),
      cmocka_unit_test(a_difference_of_exact_numbers_is_exact),
      cmocka_unit_test(each_end_rests_on_the_ends_that_matter_for_it),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
