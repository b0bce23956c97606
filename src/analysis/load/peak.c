/* Finds the peak and estimates it without bias.
 *
 * The largest value of an estimated curve is too high on average, and the more so the longer the
 * heap stays level. The sampling errors that choose a moment must not be part of the estimate of
 * what was held at that moment. So no block contributes to the estimate of unseen blocks at a
 * moment that it helped to choose.
 *
 * Parts. A hash of a block's number and birth puts the block into one of K parts, as good as at
 * random. The parts stand in a circle. The moment of part k is the time at which the blocks of the
 * (K - 1)/2 parts that follow it held the most. Part k alone estimates what was held at its moment.
 * The result is the mean over the parts, so all samples count once.
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
 * other parts choose. Where old samples were thinned out (compact/), few heavy ones make a summit,
 * and what is held at the end is known far better, by more blocks: then two standard errors are enough. If
 * the estimate at the moments that were chosen is less than what is held at the end, and has more
 * than SURER times the variance, the end it is: at the peak no less was held.
 *
 * Measured private memory does not choose better: malloc keeps most of what is freed, so that
 * private memory is largest near the end of the run, when little may be held.
 *
 * Sources: for not using a sample both to choose and to estimate, D. Cox, "A note on data-splitting
 * for the evaluation of significance levels", Biometrika 62, 1975; for parts that take turns, V.
 * Chernozhukov et al., "Double/debiased machine learning", Econometrics Journal 21, 2018. The
 * circle is our own. tests/analysis/test_peak.c measures bias and coverage.
 */
#include "analysis/load/peak.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include <math.h>
#include <stdlib.h>

/* ALL_PARTS: the part of a block that chooses for all parts. CHOOSERS: how many parts choose for
 * one. NO_PART: the part of a row that does not count. */
enum { ALL_PARTS = -1, NO_PART = -2, CHOOSERS = (PEAK_PARTS - 1) / 2 };

/* Births make the parts of two runs of one program differ, whose block numbers are the same. A unit
 * to which times may be rounded (recording_round) keeps the parts as they are. */
enum { BIRTH_UNIT_NS = 1000 };

/* The highest value of a curve, and the interval of time in which the curve has it. */
struct summit {
  double bytes;
  uint64_t begin_ns, end_ns;
  bool open; /* the curve is still as high */
};

/* The e of the head comment: the probability that a sampled block belongs to a part. */
static double chance_of_part(double p) { return p <= 0.75 ? 1 : 4 * (1 - p); }

static int peak_part_of(const struct row *row) {
  uint64_t hash = hash_combine(row->born_ns / BIRTH_UNIT_NS, row->block);
  if ((double)(hash >> 11) * 0x1p-53 >= chance_of_part(row->probability)) return ALL_PARTS;
  return (int)(hash_mix(hash) % PEAK_PARTS);
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

/* The weighted bytes and the parts of the rows that count: computed once, since a query and a hash
 * are slow. */
struct choosers {
  const struct samples *samples;
  const struct span *spans;
  const step_of_row *steps;
  size_t step_count;
  const double *bytes; /* by row */
  const int8_t *part;  /* by row */
  bool exact;
};

static bool chooses_for(int part, int k, bool spare) {
  int behind = (part - k + PEAK_PARTS) % PEAK_PARTS;
  return part == ALL_PARTS || (behind >= 1 && (spare || behind <= CHOOSERS));
}

/* The parts for which a part chooses. */
struct chosen_parts {
  int count, k[PEAK_PARTS];
};

static void list_parts(struct chosen_parts lists[PEAK_PARTS + 1], bool spare) {
  for (int part = ALL_PARTS; part < PEAK_PARTS; part++) {
    struct chosen_parts *list = &lists[part - ALL_PARTS];
    *list = (struct chosen_parts){.count = 0};
    for (int k = 0; k < PEAK_PARTS; k++)
      if (chooses_for(part, k, spare)) list->k[list->count++] = k;
  }
}

/* Sums over the rows that choose for each part, while time advances, and between which limits a sum
 * can stay without an effect on its summit. */
struct curves {
  double sum[PEAK_PARTS], least[PEAK_PARTS], most[PEAK_PARTS];
};

static void set_limits(struct curves *curves, const struct summit summits[PEAK_PARTS]) {
  for (int k = 0; k < PEAK_PARTS; k++) {
    double rounding = 1e-9 * summits[k].bytes;
    curves->most[k] = summits[k].bytes + rounding;
    curves->least[k] = summits[k].open ? summits[k].bytes - rounding : -INFINITY;
  }
}

static uint64_t time_of_step(const struct choosers *choosers, step_of_row step) {
  const struct span *span = &choosers->spans[step >> 1];
  return step & 1 ? span->end_ns : span->begin_ns;
}

/* Whether the next step of a row that counts is at the same time. */
static bool peak_goes_on(const struct choosers *choosers, size_t at) {
  uint64_t time_ns = time_of_step(choosers, choosers->steps[at]);
  while (++at < choosers->step_count && time_of_step(choosers, choosers->steps[at]) == time_ns)
    if (choosers->part[choosers->steps[at] >> 1] != NO_PART) return true;
  return false;
}

/* Adds a row to the sums of the parts for which it chooses. Whether one of them leaves its limits. */
static bool add_step(struct curves *curves, const struct chosen_parts *parts, double bytes) {
  bool leaves = false;
  for (int i = 0; i < parts->count; i++) {
    int k = parts->k[i];
    curves->sum[k] += bytes;
    leaves |= curves->sum[k] > curves->most[k] || curves->sum[k] < curves->least[k];
  }
  return leaves;
}

/* Finds the summit for each part. `spare`: by all parts but k, for use where the choosers of k know
 * too little. Few steps raise or end a summit. */
static void find_summits(const struct choosers *choosers, bool spare, struct summit summits[PEAK_PARTS]) {
  struct chosen_parts lists[PEAK_PARTS + 1];
  struct curves curves = {.sum = {0}};
  bool left = false;
  list_parts(lists, spare);
  set_limits(&curves, summits);
  for (size_t i = 0; i < choosers->step_count; i++) {
    step_of_row step = choosers->steps[i];
    int part = choosers->part[step >> 1];
    if (part == NO_PART) continue;
    double bytes = choosers->bytes[step >> 1];
    left |= add_step(&curves, &lists[part - ALL_PARTS], step & 1 ? -bytes : bytes);
    if (!left || peak_goes_on(choosers, i)) continue;
    left = false;
    for (int k = 0; k < PEAK_PARTS; k++)
      raise_summit(&summits[k], curves.sum[k], time_of_step(choosers, step));
    set_limits(&curves, summits);
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
  double then_variance, end_variance; /* of what is held at the summit, and at the end */
  double one;     /* the largest block that is in the summit by luck, and dead at the end */
  int live, left; /* number of blocks in the summit, and at the end */
};

/* Adds a row that is live at the summit, at the end, or both, to the comparison. */
static void add_to_comparison(struct end_comparison *result, const struct row *row, double bytes,
                              const struct summit *summit) {
  bool then = row_is_live_at(row, summit->begin_ns), at_end = row->end_ns == STILL_ALIVE;
  if (!then && !at_end) return;
  double chance = chance_of_choosing(row->probability);
  double variance = bytes * bytes * (1 - chance);
  result->live += then, result->left += at_end;
  if (then) result->then_variance += variance;
  if (at_end) result->at_end += bytes, result->end_variance += variance;
  if (then == at_end) return;
  result->less += then ? bytes : -bytes;
  result->variance += variance;
  if (then && chance < likely) result->one = fmax(result->one, bytes);
}

/* The summit of each part, and its comparison with the end of the run. */
struct candidates {
  struct summit summits[PEAK_PARTS];
  struct end_comparison ends[PEAK_PARTS];
};

/* Compares all of them in one pass over the rows: it is the rows that take the time. Rows that are
 * live neither at a summit nor at the end add nothing. */
static void compare_with_end(const struct choosers *choosers, bool spare, struct candidates *candidates) {
  uint64_t first_ns = STILL_ALIVE, last_ns = 0;
  for (int k = 0; k < PEAK_PARTS; k++) {
    uint64_t begin_ns = candidates->summits[k].begin_ns;
    if (begin_ns < first_ns) first_ns = begin_ns;
    if (begin_ns > last_ns) last_ns = begin_ns;
  }
  for (size_t i = 0; i < choosers->samples->row_count; i++) {
    const struct span *span = &choosers->spans[i];
    int part = choosers->part[i];
    if (part == NO_PART || span->end_ns <= first_ns ||
        (span->begin_ns > last_ns && span->end_ns != STILL_ALIVE))
      continue;
    for (int k = 0; k < PEAK_PARTS; k++)
      if (chooses_for(part, k, spare))
        add_to_comparison(&candidates->ends[k], &choosers->samples->rows[i], choosers->bytes[i],
                          &candidates->summits[k]);
  }
}

static struct candidates find_candidates(const struct choosers *choosers, bool spare) {
  struct candidates candidates = {.summits = {{0}}};
  find_summits(choosers, spare, candidates.summits);
  compare_with_end(choosers, spare, &candidates);
  return candidates;
}

/* Whether the choosers of a part know too little. */
static bool know_little(const struct candidates *candidates, int k) {
  const struct end_comparison *end = &candidates->ends[k];
  return !end->live || (end->live == 1 && end->one > candidates->summits[k].bytes / 2);
}

/* At most the THINNED part of the variance at the summit, by more blocks: a large one is known anyway. */
enum { THINNED = 8, SURER = 2 };

/* END: whether a part takes the end of the run instead of its summit. */
static bool end_is_as_good(const struct end_comparison *end, const struct summit *summit) {
  bool is_known = end->left > end->live && THINNED * end->end_variance < end->then_variance;
  bool is_noise = end->less <= 2 * sqrt(end->variance) && (is_known || end->less <= summit->bytes / 3);
  return end->at_end > 0 && (is_noise || end->less <= end->one);
}

static uint64_t moment_of(const struct choosers *choosers, const struct candidates *candidates, int k) {
  const struct samples *samples = choosers->samples;
  const struct summit *summit = &candidates->summits[k];
  if (summit->bytes <= 0) return samples->end_ns / 2; /* nothing to choose by */
  return !choosers->exact && end_is_as_good(&candidates->ends[k], summit)
             ? samples->end_ns
             : time_of_summit(summit, samples, choosers->exact);
}

/* Chooses the moments. The spare candidates are seldom needed. */
static void find_moments(const struct choosers *choosers, uint64_t moments[PEAK_PARTS]) {
  struct candidates candidates = find_candidates(choosers, false), spare;
  bool has_spare = false;
  for (int k = 0; k < PEAK_PARTS; k++) {
    bool little = know_little(&candidates, k);
    if (little && !has_spare) spare = find_candidates(choosers, true), has_spare = true;
    moments[k] = moment_of(choosers, little ? &spare : &candidates, k);
  }
}

static void order_moments(struct peak *peak) {
  uint64_t times[PEAK_PARTS];
  for (int k = 0; k < PEAK_PARTS; k++) times[k] = peak->time_ns[k];
  qsort(times, PEAK_PARTS, sizeof *times, compare_times);
  peak->first_ns = times[0];
  peak->median_ns = times[PEAK_PARTS / 2];
  peak->last_ns = times[PEAK_PARTS - 1];
}

static void peak_add_rows(struct peak *peak, const struct choosers *choosers) {
  struct weight weight;
  for (size_t i = 0; i < choosers->samples->row_count; i++) {
    const struct row *row = &choosers->samples->rows[i];
    if (choosers->part[i] == NO_PART || !peak_is_near(peak, &choosers->spans[i]) ||
        !peak_holds(peak, row, &weight))
      continue;
    sum_add_weighted(&peak->live.bytes, (double)row->size, &weight);
    sum_add_weighted(&peak->live.blocks, 1, &weight);
  }
}

/* END: the last part of it. */
static void prefer_end(struct peak *peak, const struct choosers *choosers) {
  struct sums end = {.bytes = {0}};
  for (size_t i = 0; i < choosers->samples->row_count; i++) {
    const struct row *row = &choosers->samples->rows[i];
    if (choosers->part[i] == NO_PART || choosers->spans[i].end_ns != STILL_ALIVE) continue;
    sum_add(&end.bytes, (double)row->size, row->probability);
    sum_add(&end.blocks, 1, row->probability);
  }
  const struct sum *found = &peak->live.bytes;
  if (end.bytes.total <= found->total || SURER * end.bytes.variance > found->variance) return;
  uint64_t end_ns = choosers->samples->end_ns;
  *peak = (struct peak){.first_ns = end_ns, .median_ns = end_ns, .last_ns = end_ns, .live = end};
  for (int k = 0; k < PEAK_PARTS; k++) peak->time_ns[k] = end_ns;
}

/* ---- shared ---- */

wn_status peak_begin(const struct samples *samples, struct peak_finder *finder) {
  *finder = (struct peak_finder){.samples = samples,
                                 .bytes = array_new(samples->row_count, sizeof *finder->bytes),
                                 .part = array_new(samples->row_count, sizeof *finder->part),
                                 .exact = true};
  if (finder->bytes && finder->part) return WN_OK;
  free(finder->bytes);
  free(finder->part);
  return error_set(WN_ENOMEM, "not enough memory for the peak");
}

void peak_add(struct peak_finder *finder, const struct row *row, bool counts) {
  size_t i = (size_t)(row - finder->samples->rows);
  finder->part[i] = NO_PART;
  if (!counts || row->probability <= 0) return;
  finder->bytes[i] = (double)row->size / chance_of_choosing(row->probability);
  finder->part[i] = (int8_t)peak_part_of(row);
  finder->exact = finder->exact && row->probability >= 1;
}

wn_status peak_end(struct peak_finder *finder, struct peak *peak) {
  const struct samples *samples = finder->samples;
  struct choosers choosers = {.samples = samples,
                              .spans = samples->spans,
                              .steps = samples->steps,
                              .step_count = samples->step_count,
                              .bytes = finder->bytes,
                              .part = finder->part,
                              .exact = finder->exact};
  struct span *spans = choosers.spans ? NULL : samples_spans(samples);
  step_of_row *steps = choosers.steps ? NULL : samples_steps(samples, &choosers.step_count);
  *peak = (struct peak){0};
  if (spans) choosers.spans = spans;
  if (steps) choosers.steps = steps;
  bool done = choosers.spans && choosers.steps;
  if (done) {
    find_moments(&choosers, peak->time_ns);
    order_moments(peak);
    peak_add_rows(peak, &choosers);
    if (!choosers.exact) prefer_end(peak, &choosers);
  }
  free(finder->bytes);
  free(finder->part);
  free(spans);
  free(steps);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the peak");
}

wn_status peak_find(const struct samples *samples, row_filter *selects, void *context, struct peak *peak) {
  struct peak_finder finder;
  wn_status error = peak_begin(samples, &finder);
  if (error) return error;
  for (size_t i = 0; i < samples->row_count; i++)
    peak_add(&finder, &samples->rows[i], !selects || selects(&samples->rows[i], context));
  return peak_end(&finder, peak);
}

bool peak_holds(const struct peak *peak, const struct row *row, struct weight *weight) {
  double p = row->probability, live = 0;
  if (!peak_is_near(peak, &(struct span){row->begin_ns, row->end_ns})) return false;
  for (int k = 0; k < PEAK_PARTS; k++) live += row_is_live_at(row, peak->time_ns[k]);
  if (live <= 0 || p <= 0) return false;
  if (peak->first_ns == peak->last_ns) {
    *weight = (struct weight){.factor = 1 / p, .seen = 1, .variance = (1 - p) / (p * p), .sample = true};
    return true;
  }
  double m = live / PEAK_PARTS;
  int part = peak_part_of(row);
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
