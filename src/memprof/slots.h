/* Slots of one size with numbers and fixed addresses, taken and given back by any thread without a lock.
 *
 * Chunk k holds `first << k` slots, is mapped when it is first needed, and stays. A free slot's first word is the number
 * of the next free one; the head of that list carries a count of changes in its upper half, so that a head that was
 * taken and given back meanwhile is not mistaken for an unchanged one. A slot that was given back may still be read by
 * who held a pointer to it: memory is never unmapped before slots_close, and the first word is the only one that a free
 * slot changes. */
#ifndef MEMPROF_SLOTS_H
#define MEMPROF_SLOTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { SLOT_CHUNKS = 28 };

struct slots {
  /* Set by slots_open; constant afterwards. */
  size_t slot_bytes; /* a multiple of 8 */
  size_t limit;
  /* Written by any thread. */
  _Atomic(uint64_t) free;     /* changes << 32 | number + 1 of the first free slot; pairs with slots_take */
  _Atomic(uint32_t) numbered; /* slots ever taken are those below; pairs with slots_at */
  _Atomic(char *) chunks[SLOT_CHUNKS]; /* NULL until mapped; pairs with slots_at */
};

/* At most `limit` slots of `slot_bytes` each are taken at a time. */
void slots_open(struct slots *slots, size_t slot_bytes, size_t limit);

/* Unmaps everything. */
void slots_close(struct slots *slots);

/* A slot, and its number in `*number`; zeroed on its first use, else as it was given back, but for its first word. NULL
 * if the limit is reached or there is no memory. */
void *slots_take(struct slots *slots, uint32_t *number);

void slots_give(struct slots *slots, void *slot, uint32_t number);

/* How many slots were ever taken: they have the numbers below. */
uint32_t slots_numbered(const struct slots *slots);

/* The slot of a number below slots_numbered. */
void *slots_at(const struct slots *slots, uint32_t number);

/* How many slots are free among those that were ever taken. Only while nobody takes or gives back. */
uint32_t slots_free_count(const struct slots *slots);

size_t slots_mapped_bytes(const struct slots *slots);

#endif
/* SPDX-License-Identifier: MIT */
