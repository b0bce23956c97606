/* Texts that are kept: copied one behind the other into blocks of pages. A `struct texts` has no
 * lock; the table that has one (modules.h, places.h) calls texts_copy under its own. */
#ifndef CALLSTACK_TEXTS_H
#define CALLSTACK_TEXTS_H

#include <stddef.h>

/* The most bytes of a text, its NUL byte included. */
enum { TEXT_BYTES_MOST = 4096 };

struct text_block;

/* Zeroed is empty. */
struct texts {
  struct text_block *blocks;
};

/* A copy of the first `length` bytes with a NUL behind; NULL if memory is exhausted. */
const char *texts_copy(struct texts *texts, const char *text, size_t length);
void texts_destroy(struct texts *texts);

#endif
/* SPDX-License-Identifier: MIT */
