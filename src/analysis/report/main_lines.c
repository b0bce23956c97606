/* The two trees are of the same rows, so a row's nodes in them are the same code: that says which lines a
 * function has, and which stacks of lines are one stack of functions. */
#include "analysis/report/main_lines.h"

#include "base/error.h"
#include <stdlib.h>

struct main_line {
  uint32_t at;    /* by function: the place of a group of the lines, from 1 on; by stack: a node; 0: none */
  uint32_t count; /* of its lines */
};

/* Sets function_of[label of a line], to a label of the functions. */
static void main_lines_find_functions(const struct call_tree *rows, const struct call_tree *lines,
                                      size_t row_count, uint32_t *function_of) {
  for (size_t i = 0; i < row_count; i++) {
    uint32_t node = rows->node_of_row[i], line = lines->node_of_row[i];
    if (node != NO_NODE && line != NO_NODE) function_of[lines->nodes[line].label] = rows->nodes[node].label;
  }
}

static wn_status find_lines(const struct call_tree *rows, size_t row_count, struct main_lines *lines) {
  const struct call_tree *tree = &lines->tree;
  uint32_t *function_of = calloc(tree->label_count + 1, sizeof *function_of);
  if (!function_of) return error_set(WN_ENOMEM, "not enough memory for the tables");
  main_lines_find_functions(rows, tree, row_count, function_of);
  for (uint32_t i = 0; i < tree->group_count; i++) {
    const struct group *group = &tree->groups[i];
    struct main_line *line = &lines->of[function_of[group->label]];
    if (!tree->labels[group->label].line || !group->self.bytes.samples) continue;
    line->count++;
    if (!line->at || group->self.bytes.total > tree->groups[line->at - 1].self.bytes.total) line->at = i + 1;
  }
  free(function_of);
  return WN_OK;
}

static void find_stacks(const struct call_tree *rows, size_t row_count, struct main_lines *lines) {
  const struct tree_node *nodes = lines->tree.nodes;
  for (size_t i = 0; i < row_count; i++) {
    uint32_t stack = rows->node_of_row[i], node = lines->tree.node_of_row[i];
    if (stack == NO_NODE || node == NO_NODE) continue;
    uint32_t *best = &lines->of[stack].at;
    if (!*best || nodes[node].self.bytes.total > nodes[*best].self.bytes.total) *best = node;
  }
}

/* ---- shared ---- */

wn_status main_lines_find(const struct call_tree *rows, size_t row_count, struct main_lines *lines) {
  size_t keys = rows->grouping == BY_STACK ? rows->node_count : rows->label_count;
  wn_status error = WN_OK;
  lines->of = calloc(keys + 1, sizeof *lines->of);
  if (!lines->of) error = error_set(WN_ENOMEM, "not enough memory for the tables");
  if (!error && rows->grouping == BY_STACK) find_stacks(rows, row_count, lines);
  if (!error && rows->grouping == BY_FUNCTION) error = find_lines(rows, row_count, lines);
  if (error) main_lines_destroy(lines);
  return error;
}

void main_lines_destroy(struct main_lines *lines) {
  free(lines->of);
  call_tree_destroy(&lines->tree);
  *lines = (struct main_lines){.of = NULL};
}

const struct group *main_line(const struct main_lines *lines, const struct group *group, size_t *count) {
  const struct main_line *line = &lines->of[group->label];
  *count = line->count;
  return line->at ? &lines->tree.groups[line->at - 1] : NULL;
}

uint32_t main_stack(const struct main_lines *lines, const struct group *group) {
  return lines->of[group->label].at;
}
/* SPDX-License-Identifier: MIT */
