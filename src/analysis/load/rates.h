/* The rates of a recording: one that stands for all, when it was 0, and what sampling cost. */
#pragma once

#include "analysis/load/samples.h"

/* One rate for all samples: the inverse of the mean distance of two, by words; where nothing was
 * sampled, the highest rate that there was. */
double samples_typical_rate(const struct samples *samples);

/* The processor time that recording took, and that of the processes, by their last measurements; 0:
 * it is not known. */
void samples_cost(const struct samples *samples, uint64_t *cost_ns, uint64_t *processor_ns);

/* Whether the rate followed a budget. */
bool samples_follow_budget(const struct samples *samples);

/* ASLEEP: when nothing was sampled, since every process that ran then had the rate 0. asleep_find
 * fills in `asleep` of samples whose processes and changes of the rate are known; again after
 * these have changed. False: not enough memory. */
bool asleep_find(struct samples *samples);

/* The longest time in which it was not asleep, without its first quarter, in which caches fill. False: there
 * is none. */
bool asleep_not(const struct samples *samples, struct span *longest);

/* How long that was in all. The time in which some processes sampled nothing and others did is in
 * `asleep_share` alone. */
uint64_t asleep_ns(const struct samples *samples);

/* Whether nothing was sampled from one time to another. */
bool asleep_is(const struct samples *samples, uint64_t from_ns, uint64_t to_ns);
/* SPDX-License-Identifier: MIT */
