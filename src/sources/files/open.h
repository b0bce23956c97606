/* Opens a file as a source, by the format that its first bytes show. */
#pragma once

#include "sources/source.h"

/* Opens a file of any known format. Sets wn_last_error on failure. */
wn_status source_open(const char *path, struct source **source);

/* Whether a file begins like a trace of Memtrace, which memtrace/reader.h reads as it was written. */
bool source_is_memtrace(const char *path);

/* Whether a file begins like a trace, of Winnow or Memtrace: not like a profile. */
bool source_is_trace(const char *path);

/* Whether a file begins like a snapshot of a collected heap: heap_snapshot.h of `profiles`. */
bool source_is_snapshot(const char *path);

/* A number that changes whenever a program adds events to the file. It is cheap: nothing is decoded.
 * 0: the file cannot be read. */
uint64_t source_stamp(const char *path);
/* SPDX-License-Identifier: MIT */
