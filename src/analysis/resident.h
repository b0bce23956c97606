/* What a program's resident memory was made of: malloc's blocks, which are estimated; what the
 * program mapped itself and the stacks of its threads, which are measured; code and files; and the
 * rest of the process's own memory. */
#ifndef ANALYSIS_RESIDENT_H
#define ANALYSIS_RESIDENT_H

#include "analysis/report.h"

/* When the most was resident; or nearly the most, near the heap's peak, where that explains
 * more. */
struct resident report_resident(const struct report *report);

struct resident_parts {
  struct sums held;     /* the heap's blocks at that time, whatever the query */
  struct estimate rest; /* private memory that is neither theirs, nor mapped, nor of stacks */
  double unwritten;     /* at least so much was held and is not resident */
};
struct resident_parts resident_parts(const struct report *report, const struct resident *resident);

/* What was mapped, by the functions that mapped it. Groups' `bytes` are what was resident, or,
 * where that was not measured, what was mapped; `blocks` are the bytes of addresses. BY_STACK is
 * not possible: it is BY_FUNCTION. */
enum resident_kind { RESIDENT_MAPPINGS, RESIDENT_STACKS };
wn_status resident_tree(const struct report *report, const struct resident *resident, enum resident_kind kind,
                        enum grouping grouping, struct call_tree *tree);

#endif
/* SPDX-License-Identifier: MIT */
