/* Values as text. */
#ifndef LISP_PRINTER_H
#define LISP_PRINTER_H

#include "output.h"
#include "value.h"

/* `written`: strings and characters as the reader takes them, not as people do. Does not allocate
 * in the heap. What is nested deeper than the C stack allows, or goes round in a circle, is cut
 * short with "...". */
void print_value(struct output *output, wn_value value, bool written);

/* At most `most` bytes, for messages. */
void print_short(struct output *output, wn_value value, size_t most);

#endif
/* SPDX-License-Identifier: MIT */
