/* The formats of other heap profilers, and heap snapshots, as sources. Of each: whether a file that
 * begins with these bytes, inflated, is one, or may be one; and opens a file. On failure wn_last_error
 * says why. */
#pragma once

#include "sources/source.h"

bool dhat_profile_begins(const unsigned char *bytes, size_t count);
wn_status dhat_profile_open(const char *path, struct source **source);

bool heap_snapshot_begins(const unsigned char *bytes, size_t count);
wn_status heap_snapshot_open(const char *path, struct source **source);

/* After all of the file was read once and checked; a message has the number of the line. */
bool heaptrack_trace_begins(const unsigned char *bytes, size_t count);
wn_status heaptrack_trace_open(const char *path, struct source **source);

/* Such a profile begins with a type of values, or with that of its period, as Go's do. */
bool pprof_profile_begins(const unsigned char *bytes, size_t count);
wn_status pprof_profile_open(const char *path, struct source **source);
/* SPDX-License-Identifier: MIT */
