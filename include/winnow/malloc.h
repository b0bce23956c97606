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

/* What a profile calls. A callback runs inside the malloc, realloc or free that caused it, on that
 * thread, and so must not take a lock that the program may hold while it allocates. It may allocate
 * and free: that is not sampled. */
typedef struct wn_malloc_tracker {
  /* A sampled block was allocated; returns its metadata, or NULL to stop tracking it. NULL: nothing
   * is tracked. */
  void *(*alloc)(const wn_allocation *allocation, void *context);
  /* Optional: realloc changed its size; takes the metadata, returns the new one, or NULL to
   * stop. */
  void *(*resize)(void *metadata, const wn_allocation *allocation, void *context);
  /* Optional: it was freed, by any thread. */
  void (*free)(void *metadata, void *context);
  /* Optional: metadata that no other callback will see (discard). */
  void (*drop)(void *metadata, void *context);
  void *context;
} wn_malloc_tracker;

/* Starts a profile of this process's malloc heap: at once on the calling thread, on each other
 * thread before it has allocated another 512 KiB. Both structs are copied. WN_EINVAL: NULL, or a
 * rate that is not from 0 to 1. WN_ESTATE: one is sampling already, `winnow record`'s included.
 * WN_ENOMEM. Any thread; not from a signal handler. */
WN_API wn_status wn_malloc_profile_start(const wn_memprof_options *options, const wn_malloc_tracker *tracker,
                                         wn_profile **profile);

/* Ends sampling; tracked blocks are followed on until the profile is discarded. WN_ESTATE: nothing
 * is sampling, or it was started by `winnow record`. Any thread. */
WN_API wn_status wn_malloc_profile_stop(void);

/* Forgets a stopped profile: no callback begins after it. WN_ESTATE while it is sampling, or a
 * second time. Any thread. */
WN_API wn_status wn_malloc_profile_discard(wn_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
