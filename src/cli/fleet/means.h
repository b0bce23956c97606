/* What each host of a release has on average (HELD in question.h), and how certain that is.
 *
 * HOSTS. Hosts differ, also where they run the same release. So the interval of a mean over hosts has
 * two sources: which blocks were sampled, as for any sum, and which hosts there are. The deviation s
 * of the hosts' own estimates has both, so the standard error of the mean of H hosts is s/sqrt(H), with
 * Student's distribution of H - 1 degrees of freedom. The larger of the two intervals is taken; below
 * HOSTS_LEAST hosts s is not known well enough, and the interval is that of the blocks. */
#ifndef CLI_FLEET_MEANS_H
#define CLI_FLEET_MEANS_H

#include "cli/fleet/question.h"

enum { HOSTS_LEAST = 5, RELEASES_MOST = 1000 };

/* A release, and the hosts that had it. Those with partial recordings are in no mean: what they hold
 * is not known. */
struct release {
  char *name;
  uint64_t first; /* the begin of its first window in the range, in seconds since 1970 */
  uint64_t hosts, partial_hosts;
};

/* The mean of the hosts of a release. */
struct host_mean {
  struct estimate bytes;
  double error, freedom; /* the standard error, and the degrees of freedom of Student's distribution */
  bool few;              /* fewer hosts than HOSTS_LEAST */
};

/* Sets *releases to all of the range, in the order of their first windows; the caller frees them by
 * releases_free. Returns an exit code, after a message. */
int releases_find(struct question_of_fleet *question, struct release **releases, size_t *count);
void releases_free(struct release *releases, size_t count);

/* Asks for the sums over hosts of each release: a row for each of `groups`, column names with commas
 * between, of which the first is `release`. `condition` is added to WHERE, or "". A row has the groups,
 * MEAN_COLUMNS for mean_of, and if one of the groups is `site`, its name and module. Returns an exit
 * code, after a message. */
enum { MEAN_COLUMNS = 9 };
int means_ask(struct question_of_fleet *question, const char *groups, size_t columns, const char *condition);

/* The mean of so many hosts, from a column of a row on; a row that is not there: they have nothing. */
struct host_mean mean_of(const struct question_of_fleet *question, size_t row, size_t column, uint64_t hosts);

/* The probability that means without a difference differ as much: of Student's distribution, with B.
 * Welch's degrees of freedom (The generalization of Student's problem, Biometrika 34, 1947). 1 for few
 * hosts, of which too little is known. */
double chance_of_change(const struct host_mean *before, const struct host_mean *after);

/* The probability that a deviate of Student's distribution is as far from 0: that of a normal deviate
 * into which D. Wallace transforms it (Bounds on normal approximations to Student's and the chi-square
 * distributions, Annals of Mathematical Statistics 30, 1959). */
double student_chance(double deviate, double freedom);

#endif
/* SPDX-License-Identifier: MIT */
