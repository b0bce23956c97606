/* Compares the groups of two tables whose labels match. */
#include "analysis/compare/comparison.h"

#include "analysis/report/origins.h"
#include "base/array.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static const struct sums *comparison_sums_of(const struct group *group, enum extent extent) {
  static const struct sums none;
  return !group ? &none : extent == EXTENT_SELF ? &group->self : &group->total;
}

/* What is compared with the other side. */
struct side {
  const struct table *table;
  uint64_t hosts;          /* HOSTS */
  struct squares *squares; /* of them; NULL: sums are compared */
};

struct side_means {
  struct host_mean bytes, blocks;
};

/* The means of the sums of a label; or for a comparison of sums, their estimates. */
static struct side_means side_means_of(const struct side *side, const struct sums *sums, size_t label) {
  const struct report *report = side->table->report;
  struct side_means means = {{.bytes = report_bytes(report, sums)}, {.bytes = report_blocks(report, sums)}};
  if (!side->squares) return means;
  struct squares squares = sums->bytes.samples ? side->squares[label] : (struct squares){0};
  means.bytes = hosts_mean(&means.bytes.bytes, sums->bytes.total, squares.bytes, side->hosts);
  means.blocks = hosts_mean(&means.blocks.bytes, sums->blocks.total, squares.blocks, side->hosts);
  return means;
}

/* Sets both changes. Returns the chance of that of bytes; of a comparison of sums 0 if it is sure, and 1. */
static double set_changes(const struct side sides[2], const struct side_means means[2],
                          const struct estimate *scale, struct change *bytes, struct change *blocks) {
  *bytes = change_of(means[0].bytes.bytes, means[1].bytes.bytes, scale);
  *blocks = change_of(means[0].blocks.bytes, means[1].blocks.bytes, scale);
  return sides[0].squares ? chance_of_change(&means[0].bytes, &means[1].bytes)
                          : !difference_is_sure(&bytes->difference);
}

/* Fills the row of two groups that were matched, or of one that was not. */
static void comparison_fill(const struct side sides[2], const struct comparison_options *options,
                            struct compared *row) {
  const struct group *groups[2] = {row->before, row->after};
  struct side_means means[2];
  for (int i = 0; i < 2; i++)
    means[i] = side_means_of(&sides[i], comparison_sums_of(groups[i], options->extent),
                             groups[i] ? groups[i]->label : 0);
  row->chance = set_changes(sides, means, &options->scale, &row->bytes, &row->blocks);
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

/* The rows are sure whose chances are small enough for their number. */
static wn_status comparison_find_sure(struct comparison *comparison, bool of_hosts) {
  double *chances = array_new(comparison->count, sizeof *chances), most = 0;
  if (!chances) return error_set(WN_ENOMEM, "not enough memory for the comparison");
  for (size_t i = 0; i < comparison->count; i++) chances[i] = comparison->rows[i].chance;
  if (of_hosts) most = chance_called_sure(chances, comparison->count);
  for (size_t i = 0; i < comparison->count; i++)
    comparison->sure_count += comparison->rows[i].sure = comparison->rows[i].chance <= most;
  free(chances);
  return WN_OK;
}

static bool comparison_is_without_ranges(const struct comparison *comparison) {
  return comparison->before->report->recording->without_ranges ||
         comparison->after->report->recording->without_ranges;
}

/* The order is a function of the rows alone, so that equal traces give equal orders. */
static wn_status fill_rows(struct comparison *comparison, const struct side sides[2],
                           const struct comparison_options *options) {
  wn_status error = WN_OK;
  for (size_t i = 0; i < comparison->count; i++) comparison_fill(sides, options, &comparison->rows[i]);
  if (!comparison_is_without_ranges(comparison)) error = comparison_find_sure(comparison, sides[0].squares);
  qsort(comparison->rows, comparison->count, sizeof *comparison->rows, by_difference);
  return error;
}

static void compare_wholes(struct comparison *comparison, const struct side sides[2],
                           const struct comparison_options *options) {
  struct side_means means[2];
  for (int i = 0; i < 2; i++) {
    const struct call_tree *tree = &sides[i].table->tree;
    means[i] = side_means_of(&sides[i], &tree->nodes[0].total, tree->label_count);
  }
  set_changes(sides, means, &options->scale, &comparison->bytes, &comparison->blocks);
  comparison->sure = !comparison_is_without_ranges(comparison) && !means[0].bytes.few &&
                     !means[1].bytes.few && difference_is_sure(&comparison->bytes.difference);
}

/* Makes and fills the rows, and the wholes. */
static wn_status fill_comparison(struct comparison *comparison, const struct comparison_options *options) {
  struct side sides[2] = {{comparison->before, options->hosts[0], NULL},
                          {comparison->after, options->hosts[1], NULL}};
  wn_status error = make_rows(comparison, options);
  for (int i = 0; i < 2 && options->hosts[0] && !error; i++)
    error = origins_find_squares(sides[i].table, options->extent, &sides[i].squares);
  if (!error) compare_wholes(comparison, sides, options);
  if (!error) error = fill_rows(comparison, sides, options);
  for (int i = 0; i < 2; i++) free(sides[i].squares);
  return error;
}

/* ---- shared ---- */

struct change change_of(struct estimate before, struct estimate after, const struct estimate *scale) {
  if (scale->estimate > 0) before = estimate_times(&before, scale);
  return (struct change){before, after, difference_of(&after, &before)};
}

wn_status comparison_make(const struct table *before, const struct table *after,
                          const struct comparison_options *options, struct comparison *comparison) {
  *comparison = (struct comparison){.before = before, .after = after};
  wn_status error = fill_comparison(comparison, options);
  if (error) comparison_destroy(comparison);
  return error;
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
