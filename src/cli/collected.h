/* Whether a program has a garbage-collected heap of its own. */
#ifndef CLI_COLLECTED_H
#define CLI_COLLECTED_H

#include <stddef.h>

enum collected {
  COLLECTED_NONE,   /* none that could be seen */
  COLLECTED_SILENT, /* it has one, and no call that would write a trace of it */
  COLLECTED_ASKS    /* it has one, and may ask WINNOW_TRACE for a trace of it */
};

/* What the symbols of a program's or library's file say. A file with another build-id than this one
 * (of no bytes: not known) is another file. */
enum collected collected_in_file(const char *path, const unsigned char *build_id, size_t build_id_bytes);

#endif
/* SPDX-License-Identifier: MIT */
