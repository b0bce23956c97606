/* Sweeps over the births and ends of rows. */
#include "export/windows.h"

#include "analysis/load/timeline.h"
#include "base/array.h"
#include "base/error.h"
#include <stdlib.h>

static wn_status windows_no_memory(void) { return error_set(WN_ENOMEM, "not enough memory for the windows"); }

/* ---- sums ---- */

/* The sums of a row's stack; NULL without memory. */
static struct sums *windows_sums_of(struct windows *windows, enum window_kind kind, const struct row *row) {
  uint32_t owner = row->stack < windows->owners ? windows->owner_of[row->stack] : 0,
           *number = &windows->sum_of[kind][owner];
  if (!*number) {
    struct window_sum sum = {.stack = owner, .kind = kind};
    if (!ARRAY_ADD(windows->sums, windows->count, windows->capacity, sum)) return NULL;
    *number = (uint32_t)windows->count;
  }
  return &windows->sums[*number - 1].sums;
}

static void forget_sums(struct windows *windows) {
  for (size_t i = 0; i < windows->count; i++)
    windows->sum_of[windows->sums[i].kind][windows->sums[i].stack] = 0;
  windows->count = 0;
}

static bool windows_counts(const struct windows *windows, const struct row *row) {
  return row->probability > 0 && report_selects(row, (void *)(uintptr_t)windows->report);
}

/* What happened at a step. False without memory. */
static bool windows_add_event(struct windows *windows, const struct row *row, bool ends) {
  if ((ends ? !row->last : !row->call) || !windows_counts(windows, row)) return true;
  struct sums *sums = windows_sums_of(windows, ends ? WINDOW_DIED : WINDOW_BORN, row);
  if (!sums) return false;
  if (ends)
    timeline_add_live(sums, row);
  else
    timeline_add_call(sums, windows->report->samples, row);
  return true;
}

static bool add_held(struct windows *windows) {
  for (size_t i = 0; i < windows->live_count; i++) {
    const struct row *row = &windows->report->samples->rows[windows->live[i]];
    if (!windows_counts(windows, row)) continue;
    struct sums *sums = windows_sums_of(windows, WINDOW_HELD, row);
    if (!sums) return false;
    timeline_add_live(sums, row);
  }
  return true;
}

/* ---- the sweep ---- */

static void begin_row(struct windows *windows, uint32_t number) {
  const struct row *row = &windows->report->samples->rows[number];
  if (row->end_ns <= row->begin_ns) return; /* the step of its end comes first */
  windows->live[windows->live_count++] = number;
  windows->place[number] = (uint32_t)windows->live_count;
}

static void windows_end_row(struct windows *windows, uint32_t number) {
  uint32_t place = windows->place[number], moved;
  if (!place) return;
  moved = windows->live[--windows->live_count];
  windows->live[place - 1] = moved;
  windows->place[moved] = place;
  windows->place[number] = 0;
}

/* False without memory, which only sums need. */
static bool windows_sweep(struct windows *windows, uint64_t until_ns, bool sum) {
  const struct samples *samples = windows->report->samples;
  for (; windows->step < samples->step_count; windows->step++) {
    step_of_row step = samples->steps[windows->step];
    const struct row *row = &samples->rows[step >> 1];
    bool ends = step & 1;
    if ((ends ? row->end_ns : row->begin_ns) >= until_ns) return true;
    if (ends)
      windows_end_row(windows, step >> 1);
    else
      begin_row(windows, step >> 1);
    if (sum && !windows_add_event(windows, row, ends)) return false;
  }
  return true;
}

/* ---- shared ---- */

wn_status windows_create(struct windows *windows, const struct report *report, const uint32_t *owner_of,
                         size_t owners) {
  size_t rows = report->samples->row_count + 1;
  *windows = (struct windows){.report = report, .owner_of = owner_of, .owners = owners};
  windows->live = malloc(rows * sizeof *windows->live);
  windows->place = calloc(rows, sizeof *windows->place);
  bool done = windows->live && windows->place;
  for (int kind = 0; kind < WINDOW_KIND_COUNT; kind++)
    done = (windows->sum_of[kind] = calloc(owners, sizeof **windows->sum_of)) && done;
  if (done) return WN_OK;
  windows_destroy(windows);
  return windows_no_memory();
}

void windows_destroy(struct windows *windows) {
  free(windows->live);
  free(windows->place);
  free(windows->sums);
  for (int kind = 0; kind < WINDOW_KIND_COUNT; kind++) free(windows->sum_of[kind]);
  *windows = (struct windows){.report = NULL};
}

void windows_skip(struct windows *windows, uint64_t until_ns) { windows_sweep(windows, until_ns, false); }

wn_status windows_sum(struct windows *windows, uint64_t until_ns) {
  forget_sums(windows);
  return windows_sweep(windows, until_ns, true) && add_held(windows) ? WN_OK : windows_no_memory();
}
/* SPDX-License-Identifier: MIT */
