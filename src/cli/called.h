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

#endif
/* SPDX-License-Identifier: MIT */
