/* What all profiles share: the description of a sampled block, the options of sampling, and the
 * counts of blocks. memprof.h starts a profile of a collected heap, malloc.h one of the malloc
 * heap.
 *
 *   wn_memprof_options options = WN_MEMPROF_DEFAULTS;
 *   options.sampling_rate = 1e-3; */
#ifndef WINNOW_PROFILE_H
#define WINNOW_PROFILE_H

#include <stddef.h>
#include <stdint.h>
#include <winnow/callstack.h>
#include <winnow/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wn_alloc_source {
  WN_SOURCE_NORMAL,  /* the program allocated it */
  WN_SOURCE_MARSHAL, /* rebuilt from a marshalled value */
  WN_SOURCE_CUSTOM,  /* memory outside the heap that a custom block stands for */
  WN_SOURCE_EXTERNAL, /* memory outside the heap that the program tells of (winnow/writer.h); it has no header */
  WN_SOURCE_PYTHON    /* CPython's objects, of its allocators mem and obj: with winnow record */
} wn_alloc_source;

/* Describes one sampled block. Valid during the callback that gets it. */
typedef struct wn_allocation {
  size_t n_samples; /* how many of its words were sampled: at least 1 */
  size_t size;      /* words, without the header */
  wn_alloc_source source;
  const wn_callstack *callstack; /* of the allocation, innermost frame first; NULL if it is not known */
  size_t bytes;                  /* what was asked for, where the heap knows it; else 8 * size */
  /* The words that could be sampled, including the header if there is one. The block was tracked
   * with probability 1 - (1 - rate)^trials, so an estimate weights the block by the inverse of
   * that. */
  size_t trials;
  /* In resize: the size before, in bytes. In alloc: 0, unless an unsampled block grew and some of
   * its new words were sampled. */
  size_t previous_bytes;
  /* The tag of a block of Winnow's collected heap (value.h); else 0. Only traces have the language's
   * own types (wn_heap_hooks.type_of): a new block's fields are not set yet. */
  unsigned tag;
  /* The name in the wn_custom_ops of a custom block, also of memory outside that it stands for;
   * NULL of other blocks. */
  const char *custom_name;
} wn_allocation;

typedef struct wn_memprof_options {
  double sampling_rate;  /* per word, from 0 to 1; 0 samples nothing */
  size_t callstack_size; /* most frames of a callstack; 0 gives empty ones */
  uint64_t seed;         /* the same seed, program and order of threads give the same samples */
} wn_memprof_options;

/* An initialiser. */
#define WN_MEMPROF_DEFAULTS \
  { 1e-4, SIZE_MAX, 0 }

/* A profile. The handle is a plain value that any thread may use; after discard it only gives
 * WN_ESTATE. */
typedef struct wn_profile wn_profile;

/* The numbers of sampled blocks in each state. Whenever no callback is running:
 *   allocs_minor            = promotes + dealloc_minor + live_minor + dropped_minor
 *   promotes + allocs_major = dealloc_major + live_major + dropped_major
 * A block counts from its birth on, even if its first callback is still pending. */
typedef struct wn_memprof_count {
  uint64_t allocs_minor, allocs_major;
  uint64_t promotes;
  uint64_t dealloc_minor, dealloc_major;
  uint64_t live_minor, live_major;
  uint64_t dropped_minor, dropped_major; /* no longer tracked, though not known dead */
  /* Sampled, but there was no memory to track them, or too many births waited. A block for which
   * there was no memory once it was promoted was tracked until then, and is also dropped. */
  uint64_t lost;
} wn_memprof_count;

/* Reads the counts; all are zero for a discarded profile that is gone. Any thread. For a profile of
 * a collected heap, not in a signal handler. */
WN_API void wn_memprof_counts(const wn_profile *profile, wn_memprof_count *count);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
