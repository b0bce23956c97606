/* Slots of one size with numbers and fixed addresses, taken and given back by any thread without a
 * lock.
 *
 * Chunk k holds the numbers n for which 2^k is the largest power of two that is at most n +
 * SLOTS_FIRST. It is mapped when it is first needed, and stays. Each stripe has a list of free
 * slots, and takes fresh slots some at a time. A slot goes back to the stripe that took it,
 * whichever thread gives it back: so threads that take and give back their own slots never meet.
 * Only at the limit does a thread take a slot of another stripe.
 *
 * A slot's first word holds its stripe and, while it is free, the number of the next free one. The
 * head of a list has a count of changes in its upper half, so that a head that was taken and given
 * back meanwhile is not mistaken for an unchanged one (ABA). A thread that has a pointer to a slot
 * may still read the slot after it was given back: memory is never unmapped before slots_close, and
 * only the first word of a free slot changes. */
#pragma once

#include "base/stripe.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { SLOT_CHUNKS = 32, SLOTS_FIRST = TINY ? 1 : 256 };

struct slots_free {
  _Alignas(STRIPE_BYTES) _Atomic(uint64_t)
      head; /* changes << 32 | number + 1 of the first; pairs with slots_take */
};

struct slots {
  /* Set by slots_open; constant afterwards. */
  size_t slot_bytes; /* a multiple of 8 */
  size_t limit;
  /* Written by any thread. */
  struct slots_free free[STRIPES];
  _Atomic(uint32_t) numbered;          /* the slots below it belong to stripes; pairs with slots_at */
  _Atomic(char *) chunks[SLOT_CHUNKS]; /* NULL until mapped; pairs with slots_at */
};

/* At most `limit` slots of `slot_bytes` each are taken at a time. */
void slots_open(struct slots *slots, size_t slot_bytes, size_t limit);

/* Unmaps everything. */
void slots_close(struct slots *slots);

/* Takes a slot, one of the stripe's if it has one, and stores its number in `*number`. A slot is
 * zeroed on its first use, and later as it was given back, except for its first word. NULL if the
 * limit is reached or there is no memory. */
void *slots_take(struct slots *slots, unsigned stripe, uint32_t *number);

void slots_give(struct slots *slots, void *slot, uint32_t number);

/* All slots that were ever taken have numbers below this one. Slots below it that were not taken
 * yet are zero except for the first word. */
uint32_t slots_numbered(const struct slots *slots);

static inline unsigned slots_chunk(uint32_t number) {
  return 31u - (unsigned)__builtin_clz(number + SLOTS_FIRST);
}

/* The slot of a number below slots_numbered. */
static inline void *slots_at(const struct slots *slots, uint32_t number) {
  unsigned chunk = slots_chunk(number);
  char *mapped = atomic_load_explicit(&slots->chunks[chunk], memory_order_acquire);
  return mapped + (number + SLOTS_FIRST - (1u << chunk)) * slots->slot_bytes;
}

/* How many slots below slots_numbered are free. Only while no thread takes or gives back a slot. */
uint32_t slots_free_count(const struct slots *slots);

size_t slots_mapped_bytes(const struct slots *slots);
/* SPDX-License-Identifier: MIT */
