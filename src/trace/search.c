/* Whether a file is a trace: its first good chunk, or what is left of one. */
#include "trace/search.h"

#include "base/error.h"
#include "base/open_file.h"
#include "base/os.h"
#include "base/smaller.h"
#include "trace/checkpoint.h"
#include "trace/remains.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  /* Where the first good chunk is looked for, if the first is damaged. */
  SEARCH_STEP = 1 << CHUNK_LOG2_LEAST,
  SEARCH_BYTES = 1 << 26,
  /* Where segments are looked for, if no chunk is whole. */
  REMAINS_BYTES = 1 << CHUNK_LOG2_MOST
};

/* Whether all bytes are 0, as far as a header would be looked for: the file of a trace has its
 * space before its header is written. */
static bool is_zero(const struct search *search) {
  unsigned char bytes[4096];
  uint64_t end = smaller(search->size, SEARCH_BYTES), offset = 0;
  while (offset < end) {
    size_t count = os_read_at(search->descriptor, bytes, sizeof bytes, offset);
    if (!count || bytes[0] || memcmp(bytes, bytes + 1, count - 1) != 0) return false;
    offset += count;
  }
  return true;
}

static wn_status search_explain(const struct search *search) {
  if (search->newer)
    return error_set(
        WN_EFORMAT,
        "%s was written by a newer version %u of the format, this winnow reads up to %u; update winnow",
        search->path, search->newer, TRACE_VERSION);
  if (is_zero(search))
    return error_set(
        WN_EFORMAT,
        "%s holds nothing but zeros, as a Winnow trace does that was cut before its header; record again",
        search->path);
  if (search->begun) return remains_explain(search->descriptor, search->path, search->size);
  return error_set(WN_EINVAL, "%s is not a Winnow trace; winnow record makes one", search->path);
}

/* Whether the chunk at `offset`, whose header this is, is good and has records. */
static bool probe(struct search *search, uint64_t offset, const struct chunk_header *header) {
  if (memcmp(header->magic, chunk_magic, sizeof chunk_magic)) return false;
  search->begun = true;
  if (header->version > TRACE_VERSION) search->newer = header->version;
  if (header->version != TRACE_VERSION || header->capacity_log2 < CHUNK_LOG2_LEAST ||
      header->capacity_log2 > CHUNK_LOG2_MOST || header->sequence << header->capacity_log2 != offset)
    return false;
  size_t bytes = (size_t)smaller((uint64_t)1 << header->capacity_log2, search->size - offset);
  void *chunk = malloc(bytes);
  if (!chunk) return false;
  uint32_t used = 0;
  bool good = chunk_read(search->descriptor, chunk, offset, &bytes, &used) == CHUNK_WHOLE && used;
  free(chunk);
  return good;
}

/* Whether one of the segments at the begin of the file is whole. If it tells that the first chunk's
 * header is right, that is what was found; else the chunks are taken for such as we write. */
static bool search_find_segment(struct search *search, struct chunk_header *found) {
  size_t count = (size_t)smaller(search->size, REMAINS_BYTES), work = SEGMENT_WORK * count, at = 0;
  struct chunk_header *bytes = malloc(count + sizeof *bytes);
  struct segment segment;
  bool any = false;
  if (!bytes) return false;
  count = os_read_at(search->descriptor, bytes, count, 0);
  if (count >= sizeof *bytes) {
    uint32_t crc = chunk_header_crc(bytes);
    while (!search->header_known && segment_find((const unsigned char *)bytes, count, at, &work, &segment)) {
      any = true;
      search->header_known = segment.checkpoint.chunk_crc == crc;
      at = segment.end;
    }
  }
  *found = (struct chunk_header){.capacity_log2 = CHUNK_LOG2};
  if (search->header_known) memcpy(found, bytes, sizeof *found);
  free(bytes);
  return any;
}

static wn_status examine_file(int descriptor, const char *path, uint64_t *size) {
  struct stat found;
  if (fstat(descriptor, &found)) return error_set(WN_EIO, "cannot examine %s: %s", path, strerror(errno));
  if (S_ISDIR(found.st_mode)) return error_set(WN_EFORMAT, "%s is a directory, not a trace", path);
  if (!S_ISREG(found.st_mode)) return error_set(WN_EFORMAT, "%s is not a regular file", path);
  if (!found.st_size)
    return error_set(WN_EFORMAT, "%s is empty: nothing was recorded into it, so record again", path);
  *size = (uint64_t)found.st_size;
  return WN_OK;
}

/* ---- shared ---- */

wn_status search_open(struct search *search) {
  search->descriptor = open_file(search->path);
  search->exhausted = search->descriptor < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
  search->refused = search->descriptor < 0 && errno != ENOENT;
  if (search->descriptor < 0) return error_set(WN_EIO, "cannot open %s: %s", search->path, strerror(errno));
  wn_status status = examine_file(search->descriptor, search->path, &search->size);
  if (status) close(search->descriptor);
  if (status) search->descriptor = -1;
  return status;
}

wn_status search_chunk(struct search *search, struct chunk_header *found) {
  struct chunk_header first;
  size_t first_count = os_read_at(search->descriptor, &first, sizeof first, 0);
  search->begun = first_count >= sizeof chunk_magic && !memcmp(&first, chunk_magic, sizeof chunk_magic);
  uint64_t end = smaller(search->size, SEARCH_BYTES);
  for (uint64_t offset = 0; offset < end; offset += SEARCH_STEP) {
    if (os_read_at(search->descriptor, found, sizeof *found, offset) < sizeof *found) break;
    search->header_known = probe(search, offset, found);
    if (search->header_known) return WN_OK;
  }
  /* A version that a segment vouches for is no damage. */
  if (search_find_segment(search, found) && !(search->newer && search->header_known)) return WN_OK;
  return search_explain(search);
}
/* SPDX-License-Identifier: MIT */
