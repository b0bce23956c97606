/* Buffers for the text that a program prints, to its output or into strings. */
#ifndef LISP_OUTPUT_H
#define LISP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <winnow/heap.h>

struct output {
  char *data;
  size_t used, capacity;
  bool failed; /* there was no memory for all of it */
  bool kept;   /* output_flush leaves it alone */
};

void output_bytes(struct output *output, const char *bytes, size_t count);
void output_text(struct output *output, const char *text);
__attribute__((format(printf, 2, 3))) void output_format(struct output *output, const char *format, ...);
void output_destroy(struct output *output);

/* Writes the text to standard output, in a blocking section: the reader of a pipe may be slow, and
 * collections of other domains must not wait for it. */
void output_flush(struct output *output, wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
