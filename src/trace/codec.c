/* Numbers as bytes: the cases that are not worth inlining. */
#include "trace/codec.h"

#include <string.h>

/* ---- shared ---- */

void put_varint_slow(struct byte_sink *sink, uint64_t value) {
  while (value >= 128) {
    put_byte(sink, (unsigned)(value & 127) | 128);
    value >>= 7;
  }
  put_byte(sink, (unsigned)value);
}

void put_bytes(struct byte_sink *sink, const void *bytes, size_t count) {
  if ((size_t)(sink->end - sink->at) < count) {
    sink->full = true;
    return;
  }
  if (count) memcpy(sink->at, bytes, count);
  sink->at += count;
}

void put_tagged(struct byte_sink *sink, bool tag, uint64_t value) {
  uint64_t rest = value >> 6;
  put_byte(sink, (unsigned)tag | (unsigned)(value & 63) << 1 | (rest ? 128u : 0u));
  if (rest) put_varint(sink, rest);
}

uint64_t get_varint_slow(struct byte_source *source) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && source->at < source->end; shift += 7) {
    uint64_t byte = *source->at++;
    if (shift == 63 && byte > 1) break;
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  source->bad = true;
  return 0;
}

uint64_t get_tagged(struct byte_source *source, bool *tag) {
  unsigned first = get_byte(source);
  *tag = first & 1;
  uint64_t value = first >> 1 & 63;
  if (first < 128) return value;
  uint64_t rest = get_varint(source);
  if (rest >> 58) source->bad = true;
  return value | rest << 6;
}

unsigned get_byte(struct byte_source *source) {
  if (source->at < source->end) return *source->at++;
  source->bad = true;
  return 0;
}

const unsigned char *get_bytes(struct byte_source *source, uint64_t count) {
  if ((uint64_t)(source->end - source->at) < count) {
    source->bad = true;
    return NULL;
  }
  const unsigned char *bytes = source->at;
  source->at += count;
  return bytes;
}
/* SPDX-License-Identifier: MIT */
