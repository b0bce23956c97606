/* Finds the peak and estimates it without bias.
 *
 * The largest value of an estimated curve is too high on average, and the more so the longer the
 * heap stays level. The sampling errors that choose a moment must not be part of the estimate of
 * what was held at that moment. So no block contributes to the estimate of unseen blocks at a
 * moment that it helped to choose.
 *
 * Parts. A hash of a block's number and birth puts the block into one of K parts, as good as at random. The parts stand
 * in a circle. The moment of part k is the time at which the blocks of the (K - 1)/2 parts that
 * follow it held the most. Part k alone estimates what was held at its moment. The result is the
 * mean over the parts, so all samples count once.
 *
 * K is odd, so that no two parts choose for each other. Two parts that did would often choose the
 * same moment just when both have large errors there. Of any two parts, one, k, does not choose for
 * the other: given all blocks but those of k, the error of the other part is fixed and the error of
 * k has the mean 0. So their errors are uncorrelated, and variances add.
 *
 * Weight. Let y be the size of a block, p its probability of being in the sample, and m the
 * fraction of the K moments at which the block is live. The true value is the sum of m y over all
 * blocks. The sampled blocks' contribution to it is known; that of the others is estimated.
 * Whatever the choosing blocks are, any other block is in part k or unsampled with odds p/K : 1 -
 * p. So a block of part k that is live at the part's moment stands for itself and for (1 - p)/p
 * unsampled blocks:
 *   y (m + l (1 - p)/p),    l = 1 if the block is live at the moment of its part, otherwise 0.
 * This is unbiased, whatever the moments are.
 *
 * Large blocks. A single block that is nearly certain to be in the sample may make the peak. Three
 * of five parts would miss that peak, because the block takes no part in their choice. So a block
 * belongs to a part only with probability e = min(1, 4 (1 - p)), and otherwise chooses for all
 * parts. A block of a part then stands for (1 - p)/(p e) unsampled blocks, and a block that chooses
 * for all parts only for itself. The error of a block is 0 if it chooses for all parts, l (1 -
 * p)/(p e) if it belongs to a part, and -m if it was not sampled. So its variance is y^2 times
 *   m (1 - p) ((1 - p)/(p e) + m).
 * The estimate of this variance is that value divided by p for a block that chooses for all parts,
 * and divided by p m for a block that is live at the moment of its part. If all moments are the
 * same, each block counts y / p as for any other question, so that no more was held than allocated.
 * When every block is sampled, all blocks choose for all parts, the moment is that of the true peak
 * and the variance is 0.
 *
 * END. A heap that grows until the end of the run holds the most there. But a block that dies at
 * once and happens to be sampled adds its whole weight to the curve while it lives, so the summit
 * of a growing heap with churn is at one of the last such blocks. A part takes the end of the run
 * instead if, by its choosing blocks, the heap holds less there by no more than noise: by the
 * weight of one such block, or by two standard errors and a third of the summit. If the summit
 * consists of one such block and little else, the choosing parts know too little, and all four
 * other parts choose.
 *
 * Measured private memory does not choose better: malloc keeps most of what is freed, so that
 * private memory is largest near the end of the run, when little may be held.
 *
 * Sources: for not using a sample both to choose and to estimate, D. Cox, "A note on data-splitting
 * for the evaluation of significance levels", Biometrika 62, 1975; for parts that take turns, V.
 * Chernozhukov et al., "Double/debiased machine learning", Econometrics Journal 21, 2018. The
 * circle is our own. tests/analysis/test_peak.c measures bias and coverage.
 */
#include "analysis/peak.h"

#include "base/error.h"
#include "base/hash.h"
#include <math.h>
#include <stdlib.h>

/* ALL_PARTS: the part of a block that chooses for all parts. CHOOSERS: how many parts choose for
 * one. */
enum { ALL_PARTS = -1, CHOOSERS = (PEAK_PARTS - 1) / 2 };

/* Births make the parts of two runs of one program differ, whose block numbers are the same. A unit
 * to which times may be rounded (recording_round) keeps the parts as they are. */
enum { BIRTH_UNIT_NS = 1000 };

/* A birth or a death. */
struct step {
  uint64_t time_ns;
  double bytes; /* weighted; negative when a row ends */
  int part;
};

/* The highest value of a curve, and the interval of time in which the curve has it. */
struct summit {
  double bytes;
  uint64_t begin_ns, end_ns;
  bool open; /* the curve is still as high */
};

/* The e of the head comment: the probability that a sampled block belongs to a part. */
static double chance_of_part(double p) { return fmin(1, 4 * (1 - p)); }

static int part_of(const struct row *row) {
  uint64_t hash = hash_combine(row->born_ns / BIRTH_UNIT_NS, row->block);
  if ((double)(hash >> 11) * 0x1p-53 >= chance_of_part(row->probability)) return ALL_PARTS;
  return (int)(hash_mix(hash) % PEAK_PARTS);
}

static bool counts(const struct row *row, row_filter *takes, void *context) {
  return row->probability > 0 && (!takes || takes(row, context));
}

/* The probability that a block is sampled and chooses for a given part. */
static double chance_of_choosing(double p) {
  double part = chance_of_part(p);
  return p * (1 - part + part * CHOOSERS / PEAK_PARTS);
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

/* A row that counts, and its part. Computed once, since a query and a hash are slow. */
struct chooser {
  double bytes; /* weighted; 0 if the row does not count */
  int part;
  bool counts;
};

/* The choosers, by row; NULL without memory. *exact tells whether every block is in the sample. */
static struct chooser *make_choosers(const struct samples *samples, row_filter *takes, void *context,
                                     bool *exact) {
  struct chooser *choosers = calloc(samples->row_count + 1, sizeof *choosers);
  *exact = true;
  for (size_t i = 0; choosers && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!counts(row, takes, context)) continue;
    choosers[i] =
        (struct chooser){(double)row->size / chance_of_choosing(row->probability), part_of(row), true};
    *exact = *exact && row->probability >= 1;
  }
  return choosers;
}

/* The steps of a trace, one after the other. Rows are ordered by their begins, `by_end` by their
 * ends. At one time, ends come before starts, so that a resized block is not counted twice. */
struct walk {
  const struct samples *samples;
  const struct chooser *choosers;
  const struct keyed *by_end;
  size_t begun, ended, end_count;
};

static bool next_step(struct walk *walk, struct step *step) {
  const struct row *rows = walk->samples->rows;
  for (;;) {
    bool begins = walk->begun < walk->samples->row_count, ends = walk->ended < walk->end_count;
    if (!begins && !ends) return false;
    size_t row = begins ? walk->begun : 0;
    if (ends && (!begins || walk->by_end[walk->ended].key <= rows[row].begin_ns)) {
      const struct keyed *end = &walk->by_end[walk->ended++];
      row = end->item;
      *step = (struct step){end->key, -walk->choosers[row].bytes, walk->choosers[row].part};
    } else {
      walk->begun++;
      *step = (struct step){rows[row].begin_ns, walk->choosers[row].bytes, walk->choosers[row].part};
    }
    if (walk->choosers[row].counts) return true;
  }
}

static bool chooses_for(int part, int k, bool spare) {
  int behind = (part - k + PEAK_PARTS) % PEAK_PARTS;
  return part == ALL_PARTS || (behind >= 1 && (spare || behind <= CHOOSERS));
}

/* Adds a step to the sums of the parts: chosen[k], of the parts that choose for part k, and others[k],
 * of all parts but k. */
static void add_step(const struct step *step, double chosen[PEAK_PARTS], double others[PEAK_PARTS]) {
  for (int k = 0; k < PEAK_PARTS; k++) {
    if (chooses_for(step->part, k, false)) chosen[k] += step->bytes;
    if (chooses_for(step->part, k, true)) others[k] += step->bytes;
  }
}

/* Finds the summit for each part. spare[k] is the summit by all parts but k, for use where the
 * choosers of k know too little. */
static void find_summits(struct walk walk, struct summit summits[PEAK_PARTS],
                         struct summit spare[PEAK_PARTS]) {
  double chosen[PEAK_PARTS] = {0}, others[PEAK_PARTS] = {0};
  struct step step, next;
  for (bool more = next_step(&walk, &step); more; step = next) {
    add_step(&step, chosen, others);
    more = next_step(&walk, &next);
    if (more && next.time_ns == step.time_ns) continue;
    for (int k = 0; k < PEAK_PARTS; k++) {
      raise_summit(&summits[k], chosen[k], step.time_ns);
      raise_summit(&spare[k], others[k], step.time_ns);
    }
  }
}

/* The moment of a summit. Between the last sampled birth and the first sampled death the heap may
 * have grown and shrunk, so the middle is the best guess. If no death follows, the moment is the
 * end of the run. */
static uint64_t time_of_summit(const struct summit *summit, const struct samples *samples, bool exact) {
  if (exact) return summit->begin_ns;
  if (summit->end_ns == STILL_ALIVE) return samples->end_ns;
  return summit->begin_ns + (summit->end_ns - summit->begin_ns) / 2;
}

/* A block that chooses with at least this probability is not in the summit by mere luck. */
static const double likely = 0.5;

/* The summit compared with the end of the run, by the blocks that choose. */
struct end_comparison {
  double less, variance; /* how much less is held at the end, and the variance of that difference */
  double at_end;         /* bytes held at the end */
  double one;            /* the largest block that is in the summit by luck, and dead at the end */
  int live;              /* number of blocks in the summit */
};

/* Adds a row that is live at the summit, at the end, or both, to the comparison. */
static void add_to_comparison(struct end_comparison *result, const struct row *row, double bytes,
                              const struct summit *summit) {
  bool then = row_is_live_at(row, summit->begin_ns), at_end = row->end_ns == STILL_ALIVE;
  if (!then && !at_end) return;
  double chance = chance_of_choosing(row->probability);
  result->live += then;
  if (at_end) result->at_end += bytes;
  if (then == at_end) return;
  result->less += then ? bytes : -bytes;
  result->variance += bytes * bytes * (1 - chance);
  if (then && chance < likely) result->one = fmax(result->one, bytes);
}

/* The summit of each part, and its spare one, and their comparisons with the end of the run. */
struct candidates {
  struct summit summits[PEAK_PARTS], spare[PEAK_PARTS];
  struct end_comparison ends[PEAK_PARTS], spare_ends[PEAK_PARTS];
};

/* Compares all of them in one pass over the rows: it is the rows that take the time. */
static void compare_with_end(const struct samples *samples, const struct chooser *choosers,
                             struct candidates *candidates) {
  for (size_t i = 0; i < samples->row_count; i++) {
    if (!choosers[i].counts) continue;
    for (int k = 0; k < PEAK_PARTS; k++) {
      const struct row *row = &samples->rows[i];
      if (chooses_for(choosers[i].part, k, false))
        add_to_comparison(&candidates->ends[k], row, choosers[i].bytes, &candidates->summits[k]);
      if (chooses_for(choosers[i].part, k, true))
        add_to_comparison(&candidates->spare_ends[k], row, choosers[i].bytes, &candidates->spare[k]);
    }
  }
}

/* END: whether a part takes the end of the run instead of its summit. */
static bool end_is_as_good(const struct end_comparison *end, const struct summit *summit) {
  bool is_noise = end->less <= 2 * sqrt(end->variance) && end->less <= summit->bytes / 3;
  return end->at_end > 0 && (is_noise || end->less <= end->one);
}

static uint64_t moment_of(const struct samples *samples, const struct candidates *candidates, int k,
                          bool exact) {
  const struct summit *summit = &candidates->summits[k];
  const struct end_comparison *end = &candidates->ends[k];
  if (!end->live || (end->live == 1 && end->one > summit->bytes / 2)) {
    summit = &candidates->spare[k];
    end = &candidates->spare_ends[k];
  }
  if (summit->bytes <= 0) return samples->end_ns / 2; /* nothing to choose by */
  return !exact && end_is_as_good(end, summit) ? samples->end_ns : time_of_summit(summit, samples, exact);
}

static void order_moments(struct peak *peak) {
  uint64_t times[PEAK_PARTS];
  for (int k = 0; k < PEAK_PARTS; k++) times[k] = peak->time_ns[k];
  qsort(times, PEAK_PARTS, sizeof *times, compare_times);
  peak->first_ns = times[0];
  peak->median_ns = times[PEAK_PARTS / 2];
  peak->last_ns = times[PEAK_PARTS - 1];
}

static void add_rows(struct peak *peak, const struct samples *samples, const struct chooser *choosers) {
  struct weight weight;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!choosers[i].counts || !peak_holds(peak, row, &weight)) continue;
    sum_add_weighted(&peak->live.bytes, (double)row->size, &weight);
    sum_add_weighted(&peak->live.blocks, 1, &weight);
  }
}

/* ---- shared ---- */

wn_status peak_find(const struct samples *samples, row_filter *takes, void *context, struct peak *peak) {
  struct candidates candidates = {0};
  bool exact;
  *peak = (struct peak){0};
  struct chooser *choosers = make_choosers(samples, takes, context, &exact);
  struct walk walk = {samples, choosers, samples->by_end, 0, 0, samples->by_end_count};
  struct keyed *own = walk.by_end ? NULL : samples_order_by_end(samples, &walk.end_count);
  if (own) walk.by_end = own;
  if (choosers && walk.by_end) {
    find_summits(walk, candidates.summits, candidates.spare);
    compare_with_end(samples, choosers, &candidates);
    for (int k = 0; k < PEAK_PARTS; k++) peak->time_ns[k] = moment_of(samples, &candidates, k, exact);
    order_moments(peak);
    add_rows(peak, samples, choosers);
  }
  bool done = choosers && walk.by_end;
  free(choosers);
  free(own);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the peak");
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
