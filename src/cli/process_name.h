/* The name by which a report calls a recorded process. */
#pragma once

#include "trace/event.h"
#include <stdbool.h>
#include <stdio.h>

/* Writes the title that the process gave itself, otherwise its arguments as typed; then, in
 * brackets, the name of its first thread if the process changed that. `brief`: without the folder
 * of the program. False, and nothing is written, if the trace has neither. */
bool process_name_write(FILE *out, const struct trace_run *run, bool brief);

/* The length of the title that the process gave itself, without the blanks that pad titles of fixed
 * width. 0: there is none. */
int process_name_title(const struct trace_run *run);
/* SPDX-License-Identifier: MIT */
