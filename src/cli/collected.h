/* Tells whether a program has a garbage-collected heap of its own. */
#ifndef CLI_COLLECTED_H
#define CLI_COLLECTED_H

#include <stddef.h>

enum collected {
  COLLECTED_NONE,   /* no sign of one was found */
  COLLECTED_SILENT, /* it has one, but never calls wn_trace_if_requested */
  COLLECTED_ASKS    /* it has one, and writes a trace of it if WINNOW_TRACE is set */
};

/* Judges by the symbols of a program's or library's file. A file with another build-id than the
 * given one is treated as having no heap. 0 bytes: the build-id is not known. */
enum collected collected_in_file(const char *path, const unsigned char *build_id, size_t build_id_bytes);

#endif
/* SPDX-License-Identifier: MIT */
