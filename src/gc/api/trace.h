/* Traces of a heap, which record births and deaths, collections, pauses and domains. */
#ifndef GC_API_TRACE_H
#define GC_API_TRACE_H

struct wn_heap;

/* Ends the traces of a heap that is being closed. No domain is left. */
void trace_close_all(struct wn_heap *heap);

/* In the child of a fork: leaves the traces to the parent, and stops their profiles. */
void trace_forget_all(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
