/* Chooses the format of a file by its first bytes. */
#include "sources/source.h"

#include "base/hash.h"
#include "sources/memtrace_trace.h"
#include "sources/winnow_trace.h"
#include "trace/stamp.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 8 };

static uint64_t stamp_of_size_and_time(const char *path) {
  struct stat found;
  if (stat(path, &found)) return 0;
  uint64_t stamp = hash_combine((uint64_t)found.st_size, (uint64_t)found.st_mtim.tv_sec);
  stamp = hash_combine(stamp, (uint64_t)found.st_mtim.tv_nsec);
  return stamp ? stamp : 1;
}

/* ---- shared ---- */

/* What is no file that can be read is left to Winnow's own reader, which says why. */
bool source_is_memtrace(const char *path) {
  unsigned char bytes[FIRST_BYTES];
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return false;
  ssize_t count = pread(descriptor, bytes, sizeof bytes, 0);
  close(descriptor);
  return count > 0 && memtrace_trace_begins(bytes, (size_t)count);
}

wn_status source_open(const char *path, struct source **source) {
  return source_is_memtrace(path) ? memtrace_trace_open(path, source) : winnow_trace_open(path, source);
}

uint64_t source_stamp(const char *path) {
  return source_is_memtrace(path) ? stamp_of_size_and_time(path) : trace_stamp(path);
}
/* SPDX-License-Identifier: MIT */
