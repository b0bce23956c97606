/* Two reports that are compared: of two recordings, or of two moments of one recording. */
#pragma once

#include "analysis/compare/comparison.h"

/* To what runs of different lengths are scaled before they are compared. */
enum scaling { PER_RUN, PER_SECOND, PER_ALLOCATION };

/* All zeros: no pair. */
struct pair {
  struct report before, after;
  bool moments; /* of one recording: the reports are about the rows (samples.h) that only one of them has */
  bool resized; /* of moments: some of these are of blocks that were resized in between */
  enum scaling scaling;
  struct estimate scale; /* what adds up over the run counts so many times before; all 0: once */
};

/* Asks two recordings. Lives are brief or long by the length of the shorter run in both: with limits of
 * their own, equal lives would differ; and in the shorter run no life can be seen that is longer than
 * itself. WN_EINVAL: a query is wrong, or a time is after the end of its trace. WN_ENOMEM. */
wn_status pair_of_runs(const struct recording *before_run, const struct question *before,
                       const struct recording *after_run, const struct question *after, enum scaling scaling,
                       struct pair *pair);

/* Asks one recording about two moments, times of the trace. `where`: the query of both, or NULL; a
 * moment that it sets does not count. The errors of pair_of_runs. */
wn_status pair_of_moments(const struct recording *recording, const char *where, uint64_t before_ns,
                          uint64_t after_ns, struct pair *pair);
void pair_destroy(struct pair *pair);

/* Whether records are missing in one of the recordings, or nothing was sampled for a time, so that nothing
 * is known of differences. */
bool pair_is_partial(const struct pair *pair);

/* Whether every block of both runs was recorded, so that nothing is by chance. */
bool pair_is_exact(const struct pair *pair);

/* Whether it is not known which differences are real: one is partial, or another tool's estimates. */
bool pair_is_without_ranges(const struct pair *pair);

/* How often what is before counts in a measure: a copy of `scale` for what adds up over the run, all 0 for
 * what is there at a moment, or lives long. */
struct estimate pair_scale(const struct pair *pair, enum measure measure);

/* Both tables of a measure, and their comparison. On WN_OK the caller calls compared_tables_destroy. */
wn_status pair_compare(const struct pair *pair, enum measure measure, enum grouping grouping,
                       enum extent extent, struct compared_tables *tables);
/* SPDX-License-Identifier: MIT */
