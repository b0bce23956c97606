/* What `winnow diff` compares, and its printer of text. */
#pragma once

#include "analysis/compare/regression.h"
#include "cli/options.h"

struct diff {
  const struct report_options *options;
  struct pair pair;
  struct facts before, after; /* not of two moments */
  struct regression verdict;
};

/* Finds the facts of both runs and the verdict, before anything is printed. WN_ENOMEM. */
wn_status diff_find_facts(struct diff *diff);

/* Compares both sides as the options ask. On WN_OK the caller calls compared_tables_destroy. */
static inline wn_status diff_compare(const struct diff *diff, enum measure measure,
                                     struct compared_tables *tables) {
  return pair_compare(&diff->pair, measure, diff->options->grouping, sites_extent(diff->options->order),
                      tables);
}

/* Prints the first screen, or with --all everything. */
wn_status diff_print_text(const struct diff *diff);
/* SPDX-License-Identifier: MIT */
