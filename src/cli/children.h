/* The traces of the processes that a recorded program starts: each is named as the program's own, with a dot and the
 * process number behind it. */
#ifndef CLI_CHILDREN_H
#define CLI_CHILDREN_H

#include "cli/unrecorded.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Before the program starts: remembers the traces that an earlier run has left under such names. */
void children_begin(const char *output);

/* The files under such names that are new, or were written anew. */
struct children {
  char **paths;
  size_t count, traces; /* how many, and how many of them are traces */
  uint64_t lost;        /* records that could not be written, and why: enum trace_loss_cause */
  unsigned loss_cause;
};

/* Afterwards: finds them, and cuts each to its length that no process writes any more. What they
 * tell of programs that were not recorded goes to `unrecorded`. */
struct children children_finish(const char *output, struct unrecorded *unrecorded);
void children_free(struct children *children);

/* Processor time in seconds: of a process, and of those that it started and waited for. */
struct work {
  double own, childrens;
};

/* Waits for a process that has ended. All zeros if the system does not tell. */
struct work children_work(pid_t pid, int *wait_status);

#endif
/* SPDX-License-Identifier: MIT */
