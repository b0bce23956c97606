/* The pages from which the others are linked: the recordings, and the kinds of profiles. Static
 * HTML, without scripts; names are escaped. */
#ifndef CLI_SCRAPE_INDEX_PAGE_H
#define CLI_SCRAPE_INDEX_PAGE_H

#include "cli/scrape/targets.h"

/* `token`: see answer_make. */
void index_write(FILE *out, const struct targets *targets, const char *token);
void index_write_profiles(FILE *out, const char *token);

#endif
/* SPDX-License-Identifier: MIT */
