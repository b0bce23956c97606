/* How the bound of a trace that must not grow beyond it (`winnow record --max-trace`) is divided.
 *
 * The trace takes at most this much disk space with its history (Histories in
 * docs/trace-format.md), while a new history is written too: a history takes up to 3/8 of the
 * bound, the trace 2/8. The trace is due for compaction when it takes 1/8. */
#ifndef TRACE_BOUND_H
#define TRACE_BOUND_H

#include "base/check.h"
#include <stdint.h>

static inline uint64_t trace_bound_history_most(uint64_t max_bytes) { return max_bytes / 8 * 3; }
static inline uint64_t trace_bound_trace_most(uint64_t max_bytes) { return max_bytes / 4; }
static inline uint64_t trace_bound_trace_due(uint64_t max_bytes) { return max_bytes / 8; }

/* The least bound: 15 chunks of trace, and 61 in the tiny build. */
#define TRACE_BOUND_LEAST ((uint64_t)(TINY ? 1 : 4) * 1000 * 1000)

#endif
/* SPDX-License-Identifier: MIT */
