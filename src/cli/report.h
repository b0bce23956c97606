/* The text printer of `winnow report`. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/options.h"

/* A report together with the options by which it is printed. */
struct view {
  const struct report *report;
  const struct report_options *options;
  bool growing; /* a process still writes the trace */
};

/* Prints the report as text to standard output. */
wn_status view_print_text(const struct view *view);

#endif
/* SPDX-License-Identifier: MIT */
