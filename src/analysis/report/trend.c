/* Finds the trend of a row: how what was alive last came to be; of what was held earlier, that is what is
 * left. */
#include "analysis/report/trend.h"

#include <string.h>

/* A row of which less is left was freed. */
static const double FREED = 0.1;

/* Of stacks, the numbers are those of nodes. */
static bool is_same_code(const struct call_tree *tree, uint32_t number, const struct call_tree *other,
                         uint32_t its) {
  bool stacks = tree->grouping == BY_STACK;
  for (;; number = tree->nodes[number].parent, its = other->nodes[its].parent) {
    const struct label *label = &tree->labels[stacks ? tree->nodes[number].label : number],
                       *its_label = &other->labels[stacks ? other->nodes[its].label : its];
    if (memcmp(label, its_label, sizeof *label) != 0) return false;
    if (!stacks || !number || !its) return !stacks || number == its;
  }
}

/* The group in `alive` of the same code; NULL: nothing of it was alive last. */
static const struct group *alive_of(const struct call_tree *tree, const struct call_tree *alive,
                                    const struct group *group) {
  for (size_t i = 0; i < alive->group_count; i++)
    if (is_same_code(tree, group->label, alive, alive->groups[i].label)) return &alive->groups[i];
  return NULL;
}

/* Whether the verdict is that a function grows, which may be so since late in the run alone. */
static bool is_culprit(const struct verdict *verdict, const struct label *label) {
  if (verdict->kind != VERDICT_LEAK && verdict->kind != VERDICT_GROWING) return false;
  for (size_t i = 0; i < verdict->culprits; i++)
    if (verdict->culprit[i].function.function == label->function &&
        verdict->culprit[i].function.module == label->module)
      return true;
  return false;
}

/* ---- shared ---- */

const char *trend_of(struct table *table, struct table *alive, const struct group *held,
                     enum sites_order order, const struct verdict *verdict) {
  const struct group *group = alive ? alive_of(&table->tree, &alive->tree, held) : held;
  if (!group || sites_sums(order, group)->bytes.total < FREED * sites_sums(order, held)->bytes.total)
    return "freed";
  if (is_culprit(verdict, table_label(table, held))) return "grows";
  struct growth growth = table_growth(alive ? alive : table, group, sites_extent(order));
  static const char *const words[GROWTH_KIND_COUNT] = {[GROWTH_FEW] = "?",
                                                       [GROWTH_STEADY] = "grows",
                                                       [GROWTH_ONCE] = "at once",
                                                       [GROWTH_RECENT] = "recent",
                                                       [GROWTH_UNEVEN] = "uneven"};
  bool level = growth.lately.estimate < 0.1 * growth.bytes.estimate &&
               growth.lately.estimate > -0.1 * growth.bytes.estimate;
  return growth.kind == GROWTH_UNEVEN && level ? "level" : words[growth.kind];
}
/* SPDX-License-Identifier: MIT */
