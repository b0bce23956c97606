/* Shortens names of functions to the width of a column. */
#ifndef CLI_REPORT_NAME_H
#define CLI_REPORT_NAME_H

#include <stddef.h>

/* Writes a name that takes at most `columns` terminal columns (1 or more). It is the first of these
 * that fits: the whole name; the name without template arguments, as
 * `std::vector<…>::push_back(int)`, leaving out the deepest and longest ones first; also without
 * parameters, `f(…)`; also without the return type; the start of the name and "…". A place after
 * the name, " (file:line)" or " (module+0x12)", is kept. A name longer than the buffer is first cut
 * to the buffer. */
const char *name_fit(char *buffer, size_t size, const char *name, size_t columns);

/* As name_fit, for a name in a paragraph whose lines are indented by `indent`: the name and a comma
 * fit into a line. */
const char *name_fit_paragraph(char *buffer, size_t size, const char *name, size_t columns, int indent);

/* As name_fit, with `suffix` after the name, and then "  [module]" if the name need not be
 * shortened for it. `module` may be empty, or already have brackets. */
const char *name_fit_module(char *buffer, size_t size, const char *name, const char *suffix,
                            const char *module, size_t columns);

#endif
/* SPDX-License-Identifier: MIT */
