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

/* Compares one measure. On WN_OK the caller calls diff_end. */
struct diff_table {
  struct table before, after;
  struct comparison comparison;
};
wn_status diff_begin(const struct diff *diff, enum measure measure, struct diff_table *table);
void diff_end(struct diff_table *table);

/* Prints the comparison as text to standard output. */
wn_status diff_print_text(const struct diff *diff);

#endif
/* SPDX-License-Identifier: MIT */
