/* Sums a report by function, and chooses those that are named. */
#include "cli/scrape/meters.h"

#include "analysis/load/strings.h"
#include "base/error.h"
#include "base/utf8.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rest_name[] = "rest";

/* A function of the report. */
struct function {
  struct sum held, allocated;
  double score;    /* NAMED */
  uint32_t number; /* in names */
};

struct updating {
  const struct report *report;
  uint64_t since_ns;
  struct strings *names;
  struct function *functions; /* index: number of the name */
  size_t capacity;
  struct sum held, allocated;
};

static bool held(const struct row *row, struct share *share, void *context) {
  const struct updating *updating = context;
  return report_counts(updating->report, MEASURE_HELD, row, share);
}

static bool allocated_since(const struct row *row, struct share *share, void *context) {
  const struct updating *updating = context;
  return row->begin_ns >= updating->since_ns &&
         report_counts(updating->report, MEASURE_ALLOCATED, row, share);
}

/* The function of a label. NULL without memory. */
static struct function *function_of(struct updating *updating, const struct call_tree *tree, uint32_t label) {
  char name[METER_NAME_MOST];
  call_tree_label(tree, updating->report->names, label, name, sizeof name);
  utf8_make_plain(name);
  uint32_t before = updating->names->count, number = strings_intern(updating->names, name);
  if (!number || number >= updating->capacity) return NULL;
  if (number == before) updating->functions[number] = (struct function){.number = number};
  return &updating->functions[number];
}

/* Sums rows by function, into the member at `offset` of each. */
static wn_status sum(struct updating *updating, row_measure *measure, size_t offset, struct sum *all) {
  struct call_tree tree;
  const struct report *report = updating->report;
  wn_status error = report_tree(report, report->samples, BY_FUNCTION, measure, updating, &tree);
  if (error) return error;
  *all = tree.nodes[0].total.bytes;
  size_t wanted = updating->capacity + tree.group_count + 1;
  struct function *larger = realloc(updating->functions, wanted * sizeof *larger);
  if (larger) updating->functions = larger, updating->capacity = wanted;
  for (size_t i = 0; i < tree.group_count && larger; i++) {
    struct function *function = function_of(updating, &tree, tree.groups[i].label);
    if (function) sum_merge((struct sum *)((char *)function + offset), &tree.groups[i].self.bytes);
  }
  call_tree_destroy(&tree);
  return larger ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the metrics");
}

static double share(const struct sum *part, const struct sum *whole) {
  return whole->total > 0 ? part->total / whole->total : 0;
}

static int largest_first(const void *a, const void *b) {
  const struct function *left = a, *right = b;
  if (left->score != right->score) return left->score < right->score ? 1 : -1;
  return (left->number > right->number) - (left->number < right->number);
}

/* The meter of a name; the rest if there is none. */
static struct meter *find(struct meters *meters, const char *name) {
  for (size_t i = 1; i < meters->count; i++)
    if (!strcmp(meters->of[i].name, name)) return &meters->of[i];
  return meters->of;
}

/* Gives the largest functions their names. */
static void choose(struct meters *meters, const struct updating *updating, size_t functions) {
  if (!meters->count) strcpy(meters->of[meters->count++].name, rest_name);
  for (size_t i = 0; i < functions && i < METERS_SHOWN && meters->count <= METERS_MOST; i++) {
    const char *name = strings_text(updating->names, updating->functions[i].number);
    if (updating->functions[i].score > 0 && strcmp(name, rest_name) != 0 && find(meters, name) == meters->of)
      snprintf(meters->of[meters->count++].name, METER_NAME_MOST, "%s", name);
  }
}

static void set(struct meter *meter, const struct sum *held_sum, const struct sum *allocated_sum,
                double unit) {
  sum_merge(&meter->allocated_sum, allocated_sum);
  meter->held = estimate_of(held_sum, unit);
  meter->allocated = estimate_of(&meter->allocated_sum, unit);
}

static void set_all(struct meters *meters, const struct updating *updating, size_t functions) {
  struct sum held_by[METERS_MOST + 1] = {{0}}, allocated_by[METERS_MOST + 1] = {{0}};
  double unit = updating->report->recording->byte_unit;
  for (size_t i = 0; i < functions; i++) {
    const struct function *function = &updating->functions[i];
    size_t meter = (size_t)(find(meters, strings_text(updating->names, function->number)) - meters->of);
    sum_merge(&held_by[meter], &function->held);
    sum_merge(&allocated_by[meter], &function->allocated);
  }
  for (size_t i = 0; i < meters->count; i++) set(&meters->of[i], &held_by[i], &allocated_by[i], unit);
  set(&meters->all, &updating->held, &updating->allocated, unit);
}

/* ---- shared ---- */

wn_status meters_update(struct meters *meters, const struct report *report, uint64_t since_ns) {
  struct updating updating = {.report = report, .since_ns = since_ns, .names = strings_create()};
  wn_status error = updating.names ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the metrics");
  if (!error) error = sum(&updating, held, offsetof(struct function, held), &updating.held);
  if (!error)
    error = sum(&updating, allocated_since, offsetof(struct function, allocated), &updating.allocated);
  if (!error) {
    size_t count = updating.names->count - 1; /* the first name is the empty string */
    struct function *functions = updating.functions + 1;
    for (size_t i = 0; i < count; i++)
      functions[i].score =
          share(&functions[i].held, &updating.held) + share(&functions[i].allocated, &updating.allocated);
    if (count) qsort(functions, count, sizeof *functions, largest_first);
    struct updating sorted = updating;
    sorted.functions = functions;
    choose(meters, &sorted, count);
    set_all(meters, &sorted, count);
  }
  strings_free(updating.names);
  free(updating.functions);
  return error;
}
/* SPDX-License-Identifier: MIT */
