/* Lists processes, sums their measurements, and ends what they left. */
#include "analysis/load/processes.h"

#include "analysis/load/samples.h"
#include "base/text.h"
#include "sources/modules.h"
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Titles of fixed width are padded with blanks. */
static char *processes_name_of(const struct trace_run *run) {
  uint32_t length = run->title.length;
  while (length && run->title.bytes[length - 1] == ' ') length--;
  if (length) return strndup(run->title.bytes, length);
  if (!run->command.length || !run->command.bytes[0]) return strdup("?");
  return strdup(command_name(run->command.bytes));
}

/* False: not enough memory. */
static bool set_origin(struct process *process, const struct trace_run *run, const char *release) {
  if (run->host.length) process->host = strndup(run->host.bytes, run->host.length);
  if (*release) process->release = strdup(release);
  return (process->host || !run->host.length) && (process->release || !*release);
}

/* ---- the list ---- */

static bool processes_is_of_host(const struct trace_run *one, const struct trace_run *other) {
  return one->host.length == other->host.length &&
         (!one->host.length || !memcmp(one->host.bytes, other->host.bytes, one->host.length));
}

/* Whether a process may have become a program that has its number. After another end the number was
 * given to another process; in containers many processes have the number 1. */
static bool may_go_on(const struct source_process *process) {
  return !process->ended || process->end.kind == TRACE_END_EXEC;
}

/* The last process that began before, on the same machine, and was this one before an exec, or its
 * parent. Process numbers come again, so the last one counts. */
static uint32_t find_parent(const struct source *source, uint32_t index) {
  const struct trace_run *run = &source_process(source, index)->run;
  for (uint32_t i = index; i--;) {
    const struct source_process *from = source_process(source, i);
    bool same = from->run.pid == run->pid && may_go_on(from), parent = from->run.pid == run->parent_pid;
    if ((same || parent) && processes_is_of_host(run, &from->run)) return i;
  }
  return NO_PROCESS;
}

static bool read_one(struct samples *samples, struct process *process) {
  const struct trace_run *run = source_run(samples->source);
  char release[RELEASE_DIGITS + 1];
  release_of_program(samples->source, release);
  *process = (struct process){.pid = run->pid,
                              .parent = NO_PROCESS,
                              .name = processes_name_of(run),
                              .last_ns = samples->end_ns,
                              .end_ns = STILL_ALIVE,
                              .rate = run->rate,
                              .ended = samples->ended,
                              .end_kind = samples->end.kind,
                              .end_cause = samples->end.cause,
                              .code = samples->end.code};
  return set_origin(process, run, release) && process->name;
}

static bool read_part(const struct source *source, uint32_t index, struct process *process) {
  const struct source_process *from = source_process(source, index);
  *process = (struct process){.pid = from->run.pid,
                              .parent = find_parent(source, index),
                              .name = processes_name_of(&from->run),
                              .became = from->became ? strdup(from->became) : NULL,
                              .begin_ns = from->begin_ns,
                              .last_ns = from->end_ns,
                              .rate = from->run.rate,
                              .ended = from->ended,
                              .writing = from->writing,
                              .end_kind = from->end.kind,
                              .end_cause = from->end.cause,
                              .code = from->end.code};
  return set_origin(process, &from->run, from->release) && process->name &&
         (process->became || !from->became);
}

/* The trace ends with its last process. A process that ends then, or still runs, ends no blocks. */
static void set_ends(struct samples *samples) {
  samples->ended = true;
  samples->end_ns = 0;
  for (uint32_t i = 0; i < samples->process_count; i++) {
    const struct process *process = &samples->processes[i];
    if (process->last_ns > samples->end_ns) samples->end_ns = process->last_ns;
    samples->ended = samples->ended && process->ended;
  }
  for (uint32_t i = 0; i < samples->process_count; i++) {
    struct process *process = &samples->processes[i];
    bool until_end = process->writing || process->last_ns == samples->end_ns;
    process->end_ns = until_end ? STILL_ALIVE : process->last_ns;
  }
}

/* ---- memory ---- */

/* The last measurement of each living process, and their sum. */
struct memory_sum {
  const struct memory_point **last; /* index: process; NULL: none, or it has ended */
  struct memory_point sum;
  size_t living, incomplete; /* processes with a measurement; those whose mappings it leaves out */
};

static void add_point(struct memory_sum *sum, const struct memory_point *point) {
  sum->sum.rss_bytes += point->rss_bytes;
  sum->sum.private_bytes += point->private_bytes;
  sum->sum.own_bytes += point->own_bytes;
  sum->sum.cost_ns += point->cost_ns;
  sum->sum.processor_ns += point->processor_ns;
  sum->incomplete += !point->complete;
  sum->living++;
}

static void remove_point(struct memory_sum *sum, const struct memory_point *point) {
  sum->sum.rss_bytes -= point->rss_bytes;
  sum->sum.private_bytes -= point->private_bytes;
  sum->sum.own_bytes -= point->own_bytes;
  sum->incomplete -= !point->complete;
  sum->living--;
}

/* What a process took before it ended is taken. */
static void forget_cost(struct memory_sum *sum, const struct memory_point *point) {
  sum->sum.cost_ns -= point->cost_ns;
  sum->sum.processor_ns -= point->processor_ns;
}

/* Exchanges the last measurement of a process; NULL: it has ended. */
static struct memory_point processes_exchange(struct memory_sum *sum, uint32_t process,
                                              const struct memory_point *point, uint64_t time_ns) {
  const struct memory_point *last = sum->last[process];
  if (last) remove_point(sum, last);
  if (last && point) forget_cost(sum, last);
  if (point) add_point(sum, point);
  sum->last[process] = point;
  sum->sum.time_ns = time_ns;
  sum->sum.complete = !sum->incomplete && sum->living;
  return sum->sum;
}

/* The processes in the order of their ends; NULL without memory. */
static struct keyed *order_ends(const struct samples *samples) {
  struct keyed *ends = malloc(((size_t)samples->process_count + 1) * sizeof *ends);
  for (uint32_t i = 0; ends && i < samples->process_count; i++)
    ends[i] = (struct keyed){samples->processes[i].end_ns, i};
  return order_owned(ends, samples->process_count);
}

/* Replaces the measurements of single processes, in order of time, by their sums. */
static bool sum_memory(struct samples *samples) {
  size_t count = samples->memory_count, processes = samples->process_count, sums = 0, ended = 0;
  struct memory_sum sum = {.last = calloc(processes + 1, sizeof *sum.last)};
  struct memory_point *points = malloc((count + processes + 1) * sizeof *points);
  struct keyed *ends = order_ends(samples);
  bool done = sum.last && points && ends;
  for (size_t i = 0; done && (i < count || ended < processes);) {
    uint64_t next = i < count ? samples->memory[i].time_ns : STILL_ALIVE;
    if (ended < processes && ends[ended].key < next) {
      uint32_t process = ends[ended].item;
      if (sum.last[process]) points[sums++] = processes_exchange(&sum, process, NULL, ends[ended].key);
      ended++;
    } else if (i < count) {
      points[sums++] = processes_exchange(&sum, samples->memory[i].process, &samples->memory[i], next);
      i++;
    } else {
      ended = processes; /* the others last until the end of the trace */
    }
  }
  free(sum.last);
  free(ends);
  if (!done) return free(points), false;
  free(samples->memory);
  samples->memory = points;
  samples->memory_count = sums;
  return true;
}

/* `later`: of a mapping, which the last measurement of its process, at its end, still has. */
static void processes_end_row(const struct samples *samples, struct row *row, uint64_t later) {
  uint64_t end_ns = samples->processes[process_of(samples, row->thread)].end_ns;
  if (row->end_ns == STILL_ALIVE && end_ns != STILL_ALIVE)
    row->end_ns = (end_ns > row->begin_ns ? end_ns : row->begin_ns) + later;
}

/* ---- shared ---- */

bool processes_read(struct samples *samples) {
  const struct source *source = samples->source;
  uint32_t count = source_process_count(source);
  samples->processes = calloc((size_t)count + 1, sizeof *samples->processes);
  if (!samples->processes) return false;
  samples->process_count = count;
  if (count == 1) return read_one(samples, samples->processes);
  for (uint32_t i = 0; i < count; i++)
    if (!read_part(source, i, &samples->processes[i])) return false;
  set_ends(samples);
  return sum_memory(samples);
}

void processes_forget_origin(struct process *process) {
  free(process->host);
  free(process->release);
  process->host = process->release = NULL;
}

void processes_destroy(struct samples *samples) {
  for (uint32_t i = 0; samples->processes && i < samples->process_count; i++) {
    free(samples->processes[i].name);
    processes_forget_origin(&samples->processes[i]);
    free(samples->processes[i].became);
  }
  free(samples->processes);
  samples->processes = NULL;
  samples->process_count = 0;
}

void processes_end_rows(struct samples *samples) {
  if (samples->process_count < 2) return;
  for (size_t i = 0; i < samples->row_count; i++) processes_end_row(samples, &samples->rows[i], 0);
  for (size_t i = 0; i < samples->mapped.count; i++) processes_end_row(samples, &samples->mapped.rows[i], 1);
}

uint32_t process_of(const struct samples *samples, uint32_t thread) {
  return source_process_of(thread, samples->process_count);
}
/* SPDX-License-Identifier: MIT */
