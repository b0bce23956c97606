/* What each stack held, allocated and freed, in one stretch of time after the other.
 *
 * A sweep goes through the births and ends of the rows, and keeps the rows that are live: so all
 * stretches of a recording take one pass, and each the time of what is live at its end. */
#pragma once

#include "analysis/report/report.h"

/* How long a window of a fleet is. */
#define WINDOW_SECONDS UINT64_C(300)
#define WINDOW_NS      (WINDOW_SECONDS * 1000000000)

/* The kinds of sums: the name in C, the word, and the number in a database. A sweep makes no LEFT,
 * which is HELD of a process that has ended. */
#define WINDOW_KINDS(KIND) \
  KIND(HELD, held, 1)      \
  KIND(BORN, born, 2)      \
  KIND(DIED, died, 3)      \
  KIND(LEFT, left, 4)

enum window_kind {
#define WINDOW_KIND(NAME, word, number) WINDOW_##NAME,
  WINDOW_KINDS(WINDOW_KIND)
#undef WINDOW_KIND
      WINDOW_KIND_COUNT
};

struct window_sum {
  uint32_t stack; /* an owner */
  enum window_kind kind;
  struct sums sums;
};

struct windows {
  const struct report *report;
  const uint32_t *owner_of; /* index: stack of a row, which is below `owners` */
  size_t owners;
  size_t step;    /* the next one of samples.steps */
  uint32_t *live; /* rows */
  size_t live_count;
  uint32_t *place; /* index: row; its place among the live ones, plus 1 */
  struct window_sum *sums;
  size_t count, capacity;
  uint32_t *sum_of[WINDOW_KIND_COUNT]; /* index: owner; its sum, plus 1 */
};

/* `owner_of` has a number below `owners` for each of as many stacks, 0 for others, and must outlive
 * the windows, as the report. WN_ENOMEM. */
wn_status windows_create(struct windows *windows, const struct report *report, const uint32_t *owner_of,
                         size_t owners);
void windows_destroy(struct windows *windows);

/* Go on to a time of the trace. windows_sum sets `sums` to what happened from where the sweep was
 * until just before that time, and to what was held just before. WN_ENOMEM. */
void windows_skip(struct windows *windows, uint64_t until_ns);
wn_status windows_sum(struct windows *windows, uint64_t until_ns);
/* SPDX-License-Identifier: MIT */
