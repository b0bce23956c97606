/* Compares the groups of two tables whose labels match. */
#include "analysis/compare/comparison.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static const struct sums *comparison_sums_of(const struct group *group, enum extent extent) {
  static const struct sums none;
  return !group ? &none : extent == EXTENT_SELF ? &group->self : &group->total;
}

/* Fills the row of two groups that were matched, or of one that was not. */
static void comparison_fill(const struct comparison *comparison, const struct comparison_options *options,
                            struct compared *row) {
  const struct report *before = comparison->before->report, *after = comparison->after->report;
  const struct sums *had = comparison_sums_of(row->before, options->extent),
                    *has = comparison_sums_of(row->after, options->extent);
  row->bytes = change_of(report_bytes(before, had), report_bytes(after, has), &options->scale);
  row->blocks = change_of(report_blocks(before, had), report_blocks(after, has), &options->scale);
  row->sure = difference_is_sure(&row->bytes.difference);
}

static int by_difference(const void *a, const void *b) {
  const struct compared *one = a, *other = b;
  if (one->sure != other->sure) return one->sure ? -1 : 1;
  double size = fabs(one->bytes.difference.estimate), other_size = fabs(other->bytes.difference.estimate);
  return size > other_size ? -1 : size < other_size;
}

static bool comparison_has_samples(const struct group *group, enum extent extent) {
  const struct sums *sums = comparison_sums_of(group, extent);
  return sums->bytes.samples || sums->bytes.total > 0;
}

/* Sets groups[label] for the labels of a tree; NULL: it has no such group, or the group no samples.
 * The caller frees it. NULL without memory. */
static const struct group **groups_of(const struct call_tree *tree, enum extent extent) {
  const struct group **groups = calloc(tree->label_count, sizeof *groups);
  for (size_t i = 0; groups && i < tree->group_count; i++)
    if (comparison_has_samples(&tree->groups[i], extent)) groups[tree->groups[i].label] = &tree->groups[i];
  return groups;
}

static void comparison_add_row(struct comparison *comparison, const struct group *before,
                               const struct group *after, enum moved moved) {
  if (before || after)
    comparison->rows[comparison->count++] =
        (struct compared){.before = before, .after = after, .moved = moved};
}

/* What a table has, by label: its groups, and which may have moved. */
struct by_label {
  const struct group **groups;
  enum moved *moved;
};

static void pair_groups(struct comparison *comparison, const struct matching *matching,
                        const struct by_label *before, const struct by_label *after) {
  comparison_add_row(comparison, before->groups[0], after->groups[0], NOT_MOVED); /* without a callstack */
  for (uint32_t label = 1; label < comparison->after->tree.label_count; label++) {
    uint32_t match = matching->before_of[label];
    if (match == UNMATCHED)
      comparison_add_row(comparison, NULL, after->groups[label], after->moved[label]);
    else
      comparison_add_row(comparison, before->groups[match], after->groups[label], NOT_MOVED);
  }
  for (uint32_t label = 1; label < comparison->before->tree.label_count; label++)
    if (matching->after_of[label] == UNMATCHED)
      comparison_add_row(comparison, before->groups[label], NULL, before->moved[label]);
}

static bool by_label_create(const struct table *table, enum extent extent, struct by_label *by) {
  *by =
      (struct by_label){groups_of(&table->tree, extent), calloc(table->tree.label_count, sizeof *by->moved)};
  return by->groups && by->moved;
}

static void by_label_destroy(struct by_label *by) {
  free(by->groups);
  free(by->moved);
}

static wn_status make_rows(struct comparison *comparison, const struct comparison_options *options) {
  const struct call_tree *before = &comparison->before->tree, *after = &comparison->after->tree;
  struct matching matching;
  wn_status error = matching_make(comparison->before, comparison->after, &matching);
  if (error) return error;
  struct by_label had, has;
  comparison->rows = calloc(before->label_count + after->label_count, sizeof *comparison->rows);
  bool ready = by_label_create(comparison->before, options->extent, &had);
  ready = by_label_create(comparison->after, options->extent, &has) && ready && comparison->rows;
  ready = ready && fate_find(comparison->before, comparison->after, &matching, had.moved, has.moved);
  if (ready) pair_groups(comparison, &matching, &had, &has);
  by_label_destroy(&had);
  by_label_destroy(&has);
  matching_destroy(&matching);
  return ready ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the comparison");
}

/* The order is a function of the rows alone, so that equal traces give equal orders. */
static void fill_rows(struct comparison *comparison, const struct comparison_options *options) {
  bool unsure = comparison->before->report->recording->without_ranges ||
                comparison->after->report->recording->without_ranges;
  for (size_t i = 0; i < comparison->count; i++) {
    comparison_fill(comparison, options, &comparison->rows[i]);
    if (unsure) comparison->rows[i].sure = false;
    comparison->sure_count += comparison->rows[i].sure;
  }
  qsort(comparison->rows, comparison->count, sizeof *comparison->rows, by_difference);
}

static void compare_wholes(struct comparison *comparison, const struct comparison_options *options) {
  const struct table *before = comparison->before, *after = comparison->after;
  const struct sums *had = &before->tree.nodes[0].total, *has = &after->tree.nodes[0].total;
  comparison->bytes =
      change_of(report_bytes(before->report, had), report_bytes(after->report, has), &options->scale);
  comparison->blocks =
      change_of(report_blocks(before->report, had), report_blocks(after->report, has), &options->scale);
  comparison->sure = !before->report->recording->without_ranges &&
                     !after->report->recording->without_ranges &&
                     difference_is_sure(&comparison->bytes.difference);
}

/* ---- shared ---- */

struct change change_of(struct estimate before, struct estimate after, const struct estimate *scale) {
  if (scale->estimate > 0) before = estimate_times(&before, scale);
  return (struct change){before, after, difference_of(&after, &before)};
}

wn_status comparison_make(const struct table *before, const struct table *after,
                          const struct comparison_options *options, struct comparison *comparison) {
  *comparison = (struct comparison){.before = before, .after = after};
  wn_status error = make_rows(comparison, options);
  if (error) {
    comparison_destroy(comparison);
    return error;
  }
  compare_wholes(comparison, options);
  fill_rows(comparison, options);
  return WN_OK;
}

void comparison_destroy(struct comparison *comparison) {
  free(comparison->rows);
  comparison->rows = NULL;
}

const struct table *comparison_table(const struct comparison *comparison, const struct compared *row) {
  return row->after ? comparison->after : comparison->before;
}

wn_status compared_tables_make(const struct report *before, const struct report *after, enum measure measure,
                               enum grouping grouping, const struct comparison_options *options,
                               struct compared_tables *tables) {
  wn_status error = report_table(before, measure, grouping, TABLE_SUMS, &tables->before);
  if (error) return error;
  error = report_table(after, measure, grouping, TABLE_SUMS, &tables->after);
  if (error) goto destroy_before;
  error = comparison_make(&tables->before, &tables->after, options, &tables->comparison);
  if (!error) return WN_OK;

  table_destroy(&tables->after);
destroy_before:
  table_destroy(&tables->before);
  return error;
}

void compared_tables_destroy(struct compared_tables *tables) {
  comparison_destroy(&tables->comparison);
  table_destroy(&tables->after);
  table_destroy(&tables->before);
}
/* SPDX-License-Identifier: MIT */
