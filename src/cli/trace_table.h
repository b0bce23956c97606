/* A table of several traces, one line each, largest first: which program each is of, and how much
 * it allocated. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct trace_table_limits {
  size_t lines; /* the other traces share one line; the first trace given always has a line */
  /* Of a trace that is read whole, and of all such traces together. */
  uint64_t file_bytes, all_bytes;
};

/* Prints the table. Returns the number of traces that cannot be read; their lines say why. */
size_t trace_table_print(FILE *out, const char *const *paths, size_t count,
                         const struct trace_table_limits *limits);
/* SPDX-License-Identifier: MIT */
