/* Steady growth.
 *
 * Size does not tell a leak: a cache that was filled at the start is larger than a leak that has
 * just begun. Age does. Let x_i be by how much the bytes that are alive at the end became more in age
 * class i (AGE CLASSES in ages.h). A leak adds to every class, whether it is one of blocks, or one
 * buffer that realloc makes larger and larger. A cache that was filled once is in one class, one that
 * is refilled in the latest classes, and blocks that die soon are in the newest class alone.
 *
 * A buffer that doubles is in few classes, and its last doubling has half of its bytes. Whether it will
 * double again cannot be told from that: it is UNEVEN. So is one that grows by copying itself into a larger
 * block: the block that is there at the end came at one time, but others were there before it.
 *
 * Slope. Let S_k be the bytes of the first k judged classes, S_0 = 0. The slope of the line that
 * least squares fit to S_0 ... S_n is a weighted sum of the classes, as S is a sum of them: with
 * n = 12, the sum of x_j j (n + 1 - j) / 364. It is linear in the blocks, so it is estimated as any
 * sum, and has that interval (estimate.c). Beside the plain mean, whose variance is 1/1.2 of it
 * where growth is steady, it has less weight on the two ends, where the warm-up and blocks in use
 * may still be felt. The interval is about sampling alone: it says what all blocks of this run
 * would have shown, not what the next run does. tests/analysis/test_growth.c measures its coverage.
 *
 * The slope of a site that has any sample in a judged class is surely above 0. So that the interval
 * excludes 0 says little, and one step in the middle has a slope too. Growth is STEADY only if
 *  1. at least half of the judged classes have a sample;
 *  2. each quarter of them has at least QUARTER_LEAST of the mean quarter's bytes;
 *  3. NET: what the site holds has grown since the end of the warm-up: the interval of the
 *     difference of what came and what went (difference_of) excludes 0. A cache that evicts its
 *     oldest blocks has survivors of many ages, but keeps its size;
 *  4. it has grown in the last quarter too, by LAST_LEAST of the mean quarter: not a cache that
 *     has filled up. This is an estimate without a test: where blocks in use outweigh the leak, a
 *     test would miss most leaks;
 *  5. its blocks have not grown again after they had shrunk by more than the judged classes have: a
 *     buffer that is filled and emptied all the time can have a little more at each class's end.
 * Measured by tests/analysis/test_growth.c: a site that leaks over the whole run is STEADY in 51, 83
 * and 99 % of runs with 12, 20 and 40 sampled blocks alive at the end; a cache that evicts its oldest
 * block once it has filled for 60, 70 and 80 % of the run in 0, 1.5 and 13 %, with 400. Blocks whose
 * lives are as long as the run cannot be told from leaks. Nor can a query for blocks that are alive
 * tell what went.
 *
 * LARGEST: a vector of strings that leak has one block with its elements, which moves to a larger one now
 * and then, and has up to half of all bytes. So a group of which one block has LARGEST_PART is judged without
 * that block, too, and if all others, at least OTHERS_PART, surely grow, so does the group. Its rate is NET's
 * then: a slope would show when the vector moved. The largest block that is gone was the vector's before: as an
 * old block that went, it does not count either.
 *
 * SURE: a verdict needs more than a word in a column. It takes only growth of the last quarter that is at
 * least SURE_LAST of the mean quarter's, and whose interval is above SURE_LOW of that. A cache that filled
 * until 80 % of the run has a third of the mean quarter there.
 *
 * REPLACED: of the blocks that came before OLD and were there as the last quarter began, more than GONE_MOST are
 * gone at the end. A leaked block stays. A cache that replaces entries at random grows ever more slowly, which
 * hardly shows beside the errors of what came and what went; but its old entries go as the others do. So
 * may those of a site that leaks, and has blocks that live for a quarter of the run besides.
 *
 * QUEUED: a queue into which more comes than goes grows, too, though each of its blocks goes in its
 * turn: at the end it has blocks of the last classes alone. So ages do not tell, and what is held
 * does: it grew since the warm-up, surely by QUEUED_LEAST of what there is at the end, and did so
 * in each of three parts of the run, by at least QUEUED_PART of the mean, in the last as for SURE.
 * It takes more samples than ages do, since the blocks that are there at two moments are different
 * ones. What rises and falls can be more at each of four moments by chance: culprits.c looks at the
 * moments between them.
 */
#include "analysis/report/growth.h"

#include <math.h>

static const double QUARTER_LEAST = 0.25, LAST_LEAST = 0.5, SURE_LAST = 0.75, SURE_LOW = 0.33,
                    GONE_MOST = 0.03, LARGEST_PART = 0.2, OTHERS_PART = 0.25, QUEUED_LEAST = 0.5,
                    QUEUED_PART = 0.5,
                    SINCE = AGE_CLASSES - WARM_UP; /* classes since the end of the warm-up */

/* Fewer samples tell nothing about ages, unless they are nearly all blocks there are. */
enum { SAMPLES_LEAST = 8 };
static const double NEARLY_ALL = 0.1; /* standard error as a share of the estimate */

/* A site is said to be of one time if this share of its bytes is. */
static const double BULK = 0.9;

/* ---- judging ---- */

static double bytes_in(const struct ages *ages, int from, int count) {
  double bytes = 0;
  for (int i = from; i < from + count; i++) bytes += ages->alive[i];
  return bytes;
}

static bool is_spread(const struct ages *ages) {
  int some = 0;
  double mean = bytes_in(ages, WARM_UP, JUDGED) / QUARTERS;
  for (int i = WARM_UP; i < WARM_UP + JUDGED; i++) some += ages->samples[i] > 0;
  for (int quarter = 0; quarter < QUARTERS; quarter++)
    if (bytes_in(ages, WARM_UP + quarter * QUARTER, QUARTER) < QUARTER_LEAST * mean) return false;
  return 2 * some >= JUDGED && mean > 0;
}

static struct estimate net_of(const struct trend_sums *sums, double unit) {
  struct estimate gain = estimate_of(&sums->gain, unit), loss = estimate_of(&sums->loss, unit);
  return difference_of(&gain, &loss);
}

static bool growth_has_grown(const struct ages *ages, double unit) {
  const struct trend_sums *last = &ages->trends[TREND_SINCE_LAST];
  struct estimate net = net_of(&ages->trends[TREND_SINCE_WARM_UP], unit);
  double mean = bytes_in(ages, WARM_UP, JUDGED) / QUARTERS;
  return net.low > 0 && last->gain.total - last->loss.total >= LAST_LEAST * mean &&
         ages->regrown <= QUARTERS * mean;
}

/* SURE */
static bool grows_surely(const struct ages *ages, const struct estimate *lately) {
  double mean = bytes_in(ages, WARM_UP, JUDGED) / QUARTERS;
  return lately->estimate >= SURE_LAST * mean && lately->low > SURE_LOW * mean;
}

/* REPLACED */
static bool growth_is_replaced(const struct ages *ages) {
  return ages->old_gone > GONE_MOST * (ages->old_gone + bytes_in(ages, 0, OLD));
}

/* QUEUED */
static bool is_queued(const struct ages *ages, const struct growth *growth, double unit) {
  enum { LAST = AGE_CLASSES - WARM_UP - JUDGED + QUARTER, HALF = LAST + JUDGED / 2 - QUARTER };
  double half = net_of(&ages->trends[TREND_SINCE_HALF], unit).estimate, mean = growth->net.estimate / SINCE,
         last = LAST * mean;
  return growth->kind != GROWTH_STEADY && growth->net.low >= QUEUED_LEAST * growth->bytes.estimate &&
         growth->net.estimate - half >= QUEUED_PART * (SINCE - HALF) * mean &&
         half - growth->lately.estimate >= QUEUED_PART * (HALF - LAST) * mean &&
         growth->lately.estimate >= SURE_LAST * last && growth->lately.low > SURE_LOW * last &&
         ages->regrown <= growth->net.estimate;
}

/* Most groups have no block that takes from the trend. Then it is a sum like any other. */
static struct estimate growth_trend_of(const struct trend_sums *trend, double unit) {
  return trend->loss.samples ? net_of(trend, unit) : estimate_of(&trend->gain, unit);
}

static bool growth_is_known(const struct ages *ages) {
  return ages->all.samples >= SAMPLES_LEAST ||
         (ages->all.samples && sqrt(ages->all.variance) <= NEARLY_ALL * ages->all.total);
}

/* Whether nearly all is in these classes. What shrank counts like what came. */
static bool bulk_is_in(const struct ages *ages, int from, int count) {
  double outside = ages->regrown;
  for (int i = 0; i < AGE_CLASSES; i++)
    if (i < from || i >= from + count) outside += fabs(ages->alive[i]);
  return outside <= (1 - BULK) * ages->all.total;
}

/* Whether blocks that were live before a class, and are gone at the end, had a part of what is there now: then
 * what came in that class took their place. A vector that grows by copying itself does that. */
static bool took_a_place(const struct ages *ages, int class) {
  const struct sum *gone =
      &ages->trends[class < WARM_UP + JUDGED - QUARTER ? TREND_SINCE_WARM_UP : TREND_SINCE_LAST].loss;
  return gone->total > (1 - BULK) * ages->all.total;
}

/* Whether nearly all is in the warm-up, or in a stretch of one class, which can lie in two, and came in
 * addition to what was there. */
static bool is_of_one_time(const struct ages *ages) {
  if (bulk_is_in(ages, 0, WARM_UP)) return true;
  for (int i = 0; i + 1 < AGE_CLASSES; i++)
    if (bulk_is_in(ages, i, 2)) return !took_a_place(ages, i);
  return false;
}

static enum growth_kind growth_kind_of(const struct ages *ages, double unit) {
  if (is_spread(ages) && growth_has_grown(ages, unit)) return GROWTH_STEADY;
  if (!growth_is_known(ages)) return GROWTH_FEW;
  if (bulk_is_in(ages, AGE_CLASSES - 2, 2)) return GROWTH_RECENT;
  return is_of_one_time(ages) ? GROWTH_ONCE : GROWTH_UNEVEN;
}

/* Where a slope would tell of other things. */
static struct estimate net_rate(const struct growth *growth, struct stretch stretch) {
  double seconds = SINCE / AGE_CLASSES * (double)(stretch.end_ns - stretch.begin_ns) / 1e9;
  const struct estimate *net = &growth->net;
  return (struct estimate){.estimate = net->estimate / seconds,
                           .low = net->low / seconds,
                           .high = net->high / seconds,
                           .samples = net->samples};
}

/* ---- shared ---- */

static const struct {
  const char *word, *text;
} kinds[GROWTH_KIND_COUNT] = {
#define GROWTH_KIND(NAME, word, text) {word, text},
    GROWTH_KINDS(GROWTH_KIND)
#undef GROWTH_KIND
};

const char *growth_word(enum growth_kind kind) { return kinds[kind].word; }
const char *growth_text(enum growth_kind kind) { return kinds[kind].text; }

struct growth growth_of(const struct ages *ages, struct stretch stretch, double unit) {
  struct growth growth = {.kind = growth_kind_of(ages, unit),
                          .bytes = estimate_of(&ages->all, unit),
                          .middle = growth_trend_of(&ages->trends[TREND_MIDDLE], unit),
                          .net = net_of(&ages->trends[TREND_SINCE_WARM_UP], unit),
                          .lately = net_of(&ages->trends[TREND_SINCE_LAST], unit)};
  growth.sure = growth.kind == GROWTH_STEADY && grows_surely(ages, &growth.lately);
  growth.queued = is_queued(ages, &growth, unit);
  growth.replaced = growth.queued || growth_is_replaced(ages);
  double seconds = (double)(stretch.end_ns - stretch.begin_ns) / 1e9 / AGE_CLASSES;
  struct estimate slope = growth_trend_of(&ages->trends[TREND_SLOPE], unit / JUDGED); /* the mean weight */
  if (seconds > 0)
    growth.rate = (struct estimate){.estimate = slope.estimate / seconds,
                                    .low = slope.low / seconds,
                                    .high = slope.high / seconds,
                                    .samples = slope.samples};
  if (growth.queued) growth.rate = net_rate(&growth, stretch);
  for (int i = 0; i < AGE_CLASSES; i++) growth.alive[i] = ages->alive[i];
  return growth;
}

struct growth growth_of_group(const struct group_ages *group, const struct samples *samples,
                              struct stretch stretch, double unit) {
  struct growth growth = growth_of(&group->ages, stretch, unit);
  bool may_hide = group->largest.bytes >= LARGEST_PART * growth.bytes.estimate && growth.net.low > 0;
  if (growth.sure ? !growth.replaced : !may_hide) return growth;
  struct ages others = group_ages_without_largest(group, samples, stretch);
  struct growth without = growth_of(&others, stretch, unit);
  bool tells = without.sure && without.bytes.estimate >= OTHERS_PART * growth.bytes.estimate;
  if (growth.sure) return growth.replaced = !tells || without.replaced, growth;
  if (!tells) return growth;
  without.bytes = growth.bytes, without.net = growth.net;
  without.rate = net_rate(&growth, stretch);
  return without;
}
/* SPDX-License-Identifier: MIT */
