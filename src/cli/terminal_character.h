/* The characters of a text, as a terminal shows them. Names of functions, files and programs can
 * have any bytes, and come from programs that are not trusted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct character {
  size_t bytes;   /* 1 or more */
  size_t columns; /* columns of a terminal that it takes */
  bool shown;     /* false: print '?' instead, since it would control the terminal or is not UTF-8 */
};

/* The first character of a text of `length` bytes, 1 or more. */
struct character character_at(const char *text, size_t length);
/* SPDX-License-Identifier: MIT */
