/* Draws a call tree as a flame graph that needs no script: an SVG element for a page of text. Callers
 * are above, the width of a box is its total, and a box tells its name and numbers when the pointer
 * rests on it. */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include "analysis/report.h"
#include <stdio.h>

/* Draws what a measure counts, by function, with a title above. Draws nothing if that is nothing.
 * WN_ENOMEM; errors of the stream are left to the caller (ferror). */
wn_status drawing_write(FILE *out, const struct report *report, enum measure measure, const char *title);

#endif
/* SPDX-License-Identifier: MIT */
