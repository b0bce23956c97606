/* How far the peak of a report is off: it is the largest value of an estimated curve, and so of all moments that nearly
 * reach the true peak it takes the one where the sample happens to be largest. The figures are those of docs/sampling.md.
 *
 * A made-up run has BLOCKS blocks of log-uniform sizes, 16 to 4096 bytes. On a ramp none is freed, so the peak is the end
 * and nothing can be chosen. On a mountain the blocks are freed in the order in which they came. On a plateau a tenth, or a
 * fiftieth, of the blocks is alive at a time, for a whole run: the more often the heap is renewed, the more independent
 * moments there are to choose from. */
#include "support/test.h"

#include "analysis/timeline.h"
#include "base/words.h"
#include "memprof/sampler.h"
#include <math.h>
#include <stdio.h>

enum { BLOCKS = 50000, RUNS = 400 };

enum shape { RAMP, MOUNTAIN, PLATEAU_10, PLATEAU_50, SHAPES };
static const char *const shape_names[] = {"ramp", "mountain", "plateau renewed 10 times",
                                          "plateau renewed 50 times"};

static struct row rows[BLOCKS], sampled[BLOCKS];

static void make_rows(enum shape shape) {
  struct random random;
  random_seed(&random, 3, shape, 0);
  for (uint64_t i = 0; i < BLOCKS; i++) {
    uint64_t death = shape == RAMP         ? STILL_ALIVE
                     : shape == MOUNTAIN   ? BLOCKS + i
                     : shape == PLATEAU_10 ? i + BLOCKS / 10
                                           : i + BLOCKS / 50;
    rows[i] = (struct row){.begin_ns = i, .end_ns = death, .born_ns = i, .died_ns = death, .probability = 1};
    rows[i].size = (uint64_t)(16 * pow(256, random_unit(&random)));
    rows[i].words = malloc_words(rows[i].size);
  }
}

/* The rate at which so many blocks are in the sample at the true peak, about. */
static double rate_for(double samples, double peak_bytes, double peak_blocks) {
  double words = peak_bytes / 8 + 1.5 * peak_blocks, rate = samples / words;
  for (int step = 0; step < 50; step++) { /* large blocks are sampled more than once */
    double expected = 0;
    for (int i = 0; i < BLOCKS; i++) expected += inclusion_probability(rate, rows[i].words);
    rate *= samples / (expected * peak_blocks / BLOCKS);
  }
  return rate;
}

struct outcome {
  double excess;           /* of the mean estimate, in proportion to the truth */
  double covered;          /* % of the intervals */
  double covered_at_truth; /* the same at the moment of the true peak, for comparison */
  double warned;           /* % of the runs in which the report says that the peak is too high */
};

static struct outcome run_cell(double samples) {
  struct samples all = {.rows = rows, .row_count = BLOCKS};
  struct moment true_peak;
  struct outcome outcome = {0, 0, 0, 0};
  assert_int_equal(timeline_peak(&all, NULL, NULL, &true_peak), WN_OK);
  double truth = true_peak.live.bytes.total, rate = rate_for(samples, truth, true_peak.live.blocks.total);
  for (uint64_t run = 0; run < RUNS; run++) {
    struct sampler sampler;
    size_t count = 0;
    sampler_init(&sampler, rate, run, (uint64_t)samples, 0);
    int64_t left = sampler_gap(&sampler) - 1;
    for (size_t i = 0; i < BLOCKS; i++) {
      left -= (int64_t)rows[i].words;
      if (left >= 0 || !sampler_hits(&sampler, &left)) continue;
      sampled[count] = rows[i];
      sampled[count++].probability = inclusion_probability(rate, rows[i].words);
    }
    struct samples drawn = {.rows = sampled, .row_count = count, .end_ns = 2 * BLOCKS};
    struct moment peak;
    assert_int_equal(timeline_peak(&drawn, NULL, NULL, &peak), WN_OK);
    struct sums at_truth = timeline_live_at(&drawn, true_peak.time_ns, NULL, NULL);
    struct estimate found = estimate_of(&peak.live.bytes, 8 / rate),
                    fair = estimate_of(&at_truth.bytes, 8 / rate);
    outcome.warned += (timeline_renewals(&drawn, NULL, NULL, found.low) >= RENEWALS_MANY) * 100.0 / RUNS;
    outcome.excess += (found.estimate / truth - 1) / RUNS;
    outcome.covered += (found.low <= truth && truth <= found.high) * 100.0 / RUNS;
    outcome.covered_at_truth += (fair.low <= truth && truth <= fair.high) * 100.0 / RUNS;
  }
  return outcome;
}

static void peaks_are_as_far_off_as_documented(void **state) {
  (void)state;
  static const double samples[] = {10, 30, 100, 300};
  for (enum shape shape = 0; shape < SHAPES; shape++) {
    make_rows(shape);
    for (int i = 0; i < 4; i++) {
      struct outcome outcome = run_cell(samples[i]);
      printf("  %-25s %3.0f samples at the peak: %+6.1f %%, %5.1f %% covered (%5.1f %% at the true moment), "
             "%5.1f %% warned\n",
             shape_names[shape], samples[i], 100 * outcome.excess, outcome.covered, outcome.covered_at_truth,
             outcome.warned);
      assert_true(outcome.covered_at_truth > 90);
      if (shape == RAMP || shape == MOUNTAIN)
        assert_true(fabs(outcome.excess) < 0.03 && outcome.covered > 90 && outcome.warned < 5);
      else
        assert_true(outcome.excess > 0.01 && outcome.excess < 1 &&
                    (outcome.warned > 85 || outcome.covered > 90));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(peaks_are_as_far_off_as_documented)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
