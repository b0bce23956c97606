/* What is to be said of a trace of which nothing can be read. */
#ifndef TRACE_REMAINS_H
#define TRACE_REMAINS_H

#include <stdint.h>
#include <winnow/status.h>

/* Of a file that has a chunk's magic, but no whole chunk with a record. Sets wn_last_error; returns
 * WN_EFORMAT, or WN_ENOMEM. */
wn_status remains_explain(int descriptor, const char *path, uint64_t size);

#endif
/* SPDX-License-Identifier: MIT */
