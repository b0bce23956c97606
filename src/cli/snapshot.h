/* winnow dump -o: whole traces of a moment, while the program goes on. */
#ifndef CLI_SNAPSHOT_H
#define CLI_SNAPSHOT_H

#include <stdint.h>

/* Copies the trace at `path` to the file that `pattern` names, once, or after every `every_ns`
 * until the process has ended. In the pattern %t is the time of day, %p the process's number, %n
 * the number of the copy, %% a percent sign. `pid`: the process that writes the trace; 0: none is
 * known to. Returns an exit code, after a message if it is not 0. */
int snapshot_take(const char *path, int pid, const char *pattern, uint64_t every_ns);

#endif
/* SPDX-License-Identifier: MIT */
