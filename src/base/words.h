/* The sampling law's word count. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stddef.h>

/* A malloc block of n bytes counts ceil(n / 8) + 1 words: malloc keeps a header word too. Wraps for
 * n > SIZE_MAX - 15, which no allocator can serve. */
static inline size_t malloc_words(size_t bytes) { return (bytes + 15) >> 3; }

#endif
/* SPDX-License-Identifier: MIT */
