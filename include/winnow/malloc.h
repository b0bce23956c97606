/* The sampling engine over the malloc heap of this process, for programs that link or preload
 * libwinnow-malloc.
 *
 *   static void *born(const wn_allocation *a, void *context) { return new_record(context, a); }
 *   static void died(void *metadata, void *context) { end_record(context, metadata); }
 *
 *   wn_memprof_options options = WN_MEMPROF_DEFAULTS;
 *   wn_malloc_tracker tracker = {.alloc = born, .free = died};
 *   wn_profile *profile;
 *   if (wn_malloc_profile_start(&options, &tracker, &profile)) puts(wn_last_error());
 *
 * A block of n bytes counts as ceil(n / 8) + 1 words: malloc keeps a header word too. */
#ifndef WINNOW_MALLOC_H
#define WINNOW_MALLOC_H

#include <winnow/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The callbacks of a profile. A callback runs inside the malloc, realloc or free that caused it, on
 * the same thread, so it must not take a lock that the program may hold while it allocates. It may
 * allocate and free; its blocks are not sampled. */
typedef struct wn_malloc_tracker {
  /* A sampled block was allocated. Returns the block's metadata, or NULL to stop tracking the
   * block. If this member is NULL, nothing is tracked. */
  void *(*alloc)(const wn_allocation *allocation, void *context);
  /* Optional: realloc changed the block's size. Takes the metadata and returns the new metadata, or
   * NULL to stop tracking the block. */
  void *(*resize)(void *metadata, const wn_allocation *allocation, void *context);
  /* Optional: the block was freed, by any thread. */
  void (*free)(void *metadata, void *context);
  /* Optional: gets metadata that no other callback will get, after a discard. */
  void (*drop)(void *metadata, void *context);
  void *context;
} wn_malloc_tracker;

/* Starts a profile of this process's malloc heap. The calling thread is sampled at once, each other
 * thread before it has allocated another 512 KiB. `options` and `tracker` are copied. WN_EINVAL: an
 * argument is NULL, or the rate is not from 0 to 1. WN_ESTATE: a profile is sampling already, which
 * may be that of `winnow record`. WN_ENOMEM. Any thread; not in a signal handler. */
WN_API wn_status wn_malloc_profile_start(const wn_memprof_options *options, const wn_malloc_tracker *tracker,
                                         wn_profile **profile);

/* Ends sampling; tracked blocks are still followed until the profile is discarded. WN_ESTATE: no
 * profile is sampling, or `winnow record` started it. Any thread. */
WN_API wn_status wn_malloc_profile_stop(void);

/* Discards a stopped profile: no callback begins after the call. WN_ESTATE: the profile is
 * sampling, or was discarded before. Any thread. */
WN_API wn_status wn_malloc_profile_discard(wn_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
