/* Reads the commit words. */
#include "trace/stamp.h"

#include "base/hash.h"
#include "base/os.h"
#include "trace/chunk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the first chunk says, unless that cannot be. */
static uint64_t capacity_of(int descriptor) {
  struct chunk_header first;
  bool sound = os_read_at(descriptor, &first, sizeof first, 0) == sizeof first &&
               first.capacity_log2 >= CHUNK_LOG2_LEAST && first.capacity_log2 <= CHUNK_LOG2_MOST;
  return (uint64_t)1 << (sound ? first.capacity_log2 : CHUNK_LOG2);
}

/* ---- shared ---- */

uint64_t trace_stamp(const char *path) {
  struct stat found;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return 0;
  uint64_t stamp = 1, commit;
  if (!fstat(descriptor, &found)) stamp = hash_combine(stamp, (uint64_t)found.st_size);
  uint64_t capacity = capacity_of(descriptor), at = offsetof(struct chunk_header, commit);
  for (; os_read_at(descriptor, &commit, sizeof commit, at) == sizeof commit; at += capacity)
    stamp = hash_combine(stamp, commit);
  close(descriptor);
  return stamp ? stamp : 1;
}
/* SPDX-License-Identifier: MIT */
