/* What each host of a release has on average (HELD in question.h), and how certain that is (HOSTS in
 * analysis/report/hosts.h). */
#pragma once

#include "analysis/report/hosts.h"
#include "cli/fleet/question.h"

enum { RELEASES_MOST = 1000 };

/* A release, and the hosts that had it. Those with partial recordings are in no mean: what they hold
 * is not known. */
struct release {
  char *name;
  uint64_t first; /* the begin of its first window in the range, in seconds since 1970 */
  uint64_t hosts, partial_hosts;
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
/* SPDX-License-Identifier: MIT */
