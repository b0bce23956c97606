/* Traces of Memtrace, the allocation profiler of OCaml, as a source.
 *
 * Such a trace has samples, promotions and deaths of blocks, and the callstacks of the samples with
 * names, files and lines. It tells nothing of the collections, of the heap's size, and of how the
 * program ended. Each domain is a thread. Time is the wall clock's. */
#pragma once

#include "sources/source.h"

/* Whether a file begins like a trace of Memtrace. */
bool memtrace_trace_begins(const unsigned char *bytes, size_t count);

/* Whether it begins like one of a big-endian machine, which is not read. */
bool memtrace_trace_begins_big(const unsigned char *bytes, size_t count);

/* Opens a trace. On failure wn_last_error says why. */
wn_status memtrace_trace_open(const char *path, struct source **source);
/* SPDX-License-Identifier: MIT */
