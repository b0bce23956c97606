/* Prints the head of the first screen, and puts its parts together. A fact is a line of its own with
 * one number; what stands behind it explains that number. Uncertainty is one number, too: the larger
 * side of the interval in percent. */
#include "cli/report/screen.h"

#include "analysis/load/memory_limit.h"
#include "analysis/load/rates.h"
#include "base/error.h"
#include "cli/heaps_of_file.h"
#include "cli/load.h"
#include "cli/report/report_callers.h"
#include "cli/report/report_facts.h"
#include "cli/report/report_name.h"
#include "cli/report/report_text.h"
#include "cli/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 19, NOTE_INDENT = 38, CAUSE_INDENT = 21, WRAPPER_COLUMNS = 60 };

/* Memory that the program mapped itself is named beside malloc's if it is this part of what is
 * resident. A smaller part of that than the second has no name; malloc's blocks have one from a
 * hundredth on. */
static const double MAPPED_LEAST = 0.1, PART_LEAST = 0.03, UNWRITTEN_LEAST = 0.1;

/* ---- the title ---- */

static void say_end(struct paragraph *paragraph, const struct view *view) {
  const struct samples *samples = view->report->samples;
  char limit[32];
  if (report_has_processes(view)) return;
  if (view->options->growing)
    say(paragraph, ", still runs");
  else if (probably_killed_for_memory(samples))
    say(paragraph, ", probably killed for memory (limit %s)",
        text_bytes(limit, (double)memory_limit_of(samples).limit));
  else if (!samples->ended)
    say(paragraph, source_is_foreign(samples->source) ? "" : ", no end recorded");
  else if (samples->end.kind == TRACE_END_EXIT)
    say(paragraph, ", exit %d", samples->end.code);
  else if (killed_for_memory(samples) && memory_limit_of(samples).limit)
    say(paragraph, ", killed for memory (limit %s)",
        text_bytes(limit, (double)memory_limit_of(samples).limit));
  else if (killed_for_memory(samples))
    say(paragraph, ", killed for memory");
  else if (samples->end.kind == TRACE_END_SIGNAL)
    say(paragraph, ", signal %d (%s)", samples->end.code, strsignal(samples->end.code));
  else if (samples->end.kind == TRACE_END_LEFT)
    say(paragraph, ", _exit(%d)", samples->end.code);
  else if (samples->end.kind == TRACE_END_EXEC)
    say(paragraph, ", became %s", samples->became ? samples->became : "another program");
  else
    say(paragraph, ", recording stopped");
}

static int screen_print_title(const struct view *view) {
  struct paragraph name = {.length = 0}, run = {.length = 0};
  char time[32];
  const struct source_limits *limits = source_limits(view->report->samples->source);
  const char *kind = limits->estimated                    ? "estimates of another profiler"
                     : limits->totals                     ? "totals of another profiler"
                     : view->report->recording->partial   ? "incomplete, ± is of what was recorded"
                     : view->report->recording->rate >= 1 ? "every block recorded"
                                                          : "sampled: ± 95 % range, ? too few samples";
  say_program_name(&name, view);
  if (report_is_timed(view->report)) say(&run, "%s", text_time(time, view->report->samples->end_ns));
  say_end(&run, view);
  run.text[text_that_fits(run.text, run.length, (size_t)text_width() - 24)] = 0;
  int room = text_width() - (int)text_columns(run.text) - 3;
  name.text[text_that_fits(name.text, name.length, (size_t)(room > 20 ? room : 20))] = 0;
  room -= (int)(text_columns(name.text) + text_columns(kind));
  text_style(stdout, STYLE_BOLD);
  text_name(stdout, name.text);
  text_style(stdout, STYLE_PLAIN);
  fputs("   ", stdout);
  text_name(stdout, run.text);
  if (room > 1) {
    text_style(stdout, STYLE_DIM);
    printf("%*s%s", room, "", kind);
    text_style(stdout, STYLE_PLAIN);
  }
  putchar('\n');
  if (view->options->where) text_entry(stdout, "only blocks with ", view->options->where, 17);
  putchar('\n');
  return view->options->where ? 3 : 2;
}

/* ---- the numbers ---- */

static int screen_print_fact(const char *label, const char *value, const char *margin, const char *note) {
  fputs("  ", stdout);
  text_pad(stdout, label, LABEL - 2);
  text_style(stdout, STYLE_BOLD);
  text_pad(stdout, value, -9);
  text_style(stdout, STYLE_DIM);
  if (*margin || *note) printf(*margin ? "  ± %-5s" : "         ", margin);
  text_style(stdout, STYLE_PLAIN);
  if (*note) fputc(' ', stdout);
  return text_continue(stdout, note, NOTE_INDENT);
}

/* "none" where the recording does not have it. If there is no sample, "< 95 kB", or "none seen" where
 * a part of the run is missing, which may have had more. */
static int print_known(const struct view *view, enum fact_name name, const char *note) {
  const struct facts *facts = view->facts;
  const struct estimate *value = &facts->fact[name].value;
  char text[FACT_TEXT_MOST], number[FACT_TEXT_MOST + 2] = "", margin[16];
  bool is_bound = facts->fact[name].kind == FACT_ESTIMATE && !value->samples && value->high > 0;
  if (!facts_have(facts, name))
    return screen_print_fact(facts_label(facts, name), "none", "", "not recorded");
  if (is_bound && view->report->recording->partial)
    return screen_print_fact(facts_label(facts, name), "none seen", "", "");
  if (is_bound) strcpy(number, "< ");
  strcat(number, fact_text(text, facts, name, is_bound ? value->high : value->estimate));
  return screen_print_fact(facts_label(facts, name), number, is_bound ? "" : screen_margin(margin, value),
                           note);
}

/* Malloc counts its blocks, and the peak is an estimate: then the former can be the larger number. It is said
 * where the interval of the peak does not show it. */
static const char *part_label(const struct view *view, enum fact_name part, double bytes) {
  bool counted = part == FACT_PARTS_blocks && view->facts->parts.answered &&
                 !view->report->samples->collected &&
                 bytes > view->facts->fact[FACT_TOTALS_peak_bytes].value.high;
  return counted ? "malloc blocks (malloc's count)" : facts_label(view->facts, part);
}

/* Whether a program that closed down had freed most of what it held by then, as malloc tells. */
static bool freed_before(const struct view *view, uint64_t time_ns) {
  const struct report *report = view->report;
  return report->alive_ns < time_ns && report->samples->process_count < 2 &&
         2 * facts_number(view->facts, FACT_PARTS_free) > facts_number(view->facts, FACT_TOTALS_alive_bytes);
}

/* What has a hundredth of the whole is named, so that the parts add up; --all names the others. */
static void screen_say_parts(struct paragraph *note, const struct view *view) {
  char text[40], size[40];
  const struct facts *facts = view->facts;
  double whole = facts_number(facts, FACT_RESIDENT_rss_bytes),
         most = facts_number(facts, FACT_RESIDENT_most_bytes),
         unwritten = facts_number(facts, FACT_RESIDENT_unwritten_bytes), other = 0;
  text_bytes(size, whole);
  if (!screen_is_explained(view))
    say(note, "parts are known of %s, ", size);
  else if (whole < 0.98 * most)
    say(note, "parts of the %s ", size);
  say(note, "at %s%s", text_time(text, facts->resident.time_ns),
      freed_before(view, facts->resident.time_ns) ? ", after the frees at its exit" : "");
  const char *glue = ": ";
  for (int part = FACT_PARTS_blocks; part < FACT_PARTS_blocks + PART_UNWRITTEN; part++) {
    double bytes = fmax(facts_number(facts, (enum fact_name)part), 0);
    if (bytes < (part == FACT_PARTS_blocks ? 0.01 : PART_LEAST) * whole) {
      other += bytes;
      continue;
    }
    say(note, "%s%s %s", glue, text_bytes(text, bytes), part_label(view, (enum fact_name)part, bytes));
    glue = " + ";
  }
  if (other > 0.003 * whole) say(note, "%s%s other", glue, text_bytes(text, other));
  if (unwritten >= UNWRITTEN_LEAST * whole)
    say(note, "; %s has %s more, never written", view->report->samples->collected ? "the heap" : "malloc",
        text_bytes(text, unwritten));
}

static int print_resident(const struct view *view) {
  struct paragraph note = {.length = 0};
  if (facts_number(view->facts, FACT_TOTALS_peak_rss_bytes) <= 0)
    return screen_print_fact("Resident at most", "none", "", "not measured");
  bool has_parts = false;
  for (int part = FACT_PARTS_blocks; part < FACT_PARTS_blocks + PART_UNWRITTEN; part++)
    has_parts = has_parts || facts_have(view->facts, (enum fact_name)part);
  if (has_parts)
    screen_say_parts(&note, view);
  else if (view->facts->resident.counted && view->facts->resident.rss_bytes)
    say(&note, "by the kernel's count; what it was made of is not known");
  return print_known(view, FACT_TOTALS_peak_rss_bytes, note.text);
}

/* "in 305,000 blocks". */
static void say_blocks(struct paragraph *note, const struct view *view, enum fact_name name) {
  char text[64];
  const struct estimate *blocks = &view->facts->fact[name].value;
  bool calls = !strncmp(facts_label(view->facts, name), "Calls", 5);
  if (blocks->samples) say(note, "in %s", text_about(text, blocks, calls ? "call" : "block"));
}

static int screen_print_held(const struct view *view) {
  const struct report *report = view->report;
  struct paragraph note = {.length = 0};
  char time[32], last[32];
  double mapped = facts_number(view->facts, FACT_PARTS_mapped);
  bool has_moment = report_is_timed(report) && report->peak.live.bytes.samples;
  if (has_moment && report_peak_is_one(report))
    say(&note, "at %s", text_time(time, report->peak.median_ns));
  else if (has_moment && 2 * (report->peak.last_ns - report->peak.first_ns) < report->samples->end_ns)
    say(&note, "once between %s and %s", text_time(time, report->peak.first_ns),
        text_time(last, report->peak.last_ns));
  if (note.length && report->peak.live.bytes.samples) say(&note, ", ");
  say_blocks(&note, view, FACT_TOTALS_peak_blocks);
  if (mapped > MAPPED_LEAST * facts_number(view->facts, FACT_RESIDENT_rss_bytes) && !report->query &&
      screen_is_explained(view)) {
    say(&note, "%sand %s that it mapped itself", note.length ? ", " : "", text_bytes(time, mapped));
    /* Other processes may have run then. */
    if (report->samples->process_count > 1)
      say(&note, " at %s", text_time(time, view->facts->resident.time_ns));
  }
  return print_known(view, FACT_TOTALS_peak_bytes, note.text);
}

/* Of a process of Python, where its objects are sampled: what they hold, and what C code does. */
static int print_python(const struct view *view) {
  struct paragraph note = {.length = 0};
  char text[32];
  if (!facts_have(view->facts, FACT_TOTALS_held_python_bytes)) return 0;
  say(&note, "of that; native code holds %s",
      text_bytes(text, facts_number(view->facts, FACT_TOTALS_held_native_bytes)));
  if (view->report->at != AT_PEAK) say(&note, " (at %s)", text_time(text, view->report->asked.time_ns));
  return print_known(view, FACT_TOTALS_held_python_bytes, note.text);
}

/* Who allocated most of so many bytes that are freed as the program ends, if one function did. What is
 * left counts as if none of it were that function's. */
static void say_who_freed_late(struct paragraph *note, const struct view *view, double bytes, double left) {
  struct table table;
  char name[REPORT_NAME_MOST], fitted[FITTED_MOST];
  if (report_table(view->report, MEASURE_ALIVE, BY_FUNCTION, TABLE_SUMS, &table)) return;
  const struct group *most = table_largest(&table);
  if (most && 2 * (most->self.bytes.total - left) > bytes) {
    table_name(&table, most, name, sizeof name);
    say(note, ", most of it allocated by %s",
        name_fit_paragraph(fitted, FITTED_MOST, name, WRAPPER_COLUMNS, NOTE_INDENT));
  }
  table_destroy(&table);
}

static int print_left(const struct view *view) {
  const struct report *report = view->report;
  struct paragraph note = {.length = 0};
  char text[32];
  double left = facts_number(view->facts, FACT_TOTALS_live_at_end_bytes),
         peak = report->peak.live.bytes.total,
         closing = fmin(facts_number(view->facts, FACT_TOTALS_alive_bytes), peak) - left;
  if (left > 0 && report->samples->process_count > 1)
    say(&note, "when each process ended"); /* not at one time: it can be more than the peak */
  else if (left > 0 && peak > 0 && facts_have(view->facts, FACT_TOTALS_peak_bytes))
    say(&note, "%s of the peak%s", text_share(text, fmin(left / peak, 1)),
        report->samples->collected || view->verdict->kind != VERDICT_NONE ? "" : "; in use, or leaked");
  if (report->alive_ns < report->samples->end_ns && closing > 0) {
    say(&note, "%s%s was freed in the last ", note.length ? "; " : "", text_bytes(text, closing));
    say(&note, "%s", text_time(text, report->samples->end_ns - report->alive_ns));
    say_who_freed_late(&note, view, closing, left);
  }
  return print_known(view, FACT_TOTALS_live_at_end_bytes, note.text);
}

/* What a program held when memory ran out comes before its peak. */
static int print_moments(const struct view *view) {
  if (view->report->at == AT_PEAK) return screen_print_held(view) + print_python(view) + print_left(view);
  if (!memory_ran_out(view->report->samples))
    return screen_print_held(view) + print_left(view) + print_python(view);
  return print_left(view) + print_python(view) + screen_print_held(view);
}

static int screen_print_allocated(const struct view *view) {
  const struct facts *facts = view->facts;
  struct paragraph note = {.length = 0};
  char text[32], rate[FACT_TEXT_MOST];
  const struct estimate *brief = &facts->fact[FACT_TOTALS_brief_share].value;
  if (report_is_timed(view->report) && report_has_rate(view->report) &&
      facts->fact[FACT_TOTALS_allocated_bytes].value.samples)
    say(&note, "%s ",
        fact_text(rate, facts, FACT_TOTALS_allocated_bytes_per_second,
                  facts_number(facts, FACT_TOTALS_allocated_bytes_per_second)));
  say_blocks(&note, view, FACT_TOTALS_allocated_blocks);
  if (brief->samples)
    say(&note, "; %s %s within %s", text_share((char[32]){0}, brief->estimate),
        view->report->samples->collected ? "dead" : "freed", text_time(text, view->report->brief_ns));
  return print_known(view, FACT_TOTALS_allocated_bytes, note.text);
}

/* Of a collected heap: what was promoted, and how long it paused. */
static int print_collected(const struct view *view) {
  const struct facts *facts = view->facts;
  struct paragraph note = {.length = 0};
  char value[32] = "none", text[32];
  if (!view->report->samples->collected) return 0;
  struct estimate promoted = report_promoted_share(view->report, &view->report->generations);
  if (promoted.samples) text_share(value, promoted.estimate);
  say(&note, "of what was born in the minor heap");
  if (facts_number(facts, FACT_PAUSES_count) > 0) {
    say(&note, "; pauses");
    if (facts_have(facts, FACT_PAUSES_share))
      say(&note, " %s of the run,", text_share(text, facts_number(facts, FACT_PAUSES_share)));
    say(&note, " at most %s", text_time(text, (uint64_t)facts_number(facts, FACT_PAUSES_longest_ns)));
  }
  return screen_print_fact("Promoted", value, "", note.text);
}

/* What is missing must be known before a number is believed. */
static int screen_print_missing(const struct view *view) {
  const struct trace_damage *damage = source_damage(view->report->samples->source);
  struct paragraph note = {.length = 0};
  char count[64], dropped[LOAD_DROPPED_BYTES];
  if (!view->report->recording->partial) return 0;
  if (damage->records_lost)
    say(&note, "%s lost", text_number_of(count, (double)damage->records_lost, "record"));
  if (damage->records_lost && damage->loss_cause) say(&note, " (%s)", trace_cause_name(damage->loss_cause));
  if (damage->chunks_damaged)
    say(&note, "%s%s of the trace damaged", note.length ? ", " : "",
        text_number_of(count, (double)damage->chunks_damaged, "piece"));
  if (damage->chunks_dropped) say(&note, "%s%s", note.length ? ", " : "", load_tell_dropped(dropped, damage));
  say(&note, ": the numbers are of a part of the run");
  text_style(stdout, STYLE_WARNING);
  text_pad(stdout, "  INCOMPLETE", CAUSE_INDENT);
  int lines = text_continue(stdout, note.text, CAUSE_INDENT);
  text_style(stdout, STYLE_PLAIN);
  return lines;
}

/* What was allocated while nothing was sampled is in no number. */
static int print_asleep(const struct view *view) {
  const struct samples *samples = view->report->samples;
  struct paragraph note = {.length = 0};
  char time[32], all[32];
  if (samples->asleep_share <= 0) return 0;
  if (!samples->row_count)
    say(&note, "record it again with --rate 0.0001, or ask for it by 'winnow start' while it "
               "runs");
  else if (samples->process_count > 1)
    say(&note, "processes for %s of their time: what they allocated then is in resident memory alone",
        text_share(time, samples->asleep_share));
  else
    say(&note, "for %s of %s: what was allocated then is in resident memory alone",
        text_time(time, asleep_ns(samples)), text_time(all, samples->end_ns));
  if (samples->row_count && !report_is_awake(view->report)) say(&note, "; whether it grows is not known");
  text_pad(stdout, "  NOT SAMPLED", CAUSE_INDENT);
  return text_continue(stdout, note.text, CAUSE_INDENT);
}

/* Whether the trace is of malloc, and the program also has a collected heap. */
static enum collected find_other_heap(const struct view *view) {
  struct source *source = view->report->samples->source;
  enum collected found = COLLECTED_NONE;
  if (source_heap(source) != SOURCE_HEAP_MALLOC || !view->options->recording.names.symbols)
    return COLLECTED_NONE;
  for (uint32_t i = 1; i <= source_module_count(source) && found != COLLECTED_ASKS; i++) {
    const struct trace_module *module = source_module(source, i);
    enum collected here = COLLECTED_NONE;
    if (module->path.length && !trace_is_language(module))
      here = collected_in_file(module->path.bytes, module->build_id, module->build_id_bytes);
    if (here > found) found = here;
  }
  return found;
}

/* Of a trace of malloc: a collected heap that the program has besides, and how to look into it. */
static int print_other_heap(const struct view *view) {
  enum collected found = find_other_heap(view);
  struct paragraph note = {.length = 0};
  if (found == COLLECTED_NONE) return 0;
  say(&note, "%s; %s", collected_heap_name(found), collected_advice(found));
  text_pad(stdout, "  NOT IN THE TRACE", CAUSE_INDENT);
  return text_continue(stdout, note.text, CAUSE_INDENT);
}

/* ---- shared ---- */

bool screen_is_explained(const struct view *view) {
  return view->report->at != AT_PEAK || facts_number(view->facts, FACT_RESIDENT_rss_bytes) >=
                                            0.8 * facts_number(view->facts, FACT_RESIDENT_most_bytes);
}

const char *screen_margin(char buffer[16], const struct estimate *estimate) {
  const double sure = 10; /* percent: one large block is certain, and is one sample */
  double side = fmax(estimate->high - estimate->estimate, estimate->estimate - estimate->low);
  double percent = estimate->estimate > 0 ? 100 * side / estimate->estimate : INFINITY;
  if (estimate->low == estimate->high) return strcpy(buffer, "");
  if (percent > 100 || (estimate->samples < 5 && percent > sure)) return strcpy(buffer, "?");
  snprintf(buffer, 16, percent < 1 ? "%.1f %%" : "%.0f %%", fmax(percent, 0.1));
  return buffer;
}

int screen_print_head(const struct view *view) {
  static int (*const head[])(const struct view *view) = {
      screen_print_title,   print_resident, print_moments,    screen_print_allocated, print_collected,
      screen_print_missing, print_asleep,   print_other_heap, screen_print_verdict};
  int used = 0;
  for (size_t i = 0; i < sizeof head / sizeof *head; i++) used += head[i](view);
  return used;
}

/* Prints a table of the lines that are left for it and for `more` others, each of which prints its
 * title, its largest row, of at most four lines, and the rest. */
static wn_status print_table_screen(const struct view *view, const char *title, enum measure measure,
                                    int more, int *left) {
  int printed;
  enum { TABLE_LEAST = 8 };
  int lines = more ? *left / (more + 1) + 2 : *left, most = *left - more * TABLE_LEAST;
  if (lines > most) lines = most;
  wn_status error = screen_print_table(view, title, measure, lines, &printed);
  *left -= printed;
  return error;
}

/* The foot as text, which is printed last: the tables get the lines that it leaves. NULL: no memory. */
static char *foot_text(const struct view *view) {
  char *text = NULL;
  size_t size;
  FILE *screen = stdout, *out = open_memstream(&text, &size);
  if (!out) return NULL;
  stdout = out;
  report_print_hosts(view);
  screen_print_foot(view);
  stdout = screen;
  if (!fclose(out)) return text;
  free(text);
  return NULL;
}

static int count_lines(const char *text) {
  int lines = 0;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

wn_status screen_print(const struct view *view) {
  static const char *const when[] = {"HELD AT THE PEAK", "HELD AT THE END"};
  const struct report *report = view->report;
  const struct source_limits *limits = source_limits(report->samples->source);
  char title[64], time[32];
  char *foot = foot_text(view);
  wn_status error = foot ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the report");
  if (error) return error;
  int left = SCREEN_LINES - count_lines(foot) - screen_print_head(view);
  if (report_is_timed(report)) left -= report_print_chart(view);
  snprintf(title, sizeof title, "HELD AT %s", text_time(time, report->asked.time_ns));
  bool ended = limits->totals && !limits->no_end;
  if (!limits->totals || report->at == AT_PEAK)
    error = print_table_screen(view, report->at == AT_TIME ? title : when[report->at], MEASURE_HELD,
                               !limits->no_total + ended, &left);
  if (!error && ended)
    error = print_table_screen(view, limits->no_peak ? "HELD AT THE MOMENT OF THE PROFILE" : when[AT_END],
                               MEASURE_ALIVE, !limits->no_total, &left);
  if (!error && !limits->no_total)
    error = print_table_screen(view, "ALLOCATED THE MOST", MEASURE_ALLOCATED, 0, &left);
  if (!error) fputs(foot, stdout);
  free(foot);
  return error;
}
/* SPDX-License-Identifier: MIT */
