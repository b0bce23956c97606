/* The stacks of a report with what each allocated and held: what the formats of stacks are written
 * from (pprof, folded, speedscope, firefox, DHAT).
 *
 * OWNER: a stack's blocks belong to a node of call paths, as in the report's tables: frames that
 * the query hides are left out, and so are the wrappers at the inner end of a stack. Stacks with
 * the same owner are one.
 *
 * WHOLE: values are whole numbers, since the formats have no others. Of each quantity they add
 * up to the report's total, rounded to the nearest whole number; each value is the estimate
 * rounded up or down, up where the fraction is among the largest (the method of the largest
 * remainder). */
#pragma once

#include "analysis/report/report.h"

/* What is counted. A row of this list: the name in C, the word of the option --quantity, the
 * table of the report, whether bytes are counted or blocks, the sample type and unit of pprof,
 * and a title. */
#define EXPORT_QUANTITIES(QUANTITY)                                                                  \
  QUANTITY(ALLOCATED_BLOCKS, "allocated-blocks", ALLOCATED, false, "alloc_objects", "count",         \
           "allocated blocks")                                                                       \
  QUANTITY(ALLOCATED_BYTES, "allocated", ALLOCATED, true, "alloc_space", "bytes", "allocated bytes") \
  QUANTITY(HELD_BLOCKS, "held-blocks", HELD, false, "inuse_objects", "count", "held blocks")         \
  QUANTITY(HELD_BYTES, "held", HELD, true, "inuse_space", "bytes", "held bytes")

enum quantity {
#define EXPORT_QUANTITY(NAME, word, measure, bytes, type, unit, title) QUANTITY_##NAME,
  EXPORT_QUANTITIES(EXPORT_QUANTITY)
#undef EXPORT_QUANTITY
      QUANTITIES
};

struct quantity_kind {
  const char *word;
  enum measure measure;
  bool bytes;
  const char *type, *unit, *title;
};
extern const struct quantity_kind quantity_kinds[QUANTITIES];

/* Says that there is not enough memory for the profile. WN_ENOMEM. */
wn_status stacks_no_memory(void);

/* The sums of one owner. */
struct stack_values {
  double estimate[QUANTITIES];
  uint64_t value[QUANTITIES]; /* WHOLE */
  uint64_t samples[MEASURES]; /* sampled blocks, or calls, that the estimates rest on: not scaled */
};

/* The owner of a row: own_of of its place, which is below `owners`; 0 for a place that there is not. */
static inline uint32_t stack_values_owner(const struct call_paths *paths, const struct row *row) {
  uint32_t place = call_paths_place(paths, row);
  return place <= paths->stack_count ? paths->own_of[place] : 0;
}

/* Sums the rows of the report by their owners. Of the paths, grouping, own_of, stack_count and
 * process_count are used. *values has `owners` elements; the caller frees it. WN_ENOMEM. */
wn_status stack_values_sum(const struct report *report, const struct call_paths *paths, size_t owners,
                           struct stack_values **values);

/* The same without whole numbers, and of what was allocated only that from a time on. */
wn_status stack_values_since(const struct report *report, const struct call_paths *paths, size_t owners,
                             uint64_t since_ns, struct stack_values **values);

/* Rounds estimates, which are 0 or more, as WHOLE says. False without memory. */
bool stack_values_round(const double *estimates, size_t count, uint64_t *values);

/* Whether an owner has blocks, of any size. */
bool stack_values_any(const struct stack_values *values);

/* The stacks of a report by a grouping. Owners are nodes of `paths`; node 0 has the blocks
 * without a callstack. */
struct export_stacks {
  const struct report *report;
  struct call_paths paths;
  struct stack_values *values; /* index: node of the paths */
  uint32_t *order;             /* all nodes, each followed by those that it calls */
  uint32_t *frames;            /* the labels of the stacks that have blocks */
  uint32_t *frame_of;          /* index: label; its place in `frames` if it is there */
  size_t frame_count;
  uint32_t *path; /* room for the nodes of a path: export_stacks_path */
};

/* WN_ENOMEM. The report must outlive the stacks. */
wn_status export_stacks_create(const struct report *report, enum grouping grouping,
                               struct export_stacks *stacks);
void export_stacks_destroy(struct export_stacks *stacks);

/* Sets `path` to the nodes of a stack, innermost first, and returns their number. Node 0 is a
 * path of itself alone. */
size_t export_stacks_path(struct export_stacks *stacks, uint32_t node);

enum { STACK_LABEL_MOST = 4096 };

/* Writes the text for a label of the paths: the name of a row of the report. */
void export_stacks_label(const struct export_stacks *stacks, uint32_t label, char text[STACK_LABEL_MOST]);
/* SPDX-License-Identifier: MIT */
