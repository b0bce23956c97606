/* What to do after a verdict, in one line, and the line of source to begin at. */
#pragma once

#include "analysis/report/verdict.h"

/* Writes "parser.c:12", the line with the most of what a function allocated itself: `lines` are those
 * of a table by function (table_find_lines), or all 0. Returns false and writes nothing if no line of
 * it is known. */
enum { NEXT_MOST = 512 };
bool next_place(const struct table *functions, const struct main_lines *lines, const struct label *function,
                char place[NEXT_MOST]);

/* Writes how to go on after a verdict that is about no function: how to record again, or what to
 * try. Empty after other verdicts, and where the next step is to look at what mapped the memory
 * (resident.h). */
void next_way(const struct report *report, enum verdict_kind kind, char text[NEXT_MOST]);

/* The measure whose tables the step after a verdict needs: of what lives briefly, nothing is
 * held. */
enum measure next_measure(const struct verdict *verdict);

/* What to ask at the function that a verdict names: ": what should free this, and when? ..." */
const char *next_question(const struct names *names, const struct verdict *verdict);

/* Writes the step after a verdict: next_way, or where to begin; empty where there is nothing to
 * begin at. `functions` is by next_measure, and `largest` the function with the most, or NULL. */
void next_step(const struct table *functions, const struct main_lines *lines, const struct verdict *verdict,
               const struct label *largest, char text[NEXT_MOST]);

/* Writes where to begin with a function: its line, or its name where no line is known. */
void next_begin(const struct table *functions, const struct main_lines *lines, const struct label *function,
                const char *before, const char *behind, char text[NEXT_MOST]);
/* SPDX-License-Identifier: MIT */
