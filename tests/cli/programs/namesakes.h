/* A function of a header, of which each file that includes it has a copy. */
#ifndef NAMESAKES_H
#define NAMESAKES_H

#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static char *keep(size_t bytes) {
  char *block = malloc(bytes);
  if (!block) abort();
  return memset(block, 1, bytes);
}

void fill_other(void);

#endif
/* SPDX-License-Identifier: MIT */
