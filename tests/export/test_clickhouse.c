/* The windows of a trace add up to its report, and both encodings of their rows say the same. */
#include "analysis/story.h"
#include "support/test.h"

#include "analysis/load/timeline.h"
#include "export/clickhouse.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN = 7, BLOCKS = 400, WINDOWS = 50 };

/* Just before midnight, and not where a window begins. */
#define WALL_NS (UINT64_C(1795996800) * 1000000000 - WINDOW_NS - 77)

static uint64_t moment(uint32_t block) { return block * (WINDOWS * WINDOW_NS / BLOCKS); }

static struct recording *record(void) {
  static struct tree_source source = {.node = story_node, .module = story_module};
  static uint32_t repeat = 5;
  source.context = &repeat;
  struct trace_options options = {.path = story_path()};
  struct trace_run run = {.command = trace_text_of("/usr/bin/story"),
                          .host = trace_text_of("a\\b\tc"),
                          .rate = 0.01,
                          .word_bytes = 8,
                          .stack_depth = 1024,
                          .wall_ns = WALL_NS};
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  for (uint32_t i = 1; i < BLOCKS; i++) {
    story_alloc(writer, i, moment(i), i % 40 * 8, i % (CHAIN + 1));
    if (i % 5 == 0) story_resize(writer, i, moment(i), 4096);
    if (i % 10 == 0) story_resize(writer, i, moment(i) + WINDOW_NS, i % 20 ? 64 : 9000);
    if (i % 3) story_free(writer, i, i % 2 ? moment(i) : moment(i) + i % 7 * WINDOW_NS);
  }
  trace_writer_close(writer);
  struct recording *recording;
  struct recording_options asked = {.names = {.symbols = false}};
  assert_int_equal(recording_load(story_path(), &asked, &recording), WN_OK);
  unlink(story_path());
  return recording;
}

/* ---- the tables ---- */

/* 128 bytes: the first length that takes two. */
#define SIXTY "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define LONG  SIXTY SIXTY "longer"

struct tables {
  char *text[CLICKHOUSE_TABLES];
  size_t size[CLICKHOUSE_TABLES];
  FILE *streams[CLICKHOUSE_TABLES];
};

static void open_tables(struct tables *tables) {
  for (int i = 0; i < CLICKHOUSE_TABLES; i++) {
    tables->streams[i] = open_memstream(&tables->text[i], &tables->size[i]);
    assert_non_null(tables->streams[i]);
  }
}

static void close_tables(struct tables *tables) {
  for (int i = 0; i < CLICKHOUSE_TABLES; i++) fclose(tables->streams[i]);
}

static void free_tables(struct tables *tables) {
  for (int i = 0; i < CLICKHOUSE_TABLES; i++) free(tables->text[i]);
}

/* Writes every `step`th window. */
static void write_windows(const struct report *report, enum clickhouse_encoding encoding, uint64_t step,
                          struct tables *tables) {
  struct clickhouse_told told = {.count = 0};
  struct clickhouse *rows;
  size_t count;
  open_tables(tables);
  assert_int_equal(
      clickhouse_create(report, &(struct clickhouse_labels){NULL, "\\" LONG "1"}, encoding, &told, &rows),
      WN_OK);
  for (uint64_t window = clickhouse_first(rows); window <= clickhouse_last(rows); window += step)
    assert_int_equal(clickhouse_window(rows, window, tables->streams, &count), WN_OK);
  clickhouse_destroy(rows);
  clickhouse_forget(&told);
  close_tables(tables);
}

/* ---- sums ---- */

struct line {
  char kind[8];
  uint64_t time, samples;
  struct sum bytes, blocks;
};

static double column(char **at) { return strtod(strsep(at, "\t"), NULL); }

static struct sum read_sum(char **at) {
  struct sum sum;
  sum.total = column(at);
  sum.variance = column(at);
  sum.seen = column(at);
  sum.clustered = column(at);
  sum.typical = sum.total + column(at);
  sum.earlier = column(at);
  return sum;
}

/* Takes the next line off a text. False: there is none. */
static bool read_line(char **text, struct line *line) {
  char *at = strsep(text, "\n");
  if (!at || !*at) return false;
  strsep(&at, "\t"); /* the day */
  line->time = strtoull(strsep(&at, "\t"), NULL, 10);
  assert_string_equal(strsep(&at, "\t"), "story");
  assert_string_equal(strsep(&at, "\t"), "\\\\" LONG "1");
  assert_string_equal(strsep(&at, "\t"), "a\\\\b?c");
  strsep(&at, "\t"); /* run */
  strsep(&at, "\t"); /* batch */
  snprintf(line->kind, sizeof line->kind, "%s", strsep(&at, "\t"));
  strsep(&at, "\t"); /* site */
  strsep(&at, "\t"); /* stack */
  line->samples = strtoull(strsep(&at, "\t"), NULL, 10);
  strsep(&at, "\t"); /* unit */
  line->bytes = read_sum(&at);
  line->blocks = read_sum(&at);
  assert_null(at);
  line->bytes.samples = line->blocks.samples = line->samples;
  return true;
}

/* The sums of a kind, in one window or (0) in all. */
static struct sums sums_of(const struct tables *tables, const char *kind, uint64_t time) {
  char *copy = strdup(tables->text[CLICKHOUSE_SAMPLES]), *text = copy;
  struct sums sums = {.bytes = {.samples = 0}};
  struct line line;
  while (read_line(&text, &line)) {
    if (strcmp(line.kind, kind) != 0 || (time && line.time != time)) continue;
    sum_merge(&sums.bytes, &line.bytes);
    sum_merge(&sums.blocks, &line.blocks);
  }
  free(copy);
  return sums;
}

static void expect_near(double one, double other) {
  if (!(fabs(one - other) <= 1e-9 * fmax(fabs(one), 1))) fail_msg("%.17g is not %.17g", one, other);
}

static void expect_sum(const struct sum *one, const struct sum *other) {
  expect_near(one->total, other->total);
  expect_near(one->variance, other->variance);
  expect_near(one->seen, other->seen);
  expect_near(one->clustered, other->clustered);
  expect_near(one->typical, other->typical);
  expect_near(one->earlier, other->earlier);
  assert_int_equal(one->samples, other->samples);
}

static void expect_sums(const struct sums *one, const struct sums *other) {
  expect_sum(&one->bytes, &other->bytes);
  assert_true(fabs(one->blocks.total - other->blocks.total) <= 1e-9 * other->blocks.total);
  expect_near(one->blocks.variance, other->blocks.variance);
}

static struct sums died_of(const struct samples *samples) {
  struct sums sums = {.bytes = {.samples = 0}};
  for (size_t i = 0; i < samples->row_count; i++)
    if (samples->rows[i].last && samples->rows[i].died_ns != STILL_ALIVE)
      timeline_add_live(&sums, &samples->rows[i]);
  return sums;
}

static void windows_add_up_to_the_report(void **state) {
  (void)state;
  struct recording *recording = record();
  struct report report;
  struct tables tables;
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &report), WN_OK);
  write_windows(&report, CLICKHOUSE_TEXT, 1, &tables);
  struct sums born = sums_of(&tables, "born", 0), died = sums_of(&tables, "died", 0),
              dead = died_of(report.samples);
  assert_true(born.bytes.total > 0 && died.bytes.total > 0);
  expect_sums(&born, &report.allocated);
  expect_sums(&died, &dead);
  uint64_t first = WALL_NS / WINDOW_NS, last = (WALL_NS + report.samples->end_ns) / WINDOW_NS;
  assert_true(last - first >= WINDOWS - 2);
  for (uint64_t window = first; window <= last; window++) {
    uint64_t end_ns = (window + 1) * WINDOW_NS - WALL_NS;
    struct sums held = sums_of(&tables, "held", window * WINDOW_SECONDS),
                live = timeline_live_at(report.samples, end_ns - 1, NULL, NULL);
    expect_sums(&held, window < last ? &live : &report.asked.live);
  }
  free_tables(&tables);
  report_destroy(&report);
  recording_free(recording);
}

static void a_window_says_the_same_without_those_before(void **state) {
  (void)state;
  struct recording *recording = record();
  struct report report;
  struct tables all, some;
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &report), WN_OK);
  write_windows(&report, CLICKHOUSE_TEXT, 1, &all);
  write_windows(&report, CLICKHOUSE_TEXT, 3, &some);
  static const char *const kinds[] = {"held", "born", "died"};
  uint64_t first = WALL_NS / WINDOW_NS;
  for (uint64_t window = first; window < first + WINDOWS - 3; window += 3)
    for (int i = 0; i < 3; i++) {
      struct sums one = sums_of(&all, kinds[i], window * WINDOW_SECONDS),
                  other = sums_of(&some, kinds[i], window * WINDOW_SECONDS);
      expect_sums(&one, &other);
    }
  free_tables(&all);
  free_tables(&some);
  report_destroy(&report);
  recording_free(recording);
}

/* ---- the encodings ---- */

static uint64_t take(const unsigned char **at, int bytes) {
  uint64_t number = 0;
  for (int i = 0; i < bytes; i++) number |= (uint64_t) * (*at)++ << 8 * i;
  return number;
}

static uint64_t take_length(const unsigned char **at) {
  uint64_t length = 0;
  int shift = 0;
  do length |= (uint64_t)(**at & 0x7f) << shift, shift += 7;
  while (*(*at)++ & 0x80);
  return length;
}

static void show_text(FILE *out, const unsigned char **at) {
  for (uint64_t length = take_length(at); length--; (*at)++) {
    if (**at == '\\') putc('\\', out);
    putc(**at, out);
  }
}

static void show_numbers(FILE *out, const unsigned char **at) {
  uint64_t count = take_length(at);
  putc('[', out);
  for (uint64_t i = 0; i < count; i++) fprintf(out, "%s%" PRIu64, i ? "," : "", take(at, 8));
  putc(']', out);
}

static void show_real(FILE *out, uint64_t bits) {
  double real;
  memcpy(&real, &bits, sizeof real);
  fprintf(out, "%.17g", real);
}

/* Shows a value of RowBinary as TabSeparated has it. */
static void show(FILE *out, const char *type, const unsigned char **at) {
  static const char *const kinds[] = {"", "held", "born", "died"};
  if (!strcmp(type, "Date"))
    fputs(take(at, 2) == 20786 ? "2026-11-29" : "2026-11-30", out);
  else if (!strcmp(type, "DateTime") || !strcmp(type, "UInt32"))
    fprintf(out, "%" PRIu64, take(at, 4));
  else if (!strcmp(type, "UInt64"))
    fprintf(out, "%" PRIu64, take(at, 8));
  else if (!strcmp(type, "Float64"))
    show_real(out, take(at, 8));
  else if (!strcmp(type, "String"))
    show_text(out, at);
  else if (!strncmp(type, "Enum8", 5))
    fputs(kinds[take(at, 1)], out);
  else if (!strcmp(type, "Array(UInt64)"))
    show_numbers(out, at);
  else
    fail_msg("the type %s is not known", type);
}

/* Shows the rows of a table. */
static char *show_rows(enum clickhouse_table table, const char *bytes, size_t size) {
  char *columns, *text, *type;
  size_t columns_size, text_size;
  FILE *declared = open_memstream(&columns, &columns_size), *out = open_memstream(&text, &text_size);
  clickhouse_write_columns(declared, table);
  fclose(declared);
  const unsigned char *at = (const unsigned char *)bytes, *end = at + size;
  while (at < end) {
    char *copy = strdup(columns), *rest = copy;
    for (const char *between = ""; (type = strsep(&rest, "\n")) && *type; between = "\t") {
      type = strchr(type + 2, ' ') + 1;
      if (type[strlen(type) - 1] == ',') type[strlen(type) - 1] = 0;
      fputs(between, out);
      show(out, type, &at);
    }
    putc('\n', out);
    free(copy);
  }
  assert_ptr_equal(at, end);
  fclose(out);
  free(columns);
  return text;
}

static void both_encodings_say_the_same(void **state) {
  (void)state;
  struct recording *recording = record();
  struct report report;
  struct tables text, binary;
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &report), WN_OK);
  write_windows(&report, CLICKHOUSE_TEXT, 1, &text);
  write_windows(&report, CLICKHOUSE_BINARY, 1, &binary);
  for (int i = 0; i < CLICKHOUSE_TABLES; i++) {
    char *shown = show_rows((enum clickhouse_table)i, binary.text[i], binary.size[i]);
    assert_true(text.size[i] > 0);
    assert_string_equal(shown, text.text[i]);
    free(shown);
  }
  assert_non_null(strstr(text.text[CLICKHOUSE_LOADS], "2026-11-29\t"));
  assert_non_null(strstr(text.text[CLICKHOUSE_LOADS], "2026-11-30\t"));
  free_tables(&text);
  free_tables(&binary);
  report_destroy(&report);
  recording_free(recording);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(windows_add_up_to_the_report),
                                     cmocka_unit_test(a_window_says_the_same_without_those_before),
                                     cmocka_unit_test(both_encodings_say_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
