/* Reads headers, and walks events. */
#include "memtrace/packet.h"

#include "base/words.h"

/* Of lengths and counts of samples; of microseconds since 1970, which are past the year 2100. */
enum { LENGTH_MOST_LOG2 = 56, TIME_MOST_LOG2 = 52 };

/* A text up to its NUL byte. Sets `bad` if there is none. */
static const char *packet_text(struct memtrace_bytes *bytes) {
  const unsigned char *begin = bytes->at, *end = memchr(begin, 0, memtrace_left(bytes));
  if (!end) return memtrace_fail(bytes), "";
  bytes->at = end + 1;
  return (const char *)begin;
}

static double packet_number(struct memtrace_bytes *bytes) {
  uint64_t bits = memtrace_unsigned(bytes, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* ---- walking ---- */

/* The bytes behind a codeword with this tag: 0, 0, 1 or 8. Computed, since each codeword waits for
 * it. */
static inline size_t behind(unsigned tag) { return 0x08010000u >> (8 * tag) & 0xff; }

static inline void pass_codewords(struct memtrace_bytes *bytes, unsigned count) {
  const unsigned char *at = bytes->at, *end = bytes->end;
  for (; count && end - at >= 2; count--) at += 2 + behind(*at & 3);
  if (count || at > end)
    memtrace_fail(bytes);
  else
    bytes->at = at;
}

static inline void pass_allocation(struct memtrace_bytes *bytes, uint32_t id) {
  struct memtrace_allocation allocation = memtrace_allocation_read(bytes, id);
  pass_codewords(bytes, allocation.codewords);
  if (allocation.length < 0 || allocation.length >> LENGTH_MOST_LOG2 || allocation.samples < 1 ||
      allocation.samples >> LENGTH_MOST_LOG2 || allocation.source > MEMTRACE_EXTERNAL ||
      allocation.common < 0)
    bytes->bad = true;
}

/* Of version 3 on, a domain may collect a block that another one allocated later. */
static inline void pass_change(struct memtrace_bytes *bytes, uint32_t id, unsigned version) {
  int64_t delta = memtrace_variable(bytes);
  if (delta < 0 && (id == MEMTRACE_ID_PROMOTION || version < 3)) bytes->bad = true;
}

struct walk {
  struct memtrace_bytes bytes;
  uint64_t last_us, blocks;
};

/* Passes one event. False if it contradicts the header or the events before. */
static inline bool pass_event(struct walk *walk, const struct memtrace_header *header) {
  struct memtrace_bytes *bytes = &walk->bytes;
  uint32_t word = (uint32_t)memtrace_unsigned(bytes, 4), id = word >> MEMTRACE_TIME_BITS;
  uint64_t time_us = memtrace_time(header->begin_us, word);
  bool timely = time_us >= walk->last_us && time_us <= header->end_us;
  walk->last_us = time_us;
  if (memtrace_is_allocation(id))
    pass_allocation(bytes, id), walk->blocks++;
  else if (id == MEMTRACE_ID_PROMOTION || id == MEMTRACE_ID_COLLECTION)
    pass_change(bytes, id, header->version);
  else
    bytes->bad = true;
  return timely;
}

/* ---- shared ---- */

bool memtrace_header_read(const unsigned char *start, size_t count, struct memtrace_header *header) {
  struct memtrace_bytes bytes = {start, start + count, false};
  uint32_t magic = (uint32_t)memtrace_unsigned(&bytes, 4), bits = (uint32_t)memtrace_unsigned(&bytes, 4);
  header->begin_us = memtrace_unsigned(&bytes, 8);
  header->end_us = memtrace_unsigned(&bytes, 8);
  memtrace_unsigned(&bytes, 4); /* how long the writing took: always 0 */
  header->version = (uint16_t)memtrace_unsigned(&bytes, 2);
  header->pid = memtrace_unsigned(&bytes, 8);
  header->domain = header->version < 3 ? 0 : (uint16_t)memtrace_unsigned(&bytes, 2);
  header->verify_slot = (uint16_t)memtrace_unsigned(&bytes, 2);
  header->verify_next = (uint16_t)memtrace_unsigned(&bytes, 2);
  header->verify_code = memtrace_unsigned(&bytes, 8);
  header->first_block = memtrace_unsigned(&bytes, 8);
  header->end_block = memtrace_unsigned(&bytes, 8);
  header->header_bytes = (uint32_t)(bytes.at - start);
  header->bytes = bits / 8;
  return !bytes.bad && magic == MEMTRACE_MAGIC && bits % 8 == 0 && header->bytes >= header->header_bytes &&
         header->bytes <= MEMTRACE_PACKET_MOST && header->version >= 1 &&
         header->version <= MEMTRACE_VERSION && !((header->begin_us | header->end_us) >> TIME_MOST_LOG2) &&
         header->end_block - header->first_block <= header->bytes;
}

bool memtrace_info_read(const unsigned char *start, size_t count, struct memtrace_info *info) {
  struct memtrace_header header;
  if (!memtrace_header_read(start, count, &header)) return false;
  size_t there = header.bytes < count ? header.bytes : count;
  struct memtrace_bytes bytes = {start + header.header_bytes, start + there, false};
  uint32_t word = (uint32_t)memtrace_unsigned(&bytes, 4);
  *info = (struct memtrace_info){.version = header.version, .domain = header.domain, .context = ""};
  info->begin_us = header.begin_us;
  info->rate = packet_number(&bytes);
  info->word_bits = (uint8_t)memtrace_unsigned(&bytes, 1);
  info->executable = packet_text(&bytes);
  info->host = packet_text(&bytes);
  info->parameters = packet_text(&bytes);
  info->pid = memtrace_unsigned(&bytes, 8);
  if (header.version > 1) info->context = packet_text(&bytes);
  return !bytes.bad && word >> MEMTRACE_TIME_BITS == MEMTRACE_ID_INFO && info->rate > 0 &&
         rate_is_valid(info->rate) && (info->word_bits == 32 || info->word_bits == 64);
}

void memtrace_pass_codewords(struct memtrace_bytes *bytes, unsigned count) { pass_codewords(bytes, count); }

/* A clock that was set back gives times that do not fit, too. So those are only taken for damage if
 * something else does not fit either. */
struct memtrace_extent memtrace_walk(const unsigned char *packet, size_t count,
                                     const struct memtrace_header *header) {
  size_t there = header->bytes < count ? header->bytes : count;
  struct walk walk = {.bytes = {packet + header->header_bytes, packet + there, false}};
  const unsigned char *trusted = walk.bytes.at; /* the end of the events that fit in every way */
  bool timely = true;
  walk.last_us = header->begin_us;
  while (!walk.bytes.bad && walk.bytes.at < walk.bytes.end) {
    timely = pass_event(&walk, header) && timely;
    if (!walk.bytes.bad && timely) trusted = walk.bytes.at;
  }
  bool parsed = !walk.bytes.bad && there == header->bytes;
  bool counted = walk.blocks == header->end_block - header->first_block;
  bool keep_all = parsed && (counted || timely);
  return (struct memtrace_extent){.bytes = keep_all ? there : (size_t)(trusted - packet),
                                  .damaged = !parsed || !counted};
}
/* SPDX-License-Identifier: MIT */
