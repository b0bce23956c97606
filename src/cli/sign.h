/* The signs of a text, as a terminal takes them. Names of functions, files and programs are any
 * bytes, and come from programs that nobody need trust. */
#ifndef CLI_SIGN_H
#define CLI_SIGN_H

#include <stdbool.h>
#include <stddef.h>

struct sign {
  size_t bytes;   /* 1 or more */
  size_t columns; /* of the terminal that it takes */
  bool shown;     /* else '?' stands for it: a terminal would obey it, or it is no UTF-8 */
};

/* The sign that a text of `length` bytes, 1 or more, begins with. */
struct sign sign_at(const char *text, size_t length);

#endif
/* SPDX-License-Identifier: MIT */
