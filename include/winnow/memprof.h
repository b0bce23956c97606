/* Statistical memory profiling: callbacks for a random sample of a heap's blocks, from birth to
 * death.
 *
 *   static void *born(wn_domain *d, const wn_allocation *a, void *context) { return new_record(context, a); }
 *   static void died(wn_domain *d, void *metadata, void *context) { end_record(context, metadata); }
 *
 *   wn_memprof_options options = WN_MEMPROF_DEFAULTS;
 *   wn_tracker tracker = {.alloc_minor = born, .alloc_major = born, .dealloc_minor = died, .dealloc_major = died};
 *   wn_profile *profile;
 *   if (wn_memprof_start(domain, &options, &tracker, &profile)) puts(wn_last_error());
 *   run(domain);
 *   wn_memprof_stop(domain);
 *   wn_memprof_discard(profile);
 *
 * Each allocated word, header included, is sampled with the profile's rate, independently; a block
 * with at least one sampled word is tracked. A profile is sampling, then stopped (tracked blocks
 * are still followed), then discarded. Callbacks of one thread never nest, and what a callback
 * allocates is not sampled. Two callbacks for the same block never run at once; callbacks for
 * different blocks may, on different threads. No function here collects, except through the
 * callbacks that it runs. */
#ifndef WINNOW_MEMPROF_H
#define WINNOW_MEMPROF_H

#include <stdbool.h>
#include <winnow/domain.h>
#include <winnow/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a profile calls. Each metadata pointer that a callback returns goes back to exactly one
 * later callback: promote, resize, dealloc_minor, dealloc_major, or else drop. A NULL member
 * behaves as the null tracker's: a block whose alloc, or promote, is NULL is no longer tracked. */
typedef struct wn_tracker {
  /* A sampled block was born; returns its metadata, or NULL to stop tracking it. Runs on the
   * allocating thread. */
  void *(*alloc_minor)(wn_domain *domain, const wn_allocation *allocation, void *context);
  void *(*alloc_major)(wn_domain *domain, const wn_allocation *allocation, void *context);
  /* The block moved to the major heap: takes the minor metadata, returns the major one, or NULL to
   * stop. */
  void *(*promote)(wn_domain *domain, void *minor, void *context);
  /* The block died. These and promote run on any thread of the domain that owns the block. */
  void (*dealloc_minor)(wn_domain *domain, void *minor, void *context);
  void (*dealloc_major)(wn_domain *domain, void *major, void *context);
  /* Optional: metadata that no other callback will see. Runs on any thread, inside discard and
   * close too, and must not call the profile's functions. */
  void (*drop)(void *metadata, void *context);
  void *context;
  /* Optional: the block changed its size and stays the same block (malloc heap only); takes the
   * metadata, returns the new one, or NULL to stop. Where it is NULL the metadata stays. */
  void *(*resize)(wn_domain *domain, void *major, const wn_allocation *allocation, void *context);
  /* Optional, the last call of a profile: it is discarded, no callback is running on any thread and
   * none will begin, so that `context` can be freed. Runs inside the discard, or on the thread
   * whose callback was the last to end. */
  void (*release)(void *context);
} wn_tracker;

/* Starts a profile on the domain's threads, present and future, and on the domains that it spawns
 * later. `options` and `tracker` are copied. WN_EINVAL: a NULL argument, or a rate that is not from
 * 0 to 1. WN_ESTATE: the domain's profile is sampling already. WN_ENOMEM. A failed start changes
 * nothing. Legal in a callback; a thread of the domain. */
WN_API wn_status wn_memprof_start(wn_domain *domain, const wn_memprof_options *options,
                                  const wn_tracker *tracker, wn_profile **profile);

/* Ends the sampling of the domain's profile in every thread and domain that shares it; tracked
 * blocks are followed on. Runs the calling thread's due callbacks first (not if called inside one).
 * When it has returned no alloc callback begins; those due on other threads are dropped. WN_ESTATE:
 * nothing is sampling. WN_EBUSY: a callback raised, take the exception first; the profile is still
 * sampling. */
WN_API wn_status wn_memprof_stop(wn_domain *domain);

/* Forgets the profile: no callback begins after it, and one that runs meanwhile on another thread
 * has its result dropped. WN_ESTATE while it is sampling, or a second time. Any thread; legal in a
 * callback. */
WN_API wn_status wn_memprof_discard(wn_profile *profile);

/* True if allocations of this domain are being sampled. */
WN_API bool wn_memprof_is_sampling(wn_domain *domain);

/* The domain takes part in a profile that another one started. WN_EINVAL: a profile of another
 * heap. WN_ESTATE: the domain is sampling already, or the profile is not. */
WN_API wn_status wn_memprof_join(wn_domain *domain, wn_profile *profile);

/* The domain takes part no more: its tracked blocks are followed on. The profile stops when its
 * last domain leaves or ends. WN_ESTATE: nothing is sampling. */
WN_API wn_status wn_memprof_leave(wn_domain *domain);

/* Runs this thread's and its domain's due callbacks now. Does nothing in a callback. WN_EBUSY: a
 * callback raised; the rest are still due. */
WN_API wn_status wn_memprof_drain(wn_domain *domain);

/* Inside a callback: leave it with an exception. The callback must still return; its block is
 * tracked no more, and the heap's raise hook gets the exception at the safepoint, unless the thread
 * ends before that (wn_thread_spawn). */
WN_API void wn_raise(wn_domain *domain, wn_ref exception);

/* Where no raise hook is set: the pending exception, which is then no longer pending, or a null
 * handle. */
WN_API wn_ref wn_take_exception(wn_domain *domain);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
