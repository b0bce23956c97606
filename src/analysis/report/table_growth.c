/* The growth of the groups of a table.
 *
 * Ages are added block by block (ages.h), while rows are in the order of their beginnings. Most blocks
 * have one row and are added as they come. The rows of the others are ordered by block, once for a
 * table. */
#include "analysis/report/report.h"

#include "base/array.h"
#include "base/error.h"
#include <stdlib.h>

static struct stretch stretch_of(const struct table *table) {
  return (struct stretch){table->report->since_ns, table->report->alive_ns};
}

/* Whether a row belongs to a group, and counts for its growth. */
static bool table_growth_counts(const struct table *table, size_t row) {
  return table->tree.node_of_row[row] != NO_NODE &&
         ages_need(&table->report->samples->rows[row], stretch_of(table));
}

static bool table_growth_is_alone(const struct table *table, size_t row) {
  const struct row *of = &table->report->samples->rows[row];
  return of->first && of->last && table_growth_counts(table, row);
}

static uint32_t key_of_row(const struct table *table, const uint32_t *key_of_node, uint32_t row) {
  uint32_t node = table->tree.node_of_row[row];
  return key_of_node ? key_of_node[node] : table->tree.nodes[node].label;
}

static bool is_of_block(const struct table *table, uint32_t row, uint32_t other) {
  return table->report->samples->rows[row].block == table->report->samples->rows[other].block;
}

static struct growth growth_from(const struct table *table, const struct group_ages *group) {
  return growth_of_group(group, table->report->samples, stretch_of(table),
                         table->report->recording->byte_unit);
}

/* The rows of `resized`, key by key, those of a key block by block. NULL without memory. */
static uint32_t *resized_by_key(const struct table *table, const uint32_t *key_of_node) {
  size_t count = table->resized_count;
  struct keyed *keyed = array_new(count, sizeof *keyed);
  for (size_t i = 0; keyed && i < count; i++)
    keyed[i] = (struct keyed){key_of_row(table, key_of_node, table->resized[i]), table->resized[i]};
  uint32_t *rows = keyed && order_by_key(keyed, count) ? array_new(count, sizeof *rows) : NULL;
  for (size_t i = 0; rows && i < count; i++) rows[i] = keyed[i].item;
  free(keyed);
  return rows;
}

static void add_resized_by_key(const struct table *table, const uint32_t *key_of_node, const uint32_t *rows,
                               struct group_ages *groups) {
  for (size_t begin = 0, end; begin < table->resized_count; begin = end) {
    uint32_t key = key_of_row(table, key_of_node, rows[begin]);
    for (end = begin + 1; end < table->resized_count; end++)
      if (key_of_row(table, key_of_node, rows[end]) != key || !is_of_block(table, rows[end], rows[begin]))
        break;
    group_ages_add(&groups[key], table->report->samples, stretch_of(table), rows + begin, end - begin);
  }
}

/* Adds the rows of `resized` whose nodes are inside. */
static void add_resized_inside(struct table *table, struct group_ages *group) {
  uint32_t *inside = table->resized + table->resized_count;
  for (size_t begin = 0, end; begin < table->resized_count; begin = end) {
    size_t count = 0;
    for (end = begin; end < table->resized_count; end++) {
      uint32_t row = table->resized[end];
      if (!is_of_block(table, row, table->resized[begin])) break;
      if (table->inside[table->tree.node_of_row[row]]) inside[count++] = row;
    }
    if (count) group_ages_add(group, table->report->samples, stretch_of(table), inside, count);
    inside += count;
  }
}

/* ---- shared ---- */

wn_status table_order_resized(struct table *table) {
  size_t count;
  struct keyed *keyed = samples_resized(table->report->samples, &count);
  free(table->resized);
  table->resized_count = 0;
  table->resized = keyed ? array_new(2 * count, sizeof *table->resized) : NULL;
  for (size_t i = 0; table->resized && i < count; i++)
    if (table_growth_counts(table, keyed[i].item)) table->resized[table->resized_count++] = keyed[i].item;
  free(keyed);
  return table->resized ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the tables");
}

struct growth table_growth(struct table *table, const struct group *group, enum extent extent) {
  const struct samples *samples = table->report->samples;
  struct group_ages inside = {.ages = {.all = {0}}};
  call_tree_mark(&table->tree, group, extent, table->inside);
  for (size_t i = 0; i < samples->row_count; i++)
    if (table_growth_is_alone(table, i) && table->inside[table->tree.node_of_row[i]])
      group_ages_add(&inside, samples, stretch_of(table), &(uint32_t){(uint32_t)i}, 1);
  add_resized_inside(table, &inside);
  return growth_from(table, &inside);
}

wn_status table_growths(const struct table *table, const uint32_t *key_of_node, size_t keys, double least,
                        struct growth *growths) {
  const struct samples *samples = table->report->samples;
  struct group_ages *groups = calloc(keys + 1, sizeof *groups);
  uint32_t *resized = resized_by_key(table, key_of_node);
  bool done = groups && resized;
  for (size_t i = 0; done && i < samples->row_count; i++)
    if (table_growth_is_alone(table, i))
      group_ages_add(&groups[key_of_row(table, key_of_node, (uint32_t)i)], samples, stretch_of(table),
                     &(uint32_t){(uint32_t)i}, 1);
  if (done) add_resized_by_key(table, key_of_node, resized, groups);
  for (size_t key = 0; done && key < keys; key++)
    growths[key] =
        groups[key].ages.all.total >= least ? growth_from(table, &groups[key]) : (struct growth){0};
  free(resized);
  free(groups);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the table");
}
/* SPDX-License-Identifier: MIT */
