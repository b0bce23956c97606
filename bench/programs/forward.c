/* An interposer that only forwards: the floor for everything that is preloaded. */
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static void *(*volatile next_malloc)(size_t) = __libc_malloc;
static void (*volatile next_free)(void *) = __libc_free;
static void *(*volatile next_calloc)(size_t, size_t) = __libc_calloc;
static void *(*volatile next_realloc)(void *, size_t) = __libc_realloc;

void *malloc(size_t bytes) { return next_malloc(bytes); }
void free(void *block) { next_free(block); }
void *calloc(size_t count, size_t bytes) { return next_calloc(count, bytes); }
void *realloc(void *block, size_t bytes) { return next_realloc(block, bytes); }
/* SPDX-License-Identifier: MIT */
