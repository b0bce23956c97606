/* A container in memory, for tests: written, inflated and checked as a page does it. */
#ifndef TESTS_PAGE_PACKED_H
#define TESTS_PAGE_PACKED_H

#include "support/test.h"

#include "page/container.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PACKED_MOST = 16 };

struct packed {
  struct container_section sections[PACKED_MOST];
  unsigned char *bytes[PACKED_MOST]; /* of the sections */
  size_t count;
  size_t stored, stored_of[PACKED_MOST]; /* bytes as stored */
};

static inline void packed_inflate(const struct container_block *block, unsigned char *out) {
  z_stream stream = {.next_in = (unsigned char *)(uintptr_t)block->stored,
                     .avail_in = (unsigned)block->stored_length,
                     .next_out = out,
                     .avail_out = (unsigned)block->raw_length};
  assert_int_equal(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
  assert_int_equal(stream.total_out, block->raw_length);
  inflateEnd(&stream);
}

/* A container_sink. */
static inline wn_status packed_add(const struct container_block *block, void *context) {
  struct packed *packed = context;
  if (!block->index) {
    assert_true(packed->count < PACKED_MOST);
    memcpy(packed->sections[packed->count++].name, block->section, 4);
  }
  size_t at = packed->count - 1, length = packed->sections[at].length;
  assert_memory_equal(packed->sections[at].name, block->section, 4);
  assert_true(block->raw_length > 0 && block->raw_length <= CONTAINER_BLOCK_BYTES);
  assert_true(block->index == length / CONTAINER_BLOCK_BYTES && length % CONTAINER_BLOCK_BYTES == 0);
  unsigned char *bytes = realloc(packed->bytes[at], length + block->raw_length);
  assert_non_null(bytes);
  if (block->deflated)
    packed_inflate(block, bytes + length);
  else
    memcpy(bytes + length, block->stored, block->raw_length);
  assert_int_equal(crc32(0, bytes + length, (unsigned)block->raw_length), block->crc);
  packed->bytes[at] = bytes;
  packed->sections[at].bytes = bytes;
  packed->sections[at].length += block->raw_length;
  packed->stored += block->stored_length;
  packed->stored_of[at] += block->stored_length;
  return WN_OK;
}

static inline struct packed pack(const struct recording *recording, uint64_t unit_ns) {
  struct packed packed = {0};
  struct container_options options = {.unit_ns = unit_ns};
  assert_int_equal(container_write(recording, &options, packed_add, &packed), WN_OK);
  return packed;
}

static inline struct recording *unpack(const struct packed *packed) {
  struct recording *recording = NULL;
  wn_status error = container_read(packed->sections, packed->count, &recording);
  if (error) print_message("%s\n", wn_last_error());
  assert_int_equal(error, WN_OK);
  return recording;
}

static inline void packed_free(struct packed *packed) {
  for (size_t i = 0; i < packed->count; i++) free(packed->bytes[i]);
}

#endif
/* SPDX-License-Identifier: MIT */
