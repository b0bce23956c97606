/* The text printer of `winnow report`. */
#pragma once

#include "analysis/compare/facts.h"
#include "analysis/report/verdict.h"
#include "cli/options.h"

/* A report together with the options by which it is printed. */
struct view {
  const struct report *report;
  const struct report_options *options;
  const struct facts *facts; /* NULL, and the verdict: for the names of rows alone */
  const struct verdict *verdict;
};

/* Prints the report as text to standard output. */
wn_status view_print_text(const struct report *report, const struct report_options *options);
/* SPDX-License-Identifier: MIT */
