/* Slots of one size: chunks that double, and a free list by number. */
#include "memprof/slots.h"

#include "base/check.h"
#include "base/metadata.h"

enum { FIRST_CHUNK = TINY ? 1 : 256 };

/* Chunk k holds the numbers from FIRST_CHUNK * (2^k - 1) on. */
static unsigned chunk_of(uint32_t number) { return 31u - (unsigned)__builtin_clz(number / FIRST_CHUNK + 1); }
static size_t chunk_slots(unsigned chunk) { return (size_t)FIRST_CHUNK << chunk; }
static size_t chunk_start(unsigned chunk) { return chunk_slots(chunk) - FIRST_CHUNK; }

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

static void *take_free(struct slots *slots, uint32_t *number) {
  uint64_t head = atomic_load_explicit(&slots->free, memory_order_acquire);
  while ((uint32_t)head) {
    *number = (uint32_t)head - 1;
    void *slot = slots_at(slots, *number);
    uint64_t rest = atomic_load_explicit(free_link(slot), memory_order_relaxed);
    uint64_t changed = ((head >> 32) + 1) << 32 | (uint32_t)rest;
    if (atomic_compare_exchange_weak_explicit(&slots->free, &head, changed, memory_order_acquire,
                                              memory_order_acquire))
      return slot;
  }
  return NULL;
}

static void *take_fresh(struct slots *slots, uint32_t *number) {
  uint32_t next = atomic_load_explicit(&slots->numbered, memory_order_relaxed);
  for (;;) {
    unsigned chunk = chunk_of(next);
    char *mapped = next < slots->limit && chunk < SLOT_CHUNKS ? chunk_map(slots, chunk) : NULL;
    if (!mapped) return NULL;
    if (atomic_compare_exchange_weak_explicit(&slots->numbered, &next, next + 1, memory_order_release,
                                              memory_order_relaxed)) {
      *number = next;
      return mapped + (next - chunk_start(chunk)) * slots->slot_bytes;
    }
  }
}

/* ---- shared ---- */

void slots_open(struct slots *slots, size_t slot_bytes, size_t limit) {
  ASSERT(slot_bytes % 8 == 0);
  slots->slot_bytes = slot_bytes;
  slots->limit = limit;
}

void slots_close(struct slots *slots) {
  for (unsigned chunk = 0; chunk < SLOT_CHUNKS; chunk++) {
    metadata_unmap(atomic_load(&slots->chunks[chunk]), chunk_slots(chunk) * slots->slot_bytes);
    atomic_store(&slots->chunks[chunk], NULL);
  }
  atomic_store(&slots->free, 0);
  atomic_store(&slots->numbered, 0);
}

void *slots_take(struct slots *slots, uint32_t *number) {
  void *slot = take_free(slots, number);
  return slot ? slot : take_fresh(slots, number);
}

void slots_give(struct slots *slots, void *slot, uint32_t number) {
  uint64_t head = atomic_load_explicit(&slots->free, memory_order_relaxed), changed;
  do {
    atomic_store_explicit(free_link(slot), (uint32_t)head, memory_order_relaxed);
    changed = ((head >> 32) + 1) << 32 | (number + 1);
  } while (!atomic_compare_exchange_weak_explicit(&slots->free, &head, changed, memory_order_release,
                                                  memory_order_relaxed));
}

uint32_t slots_numbered(const struct slots *slots) {
  return atomic_load_explicit(&slots->numbered, memory_order_acquire);
}

void *slots_at(const struct slots *slots, uint32_t number) {
  unsigned chunk = chunk_of(number);
  char *mapped = atomic_load_explicit(&slots->chunks[chunk], memory_order_acquire);
  return mapped + (number - chunk_start(chunk)) * slots->slot_bytes;
}

uint32_t slots_free_count(const struct slots *slots) {
  uint32_t count = 0;
  uint32_t next = (uint32_t)atomic_load(&slots->free);
  for (; next; count++) next = (uint32_t)atomic_load(free_link(slots_at(slots, next - 1)));
  return count;
}

size_t slots_mapped_bytes(const struct slots *slots) {
  size_t bytes = 0;
  for (unsigned chunk = 0; chunk < SLOT_CHUNKS; chunk++)
    if (atomic_load(&slots->chunks[chunk])) bytes += chunk_slots(chunk) * slots->slot_bytes;
  return bytes;
}
/* SPDX-License-Identifier: MIT */
