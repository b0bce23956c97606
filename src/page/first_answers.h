/* The answers that a page shows first. They stand first in the file, so that a browser shows them
 * before it has read the recording and started the engine. Section ANSW has what one sees at once;
 * section MORE has the table, which can be larger than all of these, and is shown next. The page
 * reads it in its worker.
 *
 * Such a section is a sequence of the length of a request as u32, the request, the length of its
 * answer as u32, the answer (page/answers.h). A page looks requests up by their text; so a request
 * that it does not make costs bytes and nothing else. */
#pragma once

#include "analysis/report/report.h"
#include "page/container.h"

enum { FIRST_SECTIONS = 2 };

/* Answers what a page asks when it opens at the peak, or at the end if `at` is AT_END, or at the
 * comparison with `before`, unless that is NULL; grouped by `grouping`, without a query. The caller
 * frees the sections with first_answers_free. WN_ENOMEM, and then there is nothing to free. */
wn_status first_answers(const struct recording *recording, const struct recording *before, enum when at,
                        enum grouping grouping, struct container_section sections[FIRST_SECTIONS]);
void first_answers_free(struct container_section sections[FIRST_SECTIONS]);
/* SPDX-License-Identifier: MIT */
