/* Shortens names of functions to the width of a column. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <winnow/status.h>

/* Writes a name that takes at most `columns` terminal columns (1 or more). It is the first of these
 * that fits: the name as programmers write it (cxx_plain.h); the name without template arguments,
 * as `std::vector<…>::push_back(int)`, leaving out the deepest and longest ones first; also without
 * parameters, `f(…)`; also without the return type; also without the outer namespaces and classes,
 * `…::push_back(…)`; the start of what is left and "…". A place after the name, " (file:line)" or
 * " (module+0x12)", is kept. A name longer than the buffer is first cut to the buffer. */
const char *name_fit(char *buffer, size_t size, const char *name, size_t columns);

/* As name_fit, for a name in a paragraph whose lines are indented by `indent`: the name and a comma
 * fit into a line. */
const char *name_fit_paragraph(char *buffer, size_t size, const char *name, size_t columns, int indent);

/* As name_fit, with `suffix` after the name, and then "  [module]" if the name need not be
 * shortened for it. `module` may be empty, or already have brackets. */
const char *name_fit_module(char *buffer, size_t size, const char *name, const char *suffix,
                            const char *module, size_t columns);

/* The rows of a table: what name_fit_module takes, and what it makes of that. All zeros: no row yet. */
struct fitted_row {
  char *name, *suffix, *module, *text; /* from malloc */
};
struct fitted_rows {
  struct fitted_row *row;
  size_t count, capacity;
};

/* Adds a row with copies of these. WN_ENOMEM. */
wn_status name_rows_add(struct fitted_rows *rows, const char *name, const char *suffix, const char *module);

/* Sets the text of each row as name_fit_module does, but no two rows have one text. What is left out of
 * their names has the words in which they differ, as in "map<…long…>::find"; where there is no room for
 * these, and `numbered`, rows are numbered. WN_ENOMEM. */
wn_status name_rows_fit(struct fitted_rows *rows, size_t columns, bool numbered);
void name_rows_free(struct fitted_rows *rows);
/* SPDX-License-Identifier: MIT */
