/* When nothing was sampled: every process that ran then had the rate 0. */
#ifndef ANALYSIS_ASLEEP_H
#define ANALYSIS_ASLEEP_H

#include "analysis/load/samples.h"

/* Fills in `asleep` of samples whose processes and changes of the rate are known; again after these have
 * changed. False: not enough memory. */
bool asleep_find(struct samples *samples);

/* How long that was in all. */
uint64_t asleep_ns(const struct samples *samples);

/* Whether nothing was sampled from one time to another. */
bool asleep_is(const struct samples *samples, uint64_t from_ns, uint64_t to_ns);

#endif
/* SPDX-License-Identifier: MIT */
