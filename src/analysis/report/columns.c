/* Reads the cells of rows: one function for each column. */
#include "analysis/report/columns.h"

typedef void read_column(const struct table_row *row, struct cell *cell);

static void read_name(const struct table_row *row, struct cell *cell) { cell->text = row->name; }

static const char *columns_text_of(const struct table_row *row, uint32_t string) {
  return strings_text(row->table->report->names->strings, string);
}

static void read_module(const struct table_row *row, struct cell *cell) {
  cell->text = columns_text_of(row, table_label(row->table, row->group)->module);
}

static void read_file(const struct table_row *row, struct cell *cell) {
  const struct label *label = table_line_label(row->table, row->group);
  cell->text = columns_text_of(row, label->file ? label->file : label->source);
}

static void read_line(const struct table_row *row, struct cell *cell) {
  cell->integer.known = true;
  cell->integer.value = table_line_label(row->table, row->group)->line;
}

static void read_first_column(const struct table_row *row, struct cell *cell) {
  cell->integer.known = true;
  cell->integer.value = table_label(row->table, row->group)->first_column;
}

static void read_last_column(const struct table_row *row, struct cell *cell) {
  cell->integer.known = true;
  cell->integer.value = table_label(row->table, row->group)->last_column;
}

static void read_self_bytes(const struct table_row *row, struct cell *cell) {
  cell->estimate = report_bytes(row->table->report, &row->group->self);
}

static void read_self_blocks(const struct table_row *row, struct cell *cell) {
  cell->estimate = report_blocks(row->table->report, &row->group->self);
}

static void read_total_bytes(const struct table_row *row, struct cell *cell) {
  cell->estimate = report_bytes(row->table->report, &row->group->total);
}

static void read_blocks(const struct table_row *row, struct cell *cell) {
  cell->estimate = report_blocks(row->table->report, &row->group->total);
}

static void read_share(const struct table_row *row, struct cell *cell) {
  cell->estimate = report_share(row->table->report, &row->group->total, &row->table->tree.nodes[0].total);
}

static void read_life_median_ns(const struct table_row *row, struct cell *cell) {
  cell->integer.known = row->life.known;
  cell->integer.value = row->life.median;
}

static void read_life(const struct table_row *row, struct cell *cell) { cell->life = row->life; }

static struct estimate share_of_births(const struct table_row *row, const struct sums *part) {
  struct sums all = generations_births(&row->fates);
  return report_share(row->table->report, part, &all);
}

static void read_minor_share(const struct table_row *row, struct cell *cell) {
  cell->estimate = share_of_births(row, &row->fates.minor);
}

static void read_major_share(const struct table_row *row, struct cell *cell) {
  cell->estimate = share_of_births(row, &row->fates.major);
}

static void read_promoted_share(const struct table_row *row, struct cell *cell) {
  cell->estimate = report_promoted_share(row->table->report, &row->fates);
}

static void read_dead_next_share(const struct table_row *row, struct cell *cell) {
  cell->estimate = report_dead_share(row->table->report, &row->fates);
}

static void read_life_words(const struct table_row *row, struct cell *cell) {
  cell->life = table_word_life(row->table, row->group, row->extent);
}

static void read_growth(const struct table_row *row, struct cell *cell) {
  cell->text = growth_word(row->growth.kind);
}

static void read_growth_per_second(const struct table_row *row, struct cell *cell) {
  cell->estimate = row->growth.rate;
}

static void read_alive_by_age(const struct table_row *row, struct cell *cell) {
  cell->ages = row->growth.alive;
}

static void read_stack(const struct table_row *row, struct cell *cell) { cell->stack = row->group->label; }

static const struct {
  const char *name;
  enum cell_kind kind;
  unsigned detail;
  struct text_layout text;
  read_column *read;
} columns[COLUMNS] = {
#define ROW_COLUMN(name, kind, detail, text, what) {#name, CELL_##kind, detail, text, read_##name},
    ROW_COLUMNS(ROW_COLUMN)
#undef ROW_COLUMN
};

/* ---- shared ---- */

void row_begin(struct table_row *row, struct table *table, const struct group *group, enum extent extent) {
  row->table = table;
  row->group = group;
  row->extent = extent;
  table_name(table, group, row->name, sizeof row->name);
  if (table->details & TABLE_LIVES) row->life = table_life(table, group, extent);
  if (table->details & TABLE_FATES) row->fates = table_fates(table, group, extent);
  if (table->details & TABLE_GROWTH) row->growth = table_growth(table, group, extent);
}

const char *row_column_name(enum row_column column) { return columns[column].name; }

enum cell_kind row_column_kind(enum row_column column) { return columns[column].kind; }

const struct text_layout *row_column_text(enum row_column column) { return &columns[column].text; }

bool row_column_in(const struct table *table, enum row_column column) {
  return !(columns[column].detail & ~table->details) &&
         (columns[column].kind != CELL_STACK || table->tree.grouping == BY_STACK);
}

bool row_read(const struct table_row *row, enum row_column column, struct cell *cell) {
  if (!row_column_in(row->table, column)) return false;
  cell->kind = columns[column].kind;
  columns[column].read(row, cell);
  return true;
}
/* SPDX-License-Identifier: MIT */
