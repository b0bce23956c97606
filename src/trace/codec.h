/* Numbers as bytes, with every access inside its bounds.
 *
 * A varint is the number's 7-bit groups, lowest first, top bit set on all but the last: at most ten
 * bytes. Zigzag folds a signed number into an unsigned one so that small magnitudes stay small: 0,
 * -1, 1, -2 become 0, 1, 2, 3. Differences are taken modulo 2^64, so that any two numbers have one.
 *
 * A sink that runs out of room, and a source that runs out of bytes or meets an impossible varint,
 * says so in a flag that stays; callers look at the flag once, after a whole record. */
#ifndef TRACE_CODEC_H
#define TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX = 10 };

struct byte_sink {
  unsigned char *at;
  unsigned char *end;
  bool full;
};

struct byte_source {
  const unsigned char *at;
  const unsigned char *end;
  bool bad;
};

static inline uint64_t zigzag(uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
static inline uint64_t unzigzag(uint64_t folded) { return (folded >> 1) ^ (0 - (folded & 1)); }

void put_varint_slow(struct byte_sink *sink, uint64_t value);
void put_bytes(struct byte_sink *sink, const void *bytes, size_t count);

static inline void put_byte(struct byte_sink *sink, unsigned value) {
  if (sink->at == sink->end) {
    sink->full = true;
    return;
  }
  *sink->at++ = (unsigned char)value;
}

static inline void put_varint(struct byte_sink *sink, uint64_t value) {
  if (value < 128) {
    put_byte(sink, (unsigned)value);
  } else {
    put_varint_slow(sink, value);
  }
}

/* One bit and a number of 64 bits: the bit is the lowest of the first byte, above it six bits of
 * the number and the sign that a varint with the rest follows. */
void put_tagged(struct byte_sink *sink, bool tag, uint64_t value);

uint64_t get_varint_slow(struct byte_source *source);

/* 0 when the source is bad. */
static inline uint64_t get_varint(struct byte_source *source) {
  if (source->at < source->end && *source->at < 128) return *source->at++;
  return get_varint_slow(source);
}

uint64_t get_tagged(struct byte_source *source, bool *tag);
unsigned get_byte(struct byte_source *source);

/* `count` bytes inside the source, or NULL. */
const unsigned char *get_bytes(struct byte_source *source, uint64_t count);

#endif
/* SPDX-License-Identifier: MIT */
