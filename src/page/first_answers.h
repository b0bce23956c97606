/* The answers that a page shows first: section ANSW. It stands first in the file, so that a browser
 * shows them before it has read the recording and started the engine.
 *
 * The section is a sequence of the length of a request as u32, the request, the length of its
 * answer as u32, the answer (page/answers.h). A page looks requests up by their text; so a request
 * that it does not make costs bytes and nothing else. */
#ifndef PAGE_FIRST_ANSWERS_H
#define PAGE_FIRST_ANSWERS_H

#include "analysis/report.h"

/* Answers what a page asks when it opens at the peak, or at the comparison with `before`, unless that
 * is NULL; grouped by `grouping`, without a query. *bytes are to be freed by the caller. WN_ENOMEM. */
wn_status first_answers(const struct recording *recording, const struct recording *before,
                        enum grouping grouping, char **bytes, size_t *size);

#endif
/* SPDX-License-Identifier: MIT */
