/* What the collector tells while it runs: pauses, stops of the world, collections, the heap's size;
 * and metrics of these as Prometheus text.
 *
 *   static void hear(const wn_gc_event *event, void *context) {
 *     if (event->ns - event->began_ns > 5000000) atomic_fetch_add((_Atomic(long) *)context, 1);
 *   }
 *
 *   wn_gc_listener *listener;
 *   wn_gc_listen(domain, WN_GC_EVENT(WN_GC_PAUSE_ENDS), hear, &long_pauses, &listener);
 *   ...
 *   wn_gc_unlisten(domain, listener);
 *
 * A listener is told of the events of a whole heap. Where nobody listens, an event costs a load and
 * a branch, no clock is read, and allocation pays nothing.
 *
 * SPANS. What takes time is told twice: its begin, and its end, which has the time of the begin.
 * - A pause is a span of one domain, which stands still. The pauses of a domain do not overlap.
 * - A stop is a span of the heap: one domain, the leader, has stopped all others. Stops do not
 *   overlap.
 * - Each minor collection is inside a stop. The pause of its leader begins before that stop and
 *   ends after it; of the two begins, that of the stop is told first. Where wn_gc_set resizes minor
 *   heaps, that pause is inside the stop.
 * - A cycle of the major heap begins inside one minor collection and ends inside a later one. Its
 *   marking ends inside a minor collection, too.
 * A listener is not told of the pauses and the stops that began before it was added. Of a cycle
 * that was running then, it is told the end.
 *
 * CALLBACKS. A callback runs in the middle of an allocation or of a collection, on the thread to
 * which the event happens: the running thread of a domain, the leader, a thread that helps to
 * collect, or one that attaches or detaches a domain. Several threads may call it at once. The
 * calling thread can hold the heap's own locks, and all domains can be waiting for it.
 *   A callback may read its event, use atomics, allocate with malloc, write to a file, and take
 * locks that no thread holds while it calls a function of the heap. It should be quick. It must
 * return, so it must not leave by longjmp or by an exception. It must not call any function of the
 * heap, read or write blocks, or wait for a thread that may do so. The functions of this header
 * refuse to be called by a callback. errno is kept. */
#ifndef WINNOW_EVENTS_H
#define WINNOW_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <winnow/domain.h>
#include <winnow/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- events ---- */

/* Behind each kind: the members that it sets besides `size`, `kind` and `ns`. */
typedef enum wn_gc_event_kind {
  WN_GC_PAUSE_BEGINS = 1, /* domain, cause */
  WN_GC_PAUSE_ENDS,       /* domain, cause, began_ns */
  WN_GC_STOP_BEGINS,      /* domain, the leader's; cause, stopped_ns. Told when all stand still */
  WN_GC_STOP_ENDS,        /* domain, cause, began_ns, stopped_ns. All domains go on */
  WN_GC_MINOR_BEGINS,     /* domain, the leader's; cause, that of the stop */
  WN_GC_MINOR_ENDS,       /* domain, cause, began_ns */
  WN_GC_CYCLE_BEGINS,     /* domain, the leader's */
  WN_GC_CYCLE_ENDS,       /* domain, the leader's, often another one's; began_ns */
  WN_GC_MARKING_ENDS,     /* domain, the leader's. Sweeping begins */
  WN_GC_SLICE,            /* domain; words: marked or swept */
  WN_GC_HEAP_GROWS,       /* bytes: got from the system; mapped: all that the major heap has now */
  WN_GC_HEAP_SHRINKS,     /* bytes: given back to the system; mapped */
  WN_GC_COMPACTION,       /* domain, the leader's; began_ns; words: that were moved, with headers;
                             bytes: of empty memory, given back to the system; mapped */
  WN_GC_DOMAIN_BEGINS,    /* domain */
  WN_GC_DOMAIN_ENDS,      /* domain */
} wn_gc_event_kind;

/* A set of kinds has a bit for each: WN_GC_EVENT(WN_GC_SLICE) | WN_GC_EVENT(WN_GC_MINOR_ENDS). */
#define WN_GC_EVENT(kind) (UINT64_C(1) << (kind))
#define WN_GC_EVERY_EVENT (2 * WN_GC_EVENT(WN_GC_DOMAIN_ENDS) - WN_GC_EVENT(WN_GC_PAUSE_BEGINS))

typedef enum wn_gc_cause {
  WN_GC_CAUSE_NONE, /* the event has no cause */
  /* Why a domain stands still. */
  WN_GC_CAUSE_COLLECTION, /* it leads a collection */
  WN_GC_CAUSE_SLICE,      /* it marks or sweeps, or waits for helper threads that do */
  WN_GC_CAUSE_TOUCH,      /* it touches memory for the next collection */
  WN_GC_CAUSE_STOPPED,    /* another domain has stopped the world */
  /* Why the world is stopped. */
  WN_GC_CAUSE_MINOR_HEAP,     /* a minor heap is full, or the budget of all minor heaps */
  WN_GC_CAUSE_OLD_ALLOCATION, /* much was allocated in the major heap */
  WN_GC_CAUSE_EXTERNAL,       /* custom blocks have much memory outside the heap */
  WN_GC_CAUSE_NO_MEMORY,      /* an allocation found none */
  WN_GC_CAUSE_REQUEST,        /* the program asked for a collection */
  WN_GC_CAUSE_STRESS,         /* a parameter for tests asked for one */
  WN_GC_CAUSE_CYCLE,          /* a phase of a cycle that is to be completed may have ended */
  WN_GC_CAUSE_DOMAIN_ENDS,    /* its minor heap is emptied */
  WN_GC_CAUSE_PARAMETERS,     /* parameters change */
  WN_GC_CAUSE_STATISTICS,
  WN_GC_CAUSE_VERIFY,
  WN_GC_CAUSE_LISTENERS, /* a listener, a trace or metrics begin or end */
} wn_gc_cause;

/* A name such as "minor_heap"; "none" for WN_GC_CAUSE_NONE and for numbers that are no cause. A
 * constant string, valid for ever. Any thread. */
WN_API const char *wn_gc_cause_text(wn_gc_cause cause);

/* Valid until the callback returns. Members that a kind does not set are 0. Later versions may add
 * kinds, causes, and members at the end: `size` says which members there are. Times are of
 * CLOCK_MONOTONIC. */
typedef struct wn_gc_event {
  size_t size; /* of this struct, in bytes */
  wn_gc_event_kind kind;
  wn_gc_cause cause;
  uint64_t domain;     /* as wn_domain_number; UINT64_MAX: none */
  uint64_t ns;         /* when it happened; of a begin: when the span began, which may be before it is told */
  uint64_t began_ns;   /* of an end: when the span began; not after the `ns` of its begin */
  uint64_t stopped_ns; /* of a stop: when all domains stood still; `ns` or `began_ns` is when that began */
  uint64_t bytes, mapped;
  uint64_t words;
} wn_gc_event;

/* ---- listeners ---- */

/* The functions below must be called by the running thread of the domain. Each of them stops the
 * other domains for a moment, and so may collect. WN_ESTATE: the calling thread does not run in the
 * domain, or it is in a callback of a listener. */

typedef struct wn_gc_listener wn_gc_listener;

typedef void wn_gc_hear(const wn_gc_event *event, void *context);

/* Calls `hear` at each event of these kinds, from now on, in all domains of the heap. Several
 * listeners are called in the order in which they were added. WN_EINVAL: an argument is NULL, the
 * set is empty, or it has bits of no kind. WN_ENOMEM. */
WN_API wn_status wn_gc_listen(wn_domain *domain, uint64_t kinds, wn_gc_hear *hear, void *context,
                              wn_gc_listener **listener);

/* Removes a listener: after the return no call of its function runs on any thread, and none begins,
 * so `context` can be freed. Any domain of the heap may do this. wn_heap_close removes the
 * listeners that are left. WN_EINVAL: the heap has no such listener. */
WN_API wn_status wn_gc_unlisten(wn_domain *domain, wn_gc_listener *listener);

/* ---- metrics ---- */

/* Begins to count the heap's pauses, stops, minor collections and cycles, by their causes and in
 * steps of their lengths, from 10 us to 10 s. WN_ESTATE: that has begun already. WN_ENOMEM. */
WN_API wn_status wn_gc_metrics_begin(wn_domain *domain);

/* Writes what was counted, and the counters of wn_gc_quick_stat, in Prometheus' text format 0.0.4.
 * Each metric is described by its line HELP. Those whose names end in `_total` count since the heap
 * was opened, those of lengths since wn_gc_metrics_begin. All numbers are exact, and those of one
 * moment, at which the domains stand still; they go on while the text is written. They may have to
 * wait for the calling domain, so `out` should be fast, such as memory (open_memstream). A stop
 * counts when it has ended. WN_EINVAL: `out` is NULL. WN_ESTATE: counting has not begun. WN_EIO:
 * the file cannot be written. */
WN_API wn_status wn_gc_metrics(wn_domain *domain, FILE *out);

/* Ends the counting, and forgets the counts. So does wn_heap_close. WN_ESTATE: it has not begun. */
WN_API wn_status wn_gc_metrics_end(wn_domain *domain);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
