/* What resident memory was made of, malloc's blocks and the rest. */
#ifndef CLI_REPORT_RESIDENT_H
#define CLI_REPORT_RESIDENT_H

#include "cli/json.h"
#include "cli/report.h"

/* When the most was resident; or nearly the most, near the heap's peak, where that explains more. */
struct resident report_resident(const struct report *report);

/* One line, and a table of what the program mapped itself if that matters. Nothing where memory was
 * never measured. */
wn_status report_print_resident(const struct report *report);

/* The members "resident" and "mapped". */
wn_status report_json_resident(struct json *json, const struct report *report);

#endif
/* SPDX-License-Identifier: MIT */
