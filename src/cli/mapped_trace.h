/* The trace that a process writes, found without its control file: a recorder has chunks of the
 * trace mapped, and the trace has the number of the process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped_trace {
  char *trace;       /* its path as the process has it */
  char *path;        /* and by which this process can open it */
  bool is_removed;   /* no path leads to it any more */
  uint64_t began_ns; /* time 0, by the monotonic clock */
};

/* `number`: of the process in its own namespace. The paths are from malloc. False: it writes none
 * that this user may read. */
bool mapped_trace_find(pid_t pid, uint32_t number, struct mapped_trace *found);
/* SPDX-License-Identifier: MIT */
