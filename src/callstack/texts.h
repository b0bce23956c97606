/* Texts that are kept: copied one behind the other into blocks of pages. Each user has a lock of
 * its own for it. */
#ifndef CALLSTACK_TEXTS_H
#define CALLSTACK_TEXTS_H

#include <stddef.h>

/* What a text may have, its NUL byte included. */
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
