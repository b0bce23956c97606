/* Headers of messages. */
#include "gc/marshal/format.h"

static const char *read_big(struct message_header *header, const uint8_t *bytes, size_t size) {
  if (size < HEADER_BIG) return "the header ends early";
  uint64_t length = big_endian_64(bytes + 8);
  if (length > SIZE_MAX - HEADER_BIG) return "the length is more than any message has";
  *header = (struct message_header){.header_bytes = HEADER_BIG,
                                    .data_bytes = length,
                                    .objects = big_endian_64(bytes + 16),
                                    .words64 = big_endian_64(bytes + 24)};
  return NULL;
}

static const char *read_small(struct message_header *header, const uint8_t *bytes, size_t size) {
  if (size < HEADER_SMALL) return "the header ends early";
  *header = (struct message_header){.header_bytes = HEADER_SMALL,
                                    .data_bytes = big_endian_32(bytes + 4),
                                    .objects = big_endian_32(bytes + 8),
                                    .words32 = big_endian_32(bytes + 12),
                                    .words64 = big_endian_32(bytes + 16),
                                    .has_words32 = true};
  return NULL;
}

/* Every item has a byte. */
static const char *check_objects(const struct message_header *header) {
  return header->objects > header->data_bytes ? "the header tells more blocks than there are bytes" : NULL;
}

/* ---- shared ---- */

const char *header_read(struct message_header *header, const uint8_t *bytes, size_t size) {
  if (size < 4) return "the header ends early";
  const char *wrong = NULL;
  switch (big_endian_32(bytes)) {
  case MAGIC_SMALL: wrong = read_small(header, bytes, size); break;
  case MAGIC_BIG: wrong = read_big(header, bytes, size); break;
  case MAGIC_COMPRESSED: return "the message is compressed, which is not supported";
  default: return "the bytes begin no message";
  }
  return wrong ? wrong : check_objects(header);
}

size_t header_size(const struct message_header *header) {
  uint64_t most = header->data_bytes | header->words32 | header->words64;
  return most >> 32 ? HEADER_BIG : HEADER_SMALL;
}

void header_write(const struct message_header *header, uint8_t *bytes) {
  if (header_size(header) == HEADER_SMALL) {
    bytes = big_endian_put_32(bytes, MAGIC_SMALL);
    bytes = big_endian_put_32(bytes, (uint32_t)header->data_bytes);
    bytes = big_endian_put_32(bytes, (uint32_t)header->objects);
    bytes = big_endian_put_32(bytes, (uint32_t)header->words32);
    big_endian_put_32(bytes, (uint32_t)header->words64);
    return;
  }
  bytes = big_endian_put_32(bytes, MAGIC_BIG);
  bytes = big_endian_put_32(bytes, 0);
  bytes = big_endian_put_64(bytes, header->data_bytes);
  bytes = big_endian_put_64(bytes, header->objects);
  big_endian_put_64(bytes, header->words64);
}
/* SPDX-License-Identifier: MIT */
