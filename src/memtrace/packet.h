/* The bytes of Memtrace's trace files, versions 1 to 3: numbers, headers of packets, and where the
 * events of a packet that can be trusted end.
 *
 * A file is a sequence of packets of at most 32 KiB, in the Common Trace Format, little-endian. There
 * is no header of the file, no index and no checksum. The first packet holds one event that describes
 * the run; every other packet holds either locations, or events of one domain. A packet's header tells
 * its domain, the first and last time, and the numbers of the blocks that are allocated in it. So each
 * packet says anew where time and numbers stand; only the coding of stacks (stack.h) and of
 * names (names.h) continues from one packet of a domain to the next.
 *
 * WALK. Without a checksum, damage is found only where it contradicts the rest. So the events of a
 * packet are walked before any is decoded: kinds, ranges, times, the number of allocations, and the
 * end of the packet must fit. Of a packet that does not fit, the events before the first contradiction
 * are used. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MEMTRACE_MAGIC ((uint32_t)0xc1fc1fc1)

enum {
  MEMTRACE_VERSION = 3,         /* the latest one that is read */
  MEMTRACE_HEADER_MOST = 68,    /* bytes of a header; two less in versions 1 and 2, which have no domains */
  MEMTRACE_PACKET_MOST = 32768, /* bytes of a packet, its header included */
  MEMTRACE_SLOTS = 16384,       /* of the cache by which stacks are coded */
  MEMTRACE_UNVERIFIED = 0xffff, /* in verify_slot: the header tells nothing of the cache */
  MEMTRACE_TIME_BITS = 25,      /* of a time, in an event */
  MEMTRACE_ID_SHORT = 100,      /* ids from 101 to 116: allocations of 1 to 16 words */
  MEMTRACE_SHORT_MOST = 16,
};

enum memtrace_id {
  MEMTRACE_ID_INFO,
  MEMTRACE_ID_LOCATION,
  MEMTRACE_ID_ALLOCATION,
  MEMTRACE_ID_PROMOTION,
  MEMTRACE_ID_COLLECTION
};

/* ---- numbers ---- */

/* Bytes that are still to be read. After a read past the end, `bad` is set and all reads give 0. */
struct memtrace_bytes {
  const unsigned char *at, *end;
  bool bad;
};

static inline size_t memtrace_left(const struct memtrace_bytes *bytes) {
  return (size_t)(bytes->end - bytes->at);
}

static inline uint64_t memtrace_fail(struct memtrace_bytes *bytes) {
  bytes->bad = true;
  bytes->at = bytes->end;
  return 0;
}

/* An unsigned number of `count` bytes: 1, 2, 4 or 8. `safe`: the caller knows that they are there. */
static inline uint64_t memtrace_take(struct memtrace_bytes *bytes, size_t count, bool safe) {
  uint64_t value = 0;
  if (!safe && memtrace_left(bytes) < count) return memtrace_fail(bytes);
  memcpy(&value, bytes->at, count);
  bytes->at += count;
  return value;
}

static inline uint64_t memtrace_unsigned(struct memtrace_bytes *bytes, size_t count) {
  return memtrace_take(bytes, count, false);
}

/* A number of variable length: a byte to 252, or after 253, 254 and 255 two unsigned bytes, and four
 * and eight signed ones. */
static inline int64_t memtrace_take_variable(struct memtrace_bytes *bytes, bool safe) {
  uint64_t first = memtrace_take(bytes, 1, safe);
  if (first < 253) return (int64_t)first;
  if (first == 253) return (int64_t)memtrace_take(bytes, 2, safe);
  if (first == 254) return (int32_t)memtrace_take(bytes, 4, safe);
  return (int64_t)memtrace_take(bytes, 8, safe);
}

static inline int64_t memtrace_variable(struct memtrace_bytes *bytes) {
  return memtrace_take_variable(bytes, false);
}

/* ---- packets ---- */

struct memtrace_header {
  uint32_t bytes; /* of the packet, with its header */
  uint32_t header_bytes;
  uint64_t begin_us, end_us; /* since 1970; end: the time of the last event */
  uint64_t pid;
  uint16_t version;
  uint16_t domain;
  uint16_t verify_slot, verify_next; /* what a slot of the cache holds where the packet begins */
  uint64_t verify_code;
  uint64_t first_block, end_block; /* the numbers of the blocks that are allocated in it */
};

/* Reads a header. False if these bytes are none. */
bool memtrace_header_read(const unsigned char *bytes, size_t count, struct memtrace_header *header);

/* The version that a header tells, also if it is not one that is read. 0 if the bytes are too few. */
static inline unsigned memtrace_version(const unsigned char *bytes, size_t count) {
  return count < 30 ? 0 : bytes[28] | (unsigned)bytes[29] << 8;
}

/* What the first packet tells of the run. */
struct memtrace_info {
  uint16_t version;
  uint16_t domain; /* in which the run began */
  uint8_t word_bits;
  double rate;       /* the probability of a sample, for each word */
  uint64_t begin_us; /* since 1970 */
  uint64_t pid;
  const char *executable, *host, *parameters, *context; /* of the runtime: "a=0,b=1"; context: "" for none */
};

/* Reads the first packet, of which `count` bytes are there. The texts stand in `bytes`. False if it is
 * not one that describes a run. */
bool memtrace_info_read(const unsigned char *bytes, size_t count, struct memtrace_info *info);

/* ---- events ---- */

/* The time of an event with these low bits, in a packet that begins at `begin_us`. */
static inline uint64_t memtrace_time(uint64_t begin_us, uint32_t word) {
  const uint32_t mask = ((uint32_t)1 << MEMTRACE_TIME_BITS) - 1;
  return begin_us + ((word - (uint32_t)begin_us) & mask);
}

/* What an allocation tells before the codewords of its stack. */
struct memtrace_allocation {
  int64_t length; /* in words, without the header */
  int64_t samples;
  int64_t common; /* as many outermost frames as in the stack before */
  uint8_t source; /* enum memtrace_source */
  uint16_t codewords;
};

enum memtrace_source { MEMTRACE_MINOR, MEMTRACE_MAJOR, MEMTRACE_EXTERNAL };

static inline bool memtrace_is_allocation(uint32_t id) {
  return id == MEMTRACE_ID_ALLOCATION || id - MEMTRACE_ID_SHORT - 1 < MEMTRACE_SHORT_MOST;
}

static inline struct memtrace_allocation memtrace_take_allocation(struct memtrace_bytes *bytes, uint32_t id,
                                                                  bool safe) {
  if (id == MEMTRACE_ID_ALLOCATION) {
    struct memtrace_allocation full = {.length = memtrace_take_variable(bytes, safe)};
    full.samples = memtrace_take_variable(bytes, safe);
    full.source = (uint8_t)memtrace_take(bytes, 1, safe);
    full.common = memtrace_take_variable(bytes, safe);
    full.codewords = (uint16_t)memtrace_take(bytes, 2, safe);
    return full;
  }
  struct memtrace_allocation usual = {.length = id - MEMTRACE_ID_SHORT, .samples = 1};
  usual.common = memtrace_take_variable(bytes, safe);
  usual.codewords = (uint16_t)memtrace_take(bytes, 1, safe);
  return usual;
}

/* Reads an allocation of either form up to its codewords. */
static inline struct memtrace_allocation memtrace_allocation_read(struct memtrace_bytes *bytes, uint32_t id) {
  enum { BYTES_MOST = 9 + 9 + 1 + 9 + 2 };
  return memtrace_left(bytes) >= BYTES_MOST ? memtrace_take_allocation(bytes, id, true)
                                            : memtrace_take_allocation(bytes, id, false);
}

/* Passes so many codewords. */
void memtrace_pass_codewords(struct memtrace_bytes *bytes, unsigned count);

/* The result of a WALK. */
struct memtrace_extent {
  size_t bytes; /* of the packet, its header included, that can be trusted */
  bool damaged; /* the rest cannot, or the number of allocations is not that of the header */
};

/* Walks the events of a packet of which `count` bytes are there, at least its header. */
struct memtrace_extent memtrace_walk(const unsigned char *packet, size_t count,
                                     const struct memtrace_header *header);
/* SPDX-License-Identifier: MIT */
