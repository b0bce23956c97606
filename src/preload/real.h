/* The real allocator: the one that the program would call if Winnow were not there. */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#include "preload/region.h"

/* The forms of operator new, in the order of the table in real.c: {plain, array} x {throwing,
 * nothrow} x {unaligned, aligned}. */
enum new_form {
  NEW,
  NEW_NOTHROW,
  NEW_ALIGNED,
  NEW_ALIGNED_NOTHROW,
  NEW_ARRAY,
  NEW_ARRAY_NOTHROW,
  NEW_ARRAY_ALIGNED,
  NEW_ARRAY_ALIGNED_NOTHROW,
  NEW_FORMS
};
/* The forms of operator delete for which different functions are called; forms that differ only in
 * a size, which is a hint, share one. */
enum delete_form { DELETE, DELETE_ALIGNED, DELETE_ARRAY, DELETE_ARRAY_ALIGNED, DELETE_FORMS };

typedef void *new_function(size_t bytes, size_t second, const void *third);
typedef void delete_function(void *block, size_t alignment);

/* One structure, so that the fast paths touch one or two cache lines that no thread writes after
 * start-up. The initial values work from the process's first instruction on: there is no region,
 * and the functions first find the real ones. */
struct real {
  struct region_range sampled; /* addresses that need the slow path in free; span SIZE_MAX: all */
  void (*free)(void *);
  void *(*malloc)(size_t);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  size_t (*usable_size)(void *);
  void *(*memalign)(size_t, size_t);
  int (*posix_memalign)(void **, size_t, size_t);
  void *(*aligned_alloc)(size_t, size_t);
  new_function *new[NEW_FORMS];
  delete_function *delete[DELETE_FORMS];
};

/* Hidden here too: the compiler must know where it is used that it needs no table of addresses. */
extern struct real real __attribute__((visibility("hidden")));

/* The functions that the program's own calls of these names reach: ours, or those of an object that
 * the loader searches before us (the program itself, or a library preloaded before us). An entry
 * point that the C library builds on another calls that one here, as the C library's does: a block
 * of the program's realloc is then freed by the program's free. */
struct program_calls {
  void *(*malloc)(size_t);
  void *(*realloc)(void *, size_t);
  void (*free)(void *);
  void *(*memalign)(size_t, size_t);
  int (*posix_memalign)(void **, size_t, size_t);
  /* True if malloc is another object's, and operator new and delete call that malloc and free. Then
   * operator new does not sample: that malloc may call ours. */
  bool replaces_new;
};

extern struct program_calls program_calls;

/* Finds the real functions. The first call of any function in `real` calls it. Any thread may call
 * it, any number of times. */
void real_resolve(void);

/* The usable size that the real allocator gives to a request of `bytes`, or nearly that size. */
size_t real_usable_for(size_t bytes);

/* SPARE: a program may have made ready for its confinement by what it allocated before, and
 * frees before or afterwards. Where that was sampled, the real allocator has it neither in use
 * nor free, and would call brk, which the program does without. So it gets as much free memory
 * as the region has used, `bytes`, in pieces that glibc does not map, and a piece more. */
void real_make_spare(size_t bytes);

/* A function of the library that has the real malloc; NULL: it has none of this name. A failing
 * search allocates. */
void *real_find(const char *name);

/* Whether the real allocator is the C library's. */
bool real_is_the_c_librarys(void);

/* True if realloc(p, 0) of the real allocator frees and returns NULL, as glibc's does. */
bool real_realloc_zero_frees(void);

#endif
/* SPDX-License-Identifier: MIT */
