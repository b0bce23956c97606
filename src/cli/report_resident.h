/* What resident memory was made of, malloc's blocks and the rest. */
#ifndef CLI_REPORT_RESIDENT_H
#define CLI_REPORT_RESIDENT_H

#include "analysis/resident.h"
#include "cli/report.h"

/* One line, and a table of what the program mapped itself if that matters. Nothing where memory was
 * never measured. */
wn_status report_print_resident(const struct view *view);

#endif
/* SPDX-License-Identifier: MIT */
