/* Winnow's own traces as a source. */
#pragma once

#include "sources/source.h"

/* Whether a file begins like a trace. Zeros do: such a trace was cut before its header was written,
 * and the reader says so. */
bool winnow_trace_begins(const unsigned char *bytes, size_t count);

/* Opens a trace. On failure wn_last_error says why. */
wn_status winnow_trace_open(const char *path, struct source **source);
/* SPDX-License-Identifier: MIT */
