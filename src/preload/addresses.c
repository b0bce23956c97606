/* A set of addresses without locks.
 *
 * A counting filter of bytes answers "not sampled" for nearly every free: its byte for the address
 * is zero. A byte that reaches 255 stays there. Where the filter's byte is not zero, an
 * open-addressing table decides, which is probed linearly for at most PROBES slots. A thread claims
 * a slot by compare-and-swap on the slot's address. An address is in the table at most once, since
 * only one live block has it. A slot whose block was removed is a tombstone (TAKEN): an insertion
 * may use the slot, and a search goes on behind it.
 */
#include "preload/addresses.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/metadata.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER = 1 << 16, SLOTS = TINY ? 16 : 1 << 17, PROBES = 64 };
enum { NEVER_USED = 0, TAKEN = 1 }; /* no block has these addresses */

struct slot {
  _Atomic(uintptr_t) block;
  struct sampled_block known; /* written by the block's owner */
};

static _Atomic(uint8_t) *filter;
static struct slot *slots;

static _Atomic(uint8_t) *filter_of(uint64_t hash) { return &filter[hash >> 48]; }

static void filter_add(uint64_t hash, int change) {
  uint8_t old = atomic_load_explicit(filter_of(hash), memory_order_relaxed);
  while (old != UINT8_MAX &&
         !atomic_compare_exchange_weak_explicit(filter_of(hash), &old, (uint8_t)(old + change),
                                                memory_order_relaxed, memory_order_relaxed))
    ;
}

static struct slot *find_addresses(const void *block, uint64_t hash) {
  for (unsigned i = 0; i < PROBES; i++) {
    struct slot *slot = &slots[(hash + i) % SLOTS];
    uintptr_t found = atomic_load_explicit(&slot->block, memory_order_acquire);
    if (found == (uintptr_t)block) return slot;
    if (found == NEVER_USED) return NULL;
  }
  return NULL;
}

/* ---- shared ---- */

bool addresses_create(void) {
  filter = metadata_map(FILTER);
  slots = metadata_map(SLOTS * sizeof *slots);
  return filter && slots;
}

struct sampled_block *addresses_insert(const void *block) {
  uint64_t hash = hash_mix((uintptr_t)block);
  for (unsigned i = 0; i < PROBES; i++) {
    struct slot *slot = &slots[(hash + i) % SLOTS];
    uintptr_t found = atomic_load_explicit(&slot->block, memory_order_relaxed);
    if (found != NEVER_USED && found != TAKEN) continue;
    if (!atomic_compare_exchange_strong_explicit(&slot->block, &found, (uintptr_t)block, memory_order_acq_rel,
                                                 memory_order_relaxed))
      continue;
    slot->known = (struct sampled_block){
        .bytes = 0}; /* no thread looks for the block yet: the program does not have it */
    filter_add(hash, 1);
    return &slot->known;
  }
  return NULL;
}

struct sampled_block *addresses_find(const void *block) {
  uint64_t hash = hash_mix((uintptr_t)block);
  /* A search for NULL, which programs free too, would find an unused slot. */
  if (!block || !atomic_load_explicit(filter_of(hash), memory_order_relaxed)) return NULL;
  struct slot *slot = find_addresses(block, hash);
  return slot ? &slot->known : NULL;
}

void addresses_remove(struct sampled_block *known) {
  struct slot *slot = (struct slot *)((char *)known - offsetof(struct slot, known));
  uint64_t hash = hash_mix(atomic_load_explicit(&slot->block, memory_order_relaxed));
  atomic_store_explicit(&slot->block, TAKEN, memory_order_release);
  filter_add(hash, -1);
}
/* SPDX-License-Identifier: MIT */
