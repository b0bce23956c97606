/* Copies chunks into a file in memory. */
#include "compact/excerpt.h"

#include "base/array.h"
#include "base/os.h"
#include "trace/chunk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many chunks are copied behind those that are taken over. */
enum { CHUNKS_BEHIND = 256 };

struct copying {
  struct excerpt *excerpt;
  int from;
  uint64_t capacity;
  bool closed;
  unsigned char *chunk; /* room for one */
  uint64_t *sealed;     /* those that were, in ascending order */
  size_t sealed_count, sealed_capacity;
};

static uint64_t size_of(int descriptor) {
  struct stat found;
  return fstat(descriptor, &found) ? 0 : (uint64_t)found.st_size;
}

/* The first chunk from here on that is not within a hole. */
static uint64_t behind_hole(const struct copying *copying, uint64_t number) {
  off_t data = lseek(copying->from, (off_t)(number * copying->capacity), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? UINT64_MAX / copying->capacity : number;
  uint64_t found = (uint64_t)data / copying->capacity;
  return found > number ? found : number;
}

/* *whole: it was copied; *sealed: as it will always be. */
static bool copy(struct copying *copying, uint64_t number, bool *whole, bool *sealed) {
  uint64_t offset = number * copying->capacity, until;
  size_t count = copying->capacity;
  uint32_t used = 0;
  *sealed = false;
  *whole = chunk_read(copying->from, copying->chunk, offset, &count, &used) == CHUNK_WHOLE;
  if (!*whole) return true;
  *sealed = copying->closed || chunk_is_sealed(copying->chunk, used, &until);
  return os_write_at(copying->excerpt->descriptor, copying->chunk, CHUNK_HEADER_BYTES + used, offset);
}

/* Copies chunks until there are `most` that can be taken over, and CHUNKS_BEHIND others. Returns
 * where it stopped; UINT64_MAX without memory. */
static uint64_t first_pass(struct copying *copying, size_t most) {
  struct excerpt *excerpt = copying->excerpt;
  uint64_t number = 0;
  size_t behind = 0;
  for (; (number = behind_hole(copying, number)) * copying->capacity < size_of(copying->from); number++) {
    bool whole, sealed, done = copy(copying, number, &whole, &sealed);
    bool takes = sealed && excerpt->chunk_count < most;
    if (takes) done &= ARRAY_ADD(excerpt->chunks, excerpt->chunk_count, excerpt->chunk_capacity, number);
    if (sealed) done &= ARRAY_ADD(copying->sealed, copying->sealed_count, copying->sealed_capacity, number);
    if (!done) return UINT64_MAX;
    excerpt->all &= takes || !sealed;
    if (excerpt->chunk_count == most && ++behind == CHUNKS_BEHIND) break;
  }
  return number;
}

/* Copies what was not sealed, or a hole, or is behind `end`. */
static bool second_pass(struct copying *copying, uint64_t end) {
  bool whole, sealed, done = true;
  uint64_t now = size_of(copying->from) / copying->capacity + 1;
  size_t next = 0;
  if (now > end + CHUNKS_BEHIND) now = end + CHUNKS_BEHIND;
  for (uint64_t number = 0; done && (number = behind_hole(copying, number)) < now; number++) {
    while (next < copying->sealed_count && copying->sealed[next] < number) next++;
    if (next == copying->sealed_count || copying->sealed[next] != number)
      done = copy(copying, number, &whole, &sealed);
  }
  return done;
}

/* ---- shared ---- */

bool excerpt_make(struct excerpt *excerpt, int descriptor, uint64_t capacity, bool closed,
                  uint64_t most_bytes) {
  struct copying copying = {.excerpt = excerpt,
                            .from = descriptor,
                            .capacity = capacity,
                            .closed = closed,
                            .chunk = malloc(capacity)};
  *excerpt = (struct excerpt){.descriptor = memfd_create("winnow-compact", MFD_CLOEXEC), .all = true};
  snprintf(excerpt->path, sizeof excerpt->path, "/proc/self/fd/%d", excerpt->descriptor);
  bool done = copying.chunk && excerpt->descriptor >= 0;
  uint64_t end = done ? first_pass(&copying, (size_t)(most_bytes / capacity) + 1) : UINT64_MAX;
  done = done && end != UINT64_MAX && second_pass(&copying, end);
  free(copying.chunk);
  free(copying.sealed);
  return done;
}

void excerpt_destroy(struct excerpt *excerpt) {
  if (excerpt->descriptor >= 0) close(excerpt->descriptor);
  free(excerpt->chunks);
}
/* SPDX-License-Identifier: MIT */
