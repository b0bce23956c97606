/* The functions that may be named by a verdict, and those that are: the ones that grow. */
#pragma once

#include "analysis/report/verdict.h"

/* A stretch of the run that is judged begins after so many quarters of it. */
enum { STRETCHES = 4 };

/* The functions, and the functions with their callers. */
struct suspects {
  struct report report;   /* its since_ns is the begin of the stretch that is judged */
  bool late;              /* it is later than the run's: LATE */
  struct table table;     /* of this report and all of its rows: those that are gone belong to growth, too */
  uint32_t *pair_of_node; /* numbers the pairs of a function and its caller */
  uint32_t *node_of_pair; /* a node of each pair */
  size_t pairs;
  struct growth *functions, *paths; /* by label, by pair */
  struct growth all;
};

/* WN_ENOMEM; then nothing is to be destroyed. */
wn_status suspects_find(const struct report *report, struct suspects *suspects);

/* Judges the stretch that begins after so many STRETCHES of the run. No rule asks of what holds
 * less than half of `least`, so that has no intervals. WN_ENOMEM. */
wn_status suspects_judge(struct suspects *suspects, const struct report *report, int stretch, double least);
void suspects_destroy(struct suspects *suspects);

/* Adds the culprits of the stretch that was judged last, and says of them whether their old blocks
 * and their last ones are freed. `least`: the bytes that each has. */
void culprits_find(const struct suspects *suspects, double least, struct verdict *verdict);

/* ORDER in culprits.c; what has no room is left out. */
void culprit_add(struct verdict *verdict, const struct culprit *culprit);
/* SPDX-License-Identifier: MIT */
