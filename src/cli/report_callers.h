/* The callers that explain a row of a table. */
#ifndef CLI_REPORT_CALLERS_H
#define CLI_REPORT_CALLERS_H

#include "cli/report_text.h"

enum { CALLERS_INDENT = 12, FITTED_MOST = 1024 /* of a name that fits; UTF-8, and room for the module */ };

/* A label's name, cut to so many columns, for a paragraph that begins its lines behind `indent`
 * blanks. */
const char *report_fit_label(const struct view *view, const struct call_tree *tree, uint32_t label,
                             char buffer[FITTED_MOST], size_t columns, int indent);

/* Appends " < insert < load < main", and the largest callers with their shares where they part.
 * `unit` is estimate_of's: 0 where the chain's sums are exact. */
void report_say_callers(struct paragraph *paragraph, const struct view *view, const struct call_tree *tree,
                        const struct chain *chain, double unit);

#endif
/* SPDX-License-Identifier: MIT */
