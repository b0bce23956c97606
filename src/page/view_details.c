/* The view `details`: what a table can tell about one function besides its sums: lives, and its
 * parts by caller, callee, line and thread. */
#include "analysis/report/parts.h"
#include "base/error.h"
#include "page/labels.h"
#include "page/views.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MOST = 3 };

static void view_details_write_life(struct json *json, const char *name, const struct life *life) {
  json_begin(json, name, '{');
  json_integer(json, "median", life->median);
  json_bool(json, "known", life->known);
  json_number(json, "low", life->low == NO_BOUND ? NAN : (double)life->low);
  json_number(json, "high", life->high == NO_BOUND ? NAN : (double)life->high);
  json_integer(json, "samples", life->samples);
  json_end(json, '}');
}

static void write_fates(struct json *json, struct table *table, const struct group *group) {
  struct generations fates = table_fates(table, group, EXTENT_TOTAL);
  struct estimate promoted = report_promoted_share(table->report, &fates),
                  dead = report_dead_share(table->report, &fates);
  json_estimate(json, "promoted_share", &promoted);
  json_estimate(json, "dead_next_share", &dead);
}

static void view_details_write_sums(struct json *json, const struct report *report,
                                    const struct group *group) {
  struct estimate self = report_bytes(report, &group->self), total = report_bytes(report, &group->total),
                  self_blocks = report_blocks(report, &group->self),
                  blocks = report_blocks(report, &group->total);
  json_estimate(json, "self_bytes", &self);
  json_estimate(json, "self_blocks", &self_blocks);
  json_estimate(json, "total_bytes", &total);
  json_estimate(json, "blocks", &blocks);
}

/* ---- parts ---- */

/* Writes the largest parts of what a group's total counts, each with its share. `tree` has their
 * labels. Nothing is written if there are none. */
static void view_details_write_parts(struct json *json, const char *name, const struct table *table,
                                     const struct call_tree *tree, const struct group *group,
                                     const struct parts *parts) {
  double unit = table->report->recording->byte_unit;
  if (!parts->count) return;
  json_begin(json, name, '{');
  json_integer(json, "more", parts->more);
  json_begin(json, "labels", '[');
  for (size_t i = 0; i < parts->count; i++)
    label_write(tree, table->report->names, NULL, parts->part[i].label, json);
  json_end(json, ']');
  json_begin(json, "bytes", '[');
  for (size_t i = 0; i < parts->count; i++) {
    struct estimate bytes = estimate_of(&parts->part[i].bytes, unit);
    json_estimate(json, NULL, &bytes);
  }
  json_end(json, ']');
  json_begin(json, "shares", '[');
  for (size_t i = 0; i < parts->count; i++) {
    struct estimate share = share_of(&parts->part[i].bytes, &group->total.bytes, unit);
    json_estimate(json, NULL, &share);
  }
  json_end(json, ']');
  json_end(json, '}');
}

static wn_status write_neighbours(struct json *json, const struct table *table, const struct group *group) {
  struct parts callers, callees;
  wn_status error = parts_callers(&table->tree, group->label, &callers);
  if (!error) error = parts_callees(&table->tree, group->label, &callees);
  if (error) return error;
  view_details_write_parts(json, "callers", table, &table->tree, group, &callers);
  view_details_write_parts(json, "callees", table, &table->tree, group, &callees);
  return WN_OK;
}

/* Whether a code address, "parse (libfoo+0x1234)", is one of a function. */
static bool is_address_of(const struct strings *strings, const struct label *address,
                          const struct label *function) {
  const char *name = strings_text(strings, function->function),
             *text = strings_text(strings, address->function);
  size_t length = strlen(name);
  return function->function && address->module == function->module && !strncmp(text, name, length) &&
         !strncmp(text + length, " (", 2) && strstr(text + length, "+0x");
}

/* The lines of a function or file that are on its stacks; of a function without lines, its code
 * addresses. */
static wn_status view_details_write_lines(struct json *json, const struct table *table,
                                          const struct group *group) {
  const struct label *asked = &table->tree.labels[group->label];
  const struct strings *strings = table->report->names->strings;
  struct parts parts = {.count = 0};
  struct table lines;
  if (!asked->function && !asked->file) return WN_OK;
  wn_status error = report_table(table->report, table->measure, BY_LINE, TABLE_SUMS, &lines);
  if (error) return error;
  for (size_t i = 0; i < lines.tree.group_count; i++) {
    const struct group *line = &lines.tree.groups[i];
    const struct label *label = &lines.tree.labels[line->label];
    if (label_has_line(asked, label) || (!label->line && is_address_of(strings, label, asked)))
      parts_add(&parts, PARTS_MOST, &(struct part){line->label, line->total.bytes});
  }
  view_details_write_parts(json, "lines", table, &lines.tree, group, &parts);
  table_destroy(&lines);
  return WN_OK;
}

/* Rows that a group's total counts. */
struct below {
  const struct table *table;
  bool *inside; /* index: node */
};

static bool is_below(const struct row *row, struct share *share, void *context) {
  const struct below *below = context;
  const struct table *table = below->table;
  uint32_t node = table->tree.node_of_row[row - table->report->samples->rows];
  return node != NO_NODE && below->inside[node] && report_counts(table->report, table->measure, row, share);
}

static wn_status view_details_write_threads(struct json *json, const struct table *table,
                                            const struct group *group) {
  struct below below = {.table = table, .inside = malloc(table->tree.node_count * sizeof *below.inside)};
  struct parts parts = {.count = 0};
  struct call_tree threads;
  if (!below.inside) return error_set(WN_ENOMEM, "not enough memory for the details");
  call_tree_mark(&table->tree, group, EXTENT_TOTAL, below.inside);
  wn_status error = report_tree(table->report, table->report->samples, BY_THREAD, is_below, &below, &threads);
  free(below.inside);
  if (error) return error;
  for (size_t i = 0; i < threads.group_count; i++)
    parts_add(&parts, THREADS_MOST, &(struct part){threads.groups[i].label, threads.groups[i].total.bytes});
  if (threads.group_count > 1) view_details_write_parts(json, "threads", table, &threads, group, &parts);
  call_tree_destroy(&threads);
  return WN_OK;
}

/* Of code: what calls it, what it calls, where it is, and on which threads it runs. A line has one
 * place, and no query that selects it on a thread. */
static wn_status write_all_parts(struct json *json, const struct table *table, const struct group *group) {
  enum grouping grouping = table->tree.grouping;
  if (!group || !grouping_is_code(grouping)) return WN_OK;
  wn_status error = write_neighbours(json, table, group);
  if (error || grouping == BY_LINE) return error;
  error = view_details_write_lines(json, table, group);
  return error ? error : view_details_write_threads(json, table, group);
}

/* ---- the row ---- */

/* The group with a label's text; of several the largest. NULL: no block that is shown has it on its
 * stack. */
static const struct group *group_named(const struct table *table, const bool *chosen) {
  for (size_t i = 0; i < table->tree.group_count; i++)
    if (chosen[table->tree.groups[i].label]) return &table->tree.groups[i];
  return NULL;
}

static void view_details_write_group(struct json *json, struct table *table, const struct group *group) {
  const struct group nothing = {.label = 0};
  struct life self = {.low = NO_BOUND, .high = NO_BOUND}, total = self;
  if (group) {
    self = table_life(table, group, EXTENT_SELF);
    total = table_life(table, group, EXTENT_TOTAL);
  }
  view_details_write_sums(json, table->report, group ? group : &nothing);
  view_details_write_life(json, "self_life_ns", &self);
  view_details_write_life(json, "total_life_ns", &total);
  if (group && table->details & TABLE_FATES) write_fates(json, table, group);
}

static wn_status write_details(struct json *json, struct table *table, const char *text) {
  struct labels labels;
  bool *chosen = NULL;
  wn_status error = labels_create(&labels, &table->tree, table->report->names);
  if (!error) error = views_choose(&labels, text, &chosen);
  const struct group *group = error ? NULL : group_named(table, chosen);
  if (!error) view_details_write_group(json, table, group);
  if (!error) error = write_all_parts(json, table, group);
  labels_destroy(&labels);
  free(chosen);
  return error;
}

/* ---- shared ---- */

wn_status view_details(struct answers *answers, const struct request *request, struct answer *answer) {
  struct table *table;
  unsigned details = TABLE_LIVES | (answers->report.samples->collected ? TABLE_FATES : TABLE_SUMS);
  if (!request->of) return error_set(WN_EINVAL, "a request for details names a function by 'of'");
  wn_status error = views_table(answers, request->measure, request->grouping, details, &table);
  return error ? error : write_details(&answer->json, table, request->of);
}
/* SPDX-License-Identifier: MIT */
