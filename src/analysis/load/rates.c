/* Counts, in order of time, the processes that run and those that sample, and finds when none of
 * the first is one of the second. */
#include "analysis/load/rates.h"

#include "analysis/load/order.h"
#include "base/array.h"
#include <math.h>
#include <stdlib.h>

/* From a time on so many more run, or sample. */
struct turn {
  uint64_t time_ns;
  int running, sampling;
};

struct turns {
  struct turn *items;
  size_t count, capacity;
};

static bool rates_add(struct turns *turns, uint64_t time_ns, int running, int sampling) {
  struct turn turn = {time_ns, running, sampling};
  return ARRAY_ADD(turns->items, turns->count, turns->capacity, turn);
}

static int rates_by_time(const void *a, const void *b) {
  const struct turn *one = a, *other = b;
  return order_numbers(one->time_ns, other->time_ns);
}

static uint64_t rates_end_of(const struct samples *samples, const struct process *process) {
  return samples->process_count == 1 ? samples->end_ns : process->last_ns;
}

/* Adds when a process begins, when it begins or ceases to sample, and when it ends. */
static bool rates_add_process(struct turns *turns, const struct samples *samples, uint32_t number) {
  const struct process *process = &samples->processes[number];
  bool sampling = process->rate > 0;
  if (!rates_add(turns, process->begin_ns, 1, sampling)) return false;
  for (size_t i = 0; i < samples->rate_change_count; i++) {
    const struct rate_change *change = &samples->rate_changes[i];
    if (change->process != number || (change->rate > 0) == sampling) continue;
    sampling = !sampling;
    if (!rates_add(turns, change->time_ns, 0, sampling ? 1 : -1)) return false;
  }
  return rates_add(turns, rates_end_of(samples, process), -1, sampling ? -1 : 0);
}

static bool find_spans(struct samples *samples, const struct turns *turns) {
  size_t capacity = 0;
  int running = 0, sampling = 0;
  double ran = 0, slept = 0;
  for (size_t i = 0; i < turns->count; i++) {
    const struct turn *turn = &turns->items[i];
    running += turn->running;
    sampling += turn->sampling;
    uint64_t end = i + 1 < turns->count ? turns->items[i + 1].time_ns : samples->end_ns;
    if (end <= turn->time_ns) continue;
    ran += (double)(end - turn->time_ns) * running;
    slept += (double)(end - turn->time_ns) * (running - sampling);
    if (!running || sampling) continue;
    struct span *last = samples->asleep_count ? &samples->asleep[samples->asleep_count - 1] : NULL;
    struct span span = {turn->time_ns, end};
    if (last && last->end_ns == span.begin_ns)
      last->end_ns = end;
    else if (!(ARRAY_ADD(samples->asleep, samples->asleep_count, capacity, span)))
      return false;
  }
  samples->asleep_share = ran > 0 ? slept / ran : 0;
  return true;
}

/* ---- shared ---- */

/* A sample of rate r stands for 1/r words, and r of the words that are so sampled take a sample:
 * so the mean of 1/r over all words is the sum of the squares, over the samples, divided by the
 * sum. */
double samples_typical_rate(const struct samples *samples) {
  double sum = 0, squares = 0, most = samples->rates[0];
  if (samples->rate_count == 1 && !samples->rate_change_count) return most;
  for (size_t i = 0; i < samples->row_count; i++) {
    double rate = samples->rates[samples->rows[i].rate], words = rate > 0 ? 1 / rate : 0;
    sum += words;
    squares += words * words;
  }
  for (size_t i = 0; i < samples->rate_change_count; i++) most = fmax(most, samples->rate_changes[i].rate);
  return squares > 0 ? sum / squares : most;
}

void samples_cost(const struct samples *samples, uint64_t *cost_ns, uint64_t *processor_ns) {
  const struct memory_point *last = NULL;
  for (size_t i = samples->memory_count; i && !last; i--)
    if (samples->memory[i - 1].processor_ns) last = &samples->memory[i - 1];
  *cost_ns = last ? last->cost_ns : 0;
  *processor_ns = last ? last->processor_ns : 0;
}

bool samples_follow_budget(const struct samples *samples) {
  for (size_t i = 0; i < samples->rate_change_count; i++)
    if (samples->rate_changes[i].cause == TRACE_RATE_BUDGET) return true;
  return false;
}

bool asleep_find(struct samples *samples) {
  struct turns turns = {0};
  bool done = true;
  free(samples->asleep);
  samples->asleep = NULL;
  samples->asleep_count = 0;
  for (uint32_t i = 0; done && i < samples->process_count; i++) done = rates_add_process(&turns, samples, i);
  if (done && turns.count) qsort(turns.items, turns.count, sizeof *turns.items, rates_by_time);
  done = done && find_spans(samples, &turns);
  free(turns.items);
  return done;
}

uint64_t asleep_ns(const struct samples *samples) {
  uint64_t sum = 0;
  for (size_t i = 0; i < samples->asleep_count; i++)
    sum += samples->asleep[i].end_ns - samples->asleep[i].begin_ns;
  return sum;
}

bool asleep_is(const struct samples *samples, uint64_t from_ns, uint64_t to_ns) {
  for (size_t i = 0; i < samples->asleep_count; i++)
    if (samples->asleep[i].begin_ns <= from_ns && to_ns <= samples->asleep[i].end_ns) return true;
  return false;
}
bool asleep_not(const struct samples *samples, struct span *longest) {
  uint64_t from = 0;
  *longest = (struct span){0, 0};
  for (size_t i = 0; i <= samples->asleep_count; i++) {
    uint64_t until = i < samples->asleep_count ? samples->asleep[i].begin_ns : samples->end_ns;
    if (until > from && until - from > longest->end_ns - longest->begin_ns)
      *longest = (struct span){from, until};
    if (i < samples->asleep_count) from = samples->asleep[i].end_ns;
  }
  longest->begin_ns += (longest->end_ns - longest->begin_ns) / 4;
  return longest->end_ns > longest->begin_ns;
}

/* SPDX-License-Identifier: MIT */
