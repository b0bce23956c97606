/* Builds the call tree: the part of the call paths that the counted rows need, with their sums. A
 * node gets its number when the first row needs it, so a tree is numbered in the order of its rows,
 * whatever paths there are. The node of each row is kept.
 *
 * Rows without a callstack stay at the root. Their group has the root's label, 0, which stands for
 * no function.
 *
 * The total of a group counts each stack once, however often the group's label occurs on the stack:
 * from every tree node with rows of its own, add_path walks to the root and adds the node's sums to
 * each label that it meets for the first time.
 */
#include "analysis/load/call_tree.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

/* Sums of rows, without the members of struct sum that are 0 or follow from these: one line of the
 * processor's cache, since rows do not come in the order of their nodes. */
struct plain_sum {
  double total, seen, variance;
};
struct plain_sums {
  struct plain_sum bytes, blocks;
  uint64_t samples;
  bool weighted;
};

struct summing {
  const struct samples *samples;
  const struct call_paths *paths;
  struct call_tree *tree;
  uint32_t *owner_of;      /* index: place; the node that owns it, plus 1; 0: not known yet */
  uint32_t *node_of;       /* index: node of the paths; that of the tree, 0: none yet */
  uint32_t *path_of;       /* index: node of the tree; that of the paths */
  struct plain_sums *sums; /* index: node of the tree */
  size_t path_capacity, sums_capacity;
  bool has_others; /* rows that are not plain */
};

static bool add_node(struct summing *summing, uint32_t path_node) {
  size_t node = summing->tree->node_count;
  if (!array_reserve(&summing->path_of, &summing->path_capacity, node + 1, sizeof *summing->path_of))
    return false;
  if (!array_reserve(&summing->sums, &summing->sums_capacity, node + 1, sizeof *summing->sums)) return false;
  summing->path_of[node] = path_node;
  summing->sums[node] = (struct plain_sums){.samples = 0};
  summing->node_of[path_node] = (uint32_t)node;
  summing->tree->node_count++;
  return true;
}

/* Gives a node of the paths and its callers their numbers, outermost first. */
static bool add_nodes(struct summing *summing, uint32_t path_node) {
  uint32_t path[64];
  for (;;) { /* a deeper path takes several rounds */
    size_t depth = 0;
    for (uint32_t at = path_node; at && !summing->node_of[at]; at = summing->paths->nodes[at].parent)
      path[depth++ % 64] = at;
    for (size_t i = 0; i < 64 && i < depth; i++)
      if (!add_node(summing, path[(depth - 1 - i) % 64])) return false;
    if (depth <= 64) return true;
  }
}

/* The node that owns a row, or UINT32_MAX without memory. */
static uint32_t call_tree_owner_of(struct summing *summing, const struct row *row) {
  const struct call_paths *paths = summing->paths;
  uint32_t stack = call_paths_place(paths, row);
  if (stack > paths->stack_count) return 0;
  if (summing->owner_of[stack]) return summing->owner_of[stack] - 1;
  if (!add_nodes(summing, paths->node_of[stack]) || !add_nodes(summing, paths->own_of[stack]))
    return UINT32_MAX;
  uint32_t node = summing->node_of[paths->own_of[stack]];
  summing->owner_of[stack] = node + 1;
  return node;
}

/* ---- sums ---- */

static bool call_tree_is_plain(const struct share *share) {
  return share->weight.factor > 0 || (!share->grown && share->blocks > 0);
}

static void call_tree_add_plain(struct plain_sum *sum, double y, double p) {
  sum->total += y / p;
  sum->seen += y;
  sum->variance += y * y * (1 - p) / (p * p);
}

static void add_weighted(struct plain_sum *sum, double y, const struct weight *weight) {
  sum->total += y * weight->factor;
  sum->seen += y * weight->seen;
  sum->variance += y * y * weight->variance;
}

static void call_tree_add(struct plain_sums *sums, const struct row *row, const struct share *share) {
  if (share->weight.factor > 0) {
    add_weighted(&sums->bytes, share->bytes, &share->weight);
    add_weighted(&sums->blocks, share->blocks, &share->weight);
    sums->samples += share->weight.sample;
    sums->weighted = true;
  } else {
    call_tree_add_plain(&sums->bytes, share->bytes, row->probability);
    call_tree_add_plain(&sums->blocks, share->blocks, row->probability);
    sums->samples++;
  }
}

/* As sum_add and sum_add_weighted would have summed the same rows. */
static struct sum whole_sum(const struct plain_sum *plain, const struct plain_sums *sums) {
  return (struct sum){.total = plain->total,
                      .variance = plain->variance,
                      .seen = plain->seen,
                      .typical = sums->weighted ? 0 : plain->total,
                      .samples = sums->samples};
}

static bool call_tree_add_rows(struct summing *summing, row_measure *measure, void *context) {
  struct call_tree *tree = summing->tree;
  for (size_t i = 0; i < summing->samples->row_count; i++) {
    const struct row *row = &summing->samples->rows[i];
    struct share share;
    tree->node_of_row[i] = NO_NODE;
    if (!measure(row, &share, context) || row->probability <= 0) continue;
    uint32_t node = call_tree_owner_of(summing, row);
    if (node == UINT32_MAX) return false;
    tree->node_of_row[i] = node;
    if (share.apart) continue;
    if (call_tree_is_plain(&share))
      call_tree_add(&summing->sums[node], row, &share);
    else
      summing->has_others = true;
  }
  return true;
}

/* Adds the rows that are not plain. */
static void add_others(struct summing *summing, row_measure *measure, void *context) {
  struct call_tree *tree = summing->tree;
  for (size_t i = 0; i < summing->samples->row_count; i++) {
    const struct row *row = &summing->samples->rows[i];
    struct share share;
    if (tree->node_of_row[i] == NO_NODE || !measure(row, &share, context) || share.apart ||
        call_tree_is_plain(&share))
      continue;
    struct sums *self = &tree->nodes[tree->node_of_row[i]].self;
    struct dependence bytes = {.variance = growth_variance(share.bytes, row->probability, 0), .typical = 1};
    struct dependence calls = bytes; /* not used then: there are no blocks */
    if (share.grown) bytes = grown_bytes(share.grown), calls = grown_calls(share.grown);
    sum_add_dependent(&self->bytes, share.bytes, row->probability, &bytes);
    if (share.blocks > 0) sum_add_dependent(&self->blocks, share.blocks, row->probability, &calls);
  }
}

static void call_tree_add_totals(struct call_tree *tree) {
  for (size_t i = tree->node_count; i-- > 0;) {
    sums_merge(&tree->nodes[i].total, &tree->nodes[i].self);
    if (i) sums_merge(&tree->nodes[tree->nodes[i].parent].total, &tree->nodes[i].total);
  }
}

/* Makes the nodes and labels, once their numbers are known. */
static bool call_tree_make_nodes(struct summing *summing) {
  const struct call_paths *paths = summing->paths;
  struct call_tree *tree = summing->tree;
  uint32_t *label_of = calloc(paths->label_count, sizeof *label_of);
  tree->nodes = malloc(tree->node_count * sizeof *tree->nodes);
  tree->labels = malloc(paths->label_count * sizeof *tree->labels);
  for (uint32_t i = 0; label_of && tree->nodes && tree->labels && i < tree->node_count; i++) {
    const struct path_node *of = &paths->nodes[summing->path_of[i]];
    uint32_t *label = &label_of[of->label], parent = summing->node_of[of->parent];
    if (!i || (of->label && !*label)) {
      tree->labels[tree->label_count] = paths->labels[of->label];
      *label = (uint32_t)tree->label_count++;
    }
    tree->nodes[i] = (struct tree_node){.parent = parent,
                                        .label = *label,
                                        .next_sibling = i ? tree->nodes[parent].first_child : 0,
                                        .self = {whole_sum(&summing->sums[i].bytes, &summing->sums[i]),
                                                 whole_sum(&summing->sums[i].blocks, &summing->sums[i])}};
    if (i) tree->nodes[parent].first_child = i;
  }
  bool done = label_of && tree->nodes && tree->labels;
  free(label_of);
  return done;
}

/* By total, largest first. Groups without samples come last; a block of no bytes is a sample too.
 */
static int call_tree_by_total(const void *a, const void *b) {
  const struct group *left = a, *right = b;
  if (!left->total.bytes.samples != !right->total.bytes.samples) return left->total.bytes.samples ? -1 : 1;
  if (left->total.bytes.total != right->total.bytes.total)
    return left->total.bytes.total < right->total.bytes.total ? 1 : -1;
  if (left->stacks != right->stacks) return left->stacks < right->stacks ? -1 : 1;
  if (left->self.bytes.total != right->self.bytes.total)
    return left->self.bytes.total < right->self.bytes.total ? 1 : -1;
  return left->label < right->label ? -1 : left->label > right->label;
}

/* Adds a node's self sums to each label on its path, once. last[label] is the last node that was
 * added to the label. */
static void add_path(struct call_tree *tree, struct group *groups, uint32_t *last, uint32_t node) {
  const struct sums *self = &tree->nodes[node].self;
  sums_merge(&groups[tree->nodes[node].label].self, self);
  for (uint32_t at = node; at; at = tree->nodes[at].parent) {
    uint32_t label = tree->nodes[at].label;
    if (last[label] == node) continue;
    last[label] = node;
    sums_merge(&groups[label].total, self);
    groups[label].stacks += hash_mix(node); /* a sum: the order does not matter */
    groups[label].example = node;
  }
}

static bool call_tree_make_groups(struct call_tree *tree) {
  bool by_stack = tree->grouping == BY_STACK;
  size_t count = by_stack ? tree->node_count : tree->label_count;
  struct group *groups = calloc(count + 1, sizeof *groups);
  uint32_t *last = calloc(count + 1, sizeof *last);
  if (!groups || !last) {
    free(groups);
    free(last);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) groups[i].label = i;
  for (uint32_t node = 1; node < tree->node_count; node++) {
    const struct sums *self = &tree->nodes[node].self;
    if (!self->bytes.samples && self->bytes.total <= 0) continue;
    if (by_stack)
      groups[node] = (struct group){node, *self, *self, hash_mix(node), node};
    else
      add_path(tree, groups, last, node);
  }
  free(last);
  const struct sums *bare = &tree->nodes[0].self;
  if (bare->bytes.samples) groups[0] = (struct group){0, *bare, *bare, hash_mix(0), 0};
  qsort(groups, count, sizeof *groups, call_tree_by_total);
  while (count && !groups[count - 1].total.bytes.samples) count--;
  tree->groups = groups;
  tree->group_count = count;
  return true;
}

static bool call_tree_prepare(struct summing *summing) {
  const struct call_paths *paths = summing->paths;
  struct call_tree *tree = summing->tree;
  tree->node_of_row = array_new(summing->samples->row_count, sizeof *tree->node_of_row);
  summing->owner_of = calloc((size_t)paths->stack_count + 1, sizeof *summing->owner_of);
  summing->node_of = calloc(paths->node_count, sizeof *summing->node_of);
  return tree->node_of_row && summing->owner_of && summing->node_of && add_node(summing, 0);
}

/* ---- shared ---- */

wn_status call_tree_sum(const struct samples *samples, const struct call_paths *paths, row_measure *measure,
                        void *context, struct call_tree *tree) {
  *tree = (struct call_tree){.grouping = paths->grouping};
  struct summing summing = {.tree = tree, .paths = paths, .samples = samples};
  bool done = call_tree_prepare(&summing) && call_tree_add_rows(&summing, measure, context) &&
              call_tree_make_nodes(&summing);
  if (done && summing.has_others) add_others(&summing, measure, context);
  if (done) call_tree_add_totals(tree);
  free(summing.owner_of);
  free(summing.node_of);
  free(summing.path_of);
  free(summing.sums);
  if (done) return WN_OK;
  call_tree_destroy(tree);
  return error_set(WN_ENOMEM, "not enough memory for the call tree");
}

wn_status call_tree_group(struct call_tree *tree) {
  return tree->groups || call_tree_make_groups(tree)
             ? WN_OK
             : error_set(WN_ENOMEM, "not enough memory for the call tree");
}

wn_status call_tree_build(const struct samples *samples, const struct names *names, enum grouping grouping,
                          const struct stack_view *view, row_measure *measure, void *context,
                          struct call_tree *tree) {
  struct call_paths paths;
  *tree = (struct call_tree){.grouping = grouping};
  wn_status error = call_paths_create(samples, names, grouping, view, &paths);
  if (!error) error = call_tree_sum(samples, &paths, measure, context, tree);
  call_paths_destroy(&paths);
  if (error) return error;
  error = call_tree_group(tree);
  if (error) call_tree_destroy(tree);
  return error;
}

void call_tree_destroy(struct call_tree *tree) {
  free(tree->labels);
  free(tree->nodes);
  free(tree->groups);
  free(tree->node_of_row);
  *tree = (struct call_tree){0};
}

/* Relies on parents standing before their children. */
void call_tree_mark(const struct call_tree *tree, const struct group *group, enum extent extent,
                    bool *inside) {
  if (!group->label) {
    memset(inside, 0, tree->node_count * sizeof *inside);
    inside[0] = true;
    return;
  }
  for (uint32_t node = 0; node < tree->node_count; node++)
    inside[node] = tree->grouping == BY_STACK
                       ? node == group->label
                       : node && (tree->nodes[node].label == group->label ||
                                  (extent == EXTENT_TOTAL && inside[tree->nodes[node].parent]));
}

size_t call_tree_chain(const struct call_tree *tree, size_t first, size_t *innermost) {
  const struct group *groups = tree->groups;
  size_t count = 0, with_rows = 0;
  *innermost = first;
  for (size_t i = first; i < tree->group_count && groups[i].stacks == groups[first].stacks; i++, count++)
    if (groups[i].self.bytes.samples) *innermost = i, with_rows++;
  if (with_rows > 1) return 1;
  for (uint32_t node = with_rows ? 0 : groups[first].example; node; node = tree->nodes[node].parent)
    for (size_t i = first; i < first + count; i++)
      if (groups[i].label == tree->nodes[node].label) return *innermost = i, count;
  return count;
}

void call_tree_label(const struct call_tree *tree, const struct names *names, uint32_t label, char *buffer,
                     size_t size) {
  label_text(tree->labels, label, tree->grouping, names, buffer, size);
}
/* SPDX-License-Identifier: MIT */
