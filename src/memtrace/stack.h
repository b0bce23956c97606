/* The stacks of Memtrace's allocations, decoded.
 *
 * A stack is a list of codes, outermost caller first; names.h tells what a code stands for. Of
 * each stack only the frames are written that differ from the stack before, of the same domain. They are
 * written as slots of a cache: a slot has a code, and the slot that followed it last. A codeword names a
 * slot, gives it a new code where needed, and says how many of the following frames are those that the
 * cache predicts. The writer chooses slots as it likes; a reader needs only the cache's two columns.
 *
 * LOST. Where packets are missing, the reader's cache differs from the writer's. What is not known then
 * is MEMTRACE_LOST, in the cache and in stacks. Nearly every stack changes predictions, so these are all
 * unknown. Codes are rarely replaced, so a slot keeps the one that it has, and is unknown if it has none.
 * Codewords make slots and predictions known again. The header of each packet tells one slot of the
 * writer's cache, which must be the same here; a difference makes all codes unknown. So of the frames
 * behind missing packets, few can be wrong: those whose code was replaced there. */
#pragma once

#include "memtrace/packet.h"

/* No code is this number: they have 63 bits, with the sign. */
#define MEMTRACE_LOST ((uint64_t)1 << 62)

enum {
  MEMTRACE_NO_SLOT = MEMTRACE_SLOTS, /* follows a slot whose prediction is not known, and itself */
  MEMTRACE_DEPTH_MOST = 1 << 20      /* frames beyond it, the innermost ones, are left out */
};

struct memtrace_stacks {
  uint64_t code[MEMTRACE_SLOTS + 1];
  uint16_t next[MEMTRACE_SLOTS + 1];
  /* The stack decoded last. */
  uint64_t *codes;
  size_t depth, capacity;
  bool depth_lost; /* the stack before is not known at all */
  bool has_lost;   /* something was lost: stacks may have lost codes */
};

/* An allocation's stack. */
struct memtrace_stack {
  const uint64_t *codes; /* outermost caller first; valid until the next decoding */
  size_t depth;
  size_t common;   /* so many of the codes are the same as in the stack before */
  uint64_t prefix; /* what the file says for `common`; it is more if the stack before was cut */
  bool lost;       /* some of the codes are lost, or were too many */
};

/* The state before the first packet. NULL without memory. */
struct memtrace_stacks *memtrace_stacks_create(void);
void memtrace_stacks_destroy(struct memtrace_stacks *stacks);

/* Decodes the codewords of an allocation. */
void memtrace_stack_decode(struct memtrace_stacks *stacks, struct memtrace_bytes *bytes,
                           const struct memtrace_allocation *allocation, struct memtrace_stack *stack);

/* Packets of the domain are missing: makes the stack before and all predictions unknown. */
void memtrace_stack_lose(struct memtrace_stacks *stacks);

/* Makes all codes unknown, too. */
void memtrace_cache_lose(struct memtrace_stacks *stacks);

/* Whether the slot that a header tells is the same here. True if it tells none, or the slot is not
 * known; then it becomes known. */
bool memtrace_cache_fits(struct memtrace_stacks *stacks, const struct memtrace_header *header);
/* SPDX-License-Identifier: MIT */
