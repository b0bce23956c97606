/* Prints charts of the memory over the run: a row of bars each for the held, the resident and the
 * private bytes, and for the major heap.
 *
 * Each row has its own scale, from 0 to its largest value, which is printed after the bars: what is
 * held is often far less than what is resident, and the reader looks for its changes. A column
 * shows the largest value in its interval of time. On the first screen all rows have one scale.
 *
 * The process is measured where it allocates. Where it does not for long, nothing is known of it, and the column
 * has a dot, unless it is as large after that as before.
 */
#include "analysis/load/memory_limit.h"
#include "analysis/load/rates.h"
#include "cli/report/report_text.h"
#include "cli/text.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { COLUMNS_MOST = 110, COLUMNS_LEAST = 16, WIDTH_LABEL = 15, WIDTH_BEHIND = 35 };

/* Of the first screen. */
enum { CHART_LABEL = 12, CHART_BEHIND = 11, CHART_LIMIT = 11, CHART_COLUMNS = 76, NOTED_COLUMNS = 30 };

/* Mappings have a row if they had this part of the scale. */
static const double MAPPED_LEAST = 0.1;

/* Of the scale. */
static const double ONE_BAR = 0.125;

#define UNKNOWN (-1.0)

struct series {
  double value[COLUMNS_MOST];
  double most;
};

static size_t column_of(uint64_t time_ns, uint64_t end_ns, size_t columns) {
  if (!end_ns) return 0;
  size_t column = (size_t)((double)time_ns / (double)end_ns * (double)columns);
  return column < columns ? column : columns - 1;
}

static void report_time_add(struct series *series, size_t column, double value) {
  if (value > series->value[column]) series->value[column] = value;
  if (value > series->most) series->most = value;
}

/* `most`: the value of the highest bar. */
static void print_bars(const struct series *series, size_t columns, double most) {
  static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  for (size_t i = 0; i < columns; i++) {
    if (series->value[i] == UNKNOWN) {
      fputs("·", stdout);
      continue;
    }
    int height = most > 0 ? (int)(8 * series->value[i] / most + 0.5) : 0;
    if (height > 8) height = 8;
    fputs(bars[!height && series->value[i] > 0 ? 1 : height], stdout);
  }
}

/* Prints one row; `behind` is left out if the terminal has no room for it. */
static void print_series(const char *label, const struct series *series, size_t columns, const char *behind) {
  fputs("  ", stdout);
  text_pad(stdout, label, WIDTH_LABEL - 2);
  print_bars(series, columns, series->most);
  if (WIDTH_LABEL + (int)columns + 2 + (int)text_columns(behind) <= text_width()) printf("  %s", behind);
  putchar('\n');
}

/* More than columns of the widest chart. */
enum { HELD_MOMENTS = 256 };

/* While nothing is sampled, what is born is not known. */
static bool mark_asleep(const struct samples *samples, size_t columns, struct series *series) {
  bool unknown = false;
  double width = (double)samples->end_ns / (double)columns;
  for (size_t i = 0; i < columns; i++)
    if (asleep_is(samples, (uint64_t)ceil(width * (double)i), (uint64_t)(width * (double)(i + 1))))
      series->value[i] = UNKNOWN, unknown = true;
  return unknown;
}

/* Returns whether a column is UNKNOWN. */
static bool fill_held(const struct view *view, size_t columns, struct series *series) {
  struct moment moments[HELD_MOMENTS];
  timeline_curve(view->report->samples, report_selects, (void *)view->report, moments,
                 (struct moments_of){.count = HELD_MOMENTS});
  for (size_t i = 0; i < HELD_MOMENTS; i++)
    report_time_add(series, column_of(moments[i].time_ns, view->report->samples->end_ns, columns),
                    moments[i].live.bytes.total);
  bool unknown = mark_asleep(view->report->samples, columns, series);
  if (view->report->peak.live.bytes.total <= 0) return unknown;
  report_time_add(series, column_of(view->report->peak.median_ns, view->report->samples->end_ns, columns),
                  view->report->peak.live.bytes.total);
  series->most = view->report->peak.live.bytes.total; /* higher bars are sampling errors, and are cut */
  return unknown;
}

static void report_time_print_held(const struct view *view, size_t columns) {
  struct series series = {.most = 0};
  char behind[160], bytes[32], range[32], count[64];
  fill_held(view, columns, &series);
  struct estimate peak = report_bytes(view->report, &view->report->peak.live);
  text_number_of(count, (double)peak.samples, "sample");
  if (!peak.samples && peak.high > 0)
    snprintf(behind, sizeof behind, "less than %s", text_bytes(bytes, peak.high));
  else if (peak.low != peak.high)
    snprintf(behind, sizeof behind, "%s %s, %s", text_bytes(bytes, peak.estimate),
             text_short_range(range, &peak), count);
  else
    snprintf(behind, sizeof behind, "%s after %s", text_bytes(bytes, peak.estimate),
             text_time(range, view->report->peak.median_ns));
  print_series("held", &series, columns, behind);
}

/* A fortieth of the run from a measurement, nothing is known. */
static bool report_time_is_known(size_t apart, size_t columns) {
  size_t most = columns / 40;
  return apart <= (most ? most : 1);
}

/* Fills in the columns without a measurement. They repeat the one before if that is near, or if the next one is
 * about the same; until the first one they are as that, if it is near or small. Others are UNKNOWN. Returns
 * whether there is one. */
static bool fill_gaps(struct series *series, const bool *seen, size_t columns) {
  size_t last = columns, next = 0;
  bool unknown = false;
  for (size_t i = 0; i < columns; i++) {
    if (seen[i]) {
      last = i;
      continue;
    }
    if (next <= i)
      for (next = i; next < columns && !seen[next];) next++;
    double before = last < columns ? series->value[last] : 0; /* a process begins with nearly nothing */
    bool same = next < columns && fabs(series->value[next] - before) <= ONE_BAR * series->most;
    size_t from = last < columns ? last : next;
    if (from == columns) return false; /* no measurement at all */
    bool known = same || report_time_is_known(from < i ? i - from : from - i, columns);
    series->value[i] = known ? series->value[from] : UNKNOWN;
    unknown = unknown || !known;
  }
  return unknown;
}

/* Fills in the bars of measurements. Returns whether a column is UNKNOWN. */
static bool fill_measured(const struct view *view, size_t columns, struct series *series,
                          uint64_t (*measured)(const struct memory_point *)) {
  const struct samples *samples = view->report->samples;
  bool seen[COLUMNS_MOST] = {false};
  for (size_t i = 0; i < samples->memory_count; i++) {
    size_t column = column_of(samples->memory[i].time_ns, samples->end_ns, columns);
    report_time_add(series, column, (double)measured(&samples->memory[i]));
    seen[column] = true;
  }
  return fill_gaps(series, seen, columns);
}

/* What was resident of the program's own mappings. */
static double report_time_mapped_then(const struct samples *samples, uint64_t time_ns) {
  double bytes = 0;
  for (size_t i = 0; i < samples->mapped.count; i++) {
    const struct row *row = &samples->mapped.rows[i];
    if (row->source != TRACE_MAP_STACK && row->source != TRACE_MAP_ARENA && row_is_live_at(row, time_ns))
      bytes += mapped_resident(samples, row, time_ns);
  }
  return bytes;
}

/* The same of mappings, of which a column has one measurement, that of the largest resident size. */
static bool fill_mapped(const struct view *view, size_t columns, struct series *series) {
  const struct samples *samples = view->report->samples;
  const struct memory_point *most[COLUMNS_MOST] = {NULL};
  bool seen[COLUMNS_MOST] = {false};
  if (!samples->mapped.count) return false;
  for (size_t i = 0; i < samples->memory_count; i++) {
    const struct memory_point *point = &samples->memory[i];
    size_t column = column_of(point->time_ns, samples->end_ns, columns);
    if (point->complete && (!most[column] || point->rss_bytes > most[column]->rss_bytes))
      most[column] = point;
  }
  for (size_t i = 0; i < columns; i++)
    if ((seen[i] = most[i] != NULL))
      report_time_add(series, i, report_time_mapped_then(samples, most[i]->time_ns));
  return fill_gaps(series, seen, columns);
}

static void print_measured(const struct view *view, const char *label, const struct series *series,
                           size_t columns, uint64_t (*measured)(const struct memory_point *)) {
  const struct samples *samples = view->report->samples;
  const struct memory_point *largest = samples->memory;
  char behind[80], bytes[32], time[32];
  if (series->most <= 0) return;
  for (size_t i = 0; i < samples->memory_count; i++)
    if (measured(&samples->memory[i]) > measured(largest)) largest = &samples->memory[i];
  snprintf(behind, sizeof behind, "%s after %s", text_bytes(bytes, series->most),
           text_time(time, largest->time_ns));
  print_series(label, series, columns, behind);
}

static uint64_t rss_of(const struct memory_point *point) { return point->rss_bytes; }
static uint64_t private_of(const struct memory_point *point) { return point->private_bytes; }

/* Prints the bars of the major heap's size, as the collected heap recorded it. */
static void print_major_heap(const struct view *view, size_t columns) {
  const struct heap_life *life = &view->report->samples->life;
  struct series series = {.most = 0};
  bool seen[COLUMNS_MOST] = {false};
  char behind[80], bytes[32], time[32];
  for (size_t i = 0; i < life->collection_count; i++) {
    size_t column = column_of(life->collections[i].time_ns, view->report->samples->end_ns, columns);
    report_time_add(&series, column,
                    view->report->samples->word_bytes * (double)life->collections[i].heap_words);
    seen[column] = true;
  }
  if (series.most <= 0) return;
  for (size_t i = 1; i < columns; i++)
    if (!seen[i]) series.value[i] = series.value[i - 1];
  snprintf(behind, sizeof behind, "%s after %s", text_bytes(bytes, series.most),
           text_time(time, heap_life_largest(life).time_ns));
  print_series("major heap", &series, columns, behind);
}

static size_t choose_width(void) {
  int room = text_width() - WIDTH_LABEL, beside = room - WIDTH_BEHIND;
  int columns = beside >= COLUMNS_LEAST ? beside : room;
  return columns > COLUMNS_MOST ? COLUMNS_MOST : (size_t)columns;
}

/* ---- the first screen ---- */

/* One scale for all: what is between the rows is memory that malloc keeps, code and files. */
/* `limit`: as near_limit has it, of what is resident. */
static void report_time_print_row(const char *label, const struct series *series, size_t columns,
                                  double scale, double limit) {
  char bytes[32], most[32];
  fputs("  ", stdout);
  text_pad(stdout, label, CHART_LABEL - 2);
  print_bars(series, columns, scale);
  printf("  %s", text_bytes(bytes, series->most));
  if (limit > 0) printf(" of %s", text_bytes(most, limit));
  putchar('\n');
}

static void print_axis(const struct view *view, size_t columns, bool several, bool unknown) {
  static const char note[] = "   · not measured", scale[] = "  same scale";
  char time[32];
  int end = CHART_LABEL + (int)columns + (int)sizeof scale - 1;
  bool noted = unknown && columns >= NOTED_COLUMNS;
  text_time(time, view->report->samples->end_ns);
  printf("%*s0 s%s%*s%s\n", CHART_LABEL, "", noted ? note : "",
         (int)columns - 3 - (noted ? (int)text_columns(note) : 0), time,
         several && end <= text_width() ? scale : "");
}

/* The limit of the control group, if the resident size came near to it; else 0. */
static double near_limit(const struct view *view) {
  static const double NEAR = 4;
  double limit = (double)memory_limit_of(view->report->samples).limit;
  return limit <= NEAR * facts_number(view->facts, FACT_TOTALS_peak_rss_bytes) ? limit : 0;
}

/* ---- shared ---- */

int report_print_chart(const struct view *view) {
  struct series held = {.most = 0}, resident = {.most = 0}, mapped = {.most = 0};
  double limit = near_limit(view);
  int room = text_width() - CHART_LABEL - CHART_BEHIND - (limit > 0 ? CHART_LIMIT : 0);
  size_t columns = room > CHART_COLUMNS ? CHART_COLUMNS : room < COLUMNS_LEAST ? COLUMNS_LEAST : (size_t)room;
  bool unknown_held = fill_held(view, columns, &held),
       unknown = fill_measured(view, columns, &resident, rss_of),
       unknown_mapped = fill_mapped(view, columns, &mapped);
  double scale = held.most > resident.most ? held.most : resident.most;
  bool has_resident = resident.most > 0, has_mapped = has_resident && mapped.most >= MAPPED_LEAST * scale;
  putchar('\n');
  if (has_resident) report_time_print_row("resident", &resident, columns, scale, limit);
  if (has_mapped) report_time_print_row("mapped", &mapped, columns, scale, 0);
  report_time_print_row("held", &held, columns, scale, 0);
  print_axis(view, columns, has_resident,
             unknown_held || (has_resident && (unknown || (has_mapped && unknown_mapped))));
  return 3 + has_resident + has_mapped;
}

void report_print_time(const struct view *view) {
  size_t columns = choose_width();
  struct series resident = {.most = 0}, private = {.most = 0};
  bool unknown = fill_measured(view, columns, &resident, rss_of);
  fill_measured(view, columns, &private, private_of);
  char title[128], time[32];
  snprintf(title, sizeof title, "Over the run, from its start to %s; each row by its own scale%s",
           text_time(time, view->report->samples->end_ns), unknown ? "; ·: not measured" : "");
  putchar('\n');
  text_paragraph(stdout, title, 0);
  report_time_print_held(view, columns);
  print_major_heap(view, columns);
  print_measured(view, "resident", &resident, columns, rss_of);
  print_measured(view, "private", &private, columns, private_of);
}
/* SPDX-License-Identifier: MIT */
