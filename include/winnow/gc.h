/* The collector: statistics, parameters, collections, finalisers and alarms.
 *
 *   wn_gc_stat stat;
 *   wn_gc_quick_stat(domain, &stat);
 *   printf("%ld collections, heap of %ld words\n", stat.minor_collections, stat.heap_words);
 *
 * All sizes are in words of 8 bytes. A function that takes a domain must be called by the running
 * thread of that domain; it refuses other callers, with WN_ESTATE, 0 or a null handle. */
#ifndef WINNOW_GC_H
#define WINNOW_GC_H

#include <stdio.h>
#include <winnow/gc_control.h>
#include <winnow/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* minor_words + major_words - promoted_words is what the program allocated. */
typedef struct wn_gc_stat {
  double minor_words;    /* allocated in minor heaps, headers included */
  double promoted_words; /* moved from minor heaps to the major heap */
  double major_words;    /* allocated in the major heap, promoted ones included */
  long minor_collections;
  long major_collections; /* completed cycles */
  long heap_words;        /* the major heap's size */
  long heap_chunks;       /* pieces that it was got in */
  long live_words;        /* not yet known dead, headers included */
  long live_blocks;
  long free_words;
  long free_blocks;  /* runs of free words */
  long largest_free; /* words of the largest */
  long fragments;    /* words that no allocation can use */
  long compactions;
  long top_heap_words; /* the most that heap_words was */
  long stack_size;     /* handle slots in use */
  long forced_major_collections;
  long limit_words; /* the limit in force of heap_words (soft_limit_bytes of heap.h); 0: none */
} wn_gc_stat;

/* Sets all members, by a walk of the heap while all domains stand still. Never collects, runs no
 * user code. */
WN_API wn_status wn_gc_read_stat(wn_domain *domain, wn_gc_stat *stat);

/* The same without a walk: live_words, live_blocks, free_words, free_blocks, largest_free and
 * fragments are 0. All other members are exact, over all domains, those that ended included. */
WN_API wn_status wn_gc_quick_stat(wn_domain *domain, wn_gc_stat *stat);

/* Exact numbers for this domain. These functions never allocate or collect. */
WN_API void wn_gc_counters(wn_domain *domain, double *minor, double *promoted, double *major);
WN_API double wn_gc_minor_words(wn_domain *domain);
WN_API double wn_gc_allocated_bytes(wn_domain *domain);
WN_API long wn_gc_get_minor_free(wn_domain *domain); /* words */

/* Reads the heap's parameters as they are now. A size that wn_gc_set_domain_minor_heap gave one
 * domain is not among them. Never collects. WN_EINVAL: `control` is NULL. */
WN_API wn_status wn_gc_get(wn_domain *domain, wn_gc_control *control);
/* Sets the heap's parameters, after it has checked all of them. A changed minor_heap_size applies
 * to all domains, present and future. WN_EINVAL: a parameter is out of range; wn_last_error names
 * it. WN_ENOMEM: there is no memory for minor heaps of that size. A failure changes nothing. May
 * collect. */
WN_API wn_status wn_gc_set(wn_domain *domain, const wn_gc_control *control);
/* Sets the size of this domain's minor heap, until wn_gc_set changes the size for all domains.
 * WN_EINVAL, WN_ENOMEM as above. May collect. */
WN_API wn_status wn_gc_set_domain_minor_heap(wn_domain *domain, long words);

/* The following functions collect, and run pending finalisers and alarms. WN_EBUSY: one of these
 * raised. WN_ENOMEM. */

/* Empties the minor heaps of all domains. */
WN_API wn_status wn_gc_minor(wn_domain *domain);
/* Does a minor collection, then `words` words of marking and sweeping; if no cycle runs, one
 * begins. If `words` is 0 or below, it does as many as the collector computes, which is none
 * between cycles. Returns the computed number. */
WN_API long wn_gc_major_slice(wn_domain *domain, long words);
/* Finishes the current cycle. */
WN_API wn_status wn_gc_major(wn_domain *domain);
/* Collects everything that is unreachable now, except values with `finalise` and what they lead to:
 * their finalisers run, and the next call collects what is unreachable then. */
WN_API wn_status wn_gc_full_major(wn_domain *domain);
/* A full major collection, and a compaction: blocks of the major heap are moved together, and the
 * memory between them goes back to the operating system. Pinned blocks (wn_pin) stay where they
 * are, and so do those of 131,072 words and more, whose memory is their own. All domains stand still
 * meanwhile. If there is no memory for a plan, nothing is moved. If a callback of the collection
 * raises, there is no compaction. A compaction can also come by itself: see max_overhead. */
WN_API wn_status wn_gc_compact(wn_domain *domain);

/* Prints the statistics, one a line. */
WN_API wn_status wn_gc_print_stat(wn_domain *domain, FILE *out);

/* Checks every invariant of the heap, while all domains stand still; complaints go to `report` (may
 * be NULL). WN_EFORMAT if there are any. */
WN_API wn_status wn_gc_verify(wn_domain *domain, FILE *report);

/* A block as wn_gc_walk finds it. */
typedef struct wn_gc_block {
  wn_value value;
  size_t words; /* without the header */
  unsigned tag;
  const wn_custom_ops *ops; /* of a custom block, else NULL */
  size_t outside;           /* bytes that a custom block keeps outside the heap */
} wn_gc_block;

/* Reads the block, which is valid during the call. Unless the block is weak or custom, it may read
 * the fields or bytes, and the blocks that these lead to. It must call no function of the heap but
 * those that read fields, and must return. */
typedef void wn_gc_visit(const wn_gc_block *block, void *context);

/* Calls `visit` once for each block of the heap that is not known to be dead: after
 * wn_gc_full_major, for what is reachable. All domains stand still meanwhile, after a minor
 * collection. May collect; runs no finaliser. WN_EINVAL: `visit` is NULL. WN_ESTATE: called in a
 * hook. */
WN_API wn_status wn_gc_walk(wn_domain *domain, wn_gc_visit *visit, void *context);

/* ---- finalisers ---- */

/* Called with the value that has become unreachable for the first time; may make it reachable
 * again. */
typedef void wn_finaliser(wn_domain *domain, wn_ref value, void *context);
/* WN_EINVAL: `value` is an integer. WN_ENOMEM. */
WN_API wn_status wn_gc_finalise(wn_domain *domain, wn_finaliser *f, void *context, wn_ref value);

/* Called once the value is gone for good. */
typedef void wn_last_finaliser(wn_domain *domain, void *context);
WN_API wn_status wn_gc_finalise_last(wn_domain *domain, wn_last_finaliser *f, void *context, wn_ref value);

/* The same with a value of the language in place of the pointer, such as a closure, or an integer.
 * The heap keeps the closure alive, and updates it, until it was called. If the closure leads to
 * the value, a finaliser never runs, and neither goes. WN_EINVAL: a handle is null, or the value is
 * an integer. */
typedef void wn_finaliser_with(wn_domain *domain, wn_ref value, wn_ref closure);
WN_API wn_status wn_gc_finalise_with(wn_domain *domain, wn_finaliser_with *f, wn_ref closure, wn_ref value);
typedef void wn_last_finaliser_with(wn_domain *domain, wn_ref closure);
WN_API wn_status wn_gc_finalise_last_with(wn_domain *domain, wn_last_finaliser_with *f, wn_ref closure,
                                          wn_ref value);

/* Called by a finaliser: the next finaliser may start before this one returns. */
WN_API void wn_gc_finalise_release(wn_domain *domain);

/* ---- alarms ---- */

typedef struct wn_gc_alarm wn_gc_alarm;
/* Calls `f` on this domain at the end of every completed cycle. WN_ENOMEM. */
WN_API wn_status wn_gc_create_alarm(wn_domain *domain, void (*f)(wn_domain *, void *), void *context,
                                    wn_gc_alarm **alarm);
/* Deletes an alarm: after the return, no call of its function begins. NULL, and an alarm that was
 * deleted before, are ignored. Legal in the alarm itself. */
WN_API void wn_gc_delete_alarm(wn_domain *domain, wn_gc_alarm *alarm);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
