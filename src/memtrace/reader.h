/* Reads the events of a Memtrace file, of all its domains in the order of time, as they were written.
 * The source (memtrace_trace.c) and the command `winnow dump` read by it.
 *
 * The packets of a domain stand in the file in the order of time, those of different domains do not. So
 * the file is indexed first (index.h), and then the domains' sequences of packets are merged.
 * Of each domain one packet is in memory, and the state by which its stacks are coded.
 *
 * CLOCK. Times are those of the wall clock, which can be set back. The time of an event is then raised
 * to that of the one before, of the same domain, so times never decrease. The header of a packet in
 * which the clock was set back ends before it begins; its events have the time of its end at least.
 *
 * DAMAGE. A packet whose events do not fit together is read up to where they cease to (WALK in
 * packet.h). The next packet has its own time and numbers. Its stacks continue the lost ones,
 * and are in part lost until the writer has said all anew (LOST in stack.h). */
#pragma once

#include "memtrace/index.h"
#include "memtrace/stack.h"

enum memtrace_kind {
  MEMTRACE_ALLOCATION,
  MEMTRACE_PROMOTION, /* from the minor heap to the major */
  MEMTRACE_COLLECTION /* the block was found dead */
};

struct memtrace_event {
  enum memtrace_kind kind;
  uint64_t time_us;       /* since the run began */
  uint16_t domain;        /* its id */
  uint32_t domain_number; /* from 0 on, for tables */
  uint64_t block;
  /* Of an allocation. */
  uint64_t length;  /* in words, without the header */
  uint64_t samples; /* 1 or more */
  enum memtrace_source source;
  struct memtrace_stack stack; /* `common` is relative to the domain's allocation before */
};

struct memtrace_reader;

/* Sets wn_last_error on failure. */
wn_status memtrace_reader_open(const char *path, struct memtrace_reader **reader);
void memtrace_reader_close(struct memtrace_reader *reader);

/* Reads the next event. False at the end. The codes of its stack are valid until the next call. */
bool memtrace_reader_next(struct memtrace_reader *reader, struct memtrace_event *event);

/* All of these are known from the start. */
const struct memtrace_info *memtrace_reader_info(const struct memtrace_reader *reader);
const struct memtrace_names *memtrace_reader_names(const struct memtrace_reader *reader);
uint32_t memtrace_reader_domains(const struct memtrace_reader *reader);

/* When a domain with events began its first packet, in microseconds since 1970. */
struct memtrace_begin {
  uint64_t time_us, first_block; /* the smallest number of a block that it can have */
  uint32_t number;               /* as in an event */
  uint16_t id;
};

/* The begins of the domains with events, in the order of time, and of equal times in that of their blocks. The
 * caller frees them; NULL without memory. */
struct memtrace_begin *memtrace_reader_begins(const struct memtrace_reader *reader, uint32_t *count);

/* What is missing from what was read so far. */
const struct memtrace_loss *memtrace_reader_loss(const struct memtrace_reader *reader);

/* The fraction of the file that has been read, 0 to 1. */
double memtrace_reader_position(const struct memtrace_reader *reader);
/* SPDX-License-Identifier: MIT */
