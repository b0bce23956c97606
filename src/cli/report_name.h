/* Names of functions that fit into a column. */
#ifndef CLI_REPORT_NAME_H
#define CLI_REPORT_NAME_H

#include <stddef.h>

/* Writes a name that takes at most `columns` terminal columns, which must be 1 or more: the whole
 * name if it fits, else without template arguments, `std::vector<…>::push_back(int)`, the deepest
 * and longest ones left out first; else without parameters too, `f(…)`; else without the type that
 * it returns; else its beginning and "…". A place behind it, " (file:line)" or " (module+0x12)",
 * stays. Names longer than the buffer are cut to it first. */
const char *name_fit(char *buffer, size_t size, const char *name, size_t columns);

/* As name_fit, of a name in a paragraph that begins each line behind `indent` blanks: it fits into
 * a line, with a comma. */
const char *name_fit_paragraph(char *buffer, size_t size, const char *name, size_t columns, int indent);

/* As name_fit, with "  [module]" behind it where that leaves the name uncut; `module` may be empty,
 * or have its brackets already. `suffix` always stands behind the name. */
const char *name_fit_module(char *buffer, size_t size, const char *name, const char *suffix,
                            const char *module, size_t columns);

#endif
/* SPDX-License-Identifier: MIT */
