/* What scrapers send is read, and what they get is written, in their own terms. */
#include "support/test.h"

#include "cli/scrape/ask.h"
#include "cli/scrape/cursors.h"
#include "cli/scrape/metrics.h"
#include <stdlib.h>
#include <string.h>

/* ---- cursors ---- */

/* `next_ns` 0: there is none. */
static void expect_cursor(const struct cursors *cursors, const char *client, uint64_t next_ns, bool last) {
  const struct cursor *cursor = cursors_find(cursors, client);
  assert_int_equal(cursor != NULL, next_ns != 0);
  if (!cursor) return;
  assert_int_equal(cursor->next_ns, next_ns);
  assert_int_equal(cursor->last, last);
}

static void a_client_gets_what_is_new_to_it(void **state) {
  (void)state;
  struct cursors cursors = {.count = 0};
  expect_cursor(&cursors, "one", 0, false);
  cursors_move(&cursors, "one", 100, false);
  expect_cursor(&cursors, "", 0, false);
  cursors_move(&cursors, "", 150, false);
  expect_cursor(&cursors, "one", 100, false);
  cursors_move(&cursors, "one", 200, true);
  expect_cursor(&cursors, "one", 200, true);
  expect_cursor(&cursors, "", 150, false);
  cursors_move(&cursors, "one", 200, false); /* nothing is new, or another has the name */
  expect_cursor(&cursors, "one", 200, false);
  assert_int_equal(cursors.count, 2);
}

static void the_client_that_asked_longest_ago_gives_way(void **state) {
  (void)state;
  struct cursors cursors = {.count = 0};
  char name[CLIENT_MOST];
  for (unsigned i = 0; i < CURSORS_MOST; i++) {
    snprintf(name, sizeof name, "client %u", i);
    cursors_move(&cursors, name, i + 1, false);
  }
  cursors_move(&cursors, "client 0", 50, false);
  cursors_move(&cursors, "new", 60, false);
  assert_int_equal(cursors.count, CURSORS_MOST);
  expect_cursor(&cursors, "client 0", 50, false);
  expect_cursor(&cursors, "client 1", 0, false);
  expect_cursor(&cursors, "client 2", 3, false);
  expect_cursor(&cursors, "new", 60, false);
}

/* ---- requests ---- */

/* Arguments: name, value, name, value ... NULL. */
static const char *value_of(void *context, const char *name) {
  for (const char *const *at = context; *at; at += 2)
    if (!strcmp(*at, name)) return at[1];
  return NULL;
}

static const char *read_ask(struct ask *ask, const char *path, const char *name, const char *value) {
  const char *arguments[] = {name, value, NULL};
  return ask_read(ask, path, value_of, arguments);
}

static void requests_are_read_as_go_reads_them(void **state) {
  (void)state;
  static const struct {
    const char *name, *value;
    bool wrong;
  } cases[] = {
      {"seconds", "1", false},     {"seconds", "", false},  {"seconds", "0", true},
      {"seconds", "-1", true},     {"seconds", "1s", true}, {"seconds", "99999999999999999999", true},
      {"pid", "4711", false},      {"pid", "", true},       {"pid", "0", true},
      {"pid", "2147483648", true}, {"debug", "x", false},   {"gc", "1", false},
      {"unknown", "1", false}};
  struct ask ask;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(read_ask(&ask, "/debug/pprof/heap", cases[i].name, cases[i].value) != NULL,
                     cases[i].wrong);
  assert_null(read_ask(&ask, "/debug/pprof/allocs", "debug", "1"));
  assert_int_equal(ask.what, ASK_ALLOCS);
  assert_true(ask.text);
  assert_null(read_ask(&ask, "/debug/pprof/heap", "seconds", "15"));
  assert_int_equal(ask.seconds, 15);
  assert_null(read_ask(&ask, "/debug/pprof/block", "service", "nginx"));
  assert_int_equal(ask.what, ASK_NOTHING);
  assert_string_equal(ask.service, "nginx");
  assert_non_null(read_ask(&ask, "/debug/pprof/delta_heap", "seconds", "15"));
}

/* ---- metrics ---- */

static char *written(const struct metrics *metrics, size_t count) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  metrics_write(out, metrics, count);
  fclose(out);
  return text;
}

static void expect_line(const char *text, const char *line) {
  const char *found = strstr(text, line);
  if (!found || (found != text && found[-1] != '\n') || found[strlen(line)] != '\n')
    fail_msg("no '%s' in %s", line, text);
}

static void names_in_metrics_are_escaped(void **state) {
  (void)state;
  struct meters meters = {.count = 2};
  strcpy(meters.of[0].name, "rest");
  strcpy(meters.of[1].name, "operator\"\"_\\\n");
  meters.of[1].held = (struct estimate){.estimate = 1500, .low = 1000.5, .high = 2e15};
  struct metrics metrics = {.service = "a \"b\"", .pid = 7, .meters = &meters, .cost = -1, .rate = 1e-4};
  char *text = written(&metrics, 1);
  expect_line(
      text,
      "winnow_held_bytes{service=\"a \\\"b\\\"\",pid=\"7\",function=\"operator\\\"\\\"_\\\\\\n\"} 1500");
  expect_line(text, "winnow_held_bytes_lower{service=\"a "
                    "\\\"b\\\"\",pid=\"7\",function=\"operator\\\"\\\"_\\\\\\n\"} 1000.5");
  expect_line(text, "winnow_held_bytes_upper{service=\"a "
                    "\\\"b\\\"\",pid=\"7\",function=\"operator\\\"\\\"_\\\\\\n\"} 2e+15");
  expect_line(text, "winnow_rate{service=\"a \\\"b\\\"\",pid=\"7\"} 0.0001");
  assert_null(strstr(text, "winnow_cost_ratio{")); /* it is not known */
  free(text);
}

/* All lines of a metric stand together, behind its type. */
static void metrics_stand_together(void **state) {
  (void)state;
  struct meters meters = {.count = 2};
  struct metrics metrics[] = {{.service = "a", .pid = 7, .meters = &meters},
                              {.service = "b", .pid = 8, .meters = &meters}};
  strcpy(meters.of[0].name, "rest");
  strcpy(meters.of[1].name, "parse");
  char *text = written(metrics, 2), current[80] = "", name[80];
  for (char *line = text; *line; line = strchr(line, '\n') + 1) {
    if (sscanf(line, "# TYPE %79s", current) == 1 || *line == '#') continue;
    assert_int_equal(sscanf(line, "%79[a-z_]", name), 1);
    assert_string_equal(name, current);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_client_gets_what_is_new_to_it),
      cmocka_unit_test(the_client_that_asked_longest_ago_gives_way),
      cmocka_unit_test(requests_are_read_as_go_reads_them),
      cmocka_unit_test(names_in_metrics_are_escaped),
      cmocka_unit_test(metrics_stand_together),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
