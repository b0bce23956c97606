/* Completes the rows of a block, wherever they come from.
 *
 * When realloc grows a block, each of its new words gets a trial: it may be sampled. So when G words
 * of a block have had a trial, the block is in the sample with probability p(G), and a row carries
 * the p of its own G. What was allocated is the sum over calls of a / p, where a is the size that the
 * call gave the block (OWNER). The calls of one block are not independent: with p1 <= p2 <= ... the
 * variance of their sum is
 *   sum_j a_j^2 (1/p_j - 1) + 2 sum_{i<j} a_i a_j (1/p_j - 1)
 * and the `bytes.variance` of row j is the unbiased estimate of the row's share of it, from the rows
 * in the sample:
 *   a_j^2 (1 - p_j) / p_j^2 + 2 a_j (1 - p_j) / p_j * sum_{i<j} a_i / p_i.
 * The number of calls is the same sum with a = 1. Of a block that has one call, sampled at its birth,
 * all of this follows from the row itself, and the block has no place in the table.
 *
 * RATES. The rate λ of the trials may change between two calls. Of a block that is first sampled as it
 * grows, nobody knows at which rates its older words had their trials. So the weight of a block, the
 * inverse of its row's `probability`, is made from what is known of each sampled block: w, all its words
 * by this call; g of them, which this call added; and λ, the rate of these g trials. With p(n) = 1 - (1 -
 * λ)^n and c = p(g) / p(w), the weight is
 *   1 / p(w)           of a block that is first sampled by this call;
 *   (1 - c) W + c      of a block that had the weight W before.
 * Let F be 1 if a block was in the sample before, and 0 if not, and let the mean of F W be 1. Then the mean
 * of the new weight is 1, too: (1 - c) E[F W] + c E[F] + (1 - E[F]) p(g) / p(w) = 1 - c + c. So estimates are
 * unbiased, whatever the rates were and whatever they were made from, as long as each was fixed before its
 * trials. Where all rates are equal, both weights are 1 / p(w). F W (W - 1) estimates the variance of F W
 * without a bias, so weights of 1/p take the place of probabilities in all that follows.
 */
#include "analysis/load/grown.h"

#include "analysis/load/samples.h"
#include "base/array.h"
#include <math.h>
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

/* Gives all rows their places and their growths. */
static bool grown_add_rows(struct grown_rows *table, struct row *rows, size_t count, double growth) {
  for (size_t i = 0; i < count; i++) {
    if (!rows[i].grown && !grown_add(table, &rows[i])) return false;
    table->items[rows[i].grown] =
        (struct grown){.growth = i ? growth_of_sizes(rows[i - 1].size, rows[i].size) : growth};
  }
  if (growth <= 0 && count > 1) table->items[rows[0].grown].growth = table->items[rows[1].grown].growth;
  return true;
}

/* Fills in how the calls depend on each other. */
static void depend(struct grown_rows *table, const struct row *rows, size_t count, double growth) {
  /* Over the calls so far: the sums of a / p and of 1 / p. `known`: the number of all calls. */
  double bytes = 0, calls = 0, known = 0, before = growth * (double)rows[0].size;
  for (size_t i = 0; i < count; i++) known += rows[i].call;
  for (size_t i = 0; i < count; i++) {
    struct grown *grown = &table->items[rows[i].grown];
    double p = rows[i].probability, a = (double)row_allocated(&rows[i]);
    grown->bytes.variance = growth_variance(a, p, bytes);
    grown->calls.variance = rows[i].call ? growth_variance(1, p, calls) : 0;
    grown->typical = growth <= 0 ? 1 : fmin(1 / (1 - grown->growth), CALLS_MOST) / known;
    bytes += a / p;
    calls += rows[i].call / p;
  }
  struct grown *first = &table->items[rows[0].grown];
  double calls_of_equal_share = fmin(1 / (1 - growth), CALLS_MOST);
  first->bytes.earlier = before * calls_of_equal_share / (growth > by_equal_steps ? 2 : 1);
  first->calls.earlier = calls_before(before, growth);
}

/* RATES: the probability of a row that follows `row`. */
static double probability_after(const struct row *row, const struct row *next, double rate) {
  if (next->words <= row->words || !(rate > 0)) return row->probability;
  double c = inclusion_probability(rate, next->words - row->words) / inclusion_probability(rate, next->words);
  return 1 / ((1 - c) / row->probability + c);
}

static void set_probabilities(struct row *rows, size_t count, const double *rates) {
  bool is_one_rate = true;
  for (size_t i = 0; i < count; i++) {
    double rate = rates[rows[i].rate];
    is_one_rate = is_one_rate && rows[i].rate == rows->rate;
    rows[i].probability = is_one_rate ? inclusion_probability(rate, rows[i].words)
                                      : probability_after(&rows[i - 1], &rows[i], rate);
  }
}

/* ---- shared ---- */

bool grown_add(struct grown_rows *table, struct row *row) {
  size_t place = table->count ? table->count : 1;
  if (place > UINT32_MAX || !array_reserve(&table->items, &table->capacity, place + 1, sizeof *table->items))
    return false;
  table->items[place] = (struct grown){.growth = 0};
  table->count = place + 1;
  row->grown = (uint32_t)place;
  return true;
}

void grown_destroy(struct grown_rows *table) {
  free(table->items);
  *table = (struct grown_rows){.items = NULL};
}

double growth_of_sizes(uint64_t before, uint64_t size) {
  return size > before ? (double)before / (double)size : 0;
}

double growth_at_birth(const struct grown_rows *table, const struct row *first) {
  const struct grown *grown = grown_at(table, first->grown);
  return grown && grown->bytes.earlier > 0 ? grown->growth : 0;
}

bool grown_finish_block(struct grown_rows *table, struct row *rows, size_t count, double growth,
                        const double *rates) {
  const struct row *last = &rows[count - 1];
  set_probabilities(rows, count, rates);
  for (size_t i = 0; i < count; i++) {
    rows[i].died_ns = last->end_ns;
    rows[i].promoted_ns = last->promoted_ns;
  }
  if (count == 1 && growth <= 0) return rows->grown = 0, true;
  if (!grown_add_rows(table, rows, count, growth)) return false;
  depend(table, rows, count, growth);
  return true;
}
/* SPDX-License-Identifier: MIT */
