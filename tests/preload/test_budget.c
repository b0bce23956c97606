/* The rate that a budget allows, for programs that are made up: each allocates so much, and a sample costs
 * so much. */
#include "support/test.h"

#include "preload/budget.h"
#include <math.h>
#include <stdlib.h>

#define SECOND  1000000000.0
#define SHARE   0.01
#define HIGHEST 1e-3

/* Between two looks of the process. */
#define LOOK_NS 6e6

#define AT(sampling_ns, other_ns, all_ns, bytes) \
  (struct budget_time) { .sampling = sampling_ns, .other = other_ns, .all = all_ns, .own_bytes = bytes }

struct program {
  double (*words)(double cpu_s); /* that it allocates in a second of processor time */
  double processors;             /* that it keeps busy */
  double sample_ns, other; /* what a sample costs, and the part of the time that has no part in the rate */
};

struct result {
  double share, samples, lowest, highest;
  int changes;
};

static double rising(unsigned *random) { /* 0.5 to 1.5 */
  *random = *random * 1103515245 + 12345;
  return 0.5 + (double)(*random >> 16 & 0x7fff) / 32768;
}

static struct result run(const struct program *program, double cpu_s) {
  struct budget budget;
  struct result result = {.lowest = HIGHEST, .highest = 0};
  unsigned random = 1;
  double cpu = 0, cost = 0, other = 0;
  budget_begin(&budget, SHARE, HIGHEST, &(struct budget_time){0});
  while (cpu < cpu_s * SECOND) {
    double passed = LOOK_NS * program->processors, rate = budget_rate(&budget);
    double samples = program->words(cpu / SECOND) * passed / SECOND * rate * rising(&random);
    result.samples += samples;
    cost += samples * program->sample_ns;
    other += program->other * passed;
    cpu += passed + samples * program->sample_ns;
    if (budget_follow(&budget, &AT((uint64_t)cost, (uint64_t)other, (uint64_t)cpu, 0))) result.changes++;
    result.lowest = fmin(result.lowest, rate);
    result.highest = fmax(result.highest, rate);
  }
  result.share = (cost + other) / cpu;
  return result;
}

static double storm(double cpu_s) {
  (void)cpu_s;
  return 1e9;
}
static double server(double cpu_s) { return 1e8 * (1 + 0.5 * sin(cpu_s)); }
static double quiet(double cpu_s) {
  (void)cpu_s;
  return 1e6;
}

static double burst_s;
static double bursts(double cpu_s) { return fmod(cpu_s, 2 * burst_s) < burst_s ? 1e6 : 1e9; }
static double rare_bursts(double cpu_s) { return fmod(cpu_s, 10 * burst_s) < 9 * burst_s ? 1e6 : 1e9; }

static void is_kept_from(double least, struct program program, const char *name) {
  struct result result = run(&program, 60);
  print_message("%s: %.2f %% of the time, rates %.1e to %.1e, %d changes, %.0f samples\n", name,
                100 * result.share, result.lowest, result.highest, result.changes, result.samples);
  assert_true(result.share > least * SHARE && result.share < 1.2 * SHARE);
}

static void is_kept(struct program program, const char *name) { is_kept_from(0.8, program, name); }

/* A program that frees nothing: what its sampled blocks take is bounded, and if it gives all back
 * the rate rises again. */
static void memory_is_bounded(void **state) {
  (void)state;
  struct budget budget;
  double cpu = 0, cost = 0, own = 0, highest_own = 0;
  budget_begin(&budget, SHARE, HIGHEST, &(struct budget_time){0});
  for (; cpu < 3600 * SECOND; cpu += LOOK_NS) {
    double samples = 1e8 * LOOK_NS / SECOND * budget_rate(&budget);
    cost += 100 * samples; /* cheap, so that only memory keeps the rate down */
    own += 170 * samples;
    highest_own = fmax(highest_own, own);
    budget_follow(&budget, &AT((uint64_t)cost, 0, (uint64_t)cpu, (uint64_t)own));
  }
  print_message("at most %.0f MB, at last a rate of %.1e\n", highest_own / 1e6, budget_rate(&budget));
  assert_true(highest_own < 4.0 * (double)BUDGET_MEMORY && highest_own > (double)BUDGET_MEMORY);
  for (int i = 0; i < 60 * 60; i++, cpu += LOOK_NS * 10)
    budget_follow(&budget, &AT((uint64_t)cost, 0, (uint64_t)cpu, 1 << 20));
  assert_true(budget_rate(&budget) >= HIGHEST / 2);
}

/* Without a budget the rate is the one that was asked for, whatever it costs, until memory bounds
 * it. */
static void memory_bounds_a_fixed_rate(void **state) {
  (void)state;
  static const double rates[] = {1e-5, 1e-3, 0.1};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    struct budget budget;
    double cpu = 0, own = 0, highest_own = 0;
    budget_begin(&budget, 0, rates[i], &(struct budget_time){0});
    for (; cpu < 3600 * SECOND; cpu += LOOK_NS) {
      own += 170 * 1e7 * LOOK_NS / SECOND * budget_rate(&budget);
      highest_own = fmax(highest_own, own);
      /* Recording takes nine tenths of all. */
      budget_follow(&budget, &AT((uint64_t)(cpu * 0.9), 0, (uint64_t)cpu, (uint64_t)own));
      assert_true(budget_rate(&budget) <= rates[i]);
      if (own < (double)BUDGET_MEMORY) assert_true(budget_rate(&budget) == rates[i]);
    }
    assert_true(highest_own < 6.0 * (double)BUDGET_MEMORY);
    for (int k = 0; k < 100; k++, cpu += SECOND)
      budget_follow(&budget, &AT((uint64_t)(cpu * 0.9), 0, (uint64_t)cpu, 1 << 20));
    assert_true(budget_rate(&budget) == rates[i]);
  }
}

/* A bounded file: a ring of chunks, by when each was begun, of which another process takes over
 * some. */
enum { CHUNKS = 64, CHUNK_SAMPLES = 4000 };
struct file {
  double begun[CHUNKS], samples; /* in the newest */
  unsigned oldest, count;
  double dropped_ns; /* when the last one was begun that was dropped */
  double dropped;    /* samples */
};

static void write_samples(struct file *file, double samples, double now_ns) {
  for (file->samples += samples; file->samples >= CHUNK_SAMPLES; file->samples -= CHUNK_SAMPLES) {
    if (file->count == CHUNKS) {
      file->dropped_ns = file->begun[file->oldest++ % CHUNKS];
      file->dropped += CHUNK_SAMPLES;
      file->count--;
    }
    file->begun[(file->oldest + file->count++) % CHUNKS] = now_ns + 1;
  }
}

static void take_over(struct file *file, unsigned chunks) {
  if (chunks > file->count) chunks = file->count;
  file->oldest += chunks;
  file->count -= chunks;
}

/* Writes for some seconds, at a fixed rate that the bound lowers; another process takes over so
 * many samples a second. Returns the rate at the end. */
static double record_bounded(struct file *file, double words, double taken, double seconds) {
  struct budget budget;
  double samples = 0, debt = 0;
  *file = (struct file){.count = 0};
  budget_begin(&budget, 0, 0.01, &(struct budget_time){0});
  for (double now = 0; now < seconds * SECOND; now += 10 * LOOK_NS) {
    double more = words * 10 * LOOK_NS / SECOND * budget_rate(&budget);
    samples += more;
    write_samples(file, more, now);
    if ((debt += taken * 10 * LOOK_NS / SECOND) >= CHUNK_SAMPLES) {
      take_over(file, (unsigned)(debt / CHUNK_SAMPLES));
      debt = fmod(debt, CHUNK_SAMPLES);
    }
    budget_follow(&budget, &(struct budget_time){.sampling = (uint64_t)(samples * 1000),
                                                 .all = (uint64_t)now,
                                                 .time_ns = (uint64_t)now,
                                                 .dropped_ns = (uint64_t)file->dropped_ns});
    assert_true(budget_rate(&budget) <= 0.01);
  }
  print_message("%.0e words/s, %.0e samples taken over: %.0f s, rate %.1e, the oldest of %.0f s ago\n", words,
                taken, seconds, budget_rate(&budget), seconds - file->begun[file->oldest % CHUNKS] / SECOND);
  return budget_rate(&budget);
}

/* Nothing is taken over: the file holds the last half of a short run, and ten minutes of a long
 * one. */
static void the_bound_lowers_the_rate(void **state) {
  (void)state;
  struct file file;
  for (double words = 1e6; words < 1e10; words *= 10)
    for (double seconds = 10; seconds < 20000; seconds *= 4) {
      double rate = record_bounded(&file, words, 0, seconds);
      double kept = seconds - file.begun[file.oldest % CHUNKS] / SECOND;
      assert_true(rate < 1.1e-6 || kept > 0.4 * fmin(seconds, (double)BUDGET_KEEPS / SECOND));
      double enough = CHUNKS * CHUNK_SAMPLES / words / ((double)BUDGET_KEEPS / SECOND);
      assert_true(seconds < 2000 || rate == 0.01 || rate < 1.1e-6 ||
                  (rate > enough / 4 && rate < enough * 2));
    }
}

/* Where another process takes chunks over, the rate becomes one at which next to nothing is
 * dropped. */
static void the_bound_lets_a_compactor_keep_up(void **state) {
  (void)state;
  struct file file;
  double seconds = 3600, words = 1e9;
  for (double taken = 1e4; taken < 1e7; taken *= 10) {
    double rate = record_bounded(&file, words, taken, seconds);
    assert_true(rate * words < 1.3 * taken && rate * words > fmin(taken / 4, 0.009 * words));
    assert_true(file.dropped < 0.05 * rate * words * seconds + 4 * CHUNKS * CHUNK_SAMPLES);
  }
}

/* ---- tests ---- */

static void a_storm_takes_its_budget(void **state) {
  (void)state;
  struct result result = run(&(struct program){storm, 1, 1500, 0}, 60);
  assert_true(result.changes < 20);
  is_kept((struct program){storm, 1, 1500, 0}, "storm");
  is_kept((struct program){storm, 16, 1500, 0}, "storm of 16 threads");
  is_kept((struct program){storm, 1, 8000, 0}, "storm whose samples are dear");
  is_kept((struct program){server, 1, 1500, 0}, "server");
  is_kept((struct program){server, 8, 1500, 0.002}, "server with fixed cost");
}

static void bursts_take_the_budget(void **state) {
  (void)state;
  static const double lengths[] = {0.01, 0.1, 0.5, 1, 3};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    burst_s = lengths[i];
    is_kept((struct program){bursts, 1, 1500, 0}, "bursts");
    is_kept((struct program){bursts, 8, 1500, 0}, "bursts of 8 threads");
    is_kept_from(0.3, (struct program){rare_bursts, 1, 1500, 0}, "rare bursts");
  }
}

static void what_costs_little_has_the_highest_rate(void **state) {
  (void)state;
  struct result result = run(&(struct program){quiet, 1, 1500, 0}, 60);
  assert_true(result.changes == 0 && result.lowest == HIGHEST);
  result = run(&(struct program){storm, 1, 1500, 0}, 0.006); /* a short program */
  assert_true(result.changes <= 1);
}

/* After a storm it has that rate again. */
static double storm_first(double cpu_s) { return cpu_s < 5 ? 1e9 : 1e6; }
static void the_rate_rises_again(void **state) {
  (void)state;
  struct budget budget;
  double cpu = 0, cost = 0;
  budget_begin(&budget, SHARE, HIGHEST, &(struct budget_time){0});
  while (cpu < 60 * SECOND) {
    double samples = storm_first(cpu / SECOND) * LOOK_NS / SECOND * budget_rate(&budget);
    cost += samples * 1500;
    cpu += LOOK_NS + samples * 1500;
    budget_follow(&budget, &AT((uint64_t)cost, 0, (uint64_t)cpu, 0));
    if (cpu > 4 * SECOND && cpu < 5 * SECOND) assert_true(budget_rate(&budget) < HIGHEST / 20);
  }
  assert_true(budget_rate(&budget) == HIGHEST);
}

/* What costs beside the samples leaves half of the budget to them. */
static void samples_have_half_of_the_budget(void **state) {
  (void)state;
  struct result result = run(&(struct program){server, 1, 1500, 0.02}, 60);
  assert_true(result.share > 0.02 + 0.4 * SHARE && result.share < 0.02 + 0.6 * SHARE);
}

/* A program that wakes now and then samples on cold caches, and may never come to a second of
 * processor time: the rate falls before that has gone by. */
static void dear_samples_cost_little_in_the_first_second(void **state) {
  (void)state;
  enum { WAKES = 1000 };
  const double wake_ns = 0.5 * SECOND / WAKES, sample_ns = 40000;
  struct budget budget;
  double cpu = 0, cost = 0;
  budget_begin(&budget, SHARE, 1e-4, &(struct budget_time){0});
  for (int i = 0; i < WAKES; i++) {
    double took = 1e8 * wake_ns / SECOND * budget_rate(&budget) * sample_ns;
    cost += took;
    cpu += wake_ns + took;
    budget_follow(&budget, &AT((uint64_t)cost, 0, (uint64_t)cpu, 0));
  }
  print_message("%.1f ms of %.0f ms\n", cost / 1e6, cpu / 1e6);
  assert_true(cost < 2 * SHARE * cpu);
}

/* However dear samples are, some are taken. */
static void the_rate_has_an_end(void **state) {
  (void)state;
  struct result result = run(&(struct program){storm, 1, 1e7, 0}, 200);
  assert_true(result.lowest < 1.1e-6 && result.lowest > 0.8e-6);
}

/* The processor time of threads that have ended is counted late by some kernels; nothing goes wrong. */
static void a_clock_that_stands_changes_little(void **state) {
  (void)state;
  struct budget budget;
  struct budget_time now = AT(1000, 1000, 1000, 0);
  budget_begin(&budget, SHARE, HIGHEST, &now);
  assert_false(budget_follow(&budget, &now));
  now.sampling += (uint64_t)(SHARE * SECOND);
  assert_true(budget_follow(&budget, &now));
  assert_true(budget_rate(&budget) > HIGHEST / 10 && budget_rate(&budget) < HIGHEST);
}

/* The time of samples is a count of cycles by a length that is measured again each time, so it may be less than
 * before; and all of a window's beginning may be of a parent. Neither is a large time. */
static void a_clock_that_goes_back_changes_nothing(void **state) {
  (void)state;
  struct budget budget;
  struct budget_time now = AT(1000000, 1000, 2000000000, 0);
  budget_begin(&budget, SHARE, HIGHEST, &now);
  now.sampling -= 1;
  assert_false(budget_is_spent(&budget, now.sampling));
  assert_false(budget_follow(&budget, &now));
  now.all += (uint64_t)SECOND;
  assert_false(budget_follow(&budget, &now));
  assert_true(budget_rate(&budget) == HIGHEST);
  now = AT(0, 0, 1000, 0);
  assert_false(budget_follow(&budget, &now));
  now.sampling += (uint64_t)(4 * SHARE * SECOND);
  now.all += (uint64_t)SECOND;
  assert_true(budget_follow(&budget, &now));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_storm_takes_its_budget),
                                     cmocka_unit_test(memory_is_bounded),
                                     cmocka_unit_test(memory_bounds_a_fixed_rate),
                                     cmocka_unit_test(the_bound_lowers_the_rate),
                                     cmocka_unit_test(the_bound_lets_a_compactor_keep_up),
                                     cmocka_unit_test(bursts_take_the_budget),
                                     cmocka_unit_test(what_costs_little_has_the_highest_rate),
                                     cmocka_unit_test(the_rate_rises_again),
                                     cmocka_unit_test(samples_have_half_of_the_budget),
                                     cmocka_unit_test(dear_samples_cost_little_in_the_first_second),
                                     cmocka_unit_test(the_rate_has_an_end),
                                     cmocka_unit_test(a_clock_that_stands_changes_little),
                                     cmocka_unit_test(a_clock_that_goes_back_changes_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
