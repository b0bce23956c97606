/* Completes the samples once all rows are known: lives in words, and the orders of rows.
 *
 * Words clock. A collected heap records how much it has allocated. For a malloc heap, and for a
 * collected heap before its first record and after its last, the clock is an estimate: the sum over
 * rows, in the order of their starts, of each row's words / p. This sum is less certain than the
 * rows' own sizes, but the lives of all blocks are measured by the same clock.
 */
#include "analysis/load/samples.h"

#include "analysis/load/strings.h"
#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The words by which the clock of a malloc heap advances when a row begins. */
static double words_of(const struct samples *samples, const struct row *row) {
  return row->probability > 0
             ? ((double)row_allocated(row) / samples->word_bytes + row->call) / row->probability
             : 0;
}

/* Adds the rows from *row on that begin before `ns`. Returns the words of the clock afterwards. */
static double samples_complete_add_rows(const struct samples *samples, struct words_clock *clock, size_t *row,
                                        uint64_t ns, double words) {
  for (; *row < samples->row_count && samples->rows[*row].begin_ns < ns; ++*row)
    words_clock_add(clock, samples->rows[*row].begin_ns, words += words_of(samples, &samples->rows[*row]));
  return words;
}

static bool samples_complete_make_clock(const struct samples *samples, struct words_clock *clock) {
  const struct heap_life *life = &samples->life;
  size_t row = 0;
  if (!words_clock_create(clock, samples->row_count + life->collection_count)) return false;
  double words = 0;
  for (size_t i = 0; i < life->collection_count; i++) {
    const struct trace_collection *record = &life->collections[i];
    if (i == 0) words = samples_complete_add_rows(samples, clock, &row, record->time_ns, words);
    if (i > 0) words += (double)(heap_life_allocated(record) - heap_life_allocated(record - 1));
    words_clock_add(clock, record->time_ns, words);
    while (row < samples->row_count && samples->rows[row].begin_ns <= record->time_ns) row++;
  }
  samples_complete_add_rows(samples, clock, &row, UINT64_MAX, words);
  return true;
}

/* The rows that end, by their ends; NULL without memory. */
static struct keyed *order_by_end(const struct samples *samples, size_t *count) {
  struct keyed *keyed = array_new(samples->row_count, sizeof *keyed);
  *count = 0;
  for (size_t i = 0; keyed && i < samples->row_count; i++)
    if (samples->rows[i].end_ns != STILL_ALIVE)
      keyed[(*count)++] = (struct keyed){samples->rows[i].end_ns, (uint32_t)i};
  return order_owned(keyed, *count);
}

static struct lived *samples_complete_order_by_life(const struct samples *samples, size_t *count) {
  struct keyed *keyed = array_new(samples->row_count, sizeof *keyed);
  *count = 0;
  for (size_t i = 0; keyed && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    uint64_t alive = row->died_ns == STILL_ALIVE;
    if (row->last) keyed[(*count)++] = (struct keyed){row_life_ns(samples, row) << 1 | alive, (uint32_t)i};
  }
  return samples_lived(samples, keyed, *count);
}

static bool fill_life_words(struct samples *samples) {
  struct words_clock clock;
  free(samples->life_words);
  samples->life_words = array_new(samples->row_count, sizeof *samples->life_words);
  if (!samples->life_words || !samples_complete_make_clock(samples, &clock)) return false;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    uint64_t died = row_died_ns(samples, row);
    samples->life_words[i] = fmax(words_clock_at(&clock, died) - words_clock_at(&clock, row->born_ns), 0);
  }
  words_clock_destroy(&clock);
  return true;
}

/* ---- shared ---- */

bool samples_complete_lives(struct samples *samples) {
  processes_end_rows(samples);
  free(samples->spans);
  free(samples->steps);
  free(samples->by_life);
  samples->steps = samples_steps(samples, &samples->step_count);
  samples->by_life = samples_complete_order_by_life(samples, &samples->by_life_count);
  samples->spans = samples_spans(samples);
  return fill_life_words(samples) && samples->steps && samples->by_life && samples->spans;
}

int samples_by_begin(const void *a, const void *b) {
  const struct row *left = a, *right = b;
  int order = order_numbers(left->begin_ns, right->begin_ns);
  return order ? order : order_numbers(left->block, right->block);
}

struct keyed *samples_resized(const struct samples *samples, size_t *count) {
  struct keyed *keyed = array_new(samples->row_count, sizeof *keyed);
  *count = 0;
  for (size_t i = 0; keyed && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!(row->first && row->last)) keyed[(*count)++] = (struct keyed){row->block, (uint32_t)i};
  }
  return order_owned(keyed, *count);
}

struct lived *samples_lived(const struct samples *samples, struct keyed *keyed, size_t count) {
  bool ordered = keyed && order_by_key(keyed, count);
  struct lived *lived = ordered ? array_new(count, sizeof *lived) : NULL;
  for (size_t i = 0; lived && i < count; i++)
    lived[i] = (struct lived){keyed[i].key, samples->rows[keyed[i].item].probability, keyed[i].item};
  free(keyed);
  return lived;
}

struct span *samples_spans(const struct samples *samples) {
  struct span *spans = array_new(samples->row_count, sizeof *spans);
  for (size_t i = 0; spans && i < samples->row_count; i++)
    spans[i] = (struct span){samples->rows[i].begin_ns, samples->rows[i].end_ns};
  return spans;
}

step_of_row *samples_steps(const struct samples *samples, size_t *count) {
  const struct row *rows = samples->rows;
  size_t ends, begun = 0, ended = 0, row_count = samples->row_count;
  struct keyed *by_end = order_by_end(samples, &ends);
  step_of_row *steps =
      by_end && row_count <= UINT32_MAX / 2 ? array_new(row_count + ends, sizeof *steps) : NULL;
  *count = row_count + ends;
  for (size_t i = 0; steps && i < *count; i++)
    if (ended < ends && (begun == row_count || by_end[ended].key <= rows[begun].begin_ns))
      steps[i] = by_end[ended++].item << 1 | 1;
    else
      steps[i] = (uint32_t)begun++ << 1;
  free(by_end);
  return steps;
}

void samples_free(struct samples *samples) {
  if (!samples) return;
  if (samples->source) source_close(samples->source);
  for (size_t i = 0; i < samples->thread_count; i++) free(samples->threads[i].name);
  free(samples->threads);
  free(samples->memory);
  free(samples->groups);
  heap_life_destroy(&samples->life);
  mapped_destroy(&samples->mapped);
  processes_destroy(samples);
  free(samples->rows);
  free(samples->rates);
  free(samples->rate_changes);
  free(samples->asleep);
  free(samples->life_words);
  strings_free(samples->types);
  free(samples->row_types);
  grown_destroy(&samples->grown);
  free(samples->spans);
  free(samples->steps);
  free(samples->by_life);
  free(samples->became);
  free(samples);
}

const char *samples_thread_name(const struct samples *samples, uint32_t thread, char buffer[32]) {
  for (size_t i = 0; i < samples->thread_count; i++)
    if (samples->threads[i].thread == thread) return samples->threads[i].name;
  snprintf(buffer, 32, "thread %u", samples_thread_number(samples, thread));
  return buffer;
}
/* SPDX-License-Identifier: MIT */
