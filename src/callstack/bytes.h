/* Reading DWARF's numbers out of a range of memory whose contents may be wrong. */
#ifndef CALLSTACK_BYTES_H
#define CALLSTACK_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A read beyond the end gives 0 and sets `bad`. */
struct bytes_cursor {
  const unsigned char *at, *end;
  bool bad;
};

static inline void bytes_take(struct bytes_cursor *cursor, void *to, size_t count) {
  if ((size_t)(cursor->end - cursor->at) < count) {
    cursor->bad = true;
    cursor->at = cursor->end;
    memset(to, 0, count);
    return;
  }
  memcpy(to, cursor->at, count);
  cursor->at += count;
}

static inline void bytes_skip(struct bytes_cursor *cursor, uint64_t count) {
  if ((size_t)(cursor->end - cursor->at) < count) cursor->bad = true;
  cursor->at = cursor->bad ? cursor->end : cursor->at + count;
}

static inline uint8_t bytes_u8(struct bytes_cursor *cursor) {
  uint8_t value;
  bytes_take(cursor, &value, sizeof value);
  return value;
}

static inline uint16_t bytes_u16(struct bytes_cursor *cursor) {
  uint16_t value;
  bytes_take(cursor, &value, sizeof value);
  return value;
}

static inline uint32_t bytes_u32(struct bytes_cursor *cursor) {
  uint32_t value;
  bytes_take(cursor, &value, sizeof value);
  return value;
}

static inline uint64_t bytes_u64(struct bytes_cursor *cursor) {
  uint64_t value;
  bytes_take(cursor, &value, sizeof value);
  return value;
}

static inline uint64_t bytes_uleb(struct bytes_cursor *cursor) {
  uint64_t value = 0;
  for (unsigned shift = 0; !cursor->bad; shift += 7) {
    uint8_t byte = bytes_u8(cursor);
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) break;
  }
  return value;
}

static inline int64_t bytes_sleb(struct bytes_cursor *cursor) {
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte = 0;
  do {
    byte = bytes_u8(cursor);
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80 && !cursor->bad);
  if (byte & 0x40 && shift < 64) value |= UINT64_MAX << shift;
  return (int64_t)value;
}

#endif
/* SPDX-License-Identifier: MIT */
