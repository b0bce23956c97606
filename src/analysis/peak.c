/* The largest value of an estimated curve is too high, and the more so the longer the heap is
 * level. The errors that choose a moment must not be the errors of what is then reported. So no
 * block estimates what was held at a moment that it chose.
 *
 * Parts. A hash of its number and its birth puts a block into one of K parts. The moment of part k
 * is the time at which the blocks of the (K - 1)/2 parts that follow it, in a circle, were the
 * most. Part k estimates what was held at that moment. The result is the mean over the parts, so
 * all samples count once.
 *
 * K is odd, so that no two parts choose for each other. If two did, they would often choose the
 * same moment just when both have large errors there. Of two parts one, k, does not choose for the
 * other: given all blocks but those of k, the other's error is fixed and that of k has the mean 0.
 * So their errors are not correlated, and variances add.
 *
 * Weight. Let y be the size of a block, p its probability of being in the sample, and m the share
 * of the moments at which it is live. The truth is the sum of m y over all blocks. The sampled
 * blocks' share of it is known; that of the others is estimated. Whatever the choosing blocks are,
 * a further block is in part k or unsampled with odds p/K : 1 - p. So a block of part k that is
 * live at the part's moment stands for itself and for (1 - p)/p unsampled ones:
 *   y (m + l (1 - p)/p),    l = 1 if it is live at the moment of its part, or else 0.
 * This is without bias, whatever the moments are.
 *
 * Large blocks. A block that is nearly certain to be in the sample may make the peak alone. Three
 * of five parts would miss it, because it takes no part in their choice. So a block belongs to a
 * part with probability e = min(1, 4 (1 - p)) only, and is otherwise known to all parts. A block of
 * a part then stands for (1 - p)/(p e) unsampled ones, a block that is known to all for itself
 * alone. The error of a block is 0 if it is known to all, l (1 - p)/(p e) if it belongs to a part,
 * and -m if it was not sampled. So its variance is y^2 times
 *   m (1 - p) ((1 - p)/(p e) + m).
 * The estimate is that over p for a block that is known to all, and that over p m for a block that
 * is live at the moment of its part. If all moments are one, a block counts y / p as for any other
 * question, so that no more was held than allocated. When every block is sampled, all parts know
 * all, the moment is that of the true peak and the variance is 0.
 *
 * End. A heap that grows until the end holds the most there. But a block that dies at once, and
 * had luck to be sampled, adds its weight to the curve where it lives; so the summit of a growing
 * heap with churn is at one of the last such blocks. A part takes the end of the run instead if
 * its choosing parts hold less there by no more than noise: by one such block, or by two standard
 * errors and a third. If the summit is one lucky block and nothing else, the choosing parts know
 * nothing, and all four others choose.
 *
 * Measured private memory does not choose better: malloc keeps most of what is freed, so that it is
 * largest near the end of the run, when little may be held.
 *
 * Sources: a sample may not be used both for a choice and for what is then said of it, D. Cox, "A
 * note on data-splitting for the evaluation of significance levels", Biometrika 62, 1975; parts
 * that take turns, V. Chernozhukov et al., "Double/debiased machine learning", Econometrics Journal
 * 21, 2018. The circle is our own. tests/analysis/test_peak.c measures bias and coverage.
 */
#include "analysis/peak.h"

#include "base/error.h"
#include "base/hash.h"
#include <math.h>
#include <stdlib.h>

/* Blocks that are known to all parts. */
enum { ALL_PARTS = -1, CHOOSERS = (PEAK_PARTS - 1) / 2 };

/* A birth or a death. */
struct step {
  uint64_t time_ns;
  double bytes; /* weighted; negative when a row ends */
  int part;
};

/* A curve, and the stretch of time in which it is highest. */
struct summit {
  double bytes;
  uint64_t begin_ns, end_ns;
  bool open; /* the curve is still as high */
};

/* How likely it is that a block of this probability belongs to a part. */
static double chance_of_part(double p) { return fmin(1, 4 * (1 - p)); }

static int part_of(const struct row *row) {
  uint64_t hash = hash_combine(row->born_ns, row->block);
  if ((double)(hash >> 11) * 0x1p-53 >= chance_of_part(row->probability)) return ALL_PARTS;
  return (int)(hash_mix(hash) % PEAK_PARTS);
}

static bool counts(const struct row *row, row_filter *takes, void *context) {
  return row->probability > 0 && (!takes || takes(row, context));
}

/* The probability that a block takes part in the choice of a given moment. */
static double chance_of_choosing(double p) {
  double part = chance_of_part(p);
  return p * (1 - part + part * CHOOSERS / PEAK_PARTS);
}

/* Ends before beginnings at one instant: a resized block is not counted twice. */
static int by_time(const void *a, const void *b) {
  const struct step *left = a, *right = b;
  if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
  return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static int compare_times(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

static void raise_summit(struct summit *summit, double bytes, uint64_t time_ns) {
  double rounding = 1e-9 * summit->bytes;
  if (bytes > summit->bytes + rounding) {
    *summit = (struct summit){bytes, time_ns, STILL_ALIVE, true};
  } else if (summit->open && bytes < summit->bytes - rounding) {
    summit->open = false;
    summit->end_ns = time_ns;
  }
}

/* The steps of a trace in order; *count is 0 if there are none, *exact tells whether every block is
 * in the sample. */
static struct step *make_steps(const struct samples *samples, row_filter *takes, void *context, size_t *count,
                               bool *exact) {
  struct step *steps = malloc((2 * samples->row_count + 1) * sizeof *steps);
  *count = 0;
  *exact = true;
  for (size_t i = 0; steps && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!counts(row, takes, context)) continue;
    double bytes = (double)row->size / chance_of_choosing(row->probability);
    int part = part_of(row);
    steps[(*count)++] = (struct step){row->begin_ns, bytes, part};
    if (row->end_ns != STILL_ALIVE) steps[(*count)++] = (struct step){row->end_ns, -bytes, part};
    *exact = *exact && row->probability >= 1;
  }
  if (steps) qsort(steps, *count, sizeof *steps, by_time);
  return steps;
}

/* What the parts see that choose for part k; `others`: all parts but k. */
static double chosen_by(const double bytes[PEAK_PARTS], double known, int k, double *others) {
  double sum = known;
  *others = known;
  for (int i = 1; i < PEAK_PARTS; i++) {
    double part = bytes[(k + i) % PEAK_PARTS];
    *others += part;
    if (i <= CHOOSERS) sum += part;
  }
  return sum;
}

/* `spare` is for parts whose choosers know nothing. */
static void find_summits(const struct step *steps, size_t count, struct summit summits[PEAK_PARTS],
                         struct summit spare[PEAK_PARTS]) {
  double bytes[PEAK_PARTS] = {0}, known = 0, others;
  for (size_t i = 0; i < count; i++) {
    *(steps[i].part == ALL_PARTS ? &known : &bytes[steps[i].part]) += steps[i].bytes;
    if (i + 1 < count && steps[i + 1].time_ns == steps[i].time_ns) continue;
    for (int k = 0; k < PEAK_PARTS; k++) {
      raise_summit(&summits[k], chosen_by(bytes, known, k, &others), steps[i].time_ns);
      raise_summit(&spare[k], others, steps[i].time_ns);
    }
  }
}

/* Between the last birth and the first death that a sample knows, the heap may have grown and
 * shrunk: the middle is the best guess. If no death follows, it is the end. */
static uint64_t time_of_summit(const struct summit *summit, const struct samples *samples, bool exact) {
  if (exact) return summit->begin_ns;
  if (summit->end_ns == STILL_ALIVE) return samples->end_ns;
  return summit->begin_ns + (summit->end_ns - summit->begin_ns) / 2;
}

static bool chooses_for(int part, int k, bool spare) {
  int behind = (part - k + PEAK_PARTS) % PEAK_PARTS;
  return part == ALL_PARTS || (behind >= 1 && (spare || behind <= CHOOSERS));
}

/* The chance from which on a block is there by no luck. */
static const double likely = 0.5;

/* What the choosing parts know of a summit beside the end of the run. */
struct beside_end {
  double less, variance; /* of that difference */
  double at_end;
  double one; /* the largest block of the summit that is not at the end, and had luck to be sampled */
  int live;   /* blocks in the summit */
};

static struct beside_end compare_with_end(const struct samples *samples, row_filter *takes, void *context,
                                          int k, const struct summit *summit, bool spare) {
  struct beside_end result = {0};
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!counts(row, takes, context) || !chooses_for(part_of(row), k, spare)) continue;
    bool then = row_is_live_at(row, summit->begin_ns), at_end = row->end_ns == STILL_ALIVE;
    double chance = chance_of_choosing(row->probability), bytes = (double)row->size / chance;
    result.live += then;
    if (at_end) result.at_end += bytes;
    if (then == at_end) continue;
    result.less += then ? bytes : -bytes;
    result.variance += bytes * bytes * (1 - chance);
    if (then && chance < likely) result.one = fmax(result.one, bytes);
  }
  return result;
}

/* END */
static bool end_is_as_good(const struct beside_end *end, const struct summit *summit) {
  bool is_noise = end->less <= 2 * sqrt(end->variance) && end->less <= summit->bytes / 3;
  return end->at_end > 0 && (is_noise || end->less <= end->one);
}

static uint64_t moment_of(const struct samples *samples, row_filter *takes, void *context, int k,
                          const struct summit *summit, const struct summit *spare, bool exact) {
  struct beside_end end = compare_with_end(samples, takes, context, k, summit, false);
  if (!end.live || (end.live == 1 && end.one > summit->bytes / 2)) {
    summit = spare;
    end = compare_with_end(samples, takes, context, k, spare, true);
  }
  if (summit->bytes <= 0) return samples->end_ns / 2; /* nothing to choose by */
  return !exact && end_is_as_good(&end, summit) ? samples->end_ns : time_of_summit(summit, samples, exact);
}

static void order_moments(struct peak *peak) {
  uint64_t times[PEAK_PARTS];
  for (int k = 0; k < PEAK_PARTS; k++) times[k] = peak->time_ns[k];
  qsort(times, PEAK_PARTS, sizeof *times, compare_times);
  peak->first_ns = times[0];
  peak->median_ns = times[PEAK_PARTS / 2];
  peak->last_ns = times[PEAK_PARTS - 1];
}

static void add_rows(struct peak *peak, const struct samples *samples, row_filter *takes, void *context) {
  struct weight weight;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!counts(row, takes, context) || !peak_holds(peak, row, &weight)) continue;
    sum_add_weighted(&peak->live.bytes, (double)row->size, &weight);
    sum_add_weighted(&peak->live.blocks, 1, &weight);
  }
}

/* ---- shared ---- */

wn_status peak_find(const struct samples *samples, row_filter *takes, void *context, struct peak *peak) {
  struct summit summits[PEAK_PARTS] = {0}, spare[PEAK_PARTS] = {0};
  bool exact;
  size_t count;
  *peak = (struct peak){0};
  struct step *steps = make_steps(samples, takes, context, &count, &exact);
  if (!steps) return error_set(WN_ENOMEM, "not enough memory for the peak");
  find_summits(steps, count, summits, spare);
  free(steps);
  for (int k = 0; k < PEAK_PARTS; k++)
    peak->time_ns[k] = moment_of(samples, takes, context, k, &summits[k], &spare[k], exact);
  order_moments(peak);
  add_rows(peak, samples, takes, context);
  return WN_OK;
}

bool peak_holds(const struct peak *peak, const struct row *row, struct weight *weight) {
  double p = row->probability, live = 0;
  for (int k = 0; k < PEAK_PARTS; k++) live += row_is_live_at(row, peak->time_ns[k]);
  if (live <= 0 || p <= 0) return false;
  if (peak->first_ns == peak->last_ns) {
    *weight = (struct weight){.factor = 1 / p, .seen = 1, .variance = (1 - p) / (p * p), .sample = true};
    return true;
  }
  double m = live / PEAK_PARTS;
  int part = part_of(row);
  *weight = (struct weight){.factor = m, .seen = m, .sample = true};
  if (p >= 1) return true;
  double unseen = (1 - p) / (p * chance_of_part(p)), variance = (1 - p) * (unseen + m) / p;
  if (part == ALL_PARTS) {
    weight->variance = m * variance;
  } else if (row_is_live_at(row, peak->time_ns[part])) {
    weight->factor += unseen;
    weight->variance = variance;
  } else {
    weight->sample = false;
  }
  return true;
}
/* SPDX-License-Identifier: MIT */
