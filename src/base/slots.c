/* Slots of one size: chunks that double, and lists of free ones by number. */
#include "base/slots.h"

#include "base/check.h"
#include "base/metadata.h"

/* Slots that a stripe takes at a time: a page full, or some. */
enum { FRESH = TINY ? 2 : 32, FRESH_BYTES = 4096 };

static size_t chunk_slots(unsigned chunk) { return (size_t)1 << chunk; }
static size_t chunk_start(unsigned chunk) { return chunk_slots(chunk) - SLOTS_FIRST; }

static char *chunk_map(struct slots *slots, unsigned chunk) {
  char *mapped = atomic_load_explicit(&slots->chunks[chunk], memory_order_acquire);
  if (mapped) return mapped;
  size_t bytes = chunk_slots(chunk) * slots->slot_bytes;
  char *fresh = metadata_map(bytes);
  if (!fresh) return NULL;
  if (atomic_compare_exchange_strong_explicit(&slots->chunks[chunk], &mapped, fresh, memory_order_acq_rel,
                                              memory_order_acquire))
    return fresh;
  metadata_unmap(fresh, bytes); /* another thread mapped it meanwhile */
  return mapped;
}

static _Atomic(uint64_t) *free_link(void *slot) { return slot; }

static unsigned stripe_of(void *slot) {
  return (unsigned)(atomic_load_explicit(free_link(slot), memory_order_relaxed) >> 32);
}

/* The head that replaces `head`: one change more, and another number. */
static inline uint64_t changed(uint64_t head, uint32_t first) { return ((head | UINT32_MAX) + 1) | first; }

static inline void *take_free(struct slots *slots, unsigned stripe, uint32_t *number) {
  _Atomic(uint64_t) *free = &slots->free[stripe].head;
  uint64_t head = atomic_load_explicit(free, memory_order_acquire);
  while ((uint32_t)head) {
    *number = (uint32_t)head - 1;
    void *slot = slots_at(slots, *number);
    uint64_t rest = atomic_load_explicit(free_link(slot), memory_order_relaxed);
    if (atomic_compare_exchange_weak_explicit(free, &head, changed(head, (uint32_t)rest),
                                              memory_order_acquire, memory_order_acquire))
      return slot;
  }
  return NULL;
}

/* Puts a chain of free slots, linked from the first to the last, in front of a stripe's list. */
static void slots_push(struct slots *slots, unsigned stripe, uint32_t first, void *last) {
  _Atomic(uint64_t) *free = &slots->free[stripe].head;
  uint64_t head = atomic_load_explicit(free, memory_order_relaxed);
  do {
    atomic_store_explicit(free_link(last), (uint64_t)stripe << 32 | (uint32_t)head, memory_order_relaxed);
  } while (!atomic_compare_exchange_weak_explicit(free, &head, changed(head, first + 1), memory_order_release,
                                                  memory_order_relaxed));
}

/* Gives the caller fresh numbers, from `*first` on. Returns how many; 0 at the limit, or if there
 * is no memory. */
static uint32_t number_fresh(struct slots *slots, uint32_t *first) {
  uint32_t full = slots->slot_bytes < FRESH_BYTES ? (uint32_t)(FRESH_BYTES / slots->slot_bytes) : 1;
  uint32_t fresh = full < FRESH ? full : FRESH;
  uint32_t next = atomic_load_explicit(&slots->numbered, memory_order_relaxed), count;
  do {
    unsigned chunk = slots_chunk(next);
    if (next >= slots->limit || !chunk_map(slots, chunk)) return 0;
    size_t in_chunk = chunk_start(chunk) + chunk_slots(chunk) - next, left = slots->limit - next;
    size_t most = in_chunk < left ? in_chunk : left;
    count = most < fresh ? (uint32_t)most : fresh;
  } while (!atomic_compare_exchange_weak_explicit(&slots->numbered, &next, next + count, memory_order_release,
                                                  memory_order_relaxed));
  *first = next;
  return count;
}

/* Takes the first of some fresh slots, and leaves the others to the stripe. */
static void *slots_take_fresh(struct slots *slots, unsigned stripe, uint32_t *number) {
  uint32_t count = number_fresh(slots, number);
  if (!count) return NULL;
  for (uint32_t i = 0; i < count; i++)
    atomic_store_explicit(free_link(slots_at(slots, *number + i)), (uint64_t)stripe << 32 | (*number + i + 2),
                          memory_order_relaxed);
  if (count > 1) slots_push(slots, stripe, *number + 1, slots_at(slots, *number + count - 1));
  return slots_at(slots, *number);
}

/* Takes a slot where the stripe has no free one: a fresh one, or at the limit another stripe's. */
static __attribute__((noinline)) void *take_otherwise(struct slots *slots, unsigned stripe,
                                                      uint32_t *number) {
  void *slot = slots_take_fresh(slots, stripe, number);
  for (unsigned other = 0; !slot && other < STRIPES; other++) slot = take_free(slots, other, number);
  return slot;
}

/* ---- shared ---- */

void slots_open(struct slots *slots, size_t slot_bytes, size_t limit) {
  ASSERT(slot_bytes % 8 == 0 && limit <= UINT32_C(1) << 31);
  slots->slot_bytes = slot_bytes;
  slots->limit = limit;
}

void slots_close(struct slots *slots) {
  for (unsigned chunk = 0; chunk < SLOT_CHUNKS; chunk++) {
    metadata_unmap(atomic_load(&slots->chunks[chunk]), chunk_slots(chunk) * slots->slot_bytes);
    atomic_store(&slots->chunks[chunk], NULL);
  }
  for (unsigned stripe = 0; stripe < STRIPES; stripe++) atomic_store(&slots->free[stripe].head, 0);
  atomic_store(&slots->numbered, 0);
}

void *slots_take(struct slots *slots, unsigned stripe, uint32_t *number) {
  void *slot = take_free(slots, stripe, number);
  return slot ? slot : take_otherwise(slots, stripe, number);
}

void slots_give(struct slots *slots, void *slot, uint32_t number) {
  slots_push(slots, stripe_of(slot), number, slot);
}

uint32_t slots_numbered(const struct slots *slots) {
  return atomic_load_explicit(&slots->numbered, memory_order_acquire);
}

uint32_t slots_free_count(const struct slots *slots) {
  uint32_t count = 0;
  for (unsigned stripe = 0; stripe < STRIPES; stripe++) {
    uint32_t next = (uint32_t)atomic_load(&slots->free[stripe].head);
    for (; next; count++) next = (uint32_t)atomic_load(free_link(slots_at(slots, next - 1)));
  }
  return count;
}

size_t slots_mapped_bytes(const struct slots *slots) {
  size_t bytes = 0;
  for (unsigned chunk = 0; chunk < SLOT_CHUNKS; chunk++)
    if (atomic_load(&slots->chunks[chunk])) bytes += chunk_slots(chunk) * slots->slot_bytes;
  return bytes;
}
/* SPDX-License-Identifier: MIT */
