/* Sums a report by function, and chooses those that are named. */
#include "cli/scrape/meters.h"

#include "analysis/load/strings.h"
#include "base/array.h"
#include "base/error.h"
#include "base/utf8.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rest_name[] = "rest";

static wn_status meters_no_memory(void) { return error_set(WN_ENOMEM, "not enough memory for the metrics"); }

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
  struct function *functions; /* index: number of the name; the first is not used */
  size_t capacity;
  struct sum held, allocated;
};

static bool meters_held(const struct row *row, struct share *share, void *context) {
  const struct updating *updating = context;
  return report_counts(updating->report, MEASURE_HELD, row, share);
}

static bool allocated_since(const struct row *row, struct share *share, void *context) {
  const struct updating *updating = context;
  return row->begin_ns >= updating->since_ns &&
         report_counts(updating->report, MEASURE_ALLOCATED, row, share);
}

/* The function of a label; one without a name is in the rest. NULL without memory. */
static struct function *meters_function_of(struct updating *updating, const struct call_tree *tree,
                                           uint32_t label) {
  char name[METER_NAME_MOST];
  call_tree_label(tree, updating->report->names, label, name, sizeof name);
  utf8_make_plain(name);
  if (!*name) strcpy(name, rest_name);
  uint32_t before = updating->names->count, number = strings_intern(updating->names, name);
  if (!number || !array_reserve(&updating->functions, &updating->capacity, (size_t)number + 1,
                                sizeof *updating->functions))
    return NULL;
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
  for (size_t i = 0; i < tree.group_count && !error; i++) {
    struct function *function = meters_function_of(updating, &tree, tree.groups[i].label);
    if (function)
      sum_merge((struct sum *)((char *)function + offset), &tree.groups[i].self.bytes);
    else
      error = meters_no_memory();
  }
  call_tree_destroy(&tree);
  return error;
}

static double meters_share(const struct sum *part, const struct sum *whole) {
  return whole->total > 0 ? part->total / whole->total : 0;
}

static int meters_largest_first(const void *a, const void *b) {
  const struct function *left = a, *right = b;
  if (left->score != right->score) return left->score < right->score ? 1 : -1;
  return (left->number > right->number) - (left->number < right->number);
}

static void meters_sort(const struct updating *updating) {
  uint32_t count = updating->names->count;
  for (uint32_t i = 1; i < count; i++) {
    struct function *function = &updating->functions[i];
    function->score = meters_share(&function->held, &updating->held) +
                      meters_share(&function->allocated, &updating->allocated);
  }
  if (count > 1) qsort(updating->functions + 1, count - 1, sizeof *updating->functions, meters_largest_first);
}

/* The meter of a name; the rest if there is none. */
static struct meter *meters_find(struct meters *meters, const char *name) {
  for (size_t i = 1; i < meters->count; i++)
    if (!strcmp(meters->of[i].name, name)) return &meters->of[i];
  return meters->of;
}

/* Gives the largest functions their names. */
static void meters_choose(struct meters *meters, const struct updating *updating) {
  if (!meters->count) strcpy(meters->of[meters->count++].name, rest_name);
  for (uint32_t i = 1; i < updating->names->count && i <= METERS_SHOWN && meters->count <= METERS_MOST; i++) {
    const char *name = strings_text(updating->names, updating->functions[i].number);
    if (updating->functions[i].score > 0 && strcmp(name, rest_name) != 0 &&
        meters_find(meters, name) == meters->of)
      snprintf(meters->of[meters->count++].name, METER_NAME_MOST, "%s", name);
  }
}

static void meters_set(struct meter *meter, const struct sum *held_sum, const struct sum *allocated_sum,
                       double unit) {
  sum_merge(&meter->allocated_sum, allocated_sum);
  meter->held = estimate_of(held_sum, unit);
  meter->allocated = estimate_of(&meter->allocated_sum, unit);
}

static void meters_set_all(struct meters *meters, const struct updating *updating) {
  struct sum held_by[METERS_MOST + 1] = {{0}}, allocated_by[METERS_MOST + 1] = {{0}};
  double unit = updating->report->recording->byte_unit;
  for (uint32_t i = 1; i < updating->names->count; i++) {
    const struct function *function = &updating->functions[i];
    size_t meter =
        (size_t)(meters_find(meters, strings_text(updating->names, function->number)) - meters->of);
    sum_merge(&held_by[meter], &function->held);
    sum_merge(&allocated_by[meter], &function->allocated);
  }
  for (size_t i = 0; i < meters->count; i++) meters_set(&meters->of[i], &held_by[i], &allocated_by[i], unit);
  meters_set(&meters->all, &updating->held, &updating->allocated, unit);
}

/* ---- shared ---- */

wn_status meters_update(struct meters *meters, const struct report *report, uint64_t since_ns) {
  struct updating updating = {.report = report, .since_ns = since_ns, .names = strings_create()};
  wn_status error = updating.names ? WN_OK : meters_no_memory();
  if (!error) error = sum(&updating, meters_held, offsetof(struct function, held), &updating.held);
  if (!error)
    error = sum(&updating, allocated_since, offsetof(struct function, allocated), &updating.allocated);
  if (!error) {
    meters_sort(&updating);
    meters_choose(meters, &updating);
    meters_set_all(meters, &updating);
  }
  strings_free(updating.names);
  free(updating.functions);
  return error;
}
/* SPDX-License-Identifier: MIT */
