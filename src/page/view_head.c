/* The views `head`, what the trace is, `totals`, the numbers that a person reads first, and
 * `query`, which has no members: only whether there is an error. */
#include "analysis/compare/doubts.h"
#include "analysis/load/memory_limit.h"
#include "analysis/report/next.h"
#include "analysis/report/trend.h"
#include "export/report_json.h"
#include "page/labels.h"
#include "page/views.h"
#include <string.h>

static void view_head_write_threads(struct json *json, const struct samples *samples) {
  json_begin(json, "threads", '[');
  for (size_t i = 0; i < samples->thread_count; i++) {
    json_begin(json, NULL, '{');
    const struct thread_name *thread = &samples->threads[i];
    json_integer(json, "thread", samples_thread_number(samples, thread->thread));
    json_string(json, "name", thread->name);
    if (samples->process_count > 1)
      json_string(json, "process", samples->processes[process_of(samples, thread->thread)].name);
    json_end(json, '}');
  }
  json_end(json, ']');
}

/* The names of what blocks are, at most so many; null: the trace does not say. */
static void view_head_write_types(struct json *json, const struct strings *types) {
  enum { TYPES_MOST = 1000 };
  if (!types) {
    json_null(json, "types");
    return;
  }
  json_begin(json, "types", '[');
  for (uint32_t i = 1; i < types->count && i <= TYPES_MOST; i++)
    json_string(json, NULL, strings_text(types, i));
  json_end(json, ']');
}

/* How many files of source the recording has lines of; null: none were asked for. */
static void write_source(struct json *json, const struct listing *listing) {
  size_t files = 0;
  for (size_t i = 0; i < listing->file_count; i++) files += listing->files[i].state <= LISTED_CHANGED;
  if (listing->given)
    json_integer(json, "source_files", files);
  else
    json_null(json, "source_files");
}

/* What the file does not tell; `totals` and the note are in the trace's member. */
static void write_limits(struct json *json, const struct source_limits *limits) {
  json_begin(json, "limits", '{');
  json_bool(json, "no_peak", limits->no_peak);
  json_bool(json, "no_total", limits->no_total);
  json_bool(json, "no_end", limits->no_end);
  json_bool(json, "no_lives", limits->no_lives);
  json_bool(json, "no_threads", limits->no_threads);
  json_bool(json, "no_callers", limits->no_callers);
  json_end(json, '}');
}

/* Of two heap snapshots that are compared. */
static void write_doubts(struct json *json, const struct recording *before, const struct recording *after) {
  const struct doubt *doubts[DOUBTS_MOST];
  size_t count = doubts_of_recordings(before, after, doubts);
  json_begin(json, "doubts", '[');
  for (size_t i = 0; i < count; i++) json_string(json, NULL, doubts[i]->text);
  json_end(json, ']');
}

enum { HOLDERS = 3 };

/* Puts a row among the largest so far, by its own bytes. */
static void rank(const struct group *largest[HOLDERS + 1], const struct group *group) {
  size_t at = HOLDERS;
  if (!group->self.bytes.samples) return;
  for (; at && (!largest[at - 1] || largest[at - 1]->self.bytes.total < group->self.bytes.total); at--)
    largest[at] = largest[at - 1];
  largest[at] = group;
}

/* The table that trends are of, as in the rows of a report. */
static wn_status make_grown(const struct report *report, struct table *grown) {
  if (!report_has_growth(report)) return WN_OK;
  return report_table(report, report_held_is_alive(report) ? MEASURE_HELD : MEASURE_ALIVE, BY_FUNCTION,
                      TABLE_GROWTH, grown);
}

/* The line with the most of what a function held itself, as "parser.c:12"; or nothing. */
static void view_head_write_place(struct json *json, const char *name, const struct table *functions,
                                  const struct main_lines *lines, const struct label *function) {
  char place[NEXT_MOST] = "";
  next_place(functions, lines, function, place);
  json_string(json, name, place);
}

/* What is written of the functions that held the most at the peak, themselves: those in the first
 * rows of the table. */
struct holders {
  const struct report *report;
  const struct group *largest[HOLDERS + 1];
  struct table *table, grown;
  struct main_lines lines;
  struct labels labels;
};

/* A smaller part of the peak is not named on the page. */
static const double least_named = 0.1;

/* Whether the largest has a name on the page. */
static bool is_large(const struct holders *holders) {
  const struct group *first = holders->largest[0];
  return first && first->self.bytes.total >= least_named * holders->table->tree.nodes[0].total.bytes.total;
}

/* The paths by line may be many, and are made only if a function has a name on the page. */
static wn_status make_lines(struct holders *holders, const struct verdict *verdict) {
  if (!verdict->culprits && !is_large(holders)) return WN_OK;
  return table_find_lines(holders->table, &holders->lines);
}

static wn_status make_holders(struct answers *answers, const struct verdict *verdict,
                              struct holders *holders) {
  const struct report *report = &answers->report;
  *holders = (struct holders){.report = report};
  wn_status error = views_table(answers, MEASURE_HELD, BY_FUNCTION, 0, &holders->table);
  if (error) return error;
  const struct call_tree *tree = &holders->table->tree;
  for (size_t i = 0; i < tree->group_count; i++) rank(holders->largest, &tree->groups[i]);
  error = labels_create(&holders->labels, tree, report->names);
  if (!error) error = make_grown(report, &holders->grown);
  return error ? error : make_lines(holders, verdict);
}

static void free_holders(struct holders *holders) {
  main_lines_destroy(&holders->lines);
  table_destroy(&holders->grown);
  labels_destroy(&holders->labels);
}

static void view_head_write_holder(struct json *json, struct holders *holders, const struct group *group,
                                   const struct verdict *verdict) {
  char text[LABEL_TEXT_MOST];
  struct estimate bytes = report_bytes(holders->report, &group->self);
  labels_text(&holders->labels, group->label, text);
  json_begin(json, NULL, '{');
  json_string(json, "text", text);
  json_estimate(json, "bytes", &bytes);
  if (holders->grown.details & TABLE_GROWTH)
    json_string(json, "trend", trend_of(holders->table, &holders->grown, group, SITES_BY_SELF, verdict));
  view_head_write_place(json, "place", holders->table, &holders->lines,
                        &holders->table->tree.labels[group->label]);
  json_end(json, '}');
}

/* What a function held itself, in the first rows' table. */
static void write_held(struct json *json, const struct holders *holders, const struct label *function) {
  const struct group *group = table_find_group(holders->table, function);
  struct estimate bytes = {0};
  if (group) bytes = report_bytes(holders->report, &group->self);
  json_estimate(json, NULL, &bytes);
}

/* The step after a verdict on what was allocated, whose tables no view before has made. */
static wn_status write_next_of_allocated(const struct holders *holders, const struct verdict *verdict,
                                         struct json *json) {
  char text[NEXT_MOST] = "";
  struct table table;
  wn_status error = report_table(holders->report, MEASURE_ALLOCATED, BY_FUNCTION, TABLE_LINES, &table);
  if (error) return error;
  const struct group *most = table_largest(&table);
  next_step(&table, &table.lines, verdict, most ? table_label(&table, most) : NULL, text);
  json_string(json, "next", text);
  table_destroy(&table);
  return WN_OK;
}

static wn_status write_next(const struct holders *holders, const struct verdict *verdict, struct json *json) {
  char text[NEXT_MOST];
  const struct group *most = table_largest(holders->table);
  if (next_measure(verdict) == MEASURE_ALLOCATED) return write_next_of_allocated(holders, verdict, json);
  next_step(holders->table, &holders->lines, verdict, most ? table_label(holders->table, most) : NULL, text);
  json_string(json, "next", text);
  return WN_OK;
}

/* The functions that held the most, with their trends, and the lines of these and of the culprits,
 * with what these held. */
static wn_status write_holders(struct answers *answers, const struct verdict *verdict, struct json *json) {
  struct holders holders;
  wn_status error = make_holders(answers, verdict, &holders);
  if (!error) {
    json_begin(json, "holders", '[');
    for (size_t i = 0; i < HOLDERS && holders.largest[i]; i++)
      view_head_write_holder(json, &holders, holders.largest[i], verdict);
    json_end(json, ']');
    json_begin(json, "places", '[');
    for (size_t i = 0; i < verdict->culprits; i++)
      view_head_write_place(json, NULL, holders.table, &holders.lines, &verdict->culprit[i].function);
    json_end(json, ']');
    json_begin(json, "held", '[');
    for (size_t i = 0; i < verdict->culprits; i++) write_held(json, &holders, &verdict->culprit[i].function);
    json_end(json, ']');
    error = write_next(&holders, verdict, json);
  }
  free_holders(&holders);
  return error;
}

static wn_status write_comparison(struct answers *answers, struct json *json) {
  const struct pair *pair;
  wn_status error = views_pair(answers, &pair);
  return error ? error : views_regression(pair, json);
}

/* ---- shared ---- */

wn_status view_head(struct answers *answers, const struct request *request, struct answer *answer) {
  (void)request;
  const struct recording *recording = answers->recording;
  struct json *json = &answer->json;
  json_trace(json, "trace", recording->samples);
  json_bool(json, "collected", recording->samples->collected);
  json_bool(json, "heap_told", heap_life_is_recorded(&recording->samples->life));
  view_head_write_threads(json, recording->samples);
  view_head_write_types(json, recording->samples->types);
  json_wrappers(json, recording);
  json_string(json, "hint", recording->names.hint ? recording->names.hint : "");
  if (recording->samples->ended && recording->samples->end.kind == TRACE_END_EXEC)
    json_string(json, "became", recording->samples->became ? recording->samples->became : "");
  json_number(json, "kept", recording->kept);
  json_integer(json, "closing_ns", recording->closing_ns);
  json_integer(json, "limit_bytes", memory_limit_of(recording->samples).limit);
  write_limits(json, source_limits(recording->samples->source));
  write_source(json, &recording->listing);
  if (answers->before) {
    json_begin(json, "before", '{');
    json_trace(json, "trace", answers->before->samples);
    json_number(json, "kept", answers->before->kept);
    write_doubts(json, answers->before, recording);
    json_end(json, '}');
  }
  return WN_OK;
}

wn_status view_totals(struct answers *answers, const struct request *request, struct answer *answer) {
  const struct report *report = &answers->report;
  struct json *json = &answer->json;
  struct facts facts;
  struct verdict verdict;
  static const char *const when[] = {"at:peak", "at:end", "at:time"};
  wn_status error = facts_find(report, &facts);
  if (error) return error;
  json_string(json, "question", when[report->at]);
  json_integer(json, "at_ns", report->asked.time_ns);
  json_bool(json, "peak_is_one", report_peak_is_one(report));
  json_totals(json, &facts);
  json_heap(json, &facts);
  if (request->where) return WN_OK; /* the resident size and the verdict are of all blocks */
  error = verdict_find(report, &verdict);
  if (error) return error;
  json_verdict(json, report, &verdict);
  error = write_holders(answers, &verdict, json);
  if (!error && answers->before && !source_limits(report->samples->source)->no_callers)
    error = write_comparison(answers, json);
  if (error) return error;
  return json_resident(json, &facts, &(struct report_json_options){.grouping = request->grouping, .top = 10});
}

wn_status view_query(struct answers *answers, const struct request *request, struct answer *answer) {
  const struct recording *recording = answers->recording;
  struct query *query = NULL;
  (void)answer;
  wn_status error = query_parse(request->where ? request->where : "", &query);
  if (!error) error = query_bind(query, recording->samples, &recording->names);
  query_free(query);
  return error;
}
/* SPDX-License-Identifier: MIT */
