/* The callers that are printed with a row of a table. */
#pragma once

#include "cli/report/report_columns.h"
#include "cli/report/report_text.h"

enum { CALLERS_INDENT = 12, FITTED_MOST = 1024 /* of a name that fits; UTF-8, and room for the module */ };

/* Whether a function is where a program or thread begins, or a runtime that calls it. Functions further
 * out tell nothing. */
bool report_is_beginning(const char *function);

/* The name of a label, cut to so many columns, for a paragraph whose lines are indented by
 * `indent`. */
const char *report_fit_label(const struct view *view, const struct call_tree *tree, uint32_t label,
                             char buffer[FITTED_MOST], size_t columns, int indent);

/* Appends the callers of a chain, as " < insert < load < main", and where paths part the largest
 * callers with their shares. `unit` is that of estimate_of; 0 if the sums of the chain are exact.
 */
void report_say_callers(struct paragraph *paragraph, const struct view *view, const struct call_tree *tree,
                        const struct chain *chain, double unit);

/* The same without ranges, and with the lines of labels that have one: " < insert:12 94 %, load:7 6 %". */
void report_say_callers_briefly(struct paragraph *paragraph, const struct view *view,
                                const struct call_tree *tree, const struct chain *chain);

/* Sets the paragraph to the callers on one stack, innermost first, with their files and lines: "< insert
 * table.c:12 < load:7 < main main.c:30", in at most so many lines of so many columns; returns how many. Of
 * a longer stack, callers before the outermost one are left out. `tree` is by line. */
int report_say_stack(struct paragraph *paragraph, const struct view *view, const struct call_tree *tree,
                     const uint32_t *label, size_t count, int lines, size_t columns);

/* Prints the callers of a row, which begin with a blank, dim, and ends the line: `beside` its name, or below
 * it; in TABLE_BRIEF on one line that is indented by `indent`, and cut. */
void report_print_callers(const char *callers, enum table_style style, bool beside, int indent);
/* SPDX-License-Identifier: MIT */
