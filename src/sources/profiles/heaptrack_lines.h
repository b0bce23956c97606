/* The lines of heaptrack's text: a letter, then numbers in hexadecimal digits with blanks between
 * them, or a text. */
#pragma once

#include "sources/profiles/inflated.h"

enum { HEAPTRACK_LINE_MOST = 1 << 16 };

struct heaptrack_lines {
  struct inflated *file;
  unsigned version; /* of the format: since 3 a text has its length before it */
  uint64_t number;  /* of the line at hand, from 1 on */
  char kind;
  const char *at;    /* within the line: the next number, or the text */
  size_t length;     /* of the text */
  const char *fault; /* what is wrong with the line; NULL: nothing */
  char line[HEAPTRACK_LINE_MOST + 1];
};

/* Reads the next line; of kinds that tell nothing here only the letter. False at the end, or on a
 * fault. */
bool heaptrack_next(struct heaptrack_lines *lines);

/* The next number of the line. False: there is none. A wrong one is a fault. */
bool heaptrack_number(struct heaptrack_lines *lines, uint64_t *number);

/* So many numbers, which the line must have: else a fault. */
bool heaptrack_numbers(struct heaptrack_lines *lines, uint64_t *numbers, int count);
/* SPDX-License-Identifier: MIT */
