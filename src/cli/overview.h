/* Which trace is which: a line for each of several, largest first. */
#ifndef CLI_OVERVIEW_H
#define CLI_OVERVIEW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct overview_limits {
  size_t lines; /* beyond them the rest has one line; the first trace always has one of its own */
  uint64_t file_bytes, all_bytes; /* of a trace that is read, and of all that are */
};

/* Prints the table. Returns how many of the traces cannot be read; their lines say why. */
size_t overview_print(FILE *out, const char *const *paths, size_t count,
                      const struct overview_limits *limits);

#endif
/* SPDX-License-Identifier: MIT */
