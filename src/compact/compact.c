/* Keeps a trace below a bound. */
#include "compact/compact.h"

#include "base/check.h"
#include "base/error.h"
#include <sys/stat.h>

/* ---- shared ---- */

bool compact_is_due(const char *path, uint64_t max_bytes) {
  struct stat found;
  return !stat(path, &found) && (uint64_t)found.st_blocks * 512 >= compact_trace_due(max_bytes);
}

wn_status compact_trace(const char *path, uint64_t max_bytes, struct compact_result *result) {
  (void)max_bytes;
  *result = (struct compact_result){0};
  return error_set(WN_EINVAL, "%s: not yet", path);
}
/* SPDX-License-Identifier: MIT */
