/* The promise behind every number of a report, measured: made-up populations of blocks whose totals
 * are known are sampled again and again with the real sampler, and the intervals must hold the
 * truth in 95 of 100 runs. Here for sums that are chosen beforehand; test_rows.c has the rows of a
 * table.
 *
 * A cell is a law of sizes, a question and a mean number of samples. With 2000 runs its coverage
 * has a standard error of half a percent; so a cell may lie between 92 and 98 %, and all of them
 * together between 93 and 97 %. */
#include "analysis/sampled.h"
#include "support/test.h"

#include "analysis/load/estimate.h"
#include "analysis/report/lifetimes.h"
#include "base/words.h"
#include "memprof/sampler.h"
#include <math.h>
#include <stdio.h>

enum { BLOCKS = 2500, GROWTHS = 5, RUNS = 2000 };

enum law { EQUAL, LOG_UNIFORM, PARETO, TWO_SIZES, LAWS };
enum quantity { ALLOCATED, COUNTED, LIVE, GROWN, QUANTITIES };
static const char *const law_names[] = {"equal", "log-uniform", "heavy-tailed", "two sizes"};
static const char *const quantity_names[] = {"allocated", "blocks", "live", "grown"};

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

static bool counts(const struct block *block, enum quantity quantity) {
  return quantity != LIVE || block->live;
}

static size_t last_size(const struct block *block, enum quantity quantity) {
  return block->size[quantity == GROWN ? block->growths : 0];
}

/* Each call allocates what it makes the block, if that is larger. */
static double allocated_by(const struct block *block) {
  double bytes = (double)block->size[0];
  for (int i = 1; i <= block->growths; i++)
    if (block->size[i] > block->size[i - 1]) bytes += (double)block->size[i];
  return bytes;
}

static double truth_of(enum quantity quantity) {
  double truth = 0;
  for (int i = 0; i < BLOCKS; i++)
    if (quantity == GROWN)
      truth += allocated_by(&blocks[i]);
    else if (counts(&blocks[i], quantity))
      truth += quantity == COUNTED ? 1 : (double)blocks[i].size[0];
  return truth;
}

/* The rate at which so many blocks are sampled on average. */
static double rate_for(enum quantity quantity, double samples) {
  double low = 1e-9, high = 1;
  for (int step = 0; step < 60; step++) {
    double rate = sqrt(low * high), expected = 0;
    for (int i = 0; i < BLOCKS; i++)
      if (counts(&blocks[i], quantity))
        expected += inclusion_probability(rate, malloc_words(last_size(&blocks[i], quantity)));
    if (expected < samples)
      low = rate;
    else
      high = rate;
  }
  return low;
}

static struct sum sample(enum quantity quantity, double rate, uint64_t seed) {
  struct sum sum = {0};
  struct sums grown = {0};
  struct thread thread;
  thread_begin(&thread, rate, seed, quantity);
  for (int i = 0; i < BLOCKS; i++) {
    size_t words = malloc_words(blocks[i].size[0]);
    if (quantity == GROWN)
      allocate_growing(&thread, blocks[i].size, blocks[i].growths + 1, rate, &grown);
    else if (is_sampled(&thread, words) && counts(&blocks[i], quantity))
      sum_add(&sum, quantity == COUNTED ? 1 : (double)blocks[i].size[0], inclusion_probability(rate, words));
  }
  return quantity == GROWN ? grown.bytes : sum;
}

/* Runs one cell; returns the share of covered runs. */
static double run_cell(enum law law, enum quantity quantity, double samples, uint64_t seed) {
  double rate = rate_for(quantity, samples), truth = truth_of(quantity), sum = 0, squares = 0;
  int covered = 0;
  for (int run = 0; run < RUNS; run++) {
    struct sum drawn = sample(quantity, rate, seed + (uint64_t)run);
    struct estimate estimate =
        quantity == COUNTED ? count_of(&drawn, &drawn, rate) : estimate_of(&drawn, 8 / rate);
    assert_true(estimate.low <= estimate.estimate && estimate.estimate <= estimate.high);
    covered += estimate.low <= truth * (1 + 1e-9) && truth * (1 - 1e-9) <= estimate.high;
    sum += drawn.total;
    squares += drawn.total * drawn.total;
  }
  double mean = sum / RUNS, error = sqrt((squares / RUNS - mean * mean) / RUNS);
  double coverage = 100.0 * covered / RUNS;
  printf("  %-12s %-9s %3.0f samples: %5.2f %% covered, mean off by %+.2f standard errors\n", law_names[law],
         quantity_names[quantity], samples, coverage, (mean - truth) / error);
  assert_true(fabs(mean - truth) < 4.5 * error);
  return coverage;
}

static void intervals_hold_the_truth(void **state) {
  (void)state;
  double all = 0;
  int cells = 0, bad = 0;
  for (enum law law = 0; law < LAWS; law++) {
    make_blocks(law);
    for (enum quantity quantity = 0; quantity < QUANTITIES; quantity++)
      for (int i = 0; i < 3; i++) {
        double samples = (const double[]){10, 30, 300}[i];
        if (quantity == COUNTED && law != EQUAL && samples < 300) continue; /* the next test */
        double coverage = run_cell(law, quantity, samples, 1000000 * (uint64_t)++cells);
        all += coverage;
        bad += coverage < 92 || coverage > 98;
      }
  }
  printf("  all: %.2f %% of %d runs covered\n", all / cells, cells * RUNS);
  assert_int_equal(bad, 0);
  assert_true(all / cells > 93 && all / cells < 97);
}

/* A count rests on the small blocks, which are the least likely to be sampled. Of a whole trace,
 * which can borrow from no other, its interval is wide upwards, and covers too often with few
 * samples; least often where large blocks are many samples and small ones few. */
static void counts_of_mixed_sizes_hold_the_truth(void **state) {
  (void)state;
  for (enum law law = LOG_UNIFORM; law < LAWS; law++) {
    make_blocks(law);
    for (int i = 0; i < 3; i++) {
      double samples = (const double[]){10, 30, 100}[i];
      double counted = run_cell(law, COUNTED, samples, 8000000);
      assert_true(counted > 90);
    }
  }
}

/* Shares of what was allocated, held by every n-th block. A share of 5 % at 10 samples rests on
 * half a sample: it is covered too often, never too seldom. */
static double run_share_cell(enum law law, int every, double samples, uint64_t seed) {
  double rate = rate_for(ALLOCATED, samples), of_part = 0;
  int covered = 0;
  for (int i = 0; i < BLOCKS; i += every) of_part += (double)blocks[i].size[0];
  double truth = of_part / truth_of(ALLOCATED);
  for (int run = 0; run < RUNS; run++) {
    struct sum part = {0}, whole = {0};
    struct thread thread;
    thread_begin(&thread, rate, seed + (uint64_t)run, 0);
    for (int i = 0; i < BLOCKS; i++) {
      size_t words = malloc_words(blocks[i].size[0]);
      if (!is_sampled(&thread, words)) continue;
      double p = inclusion_probability(rate, words);
      sum_add(&whole, (double)blocks[i].size[0], p);
      if (i % every == 0) sum_add(&part, (double)blocks[i].size[0], p);
    }
    struct estimate share = share_of(&part, &whole, 8 / rate);
    assert_true(0 <= share.low && share.low <= share.estimate);
    assert_true(share.estimate <= share.high && share.high <= 1);
    covered += share.low <= truth * (1 + 1e-9) && truth * (1 - 1e-9) <= share.high;
  }
  double coverage = 100.0 * covered / RUNS;
  printf("  %-12s share %4.1f %% %3.0f samples: %5.2f %% covered\n", law_names[law], 100 * truth, samples,
         coverage);
  return coverage;
}

static void shares_hold_the_truth(void **state) {
  (void)state;
  double all = 0;
  int cells = 0, bad = 0;
  for (enum law law = 0; law < LAWS; law++) {
    make_blocks(law);
    for (int i = 0; i < 9; i++) {
      double samples = (const double[]){10, 30, 300}[i % 3];
      double coverage =
          run_share_cell(law, (const int[]){2, 5, 20}[i / 3], samples, 1000000 * (uint64_t)++cells);
      all += coverage;
      bad += coverage < 92 || (coverage > 98 && samples >= 100);
    }
  }
  printf("  all: %.2f %% of %d runs covered\n", all / cells, cells * RUNS);
  assert_int_equal(bad, 0);
  assert_true(all / cells > 93 && all / cells < 97);
}

/* A life that depends on the size; blocks whose life would end behind the trace are alive at its
 * end. */
static void draw_lives(struct row *rows, enum law law, uint64_t end_ns) {
  struct random random;
  random_seed(&random, 11, law, 0);
  for (int i = 0; i < BLOCKS; i++) {
    double life = -1e6 * log(1 - random_unit(&random)) * (1 + log((double)blocks[i].size[0]));
    uint64_t born = random_bits(&random) % end_ns, died = born + (uint64_t)life + 1;
    rows[i] = (struct row){.born_ns = born, .died_ns = died < end_ns ? died : STILL_ALIVE, .last = true};
  }
}

/* The median of the rows; with the whole population at p = 1, the truth. */
static struct life life_of_rows(struct row *rows, size_t count, uint64_t end_ns) {
  struct samples samples = {.rows = rows, .row_count = count, .end_ns = end_ns};
  struct tree_node nodes[2] = {{0}, {.label = 1}};
  uint32_t node_of_row[BLOCKS];
  for (size_t i = 0; i < count; i++) node_of_row[i] = 1;
  struct call_tree tree = {.nodes = nodes, .node_count = 2, .node_of_row = node_of_row};
  struct lifetimes lifetimes;
  assert_int_equal(lifetimes_create(&samples, &tree, LIFE_NS, NULL, &lifetimes), WN_OK);
  struct life life = lifetimes_median(&lifetimes, &(struct group){.label = 1}, EXTENT_TOTAL);
  lifetimes_destroy(&lifetimes);
  return life;
}

static double run_life_cell(enum law law, uint64_t end_ns, double samples, uint64_t seed) {
  static struct row rows[BLOCKS], sampled[BLOCKS];
  double rate = rate_for(ALLOCATED, samples);
  int covered = 0;
  draw_lives(rows, law, end_ns);
  for (int i = 0; i < BLOCKS; i++) rows[i].probability = 1;
  struct life truth = life_of_rows(rows, BLOCKS, end_ns);
  assert_true(truth.known && truth.low == truth.median && truth.high == truth.median);
  for (int run = 0; run < RUNS; run++) {
    struct thread thread;
    size_t count = 0;
    thread_begin(&thread, rate, seed + (uint64_t)run, 0);
    for (int i = 0; i < BLOCKS; i++) {
      size_t words = malloc_words(blocks[i].size[0]);
      if (!is_sampled(&thread, words)) continue;
      sampled[count] = rows[i];
      sampled[count++].probability = inclusion_probability(rate, words);
    }
    struct life life = life_of_rows(sampled, count, end_ns);
    bool above = life.low == NO_BOUND || life.low <= truth.median;
    covered += above && truth.median <= life.high;
  }
  double coverage = 100.0 * covered / RUNS;
  printf("  %-12s median life, %s %3.0f samples: %5.2f %% covered\n", law_names[law],
         end_ns > 1000000000 ? "all seen:" : "censored:", samples, coverage);
  return coverage;
}

/* Like counts of blocks, medians of blocks are judged where each size has samples. */
static void intervals_hold_the_median_life(void **state) {
  (void)state;
  int cells = 0, bad = 0;
  for (enum law law = 0; law < LAWS; law++) {
    make_blocks(law);
    for (int i = 0; i < 6; i++) {
      double samples = (const double[]){10, 30, 300}[i % 3];
      if (law != EQUAL && samples < 300) continue;
      double coverage =
          run_life_cell(law, i < 3 ? 100000000000 : 20000000, samples, 1000000 * (uint64_t)++cells);
      bad += coverage < 92 || coverage > 99;
    }
  }
  assert_int_equal(bad, 0);
}

/* What a profiler does that scales a site by the mean size of its samples, λ times the mean words
 * per sample. */
static void scaling_by_mean_size_would_be_wrong(void **state) {
  (void)state;
  make_blocks(TWO_SIZES);
  double rate = rate_for(ALLOCATED, 300), truth = truth_of(COUNTED), scaled = 0, weighted = 0;
  for (uint64_t run = 0; run < 200; run++) {
    struct thread thread;
    double sampled = 0, words_sampled = 0;
    struct sum sum = {0};
    thread_begin(&thread, rate, run, 0);
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
  for (enum quantity quantity = 0; quantity < QUANTITIES; quantity++) {
    struct sum sum = sample(quantity, 1, 1);
    struct estimate estimate = estimate_of(&sum, 0);
    assert_true(estimate.low == estimate.estimate && estimate.high == estimate.estimate);
    assert_true(estimate.estimate == truth_of(quantity));
  }
}

/* Of k equal blocks with a small p: gamma quantiles, from tables of chi-square, of k - 1 and of k
 * events. */
static void few_samples_have_the_published_intervals(void **state) {
  (void)state;
  const struct {
    int count;
    double low, high;
  } known[] = {{2, 0.02532, 5.5716}, {5, 1.0899, 10.2416}, {10, 4.1154, 17.0848}, {200, 172.38, 228.67}};
  const double p = 1e-7;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    struct sum sum = {0};
    for (int k = 0; k < known[i].count; k++) sum_add(&sum, 1, p);
    struct estimate estimate = estimate_of(&sum, 0);
    assert_true(fabs(estimate.low * p / known[i].low - 1) < 2e-3);
    assert_true(fabs(estimate.high * p / known[i].high - 1) < 2e-3);
  }
  struct sum one = {0};
  sum_add(&one, 1, p);
  struct estimate alone = estimate_of(&one, 0), none = estimate_of(&(struct sum){0}, 1000);
  assert_true(alone.low == 1 && fabs(alone.high * p / 2.9957 - 1) < 2e-3);
  assert_true(none.estimate == 0 && none.low == 0);
  assert_true(fabs(none.high - 2511.9) < 0.1);
  assert_true(estimate_is_rough(&alone) && !estimate_is_rough(&none));
}

/* Beside a block that is certain to be in the sample there may be small ones that are not: the
 * interval says so. */
static void a_block_that_is_certain_hides_no_small_ones(void **state) {
  (void)state;
  struct sum sum = {0};
  sum_add(&sum, 1e6, 1);
  struct estimate estimate = estimate_of(&sum, 8000);
  assert_true(estimate.estimate == 1e6 && estimate.low == 1e6);
  assert_true(estimate.high > 1e6 + 4000 && estimate.high < 1e6 + 24000);
  assert_true(!estimate_is_rough(&estimate));
}

/* Beside large blocks an unseen one is most likely as small as those of the trace are; a trace of
 * few samples does not tell how small. */
static void a_count_borrows_its_unit_from_the_trace(void **state) {
  (void)state;
  const double rate = 1e-4, smallest = 1 / inclusion_probability(rate, 3);
  struct sum few = {0}, many = {0}, large = {0};
  sum_add(&large, 1, 0.5);
  sum_add(&few, 1, 0.5);
  for (int i = 0; i < 100000; i++) sum_add(&many, 1, 0.01);
  struct estimate alone = estimate_of(&large, smallest), of_few = count_of(&large, &few, rate),
                  of_many = count_of(&large, &many, rate), none = count_of(&(struct sum){0}, &many, rate),
                  exact = count_of(&large, &many, 1);
  assert_true(of_few.high > 0.99 * alone.high && of_few.high <= alone.high);
  assert_true(of_many.high < 0.1 * alone.high && of_many.high > 50);
  assert_true(fabs(none.high / smallest - 2.5119) < 1e-3);
  assert_true(exact.estimate == of_many.estimate && exact.high < of_many.high);
}

/* Where only blocks from a size on are counted, none that was missed is smaller. */
static void a_count_of_large_blocks_has_no_small_ones(void **state) {
  (void)state;
  const double rate = 1e-4, p = inclusion_probability(rate, 20000);
  struct sum large = {0};
  for (int i = 0; i < 4; i++) sum_add(&large, 1, p);
  struct estimate any = count_of(&large, &large, rate), known = count_of_large(&large, &large, rate, 20000),
                  small = count_of_large(&large, &large, rate, 1);
  assert_true(any.high > 1000 && known.high < 8);
  assert_true(known.estimate == any.estimate && known.low == any.low);
  assert_true(small.high == any.high);
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

/* Ten calls of one block are no ten samples. */
static void a_row_of_one_block_that_grew_is_rough(void **state) {
  (void)state;
  const double rate = 1e-4;
  struct sum one = {0}, many = {0};
  struct row rows[10];
  struct grown_rows grown = {.items = NULL};
  for (size_t i = 0; i < 10; i++)
    rows[i] = (struct row){.size = 110 + 10 * i, .call = true, .words = malloc_words(110 + 10 * i)};
  assert_true(grown_finish_block(&grown, rows, 10, growth_of_sizes(100, 110), &rate));
  for (size_t i = 0; i < 10; i++) {
    struct dependence bytes_by = grown_bytes(grown_at(&grown, rows[i].grown));
    sum_add_dependent(&one, (double)rows[i].size, rows[i].probability, &bytes_by);
    sum_add(&many, (double)rows[i].size, rows[i].probability);
  }
  grown_destroy(&grown);
  struct estimate of_one = estimate_of(&one, 8 / rate), of_many = estimate_of(&many, 8 / rate);
  assert_true(of_one.samples == 10 && of_many.samples == 10 && of_one.estimate == of_many.estimate);
  assert_true(estimate_is_rough(&of_one) && !estimate_is_rough(&of_many));
  assert_true(of_one.high > 2 * of_many.high && of_one.low < of_many.low);
}

/* By the formula of estimate.c for blocks that grow: `share` is its x, `typical` its T'/T. */
static double unseen_at_most(double share, double typical) {
  const double unseen = 990;
  struct sum sum = {.total = 1000, .seen = 10, .variance = 1e5, .samples = 10};
  sum.clustered = share * unseen * unseen;
  sum.typical = typical * sum.total;
  struct estimate estimate = estimate_of(&sum, 0);
  return estimate.high - sum.seen;
}

static void the_upper_end_is_farther_by_the_measured_factor_where_blocks_grow(void **state) {
  (void)state;
  const double alone = unseen_at_most(0, 1);
  assert_true(fabs(unseen_at_most(1, 1) / alone - 1.65) < 2e-3);
  assert_true(fabs(unseen_at_most(1, 0.5) / alone - 1.65) < 2e-3);
  assert_true(fabs(unseen_at_most(1, 4) / alone - 4 * 1.65) < 1e-2);
  assert_true(fabs(unseen_at_most(2.0 / 3, 4) / alone - sqrt(4 * 1.65)) < 5e-3);
  assert_true(fabs(unseen_at_most(0.1, 1) / alone - pow(1.65, 1.0 / 19)) < 2e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_hold_the_truth),
      cmocka_unit_test(counts_of_mixed_sizes_hold_the_truth),
      cmocka_unit_test(shares_hold_the_truth),
      cmocka_unit_test(intervals_hold_the_median_life),
      cmocka_unit_test(scaling_by_mean_size_would_be_wrong),
      cmocka_unit_test(a_rate_of_one_is_exact),
      cmocka_unit_test(few_samples_have_the_published_intervals),
      cmocka_unit_test(a_block_that_is_certain_hides_no_small_ones),
      cmocka_unit_test(a_count_borrows_its_unit_from_the_trace),
      cmocka_unit_test(a_count_of_large_blocks_has_no_small_ones),
      cmocka_unit_test(the_low_end_is_at_least_what_was_seen),
      cmocka_unit_test(empty_blocks_do_no_harm),
      cmocka_unit_test(a_row_of_one_block_that_grew_is_rough),
      cmocka_unit_test(the_upper_end_is_farther_by_the_measured_factor_where_blocks_grow),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
