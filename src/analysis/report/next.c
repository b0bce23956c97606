/* Finds the line to begin at. Of several functions that grow it is that of the first: ORDER in
 * culprits.c. */
#include "analysis/report/next.h"

#include "analysis/load/interpreter.h"
#include "analysis/load/rates.h"
#include "analysis/report/heap_tool.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether a name is that of a program: with a version of the program behind it, such as clang-14, or of a
 * compiler with its target before it, such as x86_64-linux-gnu-gcc-12. */
static bool next_is_called(const char *name, const char *program, bool compiles) {
  size_t bytes = strlen(name), own = strlen(program);
  const char *dash = strrchr(name, '-');
  if (dash && dash[1] && strspn(dash + 1, "0123456789.") == strlen(dash + 1)) bytes = (size_t)(dash - name);
  if (bytes < own || strncmp(name + bytes - own, program, own) != 0) return false;
  return bytes == own || (compiles && name[bytes - own - 1] == '-');
}

/* Whether the program is one that leaves its work to processes that it starts, and was recorded
 * without them. A trace says nothing of processes that were not followed, but few programs do so,
 * and all know these. */
static bool leaves_work_to_others(const struct report *report) {
  static const char *const programs[] = {"sh",    "bash",  "dash",  "ash",     "ksh",   "zsh",
                                         "fish",  "make",  "gmake", "time",    "xargs", "parallel",
                                         "find",  "sudo",  "su",    "timeout", "npm",   "npx",
                                         "ctest", "watch", "ninja", "cargo"},
                           *const compilers[] = {"cc", "c++", "gcc", "g++", "gfortran", "clang", "clang++"};
  const struct trace_run *run = source_run(report->samples->source);
  const char *name = path_name(run->command.length ? run->command.bytes : "");
  if (report->samples->process_count > 1) return false;
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    if (next_is_called(name, programs[i], false)) return true;
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
    if (next_is_called(name, compilers[i], true)) return true;
  return false;
}

/* Ten times the rate, by the option or variable of what recorded. */
static const char *higher_rate(const struct report *report, char text[64]) {
  double rate = fmin(fmax(10 * report->recording->rate, 1e-4), 1);
  const struct trace_text writer = source_run(report->samples->source)->writer;
  const char *option = !report->samples->collected ? "--rate "
                       : writer.length             ? "MEMTRACE_RATE="
                                                   : "WINNOW_RATE=";
  if (samples_follow_budget(report->samples)) return "a larger --budget or --max-trace";
  snprintf(text, 64, "%s%.2g", option, rate);
  return text;
}

/* ---- shared ---- */

bool next_place(const struct table *functions, const struct main_lines *lines, const struct label *function,
                char place[NEXT_MOST]) {
  size_t count;
  const struct group *group = lines->of ? table_find_group(functions, function) : NULL,
                     *line = group ? main_line(lines, group, &count) : NULL;
  if (!line) return false;
  const struct label *label = &lines->tree.labels[line->label];
  const char *file = path_name(strings_text(functions->report->names->strings, label->file));
  snprintf(place, NEXT_MOST, "%.200s:%u", file, label->line);
  return true;
}

void next_begin(const struct table *functions, const struct main_lines *lines, const struct label *function,
                const char *before, const char *behind, char text[NEXT_MOST]) {
  char place[NEXT_MOST];
  const char *name = strings_text(functions->report->names->strings, function->function);
  if (!next_place(functions, lines, function, place))
    snprintf(place, sizeof place, "%.80s%s", name, strlen(name) > 80 ? "..." : "");
  snprintf(text, NEXT_MOST, "%s%.300s%s", before, place, behind);
}

void next_way(const struct report *report, enum verdict_kind kind, char text[NEXT_MOST]) {
  char rate[64];
  bool others = leaves_work_to_others(report);
  const char *tool = heap_tool_of(report->recording);
  *text = 0;
  bool budget = samples_follow_budget(report->samples), collected = report->samples->collected,
       ten = report->recording->rate >= 1e-5 && report->recording->rate <= 0.1;
  if (kind == VERDICT_UNDECIDED && others)
    snprintf(text, NEXT_MOST, "record a longer run, or with -f, for the programs that it starts");
  else if (kind == VERDICT_UNDECIDED && report->recording->rate >= 1)
    snprintf(text, NEXT_MOST, "record a longer run");
  else if (kind == VERDICT_UNDECIDED)
    snprintf(text, NEXT_MOST, "record a longer run, or with %s%s%s",
             budget ? ""
             : ten  ? "ten times the samples: "
                    : "more samples: ",
             budget || collected ? "" : "winnow record ", higher_rate(report, rate));
  if (kind == VERDICT_FEW && others)
    snprintf(text, NEXT_MOST, "record it with -f, for the programs that it starts");
  else if (kind == VERDICT_FEW)
    snprintf(text, NEXT_MOST, "%s it again with %s", collected ? "run" : "record", higher_rate(report, rate));
  if (kind == VERDICT_KEPT)
    snprintf(text, NEXT_MOST, "try malloc_trim, or a pool for the blocks that live on");
  if (kind == VERDICT_MAPPED && tool) snprintf(text, NEXT_MOST, "%s", tool);
}

enum measure next_measure(const struct verdict *verdict) {
  return verdict->kind == VERDICT_BRIEF ? MEASURE_ALLOCATED : MEASURE_HELD;
}

const char *next_question(const struct names *names, const struct verdict *verdict) {
  bool leaks = verdict->kind == VERDICT_LEAK || verdict->blocks == VERDICT_LEAK;
  if (!leaks) return ": is all of this still needed? A longer run tells";
  return interpreter_is_language(names, verdict->culprit[0].function.module)
             ? ": what still refers to this? A cache would stop growing"
             : ": what should free this, and when? A cache would stop growing";
}

void next_step(const struct table *functions, const struct main_lines *lines, const struct verdict *verdict,
               const struct label *largest, char text[NEXT_MOST]) {
  next_way(functions->report, verdict->kind, text);
  if (verdict->culprits)
    next_begin(functions, lines, &verdict->culprit[0].function, "look at ",
               next_question(functions->report->names, verdict), text);
  else if (!*text && verdict->kind != VERDICT_MAPPED && largest && largest->function)
    next_begin(functions, lines, largest,
               verdict->kind == VERDICT_BRIEF ? "to allocate less, begin at "
                                              : "to use less memory, begin at ",
               "", text);
}
/* SPDX-License-Identifier: MIT */
