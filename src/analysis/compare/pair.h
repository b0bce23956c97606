/* Two reports that are compared: of two recordings, or of two moments of one recording. */
#pragma once

#include "analysis/compare/comparison.h"

/* What is compared: sums, of which those over runs may be scaled, since runs differ in length; or means of a
 * host.
 *
 * PER_EITHER: means of a host, if each side has HOSTS_LEAST hosts, or one side more hosts than the other. Sums
 * over more hosts are larger though no program changed; and hosts differ though they run the same, so that of
 * sums too much is sure. Sums over equally many hosts that are fewer are compared as sums, since of so few it
 * is not known how hosts differ. */
enum scaling { PER_EITHER, PER_SECOND, PER_ALLOCATION, PER_RUN, PER_HOST };

/* All zeros: no pair. */
struct pair {
  struct report before, after;
  bool moments; /* of one recording: the reports are about the rows (samples.h) that only one of them has */
  bool resized; /* of moments: some of these are of blocks that were resized in between */
  enum scaling scaling;  /* as it was asked */
  uint64_t hosts[2];     /* means are compared, of so many hosts before and after; 0: sums */
  uint64_t running[2];   /* of what was held: of those that were RUNNING (analysis/report/origins.h) */
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

/* Of so many hosts before (0) or after (1) the mean of a measure is: of what was held, of those that ran then,
 * but at least 1; 0: sums are compared. */
uint64_t pair_hosts(const struct pair *pair, int side, enum measure measure);

/* Whether rows are sums: of a comparison of sums, and where a row is of one host alone. */
bool pair_rows_are_sums(const struct pair *pair, enum grouping grouping);

/* Whether means are compared of fewer hosts than HOSTS_LEAST, or so few ran when the most was held, so that
 * no change can be told from hosts that differ. */
bool pair_is_of_few_hosts(const struct pair *pair);

/* Writes a sentence for people on the hosts whose means are compared; empty for sums. */
enum { HOSTS_SAID_MOST = 288 };
const char *pair_say_hosts(const struct pair *pair, char text[HOSTS_SAID_MOST]);

/* Whether every block of both runs was recorded, so that nothing is by chance. */
bool pair_is_exact(const struct pair *pair);

/* Whether it is not known which differences are real: one is partial, or another tool's estimates, or hosts
 * are few. */
bool pair_is_without_ranges(const struct pair *pair);

/* How often what is before counts in sums of a measure: a copy of `scale` for what adds up over the run, all
 * 0 for what is there at a moment, or lives long. Where means of a host are compared: as if before had as
 * many hosts as after. */
struct estimate pair_scale(const struct pair *pair, enum measure measure);

/* Both tables of a measure, and their comparison, of sums where a row is of one host alone. On WN_OK the
 * caller calls compared_tables_destroy. */
wn_status pair_compare(const struct pair *pair, enum measure measure, enum grouping grouping,
                       enum extent extent, struct compared_tables *tables);
/* SPDX-License-Identifier: MIT */
