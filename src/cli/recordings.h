/* The recordings that are under way on this machine: processes that have a control file mapped
 * (trace/control.h). Commands read and write it by calls, which another program that makes it
 * shorter only lets fail. A process can record without a control file: if it could not create one,
 * or if another program has removed it. Then its trace is all that is known (mapped_trace.h). */
#pragma once

#include "trace/control.h"
#include <sys/types.h>
#include <winnow/status.h>

struct recording_process {
  pid_t pid;
  char *trace;    /* the path of its trace, as the process has it */
  char *path;     /* and by which this process can open it: of another mount namespace by way of /proc */
  int descriptor; /* of the control file */
  struct control_page page; /* as it was read last; without a control file, only when it began */
  const char *not_asked;    /* why there is no control file; NULL: there is one */
};

/* Zeroed memory is empty. */
struct recordings {
  struct recording_process *items;
  size_t count, capacity;
  bool with_not_asked; /* set by the caller: those without a control file are found too */
};

/* Finds all recordings that this user may control, in the order of process numbers. WN_ENOMEM. */
wn_status recordings_find_all(struct recordings *found);

/* Adds those of a process number, of a trace, or of a folder of traces. At least one; or
 * WN_EINVAL, and wn_last_error says in a line why there is none. */
wn_status recordings_find(struct recordings *found, const char *name);

void recordings_destroy(struct recordings *found);

/* Asks the process to sample so for a time from when it does (0: for ever). Returns
 * the number of the request; 0: another command has the control file locked, or it cannot be
 * locked. */
uint64_t recordings_ask(struct recording_process *process, const struct control_sampling *sampling,
                        uint64_t duration_ns);

/* Reads the page anew. False: another program has made the file shorter. */
bool recordings_read(struct recording_process *process);

/* Waits until the process has done what was asked. False: it has ended, or has allocated too
 * little to notice within `wait_ns`. */
bool recordings_wait(struct recording_process *process, uint64_t number, uint64_t wait_ns);
/* SPDX-License-Identifier: MIT */
