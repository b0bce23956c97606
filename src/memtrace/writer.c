/* Packets and events. */
#include "memtrace/writer.h"

#include "base/array.h"
#include "memtrace/codes.h"
#include <stdlib.h>
#include <string.h>

enum {
  HEADER = 68,
  ROOM = 4196,      /* what an event takes at most */
  LOCATIONS = 4096, /* what the description of a code takes at most */
  QUEUE_MOST = 128,
  LATE_US = 30000000,
  CHUNK = 10000, /* numbers of blocks that a domain takes at a time */
  UNVERIFIED = 0xffff,
  VERIFY_FIRST = 4242,
  VERIFY_STEP = 5413
};
/* A stack has at most 4096 / 10 codes that are new, and is coded when at most QUEUE_MOST wait. */
_Static_assert(QUEUE_MOST + LOCATIONS / 10 + 1 < 4096, "the queue has room");

enum event {
  EVENT_RUN,
  EVENT_LOCATION,
  EVENT_ALLOCATION,
  EVENT_PROMOTION,
  EVENT_COLLECTION,
  EVENT_SHORT = 100
};

static void put_variable(struct writer_bytes *to, int64_t value) {
  unsigned bytes = value >= 0 && value <= 252                 ? 0
                   : value >= 0 && value <= UINT16_MAX        ? 2
                   : value >= INT32_MIN && value <= INT32_MAX ? 4
                                                              : 8;
  static const unsigned char marks[] = {[2] = 253, [4] = 254, [8] = 255};
  writer_put_unsigned(to, bytes ? marks[bytes] : (uint64_t)value, 1);
  writer_put_unsigned(to, (uint64_t)value, bytes);
}

static void writer_put_head(struct writer_bytes *to, uint64_t time_us, unsigned event) {
  writer_put_unsigned(to, (time_us & 0x1ffffff) | (uint64_t)event << 25, 4);
}

/* ---- packets ---- */

struct head {
  uint64_t begin_us, end_us, first_block, end_block;
  unsigned domain;
  uint16_t verify_slot, verify_next;
  uint64_t verify_code;
};

/* A packet has its domain from version 3 on. */
static size_t writer_header_bytes(const struct memtrace_writer *writer) {
  return writer->version < 3 ? HEADER - 2 : HEADER;
}

static void put_packet(struct memtrace_writer *writer, const struct head *head,
                       const struct writer_bytes *events) {
  struct writer_bytes *to = &writer->file;
  bool domains = writer->version >= 3;
  size_t bytes = writer_header_bytes(writer) + events->count;
  writer_put_unsigned(to, 0xc1fc1fc1, 4);
  writer_put_unsigned(to, bytes * 8, 4);
  writer_put_unsigned(to, head->begin_us, 8);
  writer_put_unsigned(to, head->end_us, 8);
  writer_put_unsigned(to, 0, 4);
  writer_put_unsigned(to, writer->version, 2);
  writer_put_unsigned(to, writer->pid, 8);
  if (domains) writer_put_unsigned(to, head->domain, 2);
  writer_put_unsigned(to, head->verify_slot, 2);
  writer_put_unsigned(to, head->verify_next, 2);
  writer_put_unsigned(to, head->verify_code, 8);
  writer_put_unsigned(to, head->first_block, 8);
  writer_put_unsigned(to, head->end_block, 8);
  writer_put(to, events->bytes, events->count);
  to->failed |= events->failed;
}

static void writer_put_run(struct memtrace_writer *writer, const struct writer_run *run) {
  struct writer_bytes events = {.count = 0};
  struct head head = {
      .begin_us = run->begin_us, .end_us = run->begin_us, .domain = run->domain, .verify_slot = UNVERIFIED};
  writer_put_head(&events, run->begin_us, EVENT_RUN);
  writer_put(&events, &run->rate, 8);
  writer_put_unsigned(&events, run->word_bits, 1);
  writer_put_text(&events, run->executable);
  writer_put_text(&events, run->host);
  writer_put_text(&events, run->parameters);
  writer_put_unsigned(&events, run->pid, 8);
  if (writer->version > 1) writer_put_text(&events, run->context);
  put_packet(writer, &head, &events);
  free(events.bytes);
}

static void put_locations(struct memtrace_writer *writer, struct writer_domain *domain) {
  struct head head = {.begin_us = domain->begin_us,
                      .end_us = domain->begin_us,
                      .first_block = domain->first_block,
                      .end_block = domain->first_block,
                      .domain = domain->id,
                      .verify_slot = UNVERIFIED};
  struct writer_bytes events = {.count = 0};
  for (size_t at = 0; at < domain->queued;) {
    events.count = 0;
    while (at < domain->queued && !events.failed &&
           writer_header_bytes(writer) + events.count < WRITER_PACKET - LOCATIONS) {
      writer_put_head(&events, domain->begin_us, EVENT_LOCATION);
      writer_put_location(writer, domain, &events, domain->queue[at++]);
    }
    put_packet(writer, &head, &events);
    if (events.failed) break;
  }
  free(events.bytes);
  domain->queued = 0;
}

static void writer_take_chunk(struct memtrace_writer *writer, struct writer_domain *domain) {
  if (writer->version < 3) {
    domain->chunk_end = UINT64_MAX;
    return;
  }
  domain->next_block = writer->next_chunk;
  domain->chunk_end = writer->next_chunk += CHUNK;
}

static void open_packet(struct writer_domain *domain, uint64_t time_us) {
  domain->packet.count = 0;
  domain->begin_us = domain->last_us = time_us;
  domain->first_block = domain->next_block;
  domain->verify_slot = (uint16_t)domain->verify;
  domain->verify_next = domain->next[domain->verify];
  domain->verify_code = domain->code[domain->verify];
  domain->verify = (domain->verify + VERIFY_STEP) % WRITER_SLOTS;
}

/* ---- events ---- */

static void writer_prepare(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us) {
  bool late = time_us > domain->begin_us && time_us - domain->begin_us > LATE_US;
  if (writer_header_bytes(writer) + domain->packet.count + ROOM > WRITER_PACKET ||
      domain->queued > QUEUE_MOST || late || domain->next_block == domain->chunk_end)
    writer_flush(writer, domain, time_us);
  domain->last_us = time_us;
}

/* The block may be another domain's. */
static void put_change(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                       uint64_t block, enum event event) {
  writer_prepare(writer, domain, time_us);
  writer_put_head(&domain->packet, time_us, event);
  put_variable(&domain->packet, (int64_t)(domain->next_block - 1 - block));
}

static void keep_stack(struct writer_domain *domain, const uint64_t *codes, size_t depth) {
  bool room = array_reserve(&domain->stack, &domain->stack_capacity, depth, sizeof *domain->stack);
  domain->packet.failed |= !room;
  if (!room) return;
  if (depth) memcpy(domain->stack, codes, depth * sizeof *codes);
  domain->depth = depth;
}

/* ---- shared ---- */

void memtrace_writer_begin(struct memtrace_writer *writer, unsigned version, const struct writer_run *run,
                           writer_places *places, void *context) {
  *writer =
      (struct memtrace_writer){.version = version, .pid = run->pid, .places = places, .context = context};
  writer_put_run(writer, run);
}

void memtrace_writer_end(struct memtrace_writer *writer) { free(writer->file.bytes); }

struct writer_domain *writer_domain_begin(struct memtrace_writer *writer, unsigned id, uint64_t begin_us) {
  struct writer_domain *domain = calloc(1, sizeof *domain);
  if (!domain) return NULL;
  domain->id = id;
  writer_take_chunk(writer, domain);
  open_packet(domain, begin_us);
  domain->verify_slot = UNVERIFIED;
  domain->verify = VERIFY_FIRST;
  return domain;
}

void writer_domain_end(struct memtrace_writer *writer, struct writer_domain *domain) {
  writer_flush(writer, domain, domain->last_us);
  writer_lists_destroy(domain);
  free(domain->stack);
  free(domain->packet.bytes);
  free(domain->codewords.bytes);
  free(domain);
}

uint64_t writer_allocate(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                         int64_t length, int64_t samples, enum writer_source source, const uint64_t *codes,
                         size_t depth) {
  size_t common = writer_common(domain, codes, depth);
  writer_prepare(writer, domain, time_us);
  unsigned words = writer_code_stack(domain, codes, depth, common);
  struct writer_bytes *to = &domain->packet;
  bool usual = length >= 1 && length <= 16 && samples == 1 && source == WRITER_MINOR && depth - common < 256;
  writer_put_head(to, time_us, usual ? EVENT_SHORT + (unsigned)length : EVENT_ALLOCATION);
  if (!usual) {
    put_variable(to, length);
    put_variable(to, samples);
    writer_put_unsigned(to, source, 1);
  }
  put_variable(to, (int64_t)common);
  writer_put_unsigned(to, words, usual ? 1 : 2);
  writer_put(to, domain->codewords.bytes, domain->codewords.count);
  to->failed |= domain->codewords.failed;
  keep_stack(domain, codes, depth);
  return domain->next_block++;
}

void writer_promote(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block) {
  put_change(writer, domain, time_us, block, EVENT_PROMOTION);
}

void writer_collect(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block) {
  put_change(writer, domain, time_us, block, EVENT_COLLECTION);
}

void writer_flush(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us) {
  put_locations(writer, domain);
  struct head head = {domain->begin_us, domain->last_us,     domain->first_block, domain->next_block,
                      domain->id,       domain->verify_slot, domain->verify_next, domain->verify_code};
  put_packet(writer, &head, &domain->packet);
  if (domain->next_block == domain->chunk_end) writer_take_chunk(writer, domain);
  open_packet(domain, time_us);
}
/* SPDX-License-Identifier: MIT */
