/* Joins two call trees: walks the nodes of `before`, callers first, and finds or adds each below the
 * node that its caller became. */
#include "analysis/compare/merged_tree.h"

#include "analysis/compare/matching.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

struct joining {
  const struct call_tree *before, *after;
  struct merged_tree *joined;
  uint32_t *label_of; /* index: label of `before`; its label in the joined tree */
  uint32_t *node_of;  /* index: node of `before`; its node in the joined tree */
  uint32_t *child_of; /* scratch; index: label of the joined tree; a child with it, or 0 */
};

/* The most labels and nodes that the joined tree can have. */
static size_t labels_most(const struct joining *joining) {
  return joining->before->label_count + joining->after->label_count;
}
static size_t nodes_most(const struct joining *joining) {
  return joining->before->node_count + joining->after->node_count;
}

static bool merged_tree_allocate(struct joining *joining) {
  struct merged_tree *joined = joining->joined;
  size_t labels = labels_most(joining), nodes = nodes_most(joining);
  joined->tree.labels = calloc(labels, sizeof *joined->tree.labels);
  joined->tree.nodes = calloc(nodes, sizeof *joined->tree.nodes);
  joined->before = calloc(nodes, sizeof *joined->before);
  joined->before_label = malloc(labels * sizeof *joined->before_label);
  joining->label_of = calloc(labels, sizeof *joining->label_of);
  joining->node_of = calloc(nodes, sizeof *joining->node_of);
  joining->child_of = calloc(labels, sizeof *joining->child_of);
  return joined->tree.labels && joined->tree.nodes && joined->before && joined->before_label &&
         joining->label_of && joining->node_of && joining->child_of;
}

/* Labels of `after` keep their numbers; those that only `before` has follow, and their strings are
 * numbers of the names of `before`. Both roots have label 0. */
static void join_labels(struct joining *joining, const struct matching *matching) {
  struct merged_tree *joined = joining->joined;
  const struct call_tree *before = joining->before, *after = joining->after;
  struct call_tree *tree = &joined->tree;
  memcpy(tree->labels, after->labels, after->label_count * sizeof *after->labels);
  memcpy(joined->before_label, matching->before_of, after->label_count * sizeof *matching->before_of);
  joined->before_label[0] = 0;
  tree->label_count = joined->after_label_count = (uint32_t)after->label_count;
  for (uint32_t i = 1; i < before->label_count; i++) {
    joining->label_of[i] = matching->after_of[i];
    if (matching->after_of[i] != UNMATCHED) continue;
    joining->label_of[i] = (uint32_t)tree->label_count;
    joined->before_label[tree->label_count] = i;
    tree->labels[tree->label_count++] = before->labels[i];
  }
}

static uint32_t add_child(struct call_tree *tree, uint32_t parent, uint32_t label) {
  uint32_t node = (uint32_t)tree->node_count++;
  tree->nodes[node] =
      (struct tree_node){.parent = parent, .label = label, .next_sibling = tree->nodes[parent].first_child};
  return tree->nodes[parent].first_child = node;
}

/* Joins the children of a node of `before`, which is joined already. */
static void join_children(struct joining *joining, uint32_t from) {
  struct call_tree *tree = &joining->joined->tree;
  const struct tree_node *nodes = joining->before->nodes;
  uint32_t parent = joining->node_of[from];
  for (uint32_t child = tree->nodes[parent].first_child; child; child = tree->nodes[child].next_sibling)
    joining->child_of[tree->nodes[child].label] = child;
  for (uint32_t child = nodes[from].first_child; child; child = nodes[child].next_sibling) {
    uint32_t label = joining->label_of[nodes[child].label], *found = &joining->child_of[label];
    if (!*found) *found = add_child(tree, parent, label);
    joining->node_of[child] = *found;
    joining->joined->before[*found] = (struct node_sums){nodes[child].self, nodes[child].total};
  }
  for (uint32_t child = tree->nodes[parent].first_child; child; child = tree->nodes[child].next_sibling)
    joining->child_of[tree->nodes[child].label] = 0;
}

static void join_nodes(struct joining *joining) {
  struct call_tree *tree = &joining->joined->tree;
  const struct tree_node *root = &joining->before->nodes[0];
  memcpy(tree->nodes, joining->after->nodes, joining->after->node_count * sizeof *tree->nodes);
  tree->node_count = joining->after->node_count;
  joining->joined->before[0] = (struct node_sums){root->self, root->total};
  for (uint32_t i = 0; i < joining->before->node_count; i++)
    if (joining->before->nodes[i].first_child) join_children(joining, i);
}

/* ---- shared ---- */

wn_status merged_tree_make(const struct table *before, const struct table *after,
                           struct merged_tree *joined) {
  struct joining joining = {.before = &before->tree, .after = &after->tree, .joined = joined};
  struct matching matching;
  *joined = (struct merged_tree){.tree.grouping = after->tree.grouping};
  wn_status error = matching_make(before, after, &matching);
  if (error) return error;
  bool ready = merged_tree_allocate(&joining);
  if (ready) {
    join_labels(&joining, &matching);
    join_nodes(&joining);
  }
  free(joining.label_of);
  free(joining.node_of);
  free(joining.child_of);
  matching_destroy(&matching);
  if (ready) return WN_OK;
  merged_tree_destroy(joined);
  return error_set(WN_ENOMEM, "not enough memory for the comparison");
}

void merged_tree_destroy(struct merged_tree *joined) {
  call_tree_destroy(&joined->tree);
  free(joined->before);
  free(joined->before_label);
  *joined = (struct merged_tree){0};
}
/* SPDX-License-Identifier: MIT */
