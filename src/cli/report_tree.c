/* Prints the call tree of what was held, callers first. Nodes below 1 % of the total are left out.
 * A node with a single child does not indent it. */
#include "cli/report_columns.h"
#include "cli/report_text.h"
#include "cli/text.h"
#include <stdio.h>
#include <stdlib.h>

static int by_node_total(const void *a, const void *b, void *context) {
  const struct call_tree *tree = context;
  double left = tree->nodes[*(const uint32_t *)a].total.bytes.total,
         right = tree->nodes[*(const uint32_t *)b].total.bytes.total;
  return (left < right) - (left > right);
}

/* Not inlined, so that its buffer is not on the C stack once for each level of the tree. */
__attribute__((noinline)) static void print_child(const struct call_tree *tree, const struct columns *columns,
                                                  const struct tree_node *child, int indent) {
  char name[REPORT_NAME_MOST];
  call_tree_label(tree, columns->report->names, child->label, name, sizeof name);
  columns_print_line(columns, &(struct line){.sums = &child->total, .whole = &tree->nodes[0].total});
  printf("  %*s", indent, "");
  report_print_name(name, columns->name - indent);
}

static void print_children(const struct call_tree *tree, const struct columns *columns, uint32_t node,
                           int depth) {
  size_t count = 0;
  int most = columns->name > 15 ? (columns->name - 12) / 2 : 0, indent = depth < most ? depth : most;
  for (uint32_t child = tree->nodes[node].first_child; child; child = tree->nodes[child].next_sibling)
    count++;
  uint32_t *children = malloc((count + 1) * sizeof *children);
  if (!children) return;
  count = 0;
  double least = tree->nodes[0].total.bytes.total / 100;
  for (uint32_t child = tree->nodes[node].first_child; child; child = tree->nodes[child].next_sibling)
    if (tree->nodes[child].total.bytes.total >= least && tree->nodes[child].total.bytes.samples)
      children[count++] = child;
  qsort_r(children, count, sizeof *children, by_node_total, (void *)tree);
  for (size_t i = 0; i < count; i++) {
    const struct tree_node *child = &tree->nodes[children[i]];
    print_child(tree, columns, child, indent);
    print_children(tree, columns, children[i], depth + (count > 1));
  }
  free(children);
}

/* Prints the blocks without a callstack, beside the outermost callers. */
static void print_bare(const struct call_tree *tree, const struct columns *columns) {
  const struct tree_node *root = &tree->nodes[0];
  if (!root->self.bytes.samples || root->self.bytes.total < root->total.bytes.total / 100) return;
  columns_print_line(columns, &(struct line){.sums = &root->self, .whole = &root->total});
  puts("  (no callstack)");
}

/* ---- shared ---- */

wn_status report_print_tree(const struct view *view) {
  struct table table;
  struct columns columns = columns_of_tree(view);
  enum grouping grouping = view->options->grouping == BY_STACK ? BY_FUNCTION : view->options->grouping;
  wn_status error = report_table(view->report, MEASURE_HELD, grouping, TABLE_SUMS, &table);
  if (error) return error;
  putchar('\n');
  report_print_title(
      grouping == BY_PROCESS
          ? "Processes by what they held, with those that they started; paths below 1 % are left out"
      : grouping == BY_THREAD ? "Threads by what they held; those below 1 % are left out"
                              : "Call tree of what was held, callers first; paths below 1 % are left out");
  columns_print_header(&columns, false,
                       grouping == BY_PROCESS  ? "process"
                       : grouping == BY_THREAD ? "thread"
                                               : "function");
  print_children(&table.tree, &columns, 0, 0);
  print_bare(&table.tree, &columns);
  table_destroy(&table);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
