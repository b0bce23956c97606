/* Thins a recording, and rounds its times.
 *
 * Sampling with a number. Let u be uniform between 0 and 1, drawn once for each block, and p(w) the
 * probability that a block of w words takes a sample at the recording's rate. Sampling words has
 * the same result as this: the block is in the sample from the first call on at which u < p(w),
 * where w are its words that have had a trial by then. The same u with the p'(w) of a lower rate
 * gives a sample at that rate, and since p'(w) <= p(w) it is a part of the first sample.
 *
 * Of a block in the recording it is known at which call it was first sampled: when its words rose
 * from v to w (v = 0 at its birth). So u is uniform between p(v) and p(w), and is drawn from there.
 * The block's rows before the first one with u < p'(w) are dropped, and that row becomes one of a
 * block that was first sampled as it grew. What depends on rates is then computed anew
 * (samples_finish_block).
 *
 * The v of a block that was first sampled as it grew is taken from its size before. If it had
 * shrunk before that, v was larger, and the block is kept a little too often.
 *
 * tests/analysis/test_thin.c measures bias and coverage. */
#include "analysis/thin.h"

#include "base/error.h"
#include "base/hash.h"
#include <math.h>
#include <stdlib.h>

/* ---- a source with another rate ---- */

struct thinned_source {
  struct source source;
  struct source *inner;
  struct trace_run run; /* that of `inner`, with another rate */
};

static const struct thinned_source *of(const struct source *source) {
  return (const struct thinned_source *)source;
}

static void close_thinned(struct source *source) {
  source_close(of(source)->inner);
  free(source);
}

static bool next(struct source *source, struct trace_event *event) {
  return source_next(of(source)->inner, event);
}
static const struct trace_run *run(const struct source *source) { return &of(source)->run; }
static enum source_heap heap(const struct source *source) { return source_heap(of(source)->inner); }
static const struct trace_damage *damage(const struct source *source) {
  return source_damage(of(source)->inner);
}
static uint32_t stack_count(const struct source *source) { return source_stack_count(of(source)->inner); }
static struct trace_node stack(const struct source *source, uint32_t number) {
  return source_stack(of(source)->inner, number);
}
static uint32_t module_count(const struct source *source) { return source_module_count(of(source)->inner); }
static const struct trace_module *module(const struct source *source, uint32_t number) {
  return source_module(of(source)->inner, number);
}
static bool place(const struct source *source, uint32_t number, uint64_t offset, struct trace_place *out) {
  return source_place(of(source)->inner, number, offset, out);
}
static double position(const struct source *source) { return source_position(of(source)->inner); }

static const struct source_format format = {.close = close_thinned,
                                            .next = next,
                                            .run = run,
                                            .heap = heap,
                                            .damage = damage,
                                            .stack_count = stack_count,
                                            .stack = stack,
                                            .module_count = module_count,
                                            .module = module,
                                            .place = place,
                                            .position = position};

/* ---- blocks ---- */

struct thinning {
  struct samples *samples;
  double rate, lower; /* the rate before, and the one to come */
  uint64_t seed;
  bool *kept; /* index: row */
  size_t blocks;
  uint64_t promotions;
};

/* The u of a block whose first row this is. */
static double draw(const struct thinning *thinning, const struct row *first) {
  uint64_t bits = hash_combine(hash_combine(thinning->seed, first->block), first->born_ns);
  double unit = (double)(bits >> 11) * 0x1p-53, growth = samples_growth_at_birth(first);
  uint64_t before = growth > 0 ? (uint64_t)(growth * (double)first->size + 15.5) >> 3 : 0;
  if (before > first->words) before = first->words;
  double low = inclusion_probability(thinning->rate, before),
         high = inclusion_probability(thinning->rate, first->words);
  return low + unit * (high - low);
}

/* Which row of a block is the first to be kept; `count`: none. */
static size_t first_kept(const struct thinning *thinning, const struct row *rows, size_t count) {
  double u = draw(thinning, rows);
  size_t i = 0;
  while (i < count && (!rows[i].call || u >= inclusion_probability(thinning->lower, rows[i].words))) i++;
  return i;
}

/* Completes a row of a block whose first row is now at `born_ns`. What was promoted before that has
 * been in the major heap ever since it is known. */
static void begin_later(struct row *row, uint64_t born_ns) {
  row->born_ns = born_ns;
  row->bytes_by = row->call_by = (struct dependence){0};
  if (row->promoted_ns >= born_ns) return;
  row->promoted_ns = NEVER;
  row->area = AREA_MAJOR;
  row->next_cycle = NEXT_CYCLE_UNKNOWN;
}

/* Thins the rows of one block, which are in order. Returns how many are left, at their end. */
static size_t thin_block(struct thinning *thinning, struct row *rows, size_t count) {
  size_t first = first_kept(thinning, rows, count);
  if (first == count) return 0;
  double growth =
      first ? samples_growth(rows[first - 1].size, rows[first].size) : samples_growth_at_birth(rows);
  for (size_t i = first; i < count; i++) {
    rows[i].first = i == first;
    begin_later(&rows[i], rows[first].begin_ns);
    if (i > first) rows[i].bytes_by.growth = samples_growth(rows[i - 1].size, rows[i].size);
  }
  rows[first].bytes_by.growth = growth;
  samples_finish_block(rows + first, count - first, thinning->lower);
  thinning->blocks++;
  thinning->promotions += rows[first].promoted_ns != NEVER;
  return count - first;
}

/* A row of a block that has several. */
struct part {
  size_t row;
  const struct row *rows;
};

static int by_block(const void *a, const void *b) {
  const struct part *left = a, *right = b;
  const struct row *one = &left->rows[left->row], *other = &right->rows[right->row];
  if (one->block != other->block) return one->block < other->block ? -1 : 1;
  return (left->row > right->row) - (left->row < right->row);
}

/* Thins blocks of several rows: copies the rows of each together, and back. */
static bool thin_parts(struct thinning *thinning, struct part *parts, size_t count) {
  struct row *all = thinning->samples->rows, *rows = malloc((count + 1) * sizeof *rows);
  if (!rows) return false;
  qsort(parts, count, sizeof *parts, by_block);
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin; end < count && all[parts[end].row].block == all[parts[begin].row].block; end++)
      rows[end - begin] = all[parts[end].row];
    size_t left = thin_block(thinning, rows, end - begin);
    for (size_t i = end - left; i < end; i++) {
      all[parts[i].row] = rows[i - begin];
      thinning->kept[parts[i].row] = true;
    }
  }
  free(rows);
  return true;
}

static bool thin_rows(struct thinning *thinning) {
  struct samples *samples = thinning->samples;
  size_t count = 0, at = 0;
  for (size_t i = 0; i < samples->row_count; i++) count += !(samples->rows[i].first && samples->rows[i].last);
  struct part *parts = malloc((count + 1) * sizeof *parts);
  for (size_t i = 0; parts && i < samples->row_count; i++) {
    struct row *row = &samples->rows[i];
    if (row->first && row->last)
      thinning->kept[i] = thin_block(thinning, row, 1);
    else
      parts[at++] = (struct part){i, samples->rows};
  }
  bool done = parts && thin_parts(thinning, parts, count);
  free(parts);
  return done;
}

/* Removes the rows that are not kept. */
static void drop_rows(struct thinning *thinning) {
  struct samples *samples = thinning->samples;
  size_t count = 0;
  for (size_t i = 0; i < samples->row_count; i++)
    if (thinning->kept[i]) samples->rows[count++] = samples->rows[i];
  samples->row_count = count;
}

/* Gives the samples a source with the lower rate. */
static bool lower_rate(struct samples *samples, double rate) {
  struct thinned_source *source = malloc(sizeof *source);
  if (!source) return false;
  *source = (struct thinned_source){{&format}, samples->source, *source_run(samples->source)};
  source->run.rate = rate;
  samples->source = &source->source;
  return true;
}

static void round_down(uint64_t *time, uint64_t unit) {
  if (*time != STILL_ALIVE) *time -= *time % unit; /* NEVER is the same number */
}

/* ---- shared ---- */

wn_status recording_thin(struct recording *recording, double share, uint64_t seed) {
  struct samples *samples = recording->samples;
  struct thinning thinning = {.samples = samples,
                              .rate = recording->rate,
                              .lower = recording->rate * share,
                              .seed = hash_combine(seed, samples->row_count), /* not twice the same */
                              .kept = calloc(samples->row_count + 1, sizeof *thinning.kept)};
  bool done = thinning.kept && lower_rate(samples, thinning.lower) && thin_rows(&thinning);
  if (done) drop_rows(&thinning);
  free(thinning.kept);
  if (!done || !samples_settle_lives(samples))
    return error_set(WN_ENOMEM, "not enough memory to thin the samples");
  if (thinning.blocks)
    recording->kept *= (double)thinning.blocks / (double)samples->sampled_blocks;
  else
    recording->kept *= share;
  samples->sampled_blocks = thinning.blocks;
  samples->promotions = thinning.promotions;
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
  if (!samples_settle_lives(samples)) return error_set(WN_ENOMEM, "not enough memory to round times");
  recording_describe(recording);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
