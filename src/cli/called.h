/* What a recorded process is called. */
#ifndef CLI_CALLED_H
#define CLI_CALLED_H

#include "trace/event.h"
#include <stdbool.h>
#include <stdio.h>

/* Its arguments as typed, or the title that it gave itself; then the name of its first thread, if
 * that was changed. `brief`: without the program's folder. False, and nothing is written, if the
 * trace does not say. */
bool called_write(FILE *out, const struct trace_run *run, bool brief);

/* The length of the title that the process gave itself, without blanks at its end, which titles of
 * fixed width have. 0: there is none. */
int called_title(const struct trace_run *run);

#endif
/* SPDX-License-Identifier: MIT */
