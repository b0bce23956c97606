/* Opens the branches of a flame graph, one at a time. */
#include "page/flame.h"

#include "base/array.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

static const struct tree_node *flame_node_of(const struct flame *flame, uint32_t node) {
  return &flame->tree->nodes[node];
}

static bool add_place(struct flame *flame, uint32_t at, uint32_t origin) {
  if (!array_reserve(&flame->places, &flame->place_capacity, flame->place_count + 1, sizeof *flame->places))
    return false;
  flame->places[flame->place_count++] = (struct place){at, origin};
  return true;
}

static void merge_both(struct branch_sums *sums, const struct branch_sums *other) {
  sums_merge(&sums->after, &other->after);
  sums_merge(&sums->before, &other->before);
}

static void flame_add_total(const struct flame *flame, uint32_t node, struct branch_sums *sums) {
  sums_merge(&sums->after, &flame_node_of(flame, node)->total);
  if (flame->before) sums_merge(&sums->before, &flame->before[node].total);
}

static void add_self(const struct flame *flame, uint32_t node, struct branch_sums *sums) {
  sums_merge(&sums->after, &flame_node_of(flame, node)->self);
  if (flame->before) sums_merge(&sums->before, &flame->before[node].self);
}

/* Adds what a place has: from outside in all that its node has; from inside out what its origin
 * allocated itself, or, of one function, all that its origin has. */
static void add_place_sums(const struct flame *flame, const struct place *place, struct branch_sums *sums) {
  if (flame->direction == CALLEES || flame->chosen)
    flame_add_total(flame, place->origin, sums);
  else
    add_self(flame, place->origin, sums);
}

static bool flame_has_samples(const struct sums *sums) {
  return sums->bytes.samples || sums->bytes.total > 0;
}

static bool has_total(const struct flame *flame, uint32_t node) {
  return flame_has_samples(&flame_node_of(flame, node)->total) ||
         (flame->before && flame_has_samples(&flame->before[node].total));
}

static bool has_self(const struct flame *flame, uint32_t node) {
  return flame_has_samples(&flame_node_of(flame, node)->self) ||
         (flame->before && flame_has_samples(&flame->before[node].self));
}

static bool flame_is_chosen(const struct flame *flame, uint32_t node) {
  return node && flame->chosen[flame_node_of(flame, node)->label];
}

/* Whether a node is of the chosen function, and none of its callers is. Each block counts once. */
static bool is_outermost(const struct flame *flame, uint32_t node) {
  if (!flame_is_chosen(flame, node)) return false;
  for (uint32_t at = flame_node_of(flame, node)->parent; at; at = flame_node_of(flame, at)->parent)
    if (flame_is_chosen(flame, at)) return false;
  return true;
}

/* Appends the places one step away from a place. What the step leads nowhere is the branch's own. */
static bool flame_step(struct flame *flame, struct place place, struct branch_sums *self) {
  const struct tree_node *node = flame_node_of(flame, place.at);
  if (flame->direction == CALLERS) {
    if (node->parent) return add_place(flame, node->parent, place.origin);
    add_place_sums(flame, &place, self);
    return true;
  }
  add_self(flame, place.at, self);
  for (uint32_t child = node->first_child; child; child = flame_node_of(flame, child)->next_sibling)
    if (has_total(flame, child) && !add_place(flame, child, child)) return false;
  return true;
}

/* The first step from the whole: to the outermost functions, to those that allocated, or to the
 * chosen function. Blocks without a callstack have no such step. */
static bool first_step(struct flame *flame, struct branch_sums *self) {
  if (flame->chosen) {
    for (uint32_t node = 1; node < flame->tree->node_count; node++)
      if (is_outermost(flame, node) && !add_place(flame, node, node)) return false;
    return true;
  }
  if (flame->direction == CALLEES) return flame_step(flame, (struct place){0, 0}, self);
  add_self(flame, 0, self);
  for (uint32_t node = 1; node < flame->tree->node_count; node++)
    if (has_self(flame, node) && !add_place(flame, node, node)) return false;
  return true;
}

static bool add_branch(struct flame *flame, const struct branch *branch) {
  if (!array_reserve(&flame->branches, &flame->branch_capacity, flame->branch_count + 1,
                     sizeof *flame->branches))
    return false;
  flame->branches[flame->branch_count++] = *branch;
  return true;
}

/* Makes one branch for each label of the places from `begin` on, in the order of first use, and sums
 * them. branch->end counts the places of the branch until they are sorted. */
static bool make_branches(struct flame *flame, size_t begin, size_t first) {
  bool done = true;
  for (size_t i = begin; i < flame->place_count && done; i++) {
    uint32_t label = flame_node_of(flame, flame->places[i].at)->label;
    if (!flame->slot[label]) {
      done = add_branch(flame, &(struct branch){.label = label});
      if (done) flame->slot[label] = (uint32_t)(flame->branch_count - first);
    }
    if (!done) break;
    struct branch *branch = &flame->branches[first + flame->slot[label] - 1];
    add_place_sums(flame, &flame->places[i], &branch->total);
    branch->end++;
  }
  return done;
}

/* Takes the places from `begin` on that have the label of the run's second branch into that branch:
 * what is one step away from them replaces them. */
static bool absorb_run(struct flame *flame, struct branch *second, size_t begin) {
  size_t kept = begin;
  for (size_t i = begin; i < flame->place_count; i++) {
    if (flame_node_of(flame, flame->places[i].at)->label != second->label)
      flame->places[kept++] = flame->places[i];
    else if (!flame_step(flame, flame->places[i], &second->self))
      return false;
  }
  flame->place_count = kept;
  return true;
}

/* Sorts the places from `begin` on by branch. */
static bool sort_places(struct flame *flame, size_t begin, size_t first) {
  size_t count = flame->place_count - begin, at = begin;
  if (!count) return true;
  struct place *copy = malloc(count * sizeof *copy);
  if (!copy) return false;
  memcpy(copy, flame->places + begin, count * sizeof *copy);
  for (size_t i = first; i < flame->branch_count; i++) {
    struct branch *branch = &flame->branches[i];
    branch->begin = at;
    at += branch->end;
    branch->end = branch->begin;
  }
  for (size_t i = 0; i < count; i++) {
    struct branch *branch =
        &flame->branches[first + flame->slot[flame_node_of(flame, copy[i].at)->label] - 1];
    flame->places[branch->end++] = copy[i];
  }
  free(copy);
  return true;
}

static int flame_by_total(const void *a, const void *b) {
  const struct branch *left = a, *right = b;
  if (left->size != right->size) return left->size < right->size ? 1 : -1;
  return (left->label > right->label) - (left->label < right->label);
}

/* Merges the branches from `first` on that are below `least`, if there are at least two. They are
 * sorted, so they are the last ones. */
static void merge_small(struct flame *flame, size_t first) {
  size_t kept = flame->branch_count;
  struct branch rest = {.label = MERGED};
  while (kept > first && flame->branches[kept - 1].size < flame->least) kept--;
  if (flame->branch_count - kept < 2) return;
  for (size_t i = kept; i < flame->branch_count; i++) {
    merge_both(&rest.total, &flame->branches[i].total);
    rest.merged++;
  }
  rest.self = rest.total;
  rest.size = flame_size(flame, &rest.total);
  flame->branches[kept] = rest;
  flame->branch_count = kept + 1;
}

/* ---- shared ---- */

wn_status flame_create(struct flame *flame, const struct call_tree *tree, enum direction direction,
                       const bool *chosen) {
  *flame = (struct flame){.tree = tree,
                          .direction = direction,
                          .chosen = chosen,
                          .slot = calloc(tree->label_count + 1, sizeof *flame->slot)};
  return flame->slot ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the flame graph");
}

void flame_compare(struct flame *flame, const struct merged_tree *joined, double scale) {
  flame->before = joined->before;
  flame->scale = scale;
}

double flame_size(const struct flame *flame, const struct branch_sums *sums) {
  return sums->after.bytes.total + flame->scale * sums->before.bytes.total;
}

void flame_destroy(struct flame *flame) {
  free(flame->places);
  free(flame->branches);
  free(flame->slot);
  *flame = (struct flame){.tree = NULL};
}

wn_status flame_root(struct flame *flame, struct branch *root) {
  *root = (struct branch){.label = 0};
  if (!flame->chosen) {
    flame_add_total(flame, 0, &root->total);
    root->size = flame_size(flame, &root->total);
    return WN_OK;
  }
  struct branch_sums none = {0};
  struct flame_mark mark = flame_open(flame);
  bool done = first_step(flame, &none);
  for (size_t i = mark.places; i < flame->place_count; i++)
    add_place_sums(flame, &flame->places[i], &root->total);
  root->size = flame_size(flame, &root->total);
  flame_close(flame, mark);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the flame graph");
}

struct flame_mark flame_open(const struct flame *flame) {
  return (struct flame_mark){flame->place_count, flame->branch_count};
}

wn_status flame_children(struct flame *flame, struct branch *branch) {
  size_t begin = flame->place_count, first = flame->branch_count;
  bool done = true;
  branch->self = (struct branch_sums){0};
  if (!branch->label) done = first_step(flame, &branch->self);
  for (size_t i = branch->begin; i < branch->end && done; i++)
    done = flame_step(flame, flame->places[i], &branch->self);
  if (branch->again && !flame->whole) done = done && absorb_run(flame, branch, begin);
  done = done && make_branches(flame, begin, first) && sort_places(flame, begin, first);
  for (size_t i = first; i < flame->branch_count; i++) {
    flame->slot[flame->branches[i].label] = 0;
    flame->branches[i].size = flame_size(flame, &flame->branches[i].total);
    flame->branches[i].again = flame->branches[i].label == branch->label;
  }
  if (!done) return error_set(WN_ENOMEM, "not enough memory for the flame graph");
  if (flame->branch_count == first) return WN_OK;
  qsort(flame->branches + first, flame->branch_count - first, sizeof *flame->branches, flame_by_total);
  merge_small(flame, first);
  return WN_OK;
}

void flame_close(struct flame *flame, struct flame_mark mark) {
  flame->place_count = mark.places;
  flame->branch_count = mark.branches;
}
/* SPDX-License-Identifier: MIT */
