/* What machines have on average, and which of them have more or less than what is usual.
 *
 * HOSTS. Hosts differ, also where they run the same release. So the interval of a mean over hosts has
 * two sources: which blocks were sampled, as for any sum, and which hosts there are. The deviation s
 * of the hosts' own estimates has both, so the standard error of the mean of H hosts is s/sqrt(H), with
 * Student's distribution of H - 1 degrees of freedom. The larger of the two intervals is taken; below
 * HOSTS_LEAST hosts s is not known well enough, and the interval is that of the blocks.
 *
 * USUAL is the median of the hosts. Hosts differ by factors rather than by bytes, so distances are
 * those of logarithms. How far a host may be from the median is 1.4826 times the median of the
 * distances, which estimates the deviation of a normal law and is not moved by the hosts that differ
 * (F. Hampel, The influence curve and its role in robust estimation, JASA 69, 1974); or the deviation
 * of the host's own estimate, if that is larger. Of as many hosts as there are one in twenty answers
 * names one by chance (Bonferroni). Below HOSTS_LEAST hosts nothing is usual. */
#pragma once

#include "analysis/load/estimate.h"
#include <stddef.h>

enum { HOSTS_LEAST = 5 };

/* The mean of some hosts. */
struct host_mean {
  struct estimate bytes;
  double error, freedom; /* the standard error, and the degrees of freedom of Student's distribution */
  bool few;              /* fewer hosts than HOSTS_LEAST */
};

/* The mean of so many hosts, of which at least one has something: from the estimate of their sum, and
 * from the sum and the sum of squares of the hosts' own estimates. */
struct host_mean hosts_mean(const struct estimate *all, double sum, double squares, uint64_t hosts);

/* The probability that means without a difference differ as much: of Student's distribution, with B.
 * Welch's degrees of freedom (The generalization of Student's problem, Biometrika 34, 1947). 1 for few
 * hosts, of which too little is known. */
double chance_of_change(const struct host_mean *before, const struct host_mean *after);

/* The chance up to which changes are called sure, of so many that were compared, so that of those 5 % are
 * false at most: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, JRSS B 57, 1995. It
 * orders the chances; -1: no change is sure. */
double chance_called_sure(double *chances, size_t count);

struct host {
  size_t number; /* the caller's */
  struct estimate bytes;
  double distance; /* USUAL: from the median, in deviations; below 0: it has less */
};

/* Orders the hosts by distance, the farthest first. *median: what is usual; *unusual: so many of them
 * are not, the first ones. False: not enough memory. */
bool hosts_find_unusual(struct host *hosts, size_t count, double *median, size_t *unusual);
/* SPDX-License-Identifier: MIT */
