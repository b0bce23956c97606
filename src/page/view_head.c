/* The views `head`, what the trace is, and `totals`, the numbers that a person reads first. */
#include "analysis/report/trend.h"
#include "export/report_json.h"
#include "page/labels.h"
#include "page/views.h"

static void write_threads(struct json *json, const struct samples *samples) {
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
  json_end(json, '}');
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
  if (report->samples->process_count > 1 || source_limits(report->samples->source)->no_lives) return WN_OK;
  return report_table(report, report_held_is_alive(report) ? MEASURE_HELD : MEASURE_ALIVE, BY_FUNCTION,
                      TABLE_GROWTH, grown);
}

/* The functions that held the most at the peak, themselves, with their trends: those in the first rows of
 * the table. */
static wn_status write_holders(struct answers *answers, const struct verdict *verdict, struct json *json) {
  const struct group *largest[HOLDERS + 1] = {NULL};
  struct table *table, grown = {0};
  struct labels labels = {.tree = NULL};
  wn_status error = views_table(answers, MEASURE_HELD, BY_FUNCTION, 0, &table);
  if (!error) error = labels_create(&labels, &table->tree, answers->report.names);
  if (error) return error;
  error = make_grown(&answers->report, &grown);
  if (error) return labels_destroy(&labels), error;
  for (size_t i = 0; i < table->tree.group_count; i++) rank(largest, &table->tree.groups[i]);
  json_begin(json, "holders", '[');
  for (size_t i = 0; i < HOLDERS && largest[i]; i++) {
    char text[LABEL_TEXT_MOST];
    struct estimate bytes = report_bytes(&answers->report, &largest[i]->self);
    labels_text(&labels, largest[i]->label, text);
    json_begin(json, NULL, '{');
    json_string(json, "text", text);
    json_estimate(json, "bytes", &bytes);
    if (grown.details & TABLE_GROWTH)
      json_string(json, "trend", trend_of(table, &grown, largest[i], SITES_BY_SELF, verdict));
    json_end(json, '}');
  }
  json_end(json, ']');
  table_destroy(&grown);
  labels_destroy(&labels);
  return WN_OK;
}

/* ---- shared ---- */

wn_status view_head(struct answers *answers, const struct request *request, struct answer *answer) {
  (void)request;
  const struct recording *recording = answers->recording;
  struct json *json = &answer->json;
  json_trace(json, "trace", recording->samples);
  json_bool(json, "collected", recording->samples->collected);
  json_bool(json, "heap_told", heap_life_is_recorded(&recording->samples->life));
  write_threads(json, recording->samples);
  json_wrappers(json, recording);
  json_string(json, "hint", recording->names.hint ? recording->names.hint : "");
  if (recording->samples->ended && recording->samples->end.kind == TRACE_END_EXEC)
    json_string(json, "became", recording->samples->became ? recording->samples->became : "");
  json_number(json, "kept", recording->kept);
  json_integer(json, "closing_ns", recording->closing_ns);
  write_limits(json, source_limits(recording->samples->source));
  write_source(json, &recording->listing);
  if (answers->before) {
    json_begin(json, "before", '{');
    json_trace(json, "trace", answers->before->samples);
    json_number(json, "kept", answers->before->kept);
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
  if (error) return error;
  return json_resident(json, &facts, &(struct report_json_options){.grouping = request->grouping, .top = 10});
}
/* SPDX-License-Identifier: MIT */
