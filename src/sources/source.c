/* Chooses the format of a file. There is one format so far. */
#include "sources/source.h"

#include "sources/winnow_trace.h"

wn_status source_open(const char *path, struct source **source) { return winnow_trace_open(path, source); }
/* SPDX-License-Identifier: MIT */
