/* Reads the commit words. */
#include "trace/stamp.h"

#include "base/hash.h"
#include "base/open_file.h"
#include "base/os.h"
#include "trace/chunk.h"
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the first chunk says, unless that cannot be. */
static uint64_t stamp_capacity_of(int descriptor) {
  struct chunk_header first;
  bool sound = os_read_at(descriptor, &first, sizeof first, 0) == sizeof first &&
               first.capacity_log2 >= CHUNK_LOG2_LEAST && first.capacity_log2 <= CHUNK_LOG2_MOST;
  return (uint64_t)1 << (sound ? first.capacity_log2 : CHUNK_LOG2);
}

/* The first chunk from *at on that is not a hole. False behind the last. */
static bool stamp_next_chunk(int descriptor, uint64_t capacity, uint64_t *at) {
  off_t data = lseek(descriptor, (off_t)*at, SEEK_DATA);
  if (data < 0) return errno != ENXIO;
  *at = (uint64_t)data / capacity * capacity;
  return true;
}

/* ---- shared ---- */

uint64_t trace_stamp(const char *path) {
  struct stat found;
  int descriptor = open_file(path);
  if (descriptor < 0) return 0;
  uint64_t stamp = 1, commit, capacity = stamp_capacity_of(descriptor);
  bool is_file = !fstat(descriptor, &found) && S_ISREG(found.st_mode);
  if (is_file) stamp = hash_combine(stamp, (uint64_t)found.st_size);
  for (uint64_t at = 0; is_file && stamp_next_chunk(descriptor, capacity, &at); at += capacity) {
    if (os_read_at(descriptor, &commit, sizeof commit, at + offsetof(struct chunk_header, commit)) <
        sizeof commit)
      break;
    stamp = hash_combine(hash_combine(stamp, at), commit);
  }
  close(descriptor);
  return stamp ? stamp : 1;
}
/* SPDX-License-Identifier: MIT */
