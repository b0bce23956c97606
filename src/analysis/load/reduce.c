/* Thins a recording, and rounds its times.
 *
 * The law, and what is drawn for each block: sources/thinning.h. A block's rows before the first
 * one by which it is in the thinned sample are dropped, and that row becomes one of a block that
 * was first sampled as it grew. What depends on rates is then computed anew (grown_finish_block).
 *
 * How many words of a block that was first sampled as it grew had had a trial before is taken from
 * its size before. If it had shrunk before that, it were more, and the block is kept a little too
 * often.
 *
 * tests/analysis/test_thin.c measures bias and coverage. */
#include "analysis/load/reduce.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "sources/thinning.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

struct thin {
  struct samples *samples;
  uint64_t seed;
  double share;
  double *rates; /* `share` times those of the samples */
  double *words; /* by rate: of the block at hand, after its first hit */
  bool *kept;    /* index: row */
  size_t blocks;
  uint64_t promotions;
  bool no_memory;
};

/* Which row of a block is the first to be kept; `count`: none. */
static size_t first_kept(struct thin *thin, const struct row *rows, size_t count) {
  const double *rates = thin->samples->rates;
  double growth = growth_at_birth(&thin->samples->grown, rows);
  uint64_t before = growth > 0 ? (uint64_t)(growth * (double)rows->size + 15.5) >> 3 : 0;
  struct first_trial first = {before, rows->words, rates[rows->rate]};
  double least = thinning_first_share(thin->seed, rows->block), *words = thin->words;
  size_t kept = count, end = 0;
  for (size_t i = 0; i < count; i++) words[rows[i].rate] = 0;
  words[rows->rate] = thinning_words_after(thin->seed, rows->block, first);
  for (; end < count && kept == count; end++) {
    const struct row *row = &rows[end];
    if (end) words[row->rate] += (double)(row->words - rows[end - 1].words);
    least = fmin(least, thinning_later_share(thin->seed, row->block, rates[row->rate], words[row->rate]));
    if (row->call && least < thin->share) kept = end;
  }
  return kept;
}

/* Completes a row of a block whose first row is now at `born_ns`. What was promoted before that has
 * been in the major heap ever since it is known. */
static void begin_later(struct row *row, uint64_t born_ns) {
  row->born_ns = born_ns;
  if (row->promoted_ns >= born_ns) return;
  row->promoted_ns = NEVER;
  row->area = AREA_MAJOR;
  row->next_cycle = NEXT_CYCLE_UNKNOWN;
}

/* Thins the rows of one block, which are in order. Returns how many are left, at their end. */
static size_t thin_block(struct thin *thin, struct row *rows, size_t count) {
  size_t first = first_kept(thin, rows, count);
  if (first == count) return 0;
  double growth = first ? growth_of_sizes(rows[first - 1].size, rows[first].size)
                        : growth_at_birth(&thin->samples->grown, rows);
  if (row_is_left(&rows[count - 1]))
    rows[count - 1].end_ns = STILL_ALIVE; /* samples_complete_lives ends it */
  for (size_t i = first; i < count; i++) {
    rows[i].first = i == first;
    begin_later(&rows[i], rows[first].begin_ns);
  }
  if (!grown_finish_block(&thin->samples->grown, rows + first, count - first, growth, thin->rates))
    thin->no_memory = true;
  thin->blocks++;
  thin->promotions += rows[first].promoted_ns != NEVER;
  return count - first;
}

/* A row of a block that has several. */
struct part {
  size_t row;
  const struct row *rows;
};

static int reduce_by_block(const void *a, const void *b) {
  const struct part *left = a, *right = b;
  const struct row *one = &left->rows[left->row], *other = &right->rows[right->row];
  if (one->block != other->block) return one->block < other->block ? -1 : 1;
  return (left->row > right->row) - (left->row < right->row);
}

/* Thins blocks of several rows: copies the rows of each together, and back. */
static bool thin_parts(struct thin *thin, struct part *parts, size_t count) {
  struct row *all = thin->samples->rows, *rows = array_new(count, sizeof *rows);
  if (!rows) return false;
  qsort(parts, count, sizeof *parts, reduce_by_block);
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin; end < count && all[parts[end].row].block == all[parts[begin].row].block; end++)
      rows[end - begin] = all[parts[end].row];
    size_t left = thin_block(thin, rows, end - begin);
    for (size_t i = end - left; i < end; i++) {
      all[parts[i].row] = rows[i - begin];
      thin->kept[parts[i].row] = true;
    }
  }
  free(rows);
  return true;
}

static bool thin_rows(struct thin *thin) {
  struct samples *samples = thin->samples;
  size_t count = 0, at = 0;
  for (size_t i = 0; i < samples->row_count; i++) count += !(samples->rows[i].first && samples->rows[i].last);
  struct part *parts = array_new(count, sizeof *parts);
  for (size_t i = 0; parts && i < samples->row_count; i++) {
    struct row *row = &samples->rows[i];
    if (row->first && row->last)
      thin->kept[i] = thin_block(thin, row, 1);
    else
      parts[at++] = (struct part){i, samples->rows};
  }
  bool done = parts && thin_parts(thin, parts, count);
  free(parts);
  return done;
}

/* Removes the rows that are not kept. */
static void drop_rows(struct thin *thin) {
  struct samples *samples = thin->samples;
  size_t count = 0;
  for (size_t i = 0; i < samples->row_count; i++)
    if (thin->kept[i]) {
      if (samples->row_types) samples->row_types[count] = samples->row_types[i];
      samples->rows[count++] = samples->rows[i];
    }
  samples->row_count = count;
}

static void round_down(uint64_t *time, uint64_t unit) {
  if (*time != STILL_ALIVE) *time -= *time % unit; /* NEVER is the same number */
}

/* ---- shared ---- */

wn_status samples_thin(struct samples *samples, double share, uint64_t seed) {
  struct thin thin = {.samples = samples,
                      .seed = seed,
                      .share = share,
                      .rates = calloc(samples->rate_count, sizeof *thin.rates),
                      .words = calloc(samples->rate_count, sizeof *thin.words),
                      .kept = calloc(samples->row_count + 1, sizeof *thin.kept)};
  for (size_t i = 0; thin.rates && i < samples->rate_count; i++) thin.rates[i] = samples->rates[i] * share;
  bool done = thin.rates && thin.words && thin.kept && thin_rows(&thin) && !thin.no_memory;
  if (done) {
    drop_rows(&thin);
    memcpy(samples->rates, thin.rates, samples->rate_count * sizeof *thin.rates);
  }
  free(thin.kept);
  free(thin.words);
  free(thin.rates);
  if (done) source_set_rate(samples->source, source_run(samples->source)->rate * share);
  if (!done || !samples_complete_lives(samples))
    return error_set(WN_ENOMEM, "not enough memory to thin the samples");
  for (size_t i = 0; i < samples->rate_change_count; i++) samples->rate_changes[i].rate *= share;
  samples->rate_share = (samples->rate_share > 0 ? samples->rate_share : 1) * share;
  samples->sampled_blocks = thin.blocks;
  samples->promotions = thin.promotions;
  if (!samples_count_cut(samples)) return error_set(WN_ENOMEM, "not enough memory to thin the samples");
  return WN_OK;
}

wn_status recording_thin(struct recording *recording, double share, uint64_t seed) {
  struct samples *samples = recording->samples;
  uint64_t before = samples->sampled_blocks;
  wn_status error = samples_thin(samples, share, hash_combine(seed, before)); /* not twice the same */
  if (error) return error;
  recording->kept *= samples->sampled_blocks ? (double)samples->sampled_blocks / (double)before : share;
  recording_describe(recording);
  return WN_OK;
}

wn_status recording_round(struct recording *recording, uint64_t unit_ns) {
  struct samples *samples = recording->samples;
  for (size_t i = 0; i < samples->row_count; i++) {
    struct row *row = &samples->rows[i];
    round_down(&row->begin_ns, unit_ns);
    round_down(&row->end_ns, unit_ns);
    round_down(&row->born_ns, unit_ns);
    round_down(&row->died_ns, unit_ns);
    round_down(&row->promoted_ns, unit_ns);
  }
  for (uint32_t i = 0; i < samples->process_count; i++) round_down(&samples->processes[i].end_ns, unit_ns);
  if (!samples_complete_lives(samples)) return error_set(WN_ENOMEM, "not enough memory to round times");
  recording_describe(recording);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
