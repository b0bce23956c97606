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

/* The callbacks of a profile. Each metadata pointer that a callback returns goes to exactly one
 * later callback: promote, resize, dealloc_minor, dealloc_major, or else drop. Every member may be
 * NULL: a block whose alloc or promote callback is NULL is no longer tracked. */
typedef struct wn_tracker {
  /* A sampled block was born, in the minor or in the major heap. Returns its metadata, or NULL to
   * stop tracking it. Runs on the allocating thread: at its next safepoint (wn_poll), before that
   * at the beginning of its next allocation that takes the slow path, as the next sampled one does,
   * or on its way into a blocking section. At most 65,536 births of a thread wait. */
  void *(*alloc_minor)(wn_domain *domain, const wn_allocation *allocation, void *context);
  void *(*alloc_major)(wn_domain *domain, const wn_allocation *allocation, void *context);
  /* The block moved to the major heap. Takes the metadata and returns the new metadata, or NULL to
   * stop tracking the block. */
  void *(*promote)(wn_domain *domain, void *minor, void *context);
  /* The block died, in the minor or in the major heap. These and promote run on any thread of the
   * domain that owns the block. */
  void (*dealloc_minor)(wn_domain *domain, void *minor, void *context);
  void (*dealloc_major)(wn_domain *domain, void *major, void *context);
  /* Optional: gets metadata that no other callback will get. Runs on any thread, also inside
   * discard and wn_heap_close, and must not call functions for the profile. */
  void (*drop)(void *metadata, void *context);
  void *context;
  /* Optional: the block changed its size and stays the same block. In a collected heap only memory
   * outside of custom blocks does, which shrinks (wn_custom_adjust), young or old; the callstack is
   * then that of its allocation. Takes the metadata and returns the new metadata, or NULL to stop
   * tracking the block. If this member is NULL, the block keeps its metadata. */
  void *(*resize)(wn_domain *domain, void *metadata, const wn_allocation *allocation, void *context);
  /* Optional, the last call for a profile: the profile is discarded, no callback is running on any
   * thread and none will begin, so `context` can be freed. Runs inside the discard, or on the
   * thread whose callback was the last to end. */
  void (*release)(void *context);
} wn_tracker;

/* Starts a profile of the domain's threads, present and future, and of the domains that it spawns
 * later. `options` and `tracker` are copied. WN_EINVAL: an argument is NULL, or the rate is not
 * from 0 to 1. WN_ESTATE: the domain is sampling already. WN_ENOMEM. A failed start changes
 * nothing. Called by a thread of the domain; legal in a callback. */
WN_API wn_status wn_memprof_start(wn_domain *domain, const wn_memprof_options *options,
                                  const wn_tracker *tracker, wn_profile **profile);

/* Stops the profile of the domain: no thread and no domain that takes part is sampled any more, and
 * tracked blocks are still followed. First runs the calling thread's pending callbacks (not if
 * called inside one). After the return no alloc callback begins; those pending on other threads are
 * dropped. WN_ESTATE: the domain is not sampling. WN_EBUSY: a callback raised, and the profile is
 * still sampling; take the exception first. */
WN_API wn_status wn_memprof_stop(wn_domain *domain);

/* Discards a stopped profile: no callback begins after the call, and the result of a callback that
 * runs meanwhile on another thread is dropped. WN_ESTATE: the profile is sampling, or was discarded
 * before. Any thread; legal in a callback. */
WN_API wn_status wn_memprof_discard(wn_profile *profile);

/* True if allocations of this domain are being sampled. */
WN_API bool wn_memprof_is_sampling(wn_domain *domain);

/* The domain takes part in a profile that another domain started. WN_EINVAL: the profile is of
 * another heap. WN_ESTATE: the domain is sampling already, or the profile is not sampling. */
WN_API wn_status wn_memprof_join(wn_domain *domain, wn_profile *profile);

/* The domain no longer takes part in its profile; its tracked blocks are still followed. The
 * profile stops when its last domain leaves or ends. WN_ESTATE: the domain is not sampling. */
WN_API wn_status wn_memprof_leave(wn_domain *domain);

/* Runs the pending callbacks of this thread and its domain now. Does nothing in a callback.
 * WN_EBUSY: a callback raised; the other callbacks are still pending. */
WN_API wn_status wn_memprof_drain(wn_domain *domain);

/* Called by a callback to raise an exception. The callback must still return. Its block is then no
 * longer tracked, and the heap's raise hook gets the exception at the safepoint, unless the thread
 * ends before that (wn_thread_spawn). */
WN_API void wn_raise(wn_domain *domain, wn_ref exception);

/* For heaps without a raise hook: takes the pending exception, or returns a null handle if there is
 * none. */
WN_API wn_ref wn_take_exception(wn_domain *domain);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
