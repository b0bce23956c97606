/* Finds chunks, and copies them into a file in memory. */
#include "compact/excerpt.h"

#include "base/array.h"
#include "base/os.h"
#include "trace/chunk.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* So many chunks behind those that are taken over are read too. */
enum { CHUNKS_BEHIND = 256 };

struct finding {
  const struct excerpt_of *of;
  struct excerpt *excerpt;
  unsigned char *chunk; /* room for one */
};

/* The first chunk from here on that is not within a hole. */
static uint64_t behind_hole(const struct excerpt_of *of, uint64_t number) {
  off_t data = lseek(of->descriptor, (off_t)(number * of->capacity), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? UINT64_MAX / of->capacity : number;
  uint64_t found = (uint64_t)data / of->capacity;
  return found > number ? found : number;
}

/* Reads a chunk: how many bytes of it are used, and whether it can be taken over, as it is now. 0:
 * it is not whole. */
static size_t read_chunk(const struct finding *finding, uint64_t number, bool *takes) {
  const struct excerpt_of *of = finding->of;
  uint64_t until;
  size_t count = of->capacity;
  uint32_t used = 0;
  *takes = false;
  if (chunk_read(of->descriptor, finding->chunk, number * of->capacity, &count, &used) != CHUNK_WHOLE)
    return 0;
  *takes = of->closed || chunk_is_sealed(finding->chunk, used, &until);
  return CHUNK_HEADER_BYTES + used;
}

static bool excerpt_copy(const struct finding *finding, uint64_t number, size_t bytes) {
  return finding->of->closed ||
         os_write_at(finding->excerpt->descriptor, finding->chunk, bytes, number * finding->of->capacity);
}

/* Up to the first chunk that can be taken over and would be one too many. Chunk 0 tells what trace
 * this is, so it is in the copy though it cannot be taken over. False without memory. */
static bool excerpt_find(const struct finding *finding, size_t most) {
  struct excerpt *excerpt = finding->excerpt;
  for (uint64_t number = 0;; number++) {
    bool takes;
    number = behind_hole(finding->of, number);
    if (number >= finding->of->until) return true;
    size_t bytes = read_chunk(finding, number, &takes);
    takes = takes && !replaced_has(finding->of->before, number);
    if (takes && excerpt->chunk_count == most) return excerpt->all = false, true;
    if (takes && !ARRAY_ADD(excerpt->chunks, excerpt->chunk_count, excerpt->chunk_capacity, number))
      return false;
    if (bytes && (takes || !number) && !excerpt_copy(finding, number, bytes)) return false;
  }
}

/* ---- shared ---- */

bool excerpt_make(struct excerpt *excerpt, const struct excerpt_of *of) {
  struct finding finding = {.of = of, .excerpt = excerpt, .chunk = malloc(of->capacity)};
  int descriptor = of->closed ? -1 : memfd_create("winnow-compact", MFD_CLOEXEC);
  *excerpt = (struct excerpt){.descriptor = descriptor, .all = true, .end = UINT64_MAX};
  snprintf(excerpt->path, sizeof excerpt->path, "/proc/self/fd/%d", descriptor);
  bool done = finding.chunk && (of->closed || descriptor >= 0) &&
              excerpt_find(&finding, (size_t)(of->most_bytes / of->capacity) + 1);
  if (!excerpt->all) excerpt->end = excerpt->chunks[excerpt->chunk_count - 1] + 1 + CHUNKS_BEHIND;
  free(finding.chunk);
  return done;
}

void excerpt_destroy(struct excerpt *excerpt) {
  if (excerpt->descriptor >= 0) close(excerpt->descriptor);
  free(excerpt->chunks);
}
/* SPDX-License-Identifier: MIT */
