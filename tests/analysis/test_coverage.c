/* The promise behind every number of a report, measured: made-up populations of blocks whose totals are known are sampled
 * again and again with the real sampler, and the intervals must hold the truth in 95 of 100 runs.
 *
 * A cell is a law of sizes, a question and a mean number of samples. With 2000 runs its coverage has a standard error of
 * half a percent; so a cell may lie between 92 and 98 %, and all of them together between 93 and 97 %.
 *
 * Blocks are counted only where each size of the site has samples: a count of blocks rests on those of small size, which
 * are the least likely ones to be sampled, and no method knows of a size it never saw. */
#include "support/test.h"

#include "analysis/estimate.h"
#include "base/words.h"
#include "memprof/sampler.h"
#include <math.h>
#include <stdio.h>

enum { BLOCKS = 2500, GROWTHS = 5, RUNS = 2000 };

enum law { EQUAL, LOG_UNIFORM, PARETO, TWO_SIZES, LAWS };
enum question { ALLOCATED, COUNTED, LIVE, GROWN, QUESTIONS };
static const char *const law_names[] = {"equal", "log-uniform", "heavy-tailed", "two sizes"};
static const char *const question_names[] = {"allocated", "blocks", "live", "grown"};

/* Sizes in the order of realloc; blocks that are not `live` do not count for LIVE. */
struct block {
  size_t size[GROWTHS];
  int growths;
  bool live;
};

static struct block blocks[BLOCKS];

static double draw_size(struct random *random, enum law law) {
  double u = random_unit(random), size = 64;
  if (law == LOG_UNIFORM) size = 16 * pow(256, u);
  if (law == PARETO) size = 16 * pow(u, -1 / 1.2); /* infinite variance */
  if (law == TWO_SIZES) size = u < 0.9 ? 24 : 8192;
  return size < 16e6 ? size : 16e6;
}

static void make_blocks(enum law law) {
  struct random random;
  random_seed(&random, 7, law, 0);
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = (struct block){.size = {(size_t)draw_size(&random, law)},
                               .growths = (int)(random_bits(&random) % GROWTHS),
                               .live = random_bits(&random) & 1};
    for (int j = 1; j <= blocks[i].growths; j++)
      blocks[i].size[j] = (size_t)((double)blocks[i].size[j - 1] * (1 + 2 * random_unit(&random)));
  }
}

static bool counts(const struct block *block, enum question question) {
  return question != LIVE || block->live;
}

static size_t last_size(const struct block *block, enum question question) {
  return block->size[question == GROWN ? block->growths : 0];
}

static double truth_of(enum question question) {
  double truth = 0;
  for (int i = 0; i < BLOCKS; i++)
    if (counts(&blocks[i], question))
      truth += question == COUNTED ? 1 : (double)last_size(&blocks[i], question);
  return truth;
}

/* The rate at which so many blocks are sampled on average. */
static double rate_for(enum question question, double samples) {
  double low = 1e-9, high = 1;
  for (int step = 0; step < 60; step++) {
    double rate = sqrt(low * high), expected = 0;
    for (int i = 0; i < BLOCKS; i++)
      if (counts(&blocks[i], question))
        expected += inclusion_probability(rate, malloc_words(last_size(&blocks[i], question)));
    if (expected < samples)
      low = rate;
    else
      high = rate;
  }
  return low;
}

struct thread {
  struct sampler sampler;
  int64_t left;
};

static bool is_sampled(struct thread *thread, size_t words) {
  thread->left -= (int64_t)words;
  return thread->left < 0 && sampler_hits(&thread->sampler, &thread->left) > 0;
}

/* A block's life from malloc through every realloc, as analysis/samples.c counts it. */
static void allocate_growing(struct thread *thread, const struct block *block, double rate, struct sum *sum) {
  bool sampled = false;
  double before = 0;
  size_t words = 0, size = 0;
  for (int i = 0; i <= block->growths; i++) {
    size_t larger = malloc_words(block->size[i]);
    sampled |= is_sampled(thread, larger - words);
    double p = inclusion_probability(rate, larger), growth = (double)(block->size[i] - size);
    if (sampled) {
      sum_add_dependent(sum, growth, p, growth_variance(growth, p, before));
      before += growth / p;
    }
    words = larger;
    size = block->size[i];
  }
}

static struct sum sample(enum question question, double rate, uint64_t seed) {
  struct sum sum = {0};
  struct thread thread;
  sampler_init(&thread.sampler, rate, seed, question, 0);
  thread.left = sampler_gap(&thread.sampler) - 1;
  for (int i = 0; i < BLOCKS; i++) {
    size_t words = malloc_words(blocks[i].size[0]);
    if (question == GROWN)
      allocate_growing(&thread, &blocks[i], rate, &sum);
    else if (is_sampled(&thread, words) && counts(&blocks[i], question))
      sum_add(&sum, question == COUNTED ? 1 : (double)blocks[i].size[0], inclusion_probability(rate, words));
  }
  return sum;
}

/* Runs one cell; returns the share of covered runs. */
static double run_cell(enum law law, enum question question, double samples, uint64_t seed) {
  double rate = rate_for(question, samples), truth = truth_of(question), sum = 0, squares = 0;
  double unit = question == COUNTED ? 1 / rate : 8 / rate;
  int covered = 0;
  for (int run = 0; run < RUNS; run++) {
    struct sum drawn = sample(question, rate, seed + (uint64_t)run);
    struct estimate estimate = estimate_of(&drawn, unit);
    assert_true(estimate.low <= estimate.estimate && estimate.estimate <= estimate.high);
    covered += estimate.low <= truth * (1 + 1e-9) && truth * (1 - 1e-9) <= estimate.high;
    sum += drawn.total;
    squares += drawn.total * drawn.total;
  }
  double mean = sum / RUNS, error = sqrt((squares / RUNS - mean * mean) / RUNS);
  double coverage = 100.0 * covered / RUNS;
  printf("  %-12s %-9s %3.0f samples: %5.2f %% covered, mean off by %+.2f standard errors\n", law_names[law],
         question_names[question], samples, coverage, (mean - truth) / error);
  assert_true(fabs(mean - truth) < 4.5 * error);
  return coverage;
}

static void intervals_hold_the_truth(void **state) {
  (void)state;
  double all = 0;
  int cells = 0, bad = 0;
  for (enum law law = 0; law < LAWS; law++) {
    make_blocks(law);
    for (enum question question = 0; question < QUESTIONS; question++)
      for (int i = 0; i < 3; i++) {
        double samples = (const double[]){10, 30, 300}[i];
        if (question == COUNTED && law != EQUAL && samples < 300) continue;
        double coverage = run_cell(law, question, samples, 1000000 * (uint64_t)++cells);
        all += coverage;
        bad += coverage < 92 || coverage > 98;
      }
  }
  printf("  all: %.2f %% of %d runs covered\n", all / cells, cells * RUNS);
  assert_int_equal(bad, 0);
  assert_true(all / cells > 93 && all / cells < 97);
}

/* What a profiler does that scales a site by the mean size of its samples, λ times the mean words per sample. */
static void scaling_by_mean_size_would_be_wrong(void **state) {
  (void)state;
  make_blocks(TWO_SIZES);
  double rate = rate_for(ALLOCATED, 300), truth = truth_of(COUNTED), scaled = 0, weighted = 0;
  for (uint64_t run = 0; run < 200; run++) {
    struct thread thread;
    double sampled = 0, words_sampled = 0;
    struct sum sum = {0};
    sampler_init(&thread.sampler, rate, run, 0, 0);
    thread.left = sampler_gap(&thread.sampler) - 1;
    for (int i = 0; i < BLOCKS; i++) {
      size_t words = malloc_words(blocks[i].size[0]);
      if (!is_sampled(&thread, words)) continue;
      sampled++;
      words_sampled += (double)words;
      sum_add(&sum, 1, inclusion_probability(rate, words));
    }
    scaled += sampled / inclusion_probability(rate, (uint64_t)(words_sampled / sampled)) / 200;
    weighted += sum.total / 200;
  }
  assert_true(fabs(weighted / truth - 1) < 0.05);
  assert_true(fabs(scaled / truth - 1) > 0.5);
}

static void a_rate_of_one_is_exact(void **state) {
  (void)state;
  make_blocks(LOG_UNIFORM);
  for (enum question question = 0; question < QUESTIONS; question++) {
    struct sum sum = sample(question, 1, 1);
    struct estimate estimate = estimate_of(&sum, 8);
    assert_true(estimate.low == estimate.estimate && estimate.high == estimate.estimate);
    assert_true(estimate.estimate == truth_of(question));
  }
}

/* Jeffreys' interval of k equal blocks with a small p: gamma quantiles, from tables of chi-square. */
static void few_samples_have_the_published_intervals(void **state) {
  (void)state;
  const struct {
    int count;
    double low, high;
  } known[] = {{1, 0.1079, 4.6742}, {2, 0.4156, 6.4163}, {5, 1.9079, 10.9600}, {10, 5.1415, 17.7394}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    struct sum sum = {0};
    const double p = 1e-7;
    for (int k = 0; k < known[i].count; k++) sum_add(&sum, 1, p);
    struct estimate estimate = estimate_of(&sum, 1 / p);
    assert_true(fabs(estimate.low * p / known[i].low - 1) < 2e-3);
    assert_true(fabs(estimate.high * p / known[i].high - 1) < 2e-3);
  }
  struct estimate none = estimate_of(&(struct sum){0}, 1000);
  assert_true(none.estimate == 0 && none.low == 0);
  assert_true(fabs(none.high - 2511.9) < 0.1);
}

/* A block of 80 kB that was seen is there, whatever the law says. */
static void the_low_end_is_at_least_what_was_seen(void **state) {
  (void)state;
  struct sum sum = {0};
  sum_add(&sum, 80000, 0.6);
  struct estimate estimate = estimate_of(&sum, 80000);
  assert_true(estimate.low >= 80000 && estimate.high > estimate.estimate);
}

static void empty_blocks_do_no_harm(void **state) {
  (void)state;
  struct sum sum = {0};
  sum_add(&sum, 0, 0.001);
  struct estimate estimate = estimate_of(&sum, 8000);
  assert_true(estimate.estimate == 0 && estimate.low == 0 && isfinite(estimate.high));
  assert_true(inclusion_probability(0, 5) == 0 && inclusion_probability(1, 0) == 1);
  assert_true(fabs(inclusion_probability(1e-12, 1) - 1e-12) < 1e-20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_hold_the_truth),
      cmocka_unit_test(scaling_by_mean_size_would_be_wrong),
      cmocka_unit_test(a_rate_of_one_is_exact),
      cmocka_unit_test(few_samples_have_the_published_intervals),
      cmocka_unit_test(the_low_end_is_at_least_what_was_seen),
      cmocka_unit_test(empty_blocks_do_no_harm),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
