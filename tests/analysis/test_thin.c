/* A thinned recording is a sample at the lower rate: its estimates are unbiased, and its intervals
 * hold as often as those of a recording at that rate. Made-up blocks whose totals are known, many
 * of which grow, are sampled with the real sampler, and the sample is thinned.
 *
 * With 4000 runs a coverage has a standard error of 0.4 %. An estimate is biased if its mean is
 * more than 4.5 standard errors off.
 *
 * Blocks do not shrink here. One that shrank and grew before its first sample had more words than
 * its size tells, so thinning keeps it a little too often: estimates were 0.2 % too high when a
 * third of the blocks did so. */
#include "analysis/sampled.h"
#include "support/runs.h"
#include "support/test.h"

#include "analysis/load/reduce.h"
#include "analysis/load/timeline.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 1500, CALLS_MOST = 6, RUNS = 4000 };

/* ---- blocks ---- */

enum law { EQUAL, LOG_UNIFORM, HEAVY_TAILED, LAWS };
static const char *const law_names[] = {"equal", "log-uniform", "heavy-tailed"};

/* Block i is born at 1000 i, is resized every 10 ns, and lives on if it is odd. */
struct block {
  size_t size[CALLS_MOST];
  int calls;
};

static struct block blocks[BLOCKS];
enum { END_NS = 1000 * BLOCKS + 100000 };

static double draw_size(struct random *random, enum law law) {
  double u = random_unit(random);
  return law == EQUAL ? 64 : law == LOG_UNIFORM ? 16 * pow(256, u) : fmin(16 * pow(u, -1 / 1.2), 16e6);
}

/* Two of three blocks never grow. */
static void make_blocks(enum law law) {
  struct random random;
  random_seed(&random, 5, law, 0);
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = (struct block){.size = {(size_t)draw_size(&random, law)}, .calls = 1};
    if (i % 3 == 0) blocks[i].calls += (int)(random_bits(&random) % CALLS_MOST);
    for (int j = 1; j < blocks[i].calls; j++)
      blocks[i].size[j] = (size_t)((double)blocks[i].size[j - 1] * (1 + 1.2 * random_unit(&random)));
  }
}

struct truth {
  double allocated, calls, live;
};

static struct truth truth_of_blocks(void) {
  struct truth truth = {0};
  for (int i = 0; i < BLOCKS; i++) {
    for (int j = 0; j < blocks[i].calls; j++)
      if (!j || blocks[i].size[j] > blocks[i].size[j - 1]) {
        truth.allocated += (double)blocks[i].size[j];
        truth.calls++;
      }
    if (i % 2) truth.live += (double)blocks[i].size[blocks[i].calls - 1];
  }
  return truth;
}

/* ---- a recording of them ---- */

/* The rows of a block, from its first sample on, and the growth of the first. */
static size_t sample_block(struct thread *thread, int number, struct row *rows, double *growth) {
  const struct block *block = &blocks[number];
  size_t known = 0, words = 0, size = 0;
  for (int i = 0; i < block->calls; i++) {
    size_t larger = malloc_words(block->size[i]);
    bool hit = is_sampled(thread, larger > words ? larger - words : 0), call = block->size[i] > size;
    if (larger > words) words = larger;
    if (!hit && !known) {
      size = block->size[i];
      continue;
    }
    uint64_t begin = 1000 * (uint64_t)number + 10 * (uint64_t)i;
    rows[known] = (struct row){.block = (uint64_t)number + 1,
                               .begin_ns = begin,
                               .born_ns = known ? rows[0].begin_ns : begin,
                               .end_ns = begin + 10,
                               .promoted_ns = NEVER,
                               .size = block->size[i],
                               .call = call,
                               .words = words,
                               .first = !known};
    if (!known) *growth = growth_of_sizes(size, block->size[i]);
    known++;
    size = block->size[i];
  }
  if (!known) return 0;
  rows[known - 1].last = true;
  if (number % 2) rows[known - 1].end_ns = STILL_ALIVE;
  return known;
}

static struct recording *record(double rate, uint64_t seed) {
  static struct made_source source;
  struct recording *recording = calloc(1, sizeof *recording);
  struct samples *samples = calloc(1, sizeof *samples);
  assert_true(recording && samples);
  source = (struct made_source){.source.format = &made, .run = {.rate = rate, .word_bytes = 8}};
  *samples = (struct samples){.source = &source.source, .word_bytes = 8, .end_ns = END_NS};
  samples->rows = calloc(BLOCKS * CALLS_MOST, sizeof *samples->rows);
  samples->rates = malloc(sizeof rate);
  assert_true(samples->rows && samples->rates);
  samples->rates[0] = rate;
  samples->rate_count = 1;
  struct thread thread;
  thread_begin(&thread, rate, seed, 3);
  for (int i = 0; i < BLOCKS; i++) {
    struct row *rows = samples->rows + samples->row_count;
    double growth;
    size_t count = sample_block(&thread, i, rows, &growth);
    if (!count) continue;
    assert_true(grown_finish_block(&samples->grown, rows, count, growth, &rate));
    samples->row_count += count;
    samples->sampled_blocks++;
  }
  recording->samples = samples;
  recording->names.strings = strings_create();
  recording_describe(recording);
  return recording;
}

/* ---- judging ---- */

struct tally {
  const char *name;
  double truth, sum, squares;
  int covered, runs;
};

static void judge(struct tally *tally, const struct estimate *estimate, double unbiased) {
  tally->runs++;
  tally->sum += unbiased;
  tally->squares += unbiased * unbiased;
  tally->covered += tally->truth >= estimate->low * (1 - 1e-9) && tally->truth <= estimate->high * (1 + 1e-9);
}

static double covered(const struct tally *tally) { return 100.0 * tally->covered / tally->runs; }

static bool is_biased(const struct tally *tally) {
  double mean = tally->sum / tally->runs,
         error = sqrt(fmax(tally->squares / tally->runs - mean * mean, 0) / tally->runs);
  printf("%.4g (standard error %.2g), %.1f %% covered", mean, error, covered(tally));
  return fabs(mean - tally->truth) > 4.5 * error;
}

/* Prints a cell; returns whether it is bad. */
static bool judge_cell(const struct tally *thinned, const struct tally *direct, enum law law) {
  printf("  %-12s %-9s truth %.4g; thinned: ", law_names[law], thinned->name, thinned->truth);
  bool biased = is_biased(thinned);
  printf("; at that rate: ");
  is_biased(direct);
  printf("\n");
  double apart = 1 + 200 / sqrt(thinned->runs);
  return biased || fabs(covered(thinned) - covered(direct)) > apart || covered(thinned) < 92 - apart;
}

static void judge_recording(const struct recording *recording, struct tally tallies[3]) {
  struct sums allocated = timeline_allocated(recording->samples, NULL, NULL),
              live = timeline_live_at(recording->samples, END_NS, NULL, NULL);
  struct estimate bytes = estimate_of(&allocated.bytes, recording->byte_unit),
                  calls = count_of(&allocated.blocks, &allocated.blocks, recording->rate),
                  held = estimate_of(&live.bytes, recording->byte_unit);
  judge(&tallies[0], &bytes, allocated.bytes.total);
  judge(&tallies[1], &calls, allocated.blocks.total);
  judge(&tallies[2], &held, live.bytes.total);
}

static void judge_run(double rate, uint64_t seed, struct tally thinned[3], struct tally direct[3],
                      double *kept) {
  struct recording *recording = record(rate, seed);
  /* In two steps, since a recording may be thinned again. */
  assert_int_equal(recording_thin(recording, 0.6, seed), WN_OK);
  assert_int_equal(recording_thin(recording, 0.5, seed + 1000000), WN_OK);
  assert_true(fabs(recording->rate - 0.3 * rate) < 1e-12 * rate);
  *kept += recording->kept;
  judge_recording(recording, thinned);
  recording_free(recording);
  recording = record(0.3 * rate, seed + 2000000);
  judge_recording(recording, direct);
  recording_free(recording);
}

static void thinned_estimates_hold_the_truth(void **state) {
  (void)state;
  int bad = 0;
  for (enum law law = EQUAL; law < LAWS; law++) {
    make_blocks(law);
    struct truth truth = truth_of_blocks();
    struct tally thinned[3] = {{.name = "allocated", .truth = truth.allocated},
                               {.name = "calls", .truth = truth.calls},
                               {.name = "live", .truth = truth.live}},
                 direct[3] = {thinned[0], thinned[1], thinned[2]};
    double rate = 600 / (truth.allocated / 8), kept = 0;
    for (int run = 0; run < runs_of(RUNS); run++) judge_run(rate, (uint64_t)run, thinned, direct, &kept);
    kept /= runs_of(RUNS);
    assert_true(kept > 0.28 && kept < 0.7);
    for (int i = 0; i < 3; i++) bad += judge_cell(&thinned[i], &direct[i], law);
  }
  assert_int_equal(bad, 0);
}

static void the_rows_of_a_thinned_block_are_whole(void **state) {
  (void)state;
  make_blocks(LOG_UNIFORM);
  struct recording *recording = record(1e-3, 1);
  uint64_t blocks_before = recording->samples->sampled_blocks;
  size_t rows_before = recording->samples->row_count;
  assert_int_equal(recording_thin(recording, 1, 1), WN_OK);
  assert_int_equal(recording->samples->row_count, rows_before);
  assert_int_equal(recording_thin(recording, 0.4, 1), WN_OK);
  const struct samples *samples = recording->samples;
  size_t begun = 0;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    begun += row->first;
    assert_true(row->first == (!i || row[-1].block != row->block) && (!row->first || row->call));
    assert_true(row->last == (i + 1 == samples->row_count || row[1].block != row->block));
    assert_true(row->first ? row->born_ns == row->begin_ns : row->born_ns == row[-1].born_ns);
    assert_true(row->probability == inclusion_probability(0.4e-3, row->words));
  }
  assert_int_equal(begun, samples->sampled_blocks);
  assert_true(begun < blocks_before && fabs(recording->kept - (double)begun / (double)blocks_before) < 1e-12);
  recording_free(recording);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(thinned_estimates_hold_the_truth),
                                     cmocka_unit_test(the_rows_of_a_thinned_block_are_whole)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
