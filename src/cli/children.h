/* The traces of the processes that a recorded program starts: each is named as the program's own, with a dot and the
 * process number behind it. */
#ifndef CLI_CHILDREN_H
#define CLI_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Before the program starts: remembers the traces that an earlier run has left under such names. */
void children_begin(const char *output);

/* The files under such names that are new, or were written anew. */
struct children {
  char **paths;
  size_t count, traces; /* how many, and how many of them are traces */
};

/* Afterwards: finds them, and cuts each to its length that no process writes any more. */
struct children children_finish(const char *output);
void children_free(struct children *children);

/* What a process that has ended and was not waited for has taken of the processor's time, and what those that it started
 * and waited for did, in seconds. False if the system does not tell. */
struct work {
  double own, childrens;
};
bool children_work(pid_t pid, struct work *work);

#endif
/* SPDX-License-Identifier: MIT */
