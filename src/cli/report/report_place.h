/* Where in the source a function allocated, and how much was allocated by code without names. */
#pragma once

#include "analysis/report/next.h"
#include "cli/report/report.h"

enum { PLACE_MOST = 256 };

/* Writes "leak.c:11", and "leak.c:11 +2 lines" where two more of `count` lines have some. */
void place_write(const struct view *view, const struct call_tree *lines, const struct group *line,
                 size_t count, char *buffer, size_t size);

/* Of a function of Python its file; of any other nothing. */
void place_of_language(const struct view *view, const struct label *label, char *buffer, size_t size);

/* Takes the file off a function's name, "grow (queue.c)", if its place begins with that file. */
void place_cut_name(char *name, const char *place);

/* The module of a function, if that is news: not the program's own file, nor what the name begins with. */
const char *report_module_worth_naming(const struct view *view, const struct label *label);

/* "leak.c:11", of the line where most of what a function holds was allocated; empty if it is not known.
 * `label` has the function and its module. WN_ENOMEM. */
wn_status place_of_function(const struct view *view, enum measure measure, const struct label *label,
                            char *buffer, size_t size);

/* The shares of a table's bytes that code without names has, and code with names and without lines; and the
 * modules that have the most of them, as strings of the names. */
struct lacking {
  double names, lines;
  uint32_t nameless, lineless;
};
wn_status place_lacking(const struct view *view, enum measure measure, struct lacking *lacking);
/* SPDX-License-Identifier: MIT */
