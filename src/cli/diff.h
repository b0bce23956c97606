/* What `winnow diff` compares, and its printer of text. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "analysis/regression.h"
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

/* What a program is called; whether both files tell what a measure sums; and what they do not tell. */
struct paragraph;
void diff_say_name(struct paragraph *paragraph, const struct report *report);
bool diff_both_tell(const struct diff *diff, enum measure measure);
void diff_print_limits(const struct diff *diff);

/* Print the numbers and the verdict; these with a table of what changed; and these with all facts and
 * tables. */
wn_status diff_print_head(const struct diff *diff);
wn_status diff_print_screen(const struct diff *diff);
wn_status diff_print_text(const struct diff *diff);

#endif
/* SPDX-License-Identifier: MIT */
