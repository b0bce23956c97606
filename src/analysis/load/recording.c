/* A recording, wherever its rows come from. recording_load.c loads one from a trace. */
#include "analysis/load/recording.h"

#include "analysis/load/peak.h"
#include "analysis/load/rates.h"
#include "analysis/load/timeline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Marks a node and its callers. */
static void use(const struct samples *samples, bool *used, uint32_t nodes, uint32_t node) {
  while (node && node <= nodes && !used[node]) {
    used[node] = true;
    node = source_stack(samples->source, node).parent;
  }
}

/* Of the nodes of rows alone, so that a container, which has no others, has the same names. Without
 * memory no name is shared. */
static void find_shared_names(struct recording *recording) {
  const struct samples *samples = recording->samples;
  uint32_t nodes = source_stack_count(samples->source);
  bool *used = calloc((size_t)nodes + 1, sizeof *used);
  if (!used) return;
  for (size_t i = 0; i < samples->row_count; i++) use(samples, used, nodes, samples->rows[i].stack);
  for (size_t i = 0; i < samples->mapped.count; i++) use(samples, used, nodes, samples->mapped.rows[i].stack);
  names_find_shared(&recording->names, used, nodes);
  free(used);
}

/* ---- CLOSING ---- */

enum { CLOSING_PART = 5, SLOWLY_PART = 2, CURVE = 512, AT_ONCE = 50, LEAST = CURVE / 8, BATCHES = 3 };
static const double KEPT_MOST = 0.5, NEARLY[] = {0.95, 0.8, 0.6}, SLOWLY_LEAST = 0.25, SLOWLY_ALLOCATES = 0.1,
                    WORKS = 0.5, AGAIN = 0.8, NO_BATCHES = -1;

/* What a process held, and what it allocated since the moment before, while it ran. */
struct course {
  const struct samples *samples;
  uint32_t process;
  struct moment moments[CURVE];
  struct flow flow[CURVE];
  size_t begin, end; /* its first and its last moment */
};

static bool is_of_process(const struct row *row, void *context) {
  const struct course *course = context;
  return process_of(course->samples, row->thread) == course->process;
}

/* A process that lived for few moments of the trace has no course. */
static bool has_course(struct course *course, const struct process *process) {
  static const struct moments_of of = {.count = CURVE};
  timeline_curve(course->samples, is_of_process, course, course->moments, of);
  timeline_flow(course->samples, is_of_process, course, course->flow, of);
  course->end = CURVE - 1;
  while (course->begin < CURVE && course->moments[course->begin].time_ns < process->begin_ns) course->begin++;
  while (course->end && course->moments[course->end].time_ns >= process->end_ns) course->end--;
  return course->end >= course->begin + LEAST;
}

static double recording_held_at(const struct course *course, size_t moment) {
  return course->moments[moment].live.bytes.total;
}

static double recording_allocated(const struct course *course, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; i++) sum += course->flow[i].allocated;
  return sum;
}

/* The moment at which the last part of a course begins. */
static size_t recording_last_part(const struct course *course, int parts) {
  return course->end + 1 - (course->end + 1 - course->begin) / (size_t)parts;
}

/* The last moment at which this part of what was held at most from `first` on was held. */
static size_t last_of_most(const struct course *course, size_t first, double part) {
  size_t last = course->end;
  double most = 0;
  for (size_t i = first; i <= last; i++) most = fmax(most, recording_held_at(course, i));
  while (last > first && recording_held_at(course, last) < part * most) last--;
  return last;
}

/* Whether a program that freed most of what it had goes on as before. */
static bool works_on(const struct course *course, size_t last) {
  size_t before = last + 1 - course->begin, after = course->end - last;
  return after > (before + after) / AT_ONCE &&
         recording_allocated(course, last + 1, course->end + 1) / (double)after >=
             WORKS * recording_allocated(course, course->begin, last + 1) / (double)before;
}

/* The last moment before the process closes down, from `first` on. What few samples say of a level
 * rises and falls, so the process may have worked for long after it seemed to hold the most: then
 * NEARLY is less. */
static size_t last_at_work(const struct course *course, size_t first) {
  size_t last = course->end;
  for (size_t i = 0; i < sizeof NEARLY / sizeof *NEARLY; i++) {
    last = last_of_most(course, first, NEARLY[i]);
    if (!works_on(course, last)) break;
  }
  return last;
}

/* SLOWLY */
static bool only_frees(const struct course *course, size_t last) {
  double held = recording_held_at(course, last);
  return recording_held_at(course, (last + course->end) / 2) >= SLOWLY_LEAST * held &&
         recording_allocated(course, last + 1, course->end + 1) <= SLOWLY_ALLOCATES * held;
}

/* BATCHES: the least that was held before the last one. */
static double held_between_batches(const struct course *course, size_t last) {
  double most = recording_held_at(course, last), least = most, between = NO_BATCHES;
  int batches = 0;
  for (size_t i = recording_last_part(course, SLOWLY_PART); i <= last; i++) {
    least = fmin(least, recording_held_at(course, i));
    if (least >= KEPT_MOST * most || recording_held_at(course, i) < AGAIN * most) continue;
    batches++;
    between = least;
    least = most;
  }
  return batches < BATCHES ? NO_BATCHES : between;
}

static bool ends_itself(const struct process *process) {
  return process->ended && process->end_kind != TRACE_END_STOP && process->end_kind != TRACE_END_EXEC;
}

void recording_describe(struct recording *recording) {
  const struct trace_damage *damage = source_damage(recording->samples->source);
  double rate = samples_typical_rate(recording->samples);
  recording->rate = rate;
  recording->byte_unit = rate > 1               ? EXACT_UNIT
                         : rate > 0 && rate < 1 ? recording->samples->word_bytes / rate
                                                : 0;
  if (recording->kept <= 0) recording->kept = 1;
  recording->partial = trace_is_partial(damage);
  struct peak peak;
  bool found = !peak_find(recording->samples, NULL, NULL, &peak);
  find_shared_names(recording);
  recording->peak_ns = found ? peak.median_ns : recording->samples->end_ns;
  const struct source_limits *limits = source_limits(recording->samples->source);
  if (limits->totals) recording->peak_ns = limits->no_peak ? SOURCE_END : SOURCE_PEAK;
  recording->without_ranges = recording->partial || limits->estimated;
  bool is_one = recording->samples->process_count == 1;
  recording->closing_ns = is_one ? recording_closing(recording, 0) : recording->samples->end_ns;
}

uint64_t recording_closing(const struct recording *recording, uint32_t number) {
  const struct samples *samples = recording->samples;
  const struct process *process = &samples->processes[number];
  struct course course = {.samples = samples, .process = number};
  uint64_t end_ns = process->end_ns == STILL_ALIVE ? process->last_ns : process->end_ns - 1;
  if (samples->process_count < 2) end_ns = samples->end_ns;
  if (recording->partial || samples->collected || !ends_itself(process) || !has_course(&course, process))
    return end_ns;
  size_t lately = recording_last_part(&course, CLOSING_PART),
         first = recording_last_part(&course, SLOWLY_PART), last = last_of_most(&course, first, *NEARLY);
  if (last >= lately || !only_frees(&course, last)) {
    if (last < lately) first = lately;
    last = last_at_work(&course, first);
  }
  double between = held_between_batches(&course, last);
  if (between > NO_BATCHES) {
    if (recording_held_at(&course, course.end) >= KEPT_MOST * between) return end_ns;
    for (last = course.end; recording_held_at(&course, last) < KEPT_MOST * between;) last--;
    return course.moments[last].time_ns;
  }
  if (recording_held_at(&course, course.end) >= KEPT_MOST * recording_held_at(&course, last) ||
      works_on(&course, last))
    return end_ns;
  bool is_peak = samples->process_count < 2 && recording->peak_ns >= course.moments[first].time_ns;
  return is_peak ? recording->peak_ns : course.moments[last].time_ns;
}

bool recording_is_same(const struct recording *one, const struct recording *other) {
  const struct trace_run *run = source_run(one->samples->source), *too = source_run(other->samples->source);
  return run->wall_ns && run->wall_ns == too->wall_ns && run->monotonic_ns == too->monotonic_ns &&
         run->pid == too->pid && run->seed == too->seed && run->host.length == too->host.length &&
         !memcmp(run->host.bytes, too->host.bytes, run->host.length) &&
         one->samples->end_ns == other->samples->end_ns;
}

void recording_free(struct recording *recording) {
  if (!recording) return;
  listing_destroy(&recording->listing);
  wrappers_destroy(&recording->wrappers);
  names_destroy(&recording->names);
  samples_free(recording->samples);
  free(recording);
}
/* SPDX-License-Identifier: MIT */
