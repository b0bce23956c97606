/* The printer: values to text. */
#ifndef LISP_PRINTER_H
#define LISP_PRINTER_H

#include "output.h"
#include "value.h"

/* `written`: prints strings and characters as the reader accepts them, not as plain text. Does not
 * allocate in the heap. A value that is nested deeper than the C stack allows, or that is circular,
 * is cut short with "...". */
void print_value(struct output *output, wn_value value, bool written);

/* At most `most` bytes, for messages. */
void print_short(struct output *output, wn_value value, size_t most);

#endif
/* SPDX-License-Identifier: MIT */
