/* Bounds memory by the soft limit of the process's data. */
#include "sources/memory_bound.h"

#include "base/error.h"
#include "base/os.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static uint64_t chosen; /* by the user; 0: none */

static struct {
  unsigned depth; /* of bounds within bounds */
  bool holds;
  uint64_t bytes;
  struct rlimit before;
} bound;

/* The data that the process has, as RLIMIT_DATA counts it: the sixth number, in pages. */
static bool data_now(uint64_t *bytes) {
  char text[256];
  uint64_t numbers[6];
  if (os_read_file("/proc/self/statm", text, sizeof text) <= 0) return false;
  os_numbers(text, numbers, 6);
  *bytes = numbers[5] * os_page_bytes();
  return numbers[5];
}

static uint64_t bytes_for(uint64_t file_bytes) {
  if (chosen) return chosen;
  uint64_t most = (UINT64_MAX / 4 - MEMORY_BOUND_BYTES) / MEMORY_BOUND_FACTOR;
  return MEMORY_BOUND_BYTES + MEMORY_BOUND_FACTOR * (file_bytes < most ? file_bytes : most);
}

/* ---- shared ---- */

void memory_bound_set(uint64_t bytes) { chosen = bytes; }

void memory_bound_begin(uint64_t file_bytes) {
  uint64_t now;
  if (bound.depth++) return;
  bound.bytes = bytes_for(file_bytes);
  bound.holds = !getrlimit(RLIMIT_DATA, &bound.before) && data_now(&now) &&
                now + bound.bytes < bound.before.rlim_cur &&
                !setrlimit(RLIMIT_DATA, &(struct rlimit){now + bound.bytes, bound.before.rlim_max});
}

wn_status memory_bound_end(wn_status status) {
  if (--bound.depth || !bound.holds) return status;
  bound.holds = false;
  setrlimit(RLIMIT_DATA, &bound.before);
  if (status != WN_ENOMEM) return status;
  char why[160];
  snprintf(why, sizeof why, "%s", error_text());
  return error_set(status, "%s in %llu MB; --max-memory BYTES allows more", why,
                   (unsigned long long)(bound.bytes / 1000000));
}

uint64_t memory_bound_file_bytes(const char *path) {
  struct stat found;
  return stat(path, &found) || !S_ISREG(found.st_mode) ? 0 : (uint64_t)found.st_size;
}
/* SPDX-License-Identifier: MIT */
