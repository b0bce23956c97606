/* Wrappers of pymalloc's functions.
 *
 * A small request subtracts its words from the thread's count, as malloc does. One that exhausts
 * the count gets a block of ours, which is followed like any sampled block: pymalloc passes its
 * free and its realloc on to ours, since it lies in no arena. So nothing is done in free, and the
 * other blocks are pymalloc's as without us. A large request is passed on: pymalloc calls malloc,
 * which counts it.
 *
 * COUNTED. pymalloc counts the blocks that malloc gave it: sys.getallocatedblocks() says how many
 * there are, and at the end of a subinterpreter arenas are freed only if there are none. So
 * pymalloc is asked for a block that is too large for it, and malloc answers with the sampled one
 * (host_offer). If another block comes or none, the program has replaced the functions to which
 * pymalloc passes such requests, and may have replaced those that would free our block. Then no
 * block is sampled any longer.
 *
 * GROWTH. A block that grows counts the words that it gains, as in realloc_other of interpose.c, so
 * that equal blocks are in the sample with equal probabilities whatever their history; the sizes
 * that are compared are those of pymalloc's classes. Where a block becomes large, malloc counts all
 * of its words, so those that it had are taken out before.
 *
 * ARENAS are noted as mappings of their own kind: a reader must not count them besides the objects
 * that lie in them.
 *
 * REPLACED. Before its first object the interpreter may take other functions than ours
 * (PYTHONMALLOC, the development mode). Then no request reaches ours, and the arenas are mappings
 * like others. What wraps the functions, as tracemalloc does, goes on to call ours. So the first
 * request that comes says that ours are in use: until then no request counts as small.
 *
 * The tables of functions are read without a lock while they are written, so `context` stays
 * what it was, and each function works with either table. */
#include "preload/python_objects.h"

#include "base/words.h"
#include "languages/python_allocator.h"
#include "preload/interpreters.h"
#include "preload/malloc_host.h"
#include "preload/mappings.h"
#include "preload/process.h"
#include "preload/real.h"
#include "record/recorder.h"
#include <string.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define SLOW              static __attribute__((noinline, cold))

static const struct python *python;
static struct python_functions pymalloc;
static struct python_arena_functions arenas;

static size_t small_most;     /* REPLACED: 0 until a request comes; written under the interpreter's lock */
static _Atomic(bool) refused; /* COUNTED */

static inline bool python_objects_is_small(size_t bytes) { return LIKELY(bytes - 1 < small_most); }
static inline bool python_objects_count_words(size_t words) {
  return LIKELY((words_left -= (int64_t)words) >= 0);
}
static inline bool exhausts(size_t words) { return !LIKELY(words_left >= (int64_t)words); }

/* ---- blocks ---- */

/* COUNTED. False, and the block is freed: it may not be used. */
static bool count_in(void *context, void *block) {
  host_offer = block;
  bool counted = pymalloc.malloc(context, HOST_OFFER_BYTES) == block;
  host_offer = NULL;
  if (counted) return true;
  atomic_store_explicit(&refused, true, memory_order_relaxed);
  host_free(block);
  return false;
}

static void *python_objects_allocate(void *context, size_t bytes, bool zero, size_t hits) {
  if (atomic_load_explicit(&refused, memory_order_relaxed)) return NULL;
  void *block = host_allocate(bytes, 16, zero, hits, WN_SOURCE_PYTHON);
  return block && count_in(context, block) ? block : NULL;
}

SLOW void *malloc_slow(void *context, size_t bytes) {
  size_t hits = host_hits(malloc_words(bytes));
  void *block = hits ? python_objects_allocate(context, bytes, false, hits) : NULL;
  if (block) return block;
  block = pymalloc.malloc(context, bytes);
  if (hits) host_follow(block, bytes, hits);
  return block;
}

SLOW void *calloc_slow(void *context, size_t count, size_t bytes) {
  size_t hits = host_hits(malloc_words(count * bytes));
  void *block = hits ? python_objects_allocate(context, count * bytes, true, hits) : NULL;
  if (block) return block;
  block = pymalloc.calloc(context, count, bytes);
  if (hits) host_follow(block, count * bytes, hits);
  return block;
}

static void *small_malloc(void *context, size_t bytes);
static void *small_calloc(void *context, size_t count, size_t bytes);

SLOW void *python_objects_first_malloc(void *context, size_t bytes) {
  small_most = PYTHON_SMALL_MOST;
  return small_malloc(context, bytes);
}

SLOW void *first_calloc(void *context, size_t count, size_t bytes) {
  small_most = PYTHON_SMALL_MOST;
  return small_calloc(context, count, bytes);
}

/* LARGE */
SLOW void *large_malloc(void *context, size_t bytes) {
  host_source = WN_SOURCE_PYTHON;
  void *block = pymalloc.malloc(context, bytes);
  host_source = WN_SOURCE_NORMAL;
  return block;
}

SLOW void *large_calloc(void *context, size_t count, size_t bytes) {
  host_source = WN_SOURCE_PYTHON;
  void *block = pymalloc.calloc(context, count, bytes);
  host_source = WN_SOURCE_NORMAL;
  return block;
}

static void *large_realloc(void *context, void *block, size_t bytes) {
  host_source = WN_SOURCE_PYTHON;
  void *grown = pymalloc.realloc(context, block, bytes);
  host_source = WN_SOURCE_NORMAL;
  return grown;
}

static void *small_malloc(void *context, size_t bytes) {
  if (!python_objects_is_small(bytes)) {
    if (!small_most) return python_objects_first_malloc(context, bytes);
    return exhausts(malloc_words(bytes)) ? large_malloc(context, bytes) : pymalloc.malloc(context, bytes);
  }
  return python_objects_count_words(malloc_words(bytes)) ? pymalloc.malloc(context, bytes)
                                                         : malloc_slow(context, bytes);
}

static void *small_calloc(void *context, size_t count, size_t bytes) {
  size_t total;
  if (!small_most) return first_calloc(context, count, bytes);
  if (__builtin_mul_overflow(count, bytes, &total)) return pymalloc.calloc(context, count, bytes);
  if (python_objects_is_small(total) ? python_objects_count_words(malloc_words(total))
                                     : !exhausts(malloc_words(total)))
    return pymalloc.calloc(context, count, bytes);
  return python_objects_is_small(total) ? calloc_slow(context, count, bytes)
                                        : large_calloc(context, count, bytes);
}

/* Follows a block of pymalloc's that has grown, and exhausted the count. */
SLOW void *follow_grown(void *context, void *block, size_t bytes, const struct host_growth *growth) {
  if (atomic_load_explicit(&refused, memory_order_relaxed)) {
    size_t hits = host_hits(malloc_words(growth->after) - malloc_words(growth->before));
    if (hits) host_follow(block, bytes, hits);
    return block;
  }
  void *followed = host_follow_grown(block, bytes, growth);
  if (followed == block || !count_in(context, followed)) return block;
  memcpy(followed, block, bytes);
  pymalloc.free(context, block);
  return followed;
}

/* GROWTH. A block of pymalloc's; `before` is the size of its class. */
static void *python_objects_resize(void *context, void *block, size_t bytes, size_t before) {
  if (!python_objects_is_small(bytes)) {
    words_left += (int64_t)malloc_words(before); /* and stay out if there is no memory */
    return large_realloc(context, block, bytes);
  }
  void *grown = pymalloc.realloc(context, block, bytes);
  size_t after = grown ? python_block_bytes(python, grown) : 0;
  if (after <= before || python_objects_count_words(malloc_words(after) - malloc_words(before))) return grown;
  const struct host_growth growth = {0, before, after, WN_SOURCE_PYTHON};
  return follow_grown(context, grown, bytes, &growth);
}

static void *small_realloc(void *context, void *block, size_t bytes) {
  if (!block) return small_malloc(context, bytes);
  size_t before = python_block_bytes(python, block);
  if (before)
    return bytes > before ? python_objects_resize(context, block, bytes, before)
                          : pymalloc.realloc(context, block, bytes);
  return large_realloc(context, block, bytes);
}

/* ---- arenas ---- */

static void *arena_alloc(void *context, size_t bytes) {
  if (bytes != python->layout.arena_bytes || !small_most) return arenas.alloc(context, bytes);
  bool noted = mappings_wanted();
  struct host_visit visit = host_enter(); /* so that mmap does not note it */
  void *arena = arenas.alloc(context, bytes);
  if (arena) python_arena_begins(python, (uintptr_t)arena);
  if (arena && noted) {
    const wn_callstack *stack = interpreters_capture(host_callstacks(), process_stack_depth(), 0);
    mappings_add((uintptr_t)arena, bytes, RECORDER_MAP_ARENA, callstack_keep(stack));
    if (process_recorder()) recorder_memory(process_recorder());
  }
  host_leave(visit);
  return arena;
}

static void arena_free(void *context, void *arena, size_t bytes) {
  if (bytes == python->layout.arena_bytes) python_arena_ends(python, (uintptr_t)arena);
  arenas.free(context, arena, bytes); /* munmap notes that the mapping ends */
}

/* ---- shared ---- */

bool python_objects_begin(const struct python *found) {
  bool has_region = real.sampled.span != SIZE_MAX;
  struct python_functions theirs;
  struct python_arena_functions their_arenas;
  if (!has_region || !python_allocator_get(found, &theirs, &their_arenas) || theirs.malloc == small_malloc)
    return false;
  python = found;
  pymalloc = theirs;
  arenas = their_arenas;
  const struct python_functions functions = {pymalloc.context, small_malloc, small_calloc, small_realloc,
                                             pymalloc.free};
  const struct python_arena_functions arena_functions = {arenas.context, arena_alloc, arena_free};
  python_allocator_set(found, &functions, &arena_functions);
  return true;
}
/* SPDX-License-Identifier: MIT */
