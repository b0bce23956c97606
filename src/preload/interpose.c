/* The entry points of malloc and of C++'s operators, as the program sees them.
 *
 * Allocation subtracts the block's words from the thread's count and tests the sign; a free
 * subtracts the region's base from the pointer and compares. Everything else is behind the _slow
 * functions and in malloc_host.c. The fast paths touch the thread's count and the read-only table
 * `real`, nothing else: no lock, no line that another thread writes.
 *
 * Each entry point calls the real allocator's function of the same name, so that zero sizes,
 * overflow, alignment errors and errno are exactly what they would be without us. Only a block that
 * took a sample is placed by us, and only where its size and alignment are valid. Functions that
 * are made of another (reallocarray of realloc) call the one that the program would call, which may
 * be its own (REPLACED of real.c).
 */
#include "base/words.h"
#include "preload/interpreters.h"
#include "preload/malloc_host.h"
#include "preload/process.h"
#include "preload/real.h"
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <winnow/status.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define SLOW              static __attribute__((noinline, cold))
#define LARGEST_ALIGNMENT ((size_t)1 << 30)

static inline bool maybe_sampled(const void *block) {
  return (uintptr_t)block - real.sampled.base < real.sampled.span;
}
static inline bool interpose_count_words(size_t words) { return LIKELY((words_left -= (int64_t)words) >= 0); }
static bool valid_alignment(size_t alignment) {
  return alignment && !(alignment & (alignment - 1)) && alignment <= LARGEST_ALIGNMENT;
}

/* Allocates a sampled block. NULL: the caller calls the real function, which also reports what is
 * wrong with the request. */
static void *interpose_allocate(size_t bytes, size_t alignment, bool zero, size_t hits) {
  if (!valid_alignment(alignment)) return NULL;
  return host_allocate(bytes, alignment < 16 ? 16 : alignment, zero, hits, WN_SOURCE_NORMAL);
}

/* How many samples fell into a request that exhausted the count. A request that can only fail is
 * taken out of the count again. */
static size_t hits_of(size_t bytes) {
  size_t words = malloc_words(bytes);
  if (host_can_have(bytes)) return host_hits(words);
  words_left += (int64_t)words;
  return 0;
}

/* Serves a request of `bytes` that exhausted the count: by a sampled block, or by what `fallback`
 * returns. */
#define SAMPLED(block, bytes, alignment, zero, fallback)                        \
  size_t hits = hits_of(bytes);                                                 \
  void *block = hits ? interpose_allocate(bytes, alignment, zero, hits) : NULL; \
  if (!block) {                                                                 \
    block = fallback;                                                           \
    if (hits) host_follow(block, bytes, hits);                                  \
  }

/* The words of a request of HOST_OFFER_BYTES exhaust every count but that of the host at work. */
static void *take_offer(void) {
  void *block = host_offer;
  host_offer = NULL;
  words_left += (int64_t)malloc_words(HOST_OFFER_BYTES);
  return block;
}

SLOW void *malloc_slow(size_t bytes) {
  if (bytes == HOST_OFFER_BYTES && host_offer) return take_offer();
  SAMPLED(block, bytes, 16, false, real.malloc(bytes));
  return block;
}

SLOW void *calloc_slow(size_t count, size_t bytes) {
  SAMPLED(block, count * bytes, 16, true, real.calloc(count, bytes));
  return block;
}

SLOW void *memalign_slow(size_t alignment, size_t bytes) {
  SAMPLED(block, bytes, alignment, false, real.memalign(alignment, bytes));
  return block;
}

SLOW void *aligned_alloc_slow(size_t alignment, size_t bytes) {
  SAMPLED(block, bytes, alignment, false, real.aligned_alloc(alignment, bytes));
  return block;
}

SLOW int posix_memalign_slow(void **block, size_t alignment, size_t bytes) {
  size_t hits = hits_of(bytes);
  bool valid = alignment % sizeof(void *) == 0;
  void *sampled = hits && valid ? interpose_allocate(bytes, alignment, false, hits) : NULL;
  if (sampled) {
    *block = sampled;
    return 0;
  }
  int error = real.posix_memalign(block, alignment, bytes);
  if (hits && !error) host_follow(*block, bytes, hits);
  return error;
}

/* realloc of a block that is not NULL. When an unsampled block grows, the words that it gained
 * count for sampling. The sizes that the program asked for are not kept for unsampled blocks, so
 * the words gained are the difference between the usable sizes after and before, in words. */
SLOW void *realloc_other(void *block, size_t bytes) {
  if (maybe_sampled(block) && host_owns(block)) return host_realloc(block, bytes);
  uintptr_t from = (uintptr_t)block;
  size_t before = real.usable_size(block);
  void *grown = real.realloc(block, bytes);
  if (!grown || bytes <= before) return grown;
  const struct host_growth growth = {.from = from, .before = before, .after = real.usable_size(grown)};
  size_t gained = malloc_words(growth.after) - malloc_words(before);
  void *followed = interpose_count_words(gained) ? grown : host_follow_grown(grown, bytes, &growth);
  if (followed != grown) {
    memcpy(followed, grown, bytes);
    real.free(grown);
  }
  return followed;
}

/* ---- what the program calls ---- */

#define EXPORT __attribute__((visibility("default")))

EXPORT void *malloc(size_t bytes) {
  return interpose_count_words(malloc_words(bytes)) ? real.malloc(bytes) : malloc_slow(bytes);
}

EXPORT void free(void *block) {
  if (__builtin_expect(maybe_sampled(block), 0))
    host_free(block);
  else
    real.free(block);
}

EXPORT void *calloc(size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) return real.calloc(count, bytes);
  return interpose_count_words(malloc_words(total)) ? real.calloc(count, bytes) : calloc_slow(count, bytes);
}

EXPORT void *realloc(void *block, size_t bytes) {
  return block ? realloc_other(block, bytes) : malloc(bytes);
}

EXPORT void *reallocarray(void *block, size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  return program_calls.realloc(block, total);
}

EXPORT void *memalign(size_t alignment, size_t bytes) {
  return interpose_count_words(malloc_words(bytes)) ? real.memalign(alignment, bytes)
                                                    : memalign_slow(alignment, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes) {
  return interpose_count_words(malloc_words(bytes)) ? real.aligned_alloc(alignment, bytes)
                                                    : aligned_alloc_slow(alignment, bytes);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes) {
  return interpose_count_words(malloc_words(bytes)) ? real.posix_memalign(block, alignment, bytes)
                                                    : posix_memalign_slow(block, alignment, bytes);
}

EXPORT void *valloc(size_t bytes) { return program_calls.memalign((size_t)getpagesize(), bytes); }

EXPORT void *pvalloc(size_t bytes) {
  size_t page = (size_t)getpagesize(), rounded;
  if (__builtin_add_overflow(bytes, page - 1, &rounded)) {
    errno = ENOMEM;
    return NULL;
  }
  return program_calls.memalign(page, rounded & ~(page - 1));
}

EXPORT size_t malloc_usable_size(void *block) {
  if (!block) return 0;
  return maybe_sampled(block) && host_owns(block) ? host_usable_size(block) : real.usable_size(block);
}

EXPORT void cfree(void *block); /* gone from glibc's headers, called by old programs */
EXPORT void cfree(void *block) { program_calls.free(block); }
EXPORT void free_sized(void *block, size_t bytes);
EXPORT void free_sized(void *block, size_t bytes) { (void)bytes, program_calls.free(block); }
EXPORT void free_aligned_sized(void *block, size_t alignment, size_t bytes);
EXPORT void free_aligned_sized(void *block, size_t alignment, size_t bytes) {
  (void)alignment, (void)bytes, program_calls.free(block);
}

/* Calls the function that the program's `malloc` is bound to and looks whether ours counted the
 * call. The function's address would prove nothing: it may be that of a stub in the executable. */
bool process_calls_our_malloc(void) {
  int64_t before = words_left;
  void *block = program_calls.malloc(1);
  bool ours = words_left != before;
  program_calls.free(block);
  return ours;
}

/* ---- C++: 8 forms of operator new, 14 of operator delete (mangled by the Itanium C++ ABI) ---- */

#define NEW_OPERATOR(name, form, parameters, alignment, second, third)                       \
  SLOW void *name##_slow(size_t bytes, size_t b, const void *c) {                            \
    if (program_calls.replaces_new) return real.new[form](bytes, b, c);                      \
    SAMPLED(block, bytes, alignment, false, real.new[form](bytes, b, c));                    \
    return block;                                                                            \
  }                                                                                          \
  EXPORT void *name parameters;                                                              \
  EXPORT void *name parameters {                                                             \
    return interpose_count_words(malloc_words(bytes)) ? real.new[form](bytes, second, third) \
                                                      : name##_slow(bytes, second, third);   \
  }

/* For a nothrow form without alignment the second argument is the address of std::nothrow. */
NEW_OPERATOR(_Znwm, NEW, (size_t bytes), 16, 0, NULL)
NEW_OPERATOR(_ZnwmRKSt9nothrow_t, NEW_NOTHROW, (size_t bytes, const void *nothrow), 16, (size_t)nothrow, NULL)
NEW_OPERATOR(_ZnwmSt11align_val_t, NEW_ALIGNED, (size_t bytes, size_t alignment), b, alignment, NULL)
NEW_OPERATOR(_ZnwmSt11align_val_tRKSt9nothrow_t, NEW_ALIGNED_NOTHROW,
             (size_t bytes, size_t alignment, const void *nothrow), b, alignment, nothrow)
NEW_OPERATOR(_Znam, NEW_ARRAY, (size_t bytes), 16, 0, NULL)
NEW_OPERATOR(_ZnamRKSt9nothrow_t, NEW_ARRAY_NOTHROW, (size_t bytes, const void *nothrow), 16, (size_t)nothrow,
             NULL)
NEW_OPERATOR(_ZnamSt11align_val_t, NEW_ARRAY_ALIGNED, (size_t bytes, size_t alignment), b, alignment, NULL)
NEW_OPERATOR(_ZnamSt11align_val_tRKSt9nothrow_t, NEW_ARRAY_ALIGNED_NOTHROW,
             (size_t bytes, size_t alignment, const void *nothrow), b, alignment, nothrow)

SLOW void delete_slow(enum delete_form form, void *block, size_t alignment) {
  if (program_calls.replaces_new)
    real.delete[form](block, alignment);
  else
    host_free(block);
}

#define DELETE_OPERATOR(name, form, parameters, alignment) \
  EXPORT void name parameters;                             \
  EXPORT void name parameters {                            \
    if (__builtin_expect(maybe_sampled(block), 0))         \
      delete_slow(form, block, alignment);                 \
    else                                                   \
      real.delete[form](block, alignment);                 \
  }
#define UNUSED __attribute__((unused))

DELETE_OPERATOR(_ZdlPv, DELETE, (void *block), 0)
DELETE_OPERATOR(_ZdlPvm, DELETE, (void *block, UNUSED size_t bytes), 0)
DELETE_OPERATOR(_ZdlPvRKSt9nothrow_t, DELETE, (void *block, UNUSED const void *nothrow), 0)
DELETE_OPERATOR(_ZdlPvSt11align_val_t, DELETE_ALIGNED, (void *block, size_t alignment), alignment)
DELETE_OPERATOR(_ZdlPvmSt11align_val_t, DELETE_ALIGNED, (void *block, UNUSED size_t bytes, size_t alignment),
                alignment)
DELETE_OPERATOR(_ZdlPvSt11align_val_tRKSt9nothrow_t, DELETE_ALIGNED,
                (void *block, size_t alignment, UNUSED const void *nothrow), alignment)
DELETE_OPERATOR(_ZdlPvmRKSt9nothrow_t, DELETE, (void *block, UNUSED size_t bytes, UNUSED const void *nothrow),
                0)
DELETE_OPERATOR(_ZdaPv, DELETE_ARRAY, (void *block), 0)
DELETE_OPERATOR(_ZdaPvm, DELETE_ARRAY, (void *block, UNUSED size_t bytes), 0)
DELETE_OPERATOR(_ZdaPvRKSt9nothrow_t, DELETE_ARRAY, (void *block, UNUSED const void *nothrow), 0)
DELETE_OPERATOR(_ZdaPvSt11align_val_t, DELETE_ARRAY_ALIGNED, (void *block, size_t alignment), alignment)
DELETE_OPERATOR(_ZdaPvmSt11align_val_t, DELETE_ARRAY_ALIGNED,
                (void *block, UNUSED size_t bytes, size_t alignment), alignment)
DELETE_OPERATOR(_ZdaPvSt11align_val_tRKSt9nothrow_t, DELETE_ARRAY_ALIGNED,
                (void *block, size_t alignment, UNUSED const void *nothrow), alignment)
DELETE_OPERATOR(_ZdaPvmRKSt9nothrow_t, DELETE_ARRAY,
                (void *block, UNUSED size_t bytes, UNUSED const void *nothrow), 0)

/* ---- the loader ---- */

/* The code of frames in some callstacks may be gone afterwards. */
EXPORT int dlclose(void *library) {
  static int (*next)(void *);
  if (!next) next = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
  interpreters_before_unloading();
  int result = next(library);
  interpreters_after_unloading();
  process_modules_changed();
  return result;
}

/* A library opened with RTLD_DEEPBIND would bind free to glibc's, which cannot free sampled blocks.
 * So the flag is cleared. The real dlopen is called by a jump (a tail call), so that it sees the
 * program as its caller, whose search path it uses. */
EXPORT void *dlopen(const char *path, int flags) {
  static void *(*next)(const char *, int);
  if (!next) next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  return next(path, flags & ~RTLD_DEEPBIND);
}
/* SPDX-License-Identifier: MIT */
