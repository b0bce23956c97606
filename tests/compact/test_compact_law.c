/* What a history says is as true as the trace was: estimates are unbiased, and their intervals hold
 * as often as they should, after one compaction and after three, each with a smaller bound. A
 * made-up program of forty days has quiet times and bursts, blocks that grow long after their
 * birth, some of all ages that die, and some that stay. The sampler, the trace, the compactor and
 * the reader are the real ones; the clock is not.
 *
 * With 120 runs a coverage has a standard error of 2 %. An estimate is biased if its mean is more
 * than 4.5 standard errors off. */
#include "analysis/sampled.h"
#include "support/runs.h"
#include "support/test.h"

#include "analysis/load/reduce.h"
#include "compact/compact.h"
#include "compact/made_trace.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 12000, CALLS_MOST = 5, EVENTS_MOST = BLOCKS * (CALLS_MOST + 1), RUNS = 120, MOMENTS = 3 };
#define SECOND    UINT64_C(1000000000)
#define BIRTHS_NS (300 * SECOND) /* from one to the next */
#define END_NS    (BLOCKS * BIRTHS_NS)
#define RATE      0.05
#define NO_DEATH  UINT64_MAX

/* ---- the program ---- */

struct call {
  uint64_t time_ns, size; /* size 0: it is freed */
  int block, number;      /* number: of the block's calls */
};
static struct call calls[EVENTS_MOST];
static size_t call_count;
/* The truth. */
static double allocated, all_calls, held[MOMENTS];
static const double moments[MOMENTS] = {0.25, 0.8, 1};

static int by_time(const void *a, const void *b) {
  const struct call *one = a, *other = b;
  if (one->time_ns != other->time_ns) return one->time_ns < other->time_ns ? -1 : 1;
  return one->block != other->block ? (one->block > other->block) - (one->block < other->block)
                                    : (one->number > other->number) - (one->number < other->number);
}

static void add_call(struct call call, uint64_t before, uint64_t until_ns) {
  calls[call_count++] = call;
  if (!call.size) return;
  allocated += (double)call.size;
  all_calls++;
  (void)before;
  for (int i = 0; i < MOMENTS; i++) {
    uint64_t moment = (uint64_t)(moments[i] * (double)END_NS);
    if (call.time_ns <= moment && until_ns > moment) held[i] += (double)call.size;
  }
}

/* From seconds to days, so that there are blocks of each age. */
static uint64_t draw_life(struct random *random) {
  return (uint64_t)(exp(random_unit(random) * log(2e6)) * (double)SECOND);
}

static void make_block(struct random *random, int block) {
  bool burst = block % 1000 >= 600 && block % 1000 < 933;
  uint64_t size = (uint64_t)((burst ? 128 : 16) * pow(64, random_unit(random)));
  uint64_t time = BIRTHS_NS * (uint64_t)block + 1;
  uint64_t death = block % 5 < 2 ? NO_DEATH : time + draw_life(random);
  int count = block % 3 ? 1 : 1 + (int)(random_bits(random) % CALLS_MOST), i = 0;
  for (uint64_t next; i < count; i++, time = next) {
    next = time + 1 + draw_life(random);
    if (i + 1 == count || next >= END_NS || next >= death) count = i + 1, next = death;
    add_call((struct call){time, size, block, i}, 0, next);
    size += 1 + (uint64_t)((double)size * 1.5 * random_unit(random));
  }
  if (death < END_NS) add_call((struct call){death, 0, block, i}, 0, 0);
}

static void make_program(void) {
  struct random random;
  random_seed(&random, 17, 0, 0);
  for (int block = 0; block < BLOCKS; block++) make_block(&random, block);
  qsort(calls, call_count, sizeof *calls, by_time);
}

/* ---- its trace ---- */

struct known {
  size_t words;
  uint64_t size;
  bool sampled;
};

static void write_sample(struct trace_writer *writer, const struct call *call, size_t words,
                         uint64_t before) {
  struct trace_sample sample = {.time_ns = call->time_ns,
                                .thread = 1,
                                .block = (uint64_t)call->block + 1,
                                .size = call->size,
                                .words = words,
                                .n_samples = 1,
                                .grown = before,
                                .previous_size = before,
                                .rate = RATE};
  uint32_t frame = 1 + (uint32_t)call->block % 7;
  assert_true(trace_write_sample(writer, &sample, (struct trace_stack){&frame, 1}));
}

static void write_call(struct trace_writer *writer, struct thread *thread, struct known *known,
                       const struct call *call) {
  uint64_t block = (uint64_t)call->block + 1;
  if (!call->size) {
    struct trace_free event = {.time_ns = call->time_ns, .thread = 2, .block = block};
    if (known->sampled) assert_true(trace_write_free(writer, &event));
    return;
  }
  size_t words = malloc_words(call->size);
  bool hit = is_sampled(thread, words - known->words);
  struct trace_resize resize = {.time_ns = call->time_ns,
                                .thread = 1,
                                .block = block,
                                .size = call->size,
                                .words = words,
                                .rate = RATE};
  if (known->sampled)
    assert_true(trace_write_resize(writer, &resize, (struct trace_stack){0}));
  else if (hit)
    write_sample(writer, call, words, known->size);
  *known = (struct known){words, call->size, known->sampled || hit};
}

static void record(const char *path, uint64_t seed) {
  static struct known known[BLOCKS];
  struct trace_writer *writer = made_open(path, RATE, seed);
  struct thread thread;
  memset(known, 0, sizeof known);
  thread_begin(&thread, RATE, seed, 3);
  for (size_t i = 0; i < call_count && calls[i].time_ns <= END_NS; i++)
    write_call(writer, &thread, &known[calls[i].block], &calls[i]);
  struct trace_memory memory = {.time_ns = END_NS, .thread = 1, .rss_bytes = 1 << 20};
  assert_true(trace_write_memory(writer, &memory));
  trace_writer_close(writer);
}

/* ---- judging ---- */

struct tally {
  const char *name;
  double truth, sum, squares;
  int covered, runs;
};
enum { TALLIES = 2 + MOMENTS, STAGES = 3 };

static void judge(struct tally *tally, const struct estimate *estimate) {
  tally->runs++;
  tally->sum += estimate->estimate;
  tally->squares += estimate->estimate * estimate->estimate;
  tally->covered += tally->truth >= estimate->low * (1 - 1e-9) && tally->truth <= estimate->high * (1 + 1e-9);
}

static void judge_trace(const char *path, struct tally *tallies) {
  struct recording *recording;
  assert_int_equal(recording_load(path, &(struct recording_options){0}, &recording), WN_OK);
  struct sums all = timeline_allocated(recording->samples, NULL, NULL);
  struct estimate bytes = estimate_of(&all.bytes, recording->byte_unit),
                  number = count_of(&all.blocks, &all.blocks, recording->rate);
  judge(&tallies[0], &bytes);
  judge(&tallies[1], &number);
  for (int i = 0; i < MOMENTS; i++) {
    uint64_t moment = (uint64_t)(moments[i] * (double)END_NS);
    struct sums live = timeline_live_at(recording->samples, moment, NULL, NULL);
    struct estimate left = estimate_of(&live.bytes, recording->byte_unit);
    judge(&tallies[2 + i], &left);
  }
  recording_free(recording);
}

static void clear_tallies(struct tally *tallies) {
  static const char *const names[TALLIES] = {"allocated", "calls", "held at 25 %", "held at 80 %",
                                             "held at end"};
  const double truths[TALLIES] = {allocated, all_calls, held[0], held[1], held[2]};
  for (int i = 0; i < TALLIES; i++) tallies[i] = (struct tally){.name = names[i], .truth = truths[i]};
}

/* Prints a line; returns whether it is bad. */
static bool is_bad(const struct tally *tally, int stage) {
  double mean = tally->sum / tally->runs,
         error = sqrt(fmax(tally->squares / tally->runs - mean * mean, 0) / tally->runs),
         covered = 100.0 * tally->covered / tally->runs, apart = 3 * sqrt(95.0 * 5 / tally->runs);
  printf("  compacted %d times, %-13s truth %.4g: mean %.4g (standard error %.2g), %.1f %% covered\n", stage,
         tally->name, tally->truth, mean, error, covered);
  if (tally->runs < RUNS / 2) return false; /* under sanitizers: too few to judge */
  return fabs(mean - tally->truth) > 4.5 * error || covered < 93 - apart || covered > 97 + apart;
}

static void histories_hold_the_truth(void **state) {
  (void)state;
  char path[64], history[80];
  struct tally tallies[STAGES][TALLIES];
  /* Of the 300 kB or so that a trace has: histories of 150 and 90 kB. */
  const uint64_t bounds[STAGES] = {0, 400000, 240000};
  double left[STAGES] = {0};
  int bad = 0, runs = runs_of(RUNS);
  snprintf(path, sizeof path, "test_compact_law.%d.trace", (int)getpid());
  snprintf(history, sizeof history, "%s.history", path);
  make_program();
  for (int i = 0; i < STAGES; i++) clear_tallies(tallies[i]);
  for (int run = 0; run < runs; run++) {
    record(path, (uint64_t)run);
    for (int i = 0; i < STAGES; i++) {
      struct compact_result result;
      if (bounds[i]) assert_int_equal(compact_trace(path, bounds[i], &result), WN_OK);
      if (bounds[i]) left[i] += (double)result.samples_after / runs;
      judge_trace(path, tallies[i]);
    }
    assert_int_equal(unlink(path) | unlink(history), 0);
  }
  printf("  samples left: %.0f, then %.0f\n", left[1], left[2]);
  assert_true(left[1] > 0 && left[2] > 0 && left[2] < 0.9 * left[1]);
  for (int i = 0; i < STAGES; i++)
    for (int j = 0; j < TALLIES; j++) bad += is_bad(&tallies[i][j], i);
  assert_int_equal(bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(histories_hold_the_truth)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
