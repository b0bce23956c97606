/* Reads requests, and has the views answer them. */
#include "page/answers.h"

#include "base/error.h"
#include "page/views.h"
#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

static int word_among(const char *const *words, const char *word) {
  for (int i = 0; words[i]; i++)
    if (!strcmp(words[i], word)) return i;
  return -1;
}

static bool set_measure(struct request *request, const char *value) {
  for (int measure = 0; measure < MEASURES; measure++)
    if (!strcmp(measure_word((enum measure)measure), value))
      return request->measure = (enum measure)measure, true;
  return false;
}

static bool answers_set_by(struct request *request, const char *value) {
  for (int grouping = 0; grouping < BY_STACK; grouping++)
    if (!strcmp(grouping_name((enum grouping)grouping), value))
      return request->grouping = (enum grouping)grouping, true;
  return false;
}

static bool set_direction(struct request *request, const char *value) {
  static const char *const words[] = {"callees", "callers", NULL};
  int found = word_among(words, value);
  request->direction = found == 1 ? CALLERS : CALLEES;
  return found >= 0;
}

static bool set_fold(struct request *request, const char *value) {
  return request->fold = !strcmp(value, "yes");
}

static bool set_stacks(struct request *request, const char *value) {
  return request->whole_stacks = !strcmp(value, "whole");
}

static bool set_points(struct request *request, const char *value) {
  char *end;
  unsigned long points = strtoul(value, &end, 10);
  request->points = points;
  return *value && !*end && points >= POINTS_LEAST && points <= POINTS_MOST;
}

static bool answers_set_per(struct request *request, const char *value) {
  static const char *const words[] = {"run", "second", "allocation", NULL};
  int found = word_among(words, value);
  request->per = found > 0 ? (enum scaling)found : PER_EITHER;
  return found >= 0;
}

static bool set_extent(struct request *request, const char *value) {
  static const char *const words[] = {"self", "total", NULL};
  int found = word_among(words, value);
  request->extent = found == 1 ? EXTENT_TOTAL : EXTENT_SELF;
  return found >= 0;
}

static bool set_view(struct request *request, const char *value) { return request->view = value, true; }
static bool answers_set_where(struct request *request, const char *value) {
  return request->where = value, true;
}
static bool set_of(struct request *request, const char *value) { return request->of = value, true; }
static bool set_focus(struct request *request, const char *value) { return request->focus = value, true; }
static bool set_against(struct request *request, const char *value) { return request->against = value, true; }

static const struct {
  const char *name;
  bool (*set)(struct request *request, const char *value);
} keys[] = {{"view", set_view},     {"where", answers_set_where}, {"measure", set_measure},
            {"by", answers_set_by}, {"direction", set_direction}, {"of", set_of},
            {"focus", set_focus},   {"fold", set_fold},           {"stacks", set_stacks},
            {"points", set_points}, {"against", set_against},     {"per", answers_set_per},
            {"extent", set_extent}};
enum { KEYS = sizeof keys / sizeof *keys };

/* Reads one line `key=value`. The value ends with a 0. */
static wn_status answers_read_line(struct request *request, char *line) {
  char *equals = strchr(line, '=');
  if (!equals) return error_set(WN_EINVAL, "a request has lines key=value, not '%.40s'", line);
  *equals = 0;
  for (size_t i = 0; i < KEYS; i++) {
    if (strcmp(keys[i].name, line) != 0) continue;
    if (keys[i].set(request, equals + 1)) return WN_OK;
    return error_set(WN_EINVAL, "a request's '%s' cannot be '%.40s'", line, equals + 1);
  }
  return error_set(WN_EINVAL, "a request has no '%.40s'", line);
}

/* Reads a request from a text that it cuts in pieces. */
static wn_status answers_read_request(char *text, struct request *request) {
  wn_status error = WN_OK;
  *request = (struct request){.points = POINTS_USUAL};
  for (char *line = text, *next; line && *line && !error; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    error = answers_read_line(request, line);
  }
  return error;
}

/* ---- answers ---- */

static const struct {
  const char *name;
  view_function *view, *compared; /* NULL: it does not compare, or only compares */
} views[] = {{"head", view_head, NULL},       {"totals", view_totals, NULL},
             {"time", view_time, NULL},       {"flame", view_flame, view_compared_flame},
             {"table", view_table, NULL},     {"kinds", view_kinds, NULL},
             {"details", view_details, NULL}, {"source", view_source, NULL},
             {"query", view_query, NULL},     {"compare", NULL, view_compare}};
enum { VIEWS = sizeof views / sizeof *views };

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static void forget_table(struct answers *answers) {
  if (answers->has_table) table_destroy(&answers->table);
  answers->has_table = false;
}

static void forget_report(struct answers *answers) {
  forget_table(answers);
  if (answers->has_report) report_destroy(&answers->report);
  free(answers->where);
  answers->where = NULL;
  answers->has_report = false;
}

static bool has_report_of(const struct answers *answers, const char *where) {
  return answers->has_report && same_text(answers->where, where);
}

/* Has the report of the query ready. */
static wn_status prepare_answers(struct answers *answers, const char *where) {
  if (has_report_of(answers, where)) return WN_OK;
  struct report report;
  char *copy = where ? strdup(where) : NULL;
  if (where && !copy) return error_set(WN_ENOMEM, "not enough memory for the query");
  wn_status error = report_ask(answers->recording,
                               &(struct question){.where = copy,
                                                  .closing = true,
                                                  .paths = answers->paths,
                                                  .earlier = answers->has_report ? &answers->report : NULL},
                               &report);
  forget_report(answers);
  if (error) return free(copy), error;
  answers->where = copy;
  answers->report = report;
  return answers->has_report = true, WN_OK;
}

/* ---- comparisons ---- */

static void forget_pair(struct answers *answers) {
  if (answers->has_pair) pair_destroy(&answers->pair);
  free(answers->pair_asked);
  answers->pair_asked = NULL;
  answers->has_pair = false;
}

static wn_status pair_runs(struct answers *answers, const struct request *request) {
  struct question question = {.where = request->where};
  if (!answers->before) return error_set(WN_EINVAL, "there is no run before this one to compare with");
  return pair_of_runs(answers->before, &question, answers->recording, &question, request->per,
                      &answers->pair);
}

/* The moment that is compared with that of the query: peak, end or a time. */
static wn_status pair_moments(struct answers *answers, const struct request *request) {
  wn_status error = prepare_answers(answers, request->where);
  if (error) return error;
  const struct report *report = &answers->report;
  double ns = 0;
  if (!strcmp(request->against, "peak"))
    ns = (double)report->peak.median_ns;
  else if (!strcmp(request->against, "end"))
    ns = (double)report->samples->end_ns;
  else if (!query_time(request->against, &ns))
    return error_set(WN_EINVAL, "'%.40s' is no moment: peak, end, or a time such as 1.5s", request->against);
  if (ns > (double)report->samples->end_ns)
    return error_set(WN_EINVAL, "%.40s is after the end of the trace", request->against);
  if (ns > (double)report->asked.time_ns)
    return error_set(WN_EINVAL, "%.40s is after the moment with which it is compared", request->against);
  return pair_of_moments(answers->recording, request->where, (uint64_t)ns, report->asked.time_ns,
                         &answers->pair);
}

/* Has the pair of the query ready. */
static wn_status prepare_pair(struct answers *answers, const struct request *request) {
  char *asked;
  if (asprintf(&asked, "%d\n%s\n%s", request->per, request->against, request->where ? request->where : "") <
      0)
    return error_set(WN_ENOMEM, "not enough memory for the query");
  if (answers->has_pair && same_text(answers->pair_asked, asked)) {
    free(asked);
    return WN_OK;
  }
  forget_pair(answers);
  answers->pair_asked = asked;
  wn_status error =
      !strcmp(request->against, "before") ? pair_runs(answers, request) : pair_moments(answers, request);
  answers->has_pair = !error;
  return error;
}

/* ---- views ---- */

static wn_status write_compared(struct answers *answers, const struct request *request, view_function *view,
                                struct answer *answer) {
  if (!view) return error_set(WN_EINVAL, "a request with 'against' has one of the views flame, compare");
  wn_status error = prepare_pair(answers, request);
  if (!error && answers->pair.moments && request->measure != MEASURE_HELD)
    error = error_set(WN_EINVAL, "two moments are compared by what is held");
  return error ? error : view(answers, request, answer);
}

static bool needs_report(view_function *view) { return view != view_head && view != view_query; }

static wn_status write_view(struct answers *answers, const struct request *request, struct answer *answer) {
  for (size_t i = 0; i < VIEWS; i++) {
    view_function *view = views[i].view;
    if (!same_text(views[i].name, request->view)) continue;
    if (request->against) return write_compared(answers, request, views[i].compared, answer);
    if (!view) return error_set(WN_EINVAL, "a request with the view compare has 'against'");
    wn_status error = needs_report(view) ? prepare_answers(answers, request->where) : WN_OK;
    return error ? error : view(answers, request, answer);
  }
  return error_set(WN_EINVAL, "a request has one of the views head, totals, time, flame, table, kinds, "
                              "details, source, query, compare");
}

static bool has_table_of(const struct answers *answers, enum measure measure, enum grouping grouping,
                         unsigned details) {
  const unsigned other_rows = TABLE_FOLDED | TABLE_GROWTH; /* or other nodes: another tree */
  const struct table *table = &answers->table;
  return answers->has_table && table->measure == measure && table->tree.grouping == grouping &&
         (table->details & other_rows) == (details & other_rows);
}

/* Makes the next part that is missing: the report, then the tree of a graph. False: none is, or it
 * failed, as it will again when the question is asked. */
static bool make_part(struct answers *answers, const struct request *request) {
  struct table *table;
  for (size_t i = 0; i < VIEWS; i++) {
    view_function *view = views[i].view;
    if (!view || !same_text(views[i].name, request->view)) continue;
    if (request->against || !needs_report(view)) return false;
    if (!has_report_of(answers, request->where)) return !prepare_answers(answers, request->where);
    unsigned details = views_flame_details(request);
    return view == view_flame && !has_table_of(answers, request->measure, request->grouping, details) &&
           !views_table(answers, request->measure, request->grouping, details, &table);
  }
  return false;
}

/* ---- shared ---- */

void answers_create(struct answers *answers, const struct recording *recording,
                    const struct recording *before) {
  *answers = (struct answers){.recording = recording, .before = before};
}

void answers_destroy(struct answers *answers) {
  forget_report(answers);
  forget_pair(answers);
  for (int i = 0; i < GROUPINGS; i++) call_paths_destroy(&answers->paths[i]);
}

wn_status views_table(struct answers *answers, enum measure measure, enum grouping grouping, unsigned details,
                      struct table **result) {
  struct table *table = *result = &answers->table;
  if (has_table_of(answers, measure, grouping, details)) {
    wn_status error = table_add(table, details);
    if (error) forget_table(answers);
    return error;
  }
  forget_table(answers);
  wn_status error = report_table(&answers->report, measure, grouping, details, table);
  answers->has_table = !error;
  return error;
}

wn_status views_pair(struct answers *answers, const struct pair **pair) {
  *pair = &answers->pair;
  return prepare_pair(answers, &(struct request){.against = "before"});
}

bool answers_prepare(struct answers *answers, const char *request, size_t length) {
  struct request parsed;
  char *text = strndup(request, length);
  bool made = text && !answers_read_request(text, &parsed) && make_part(answers, &parsed);
  free(text);
  return made;
}

wn_status answers_ask(struct answers *answers, const char *request, size_t length, char **bytes,
                      size_t *size) {
  struct request parsed;
  struct answer answer;
  char *text = strndup(request, length);
  if (!text) return error_set(WN_ENOMEM, "not enough memory for the question");
  wn_status error = answer_begin(&answer, answers->state);
  if (error) return free(text), error;
  error = answers_read_request(text, &parsed);
  if (!error) error = write_view(answers, &parsed, &answer);
  free(text);
  if (!error) return answer_end(&answer, bytes, size);
  answer_drop(&answer);
  if (error != WN_EINVAL) return error;
  char why[256];
  snprintf(why, sizeof why, "%s", wn_last_error());
  return answers_fail(answers, why, bytes, size);
}

wn_status answers_fail(const struct answers *answers, const char *why, char **bytes, size_t *size) {
  struct answer answer;
  wn_status error = answer_begin(&answer, answers->state);
  if (error) return error;
  json_string(&answer.json, "error", why);
  return answer_end(&answer, bytes, size);
}
/* SPDX-License-Identifier: MIT */
