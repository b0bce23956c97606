/* The facts of a report in JSON: a member for each that the recording has, in an object for each group, and
 * beside them what is no number: the run, its processes, the collections, the verdict. */
#include "export/report_json.h"

#include "analysis/load/memory_limit.h"
#include "analysis/report/heap_tool.h"
#include <math.h>
#include <string.h>

enum { COLLECTION_POINTS = 1000, GROUP_POINTS = 1000 };

static void print_exact(struct json *json, const char *name, double number) {
  if (number >= 0 && number < 0x1p63 && number == floor(number))
    json_integer(json, name, (uint64_t)number);
  else
    json_number(json, name, number);
}

static void report_json_facts_print_range(struct json *json, const char *name, const struct estimate *value) {
  json_begin(json, name, '{');
  json_number(json, "low", value->low);
  json_number(json, "high", value->high);
  json_end(json, '}');
}

static void report_json_facts_print_fact(struct json *json, enum fact_name which, const struct fact *fact) {
  const char *name = fact_json_name(which);
  switch (fact->kind) {
  case FACT_ABSENT: return;
  case FACT_UNKNOWN: json_null(json, name); return;
  case FACT_ESTIMATE: json_estimate(json, name, &fact->value); return;
  case FACT_RANGE: report_json_facts_print_range(json, name, &fact->value); return;
  case FACT_EXACT:
    if (fact_unit(which) == UNIT_YES)
      json_bool(json, name, fact->value.estimate > 0);
    else
      print_exact(json, name, fact->value.estimate);
    return;
  }
}

static void report_json_facts_print_group(struct json *json, const struct facts *facts,
                                          enum fact_group group) {
  for (int name = 0; name < FACTS; name++)
    if (fact_group((enum fact_name)name) == group)
      report_json_facts_print_fact(json, (enum fact_name)name, &facts->fact[name]);
}

/* ---- the trace ---- */

/* Several processes. */
static void print_processes(struct json *json, const struct samples *samples) {
  static const char *const ends[] = {"exit", "signal", "exec", "stop", "left"};
  json_begin(json, "processes", '[');
  for (uint32_t i = 0; i < samples->process_count; i++) {
    const struct process *process = &samples->processes[i];
    bool known = process->ended && process->end_kind < sizeof ends / sizeof *ends;
    json_begin(json, NULL, '{');
    json_integer(json, "pid", process->pid);
    json_string(json, "name", process->name);
    if (process->parent != NO_PROCESS)
      json_integer(json, "parent", process->parent);
    else
      json_null(json, "parent");
    json_integer(json, "started_ns", process->begin_ns);
    json_integer(json, "last_ns", process->last_ns);
    json_bool(json, "ended", process->ended);
    json_string(json, "end", known ? ends[process->end_kind] : "");
    json_number(json, "code", process->code);
    json_bool(json, "killed_for_memory",
              known && trace_was_killed_for_memory(process->end_kind, process->end_cause));
    json_end(json, '}');
  }
  json_end(json, ']');
}

/* ---- a collected heap ---- */

static void print_collection(struct json *json, const struct trace_collection *collection) {
  json_begin(json, NULL, '{');
  json_integer(json, "time_ns", collection->time_ns);
  json_integer(json, "minor_words", collection->minor_words);
  json_integer(json, "promoted_words", collection->promoted_words);
  json_integer(json, "direct_words", collection->direct_words);
  json_integer(json, "minor_collections", collection->minor_collections);
  json_integer(json, "major_cycles", collection->major_cycles);
  json_integer(json, "heap_words", collection->heap_words);
  json_integer(json, "live_words", collection->live_words);
  json_integer(json, "domains", collection->domains);
  json_end(json, '}');
}

/* Prints all collections or, if there are too many, evenly spread ones with the first and the last.
 */
static void report_json_facts_print_collections(struct json *json, const struct heap_life *life) {
  size_t count = life->collection_count, points = count < COLLECTION_POINTS ? count : COLLECTION_POINTS;
  json_begin(json, "collections", '[');
  for (size_t i = 0; i < points; i++)
    print_collection(json, &life->collections[points > 1 ? i * (count - 1) / (points - 1) : 0]);
  json_end(json, ']');
}

static void print_pauses(struct json *json, const struct facts *facts) {
  static const char *const kinds[TRACE_PAUSES] = {"minor", "slice", "stop"};
  const struct trace_pause *longest = &facts->report->samples->life.longest;
  json_begin(json, fact_group_name(FACTS_PAUSES), '{');
  report_json_facts_print_group(json, facts, FACTS_PAUSES);
  if (longest->ns) json_string(json, "longest_kind", kinds[longest->kind]);
  json_end(json, '}');
}

/* Null without promotions to tell from. */
static void print_what_if(struct json *json, const struct facts *facts) {
  if (!facts_have(facts, FACT_WHAT_IF_samples)) {
    json_null(json, fact_group_name(FACTS_WHAT_IF));
    return;
  }
  json_begin(json, fact_group_name(FACTS_WHAT_IF), '{');
  report_json_facts_print_group(json, facts, FACTS_WHAT_IF);
  json_end(json, '}');
}

/* ---- the verdict ---- */

static void print_culprit(struct json *json, const struct report *report, const struct culprit *culprit) {
  const struct strings *strings = report->names->strings;
  json_begin(json, NULL, '{');
  json_string(json, "function", strings_text(strings, culprit->function.function));
  json_string(json, "module", strings_text(strings, culprit->function.module));
  json_string(json, "caller", strings_text(strings, culprit->caller.function));
  json_estimate(json, "bytes", &culprit->bytes);
  json_estimate(json, "grown_bytes", &culprit->grown);
  json_estimate(json, "bytes_per_second", &culprit->rate);
  json_integer(json, "since_ns", culprit->since_ns);
  if (culprit->process != NO_PROCESS) {
    json_string(json, "process", names_of_process(report->names, culprit->process));
    json_integer(json, "processes", culprit->processes);
  }
  json_end(json, '}');
}

/* ---- shared ---- */

void json_groups(struct json *json, const struct samples *samples) {
  size_t count = samples->group_count, points = count < GROUP_POINTS ? count : GROUP_POINTS;
  json_begin(json, "control_group", '[');
  for (size_t i = 0; i < points; i++) {
    const struct trace_group *group = &samples->groups[points > 1 ? i * (count - 1) / (points - 1) : 0];
    json_begin(json, NULL, '{');
    json_integer(json, "time_ns", group->time_ns);
    json_integer(json, "limit_bytes", group->limit);
    json_integer(json, "high_bytes", group->high);
    json_integer(json, "used_bytes", group->current);
    json_integer(json, "kills", group->kills);
    json_integer(json, "pressure_us", group->pressure_us);
    json_end(json, '}');
  }
  json_end(json, ']');
}

void json_trace(struct json *json, const char *name, const struct samples *samples) {
  const struct trace_run *run = source_run(samples->source);
  const struct trace_damage *damage = source_damage(samples->source);
  const struct source_limits *limits = source_limits(samples->source);
  struct facts facts = {.report = NULL};
  json_begin(json, name, '{');
  json_begin(json, "command", '[');
  for (uint32_t at = 0; at < run->command.length; at += (uint32_t)strlen(run->command.bytes + at) + 1)
    json_string(json, NULL, run->command.bytes + at);
  json_end(json, ']');
  json_string(json, "title", run->title.length ? run->title.bytes : "");
  json_string(json, "thread_name", run->name.length ? run->name.bytes : "");
  json_string(json, "context", run->context.length ? run->context.bytes : "");
  json_integer(json, "pid", run->pid);
  json_string(json, "host", run->host.bytes);
  json_string(json, "heap", run->heap.bytes);
  json_string(json, "writer", run->writer.length ? run->writer.bytes : "");
  if (!limits->totals) {
    json_integer(json, "seed", run->seed);
    json_integer(json, "word_bytes", run->word_bytes);
    json_integer(json, "duration_ns", samples->end_ns);
  }
  if (!limits->totals || limits->no_callers) json_integer(json, "started_ns", run->wall_ns);
  if (*limits->note) {
    json_bool(json, "totals", limits->totals);
    json_bool(json, "exact", !limits->estimated && run->rate >= 1);
    json_string(json, "note", limits->note);
  }
  facts_of_trace(samples, &facts);
  report_json_facts_print_group(json, &facts, FACTS_TRACE);
  json_string(json, "lost_because", damage->records_lost ? trace_cause_word(damage->loss_cause) : "");
  json_bool(json, "partial", trace_is_partial(damage));
  json_bool(json, "complete", damage->complete && !trace_is_partial(damage));
  json_bool(json, "killed_for_memory", killed_for_memory(samples));
  json_bool(json, "probably_killed_for_memory", probably_killed_for_memory(samples));
  if (samples->process_count > 1) print_processes(json, samples);
  json_end(json, '}');
}

void json_totals(struct json *json, const struct facts *facts) {
  const struct report *report = facts->report;
  json_begin(json, fact_group_name(FACTS_TOTALS), '{');
  json_bool(json, "headers_included", false);
  report_json_facts_print_group(json, facts, FACTS_TOTALS);
  if (facts_have(facts, FACT_TOTALS_peak_at_ns)) {
    json_begin(json, "peak_moments_ns", '[');
    for (int k = 0; k < PEAK_PARTS; k++) json_integer(json, NULL, report->peak.time_ns[k]);
    json_end(json, ']');
  }
  json_end(json, '}');
}

void json_heap(struct json *json, const struct facts *facts) {
  const struct heap_life *life = &facts->report->samples->life;
  if (!heap_life_is_recorded(life)) return;
  json_begin(json, fact_group_name(FACTS_HEAP), '{');
  report_json_facts_print_group(json, facts, FACTS_HEAP);
  report_json_facts_print_group(json, facts, FACTS_SURVIVAL);
  print_what_if(json, facts);
  print_pauses(json, facts);
  report_json_facts_print_collections(json, life);
  json_end(json, '}');
}

void json_resident_facts(struct json *json, const struct facts *facts) {
  json_begin(json, fact_group_name(FACTS_RESIDENT), '{');
  report_json_facts_print_group(json, facts, FACTS_RESIDENT);
  json_begin(json, fact_group_name(FACTS_PARTS), '[');
  for (int name = FACT_PARTS_blocks; name < FACT_PARTS_blocks + PART_UNWRITTEN; name++) {
    if (!facts_have(facts, (enum fact_name)name)) continue;
    json_begin(json, NULL, '{');
    json_string(json, "name", fact_json_name((enum fact_name)name));
    json_string(json, "text", facts_label(facts, (enum fact_name)name));
    json_estimate(json, "bytes", &facts->fact[name].value);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_end(json, '}');
}

void json_verdict(struct json *json, const struct report *report, const struct verdict *verdict) {
  json_begin(json, "verdict", '{');
  json_string(json, "kind", verdict_word(verdict->kind));
  json_string(json, "title", verdict_title(verdict->kind));
  json_begin(json, "culprits", '[');
  for (size_t i = 0; i < verdict->culprits; i++) print_culprit(json, report, &verdict->culprit[i]);
  json_end(json, ']');
  if (verdict->kind == VERDICT_KEPT || verdict->kind == VERDICT_UNWRITTEN || verdict->kind == VERDICT_MAPPED)
    json_string(json, "blocks", verdict_word(verdict->blocks));
  if (verdict->kind == VERDICT_MAPPED && heap_tool_of(report->recording))
    json_string(json, "tool", heap_tool_of(report->recording));
  if (verdict->culprits) json_bool(json, "begun", verdict->begun);
  if (verdict->culprits) json_bool(json, "replaced", verdict->replaced);
  if (verdict->culprits) json_bool(json, "freed_at_exit", verdict->freed);
  if (verdict->kind == VERDICT_UNDECIDED && (verdict->net.low != 0 || verdict->net.high != 0))
    json_estimate(json, "grown_bytes", &verdict->net);
  json_number(json, "bytes", verdict->bytes);
  json_integer(json, "at_ns", verdict->time_ns);
  json_end(json, '}');
}

void json_changes(struct json *json, const struct facts *before, const struct facts *after,
                  const struct estimate *scale) {
  struct change change;
  int group = -1;
  json_begin(json, "facts", '{');
  for (int name = 0; name < FACTS; name++) {
    if (!facts_change(before, after, (enum fact_name)name, scale, &change)) continue;
    if ((int)fact_group((enum fact_name)name) != group) {
      if (group >= 0) json_end(json, '}');
      group = (int)fact_group((enum fact_name)name);
      json_begin(json, fact_group_name((enum fact_group)group), '{');
    }
    json_change(json, fact_json_name((enum fact_name)name), &change);
  }
  if (group >= 0) json_end(json, '}');
  json_end(json, '}');
}
/* SPDX-License-Identifier: MIT */
