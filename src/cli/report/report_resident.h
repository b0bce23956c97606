/* The part of the text report on resident memory: malloc's blocks, mappings, stacks, files and the
 * rest. */
#pragma once

#include "analysis/report/resident.h"
#include "cli/report/report.h"

/* Prints a line, and tables of the program's own mappings and the threads' stacks if these are
 * large. Prints nothing if memory was never measured. */
wn_status report_print_resident(const struct view *view);
/* SPDX-License-Identifier: MIT */
