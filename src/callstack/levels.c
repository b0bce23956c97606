/* The slow half of the table: searches beyond the first slot, insertions, and the mapping of
 * levels. */
#include "callstack/levels.h"

#include "base/check.h"
#include "base/metadata.h"

static const uint64_t reserved_key = UINT64_MAX;

static struct slot *level_map(struct levels *levels, unsigned level) {
  size_t bytes = levels_size(levels, level) * sizeof(struct slot);
  struct slot *fresh = metadata_map(bytes);
  if (!fresh) return NULL;
  if (level == 0) atomic_store_explicit(&fresh[0].key, reserved_key, memory_order_relaxed);
  struct slot *present = NULL;
  if (atomic_compare_exchange_strong_explicit(&levels->level[level], &present, fresh, memory_order_acq_rel,
                                              memory_order_acquire))
    return fresh;
  metadata_unmap(fresh, bytes);
  return present;
}

enum { ALIKE_MOST = LEVELS_WINDOW / 2, ROUND_SLOTS = 64 };

/* A key's windows, one after the other. */
struct probe {
  uint64_t key, hash;
  unsigned level;
  unsigned round; /* in this level */
  unsigned alike; /* keys that were met which differ from this one in the highest bit at most */
};

static struct probe probe_begin(uint64_t key) { return (struct probe){.key = key, .hash = levels_hash(key)}; }

static bool is_alike(uint64_t key, uint64_t other) { return (key ^ other) << 1 == 0; }

/* Where the window begins. */
static size_t probe_at(const struct levels *levels, const struct probe *probe) {
  return (size_t)(probe->hash >> (64 - levels->first_bits - probe->level));
}

/* Goes to the next window. `alike`: how many such keys the last one had, which was full. A level
 * has a limited number of windows for a key, so that no search goes round in it for ever. */
static void probe_next(const struct levels *levels, struct probe *probe, unsigned alike) {
  probe->alike += alike;
  if (alike >= ALIKE_MOST && ++probe->round < levels_size(levels, probe->level) / ROUND_SLOTS) {
    probe->hash = levels_hash(probe->key ^ (uint64_t)probe->alike << 32);
  } else {
    probe->round = 0;
    probe->level++;
  }
}

/* Returns the key's slot in the window; if the key has none, takes the first free one. NULL, and
 * how many keys are alike, if the window is full of other keys. */
static struct slot *window_insert(struct levels *levels, struct slot *slots, const struct probe *probe,
                                  unsigned *alike) {
  size_t mask = levels_size(levels, probe->level) - 1;
  size_t at = probe_at(levels, probe);
  *alike = 0;
  for (unsigned i = 0; i < LEVELS_WINDOW; i++, at++) {
    struct slot *slot = &slots[at & mask];
    uint64_t found = atomic_load_explicit(&slot->key, memory_order_acquire);
    if (!found && atomic_compare_exchange_strong_explicit(&slot->key, &found, probe->key,
                                                          memory_order_acq_rel, memory_order_acquire)) {
      atomic_fetch_add_explicit(&levels->used, 1, memory_order_relaxed);
      return slot;
    }
    if (found == probe->key) return slot;
    *alike += is_alike(found, probe->key);
  }
  return NULL;
}

/* ---- shared ---- */

bool levels_create(struct levels *levels, unsigned first_bits, uint32_t slots_most) {
  *levels = (struct levels){.first_bits = first_bits};
  while (levels->first_bits > 3 && levels_size(levels, 0) > slots_most) levels->first_bits--;
  size_t total = 0;
  do {
    total += levels_size(levels, levels->count_most++);
  } while (levels->count_most < LEVELS_MOST && levels->first_bits + levels->count_most < 31 &&
           total + levels_size(levels, levels->count_most) <= slots_most);
  return level_map(levels, 0) != NULL;
}

void levels_destroy(struct levels *levels) {
  for (unsigned level = 0; level < levels->count_most; level++)
    metadata_unmap(atomic_load(&levels->level[level]), levels_size(levels, level) * sizeof(struct slot));
  *levels = (struct levels){0};
}

struct slot *levels_insert(struct levels *levels, uint64_t key, uint32_t *index) {
  ASSERT(key != 0 && key != reserved_key);
  unsigned alike;
  for (struct probe probe = probe_begin(key); probe.level < levels->count_most;
       probe_next(levels, &probe, alike)) {
    struct slot *slots = atomic_load_explicit(&levels->level[probe.level], memory_order_acquire);
    if (!slots) slots = level_map(levels, probe.level);
    if (!slots) return NULL;
    struct slot *slot = window_insert(levels, slots, &probe, &alike);
    if (!slot) continue;
    *index = levels_index(levels, slot);
    ASSERT(levels_at(levels, *index) == slot);
    return slot;
  }
  return NULL;
}

struct slot *levels_find_slow(const struct levels *levels, uint64_t key, uint32_t *index) {
  unsigned alike;
  for (struct probe probe = probe_begin(key); probe.level < levels->count_most;
       probe_next(levels, &probe, alike)) {
    struct slot *slots = atomic_load_explicit(&levels->level[probe.level], memory_order_acquire);
    if (!slots) return NULL;
    size_t mask = levels_size(levels, probe.level) - 1, at = probe_at(levels, &probe);
    alike = 0;
    for (unsigned i = 0; i < LEVELS_WINDOW; i++, at++) {
      uint64_t found = atomic_load_explicit(&slots[at & mask].key, memory_order_acquire);
      if (found == key) {
        *index = levels_index(levels, &slots[at & mask]);
        return &slots[at & mask];
      }
      if (!found) return NULL;
      alike += is_alike(found, key);
    }
  }
  return NULL;
}

uint32_t levels_index(const struct levels *levels, const struct slot *slot) {
  size_t first = 0;
  for (unsigned level = 0; level < levels->count_most; level++) {
    size_t size = levels_size(levels, level);
    uintptr_t slots = (uintptr_t)atomic_load_explicit(&levels->level[level], memory_order_acquire);
    uintptr_t offset = (uintptr_t)slot - slots;
    if (slots && (uintptr_t)slot >= slots && offset < size * sizeof(struct slot))
      return (uint32_t)(first + offset / sizeof(struct slot));
    first += size;
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
