/* Finds the trend of a row: how what was alive last came to be; of what was held earlier, that is what is
 * left. */
#include "analysis/report/trend.h"

#include <math.h>
#include <string.h>

/* A row of which less is left was freed. One that grew or shrank by less than LEVEL of its bytes in the last
 * quarter is level. One that grows from start to end gains STEADILY there: three classes of sixteen. */
static const double FREED = 0.1, LEVEL = 0.1, STEADILY = 3.0 / AGE_CLASSES;

/* Of stacks, the numbers are those of nodes. */
static bool trend_is_same_code(const struct call_tree *tree, uint32_t number, const struct call_tree *other,
                               uint32_t its) {
  bool stacks = tree->grouping == BY_STACK;
  for (;; number = tree->nodes[number].parent, its = other->nodes[its].parent) {
    const struct label *label = &tree->labels[stacks ? tree->nodes[number].label : number],
                       *its_label = &other->labels[stacks ? other->nodes[its].label : its];
    if (!label_is_same(label, its_label)) return false;
    if (!stacks || !number || !its) return !stacks || number == its;
  }
}

/* The group in `alive` of the same code; NULL: nothing of it was alive last. */
static const struct group *alive_of(const struct call_tree *tree, const struct call_tree *alive,
                                    const struct group *group) {
  for (size_t i = 0; i < alive->group_count; i++)
    if (trend_is_same_code(tree, group->label, alive, alive->groups[i].label)) return &alive->groups[i];
  return NULL;
}

/* Whether the verdict is that a function grows, which may be so since late in the run alone. */
static bool trend_is_culprit(const struct verdict *verdict, const struct label *label) {
  if (verdict->kind != VERDICT_LEAK && verdict->kind != VERDICT_GROWING) return false;
  for (size_t i = 0; i < verdict->culprits; i++)
    if (verdict->culprit[i].function.function == label->function &&
        verdict->culprit[i].function.module == label->module)
      return true;
  return false;
}

/* Of a row that neither grows for certain nor came at one time. Nothing is known of one with fewer than some
 * forty samples, of which a part grows and is not found to (growth.c); nor where the interval of the last
 * quarter has room for a level row and for one that grows. */
static const char *uneven_word(const struct growth *growth) {
  const struct estimate *lately = &growth->lately;
  double bytes = growth->bytes.estimate;
  if (growth->bytes.high - growth->bytes.low > 0.6 * bytes) return "?";
  if (lately->low < LEVEL * bytes && lately->high > STEADILY * bytes) return "?";
  return fabs(lately->estimate) < LEVEL * bytes && lately->low > -STEADILY * bytes ? "level" : "uneven";
}

/* Of a row whose blocks are nearly all new: they came in addition, or in place of those that went. */
static const char *recent_word(const struct growth *growth) {
  return growth->lately.estimate > growth->bytes.estimate / 2 ? "late" : "replaced";
}

/* ---- shared ---- */

const char *trend_of(struct table *table, struct table *alive, const struct group *held,
                     enum sites_order order, const struct verdict *verdict) {
  const struct group *group = alive ? alive_of(&table->tree, &alive->tree, held) : held;
  if (!group || sites_sums(order, group)->bytes.total < FREED * sites_sums(order, held)->bytes.total)
    return "freed";
  if (trend_is_culprit(verdict, table_label(table, held))) return "grows";
  struct growth growth = table_growth(alive ? alive : table, group, sites_extent(order));
  static const char *const words[GROWTH_KIND_COUNT] = {
      [GROWTH_FEW] = "?", [GROWTH_STEADY] = "grows", [GROWTH_ONCE] = "at once"};
  return growth.kind == GROWTH_UNEVEN   ? uneven_word(&growth)
         : growth.kind == GROWTH_RECENT ? recent_word(&growth)
                                        : words[growth.kind];
}
/* SPDX-License-Identifier: MIT */
