/* Selects columns and prints their cells. */
#include "cli/report/report_columns.h"

#include "base/check.h"
#include "cli/report/report_name.h"
#include "cli/report/screen.h"
#include "cli/text.h"
#include <stdio.h>
#include <string.h>

enum {
  WIDTH_GAP = 2,
  NAME_LEAST = 36,
  NAME_LEAST_FATES = 24,
  SAMPLES_LEAST = 20, /* the samples tell how precise each number is, so they are dropped last */
  STACK_LEAST = 12    /* the names of a stack are on lines of their own */
};

static const struct text_layout line_layout[LINE_COLUMN_COUNT] = {
#define LINE_COLUMN(name, ...) __VA_ARGS__,
    LINE_COLUMNS(LINE_COLUMN)
#undef LINE_COLUMN
};

static const struct text_layout *layout_of(int column) {
  return column < LINE_COLUMN_COUNT ? &line_layout[column]
                                    : row_column_text((enum row_column)(column - LINE_COLUMN_COUNT));
}

/* ---- which columns a table has ---- */

static bool has_other(const struct table *table) {
  return table->tree.grouping != BY_STACK && !(table->details & ~(unsigned)(TABLE_GROWTH | TABLE_LINES));
}

static int report_columns_rank_of(const struct columns *columns, int column) {
  bool totals = columns->order == SITES_BY_TOTAL; /* then the self column adds up to the whole */
  bool trades = column == LINE_COLUMN_share || column == LINE_COLUMN_other;
  return totals && trades ? 3 - layout_of(column)->rank : layout_of(column)->rank;
}

int columns_width(const struct columns *columns) {
  int width = WIDTH_GAP;
  for (int i = 0; i < TEXT_COLUMN_COUNT; i++)
    if (columns->shown[i]) width += layout_of(i)->width + (columns->ranges ? layout_of(i)->range : 0);
  return width;
}

/* Drops columns by rank until there is room for names. */
static void drop_until_names_fit(struct columns *columns, int name_least) {
  int last = layout_of(LINE_COLUMN_samples)->rank;
  for (int rank = 1;; rank++) {
    columns->name = text_width() - columns_width(columns);
    int least = rank == last && name_least > SAMPLES_LEAST ? SAMPLES_LEAST : name_least;
    if (columns->name >= least || rank > last) return;
    for (int i = 0; i < TEXT_COLUMN_COUNT; i++)
      if (report_columns_rank_of(columns, i) == rank) columns->shown[i] = false;
  }
}

/* ---- cells ---- */

/* Prints the interval of a column, padded; nothing if the table has no intervals. */
static void print_range(const struct columns *columns, int column, const char *text) {
  if (!columns->ranges || !layout_of(column)->range) return;
  putchar(' ');
  text_pad(stdout, text, layout_of(column)->range - 1);
}

static void print_value(const struct columns *columns, int column, const char *value, const char *range) {
  text_pad(stdout, value, -layout_of(column)->width);
  print_range(columns, column, range);
}

static void print_amount(const struct columns *columns, int column, const struct estimate *bytes) {
  char value[32], range[64], text[64];
  bool rough = columns->style == TABLE_FULL && estimate_is_rough(bytes);
  snprintf(text, sizeof text, "%s%s", rough ? "≈" : "", text_bytes(value, bytes->estimate));
  print_value(columns, column, text, text_short_range(range, bytes));
}

/* Mappings are measured. */
static struct estimate line_bytes(const struct columns *columns, const struct line *line) {
  double size = line->sums->bytes.total;
  if (line->mapped) return (struct estimate){.estimate = size, .low = size, .high = size};
  return report_bytes(columns->report, line->sums);
}

static void print_margin(const struct columns *columns, const struct line *line) {
  char text[16] = "";
  if (line->group && !line->mapped) {
    struct estimate bytes = line_bytes(columns, line);
    screen_margin(text, &bytes);
  }
  text_style(stdout, STYLE_DIM);
  print_value(columns, LINE_COLUMN_margin, text, "");
  text_style(stdout, STYLE_PLAIN);
}

static void print_bytes(const struct columns *columns, const struct line *line) {
  if (!line->sums) return print_value(columns, LINE_COLUMN_bytes, "", "");
  struct estimate bytes = line_bytes(columns, line);
  /* The rest is a difference of sums; without samples it has no interval. */
  if (!bytes.samples) bytes.low = bytes.high = bytes.estimate;
  print_amount(columns, LINE_COLUMN_bytes, &bytes);
}

static void print_share(const struct columns *columns, const struct line *line) {
  char text[32] = "";
  if (line->sums && line->whole->bytes.total > 0)
    text_share(text, line->sums->bytes.total / line->whole->bytes.total);
  print_value(columns, LINE_COLUMN_share, text, "");
}

static void print_samples(const struct columns *columns, const struct line *line) {
  char text[32];
  print_value(columns, LINE_COLUMN_samples,
              line->sums ? text_count(text, (double)line->sums->bytes.samples) : "", "");
}

/* A sum without samples is a dash. */
static void print_other(const struct columns *columns, const struct line *line) {
  if (!line->other) return print_value(columns, LINE_COLUMN_other, "", "");
  struct estimate bytes = report_bytes(columns->report, line->other);
  if (bytes.samples)
    print_amount(columns, LINE_COLUMN_other, &bytes);
  else
    print_value(columns, LINE_COLUMN_other, "–", "");
}

/* Of mappings, their number. */
static void print_blocks(const struct columns *columns, const struct line *line) {
  char text[32] = "";
  bool counted = !source_limits(columns->report->samples->source)->no_blocks;
  if (line->mapped && line->group)
    text_short_count(text, (double)line->sums->bytes.samples);
  else if (line->group && counted)
    text_short_count(text, report_blocks(columns->report, line->sums).estimate);
  print_value(columns, LINE_COLUMN_blocks, text, "");
}

/* Whether the median is not shown: it has no interval, or no block is counted. */
static bool hides_median(const struct columns *columns, const struct life *life) {
  return !life->samples || (columns->ranges && life->low == NO_BOUND);
}

/* "3.84 us–22.0 us"; "> 3.84 us" if there are too few samples for an upper end. */
static const char *life_range(char buffer[80], const struct life *life) {
  char low[32], high[32];
  *buffer = 0;
  if (!life->samples) return buffer;
  if (life->low == NO_BOUND) return strcpy(buffer, "too few");
  if (life->high == NO_BOUND)
    snprintf(buffer, 80, "> %s", text_time(low, life->low));
  else
    snprintf(buffer, 80, "%s–%s", text_time(low, life->low), text_time(high, life->high));
  return buffer;
}

/* The median life. Where S (lifetimes.c) never reaches one half, more than half of the blocks were never
 * freed, and the longest life says nothing of how long the others lived. */
static const char *life_text(char text[32], const struct life *life, const char *known) {
  return strcpy(text, life->known ? known : "to end");
}

/* Prints a median life, in the unit that the texts have. */
static void print_life(const struct columns *columns, int column, const struct life *life, const char *known,
                       const char *range) {
  char text[32];
  const char *none = columns->style == TABLE_FULL ? "–" : "";
  life_text(text, life, known);
  print_value(columns, column, hides_median(columns, life) ? none : text, range);
}

static void print_life_ns(const struct columns *columns, int column, const struct life *life) {
  char time[32], range[80];
  print_life(columns, column, life, text_time(time, life->median), life_range(range, life));
}

/* The median life in bytes that were allocated during it. */
static void print_life_words(const struct columns *columns, int column, const struct life *life) {
  char value[32], range[80] = "";
  double word = columns->report->samples->word_bytes;
  struct estimate bytes = {.estimate = word * (double)life->median,
                           .low = word * (double)life->low,
                           .high = word * (double)life->high,
                           .samples = life->samples};
  if (life->samples && life->low == NO_BOUND)
    strcpy(range, "too few");
  else if (life->samples && life->high == NO_BOUND)
    snprintf(range, sizeof range, "> %s", text_bytes(value, bytes.low));
  else if (life->samples)
    text_short_range(range, &bytes);
  print_life(columns, column, life, text_bytes(value, bytes.estimate), range);
}

/* A dash where nothing is known of the share: no block can have it. */
static void print_row_share(const struct columns *columns, int column, const struct estimate *share) {
  char text[32], range[32];
  bool any = share->low > 0 || share->high < 1;
  print_value(columns, column, any ? text_share(text, share->estimate) : "–",
              any ? text_share_range(range, share) : "");
}

/* Prints a cell of a row. A column of another kind has NO_TEXT, or gets a case here. */
static void print_cell(const struct columns *columns, int column, const struct cell *cell) {
  char text[32];
  switch (cell->kind) {
  case CELL_TEXT: print_value(columns, column, cell->text, ""); return;
  case CELL_BYTES: print_amount(columns, column, &cell->estimate); return;
  case CELL_BLOCKS: print_value(columns, column, text_short_count(text, cell->estimate.estimate), ""); return;
  case CELL_SHARE: print_row_share(columns, column, &cell->estimate); return;
  case CELL_LIFE_NS: print_life_ns(columns, column, &cell->life); return;
  case CELL_LIFE_WORDS: print_life_words(columns, column, &cell->life); return;
  case CELL_INTEGER:
  case CELL_RATE:
  case CELL_AGES:
  case CELL_STACK: break;
  }
  const bool text_prints_this_kind = false;
  ASSERT(text_prints_this_kind);
  print_value(columns, column, "", "");
}

/* Prints the columns that only rows have. */
static void print_row(const struct columns *columns, const struct line *line) {
  struct table_row row;
  bool begun = false;
  for (int i = LINE_COLUMN_COUNT; i < TEXT_COLUMN_COUNT; i++) {
    struct cell cell;
    if (!columns->shown[i]) continue;
    if (line->group && !begun) row_begin(&row, line->table, line->group, sites_extent(columns->order));
    begun = line->group != NULL;
    if (begun && row_read(&row, (enum row_column)(i - LINE_COLUMN_COUNT), &cell))
      print_cell(columns, i, &cell);
    else
      print_value(columns, i, "", "");
  }
}

static void print_trend(const struct columns *columns, const struct line *line) {
  print_value(columns, LINE_COLUMN_trend, line->trend ? line->trend : "", "");
}

typedef void print_column(const struct columns *columns, const struct line *line);
static print_column *const print[LINE_COLUMN_COUNT] = {
#define LINE_COLUMN(name, ...) print_##name,
    LINE_COLUMNS(LINE_COLUMN)
#undef LINE_COLUMN
};

/* Totals are no samples. */
static void hide_samples(struct columns *columns) {
  if (!source_limits(columns->report->samples->source)->totals) return;
  columns->shown[LINE_COLUMN_samples] = false;
}

/* ---- shared ---- */

struct columns columns_of(const struct view *view, const struct table *table, enum table_style style,
                          bool trends) {
  bool by_stack = table->tree.grouping == BY_STACK, fates = table->details & TABLE_FATES;
  struct columns columns = {.report = view->report,
                            .style = style,
                            .order = view->options->order,
                            .ranges = style == TABLE_FULL && view->report->recording->rate < 1};
  for (int i = 0; i < TEXT_COLUMN_COUNT; i++)
    columns.shown[i] =
        (layout_of(i)->styles & style) &&
        (i < LINE_COLUMN_COUNT || row_column_in(table, (enum row_column)(i - LINE_COLUMN_COUNT)));
  columns.shown[LINE_COLUMN_other] = columns.shown[LINE_COLUMN_other] && has_other(table);
  if (table->details & TABLE_WORD_LIVES) columns.shown[LINE_COLUMN_COUNT + COLUMN_dead_next_share] = false;
  columns.shown[LINE_COLUMN_trend] = trends;
  if (style == TABLE_BRIEF && fates && columns.order != SITES_BY_BLOCKS)
    columns.shown[LINE_COLUMN_blocks] = false; /* in its place is what was promoted */
  hide_samples(&columns);
  if (style == TABLE_FULL)
    drop_until_names_fit(&columns, by_stack ? STACK_LEAST : fates ? NAME_LEAST_FATES : NAME_LEAST);
  columns.name = text_width() - columns_width(&columns);
  return columns;
}

struct columns columns_of_tree(const struct view *view) {
  struct columns columns = {
      .report = view->report,
      .style = TABLE_FULL,
      .order = SITES_BY_TOTAL,
      .ranges = view->report->recording->rate < 1,
      .shown = {[LINE_COLUMN_bytes] = true, [LINE_COLUMN_share] = true, [LINE_COLUMN_samples] = true}};
  hide_samples(&columns);
  drop_until_names_fit(&columns, NAME_LEAST);
  return columns;
}

/* In a table by totals the first column has them, and the other what a row allocates itself. Calls and not
 * blocks are counted of what was allocated by malloc. */
static const char *report_columns_header_of(const struct columns *columns, int column, bool calls) {
  bool full = columns->style == TABLE_FULL, totals = columns->order == SITES_BY_TOTAL;
  if (column == LINE_COLUMN_bytes && full) return totals ? "total" : "self";
  if (column == LINE_COLUMN_other) return totals ? "self" : "total";
  return column == LINE_COLUMN_blocks && calls ? "calls" : layout_of(column)->heading;
}

static const char *range_heading(int column) {
  return layout_of(column)->range < 10 ? "range" : "95 % range";
}

const char *grouping_heading(enum grouping grouping) {
  return grouping == BY_FUNCTION ? "allocated by" : grouping_name(grouping);
}

void columns_print_header(const struct columns *columns, bool calls, const char *name) {
  char fitted[64];
  text_style(stdout, STYLE_DIM);
  for (int i = 0; i < TEXT_COLUMN_COUNT; i++)
    if (columns->shown[i])
      print_value(columns, i, report_columns_header_of(columns, i, calls), range_heading(i));
  printf("  %s", name_fit(fitted, sizeof fitted, name, columns->name < 12 ? 12 : (size_t)columns->name));
  text_style(stdout, STYLE_PLAIN);
  putchar('\n');
}

void columns_print_line(const struct columns *columns, const struct line *line) {
  for (int i = 0; i < LINE_COLUMN_COUNT; i++)
    if (columns->shown[i]) print[i](columns, line);
  print_row(columns, line);
}
/* SPDX-License-Identifier: MIT */
