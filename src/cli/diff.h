/* What `winnow diff` compares, and its printer of text. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "analysis/pair.h"
#include "cli/options.h"

struct diff {
  const struct report_options *options;
  struct pair pair;
};

/* Prints what the collected heaps of two runs counted; nothing if one run has none. */
void diff_print_heap(const struct diff *diff);

/* Says what both heaps promoted by their own counts, which are exact; nothing if a query selects
 * blocks, or a run has no counts. */
struct paragraph;
void diff_say_promoted(struct paragraph *paragraph, const struct diff *diff);

/* Whether there is a first screen, of two runs with ranges; and prints it. */
bool diff_has_screen(const struct diff *diff);
wn_status diff_print_screen(const struct diff *diff);

/* Prints the whole comparison as text to standard output. */
wn_status diff_print_text(const struct diff *diff);

#endif
/* SPDX-License-Identifier: MIT */
