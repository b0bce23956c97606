/* Matches the groups of two tables: merges their sorted labels, first with modules, then without. */
#include "analysis/comparison.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- matching ---- */

/* A group that is to be matched. */
struct candidate {
  struct label label;
  const struct group *group, *match; /* match: of the other table; NULL: none so far */
};

static int compare_numbers(uint32_t one, uint32_t other) { return one < other ? -1 : one > other; }

static int compare_code(const struct label *one, const struct label *other) {
  int order = compare_numbers(one->function, other->function);
  if (!order) order = compare_numbers(one->file, other->file);
  return order ? order : compare_numbers(one->line, other->line);
}

static int by_label(const void *a, const void *b) {
  const struct label *one = &((const struct candidate *)a)->label,
                     *other = &((const struct candidate *)b)->label;
  int order = compare_code(one, other);
  return order ? order : compare_numbers(one->module, other->module);
}

/* Matched candidates stand last, so that the others are one list. */
static int unmatched_by_code(const void *a, const void *b) {
  const struct candidate *one = a, *other = b;
  if (!one->match != !other->match) return one->match ? 1 : -1;
  return compare_code(&one->label, &other->label);
}

static struct candidate *candidates_of(const struct table *table, enum extent extent, size_t *count) {
  const struct call_tree *tree = &table->tree;
  struct candidate *candidates = calloc(tree->group_count + 1, sizeof *candidates);
  *count = 0;
  for (size_t i = 0; candidates && i < tree->group_count; i++) {
    const struct group *group = &tree->groups[i];
    const struct sums *sums = extent == EXTENT_SELF ? &group->self : &group->total;
    if (sums->bytes.samples || sums->bytes.total > 0)
      candidates[(*count)++] = (struct candidate){tree->labels[group->label], group, NULL};
  }
  return candidates;
}

static void match(struct candidate *one, struct candidate *other) {
  one->match = other->group;
  other->match = one->group;
}

static void match_labels(struct candidate *before, size_t before_count, struct candidate *after,
                         size_t after_count) {
  qsort(before, before_count, sizeof *before, by_label);
  qsort(after, after_count, sizeof *after, by_label);
  for (size_t i = 0, j = 0; i < before_count && j < after_count;) {
    int order = by_label(&before[i], &after[j]);
    if (!order) match(&before[i], &after[j]);
    i += order <= 0;
    j += order >= 0;
  }
}

/* The end of the candidates from `at` on that are unmatched and have the same code. */
static size_t run_end(const struct candidate *candidates, size_t count, size_t at) {
  size_t end = at + 1;
  while (end < count && !unmatched_by_code(&candidates[at], &candidates[end])) end++;
  return end;
}

/* Candidates that have nothing but a module have no code to be matched by. */
static bool has_code(const struct candidate *candidate) {
  return candidate->label.function || candidate->label.file;
}

static void match_code(struct candidate *before, size_t before_count, struct candidate *after,
                       size_t after_count) {
  qsort(before, before_count, sizeof *before, unmatched_by_code);
  qsort(after, after_count, sizeof *after, unmatched_by_code);
  for (size_t i = 0, j = 0; i < before_count && j < after_count && !before[i].match && !after[j].match;) {
    int order = compare_code(&before[i].label, &after[j].label);
    size_t i_end = run_end(before, before_count, i), j_end = run_end(after, after_count, j);
    if (!order && i_end == i + 1 && j_end == j + 1 && has_code(&before[i])) match(&before[i], &after[j]);
    if (order <= 0) i = i_end;
    if (order >= 0) j = j_end;
  }
}

/* ---- rows ---- */

/* No scale is a scale of 1, without a range. */
static struct change change_of(struct estimate before, struct estimate after, const struct estimate *scale) {
  if (scale->estimate > 0) before = estimate_times(&before, scale);
  return (struct change){before, after, difference_of(&after, &before)};
}

static const struct sums *sums_of(const struct group *group, enum extent extent) {
  static const struct sums none;
  return !group ? &none : extent == EXTENT_SELF ? &group->self : &group->total;
}

/* Fills the row of two groups that were matched, or of one that was not. */
static void fill(const struct comparison *comparison, const struct comparison_options *options,
                 struct compared *row) {
  const struct report *before = comparison->before->report, *after = comparison->after->report;
  const struct sums *had = sums_of(row->before, options->extent), *has = sums_of(row->after, options->extent);
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

/* A function of the rows alone, so that equal traces give equal orders. */
static void add_rows(struct comparison *comparison, const struct comparison_options *options,
                     const struct candidate *before, size_t before_count, const struct candidate *after,
                     size_t after_count) {
  for (size_t i = 0; i < after_count; i++)
    comparison->rows[comparison->count++] =
        (struct compared){.before = after[i].match, .after = after[i].group};
  for (size_t i = 0; i < before_count; i++)
    if (!before[i].match)
      comparison->rows[comparison->count++] = (struct compared){.before = before[i].group};
  bool partial =
      comparison->before->report->recording->partial || comparison->after->report->recording->partial;
  for (size_t i = 0; i < comparison->count; i++) {
    fill(comparison, options, &comparison->rows[i]);
    if (partial) comparison->rows[i].sure = false;
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
  comparison->sure = !before->report->recording->partial && !after->report->recording->partial &&
                     difference_is_sure(&comparison->bytes.difference);
}

/* ---- shared ---- */

wn_status comparison_make(const struct table *before, const struct table *after,
                          const struct comparison_options *options, struct comparison *comparison) {
  size_t before_count = 0, after_count = 0;
  *comparison = (struct comparison){.before = before, .after = after};
  struct candidate *had = candidates_of(before, options->extent, &before_count);
  struct candidate *has = candidates_of(after, options->extent, &after_count);
  comparison->rows = calloc(before_count + after_count + 1, sizeof *comparison->rows);
  bool ready = had && has && comparison->rows;
  if (ready) {
    match_labels(had, before_count, has, after_count);
    match_code(had, before_count, has, after_count);
    compare_wholes(comparison, options);
    add_rows(comparison, options, had, before_count, has, after_count);
  }
  free(had);
  free(has);
  if (ready) return WN_OK;
  comparison_destroy(comparison);
  return error_set(WN_ENOMEM, "not enough memory for the comparison");
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

bool compared_is_address(const struct comparison *comparison, const struct compared *row) {
  const struct table *table = comparison_table(comparison, row);
  const struct label *label = table_label(table, compared_group(row));
  const struct strings *strings = table->report->names->strings;
  const char *function = strings_text(strings, label->function);
  const char *number = strrchr(function, '+');
  number = number ? number + 1 : function;
  return !strncmp(number, "0x", 2) && number[2] && !number[2 + strspn(number + 2, "0123456789abcdef")];
}
/* SPDX-License-Identifier: MIT */
