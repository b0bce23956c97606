/* Writes rows, and tells their columns.
 *
 * RowBinary has the columns of a row one after the other, without a head: numbers little-endian, a
 * text or a list behind its length, seven bits a byte. TabSeparated has a line for each row, with
 * tabs between the columns, and backslashes before what would end one. */
#include "export/clickhouse_columns.h"

#include "base/utf8.h"
#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { TEXT_MOST = 2000 };

struct putting {
  FILE *out;
  bool binary, follows; /* a column precedes in this line */
};

/* ---- columns ---- */

static void put_cell_bytes(struct putting *to, uint64_t number, int bytes) {
  for (int i = 0; i < bytes; i++) putc((int)(number >> 8 * i & 0xff), to->out);
}

static void put_length(struct putting *to, uint64_t length) {
  for (; length >= 0x80; length >>= 7) putc((int)(length & 0x7f) | 0x80, to->out);
  putc((int)length, to->out);
}

/* Begins a column of a line. */
static void clickhouse_columns_begin(struct putting *to) {
  if (to->follows && !to->binary) putc('\t', to->out);
  to->follows = true;
}

static void put_integer(struct putting *to, uint64_t number, int bytes) {
  clickhouse_columns_begin(to);
  if (to->binary)
    put_cell_bytes(to, number, bytes);
  else
    fprintf(to->out, "%" PRIu64, number);
}

static void put_cell_number(struct putting *to, uint64_t number) { put_integer(to, number, 8); }
static void put_cell_small(struct putting *to, uint32_t number) { put_integer(to, number, 4); }

/* As a text a time is the number of seconds: another form would depend on the server's time zone. */
static void put_cell_time(struct putting *to, uint32_t seconds) { put_integer(to, seconds, 4); }

static void put_cell_day(struct putting *to, uint16_t day) {
  time_t seconds = (time_t)day * 86400;
  struct tm parts;
  char text[32] = "";
  if (!to->binary && gmtime_r(&seconds, &parts)) strftime(text, sizeof text, "%Y-%m-%d", &parts);
  clickhouse_columns_begin(to);
  if (to->binary)
    put_cell_bytes(to, day, 2);
  else
    fputs(text, to->out);
}

static void put_cell_real(struct putting *to, double real) {
  uint64_t bits;
  clickhouse_columns_begin(to);
  memcpy(&bits, &real, sizeof bits);
  if (to->binary)
    put_cell_bytes(to, bits, 8);
  else
    fprintf(to->out, "%.17g", real);
}

static void put_cell_text(struct putting *to, const char *text) {
  char plain[TEXT_MOST];
  snprintf(plain, sizeof plain, "%s", text);
  utf8_make_plain(plain);
  clickhouse_columns_begin(to);
  if (to->binary) {
    put_length(to, strlen(plain));
    fputs(plain, to->out);
    return;
  }
  for (const char *at = plain; *at; at++) { /* no tab and no line feed is plain */
    if (*at == '\\') putc('\\', to->out);
    putc(*at, to->out);
  }
}

static void put_cell_kind(struct putting *to, enum window_kind kind) {
#define WINDOW_KIND(NAME, word, number) [WINDOW_##NAME] = {#word, number},
  static const struct {
    const char *word;
    uint8_t number;
  } kinds[] = {WINDOW_KINDS(WINDOW_KIND)};
#undef WINDOW_KIND
  clickhouse_columns_begin(to);
  if (to->binary)
    put_cell_bytes(to, kinds[kind].number, 1);
  else
    fputs(kinds[kind].word, to->out);
}

static void put_cell_numbers(struct putting *to, struct clickhouse_numbers numbers) {
  clickhouse_columns_begin(to);
  if (to->binary)
    put_length(to, numbers.count);
  else
    putc('[', to->out);
  for (size_t i = 0; i < numbers.count; i++)
    if (to->binary)
      put_cell_bytes(to, numbers.items[i], 8);
    else
      fprintf(to->out, "%s%" PRIu64, i ? "," : "", numbers.items[i]);
  if (!to->binary) putc(']', to->out);
}

/* ---- declarations ---- */

#define TYPE_day     "Date"
#define TYPE_time    "DateTime"
#define TYPE_text    "String"
#define TYPE_number  "UInt64"
#define TYPE_small   "UInt32"
#define TYPE_real    "Float64"
#define TYPE_numbers "Array(UInt64)"
#define TYPE_kind    CLICKHOUSE_KINDS

struct column {
  const char *name, *type;
};

#define COLUMN_OF(type, name) {#name, TYPE_##type},
#define COLUMNS_OF(TABLE, table) \
  static const struct column table##_columns[] = {CLICKHOUSE_##TABLE##_COLUMNS(COLUMN_OF){NULL, NULL}};
CLICKHOUSE_TABLE_LIST(COLUMNS_OF)

static const struct {
  const char *name;
  const struct column *columns;
} tables[CLICKHOUSE_TABLES] = {
#define TABLE_OF(TABLE, table) [CLICKHOUSE_##TABLE] = {#table, table##_columns},
    CLICKHOUSE_TABLE_LIST(TABLE_OF)};

/* ---- shared ---- */

#define PUT_COLUMN(type, name) put_cell_##type(&to, row->name);
#define PUT_ROW(TABLE, table)                                                    \
  void clickhouse_put_##table(FILE *out, enum clickhouse_encoding encoding,      \
                              const struct clickhouse_##table##_row *row) {      \
    struct putting to = {.out = out, .binary = encoding == CLICKHOUSE_BINARY};   \
    CLICKHOUSE_##TABLE##_COLUMNS(PUT_COLUMN) if (!to.binary) putc('\n', to.out); \
  }
CLICKHOUSE_TABLE_LIST(PUT_ROW)

const char *clickhouse_table_name(enum clickhouse_table table) { return tables[table].name; }

void clickhouse_write_names(FILE *out, enum clickhouse_table table) {
  for (const struct column *column = tables[table].columns; column->name; column++)
    fprintf(out, "%s%s", column == tables[table].columns ? "" : ",", column->name);
}

void clickhouse_write_columns(FILE *out, enum clickhouse_table table) {
  for (const struct column *column = tables[table].columns; column->name; column++)
    fprintf(out, "  %s %s%s\n", column->name, column->type, column[1].name ? "," : "");
}

const char *clickhouse_encoding_name(enum clickhouse_encoding encoding) {
  return encoding == CLICKHOUSE_BINARY ? "RowBinary" : "TabSeparated";
}
/* SPDX-License-Identifier: MIT */
