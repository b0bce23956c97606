/* Growth: made-up sites, of which the truth is known, under the real sampler. The interval of the
 * slope holds the truth, leaks are told, and what keeps its size is not called a leak. */
#include "analysis/sampled.h"
#include "support/runs.h"
#include "support/test.h"

#include "analysis/growth.h"
#include "base/random.h"
#include <math.h>
#include <stdio.h>

enum { BLOCKS_MOST = 20000, RUNS = 400, END_NS = 1600000 };

/* A site: its blocks in the order of their births. Times are shares of the run; a block that dies
 * after 1 is alive at the end. */
static struct {
  double born, died;
  size_t size;
} blocks[BLOCKS_MOST];
static int block_count;
static struct random chance;

static void site_begin(uint64_t seed) {
  random_seed(&chance, seed, 0, 0);
  block_count = 0;
}

static double between(double low, double high) { return low + (high - low) * random_unit(&chance); }

static void add_block(double born, double died) {
  assert_true(block_count < BLOCKS_MOST);
  blocks[block_count].born = born;
  blocks[block_count].died = died;
  blocks[block_count++].size = (size_t)(16 * pow(64, random_unit(&chance)));
}

enum { ALIVE = 2 };

/* The words of all blocks that are alive at the end. */
static double alive_words(void) {
  double words = 0;
  for (int i = 0; i < block_count; i++)
    if (blocks[i].died > 1) words += (double)malloc_words(blocks[i].size);
  return words;
}

static struct row row_of(int block, double rate) {
  double died = blocks[block].died;
  struct row row = {.begin_ns = (uint64_t)(blocks[block].born * END_NS),
                    .size = blocks[block].size,
                    .words = malloc_words(blocks[block].size)};
  row.end_ns = died > 1 ? STILL_ALIVE : (uint64_t)(died * END_NS);
  row.probability = inclusion_probability(rate, row.words);
  return row;
}

static struct growth sampled_growth(double rate, uint64_t seed) {
  struct ages ages = {.all = {0}};
  struct thread thread;
  thread_begin(&thread, rate, seed, 0);
  for (int i = 0; i < block_count; i++) {
    if (rate < 1 && !is_sampled(&thread, malloc_words(blocks[i].size))) continue;
    struct row row = row_of(i, rate);
    if (ages_need(&row, END_NS)) ages_add(&ages, &row, END_NS);
  }
  return growth_of(&ages, END_NS, rate < 1 ? 8 / rate : 0, false);
}

static bool is_judged(void) { return runs_of(RUNS) == RUNS; }

/* The share of RUNS runs in which the site is of a kind, with so many sampled blocks alive at the end
 * on average. */
static double kind_share(double samples, enum growth_kind kind) {
  double rate = samples / alive_words();
  int count = 0;
  assert_true(rate < 0.5);
  for (uint64_t run = 0; run < (uint64_t)runs_of(RUNS); run++)
    count += sampled_growth(rate, run + 1).kind == kind;
  return (double)count / runs_of(RUNS);
}

/* ---- sites ---- */

static void leak(double from, int count) {
  for (int i = 0; i < count; i++) add_block(from + (1 - from) * i / count, ALIVE);
}

static void cache_at(double begin, double end, int count) {
  for (int i = 0; i < count; i++) add_block(begin + (end - begin) * i / count, ALIVE);
}

/* Filled again and again; all its blocks go at once. */
static void periodic(double period, double phase, int count) {
  for (double start = phase - period; start < 1; start += period)
    for (int i = 0; i < count; i++) {
      double born = start + period * i / count;
      if (born >= 0 && born < 1) add_block(born, start + period);
    }
}

/* The oldest block goes as a new one comes. */
static void evicting(double residence, int count) {
  for (int i = 0; i < count; i++) add_block((double)i / count, (double)i / count + residence);
}

/* Lives of random length; as many at the start as later. */
static void sessions(double life, int count) {
  for (int i = 0; i < count; i++) {
    double born = i < count * life ? 0 : (double)i / count;
    add_block(born, born - life * log(1 - random_unit(&chance)));
  }
}

static void churn(int count) {
  for (int i = 0; i < count; i++) {
    double born = (double)i / count;
    add_block(born, born + between(0, 0.01));
  }
}

static const double many = 400;

static void leaks_are_told(void **state) {
  (void)state;
  static const struct {
    double samples, least;
  } cases[] = {{8, 0.2}, {12, 0.5}, {20, 0.8}, {40, 0.95}, {400, 0.99}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    site_begin(1);
    leak(0, 15000);
    double share = kind_share(cases[i].samples, GROWTH_STEADY);
    printf("  a leak with %3.0f samples: steady in %.1f %% of runs\n", cases[i].samples, 100 * share);
    assert_true(!is_judged() || share >= cases[i].least);
  }
}

static void leaks_among_blocks_that_die_are_told(void **state) {
  (void)state;
  site_begin(2);
  for (int i = 0; i < 15000; i++) { /* one of 10 is lost */
    double born = i / 15000.0;
    add_block(born, i % 10 ? born + between(0, 0.02) : ALIVE);
  }
  double share = kind_share(100, GROWTH_STEADY);
  printf("  among blocks that die: steady in %.1f %% of runs\n", 100 * share);
  assert_true(share > 0.9);
}

static void check_not_steady(const char *name, double samples, double most) {
  double share = kind_share(samples, GROWTH_STEADY);
  printf("  %-32s steady in %.1f %% of runs\n", name, 100 * share);
  if (is_judged() && share > most) fail_msg("%s: steady in %.1f %%", name, 100 * share);
}

static void what_keeps_its_size_is_no_leak(void **state) {
  (void)state;
  char name[64];
  for (int i = 0; i <= 10; i++) {
    site_begin(3);
    cache_at(i / 10.0 * 0.95, i / 10.0 * 0.95 + 0.05, 4000);
    snprintf(name, sizeof name, "cache filled at %d %%", i * 10);
    check_not_steady(name, many, 0);
  }
  for (int i = 1; i <= 8; i++) {
    site_begin(4);
    evicting(i / 10.0, 15000);
    snprintf(name, sizeof name, "cache that evicts after %d %%", i * 10);
    check_not_steady(name, many, i < 7 ? 0.01 : i < 8 ? 0.04 : 0.2);
  }
  for (int i = 1; i <= 7; i++) /* with 8 a run can see one filling alone */
    for (int phase = 0; phase < 4; phase++) {
      double period = i / 10.0;
      site_begin(5);
      periodic(period, period * (phase + 0.5) / 4, 1500);
      snprintf(name, sizeof name, "refilled every %d %%, phase %d", i * 10, phase);
      check_not_steady(name, many, 0.02);
    }
  for (int i = 1; i <= 3; i++) {
    site_begin(6);
    sessions(i / 10.0, 15000);
    snprintf(name, sizeof name, "sessions of %d %%", i * 10);
    check_not_steady(name, many, 0.05);
  }
  site_begin(7);
  churn(15000);
  check_not_steady("churn", 30, 0);
}

static void each_kind_has_its_word(void **state) {
  (void)state;
  site_begin(8);
  cache_at(0.5, 0.52, 2000);
  assert_true(kind_share(100, GROWTH_ONCE) == 1);
  site_begin(9);
  cache_at(0, 0.15, 2000);
  assert_true(kind_share(100, GROWTH_ONCE) == 1);
  assert_true(kind_share(2, GROWTH_FEW) > 0.9);
  site_begin(10);
  churn(15000);
  assert_true(kind_share(30, GROWTH_RECENT) > 0.99);
  site_begin(11);
  cache_at(0.2, 0.22, 1000);
  cache_at(0.7, 0.72, 1000);
  assert_true(kind_share(100, GROWTH_UNEVEN) == 1);
  struct growth none = growth_of(&(struct ages){.all = {0}}, END_NS, 8000, false);
  assert_true(none.kind == GROWTH_FEW && none.rate.estimate == 0 && none.rate.low == 0);
  assert_string_equal(growth_word(GROWTH_STEADY), "steady");
  assert_string_equal(growth_text(GROWTH_ONCE), "filled once");
}

/* The whole of a site: also where records are missing, or the run has no length. */
static void without_intervals_no_growth_is_sure(void **state) {
  (void)state;
  struct ages ages = {.all = {0}};
  site_begin(12);
  leak(0, 1000);
  for (int i = 0; i < block_count; i++) {
    struct row row = row_of(i, 1);
    ages_add(&ages, &row, END_NS);
  }
  assert_int_equal(growth_of(&ages, END_NS, 0, false).kind, GROWTH_STEADY);
  assert_int_equal(growth_of(&ages, END_NS, 0, true).kind, GROWTH_UNEVEN);
  assert_true(growth_of(&ages, 0, 0, false).rate.estimate == 0);
}

/* At rate 1 the slope of equal growth is the growth, and exact. */
static void the_slope_of_a_leak_is_its_rate(void **state) {
  (void)state;
  double bytes = 0;
  site_begin(13);
  leak(0, 16000);
  for (int i = 0; i < block_count; i++) blocks[i].size = 100, bytes += 100;
  struct growth growth = sampled_growth(1, 1);
  double rate = bytes / (END_NS / 1e9);
  assert_true(fabs(growth.rate.estimate / rate - 1) < 1e-9);
  assert_true(growth.rate.low == growth.rate.high);
  for (int i = 0; i < AGE_CLASSES; i++) assert_true(growth.alive[i] == bytes / AGE_CLASSES);
}

/* ---- coverage ---- */

static double coverage(const char *name, double samples, uint64_t seed) {
  const int runs = runs_of(2000);
  double truth = sampled_growth(1, 1).rate.estimate, rate = samples / alive_words();
  int covered = 0;
  for (uint64_t run = 0; run < (uint64_t)runs; run++) {
    struct estimate slope = sampled_growth(rate, seed + run).rate;
    assert_true(slope.low <= slope.estimate && slope.estimate <= slope.high);
    covered += slope.low <= truth * (1 + 1e-9) && truth * (1 - 1e-9) <= slope.high;
  }
  printf("  %-14s %3.0f samples: %5.2f %% covered\n", name, samples, 100.0 * covered / runs);
  return 100.0 * covered / runs;
}

static void intervals_of_slopes_hold_the_truth(void **state) {
  (void)state;
  double all = 0;
  int cells = 0, bad = 0;
  for (int shape = 0; shape < 3; shape++)
    for (int i = 0; i < 3; i++) {
      double samples = (const double[]){12, 40, 300}[i];
      site_begin(20);
      if (shape == 0) leak(0, 2500);
      if (shape == 1) leak(0.5, 2500);
      if (shape == 2) leak(0, 1000), cache_at(0.4, 0.45, 1500);
      double covered = coverage((const char *[]){"leak", "leak since 50 %", "leak and cache"}[shape], samples,
                                1000000 * (uint64_t)++cells);
      all += covered;
      bad += covered < 92 || covered > 98.5;
    }
  printf("  all: %.2f %% covered\n", all / cells);
  if (!is_judged()) return;
  assert_int_equal(bad, 0);
  assert_true(all / cells > 93 && all / cells < 97.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leaks_are_told),
      cmocka_unit_test(leaks_among_blocks_that_die_are_told),
      cmocka_unit_test(what_keeps_its_size_is_no_leak),
      cmocka_unit_test(each_kind_has_its_word),
      cmocka_unit_test(without_intervals_no_growth_is_sure),
      cmocka_unit_test(the_slope_of_a_leak_is_its_rate),
      cmocka_unit_test(intervals_of_slopes_hold_the_truth),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
