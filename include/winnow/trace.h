/* Traces of a collected heap, for `winnow report`: allocations, promotions, lives of blocks,
 * collections and pauses.
 *
 *   wn_trace *trace;
 *   if (wn_trace_if_requested(domain, &trace)) puts(wn_last_error());
 *   run(domain);
 *   if (trace) wn_trace_stop(domain, trace);
 *
 * A trace is a profile whose callbacks write a file, so a domain can have a trace or a profile of
 * its own, but not both. The domains that it spawns take part. Every trace has the collections and
 * pauses of the whole heap, whichever domains take part. Records are written at once: a program
 * that is killed loses only the record that each thread was writing. */
#ifndef WINNOW_TRACE_H
#define WINNOW_TRACE_H

#include <winnow/memprof.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wn_trace wn_trace;

/* Each of these functions may collect: it stops the other domains for a moment, and may wait for a
 * domain that collects. WN_ESTATE: the calling thread does not run in the domain. */

/* Starts a profile of the domain whose callbacks write to a new file at `path`, which only its user
 * can read. An existing file is overwritten only if it is a trace of the same user; symbolic links
 * are not followed. If `options` is NULL, the options are WN_MEMPROF_DEFAULTS, but with 512 frames.
 * WN_ESTATE: the domain is sampling already. WN_EINVAL: the rate is wrong, or the file is no trace,
 * belongs to another user, or is a link. WN_EIO: the file cannot be written. WN_ENOMEM. */
WN_API wn_status wn_trace_start(wn_domain *domain, const char *path, const wn_memprof_options *options,
                                wn_trace **trace);

/* The same if the environment variable WINNOW_TRACE names a file. WINNOW_RATE sets the rate
 * (default: 1e-4), WINNOW_DEPTH the largest number of frames and WINNOW_SEED the seed. If the
 * variable is not set, `*trace` is NULL and the result is WN_OK; so it is in set-user-ID programs,
 * which ignore the environment, and under `winnow record`, which asks for a trace of malloc's
 * heap. */
WN_API wn_status wn_trace_if_requested(wn_domain *domain, wn_trace **trace);

/* Ends a trace; called in a domain that takes part. The file is complete, and `trace` is freed,
 * when no callback runs any more. WN_EBUSY: a callback raised; the trace goes on. wn_heap_close
 * ends the traces of its heap. */
WN_API wn_status wn_trace_stop(wn_domain *domain, wn_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
