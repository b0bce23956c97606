/* winnow dump -o: whole traces of a moment, while the program goes on. */
#pragma once

#include <stdint.h>

struct recordings;

/* Copies the trace `name`, and those of the recordings, which are under way, to the files that `pattern`
 * names, once, or after every `every_ns` until the process has ended. In the pattern %t is the time of
 * day, %p the process's number, %n the number of the copy, %% a percent sign. `name`: a trace that no
 * process is known to write, or NULL. Returns an exit code, after a message if it is not 0. */
int snapshot_take(const char *name, const struct recordings *found, const char *pattern, uint64_t every_ns);
/* SPDX-License-Identifier: MIT */
