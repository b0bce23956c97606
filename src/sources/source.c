/* Chooses the format of a file by its first bytes. */
#include "sources/source.h"

#include "base/hash.h"
#include "sources/memtrace_trace.h"
#include "sources/winnow_trace.h"
#include "trace/chunk.h"
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

/* Returns the number of bytes; 0 of what is no file that can be read. */
static size_t read_first(const char *path, unsigned char bytes[FIRST_BYTES]) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return 0;
  ssize_t count = pread(descriptor, bytes, FIRST_BYTES, 0);
  close(descriptor);
  return count > 0 ? (size_t)count : 0;
}

/* ---- shared ---- */

/* What is no file that can be read is left to Winnow's own reader, which says why. */
bool source_is_memtrace(const char *path) {
  unsigned char bytes[FIRST_BYTES];
  size_t count = read_first(path, bytes);
  return count && memtrace_trace_begins(bytes, count);
}

bool source_begins(const char *path) {
  unsigned char bytes[FIRST_BYTES];
  size_t count = read_first(path, bytes);
  return count == FIRST_BYTES &&
         (!memcmp(bytes, chunk_magic, FIRST_BYTES) || memtrace_trace_begins(bytes, count));
}

wn_status source_open(const char *path, struct source **source) {
  return source_is_memtrace(path) ? memtrace_trace_open(path, source) : winnow_trace_open(path, source);
}

uint64_t source_stamp(const char *path) {
  return source_is_memtrace(path) ? stamp_of_size_and_time(path) : trace_stamp(path);
}
/* SPDX-License-Identifier: MIT */
