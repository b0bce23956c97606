/* Completes rows, wherever they come from: the members that depend on the whole life of a block,
 * and lives in words.
 *
 * Growing blocks. When realloc grows a block, each of its new words gets a trial: it may be
 * sampled. So when G words of a block have had a trial, the block is in the sample with probability
 * p(G), and a row carries the p of its own G. What was allocated is the sum over calls of a / p,
 * where a is the size that the call gave the block (OWNER). The calls of one block are not
 * independent: with p1 <= p2 <= ... the variance of their sum is
 *   sum_j a_j^2 (1/p_j - 1) + 2 sum_{i<j} a_i a_j (1/p_j - 1)
 * and the `bytes_by.variance` of row j is the unbiased estimate of the row's share of it, from the
 * rows in the sample:
 *   a_j^2 (1 - p_j) / p_j^2 + 2 a_j (1 - p_j) / p_j * sum_{i<j} a_i / p_i.
 * The number of calls is the same sum with a = 1.
 *
 * Words clock. A collected heap records how much it has allocated. For a malloc heap the clock is
 * an estimate: the sum over rows, in the order of their starts, of each row's words / p. This sum
 * is less certain than the rows' own sizes, but the lives of all blocks are measured by the same
 * clock.
 */
#include "analysis/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* At most CALLS_MOST calls are assumed to have grown a block before its first sample; it is assumed
 * to have started with SMALL_BLOCK bytes. */
enum { CALLS_MOST = 2000, SMALL_BLOCK = 16 };

/* A block whose growth (size before / size after) is above this is assumed to grow by a constant
 * number of bytes, any other by a constant factor. */
static const double by_equal_steps = 0.97;

/* The most likely number of calls that allocated a block before it had so many bytes. */
static double calls_before(double bytes, double growth) {
  if (bytes <= 0) return 0;
  if (growth > by_equal_steps) return fmin(1 / (1 - growth), CALLS_MOST);
  return fmin(1 + log(fmax(bytes / SMALL_BLOCK, 1)) / -log(growth), CALLS_MOST);
}

/* The words by which the clock of a malloc heap advances when a row begins. */
static double words_of(const struct samples *samples, const struct row *row) {
  return row->probability > 0 ? ((double)row->allocated / samples->word_bytes + row->call) / row->probability
                              : 0;
}

static bool make_clock(const struct samples *samples, struct words_clock *clock) {
  double words = 0;
  if (samples->life.collection_count) return heap_life_clock(&samples->life, clock);
  if (!words_clock_create(clock, samples->row_count)) return false;
  for (size_t i = 0; i < samples->row_count; i++)
    words_clock_add(clock, samples->rows[i].begin_ns, words += words_of(samples, &samples->rows[i]));
  return true;
}

/* The items in the order of their keys; NULL without memory. Frees `keyed`. */
static uint32_t *items_in_order(struct keyed *keyed, size_t count) {
  uint32_t *items = keyed && order_by_key(keyed, count) ? malloc((count + 1) * sizeof *items) : NULL;
  for (size_t i = 0; items && i < count; i++) items[i] = keyed[i].item;
  free(keyed);
  return items;
}

/* ---- shared ---- */

double samples_growth(uint64_t before, uint64_t size) {
  return size > before ? (double)before / (double)size : 0;
}

double samples_growth_at_birth(const struct row *first) {
  return first->bytes_by.earlier > 0 ? first->bytes_by.growth : 0;
}

bool samples_settle_lives(struct samples *samples) {
  struct words_clock clock;
  if (!make_clock(samples, &clock)) return false;
  for (size_t i = 0; i < samples->row_count; i++) {
    struct row *row = &samples->rows[i];
    uint64_t died = row->died_ns == STILL_ALIVE ? samples->end_ns : row->died_ns;
    row->life_words = fmax(words_clock_at(&clock, died) - words_clock_at(&clock, row->born_ns), 0);
  }
  words_clock_destroy(&clock);
  free(samples->by_end);
  free(samples->by_life);
  samples->by_end = samples_order_by_end(samples, &samples->by_end_count);
  samples->by_life = samples_order_by_life(samples, &samples->by_life_count);
  return samples->by_end && samples->by_life;
}

struct keyed *samples_order_by_end(const struct samples *samples, size_t *count) {
  struct keyed *keyed = malloc((samples->row_count + 1) * sizeof *keyed);
  *count = 0;
  for (size_t i = 0; keyed && i < samples->row_count; i++)
    if (samples->rows[i].end_ns != STILL_ALIVE)
      keyed[(*count)++] = (struct keyed){samples->rows[i].end_ns, (uint32_t)i};
  if (keyed && order_by_key(keyed, *count)) return keyed;
  free(keyed);
  return NULL;
}

uint32_t *samples_order_by_life(const struct samples *samples, size_t *count) {
  struct keyed *keyed = malloc((samples->row_count + 1) * sizeof *keyed);
  *count = 0;
  for (size_t i = 0; keyed && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    uint64_t alive = row->died_ns == STILL_ALIVE;
    if (row->last)
      keyed[(*count)++] = (struct keyed){row_life_ns(row, samples->end_ns) << 1 | alive, (uint32_t)i};
  }
  return items_in_order(keyed, *count);
}

void samples_free(struct samples *samples) {
  if (!samples) return;
  if (samples->source) source_close(samples->source);
  for (size_t i = 0; i < samples->thread_count; i++) free(samples->threads[i].name);
  free(samples->threads);
  free(samples->memory);
  heap_life_destroy(&samples->life);
  mapped_destroy(&samples->mapped);
  free(samples->rows);
  free(samples->by_end);
  free(samples->by_life);
  free(samples->became);
  free(samples);
}

void samples_finish_block(struct row *rows, size_t count, double rate) {
  /* Over the calls so far: the sums of a / p and of 1 / p. `known`: the number of all calls. */
  double bytes = 0, calls = 0, known = 0;
  uint64_t died = rows[count - 1].end_ns;
  double growth = rows[0].bytes_by.growth, before = growth * (double)rows[0].size;
  bool from_birth = growth <= 0;
  if (from_birth && count > 1) rows[0].bytes_by.growth = rows[1].bytes_by.growth;
  for (size_t i = 0; i < count; i++) known += rows[i].call;
  for (size_t i = 0; i < count; i++) {
    double p = inclusion_probability(rate, rows[i].words), a = (double)rows[i].allocated;
    rows[i].probability = p;
    rows[i].bytes_by.variance = growth_variance(a, p, bytes);
    rows[i].bytes_by.typical = from_birth ? 1 : fmin(1 / (1 - rows[i].bytes_by.growth), CALLS_MOST) / known;
    rows[i].call_by = rows[i].bytes_by;
    rows[i].call_by.variance = rows[i].call ? growth_variance(1, p, calls) : 0;
    rows[i].died_ns = died;
    rows[i].promoted_ns = rows[count - 1].promoted_ns;
    bytes += a / p;
    calls += rows[i].call / p;
  }
  double calls_of_equal_share = fmin(1 / (1 - growth), CALLS_MOST);
  rows[0].bytes_by.earlier = before * calls_of_equal_share / (growth > by_equal_steps ? 2 : 1);
  rows[0].call_by.earlier = calls_before(before, growth);
}

const char *samples_thread_name(const struct samples *samples, uint32_t thread, char buffer[32]) {
  for (size_t i = 0; i < samples->thread_count; i++)
    if (samples->threads[i].thread == thread) return samples->threads[i].name;
  snprintf(buffer, 32, "thread %u", thread);
  return buffer;
}
/* SPDX-License-Identifier: MIT */
