/* Estimates hold the truth while the rate of sampling follows the load, as if it had been one rate. A
 * made-up program has quiet times and bursts; many of its blocks grow long after their birth. A
 * controller, which sees the samples so far, changes the rate after every few calls; and the program
 * allocates its largest blocks just when the rate is highest or lowest. The sampler is the real one.
 *
 * With 1,000 runs a coverage has a standard error of 0.7 %. An estimate is biased if its mean is more than
 * 4.5 standard errors off. */
#include "analysis/sampled.h"
#include "support/runs.h"
#include "support/test.h"

#include "analysis/load/reduce.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  BLOCKS = 3000,
  CALLS_MOST = 6,
  EVENTS_MOST = BLOCKS * CALLS_MOST,
  RUNS = 1000,
  WINDOW = 25,
  RATES_MOST = 32
};
enum { END_NS = 1000 * BLOCKS };

/* When the largest blocks are born. */
enum adversary { NONE, AFTER_QUIET, IN_BURSTS, ADVERSARIES };
static const char *const adversary_names[] = {"none", "after quiet", "in bursts"};

/* ---- the program ---- */

struct call {
  uint64_t time_ns, size;
  int block, number; /* number: of the block's calls */
};
static struct call calls[EVENTS_MOST];
static size_t call_count;
static double allocated, all_calls, live; /* the truth */

static int by_time(const void *a, const void *b) {
  const struct call *one = a, *other = b;
  if (one->time_ns != other->time_ns) return one->time_ns < other->time_ns ? -1 : 1;
  return one->block != other->block ? (one->block > other->block) - (one->block < other->block)
                                    : (one->number > other->number) - (one->number < other->number);
}

/* A burst is a third of each thousand blocks. */
static bool is_burst(int block) { return block % 1000 >= 600 && block % 1000 < 933; }

static uint64_t first_size(struct random *random, int block, enum adversary adversary) {
  bool large =
      (adversary == AFTER_QUIET && block % 1000 == 600) || (adversary == IN_BURSTS && block % 1000 == 930);
  if (large) return 3000;
  double size = 16 * pow(64, random_unit(random));
  return (uint64_t)(is_burst(block) ? 8 * size : size);
}

static void make_program(enum adversary adversary) {
  struct random random;
  random_seed(&random, 11, adversary, 0);
  call_count = 0;
  allocated = all_calls = live = 0;
  for (int block = 0; block < BLOCKS; block++) {
    uint64_t size = first_size(&random, block, adversary), time = 1000 * (uint64_t)block;
    int count = block % 3 ? 1 : 1 + (int)(random_bits(&random) % CALLS_MOST);
    for (int i = 0; i < count && time < END_NS; i++) {
      calls[call_count++] = (struct call){time, size, block, i};
      allocated += (double)size;
      all_calls++;
      if (i) live -= (double)calls[call_count - 2].size;
      live += (double)size;
      size += 1 + (uint64_t)((double)size * 1.5 * random_unit(&random));
      time += 1 + random_bits(&random) % (END_NS / 4);
    }
  }
  qsort(calls, call_count, sizeof *calls, by_time);
}

/* ---- a recording of it ---- */

struct recorder {
  struct thread thread;
  struct samples *samples;
  uint64_t seed, changes;
  uint16_t rate; /* its index */
  int hits;      /* in this window */
  struct {
    size_t words;
    uint64_t size;
    bool sampled;
  } blocks[BLOCKS];
};

static void use_rate(struct recorder *recorder, uint16_t index) {
  recorder->rate = index;
  thread_begin(&recorder->thread, recorder->samples->rates[index], recorder->seed, recorder->changes++);
}

/* The rates are halves of the highest one. Many samples in a window halve it at once; none doubles
 * it. */
static void control(struct recorder *recorder) {
  if (recorder->hits > 6 && recorder->rate + 1 < recorder->samples->rate_count)
    use_rate(recorder, recorder->rate + 1);
  else if (recorder->hits < 2 && recorder->rate)
    use_rate(recorder, recorder->rate - 1);
  recorder->hits = 0;
}

static void record_call(struct recorder *recorder, const struct call *call, double *growth) {
  struct samples *samples = recorder->samples;
  size_t larger = malloc_words(call->size), words = recorder->blocks[call->block].words;
  bool hit = is_sampled(&recorder->thread, larger - words), first = !recorder->blocks[call->block].sampled;
  recorder->hits += hit;
  if (hit && first) growth[call->block] = growth_of_sizes(recorder->blocks[call->block].size, call->size);
  if (hit || !first)
    samples->rows[samples->row_count++] = (struct row){.block = (uint64_t)call->block + 1,
                                                       .begin_ns = call->time_ns,
                                                       .end_ns = STILL_ALIVE,
                                                       .promoted_ns = NEVER,
                                                       .size = call->size,
                                                       .call = true,
                                                       .words = larger,
                                                       .rate = recorder->rate,
                                                       .first = first,
                                                       .last = true};
  recorder->blocks[call->block].words = larger;
  recorder->blocks[call->block].size = call->size;
  recorder->blocks[call->block].sampled = !first || hit;
}

static int by_block(const void *a, const void *b) {
  const struct row *one = a, *other = b;
  if (one->block != other->block) return one->block < other->block ? -1 : 1;
  return (one->begin_ns > other->begin_ns) - (one->begin_ns < other->begin_ns);
}

static void finish_blocks(struct samples *samples, const double *growth) {
  qsort(samples->rows, samples->row_count, sizeof *samples->rows, by_block);
  for (size_t begin = 0, end; begin < samples->row_count; begin = end) {
    struct row *rows = samples->rows + begin;
    for (end = begin + 1; end < samples->row_count && samples->rows[end].block == rows->block; end++) {
      samples->rows[end - 1].end_ns = samples->rows[end].begin_ns;
      samples->rows[end - 1].last = false;
    }
    for (size_t i = begin; i < end; i++) samples->rows[i].born_ns = rows->begin_ns;
    assert_true(
        grown_finish_block(&samples->grown, rows, end - begin, growth[rows->block - 1], samples->rates));
    samples->sampled_blocks++;
  }
}

static struct recording *record(double highest, uint64_t seed) {
  static struct made_source source;
  static struct recorder recorder;
  double growth[BLOCKS] = {0};
  struct recording *recording = calloc(1, sizeof *recording);
  struct samples *samples = calloc(1, sizeof *samples);
  assert_true(recording && samples);
  source = (struct made_source){.source.format = &made, .run = {.rate = highest, .word_bytes = 8}};
  *samples = (struct samples){.source = &source.source, .word_bytes = 8, .end_ns = END_NS};
  samples->rows = calloc(EVENTS_MOST, sizeof *samples->rows);
  samples->rates = calloc(RATES_MOST, sizeof *samples->rates);
  assert_true(samples->rows && samples->rates);
  for (samples->rate_count = 0; samples->rate_count < 8; samples->rate_count++)
    samples->rates[samples->rate_count] = ldexp(highest, -samples->rate_count);
  memset(&recorder, 0, sizeof recorder);
  recorder.samples = samples;
  recorder.seed = seed;
  use_rate(&recorder, 2);
  for (size_t i = 0; i < call_count; i++) {
    record_call(&recorder, &calls[i], growth);
    if (i % WINDOW == WINDOW - 1) control(&recorder);
  }
  assert_true(recorder.changes > 10);
  finish_blocks(samples, growth);
  recording->samples = samples;
  recording->names.strings = strings_create();
  assert_non_null(recording->names.strings);
  recording_describe(recording);
  return recording;
}

/* ---- judging ---- */

struct tally {
  const char *name;
  double truth, sum, squares;
  int covered, runs;
};

static void judge(struct tally *tally, const struct estimate *estimate) {
  tally->runs++;
  tally->sum += estimate->estimate;
  tally->squares += estimate->estimate * estimate->estimate;
  tally->covered += tally->truth >= estimate->low * (1 - 1e-9) && tally->truth <= estimate->high * (1 + 1e-9);
}

static void judge_recording(const struct recording *recording, struct tally tallies[3]) {
  struct sums all = timeline_allocated(recording->samples, NULL, NULL),
              held = timeline_live_at(recording->samples, END_NS, NULL, NULL);
  struct estimate bytes = estimate_of(&all.bytes, recording->byte_unit),
                  number = count_of(&all.blocks, &all.blocks, recording->rate),
                  left = estimate_of(&held.bytes, recording->byte_unit);
  judge(&tallies[0], &bytes);
  judge(&tallies[1], &number);
  judge(&tallies[2], &left);
}

/* Prints a cell; returns whether it is bad. */
static bool is_bad(const struct tally *tally, const char *what, enum adversary adversary) {
  double mean = tally->sum / tally->runs,
         error = sqrt(fmax(tally->squares / tally->runs - mean * mean, 0) / tally->runs),
         covered = 100.0 * tally->covered / tally->runs, apart = 3 * sqrt(95.0 * 5 / tally->runs);
  printf("  %-11s %-8s %-9s truth %.4g: mean %.4g (standard error %.2g), %.1f %% covered\n",
         adversary_names[adversary], what, tally->name, tally->truth, mean, error, covered);
  return fabs(mean - tally->truth) > 4.5 * error || covered < 93 - apart || covered > 97 + apart;
}

static void estimates_hold_the_truth_while_the_rate_follows_the_load(void **state) {
  (void)state;
  int bad = 0;
  for (enum adversary adversary = NONE; adversary < ADVERSARIES; adversary++) {
    make_program(adversary);
    struct tally whole[3] = {{.name = "allocated", .truth = allocated},
                             {.name = "calls", .truth = all_calls},
                             {.name = "live", .truth = live}},
                 half[3] = {whole[0], whole[1], whole[2]};
    for (int run = 0; run < runs_of(RUNS); run++) {
      struct recording *recording = record(0.02, (uint64_t)run);
      judge_recording(recording, whole);
      assert_int_equal(recording_thin(recording, 0.5, (uint64_t)run), WN_OK);
      judge_recording(recording, half);
      recording_free(recording);
    }
    for (int i = 0; i < 3; i++)
      bad += is_bad(&whole[i], "recorded", adversary) + is_bad(&half[i], "thinned", adversary);
  }
  assert_int_equal(bad, 0);
}

/* The weights of a block that grows are those of the formula, and with one rate those of that
 * rate. */
static void a_row_has_the_weight_of_its_trials(void **state) {
  (void)state;
  const double rates[] = {1e-2, 1e-3, 0};
  struct grown_rows grown = {0};
  struct row rows[4] = {{.size = 72, .words = 10, .rate = 0, .call = true},
                        {.size = 312, .words = 40, .rate = 1, .call = true},
                        {.size = 392, .words = 50, .rate = 2, .call = true}, /* nothing was sampled then */
                        {.size = 792, .words = 100, .rate = 1, .call = true}};
  assert_true(grown_finish_block(&grown, rows, 4, 0, rates));
  double first = 1 / inclusion_probability(1e-2, 10);
  double c = inclusion_probability(1e-3, 30) / inclusion_probability(1e-3, 40), second = (1 - c) * first + c;
  assert_true(fabs(rows[0].probability * first - 1) < 1e-12);
  assert_true(fabs(rows[1].probability * second - 1) < 1e-12);
  assert_true(rows[2].probability == rows[1].probability);
  c = inclusion_probability(1e-3, 50) / inclusion_probability(1e-3, 100);
  assert_true(fabs(rows[3].probability * ((1 - c) * second + c) - 1) < 1e-12);
  for (int i = 0; i < 4; i++) rows[i].rate = 1, rows[i].grown = 0;
  assert_true(grown_finish_block(&grown, rows, 4, 0, rates));
  for (int i = 0; i < 4; i++) assert_true(rows[i].probability == inclusion_probability(1e-3, rows[i].words));
  grown_destroy(&grown);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_has_the_weight_of_its_trials),
      cmocka_unit_test(estimates_hold_the_truth_while_the_rate_follows_the_load)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
