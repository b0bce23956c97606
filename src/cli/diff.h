/* What `winnow diff` compares, and its printer of text. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "analysis/comparison.h"
#include "cli/options.h"

/* A comparison of two runs, or of two moments of one run. The reports of two moments are about the
 * blocks that only one of them has. */
struct diff {
  const struct report_options *options;
  struct report before, after;
  bool moments;          /* of one run */
  struct estimate scale; /* see comparison_options */
};

/* Compares one measure. On WN_OK the caller calls compared_tables_destroy. */
wn_status diff_compare(const struct diff *diff, enum measure measure, struct compared_tables *tables);

/* Prints what the collected heaps of two runs counted; nothing if one run has none. */
void diff_print_heap(const struct diff *diff);

/* Prints the comparison as text to standard output. */
wn_status diff_print_text(const struct diff *diff);

#endif
/* SPDX-License-Identifier: MIT */
