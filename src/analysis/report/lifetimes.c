/* Median lives.
 *
 * A block that is alive when the trace ends has lived at least until then: its life is censored on
 * the right. The fraction S of blocks that live longer than t is estimated by Kaplan and Meier's
 * method ("Nonparametric estimation from incomplete observations", 1958), with each block weighted
 * by the inverse of its probability of being in the sample; of what was held at the peak, by its
 * weight there (peak_holds). At each death S is multiplied by 1 -
 * d/r, where d is the weight that dies and r the weight of the risk set, the blocks that lived
 * until then. The median is the life at which S reaches one half. A block that realloc changed
 * counts once, by its last row.
 *
 * The interval is Woodruff's (R. Woodruff, "Confidence intervals for medians and other position
 * measures", 1952). S at the median has a variance V: the sum over the sampled blocks of (1-p)/p^2
 * times the square of the derivative of S by the block's weight. That derivative is S times the sum
 * of d/(r(r-d)) over the deaths that the block survived until then, less S/r if the block itself
 * died. A random sample of n = S(1-S)/V blocks would have the same variance. The fraction of its
 * blocks that live beyond the true median would lie within 1.96/2/sqrt(n) of one half in 95 of 100
 * runs. The lives at which S passes these two levels are the ends of the interval. If there are too
 * few samples for such a life, that end does not exist (NO_BOUND).
 *
 * The interval covers only what sampling may have missed: when every block was recorded, it is the
 * median itself.
 */
#include "analysis/report/lifetimes.h"

#include "analysis/load/order.h"
#include "base/array.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>

static uint64_t lifetimes_life_of(const struct lived *lived) { return lived->key >> 1; }
static bool lifetimes_is_alive(const struct lived *lived) { return lived->key & 1; }

/* Damaged bytes can tell of more words than a key has room for. */
static uint64_t life_in_words(const struct samples *samples, uint32_t number) {
  return (uint64_t)fmin(samples->life_words[number], 0x1p62);
}

static uint64_t lifetimes_key_of(const struct samples *samples, uint32_t number, enum life_measure measure) {
  const struct row *row = &samples->rows[number];
  uint64_t life = measure == LIFE_WORDS ? life_in_words(samples, number) : row_life_ns(samples, row);
  return life << 1 | (row->died_ns == STILL_ALIVE);
}

/* The last rows of all blocks, by life; NULL without memory. */
static struct lived *lifetimes_order_by_life(const struct samples *samples, enum life_measure measure,
                                             size_t *count) {
  struct keyed *keyed = array_new(samples->row_count, sizeof *keyed);
  *count = 0;
  for (uint32_t i = 0; keyed && i < samples->row_count; i++)
    if (samples->rows[i].last) keyed[(*count)++] = (struct keyed){lifetimes_key_of(samples, i, measure), i};
  return samples_lived(samples, keyed, *count);
}

/* Collects the rows that count, in order of life, which the samples may know already. */
static bool collect_rows(struct lifetimes *lifetimes, enum life_measure measure) {
  const double *weights = lifetimes->weights;
  const struct samples *samples = lifetimes->samples;
  const struct call_tree *tree = lifetimes->tree;
  size_t count = samples->by_life_count;
  struct lived *own =
      samples->by_life && measure == LIFE_NS ? NULL : lifetimes_order_by_life(samples, measure, &count);
  const struct lived *all = own ? own : samples->by_life;
  lifetimes->order = all ? array_new(count, sizeof *lifetimes->order) : NULL;
  for (size_t i = 0; lifetimes->order && i < count; i++)
    if (all[i].probability > 0 && (!weights || weights[all[i].row] > 0) &&
        (!tree || tree->node_of_row[all[i].row] != NO_NODE))
      lifetimes->order[lifetimes->count++] = all[i];
  free(own);
  return lifetimes->order;
}

static bool is_inside(const struct lifetimes *lifetimes, const struct lived *lived) {
  return !lifetimes->inside || lifetimes->inside[lifetimes->tree->node_of_row[lived->row]];
}

/* The blocks that have lived until t, while t advances. */
struct risk_set {
  double living, variance; /* sums over the set: weight, and weight^2 (1 - p) */
  double surviving;        /* S */
  double hazard;           /* the sum of d/(r(r-d)) */
  double spent;            /* the part of V / S^2 due to the blocks that left the set */
  uint64_t samples;
};

static double lifetimes_weight_of(const struct lifetimes *lifetimes, const struct lived *lived) {
  return lifetimes->weights ? lifetimes->weights[lived->row] : 1 / lived->probability;
}

static void add_to_risk(struct risk_set *set, const struct lived *lived, double weight) {
  set->living += weight;
  set->variance += weight * weight * (1 - lived->probability);
  set->surviving = 1;
  set->samples++;
}

static void remove_from_risk(struct risk_set *set, const struct lived *lived, double weight) {
  double variance = weight * weight * (1 - lived->probability), share = 0;
  double left = set->living - weight, before = set->hazard;
  if (!lifetimes_is_alive(lived)) {
    share = 1 / set->living;
    set->surviving *= left / set->living;
    if (left > 0) set->hazard += weight / (set->living * left);
  }
  set->spent += variance * (before - share) * (before - share);
  set->living = left;
  set->variance = fmax(set->variance - variance, 0);
  set->samples--;
}

static const double Z_95 = 1.959963984540054, HALF = 0.5, ROUNDING = 1e-9;

/* Advances t until S is at most `level`. Returns the life at which that happens; or, with *reached
 * false, the last life. */
static uint64_t pass_level(const struct lifetimes *lifetimes, struct risk_set *set, double level,
                           bool *reached) {
  uint64_t length = 0;
  *reached = set->surviving <= level;
  for (size_t i = 0; i < lifetimes->count && !*reached; i++) {
    const struct lived *lived = &lifetimes->order[i];
    if (!is_inside(lifetimes, lived)) continue;
    length = lifetimes_life_of(lived);
    remove_from_risk(set, lived, lifetimes_weight_of(lifetimes, lived));
    *reached = set->samples ? set->surviving <= level + ROUNDING
                            : !lifetimes_is_alive(lived) && level > 0; /* after the last death S is 0 */
  }
  return length;
}

/* The size n of a random sample with the same variance: at most the number of sampled blocks, since
 * there may be blocks of low probability of which none was sampled. Where S is 0 or 1 its variance
 * says nothing, and n follows from the weights alone. */
static double equivalent(const struct risk_set *all, const struct risk_set *at) {
  double s = at->surviving, variance = s * s * (at->spent + at->hazard * at->hazard * at->variance);
  bool decided = s < ROUNDING || s > 1 - ROUNDING || variance <= 0;
  double count = decided ? all->living * all->living / all->variance : s * (1 - s) / variance;
  return fmin(count, (double)all->samples);
}

/* Wilson's interval for a share that a random sample of `count` blocks had (E. Wilson, "Probable
 * inference, the law of succession, and statistical inference", 1927). */
static void find_share(struct survival *survival, double share, double count) {
  double z = Z_95 * Z_95 / count, middle = (share + z / 2) / (1 + z);
  double reach = Z_95 * sqrt(share * (1 - share) / count + z / (4 * count)) / (1 + z);
  survival->share = share;
  survival->low = fmin(fmax(middle - reach, 0), share);
  survival->high = fmax(fmin(middle + reach, 1), share);
}

/* How far S at the true median may be from one half. With fewer than five blocks, all of them lie
 * on one side of the true median too often: then there is no bound. */
static double reach_of(double count) { return count < 5 - ROUNDING ? 1 : Z_95 / 2 / sqrt(count); }

/* Finds the ends of the interval: the lives at which S is `reach` above and below one half. */
static void lifetimes_find_ends(const struct lifetimes *lifetimes, const struct risk_set *all, double reach,
                                struct life *life) {
  struct risk_set early = *all, late = *all;
  bool reached;
  if (HALF + reach < 1) life->low = pass_level(lifetimes, &early, HALF + reach, &reached);
  uint64_t length = pass_level(lifetimes, &late, HALF - reach, &reached);
  if (reached) life->high = length;
}

/* The median life of the rows of `order` that are inside. */
static struct life lifetimes_median_of(const struct lifetimes *lifetimes) {
  struct risk_set all = {0};
  struct life life = {.low = NO_BOUND, .high = NO_BOUND};
  for (size_t i = 0; i < lifetimes->count; i++)
    if (is_inside(lifetimes, &lifetimes->order[i]))
      add_to_risk(&all, &lifetimes->order[i], lifetimes_weight_of(lifetimes, &lifetimes->order[i]));
  life.samples = all.samples;
  if (!all.samples) return life;
  struct risk_set at_median = all;
  life.median = pass_level(lifetimes, &at_median, HALF, &life.known);
  double reach = all.variance > 0 ? reach_of(equivalent(&all, &at_median)) : 0;
  lifetimes_find_ends(lifetimes, &all, reach, &life);
  return life;
}

/* The labels of the rows of `order`; NULL without memory. */
static uint32_t *labels_of(const struct lifetimes *lifetimes) {
  const struct call_tree *tree = lifetimes->tree;
  uint32_t *of_node = malloc(tree->node_count * sizeof *of_node);
  uint32_t *labels = array_new(lifetimes->count, sizeof *labels);
  for (size_t node = 0; of_node && node < tree->node_count; node++) of_node[node] = tree->nodes[node].label;
  for (size_t i = 0; of_node && labels && i < lifetimes->count; i++)
    labels[i] = of_node[tree->node_of_row[lifetimes->order[i].row]];
  if (!of_node) free(labels), labels = NULL;
  free(of_node);
  return labels;
}

/* ---- shared ---- */

wn_status lifetimes_create(const struct samples *samples, const struct call_tree *tree,
                           enum life_measure measure, const double *weights, struct lifetimes *lifetimes) {
  *lifetimes = (struct lifetimes){.samples = samples, .tree = tree, .weights = weights};
  lifetimes->inside = calloc(tree ? tree->node_count : 1, sizeof *lifetimes->inside);
  if (lifetimes->inside && collect_rows(lifetimes, measure)) return WN_OK;
  lifetimes_destroy(lifetimes);
  return error_set(WN_ENOMEM, "not enough memory for the lifetimes");
}

void lifetimes_destroy(struct lifetimes *lifetimes) {
  free(lifetimes->order);
  free(lifetimes->inside);
  *lifetimes = (struct lifetimes){0};
}

struct life lifetimes_median(struct lifetimes *lifetimes, const struct group *group, enum extent extent) {
  call_tree_mark(lifetimes->tree, group, extent, lifetimes->inside);
  return lifetimes_median_of(lifetimes);
}

wn_status lifetimes_medians(const struct lifetimes *lifetimes, struct life *medians) {
  const struct call_tree *tree = lifetimes->tree;
  size_t *begin = calloc(tree->label_count + 2, sizeof *begin);
  uint32_t *labels = labels_of(lifetimes);
  struct lived *order = array_new(lifetimes->count, sizeof *order);
  bool done = begin && labels && order;
  for (size_t i = 0; done && i < lifetimes->count; i++) begin[labels[i] + 2]++;
  for (size_t label = 2; done && label < tree->label_count + 2; label++) begin[label] += begin[label - 1];
  for (size_t i = 0; done && i < lifetimes->count; i++) order[begin[labels[i] + 1]++] = lifetimes->order[i];
  for (size_t label = 0; done && label < tree->label_count; label++) {
    struct lifetimes part = *lifetimes;
    part.order = order + begin[label];
    part.count = begin[label + 1] - begin[label];
    part.inside = NULL;
    medians[label] = lifetimes_median_of(&part);
  }
  free(begin);
  free(labels);
  free(order);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the lifetimes");
}

void lifetimes_survival(const struct lifetimes *lifetimes, struct survival *curve, size_t count) {
  struct risk_set all = {0};
  for (size_t i = 0; i < lifetimes->count; i++)
    add_to_risk(&all, &lifetimes->order[i], lifetimes_weight_of(lifetimes, &lifetimes->order[i]));
  struct risk_set now = all;
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    for (; at < lifetimes->count && lifetimes_life_of(&lifetimes->order[at]) <= curve[i].life; at++)
      remove_from_risk(&now, &lifetimes->order[at], lifetimes_weight_of(lifetimes, &lifetimes->order[at]));
    curve[i].share = curve[i].low = curve[i].high = 0;
    if (!all.samples) continue;
    double share = fmax(fmin(now.surviving, 1), 0);
    if (all.variance > 0)
      find_share(&curve[i], share, equivalent(&all, &now));
    else
      curve[i].share = curve[i].low = curve[i].high = share;
  }
}
/* SPDX-License-Identifier: MIT */
