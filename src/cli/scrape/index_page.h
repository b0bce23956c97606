/* The pages from which the others are linked: the recordings, and the kinds of profiles. Static
 * HTML, without scripts; names are escaped. */
#pragma once

#include "cli/scrape/targets.h"

/* `token`: see answer_make. */
void index_write(FILE *out, const struct targets *targets, const char *token);
void index_write_profiles(FILE *out, const char *token);
/* SPDX-License-Identifier: MIT */
