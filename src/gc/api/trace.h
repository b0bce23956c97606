/* Traces of a heap, which record births and deaths, collections, pauses and domains. */
#ifndef GC_API_TRACE_H
#define GC_API_TRACE_H

#include <winnow/profile.h>

struct wn_heap;

/* The path of the trace that began last, and its profile. NULL: the heap has none. The world is
 * stopped. */
const char *trace_last(const struct wn_heap *heap, const wn_profile **profile);

/* Ends the traces of a heap that is being closed. No domain is left. */
void trace_close_all(struct wn_heap *heap);

/* In the child of a fork: leaves the traces to the parent, and stops their profiles. */
void trace_forget_all(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
