/* The view `details`: what a table can tell about one function besides its sums. */
#include "base/error.h"
#include "page/labels.h"
#include "page/views.h"
#include <math.h>
#include <stdlib.h>

static void write_life(struct json *json, const char *name, const struct life *life) {
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

static void write_sums(struct json *json, const struct report *report, const struct group *group) {
  struct estimate self = report_bytes(report, &group->self), total = report_bytes(report, &group->total),
                  self_blocks = report_blocks(report, &group->self),
                  blocks = report_blocks(report, &group->total);
  json_estimate(json, "self_bytes", &self);
  json_estimate(json, "self_blocks", &self_blocks);
  json_estimate(json, "total_bytes", &total);
  json_estimate(json, "blocks", &blocks);
}

/* The group with a label's text; of several the largest. NULL: no block that is shown has it on its stack. */
static const struct group *group_named(const struct table *table, const bool *chosen) {
  for (size_t i = 0; i < table->tree.group_count; i++)
    if (chosen[table->tree.groups[i].label]) return &table->tree.groups[i];
  return NULL;
}

static void write_group(struct json *json, struct table *table, const struct group *group) {
  const struct group nothing = {.label = 0};
  struct life self = {.low = NO_BOUND, .high = NO_BOUND}, total = self;
  if (group) {
    self = table_life(table, group, EXTENT_SELF);
    total = table_life(table, group, EXTENT_TOTAL);
  }
  write_sums(json, table->report, group ? group : &nothing);
  write_life(json, "self_life_ns", &self);
  write_life(json, "total_life_ns", &total);
  if (group && table->details & TABLE_FATES) write_fates(json, table, group);
}

static wn_status write_details(struct json *json, struct table *table, const char *text) {
  struct labels labels;
  bool *chosen = NULL;
  wn_status error = labels_create(&labels, &table->tree, table->report->names);
  if (!error) error = views_choose(&labels, text, &chosen);
  if (!error) write_group(json, table, group_named(table, chosen));
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
