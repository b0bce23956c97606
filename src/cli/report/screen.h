/* The first screen of `winnow report`: four numbers, a verdict, a chart and two tables, in at most
 * SCREEN_LINES lines. docs/report.md shows it. report_text.c prints what `--all` asks for in its place. */
#pragma once

#include "cli/report/report_text.h"

enum { SCREEN_LINES = 40 };

wn_status screen_print(const struct view *view);

/* Prints the title, the numbers and the verdict; returns how many lines they took. And the last lines. */
int screen_print_head(const struct view *view);
void screen_print_foot(const struct view *view);

/* Prints the step after the verdict: "Next: look at parser.c:12: ...". False: there is none. */
bool screen_print_step(const struct view *view);

/* Prints a table of at most `lines` lines with its title and header; *printed: how many it took. */
wn_status screen_print_table(const struct view *view, const char *title, enum measure measure, int lines,
                             int *printed);

/* "12 %", "0.4 %", or "?" where the interval is wider than the number, or a few samples say little: the
 * larger side of the interval, in percent of the number. Empty for an exact number. */
const char *screen_margin(char buffer[16], const struct estimate *estimate);

/* False: the parts of resident memory at its peak are not known, but those of a moment with less.
 * Of several processes they are known of those moments only at which all were measured. */
bool screen_is_explained(const struct view *view);

/* Returns the number of lines that were printed; 0: there is no verdict. */
int screen_print_verdict(const struct view *view);
/* SPDX-License-Identifier: MIT */
