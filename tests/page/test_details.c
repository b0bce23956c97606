/* Details of a function: its parts add up, are those of the graph, and are the rows of tables that
 * a filter makes. */
#include "page/asking.h"

enum { AMOUNTS_MOST = 64, NAME_MOST = 128 };

static const char *const functions[] = {"main",
                                        "parse",
                                        "std::vector<int, std::allocator<int> >::push_back",
                                        "operator new(unsigned long)",
                                        "cache_add",
                                        "my_alloc"};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Names, as JSON has them, and their bytes. */
struct amounts {
  char name[AMOUNTS_MOST][NAME_MOST];
  double bytes[AMOUNTS_MOST];
  size_t count, more;
};

static double *amount_of(struct amounts *amounts, const char *name) {
  for (size_t i = 0; i < amounts->count; i++)
    if (!strcmp(amounts->name[i], name)) return &amounts->bytes[i];
  assert_true(amounts->count < AMOUNTS_MOST);
  snprintf(amounts->name[amounts->count], NAME_MOST, "%s", name);
  return &amounts->bytes[amounts->count++];
}

static double total_of(const struct amounts *amounts) {
  double sum = 0;
  for (size_t i = 0; i < amounts->count; i++) sum += amounts->bytes[i];
  return sum;
}

/* ---- reading ---- */

/* Copies the texts of `labels` from here on. */
static size_t read_labels(const char *json, char (*names)[NAME_MOST], size_t most) {
  const char *at = strstr(json, "\"labels\": ["), *end = strstr(at, "}]");
  size_t count = 0;
  for (; (at = strstr(at, "\"text\": \"")) && at < end; count++) {
    assert_true(count < most);
    at += strlen("\"text\": \"");
    size_t length = strcspn(at, "\"");
    snprintf(names[count], NAME_MOST, "%.*s", (int)length, at);
  }
  return count;
}

static size_t read_numbers(const char *json, const char *name, const char *member, double *numbers) {
  char quoted[32];
  snprintf(quoted, sizeof quoted, "\"%s\": [", name);
  const char *at = strstr(json, quoted), *end = strstr(at, "]");
  size_t count = 0;
  for (; (at = strstr(at, member)) && at < end; count++) numbers[count] = strtod(at += strlen(member), NULL);
  return count;
}

/* Whether the function is no row of the table: it only allocates for its callers, or none of its
 * blocks is sampled. */
static bool is_no_row(const struct told *told) {
  return strstr(told->json, "\"total_bytes\": {\"estimate\": 0,") != NULL;
}

/* The parts of an answer that have this name. */
static struct amounts parts_of(const struct told *told, const char *name) {
  struct amounts parts = {.count = 0};
  char quoted[32];
  snprintf(quoted, sizeof quoted, "\"%s\": {\"more\": ", name);
  const char *at = strstr(told->json, quoted);
  if (!at) return parts;
  parts.more = strtoul(at + strlen(quoted), NULL, 10);
  parts.count = read_labels(at, parts.name, AMOUNTS_MOST);
  assert_int_equal(read_numbers(at, "bytes", "\"estimate\": ", parts.bytes), parts.count);
  double share[AMOUNTS_MOST], low[AMOUNTS_MOST], high[AMOUNTS_MOST];
  assert_int_equal(read_numbers(at, "shares", "\"estimate\": ", share), parts.count);
  read_numbers(at, "shares", "\"low\": ", low);
  read_numbers(at, "shares", "\"high\": ", high);
  double whole = strtod(strstr(strstr(told->json, "\"total_bytes\": "), ": {\"estimate\": ") + 15, NULL);
  for (size_t i = 0; i < parts.count; i++) {
    assert_true(nearly(share[i], parts.bytes[i] / whole));
    assert_true(low[i] <= share[i] && share[i] <= high[i] && high[i] <= 1 + 1e-9);
    assert_true(!i || parts.bytes[i] <= parts.bytes[i - 1]);
  }
  return parts;
}

/* The rows of a table, by what they have with callees. */
static struct amounts rows_of(const struct told *told) {
  struct amounts rows = {.count = 0};
  size_t count;
  const double *total = column(told, "total", &count);
  rows.count = read_labels(told->json, rows.name, AMOUNTS_MOST);
  assert_int_equal(rows.count, count);
  memcpy(rows.bytes, total, count * sizeof *total);
  return rows;
}

static void check_parts(const char *question, const char *what, struct amounts *parts,
                        struct amounts *expected) {
  size_t there = 0;
  for (size_t i = 0; i < expected->count; i++) there += expected->bytes[i] > 0;
  if (parts->count + parts->more != there)
    fail_msg("%s: %zu and %zu %s, not %zu", question, parts->count, parts->more, what, there);
  for (size_t i = 0; i < parts->count; i++)
    if (!nearly(parts->bytes[i], *amount_of(expected, parts->name[i])))
      fail_msg("%s: %s %s has %f, not %f", question, what, parts->name[i], parts->bytes[i],
               *amount_of(expected, parts->name[i]));
}

/* ---- the graph ---- */

/* The callers and callees of a function, box by box of the whole graph. */
static void walk_graph(const struct told *told, const char *of, struct amounts *callers,
                       struct amounts *callees) {
  static char names[AMOUNTS_MOST][NAME_MOST];
  size_t count, path[AMOUNTS_MOST], depth = 0;
  const uint32_t *next = column(told, "next", &count), *label = column(told, "label", &count);
  const double *self = column(told, "self", &count);
  read_labels(told->json, names, AMOUNTS_MOST);
  for (size_t box = 1; box < count; box++) {
    while (depth && next[path[depth - 1]] <= box) depth--;
    path[depth++] = box;
    size_t first = depth, last = depth;
    for (size_t i = depth; i-- > 0;)
      if (!strcmp(names[label[path[i]]], of)) first = i, last = last == depth ? i : last;
    if (first == depth || self[box] <= 0) continue;
    *amount_of(callers, first ? names[label[path[first - 1]]] : "(no callstack)") += self[box];
    *amount_of(callees, last + 1 < depth ? names[label[path[last + 1]]] : of) += self[box];
  }
}

static struct told ask_about(struct answers *answers, const char *view, const char *query, const char *rest) {
  char question[1024];
  snprintf(question, sizeof question, "view=%s\n%s%s%s%s", view, *query ? "where=" : "", query,
           *query ? "\n" : "", rest);
  return ask(answers, question);
}

/* Whether the function has blocks. */
static bool check_neighbours(struct answers *answers, const char *query, const char *measure,
                             const char *of) {
  char rest[256];
  struct amounts in_graph[2] = {{.count = 0}, {.count = 0}};
  snprintf(rest, sizeof rest, "measure=%s\nby=function\nstacks=whole\n", measure);
  struct told graph = ask_about(answers, "flame", query, rest);
  if (is_failure(&graph, "after the end")) return drop(&graph), false;
  walk_graph(&graph, of, &in_graph[0], &in_graph[1]);
  snprintf(rest, sizeof rest, "measure=%s\nby=function\nof=%s\n", measure, of);
  struct told told = ask_about(answers, "details", query, rest);
  struct amounts callers = parts_of(&told, "callers"), callees = parts_of(&told, "callees");
  bool is_row = !is_no_row(&told);
  if (is_row) check_parts(query, "callers", &callers, &in_graph[0]);
  if (is_row) check_parts(query, "callees", &callees, &in_graph[1]);
  assert_true(nearly(total_of(&in_graph[0]), total_of(&in_graph[1])));
  drop(&told), drop(&graph);
  return is_row;
}

static const unsigned kinds[] = {0, TALE_RESIZES, TALE_COLLECTED, TALE_EXACT, TALE_LOST | TALE_KILLED};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void callers_and_callees_are_those_of_the_graph(void **state) {
  (void)state;
  struct tale tale = {.kind = 0};
  random_seed(&tale.random, 21, 0, 0);
  int checked = 0;
  for (size_t i = 0; i < KINDS; i++) {
    struct recording *recording = tell(kinds[i], i + 40);
    struct answers answers;
    answers_create(&answers, recording, NULL);
    for (int n = 0; n < 100; n++) {
      char query[512];
      random_query(&tale, query, sizeof query);
      checked += check_neighbours(&answers, query,
                                  PICK(&tale, "held", "allocated", "churn", "promoted", "alive", "lasting"),
                                  functions[tale_draw(&tale, FUNCTIONS)]);
    }
    answers_destroy(&answers);
    recording_free(recording);
  }
  printf("  %d of %d functions had blocks\n", checked, 100 * KINDS);
  assert_true(checked > 100);
}

/* ---- filters ---- */

/* The rows of a table of the blocks with this function; of a table by line, those of the function
 * alone. */
static struct amounts filtered(struct answers *answers, const char *query, const char *measure,
                               const char *by, const char *of) {
  char filter[640], rest[64], name[NAME_MOST];
  snprintf(filter, sizeof filter, "%s%sfn = \"%s\"", query, *query ? " and " : "", of);
  snprintf(rest, sizeof rest, "measure=%s\nby=%s\n", measure, by);
  struct told told = ask_about(answers, "table", filter, rest);
  struct amounts rows = rows_of(&told), own = {.count = 0};
  drop(&told);
  snprintf(name, sizeof name, "%s (", of);
  for (size_t i = 0; i < rows.count; i++)
    if (strcmp(by, "line") != 0 || !strncmp(rows.name[i], name, strlen(name)))
      *amount_of(&own, rows.name[i]) = rows.bytes[i];
  return own;
}

static void lines_and_threads_are_rows_of_tables_with_a_filter(void **state) {
  (void)state;
  static const char *const queries[] = {"",           "size > 100", "not fn = parse",
                                        "thread = 1", "at = 1us",   "life > 1us"};
  struct tale tale = {.kind = 0};
  size_t lines_seen = 0, threads_seen = 0;
  random_seed(&tale.random, 22, 0, 0);
  for (size_t i = 0; i < KINDS; i++) {
    struct recording *recording = tell(kinds[i], i + 60);
    struct answers answers;
    answers_create(&answers, recording, NULL);
    for (int n = 0; n < 60; n++) {
      const char *query = queries[tale_draw(&tale, 6)], *of = functions[tale_draw(&tale, FUNCTIONS)];
      const char *measure = !strncmp(query, "at", 2) ? "held" : PICK(&tale, "allocated", "churn", "alive");
      char rest[256];
      snprintf(rest, sizeof rest, "measure=%s\nby=function\nof=%s\n", measure, of);
      struct told told = ask_about(&answers, "details", query, rest);
      struct amounts lines = parts_of(&told, "lines"), threads = parts_of(&told, "threads"),
                     by_line = filtered(&answers, query, measure, "line", of),
                     by_thread = filtered(&answers, query, measure, "thread", of);
      if (is_no_row(&told)) by_line.count = by_thread.count = 0;
      check_parts(query, "lines", &lines, &by_line);
      if (by_thread.count < 2) assert_int_equal(threads.count, 0);
      if (by_thread.count > 1) check_parts(query, "threads", &threads, &by_thread);
      lines_seen += lines.count > 0, threads_seen += threads.count > 2;
      drop(&told);
    }
    answers_destroy(&answers);
    recording_free(recording);
  }
  assert_true(lines_seen > 50 && threads_seen > 50);
}

static void a_thread_has_no_callers_and_a_line_no_lines(void **state) {
  (void)state;
  struct recording *recording = tell(0, 5);
  struct answers answers;
  answers_create(&answers, recording, NULL);
  struct told told = ask(&answers, "view=details\nmeasure=allocated\nby=thread\nof=worker (thread 1)\n");
  assert_false(is_no_row(&told));
  assert_null(strstr(told.json, "\"callers\""));
  assert_null(strstr(told.json, "\"threads\""));
  drop(&told);
  told = ask(&answers, "view=details\nmeasure=allocated\nby=line\nof=main (one.x:1)\n");
  assert_non_null(strstr(told.json, "\"callees\""));
  assert_null(strstr(told.json, "\"lines\""));
  drop(&told);
  answers_destroy(&answers);
  recording_free(recording);
}

/* What a function held with its callees is what a chart of the blocks with it shows. Of each chart
 * one moment is that of its own peak. */
static void the_curve_with_callees_is_that_of_a_filter(void **state) {
  (void)state;
  struct recording *recording = tell(TALE_RESIZES, 6);
  struct answers answers;
  size_t rows = 0;
  answers_create(&answers, recording, NULL);
  for (int i = 0; i < FUNCTIONS; i++) {
    char rest[256], filter[256];
    size_t count, same;
    snprintf(filter, sizeof filter, "fn = \"%s\"", functions[i]);
    snprintf(rest, sizeof rest, "by=function\npoints=50\nextent=total\nof=%s\n", functions[i]);
    struct told told = ask_about(&answers, "time", "", rest), row = ask_about(&answers, "details", "", rest),
                all = ask_about(&answers, "time", "", "points=50\n"),
                filtered = ask_about(&answers, "time", filter, "points=50\n");
    const float *held = column(&told, "held", &count);
    const double *expected = column(&filtered, "held", &same), *time = column(&all, "time", &same),
                 *other = column(&filtered, "time", &same);
    size_t moments = 0;
    assert_int_equal(count, same);
    for (size_t at = 0; at < count; at++) {
      if (time[at] != other[at]) continue;
      moments++;
      assert_true(fabs(held[at] - (is_no_row(&row) ? 0 : expected[at])) <= 1e-6 * expected[at]);
    }
    assert_true(moments >= count - 2);
    rows += !is_no_row(&row);
    drop(&told), drop(&all), drop(&filtered), drop(&row);
  }
  assert_true(rows > 2);
  answers_destroy(&answers);
  recording_free(recording);
}

/* ping and pong call each other: 10 bytes below main > ping > pong, 300 more below a second ping,
 * and 7000 in `leaf` there. */
static void a_recursion_through_another_function_counts_once(void **state) {
  (void)state;
  static const struct named_node nodes[] = {{0},         {"main", 0}, {"ping", 1}, {"pong", 2},
                                            {"ping", 3}, {"leaf", 4}, {"boot", 0}, {"ping", 6}};
  struct trace_writer *writer = named_story_begin(1, nodes);
  struct recording *recording;
  struct recording_options plain = {.names = {.symbols = false}};
  struct answers answers;
  uint64_t block = 0;
  story_next(writer, &block, 10, 3);
  story_next(writer, &block, 300, 4);
  story_next(writer, &block, 7000, 5);
  story_next(writer, &block, 50000, 7);
  trace_writer_close(writer);
  assert_int_equal(recording_load(story_path(), &plain, &recording), WN_OK);
  unlink(story_path());
  answers_create(&answers, recording, NULL);
  struct told told = ask(&answers, "view=details\nmeasure=allocated\nby=function\nof=ping\n");
  struct amounts callers = parts_of(&told, "callers"), callees = parts_of(&told, "callees");
  assert_int_equal(callers.count, 2);
  assert_true(*amount_of(&callers, "main") == 7310 && *amount_of(&callers, "boot") == 50000);
  assert_int_equal(callees.count, 3);
  assert_true(*amount_of(&callees, "ping") == 50300 && *amount_of(&callees, "pong") == 10 &&
              *amount_of(&callees, "leaf") == 7000);
  drop(&told);
  answers_destroy(&answers);
  recording_free(recording);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(callers_and_callees_are_those_of_the_graph),
      cmocka_unit_test(lines_and_threads_are_rows_of_tables_with_a_filter),
      cmocka_unit_test(the_curve_with_callees_is_that_of_a_filter),
      cmocka_unit_test(a_recursion_through_another_function_counts_once),
      cmocka_unit_test(a_thread_has_no_callers_and_a_line_no_lines),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
