/* The traces of the processes that a recorded program starts.
 *
 * The first trace of a process is named as the program's own, with a dot and the process number
 * behind it, and "-2" and so on where a number came again. What the process becomes by exec has
 * that name with ".exec" and a number (CHAIN in preload/process.c). At the end the traces of one
 * process are joined as those of the program are (chain.h): OUTPUT.PID is then the trace of the
 * program that did the work.
 *
 * ALIVE: a process that outlives the recording writes on, and may become more programs. Its traces
 * keep their names for ever: `winnow record` is not there to join them. A process that is between
 * two programs at that moment writes none of its traces, and they are joined; the next program's
 * trace is then a file of its own beside them.
 *
 * EARLIER: a trace of an earlier recording is never joined. It is removed if its name says that
 * it is of a later program of a child whose first trace is of this recording: that child had the
 * same number, and its first trace was written over. */
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
  size_t processes;     /* that have one */
  uint64_t lost;        /* records that could not be written, and why: enum trace_loss_cause */
  unsigned loss_cause;
};

/* Afterwards: finds them, cuts each to its length that no process writes any more, and joins
 * those of one process. What they tell of programs that were not recorded goes to `unrecorded`. */
struct children children_finish(const char *output, struct unrecorded *unrecorded);
void children_free(struct children *children);

/* Processor time in seconds: of a process, and of those that it started and waited for. */
struct work {
  double own, childrens;
  uint64_t
      peak_bytes; /* the largest resident size of the process, through all programs that it was; 0: not known */
};

/* Waits for a process that has ended. All zeros if the system does not tell. */
struct work children_work(pid_t pid, int *wait_status);

#endif
/* SPDX-License-Identifier: MIT */
