/* Traces of a collected heap, for `winnow report`: what allocates, what is promoted and how long it
 * lives, collections and pauses.
 *
 *   wn_trace *trace;
 *   if (wn_trace_if_requested(domain, &trace)) puts(wn_last_error());
 *   run(domain);
 *   if (trace) wn_trace_stop(domain, trace);
 *
 * A trace is a profile whose callbacks write a file, so a domain has either a trace or a profile of
 * its own; the domains that it spawns take part. How the heap lives stands in every trace,
 * whichever domains take part. All is written at once: a program that is killed, at any moment,
 * loses the record that it was writing. */
#ifndef WINNOW_TRACE_H
#define WINNOW_TRACE_H

#include <winnow/memprof.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wn_trace wn_trace;

/* Each stops the other domains for a moment, and may wait for one that collects: as at any
 * safepoint, values that no handle holds may be gone then. WN_ESTATE: the calling thread does not
 * run in the domain. */

/* Starts a profile of the domain whose callbacks write to a new file at `path`, which its user
 * alone may read; one that is a trace of the same user's already is overwritten, and no symbolic
 * link is followed. `options` may be NULL: the defaults of wn_memprof_options, and 512 frames.
 * WN_ESTATE: the domain is sampling already. WN_EINVAL: a wrong rate, or a file that is no trace,
 * another user's, or a link. WN_EIO: the file cannot be written. WN_ENOMEM. */
WN_API wn_status wn_trace_start(wn_domain *domain, const char *path, const wn_memprof_options *options,
                                wn_trace **trace);

/* The same if the environment variable WINNOW_TRACE names a file, at the rate of WINNOW_RATE
 * (1e-4); else `*trace` is NULL and all is well. WINNOW_DEPTH and WINNOW_SEED set the most frames
 * and the seed. Set-user-ID programs do not look there; under `winnow record` the request is for
 * malloc's heap, and `*trace` is NULL. */
WN_API wn_status wn_trace_if_requested(wn_domain *domain, wn_trace **trace);

/* Ends a trace; called in a domain that takes part. The file is complete, and `trace` is gone, once
 * no callback runs any more. WN_EBUSY: a callback raised; the trace goes on. A heap that is closed
 * ends its traces itself. */
WN_API wn_status wn_trace_stop(wn_domain *domain, wn_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
