/* A chunk's header: written and checked. */
#include "trace/chunk.h"

#include "base/hash.h"
#include "base/os.h"
#include "trace/event.h"
#include <string.h>

enum { ATTEMPTS = 100 };

/* A first byte that is no text, a name, and a line end that a text-mode copy would spoil. */
const unsigned char chunk_magic[8] = {0x89, 'W', 'i', 'n', 'n', 'o', 'w', '\n'};

static bool all_zero(const unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (bytes[i]) return false;
  return true;
}

/* Without a commit word: reserved, or killed while the header was written; records cannot stand
 * there yet. */
static enum chunk_state check_uncommitted(const unsigned char *bytes, size_t count) {
  size_t some = count < CHUNK_HEADER_BYTES + 16 ? count : CHUNK_HEADER_BYTES + 16;
  if (some > CHUNK_HEADER_BYTES && !all_zero(bytes + CHUNK_HEADER_BYTES, some - CHUNK_HEADER_BYTES))
    return CHUNK_DAMAGED;
  return CHUNK_UNUSED;
}

static bool header_sane(const struct chunk_header *header) {
  return header->capacity_log2 >= CHUNK_LOG2_LEAST && header->capacity_log2 <= CHUNK_LOG2_MOST &&
         header->header_bytes == CHUNK_HEADER_BYTES;
}

/* The header first: the records that its commit word covers are there before it is. */
static size_t chunk_read_parts(int descriptor, void *buffer, size_t count, uint64_t offset) {
  size_t header =
      os_read_at(descriptor, buffer, (count < CHUNK_HEADER_BYTES ? count : CHUNK_HEADER_BYTES), offset);
  if (header < CHUNK_HEADER_BYTES) return header;
  return header + os_read_at(descriptor, (char *)buffer + header, count - header, offset + header);
}

static uint64_t commit_of(const void *chunk, size_t count) {
  return count < CHUNK_HEADER_BYTES ? 0 : ((const struct chunk_header *)chunk)->commit;
}

/* The kind of a SEAL record, its length, and bytes that the end of a record seldom has in this
 * order. */
static const unsigned char seal[SEAL_BYTES - 8] = {
    TRACE_RECORD_SEAL | 128, SEAL_BYTES - 2, 0x9d, 0xe1, 0x5a, 0xb6};

/* ---- shared ---- */

uint32_t chunk_header_crc(const struct chunk_header *header) {
  return crc32c(0, header, offsetof(struct chunk_header, commit));
}

uint32_t chunk_begin(struct chunk_header *header, const struct chunk_header *fields) {
  memcpy(header->magic, chunk_magic, sizeof chunk_magic);
  header->version = TRACE_VERSION;
  header->word_bytes = fields->word_bytes;
  header->capacity_log2 = CHUNK_LOG2;
  header->header_bytes = CHUNK_HEADER_BYTES;
  header->zero = 0;
  header->sequence = fields->sequence;
  header->run_id = fields->run_id;
  header->rate = fields->rate;
  header->base_time = fields->base_time;
  header->nonce = 0;
  uint32_t crc = chunk_header_crc(header);
  if (!crc) { /* one in four billion; see the commit word */
    header->nonce = 1;
    crc = chunk_header_crc(header);
  }
  /* Pairs with the load of the commit word in any reader of the file, while this process lives or
   * afterwards. */
  atomic_store_explicit(&header->commit, commit_word(0, crc), memory_order_release);
  return crc;
}

void chunk_seal_put(unsigned char bytes[SEAL_BYTES], uint64_t until_ns) {
  memcpy(bytes, seal, sizeof seal);
  memcpy(bytes + sizeof seal, &until_ns, sizeof until_ns);
}

bool chunk_seal_get(const unsigned char bytes[SEAL_BYTES], uint64_t *until_ns) {
  if (memcmp(bytes, seal, sizeof seal) != 0) return false;
  memcpy(until_ns, bytes + sizeof seal, sizeof *until_ns);
  return true;
}

bool chunk_is_sealed(const void *chunk, uint32_t used, uint64_t *until_ns) {
  const unsigned char *end = (const unsigned char *)chunk + CHUNK_HEADER_BYTES + used;
  return used >= SEAL_BYTES && chunk_seal_get(end - SEAL_BYTES, until_ns);
}

enum chunk_state chunk_check(const void *bytes, size_t count, uint32_t *used) {
  if (count < CHUNK_HEADER_BYTES) return all_zero(bytes, count) ? CHUNK_UNUSED : CHUNK_DAMAGED;
  const struct chunk_header *header = bytes;
  uint64_t commit = atomic_load_explicit(&header->commit, memory_order_acquire);
  if (!commit) return check_uncommitted(bytes, count);
  if (memcmp(header->magic, chunk_magic, sizeof chunk_magic)) return CHUNK_FOREIGN;
  if (header->version > TRACE_VERSION) return CHUNK_NEWER;
  if (header->version < 1 || !header_sane(header)) return CHUNK_DAMAGED;
  *used = (uint32_t)commit;
  size_t capacity = (size_t)1 << header->capacity_log2;
  if (*used > capacity - CHUNK_HEADER_BYTES || *used > count - CHUNK_HEADER_BYTES) return CHUNK_DAMAGED;
  uint32_t crc = crc32c(chunk_header_crc(header), header + 1, *used);
  return crc == commit >> 32 ? CHUNK_WHOLE : CHUNK_DAMAGED;
}

enum chunk_state chunk_read(int descriptor, void *buffer, uint64_t offset, size_t *count, uint32_t *used) {
  size_t most = *count;
  uint64_t commit = 0;
  enum chunk_state state = CHUNK_DAMAGED;
  for (int i = 0; i < ATTEMPTS; i++) {
    uint64_t last = commit;
    *count = chunk_read_parts(descriptor, buffer, most, offset);
    state = chunk_check(buffer, *count, used);
    commit = commit_of(buffer, *count);
    if (state == CHUNK_WHOLE || state == CHUNK_UNUSED || (i && commit == last)) break;
  }
  return state;
}
/* SPDX-License-Identifier: MIT */
