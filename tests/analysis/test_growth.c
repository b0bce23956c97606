/* Growth: made-up sites, of which the truth is known, under the real sampler. The interval of the
 * slope holds the truth, leaks are told, and what keeps its size is not called a leak. */
#include "analysis/sampled.h"
#include "support/test.h"

#include "analysis/report/growth.h"
#include "base/random.h"
#include <math.h>
#include <stdio.h>

enum { BLOCKS_MOST = 20000, RUNS = 400, END_NS = 1600000 };

/* A site: its blocks. Times are shares of the run; a block that dies after 1 is alive at the end. A block
 * may have steps after its birth, in which realloc gives it another size, or another site takes it: then it
 * has the size 0. */
enum { STEPS_MOST = 500 };
struct step {
  double time;
  size_t size;
};
static struct {
  double born, died;
  size_t size;
  int step, steps; /* the first one in `steps`, and how many */
} blocks[BLOCKS_MOST];
static struct step steps[20 * BLOCKS_MOST];
static int block_count, step_count;
static struct random chance;

static void site_begin(uint64_t seed) {
  random_seed(&chance, seed, 0, 0);
  block_count = step_count = 0;
}

static double between(double low, double high) { return low + (high - low) * random_unit(&chance); }

static void add_block_of(double born, double died, size_t size) {
  assert_true(block_count < BLOCKS_MOST);
  blocks[block_count].born = born;
  blocks[block_count].died = died;
  blocks[block_count].step = step_count;
  blocks[block_count].steps = 0;
  blocks[block_count++].size = size;
}

static void add_block(double born, double died) {
  add_block_of(born, died, (size_t)(16 * pow(64, random_unit(&chance))));
}

/* The block that was added last. */
static void resize(double time, size_t size) {
  assert_true(step_count < (int)(sizeof steps / sizeof *steps) &&
              blocks[block_count - 1].steps < STEPS_MOST - 1);
  if (time >= 1) return;
  steps[step_count++] = (struct step){time, size};
  blocks[block_count - 1].steps++;
}

enum { ALIVE = 2 };

static size_t last_size(int block) {
  int count = blocks[block].steps;
  return count ? steps[blocks[block].step + count - 1].size : blocks[block].size;
}

/* The words of all blocks that are alive at the end. */
static double alive_words(void) {
  double words = 0;
  for (int i = 0; i < block_count; i++)
    if (blocks[i].died > 1) words += (double)malloc_words(last_size(i));
  return words;
}

static uint64_t time_of(double part) { return (uint64_t)(part * END_NS); }

/* Fills in the rows of a block, from its first sample on. */
static void find_rows(struct samples *samples, int block, double rate, struct thread *thread) {
  size_t words = 0, before = 0, count = 0;
  double died = blocks[block].died, growth = 0; /* of the first row */
  for (int i = 0; i <= blocks[block].steps; i++) {
    const struct step *step = &steps[blocks[block].step + (i ? i - 1 : 0)];
    size_t size = i ? step->size : blocks[block].size, larger = malloc_words(size);
    uint64_t begin = time_of(i ? step->time : blocks[block].born);
    bool hit = rate >= 1 || is_sampled(thread, larger > words ? larger - words : 0);
    if (larger > words) words = larger;
    if (count) samples->rows[count - 1].end_ns = begin;
    if (hit && !count) growth = growth_of_sizes(before, size);
    if (hit || count)
      samples->rows[count++] = (struct row){.block = (uint64_t)block,
                                            .begin_ns = begin,
                                            .end_ns = died > 1 ? STILL_ALIVE : time_of(died),
                                            .promoted_ns = NEVER,
                                            .size = size,
                                            .call = size > before,
                                            .words = words};
    before = size;
  }
  samples->row_count = count;
  if (!count) return;
  samples->rows[0].first = samples->rows[count - 1].last = true;
  assert_true(grown_finish_block(&samples->grown, samples->rows, count, growth, &rate));
}

static const struct stretch whole = {0, END_NS};

static struct ages sampled_ages(double rate, uint64_t seed) {
  struct ages ages = {.all = {0}};
  struct thread thread;
  thread_begin(&thread, rate, seed, 0);
  for (int i = 0; i < block_count; i++) {
    struct row rows[STEPS_MOST];
    struct samples samples = {.rows = rows, .end_ns = END_NS};
    uint32_t needed[STEPS_MOST];
    size_t count = 0;
    find_rows(&samples, i, rate, &thread);
    for (uint32_t row = 0; row < samples.row_count; row++)
      if (rows[row].size && ages_need(&rows[row], whole)) needed[count++] = row;
    if (count) ages_add(&ages, &samples, whole, needed, count);
    grown_destroy(&samples.grown);
  }
  return ages;
}

static struct growth sampled_growth(double rate, uint64_t seed) {
  struct ages ages = sampled_ages(rate, seed);
  return growth_of(&ages, whole, rate < 1 ? 8 / rate : 0);
}

/* The share of RUNS runs in which the site is of a kind, with so many sampled blocks alive at the end
 * on average. */
static double kind_share(double samples, enum growth_kind kind) {
  double rate = samples / alive_words();
  int count = 0;
  assert_true(rate < 0.5);
  for (uint64_t run = 0; run < RUNS; run++) count += sampled_growth(rate, run + 1).kind == kind;
  return (double)count / RUNS;
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

/* ---- sites with blocks that realloc resizes ---- */

/* Blocks that leak, and double up to six times in the fifth of the run after their birth. */
static void leaking_vectors(int count) {
  for (int i = 0; i < count; i++) {
    double born = (double)i / count, time = born;
    int doublings = (int)between(0, 7);
    size_t size = 32;
    add_block_of(born, ALIVE, size);
    while (doublings--) resize(time += between(0, 0.06), size *= 2);
  }
}

/* Buffers that grow from their births to the end, each by equal steps. */
static void growing_buffers(double from, int count, int times, size_t least, size_t most) {
  for (int i = 0; i < count; i++) {
    double phase = between(0, 1);
    add_block_of(from, ALIVE, least);
    for (int step = 1; step <= times; step++)
      resize(from + (1 - from) * (step - phase) / times,
             least + (most - least) * (size_t)step / (size_t)times);
  }
}

/* A leak. Half of the blocks get a tenth or none of their size a fifth of the run later: they shrink, or
 * another site makes them larger. */
static void leaving(size_t size, size_t left, int count) {
  for (int i = 0; i < count; i++) {
    add_block_of((double)i / count, ALIVE, size);
    if (i % 2) resize((double)i / count + 0.2, left);
  }
}

/* One buffer. */
static void buffer(double from, double until, int times, size_t least, size_t most) {
  add_block_of(from, ALIVE, least);
  for (int step = 1; step <= times; step++)
    resize(from + (until - from) * step / times, least + (most - least) * (size_t)step / (size_t)times);
}

/* One buffer that is filled in eight steps and emptied, again and again. */
static void log_buffer(double period, double phase, size_t most) {
  add_block_of(0, ALIVE, most / 8);
  for (int step = 1; step < STEPS_MOST - 1; step++)
    resize(period * (step + phase) / 8, most / 8 * (size_t)(step % 8 + 1));
}

/* One buffer that doubles at these times. */
static void doubling(size_t size, const double *times, int count) {
  add_block_of(0, ALIVE, size);
  for (int i = 0; i < count; i++) resize(times[i], size *= 2);
}

/* One vector that grows by copying itself into a block of twice the size, last at this time. */
static void copying(size_t size, double last) {
  double born = 0, next = last / 256;
  for (; next <= last; born = next, next *= 2, size *= 2) add_block_of(born, next, size);
  add_block_of(born, ALIVE, size);
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
    assert_true(share >= cases[i].least);
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
  if (share > most) fail_msg("%s: steady in %.1f %%", name, 100 * share);
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
  struct growth none = growth_of(&(struct ages){.all = {0}}, whole, 8000);
  assert_true(none.kind == GROWTH_FEW && none.rate.estimate == 0 && none.rate.low == 0);
  assert_string_equal(growth_word(GROWTH_STEADY), "steady");
  assert_string_equal(growth_text(GROWTH_ONCE), "filled once");
}

static void check_kind(const char *name, double samples, enum growth_kind kind, double least) {
  double share = kind_share(samples, kind);
  printf("  %-32s %s in %.1f %% of runs\n", name, growth_text(kind), 100 * share);
  if (share < least) fail_msg("%s: %s in %.1f %%", name, growth_text(kind), 100 * share);
}

static void what_took_the_place_of_other_blocks_was_not_filled_once(void **state) {
  static const double times[] = {0.26, 0.4, 0.55, 0.7, 0.85};
  (void)state;
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    char name[64];
    snprintf(name, sizeof name, "a vector copied last at %.2f", times[i]);
    site_begin(50 + i);
    copying(10000, times[i]);
    check_kind(name, 100, GROWTH_UNEVEN, 1);
  }
  site_begin(56);
  copying(10000, 0.15);
  check_kind("a vector copied last at 0.15", 100, GROWTH_ONCE, 1);
  site_begin(57);
  cache_at(0.5, 0.52, 2000);
  churn(5000);
  check_kind("a cache beside blocks that die", 100, GROWTH_ONCE, 0.95);
}

/* The buffers are many times as large as the mean distance of samples. */
static void buffers_that_realloc_grows_are_judged_by_their_changes(void **state) {
  (void)state;
  site_begin(40);
  buffer(0, 1, 90, 10000, 1000000);
  check_kind("a buffer that grows all the time", 100, GROWTH_STEADY, 1);
  check_kind("the same with few samples", 20, GROWTH_STEADY, 0.9);
  site_begin(41);
  buffer(0, 0.15, 8, 10000, 1000000);
  check_kind("a buffer filled early", 100, GROWTH_ONCE, 1);
  site_begin(42);
  buffer(0.5, 0.53, 8, 10000, 1000000);
  check_kind("a buffer filled later", 100, GROWTH_ONCE, 1);
  site_begin(43);
  doubling(1000, (const double[]){0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.15, 0.16, 0.17}, 9);
  check_kind("a buffer that doubled early", 100, GROWTH_ONCE, 1);
  site_begin(44);
  doubling(10000, (const double[]){0.02, 0.04, 0.08, 0.16, 0.32, 0.64}, 6);
  check_kind("a table that doubles", 100, GROWTH_UNEVEN, 1);
  site_begin(45);
  buffer(0, 1, 7, 10000, 1000000);
  check_kind("a buffer that grows in 7 steps", 100, GROWTH_UNEVEN, 1);
}

static void a_log_buffer_is_no_leak(void **state) {
  (void)state;
  double least = 1;
  for (int i = 0; i < 40; i++) { /* periods of 1.9 to 40 % of the run */
    site_begin(46);
    log_buffer(0.4 * pow(0.925, i), i % 8, 800000);
    least = fmin(least, kind_share(100, GROWTH_UNEVEN));
  }
  printf("  log buffers of 40 periods: uneven in at least %.1f %% of runs\n", 100 * least);
  assert_true(least == 1);
}

/* The whole of a site: also where the run has no length. */
static void a_run_without_length_has_no_slope(void **state) {
  (void)state;
  site_begin(12);
  leak(0, 1000);
  struct ages ages = sampled_ages(1, 0);
  assert_int_equal(growth_of(&ages, whole, 0).kind, GROWTH_STEADY);
  assert_true(growth_of(&ages, (struct stretch){0, 0}, 0).rate.estimate == 0);
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

static double coverage(const char *name, double samples, int runs, uint64_t seed) {
  double truth = sampled_growth(1, 1).rate.estimate, rate = samples / alive_words();
  int covered = 0;
  for (uint64_t run = 0; run < (uint64_t)runs; run++) {
    struct estimate slope = sampled_growth(rate, seed + run).rate;
    assert_true(slope.low <= slope.estimate && slope.estimate <= slope.high);
    covered += slope.low <= truth * (1 + 1e-9) && truth * (1 - 1e-9) <= slope.high;
  }
  printf("  %-16s %3.0f samples: %5.2f %% covered\n", name, samples, 100.0 * covered / runs);
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
                                2000, 1000000 * (uint64_t)++cells);
      all += covered;
      bad += covered < 92 || covered > 98.5;
    }
  printf("  all: %.2f %% covered\n", all / cells);
  assert_int_equal(bad, 0);
  assert_true(all / cells > 93 && all / cells < 97.5);
}

/* At rate 1 the amounts are those of the blocks themselves. */
static void amounts_follow_a_block_through_its_sizes(void **state) {
  (void)state;
  site_begin(14);
  add_block_of(0.01, ALIVE, 100); /* grows, shrinks, and passes to another site */
  resize(4.5 / 16, 300);
  resize(6.5 / 16, 250);
  resize(9.5 / 16, 0);
  add_block_of(2.5 / 16, ALIVE, 70);
  struct ages ages = sampled_ages(1, 0);
  const double amounts[AGE_CLASSES] = {[0] = 100, [2] = 70, [4] = 200, [6] = -50, [9] = -250};
  for (int i = 0; i < AGE_CLASSES; i++) {
    assert_true(ages.alive[i] == amounts[i]);
    assert_int_equal(ages.samples[i], amounts[i] > 0);
  }
  assert_true(ages.all.total == 70 && ages.regrown == 0);
  const struct trend_sums *since = &ages.trends[TREND_SINCE_WARM_UP];
  assert_true(since->gain.total == 0 && since->loss.total == 100 && since->loss.seen == 100);
  const struct trend_sums *last = &ages.trends[TREND_SINCE_LAST];
  assert_true(!last->gain.samples && !last->loss.samples);
}

static void intervals_hold_the_truth_of_resized_blocks(void **state) {
  (void)state;
  double all = 0;
  int cells = 0, bad = 0;
  for (int shape = 0; shape < 8; shape++)
    for (int i = 0; i < 3; i++) {
      double samples = (const double[]){12, 40, 300}[i];
      site_begin(30);
      if (shape == 0) leaking_vectors(1500);
      if (shape == 1) growing_buffers(0, 600, 40, 16, 4000);
      if (shape == 2) growing_buffers(0.3, 20, 40, 16, 4000), leak(0, 1000);
      if (shape == 3) growing_buffers(0, 1, 40, 4000, 400000), leak(0, 1000);
      if (shape == 4) leaving(1000, 100, 1500);
      if (shape == 5) leaving(100, 0, 1500);
      if (shape == 6) growing_buffers(0, 600, 7, 16, 4000);
      if (shape == 7) growing_buffers(0, 3, 40, 4000, 400000), samples /= 4;
      double covered = coverage((const char *[]){"vectors", "buffers", "buffers and leak", "large and leak",
                                                 "shrinking", "passing", "few steps", "three buffers"}[shape],
                                samples, 1000, 1000000 * (uint64_t)(100 + ++cells));
      all += covered;
      bad += covered < 92 || covered > 99.5;
    }
  printf("  all: %.2f %% covered\n", all / cells);
  assert_int_equal(bad, 0);
  assert_true(all / cells > 93 && all / cells < 97.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leaks_are_told),
      cmocka_unit_test(leaks_among_blocks_that_die_are_told),
      cmocka_unit_test(what_keeps_its_size_is_no_leak),
      cmocka_unit_test(each_kind_has_its_word),
      cmocka_unit_test(what_took_the_place_of_other_blocks_was_not_filled_once),
      cmocka_unit_test(buffers_that_realloc_grows_are_judged_by_their_changes),
      cmocka_unit_test(a_log_buffer_is_no_leak),
      cmocka_unit_test(a_run_without_length_has_no_slope),
      cmocka_unit_test(the_slope_of_a_leak_is_its_rate),
      cmocka_unit_test(amounts_follow_a_block_through_its_sizes),
      cmocka_unit_test(intervals_of_slopes_hold_the_truth),
      cmocka_unit_test(intervals_hold_the_truth_of_resized_blocks),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
