/* What the text report says of several processes (sources/joined.h). */
#pragma once

#include "cli/report/report_text.h"

static inline bool report_has_processes(const struct view *view) {
  return view->report->samples->process_count > 1;
}

/* "make and 11 other processes". */
void report_say_processes(struct paragraph *paragraph, const struct samples *samples);

/* How they ended, and what counts. Begins with a blank. */
void report_say_ends(struct paragraph *paragraph, const struct view *view);

/* Prints what each of them held, unless all tables are by process. `title` is that of what was held. */
wn_status report_print_processes(const struct view *view, const char *title);
/* SPDX-License-Identifier: MIT */
