/* The debug files that modules need from a server, each once, and what to say of those that do not
 * come. */
#pragma once

#include "symbols/fetch.h"

enum { WANTED_MOST = 256 };

struct wanted {
  struct fetch_file file[WANTED_MOST];
  const char *name[WANTED_MOST]; /* of the module that needs it, and its number, both the caller's */
  size_t number[WANTED_MOST];
  size_t count;
};

/* Adds a file, unless it is there, or there are WANTED_MOST. */
void wanted_add(struct wanted *wanted, const char *name, size_t number, const unsigned char *build_id,
                size_t bytes);

/* Frees the paths. Says how many files did not come and why, for the first reason other than that
 * no server has them, in text that the caller frees; NULL: there is no such reason. */
char *wanted_end(struct wanted *wanted);
/* SPDX-License-Identifier: MIT */
