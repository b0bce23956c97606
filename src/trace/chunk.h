/* A chunk: the piece of a trace file that can be read alone.
 *
 * A file is a row of chunks, each at a multiple of their common capacity. A chunk is a header of 64
 * bytes and records. The header is written once, but for its last word, the commit word: how many
 * bytes of records count (low half) and the CRC-32C of the header without the commit word and of
 * those bytes (high half). Both halves change in one store, so at any instant, torn writes
 * included, the chunk is whole: what the commit word covers is complete and checked, and what lies
 * behind does not count. A commit word of 0 is a chunk that was reserved and not begun: a begun
 * one, even without records, has the checksum of its header there, and chunk_begin sees to it that
 * this is not 0. */
#ifndef TRACE_CHUNK_H
#define TRACE_CHUNK_H

#include "base/check.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  TRACE_VERSION = 1,
  CHUNK_HEADER_BYTES = 64,
  CHUNK_LOG2 = TINY ? 12 : 16,
  CHUNK_BYTES = 1 << CHUNK_LOG2,
  /* What a reader accepts. */
  CHUNK_LOG2_LEAST = 12,
  CHUNK_LOG2_MOST = 24,
};

/* Little-endian, no padding. docs/trace-format.md says it byte by byte. */
struct chunk_header {
  unsigned char magic[8];
  uint16_t version;
  uint8_t word_bytes;
  uint8_t capacity_log2;
  uint16_t header_bytes;
  uint16_t zero;
  uint64_t sequence;
  uint64_t run_id;
  double rate;
  uint64_t base_time;
  uint64_t nonce;
  _Atomic(uint64_t) commit;
};

_Static_assert(sizeof(struct chunk_header) == CHUNK_HEADER_BYTES, "the header is 64 bytes");
_Static_assert(offsetof(struct chunk_header, commit) == 56, "the commit word is the last");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian");

extern const unsigned char chunk_magic[8];

static inline uint64_t commit_word(uint32_t used, uint32_t crc) { return used | (uint64_t)crc << 32; }

/* The checksum of the header without the commit word. */
uint32_t chunk_header_crc(const struct chunk_header *header);

/* Fills in the constant part and publishes a chunk without records. `fields` gives word_bytes,
 * sequence, run_id, rate and base_time. Returns the checksum to continue. */
uint32_t chunk_begin(struct chunk_header *header, const struct chunk_header *fields);

/* The SEAL record, the last of a chunk to which nothing will be added: its mark, and the latest
 * time of a record of the chunk. Without a seal the chunk may still be written as long as a process
 * writes the file. */
enum { SEAL_BYTES = 2 + 4 + 8 };
void chunk_seal_put(unsigned char bytes[SEAL_BYTES], uint64_t until_ns);

/* Whether these bytes, the last of a chunk, are a seal; then the time. */
bool chunk_seal_get(const unsigned char bytes[SEAL_BYTES], uint64_t *until_ns);

/* Whether a whole chunk with `used` bytes of records is sealed; then since when. */
bool chunk_is_sealed(const void *chunk, uint32_t used, uint64_t *until_ns);

/* What a reader may do with the bytes found at the place of a chunk. */
enum chunk_state {
  CHUNK_UNUSED, /* reserved, nothing in it */
  CHUNK_WHOLE,
  CHUNK_DAMAGED,
  CHUNK_NEWER, /* the magic is right and the version is not known here */
  CHUNK_FOREIGN
};

/* `count` bytes begin at `bytes` (aligned to 8); *used becomes the number of record bytes if the
 * chunk is whole. Nothing is assumed of the bytes. */
enum chunk_state chunk_check(const void *bytes, size_t count, uint32_t *used);

/* Reads and checks the chunk at an offset of a file, of at most *count bytes; *count becomes how
 * many were there. A writer may be at work, and read(2) may tear its commit word: a chunk that
 * looks damaged is read again as long as the word changes. */
enum chunk_state chunk_read(int descriptor, void *buffer, uint64_t offset, size_t *count, uint32_t *used);

#endif
/* SPDX-License-Identifier: MIT */
