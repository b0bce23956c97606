/* Ages, from the sample.
 *
 * H is estimated row by row: by size / p of each row of a block that is alive at the end. So a trend
 * with the weight w_i for class i is a sum over rows: a row that begins in class b and ends in class e
 * counts with c = size (w_b - w_e), where w_e = 0 if it is the block's last. The estimates are
 * unbiased, whether a block was sampled at its birth or when it grew.
 *
 * Variance. The rows of one block are not independent: a block that is in the sample by row i is in it
 * by each later row, with p_i <= p_j. So cov(I_i / p_i, I_j / p_j) = 1/p_j - 1 for i < j, and the
 * block's share of the variance is estimated, from its rows in the sample, by the sum of
 *   c_j^2 (1 - p_j) / p_j^2 + 2 c_j (1 - p_j) / p_j * sum_{i<j} c_i / p_i    (growth_variance).
 * With B_j = sum_{i<=j} c_i / p_i, and n rows, this is (1 - p_n) B_n^2 + sum_{j<n} (p_{j+1} - p_j) B_j^2:
 * never below 0, though the c may be. It is unbiased, and no bound; it needs the rows of a block one
 * after the other.
 *
 * Blocks are independent. A block adds to a trend as one number, so that what it was and what it is
 * cancel: to `gain` if the number is above 0, else to `loss`. Of a small block that grows, size / p
 * hardly changes. It stands for other blocks from its first sample on, and adds as much as a block of
 * its age that never grew.
 *
 * Seen. All changes of a sampled block after its first row are known, and its whole first row if it was
 * sampled at its birth. If it was first sampled as it grew, the bytes it had before may be of another
 * class, which may have no weight. So sum c less those bytes is certain. But the estimate for a block
 * that was sampled early and became large can be less than that. So `seen` is at most the estimate less
 * one standard error: otherwise the interval (estimate.c) would have no width above it, and it missed
 * the slopes of three buffers in up to 46 % of runs instead of 10 % (tests/analysis/test_growth.c). */
#include "analysis/report/ages.h"

#include <math.h>

_Static_assert(WARM_UP + JUDGED + 1 == AGE_CLASSES, "the newest class is not judged");

static int ages_class_of(uint64_t time_ns, struct stretch stretch) {
  if (time_ns >= stretch.end_ns) return AGE_CLASSES - 1;
  if (time_ns <= stretch.begin_ns) return 0;
  double part = (double)(time_ns - stretch.begin_ns) / (double)(stretch.end_ns - stretch.begin_ns);
  return part >= 1 ? AGE_CLASSES - 1 : (int)(part * AGE_CLASSES);
}

static bool ends(const struct row *row, struct stretch stretch) { return row->end_ns <= stretch.end_ns; }
static bool dies(const struct row *row, struct stretch stretch) { return row->died_ns <= stretch.end_ns; }

/* The class in which a row ends; AGE_CLASSES if it does not. */
static int end_class(const struct row *row, struct stretch stretch) {
  return ends(row, stretch) ? ages_class_of(row->end_ns, stretch) : AGE_CLASSES;
}

/* The class at whose beginning a trend begins. */
static const int since_class[TRENDS] = {[TREND_SINCE_WARM_UP] = WARM_UP,
                                        [TREND_SINCE_HALF] = WARM_UP + JUDGED / 2,
                                        [TREND_SINCE_LAST] = WARM_UP + JUDGED - QUARTER};

/* The weight of a class in a trend. */
static double ages_weight_of(enum trend trend, int class) {
  int j = class - WARM_UP + 1;
  double squares = JUDGED * (JUDGED + 1.0) * (JUDGED + 2.0) / 6; /* the sum of the slope's, times: 364 */
  if (class == AGE_CLASSES) return 0;
  if (trend == TREND_MIDDLE) return class >= WARM_UP && class < since_class[TREND_SINCE_LAST];
  if (trend != TREND_SLOPE) return class >= since_class[trend];
  return j >= 1 && j <= JUDGED ? j * (JUDGED + 1.0 - j) / squares : 0;
}

static bool was_there(const struct row *row, enum trend trend, struct stretch stretch) {
  return ages_class_of(row->begin_ns, stretch) < since_class[trend] &&
         end_class(row, stretch) >= since_class[trend];
}

/* A row of a block that was freed. */
static void add_gone(struct ages *ages, const struct row *row, struct stretch stretch) {
  for (enum trend trend = TREND_SINCE_WARM_UP; trend < TRENDS; trend++)
    if (was_there(row, trend, stretch))
      sum_add(&ages->trends[trend].loss, (double)row->size, row->probability);
  if (was_there(row, TREND_SINCE_LAST, stretch) && ages_class_of(row->born_ns, stretch) < OLD)
    ages->old_gone += (double)row->size / row->probability;
}

/* Most blocks: one row, alive at the end, sampled at its birth. As the general case, only faster. */
static void ages_add_plain(struct ages *ages, const struct row *row, struct stretch stretch) {
  double bytes = (double)row->size, p = row->probability;
  int class = ages_class_of(row->begin_ns, stretch);
  ages->alive[class] += bytes / p;
  ages->samples[class]++;
  sum_add(&ages->all, bytes, p);
  for (enum trend trend = 0; trend < TRENDS; trend++) {
    double weight = ages_weight_of(trend, class);
    if (weight > 0) sum_add(&ages->trends[trend].gain, bytes * weight, p);
  }
}

/* One block in one trend. `known` is certain of it. */
struct part {
  double total, variance, known;
  bool resized;
};

static void part_add(struct part *part, const struct row *row, double weight) {
  double c = (double)row->size * weight, p = row->probability;
  part->variance += growth_variance(c, p, part->total);
  part->total += c / p;
  part->known += c;
}

static void trend_add(struct trend_sums *sums, const struct part *part) {
  bool loss = part->total < 0;
  double total = fabs(part->total), seen = fmin(loss ? -part->known : part->known, total);
  if (part->resized) seen = fmin(seen, total - sqrt(part->variance));
  struct weight weight = {total, fmax(seen, 0), part->variance, total > 0};
  sum_add_weighted(loss ? &sums->loss : &sums->gain, 1, &weight);
}

static void add_trend(struct ages *ages, enum trend trend, const struct samples *samples,
                      struct stretch stretch, const uint32_t *rows, size_t count) {
  const struct row *first = &samples->rows[rows[0]];
  struct part part = {.resized = count > 1};
  if (first->first)
    part.known = -growth_at_birth(&samples->grown, first) * (double)first->size *
                 ages_weight_of(trend, ages_class_of(first->begin_ns, stretch));
  for (size_t i = 0; i < count; i++) {
    const struct row *row = &samples->rows[rows[i]];
    double begin = ages_weight_of(trend, ages_class_of(row->begin_ns, stretch));
    part_add(&part, row, begin - ages_weight_of(trend, end_class(row, stretch)));
  }
  trend_add(&ages->trends[trend], &part);
}

/* AGE_CLASSES is the class of what never ends. */
static void add_classes(struct ages *ages, const struct samples *samples, struct stretch stretch,
                        const uint32_t *rows, size_t count) {
  double bytes[AGE_CLASSES + 1] = {0};
  int64_t grown[AGE_CLASSES + 1] = {0}; /* exact: a block that grew and shrank again is no sample */
  for (size_t i = 0; i < count; i++) {
    const struct row *row = &samples->rows[rows[i]];
    int begin = ages_class_of(row->begin_ns, stretch), end = end_class(row, stretch);
    double size = (double)row->size / row->probability;
    bytes[begin] += size, bytes[end] -= size;
    grown[begin] += (int64_t)row->size, grown[end] -= (int64_t)row->size;
    if (!ends(row, stretch)) sum_add(&ages->all, (double)row->size, row->probability);
  }
  for (int class = 0; class < AGE_CLASSES; class ++) {
    ages->alive[class] += bytes[class];
    ages->samples[class] += grown[class] > 0;
  }
}

/* Adds what a block grew in all, less the most it ever had. */
static void add_regrown(struct ages *ages, const struct samples *samples, const uint32_t *rows,
                        size_t count) {
  double grown = 0, most = 0;
  for (size_t i = 0; i < count; i++) {
    const struct row *row = &samples->rows[rows[i]], *before = i ? &samples->rows[rows[i - 1]] : NULL;
    double size = (double)row->size;
    double from = before && before->end_ns == row->begin_ns ? (double)before->size : 0;
    grown += fmax(size - from, 0);
    most = fmax(most, size);
  }
  ages->regrown += (grown - most) / samples->rows[rows[count - 1]].probability;
}

static void take_sum(struct sum *sum, const struct sum *of) {
  sum->total -= of->total;
  sum->variance = fmax(sum->variance - of->variance, 0);
  sum->seen -= of->seen;
  sum->clustered = fmax(sum->clustered - of->clustered, 0);
  sum->typical -= of->typical;
  sum->earlier -= of->earlier;
  sum->samples -= of->samples;
}

static void take_block(struct ages *ages, const struct block_rows *block, const struct samples *samples,
                       struct stretch stretch) {
  struct ages of = {.alive = {0}};
  if (!block->count) return;
  ages_add(&of, samples, stretch, block->rows ? block->rows : &block->first, block->count);
  for (int class = 0; class < AGE_CLASSES; class ++) {
    ages->alive[class] -= of.alive[class];
    ages->samples[class] -= of.samples[class];
  }
  take_sum(&ages->all, &of.all);
  ages->old_gone -= of.old_gone, ages->regrown -= of.regrown;
  for (enum trend trend = 0; trend < TRENDS; trend++) {
    take_sum(&ages->trends[trend].gain, &of.trends[trend].gain);
    take_sum(&ages->trends[trend].loss, &of.trends[trend].loss);
  }
}

/* ---- shared ---- */

bool ages_need(const struct row *row, struct stretch stretch) {
  return row->begin_ns <= stretch.end_ns &&
         (!dies(row, stretch) || was_there(row, TREND_SINCE_WARM_UP, stretch) ||
          was_there(row, TREND_SINCE_HALF, stretch) || was_there(row, TREND_SINCE_LAST, stretch));
}

void ages_add(struct ages *ages, const struct samples *samples, struct stretch stretch, const uint32_t *rows,
              size_t count) {
  const struct row *first = &samples->rows[rows[0]];
  if (dies(first, stretch)) {
    for (size_t i = 0; i < count; i++) add_gone(ages, &samples->rows[rows[i]], stretch);
    return;
  }
  if (first->first && first->last && !first->grown) {
    ages_add_plain(ages, first, stretch);
    return;
  }
  add_classes(ages, samples, stretch, rows, count);
  add_regrown(ages, samples, rows, count);
  for (enum trend trend = 0; trend < TRENDS; trend++) add_trend(ages, trend, samples, stretch, rows, count);
}

void group_ages_add(struct group_ages *group, const struct samples *samples, struct stretch stretch,
                    const uint32_t *rows, size_t count) {
  const struct row *last = &samples->rows[rows[count - 1]];
  struct block_rows *block = dies(&samples->rows[rows[0]], stretch) ? &group->gone : &group->largest;
  double bytes = (double)last->size / last->probability;
  ages_add(&group->ages, samples, stretch, rows, count);
  if (bytes > block->bytes) *block = (struct block_rows){count > 1 ? rows : NULL, count, rows[0], bytes};
}

struct ages group_ages_without_largest(const struct group_ages *group, const struct samples *samples,
                                       struct stretch stretch) {
  struct ages ages = group->ages;
  take_block(&ages, &group->largest, samples, stretch);
  if (group->gone.bytes < group->largest.bytes) take_block(&ages, &group->gone, samples, stretch);
  return ages;
}
/* SPDX-License-Identifier: MIT */
