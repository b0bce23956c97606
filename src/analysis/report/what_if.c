/* Other sizes of the minor heap.
 *
 * Time is measured in words born in the minor heap (WORDS CLOCK in heap_life.h, without those that
 * were born in the major heap). Let M be the words between two minor collections, and S(t) the
 * share of bytes that live longer than t words. A block is promoted if it lives until the next
 * collection. It is born at any distance d from it, 0 to M, all equally likely, so the promoted
 * share is the mean of S over 0..M; with a minor heap k times as large, the mean of S over 0..kM.
 *
 * How long a block lives is not recorded. What is known: an unpromoted block died within d; a
 * promoted one lived for d, at least until the last cycle of the major collector that found it
 * alive, and at most until the one that found it dead began (SNAPSHOT in gc/collect/major.h), since
 * a cycle finds all that died before it began. So for a promoted block two ages are known: A, at
 * which it was alive, and D, at which it was dead (infinite, if it never was found dead). With P
 * the promoted bytes, sums over sampled blocks weighted as ever, and [x] for x limited to 0..k-1:
 *
 *  - half as large: a block that was born within M/2 before a collection was promoted under the same
 *    conditions as with a minor heap of M/2; these have a share q of P, and are half of all births. So
 *    2 q P would have been promoted.
 *  - k times as large: (P + M..kM part) / k, where the part of S behind M is
 *      at least  the sum of y [A/M - 1]
 *      at most   the sum of y [D/M - 1] over those that were born in the first LATE of an interval,
 *                divided by LATE: S falls, so from M on it is no more than what it is there on average.
 *
 * The truth is between these two, wherever in the unknown time the blocks died. To both ends the
 * error of sampling is added: 1.96 standard errors of the ratio of two sums, by linearisation, and
 * without any sample behind a bound, what sampling may have missed (estimate.h). So the interval is
 * wide where cycles are rare; it promises nothing that the trace does not show. It assumes that the
 * program allocates as it did, and that one domain's minor heap is as full as another's.
 * tests/analysis/test_what_if.c runs made-up programs again with other minor heaps.
 */
#include "analysis/report/what_if.h"

#include <math.h>
#include <stdlib.h>

static const double LATE = 0.125;
static const double factors[WHAT_IF_SIZES] = {0.5, 2, 4, 8};

enum { PROMOTED_LEAST = 10 };

/* A sum x / p over blocks and the sums that its ratio with P needs. */
struct ratio {
  struct sum sum;
  double squares, products; /* of x^2 and of x y, each times (1-p)/p^2 */
};

struct sums_of_size {
  struct ratio least, most;
};

struct working {
  const struct samples *samples;
  struct words_clock clock;  /* one point for each record after a minor collection */
  uint64_t *counts;          /* by point: how many minor collections had ended */
  bool *minor;               /* by point: whether one ended just then */
  struct sum promoted, near; /* near: born within half an interval before the collection */
  struct sums_of_size sizes[WHAT_IF_SIZES];
};

/* ---- time ---- */

/* The minor collections and what had been allocated by then. */
static bool what_if_make_clock(struct working *working) {
  const struct heap_life *life = &working->samples->life;
  struct words_clock *clock = &working->clock;
  working->counts = malloc((life->collection_count + 1) * sizeof *working->counts);
  working->minor = malloc((life->collection_count + 1) * sizeof *working->minor);
  if (!working->counts || !working->minor || !words_clock_create(clock, life->collection_count)) return false;
  for (size_t i = 0; i < life->collection_count; i++) {
    const struct trace_collection *collection = &life->collections[i];
    if (clock->count && collection->minor_collections == working->counts[clock->count - 1]) continue;
    working->counts[clock->count] = collection->minor_collections;
    working->minor[clock->count] = collection->kind == TRACE_COLLECTION_MINOR;
    words_clock_add(clock, collection->time_ns, (double)collection->minor_words);
  }
  return true;
}

/* Whether a point and the one before are two consecutive minor collections. Not every collection has a
 * record: of frequent ones some have, and a runtime may tell of its cycles only. */
static bool is_interval(const struct working *working, size_t point) {
  return working->minor[point - 1] && working->minor[point] &&
         working->counts[point] == working->counts[point - 1] + 1;
}

static int what_if_by_size(const void *a, const void *b) {
  double one = *(const double *)a, other = *(const double *)b;
  return (one > other) - (one < other);
}

/* The median of the words between collections; 0 if there are none. NAN without memory. */
static double usual_interval(const struct working *working) {
  const struct words_clock *clock = &working->clock;
  double *words = malloc((clock->count + 1) * sizeof *words), median = 0;
  if (!words) return NAN;
  for (size_t i = 1; i < clock->count; i++)
    words[i - 1] = (clock->words[i] - clock->words[i - 1]) /
                   fmax((double)working->counts[i] - (double)working->counts[i - 1], 1);
  if (clock->count > 1) {
    qsort(words, clock->count - 1, sizeof *words, what_if_by_size);
    median = fmax(words[(clock->count - 1) / 2], 0); /* damaged counters may fall */
  }
  free(words);
  return median;
}

/* The last moment at which a promoted block is known to have been alive, and the first at which it
 * is known to have been dead. */
static void known_times(const struct heap_life *life, const struct row *row, uint64_t *alive,
                        uint64_t *dead) {
  bool found = row->died_ns != STILL_ALIVE;
  size_t begun = times_until(life->cycles, life->cycle_count, row->died_ns);
  *alive = row->promoted_ns;
  *dead = row->died_ns;
  if (found && begun && life->cycles[begun - 1] > row->promoted_ns) *dead = life->cycles[begun - 1];
  if (begun > 1 && life->cycles[begun - 2] > row->promoted_ns) *alive = life->cycles[begun - 2];
}

/* ---- sums ---- */

static void add_to_ratio(struct ratio *ratio, double x, double y, double p) {
  double noise = (1 - p) / (p * p);
  if (x <= 0) return;
  sum_add(&ratio->sum, x, p);
  ratio->squares += x * x * noise;
  ratio->products += x * y * noise;
}

static double what_if_limited(double ages, double factor) { return fmin(fmax(ages - 1, 0), factor - 1); }

static void what_if_add_row(struct working *working, const struct row *row) {
  const struct words_clock *clock = &working->clock;
  size_t next = times_until(clock->ns, clock->count, row->born_ns);
  if (!next || next == clock->count) return; /* before the first collection, or behind the last */
  if (!is_interval(working, next)) return;
  double interval = clock->words[next] - clock->words[next - 1], born = words_clock_at(clock, row->born_ns);
  double y = (double)row->size, p = row->probability;
  uint64_t alive, dead;
  if (interval <= 0) return;
  double ahead = (clock->words[next] - born) / interval;
  sum_add(&working->promoted, y, p);
  if (ahead < 0.5) sum_add(&working->near, y, p);
  known_times(&working->samples->life, row, &alive, &dead);
  double least = (words_clock_at(clock, alive) - born) / interval;
  double most = dead == STILL_ALIVE ? INFINITY : (words_clock_at(clock, dead) - born) / interval;
  for (int i = 1; i < WHAT_IF_SIZES; i++) {
    struct sums_of_size *size = &working->sizes[i];
    add_to_ratio(&size->least, y * what_if_limited(least, factors[i]), y, p);
    if (ahead > 1 - LATE) add_to_ratio(&size->most, y * what_if_limited(most, factors[i]) / LATE, y, p);
  }
}

/* ---- intervals ---- */

static const double Z_95 = 1.959963984540054;

/* The standard error of a ratio x / y of two sums over the same blocks. */
static double error_of(const struct ratio *x, const struct sum *y) {
  double ratio = x->sum.total / y->total;
  double variance = x->squares - 2 * ratio * x->products + ratio * ratio * y->variance;
  return sqrt(fmax(variance, 0)) / y->total;
}

static struct kept kept_by_larger(const struct working *working, int i, double unit) {
  const struct sums_of_size *size = &working->sizes[i];
  const struct sum *all = &working->promoted;
  double factor = factors[i], best = 1 - 1 / factor;
  double most = size->most.sum.total / all->total + Z_95 * error_of(&size->most, all),
         least = size->least.sum.total / all->total - Z_95 * error_of(&size->least, all);
  struct sum none = {.samples = 0};
  most = fmax(most, estimate_of(&none, unit * (factor - 1) / LATE).high / all->total);
  double high = fmin(best - fmax(least, 0) / factor, best);
  return (struct kept){factor, fmin(fmax(best - most / factor, 0), fmax(high, 0)), fmax(high, 0)};
}

static struct kept kept_by_half(const struct working *working, double unit) {
  struct estimate near = share_of(&working->near, &working->promoted, unit);
  return (struct kept){factors[0], fmax(fmin(1 - 2 * near.high, 0), -1), fmin(1 - 2 * near.low, 0)};
}

/* ---- shared ---- */

bool what_if_make(const struct samples *samples, row_filter *selects, void *context, double unit,
                  struct what_if *what_if) {
  struct working working = {.samples = samples};
  *what_if = (struct what_if){.samples = 0};
  bool made = what_if_make_clock(&working);
  what_if->minor_words = made ? usual_interval(&working) : NAN;
  for (size_t i = 0; i < samples->row_count && made; i++) {
    const struct row *row = &samples->rows[i];
    if (row->first && row->area == AREA_MINOR && row->promoted_ns != NEVER && row->probability > 0 &&
        (!selects || selects(row, context)))
      what_if_add_row(&working, row);
  }
  words_clock_destroy(&working.clock);
  free(working.counts);
  free(working.minor);
  if (working.promoted.samples >= PROMOTED_LEAST && working.promoted.total > 0) {
    what_if->samples = working.promoted.samples;
    what_if->sizes[0] = kept_by_half(&working, unit);
    for (int i = 1; i < WHAT_IF_SIZES; i++) what_if->sizes[i] = kept_by_larger(&working, i, unit);
  }
  return !isnan(what_if->minor_words);
}
/* SPDX-License-Identifier: MIT */
