/* Checkpoints: written, and found again. */
#include "trace/checkpoint.h"

#include "base/hash.h"
#include "trace/event.h"
#include <string.h>

enum { FRAME_BYTES = 2, MARK_BYTES = 4, CRC_BYTES = 4 };

/* Bytes that records seldom have in this order. */
static const unsigned char mark[MARK_BYTES] = {0xc5, 0x9e, 0xa7, 0xd3};

static uint32_t checkpoint_get_u32(struct byte_source *source) {
  uint32_t value = 0;
  const unsigned char *bytes = get_bytes(source, sizeof value);
  if (bytes) memcpy(&value, bytes, sizeof value);
  return value;
}

static uint32_t get_small_varint(struct byte_source *source) {
  uint64_t value = get_varint(source);
  if (value > UINT32_MAX) source->bad = true;
  return (uint32_t)value;
}

/* The checkpoint whose mark was found at `at`; false if it is none. */
static bool read_checkpoint(const unsigned char *bytes, size_t count, size_t at, struct segment *segment,
                            uint32_t *wanted) {
  struct checkpoint *checkpoint = &segment->checkpoint;
  size_t body = at, record = at - FRAME_BYTES;
  unsigned length = bytes[record + 1];
  if (bytes[record] != (TRACE_RECORD_CHECKPOINT | 128u) || length >= 128 || length > count - body)
    return false;
  struct byte_source source = {.at = bytes + body + MARK_BYTES, .end = bytes + body + length};
  if (length < MARK_BYTES) return false;
  checkpoint->bytes = get_varint(&source);
  checkpoint->time = get_varint(&source);
  checkpoint->block = get_varint(&source);
  checkpoint->thread = get_small_varint(&source);
  checkpoint->nodes = get_small_varint(&source);
  checkpoint->modules = get_small_varint(&source);
  checkpoint->address = get_varint(&source);
  checkpoint->chunk_crc = checkpoint_get_u32(&source);
  checkpoint->crc = checkpoint_get_u32(&source);
  *wanted = checkpoint_get_u32(&source);
  if (source.bad || source.at != source.end || checkpoint->bytes > record) return false;
  segment->begin = record - (size_t)checkpoint->bytes;
  segment->end = body + length;
  /* Each took a byte at least. */
  return checkpoint->nodes <= segment->begin && checkpoint->modules <= segment->begin;
}

/* ---- shared ---- */

bool checkpoint_put(struct byte_sink *sink, const struct checkpoint *checkpoint, uint32_t *crc) {
  if (sink->end - sink->at < CHECKPOINT_BYTES) return false;
  unsigned char *start = sink->at;
  put_byte(sink, TRACE_RECORD_CHECKPOINT | 128);
  unsigned char *length = sink->at;
  put_byte(sink, 0);
  put_bytes(sink, mark, sizeof mark);
  put_varint(sink, checkpoint->bytes);
  put_varint(sink, checkpoint->time);
  put_varint(sink, checkpoint->block);
  put_varint(sink, checkpoint->thread);
  put_varint(sink, checkpoint->nodes);
  put_varint(sink, checkpoint->modules);
  put_varint(sink, checkpoint->address);
  put_bytes(sink, &checkpoint->chunk_crc, CRC_BYTES);
  put_bytes(sink, &checkpoint->crc, CRC_BYTES);
  *length = (unsigned char)(sink->at + CRC_BYTES - length - 1);
  uint32_t running = crc32c(*crc, start, (size_t)(sink->at - start));
  put_bytes(sink, &running, CRC_BYTES);
  *crc = crc32c(running, sink->at - CRC_BYTES, CRC_BYTES);
  return true;
}

bool segment_find(const unsigned char *bytes, size_t count, size_t from, size_t *work,
                  struct segment *segment) {
  for (size_t at = from + FRAME_BYTES; at < count; at++) {
    const unsigned char *found = memmem(bytes + at, count - at, mark, sizeof mark);
    if (!found) return false;
    at = (size_t)(found - bytes);
    uint32_t wanted;
    if (!read_checkpoint(bytes, count, at, segment, &wanted) || segment->begin < from) continue;
    size_t covered = segment->end - CRC_BYTES - segment->begin;
    if (covered > *work) return false;
    segment->crc = crc32c(segment->checkpoint.crc, bytes + segment->begin, covered);
    if (segment->crc == wanted) {
      segment->crc = crc32c(segment->crc, bytes + segment->end - CRC_BYTES, CRC_BYTES);
      return true;
    }
    *work -= covered;
  }
  return false;
}
/* SPDX-License-Identifier: MIT */
