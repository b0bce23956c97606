/* Prints the call tree of what was held, callers first. Nodes below 1 % of the total are left out, and so is
 * what calls main or the first function of a thread, unless it allocates itself. A node with a single child
 * does not indent it. */
#include "base/array.h"
#include "base/error.h"
#include "cli/report/report_callers.h"
#include "cli/report/report_columns.h"
#include "cli/report/report_name.h"
#include "cli/report/report_text.h"
#include "cli/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printing {
  const struct call_tree *tree;
  const struct columns *columns;
};

/* The nodes that are printed below one. */
struct nodes {
  uint32_t *node;
  size_t count, capacity;
};

static int by_node_total(const void *a, const void *b, void *context) {
  const struct call_tree *tree = context;
  double left = tree->nodes[*(const uint32_t *)a].total.bytes.total,
         right = tree->nodes[*(const uint32_t *)b].total.bytes.total;
  return (left < right) - (left > right);
}

static double report_tree_least_of(const struct call_tree *tree) {
  return tree->nodes[0].total.bytes.total / 100;
}

static const char *report_tree_function_of(const struct printing *printing, uint32_t node) {
  const struct call_tree *tree = printing->tree;
  return strings_text(printing->columns->report->names->strings,
                      tree->labels[tree->nodes[node].label].function);
}

static bool has_beginning_below(const struct printing *printing, uint32_t node) {
  const struct tree_node *nodes = printing->tree->nodes;
  for (uint32_t child = nodes[node].first_child; child; child = nodes[child].next_sibling)
    if (report_is_beginning(report_tree_function_of(printing, child))) return true;
  return false;
}

/* Of a node that only such nodes call. Rust's runtime is called by a main. */
static bool is_outside(const struct printing *printing, uint32_t node) {
  const char *function = report_tree_function_of(printing, node);
  return report_is_beginning(function) &&
         printing->tree->nodes[node].self.bytes.total < report_tree_least_of(printing->tree) &&
         (strncmp(function, "main", 4) != 0 || has_beginning_below(printing, node));
}

/* Adds the children of a node, and in place of those that are left out theirs. False: no memory. */
static bool report_tree_collect(const struct printing *printing, uint32_t node, bool outermost,
                                struct nodes *found) {
  const struct tree_node *nodes = printing->tree->nodes;
  bool done = true;
  for (uint32_t child = nodes[node].first_child; child && done; child = nodes[child].next_sibling) {
    if (nodes[child].total.bytes.total < report_tree_least_of(printing->tree) ||
        !nodes[child].total.bytes.samples)
      continue;
    done = outermost && is_outside(printing, child)
               ? report_tree_collect(printing, child, true, found)
               : ARRAY_ADD(found->node, found->count, found->capacity, child);
  }
  return done;
}

/* Sets the texts of nodes with one parent. Not inlined, so that its buffer is not on the C stack once for
 * each level of the tree. */
__attribute__((noinline)) static wn_status
fit_names(const struct printing *printing, const struct nodes *nodes, int room, struct fitted_rows *fitted) {
  const struct call_tree *tree = printing->tree;
  char name[REPORT_NAME_MOST];
  wn_status error = WN_OK;
  for (size_t i = 0; i < nodes->count && !error; i++) {
    call_tree_label(tree, printing->columns->report->names, tree->nodes[nodes->node[i]].label, name,
                    sizeof name);
    error = name_rows_add(fitted, name, "", "");
  }
  return error ? error : name_rows_fit(fitted, room < 12 ? 12 : (size_t)room, true);
}

static wn_status print_children(const struct printing *printing, uint32_t node, int depth) {
  const struct call_tree *tree = printing->tree;
  const struct columns *columns = printing->columns;
  int most = columns->name > 15 ? (columns->name - 12) / 2 : 0, indent = depth < most ? depth : most;
  struct nodes found = {.count = 0};
  struct fitted_rows fitted = {.row = NULL};
  wn_status error = report_tree_collect(printing, node, !node, &found)
                        ? WN_OK
                        : error_set(WN_ENOMEM, "not enough memory for the tree");
  if (found.count) qsort_r(found.node, found.count, sizeof *found.node, by_node_total, (void *)tree);
  if (!error) error = fit_names(printing, &found, columns->name - indent, &fitted);
  for (size_t i = 0; i < found.count && !error; i++) {
    columns_print_line(
        columns, &(struct line){.sums = &tree->nodes[found.node[i]].total, .whole = &tree->nodes[0].total});
    printf("  %*s", indent, "");
    text_name(stdout, fitted.row[i].text);
    putchar('\n');
    error = print_children(printing, found.node[i], depth + (found.count > 1));
  }
  name_rows_free(&fitted);
  free(found.node);
  return error;
}

/* Prints the blocks without a callstack, beside the outermost callers. */
static void print_bare(const struct call_tree *tree, const struct columns *columns) {
  const struct tree_node *root = &tree->nodes[0];
  if (!root->self.bytes.samples || root->self.bytes.total < root->total.bytes.total / 100) return;
  columns_print_line(columns, &(struct line){.sums = &root->self, .whole = &root->total});
  printf("  %s\n", label_of_nothing(tree->grouping));
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
      : grouping == BY_HOST    ? "Hosts by what they held; those below 1 % are left out"
      : grouping == BY_RELEASE ? "Releases by what they held; those below 1 % are left out"
      : grouping == BY_THREAD  ? "Threads by what they held; those below 1 % are left out"
      : grouping == BY_TYPE    ? "Types by what their blocks held; those below 1 % are left out"
                               : "Call tree of what was held, callers first; paths below 1 % are left out");
  columns_print_header(&columns, false, grouping_is_code(grouping) ? "function" : grouping_name(grouping));
  error = print_children(&(struct printing){&table.tree, &columns}, 0, 0);
  if (!error) print_bare(&table.tree, &columns);
  table_destroy(&table);
  return error;
}
/* SPDX-License-Identifier: MIT */
