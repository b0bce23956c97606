/* The rows of a table as comma-separated values (RFC 4180): a line of names, then a line for each
 * row, with lines ended by CR LF. An estimate has four columns: itself, the ends of its interval,
 * and its samples. A number that is not known is empty. Numbers have the digits of JSON, with a
 * point in any locale.
 *
 * Names are those of a program that nobody may have looked at, and spreadsheets compute what looks
 * like a formula. So a text that begins with one of "=+-@" has an apostrophe before it, and control
 * characters, as bytes that are no UTF-8, become U+FFFD. Line feeds stand between the functions of
 * a stack alone. */
#include "export/rows_chosen.h"

#include "base/utf8.h"
#include <inttypes.h>
#include <string.h>

struct csv {
  FILE *out;
  bool follows; /* a field precedes in this line */
};

static void begin_field(struct csv *csv) {
  if (csv->follows) fputc(',', csv->out);
  csv->follows = true;
}

static void csv_end_line(struct csv *csv) {
  fputs("\r\n", csv->out);
  csv->follows = false;
}

static bool csv_is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

/* Writes characters within quotes. */
static void csv_write_quoted(FILE *out, const char *text) {
  for (size_t left = strlen(text), bytes; left; text += bytes, left -= bytes) {
    uint32_t code;
    bytes = utf8_decode(text, left, &code);
    if (*text == '"') fputc('"', out);
    if (!bytes || csv_is_control(code))
      fputs("\xef\xbf\xbd", out);
    else
      fwrite(text, 1, bytes, out);
    if (!bytes) bytes = 1;
  }
}

/* Begins a text within its quotes, so that no spreadsheet takes it for a formula. */
static void begin_text(struct csv *csv, const char *text) {
  begin_field(csv);
  fputc('"', csv->out);
  if (*text && strchr("=+-@", *text)) fputc('\'', csv->out);
}

static void csv_write_text(struct csv *csv, const char *text) {
  begin_text(csv, text);
  csv_write_quoted(csv->out, text);
  fputc('"', csv->out);
}

static void write_number(struct csv *csv, double number) {
  begin_field(csv);
  fprintf(csv->out, "%.15g", number);
}

static void write_integer(struct csv *csv, uint64_t number, bool known) {
  begin_field(csv);
  if (known) fprintf(csv->out, "%" PRIu64, number);
}

/* Writes the functions of a stack, innermost first, with line feeds between them. */
static void csv_write_stack(struct csv *csv, const struct table *table, uint32_t node) {
  char function[ROW_NAME_MOST];
  if (!node) begin_text(csv, "");
  for (uint32_t first = node; node; node = table->tree.nodes[node].parent) {
    call_tree_label(&table->tree, table->report->names, table->tree.nodes[node].label, function,
                    sizeof function);
    if (node == first) begin_text(csv, function);
    csv_write_quoted(csv->out, function);
    if (table->tree.nodes[node].parent) fputc('\n', csv->out);
  }
  fputc('"', csv->out);
}

/* ---- the header ---- */

static void csv_write_names(struct csv *csv, const char *column, const char *const *parts) {
  for (; *parts; parts++) {
    begin_field(csv);
    fprintf(csv->out, "%s%s", column, *parts);
  }
}

static void csv_write_column(struct csv *csv, const char *name, enum cell_kind kind) {
  static const char *const one[] = {"", NULL}, *const estimate[] = {"", "_low", "_high", "_samples", NULL};
  switch (kind) {
  case CELL_BYTES:
  case CELL_BLOCKS:
  case CELL_SHARE:
  case CELL_RATE:
  case CELL_LIFE_NS:
  case CELL_LIFE_WORDS: csv_write_names(csv, name, estimate); return;
  case CELL_AGES:
    for (int i = 1; i <= AGE_CLASSES; i++) {
      begin_field(csv);
      fprintf(csv->out, "%s_%d", name, i);
    }
    return;
  case CELL_TEXT:
  case CELL_INTEGER:
  case CELL_STACK: csv_write_names(csv, name, one); return;
  }
}

static void csv_write_header(struct csv *csv, const struct table *table) {
  for (int column = 0; column < COLUMNS; column++)
    if (row_column_in(table, (enum row_column)column))
      csv_write_column(csv, row_column_name((enum row_column)column),
                       row_column_kind((enum row_column)column));
  csv_end_line(csv);
}

/* ---- rows ---- */

static void csv_write_estimate(struct csv *csv, const struct estimate *estimate) {
  write_number(csv, estimate->estimate);
  write_number(csv, estimate->low);
  write_number(csv, estimate->high);
  write_integer(csv, estimate->samples, true);
}

static void csv_write_life(struct csv *csv, const struct life *life) {
  write_integer(csv, life->median, life->known);
  write_integer(csv, life->low, life->low != NO_BOUND);
  write_integer(csv, life->high, life->high != NO_BOUND);
  write_integer(csv, life->samples, true);
}

static void write_cell(struct csv *csv, const struct table *table, const struct cell *cell) {
  switch (cell->kind) {
  case CELL_TEXT: csv_write_text(csv, cell->text); return;
  case CELL_INTEGER: write_integer(csv, cell->integer.value, cell->integer.known); return;
  case CELL_BYTES:
  case CELL_BLOCKS:
  case CELL_SHARE:
  case CELL_RATE: csv_write_estimate(csv, &cell->estimate); return;
  case CELL_LIFE_NS:
  case CELL_LIFE_WORDS: csv_write_life(csv, &cell->life); return;
  case CELL_AGES:
    for (int i = 0; i < AGE_CLASSES; i++) write_number(csv, cell->ages[i]);
    return;
  case CELL_STACK: csv_write_stack(csv, table, cell->stack); return;
  }
}

/* ---- shared ---- */

wn_status export_csv(FILE *out, const struct export *export) {
  struct csv csv = {.out = out};
  struct rows_chosen rows;
  wn_status error = rows_choose(export, &rows);
  if (error) return error;
  csv_write_header(&csv, &rows.table);
  for (size_t i = 0; i < rows.sites.count; i++) {
    struct table_row row;
    struct cell cell;
    row_begin(&row, &rows.table, rows.sites.shown[i].group, rows.extent);
    for (int column = 0; column < COLUMNS; column++)
      if (row_read(&row, (enum row_column)column, &cell)) write_cell(&csv, &rows.table, &cell);
    csv_end_line(&csv);
  }
  rows_chosen_destroy(&rows);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
