/* The machines and the releases of a report's processes, compared with each other by what they hold
 * (hosts.h has the laws).
 *
 * A host counts where the query selects a block of one of its processes, though it may hold none at
 * the moment of the report. A release has all hosts that ran it in a process that the query does not
 * exclude by its name, host or release: of a function those too that hold nothing by it.
 *
 * RUNNING. Traces of hosts may be of different times. A host of which no such process ran at the moment of the
 * report, by its clock, is in no mean and no median of what is held: what it holds when it runs is not known
 * then. Where a peak has several moments it is their mean number of hosts that counts. */
#pragma once

#include "analysis/report/hosts.h"
#include "analysis/report/report.h"

/* Of so many unusual hosts it is known what they hold above the mean. */
enum { EXCESSES_MOST = 10 };

/* The function of which a host holds the most above the mean of all hosts. */
struct excess {
  struct label function;
  double bytes; /* 0: there is none */
};

/* `host[i].number` is the string of its name. The first `unusual` ones are not as the others, the
 * farthest first. Below HOSTS_LEAST hosts nothing is usual: the median is 0. */
struct host_list {
  struct host *host;
  size_t count, unusual;
  size_t absent; /* so many more have no process that was RUNNING */
  double median;
  struct excess excess[EXCESSES_MOST]; /* of the first ones */
};

/* Sums over hosts: of the squares of what each of them has. */
struct squares {
  double bytes, blocks;
};

/* Sets *squares to those of a table, by the label of its tree, and behind these to those of its whole; the
 * caller frees them. Not for BY_STACK, nor a table with TABLE_GROWTH. WN_ENOMEM. */
wn_status origins_find_squares(const struct table *table, enum extent extent, struct squares **squares);

/* The number of hosts of the processes that the query does not exclude by their name, host or release. 0
 * without memory. */
size_t origins_count_hosts(const struct report *report);

/* The number of those of them that were RUNNING. */
size_t origins_count_running(const struct report *report);

/* WN_ENOMEM. */
wn_status host_list_find(const struct report *report, struct host_list *list);
void host_list_destroy(struct host_list *list);

struct release_of_hosts {
  uint32_t number;       /* the string of its name */
  const char *name;      /* the string, of the report's names */
  size_t hosts, running; /* `running`: RUNNING */
  uint64_t first_ns;     /* when the first of its processes began, since 1970 */
  struct host_mean mean; /* of those that were RUNNING; all 0: there are none */
};

/* The releases, the one whose hosts hold the most first. */
struct release_list {
  struct release_of_hosts *release;
  size_t count;
};

/* WN_ENOMEM. */
wn_status release_list_find(const struct report *report, struct release_list *list);
void release_list_destroy(struct release_list *list);

/* SPDX-License-Identifier: MIT */
