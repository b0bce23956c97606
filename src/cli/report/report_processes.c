/* Counts the processes by how they ended, and says what sums over processes mean. */
#include "cli/report/report_text.h"

#include "cli/text.h"
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 60, SIGNALS_NAMED = 4 };

/* Whether an entry is a program that the process became by exec. */
static bool is_continued(const struct samples *samples, uint32_t index) {
  uint32_t parent = samples->processes[index].parent;
  return parent != NO_PROCESS && samples->processes[parent].pid == samples->processes[index].pid;
}

/* Whether the program that a process became by exec is among the traces, too. */
static bool report_processes_goes_on(const struct samples *samples, uint32_t index) {
  for (uint32_t i = index + 1; i < samples->process_count; i++)
    if (samples->processes[i].parent == index && is_continued(samples, i)) return true;
  return false;
}

/* ---- ends ---- */

struct ends {
  size_t processes, programs, exited, failed, became, stopped, unknown, untold, running;
  struct {
    int number;
    size_t count;
  } signals[SIGNALS_NAMED];
  size_t signalled; /* by other signals */
};

static void count_signal(struct ends *ends, int number) {
  for (int i = 0; i < SIGNALS_NAMED; i++) {
    if (ends->signals[i].count && ends->signals[i].number != number) continue;
    ends->signals[i].number = number;
    ends->signals[i].count++;
    return;
  }
  ends->signalled++;
}

static void report_processes_count_end(struct ends *ends, const struct process *process,
                                       const struct trace_run *run) {
  if (process->writing)
    ends->running++;
  else if (run->writer.length)
    ends->untold++;
  else if (!process->ended)
    ends->unknown++;
  else if (process->end_kind == TRACE_END_SIGNAL)
    count_signal(ends, process->code);
  else if (process->end_kind == TRACE_END_EXEC)
    ends->became++;
  else if (process->end_kind == TRACE_END_STOP)
    ends->stopped++;
  else if (process->code)
    ends->failed++;
  else
    ends->exited++;
}

static struct ends report_processes_count_ends(const struct samples *samples) {
  struct ends ends = {.programs = samples->process_count};
  for (uint32_t i = 0; i < samples->process_count; i++) {
    const struct process *process = &samples->processes[i];
    ends.processes += !is_continued(samples, i);
    bool is_end =
        !process->ended || process->end_kind != TRACE_END_EXEC || !report_processes_goes_on(samples, i);
    if (is_end) report_processes_count_end(&ends, process, &source_process(samples->source, i)->run);
  }
  return ends;
}

/* "10 exited with code 0, 1 was ended by signal 9 (Killed)". */
static void say_counts(struct paragraph *paragraph, const struct ends *ends) {
  const char *between = " ";
  const struct {
    size_t count;
    const char *what;
  } kinds[] = {{ends->exited, "exited with code 0"},
               {ends->failed, "exited with another code"},
               {ends->became, "became a program by exec that is not among the traces"},
               {ends->stopped, "stopped recording"},
               {ends->running, "still running"},
               {ends->signalled, "ended by other signals"},
               {ends->untold, "with traces of Memtrace, which tell no end"},
               {ends->unknown, "left no record of their end: killed, left by _exit, or still running"}};
  for (int i = 0; i < SIGNALS_NAMED && ends->signals[i].count; i++) {
    say(paragraph, "%s%zu ended by signal %d (%s)", between, ends->signals[i].count, ends->signals[i].number,
        strsignal(ends->signals[i].number));
    between = ", ";
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!kinds[i].count) continue;
    say(paragraph, "%s%zu %s", between, kinds[i].count, kinds[i].what);
    between = ", ";
  }
}

/* ---- what counts ---- */

static void say_rates(struct paragraph *paragraph, const struct view *view) {
  const struct source *source = view->report->samples->source;
  double least = 1, most = 0;
  for (uint32_t i = 0; i < source_process_count(source); i++) {
    double rate = source_process(source, i)->run.rate;
    least = rate < least ? rate : least;
    most = rate > most ? rate : most;
  }
  if (least < most)
    say(paragraph, " The rates of the traces are %g to %g at first; each sample counts by its own.", least,
        most);
}

/* Traces of two hosts are put on one clock by two wall clocks. */
static void say_hosts(struct paragraph *paragraph, const struct source *source) {
  const struct trace_text *first = &source_process(source, 0)->run.host;
  for (uint32_t i = 1; i < source_process_count(source); i++) {
    const struct trace_text *host = &source_process(source, i)->run.host;
    if (host->length == first->length && !memcmp(host->bytes, first->bytes, first->length)) continue;
    say(paragraph,
        " The traces are of several hosts; what was held at one moment is a sum by their wall clocks, which "
        "may differ.");
    return;
  }
}

/* ---- shared ---- */

void report_say_processes(struct paragraph *paragraph, const struct samples *samples) {
  struct ends ends = report_processes_count_ends(samples);
  char number[64];
  size_t others = ends.processes - 1;
  say(paragraph, "%.*s", NAME_MOST, samples->processes->name);
  if (others) say(paragraph, " and %s", text_number_of(number, (double)others, "other process"));
  if (ends.programs > ends.processes)
    say(paragraph, " (%zu programs, since a process can become another program by exec)", ends.programs);
}

void report_say_ends(struct paragraph *paragraph, const struct view *view) {
  const struct samples *samples = view->report->samples;
  struct ends ends = report_processes_count_ends(samples);
  if (ends.exited == ends.processes) {
    say(paragraph, " All %zu processes exited with code 0", ends.processes);
  } else {
    say(paragraph, " Of the %zu processes", ends.processes);
    say_counts(paragraph, &ends);
  }
  say(paragraph,
      ". A block counts as held until it was freed or its process ended, so what was held is a sum over the "
      "processes that ran then. What a process had from its parent as it was forked counts in the parent "
      "alone.");
  if (ends.unknown || ends.untold)
    say(paragraph, " Without a record of its end, a process counts as ended at the last event of its trace.");
  say_hosts(paragraph, samples->source);
  say_rates(paragraph, view);
  if (samples->collected && ends.untold < ends.processes)
    say(paragraph, " The collections of their heaps are in the reports on single traces.");
}

wn_status report_print_processes(const struct view *view, const char *title) {
  struct report_options options = *view->options;
  struct view by_process = {view->report, &options, view->facts, view->verdict};
  char text[160];
  if (!report_has_processes(view) || options.grouping == BY_PROCESS) return WN_OK;
  options.grouping = BY_PROCESS;
  snprintf(text, sizeof text, "%s, by process", title);
  return report_print_table(&by_process, text, MEASURE_HELD, NULL);
}
/* SPDX-License-Identifier: MIT */
