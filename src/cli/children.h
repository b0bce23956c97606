/* The traces of the processes that a recorded program starts.
 *
 * The name of the first trace of a child is OUTPUT.PID. If the process number was used before in
 * this recording, "-2" and so on is appended. The programs that the child becomes by exec have that
 * name with ".exec" and a number (CHAIN in preload/process.c). At the end the traces of each
 * process are joined as those of the recorded program are (chain.h): OUTPUT.PID is then the trace
 * of the program that did the work.
 *
 * ALIVE: a process that outlives the recording continues to write, and may become more programs.
 * Its traces keep their names, because `winnow record` has ended and cannot join them. A process
 * that is between two programs at the end of the recording writes none of its traces at that
 * moment, so they are joined; the trace of its next program remains a separate file.
 *
 * EARLIER: a trace of an earlier recording is never joined. It is removed if its name says that it
 * is a later program of a child whose first trace is of this recording: that child had the same
 * process number, and its first trace was overwritten.
 */
#ifndef CLI_CHILDREN_H
#define CLI_CHILDREN_H

#include "cli/unrecorded.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Remembers the traces that an earlier run left under such names. Called before the program starts.
 */
void children_begin(const char *output);

/* The files under such names that are new or were rewritten. */
struct children {
  char **paths;
  size_t count, traces; /* number of files, and number of traces among them */
  size_t processes;     /* number of processes that have a trace */
  uint64_t lost;        /* records that could not be written; loss_cause is an enum trace_loss_cause */
  unsigned loss_cause;
};

/* Finds the files after the program has ended, truncates each file that no process is writing to
 * the length of its data, and joins those of each process. Programs that were not recorded, as the
 * traces report them, are added to `unrecorded`. */
struct children children_finish(const char *output, struct unrecorded *unrecorded);
/* Prints the commands that show the program and its children together, and says if they would show
 * more. */
void children_say_all(const struct children *children, const char *output);

void children_free(struct children *children);

/* The processor time in seconds of a process, and of the children that it waited for; and its
 * memory. */
struct work {
  double own, childrens;
  uint64_t peak_bytes; /* the largest resident size of the process over all its programs; 0: not known */
};

/* Waits for a process that has ended. All zeros if the system does not give the times. */
struct work children_work(pid_t pid, int *wait_status);

#endif
/* SPDX-License-Identifier: MIT */
