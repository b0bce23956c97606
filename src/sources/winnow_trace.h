/* Winnow's own traces as a source. */
#ifndef SOURCES_WINNOW_TRACE_H
#define SOURCES_WINNOW_TRACE_H

#include "sources/source.h"

/* Opens a trace. On failure wn_last_error says why. */
wn_status winnow_trace_open(const char *path, struct source **source);

#endif
/* SPDX-License-Identifier: MIT */
