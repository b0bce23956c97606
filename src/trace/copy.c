/* Copies a trace chunk by chunk. */
#include "trace/copy.h"

#include "base/error.h"
#include "base/os.h"
#include "trace/chunk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t copy_capacity_of(int from) {
  struct chunk_header header;
  if (os_read_at(from, &header, sizeof header, 0) < sizeof header ||
      memcmp(header.magic, chunk_magic, sizeof chunk_magic) != 0 || header.capacity_log2 < CHUNK_LOG2_LEAST ||
      header.capacity_log2 > CHUNK_LOG2_MOST)
    return CHUNK_BYTES;
  return (size_t)1 << header.capacity_log2;
}

/* Returns how many chunks were copied; -1: the file could not be written. */
static long copy_chunks(int from, int to, unsigned char *chunk, size_t capacity) {
  long copied = 0;
  size_t count = capacity;
  for (uint64_t offset = 0; count; offset += capacity) {
    uint32_t used = 0;
    count = capacity;
    enum chunk_state state = chunk_read(from, chunk, offset, &count, &used);
    size_t whole = state == CHUNK_WHOLE ? CHUNK_HEADER_BYTES + used : state == CHUNK_UNUSED ? 0 : count;
    if (whole && !os_write_at(to, chunk, whole, offset)) return -1;
    copied += state == CHUNK_WHOLE;
  }
  return copied;
}

/* ---- shared ---- */

wn_status trace_copy(const char *path, int descriptor) {
  int from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (from < 0) return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
  size_t capacity = copy_capacity_of(from);
  unsigned char *chunk = malloc(capacity);
  long copied = chunk ? copy_chunks(from, descriptor, chunk, capacity) : 0;
  int why = errno;
  close(from);
  free(chunk);
  if (!chunk) return error_set(WN_ENOMEM, "not enough memory to copy %s", path);
  if (copied < 0) return error_set(WN_EIO, "cannot write the copy of %s: %s", path, strerror(why));
  return copied ? WN_OK : error_set(WN_EFORMAT, "%s has no whole record of a trace", path);
}
/* SPDX-License-Identifier: MIT */
