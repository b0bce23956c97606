/* The view `source`: the lines of source around the heaviest places of one function or file, as far
 * as the recording has them. */
#include "base/error.h"
#include "page/labels.h"
#include "page/views.h"
#include <stdlib.h>
#include <string.h>

enum { PLACES_MOST = 16 };

/* A line of a file, and its bytes. */
struct mark {
  uint32_t file, line;
  const struct group *group;
};

struct marks {
  struct mark mark[PLACES_MOST];
  size_t count;
};

/* The heaviest lines: of lines that inlining puts in several modules, each module has its own. */
static void find_marks(const struct table *lines, const struct label *asked, struct marks *marks) {
  for (size_t i = 0; i < lines->tree.group_count && marks->count < PLACES_MOST; i++) {
    const struct group *group = &lines->tree.groups[i];
    const struct label *label = &lines->tree.labels[group->label];
    if (label_has_line(asked, label))
      marks->mark[marks->count++] = (struct mark){label->file, label->line, group};
  }
}

static int by_line(const void *left, const void *right) {
  const struct mark *a = left, *b = right;
  return (a->line > b->line) - (a->line < b->line);
}

static uint32_t view_source_later(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t earlier(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Writes one line of an excerpt. */
static bool write_line(struct json *json, const struct excerpt *excerpt, uint32_t line) {
  const char *text = excerpt_line(excerpt, line);
  char *copy = strndup(text, strcspn(text, "\n"));
  if (!copy) return false;
  json_string(json, NULL, copy);
  free(copy);
  return true;
}

static bool view_source_write_lines(struct json *json, const struct excerpt *excerpt, uint32_t first,
                                    uint32_t last) {
  bool done = true;
  json_integer(json, "first", first);
  json_begin(json, "lines", '[');
  for (uint32_t line = first; line <= last && done; line++) done = write_line(json, excerpt, line);
  json_end(json, ']');
  return done;
}

static void view_source_write_mark(struct json *json, const struct report *report, const struct mark *mark) {
  struct estimate bytes = report_bytes(report, &mark->group->total);
  json_begin(json, NULL, '{');
  json_integer(json, "line", mark->line);
  json_estimate(json, "bytes", &bytes);
  json_end(json, '}');
}

/* Writes the excerpt around a mark and the marks that follow it closely, of one file. Returns how
 * many marks these are; 0: not enough memory. */
static size_t write_excerpt(struct json *json, const struct report *report, const struct mark *marks,
                            size_t count) {
  const struct excerpt *excerpt = listing_excerpt(&report->recording->listing, marks->file, marks->line);
  size_t used = 1;
  if (!excerpt) return used;
  uint32_t end = excerpt->first + excerpt->count - 1,
           first = view_source_later(excerpt->first, marks->line - earlier(marks->line - 1, LISTING_AROUND)),
           last = earlier(end, earlier(marks->line, UINT32_MAX - LISTING_AROUND) + LISTING_AROUND);
  while (used < count && marks[used].line <= end && marks[used].line <= last + LISTING_AROUND + 1)
    last = earlier(end, marks[used++].line + LISTING_AROUND);
  json_begin(json, NULL, '{');
  bool done = view_source_write_lines(json, excerpt, first, last);
  json_begin(json, "marks", '[');
  for (size_t i = 0; i < used; i++) view_source_write_mark(json, report, &marks[i]);
  json_end(json, ']');
  json_end(json, '}');
  return done ? used : 0;
}

/* Takes the marks of the first mark's file out of the others, by line. */
static struct marks take_file(struct marks *marks) {
  struct marks taken = {.count = 0}, others = {.count = 0};
  for (size_t i = 0; i < marks->count; i++) {
    struct marks *into = marks->mark[i].file == marks->mark[0].file ? &taken : &others;
    into->mark[into->count++] = marks->mark[i];
  }
  *marks = others;
  qsort(taken.mark, taken.count, sizeof *taken.mark, by_line);
  return taken;
}

static wn_status view_source_write_file(struct json *json, const struct report *report,
                                        const struct marks *marks) {
  static const char *const states[] = {"there", "changed", "absent", "unfit"};
  const struct listed_file *file = listing_file(&report->recording->listing, marks->mark->file);
  size_t used = 1;
  json_begin(json, NULL, '{');
  json_string(json, "file", strings_text(report->names->strings, marks->mark->file));
  json_string(json, "state", file ? states[file->state] : "unlisted");
  json_begin(json, "excerpts", '[');
  for (size_t i = 0; i < marks->count && used; i += used)
    used = write_excerpt(json, report, &marks->mark[i], marks->count - i);
  json_end(json, ']');
  json_end(json, '}');
  return used ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the answer");
}

/* What a text stands for in a grouping; all 0: for nothing that is shown. */
static wn_status find_label(const struct report *report, const struct request *request, struct label *label) {
  struct table table;
  struct labels labels;
  bool *chosen = NULL;
  wn_status error = report_table(report, request->measure, request->grouping, TABLE_SUMS, &table);
  if (error) return error;
  error = labels_create(&labels, &table.tree, report->names);
  if (!error) error = views_choose(&labels, request->of, &chosen);
  for (size_t i = 0; !error && i < table.tree.group_count; i++)
    if (chosen[table.tree.groups[i].label]) {
      *label = table.tree.labels[table.tree.groups[i].label];
      break;
    }
  free(chosen);
  labels_destroy(&labels);
  table_destroy(&table);
  return error;
}

/* ---- shared ---- */

wn_status view_source(struct answers *answers, const struct request *request, struct answer *answer) {
  const struct report *report = &answers->report;
  struct marks marks = {.count = 0};
  struct label label = {0};
  struct table lines;
  if (!request->of) return error_set(WN_EINVAL, "a request for source names a function by 'of'");
  wn_status error = find_label(report, request, &label);
  if (!error) error = report_table(report, request->measure, BY_WHOLE_LINE, TABLE_SUMS, &lines);
  if (error) return error;
  find_marks(&lines, &label, &marks);
  json_begin(&answer->json, "files", '[');
  while (marks.count && !error) {
    struct marks file = take_file(&marks);
    error = view_source_write_file(&answer->json, report, &file);
  }
  json_end(&answer->json, ']');
  table_destroy(&lines);
  return error;
}
/* SPDX-License-Identifier: MIT */
