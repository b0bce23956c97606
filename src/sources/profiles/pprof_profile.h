/* Heap profiles for pprof as a source of totals: those of Go, of gperftools and jemalloc once pprof has
 * converted them, and what `winnow export --format pprof` writes. export/pprof.proto describes the
 * message.
 *
 * Of the types of values these are read: alloc_objects and alloc_space, what was allocated in all;
 * inuse_objects and inuse_space, or objects and space, what was held at one moment, which is put at the
 * end. Where the profiler sampled (a period above 1), the values are estimates that it has scaled. A
 * stack with bytes and no block, which is left when estimates are rounded, counts as one block. */
#pragma once

#include "sources/source.h"

/* Whether the first bytes, inflated, may be those of such a profile: it begins with a type of
 * values, or with that of its period, as Go's do. */
bool pprof_profile_begins(const unsigned char *bytes, size_t count);

/* Opens a profile. On failure wn_last_error says why. */
wn_status pprof_profile_open(const char *path, struct source **source);
/* SPDX-License-Identifier: MIT */
