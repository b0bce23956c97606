/* Chooses the format of a file. There is one format so far. */
#include "sources/source.h"

#include "sources/winnow_trace.h"
#include "trace/stamp.h"

wn_status source_open(const char *path, struct source **source) { return winnow_trace_open(path, source); }
uint64_t source_stamp(const char *path) { return trace_stamp(path); }
/* SPDX-License-Identifier: MIT */
