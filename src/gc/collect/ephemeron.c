/* Rounds of marking the data of ephemerons. */
#include "gc/collect/ephemeron.h"

#include "base/metadata.h"
#include "gc/collect/collector.h"

static bool ephemeron_is_unmarked(const struct wn_heap *heap, wn_value value) {
  return weak_is_block(value) && !heap_is_young(heap, value) &&
         header_colour(header_of(value)) != heap_live_colour(heap);
}

static wn_value *data_of(wn_value block) { return (wn_value *)block + WEAK_DATA; }

/* A condition of the ephemeron that is not marked; EMPTY if all are met. The world is stopped, or the
 * caller has weak.lock. */
static wn_value unmet(struct wn_heap *heap, wn_value block) {
  const wn_value *words = (const wn_value *)block;
  heap->collector->weak.ephemerons.examined++;
  if (ephemeron_is_unmarked(heap, block)) return block;
  for (size_t i = WEAK_KEYS; i < WEAK_KEYS + weak_keys(block); i++) {
    wn_value key = field_load(&words[i]);
    if (ephemeron_is_unmarked(heap, key)) return key;
  }
  return WEAK_EMPTY;
}

/* ---- the table ---- */

static size_t ephemeron_slot_of(const struct ephemerons *of, wn_value block) {
  return (size_t)((block >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (of->capacity - 1);
}

/* The slot of a block, or a free one. */
static struct awaited *ephemeron_find(const struct ephemerons *of, wn_value block) {
  size_t at = ephemeron_slot_of(of, block);
  for (;; at = (at + 1) & (of->capacity - 1)) {
    wn_value found = atomic_load_explicit(&of->table[at].block, memory_order_acquire);
    if (found == block || !found) return &of->table[at];
  }
}

static void ephemeron_wait_for(struct ephemerons *of, wn_value block, uint32_t ephemeron) {
  struct awaited *slot = ephemeron_find(of, block);
  if (!slot->block && 4 * ++of->used > 3 * of->capacity) return; /* RECHECK */
  of->next[ephemeron] = slot->first;
  slot->first = ephemeron + 1;
  atomic_store_explicit(&slot->block, block, memory_order_release);
}

/* Two slots for each condition of the ephemerons whose data are not marked. False if there is no
 * memory, or if there are too many for their numbers. */
static bool make_table(struct wn_heap *heap, size_t conditions) {
  struct weak *weak = &heap->collector->weak;
  struct ephemerons *of = &weak->ephemerons;
  size_t capacity = 16;
  while (capacity < 2 * conditions) capacity *= 2;
  if (weak->count >= UINT32_MAX) return false;
  of->table = metadata_map(capacity * sizeof *of->table);
  of->next = of->table ? metadata_map(weak->count * sizeof *of->next) : NULL;
  of->capacity = capacity;
  of->used = 0;
  of->count = weak->count;
  if (of->next) return true;
  ephemerons_end(heap);
  return false;
}

/* ---- a round ---- */

/* The list of the ephemerons that wait for a block, which it leaves. */
static uint32_t take_waiting(struct ephemerons *of, wn_value block) {
  struct awaited *slot = ephemeron_find(of, block);
  uint32_t waiting = slot->first;
  slot->first = 0;
  return waiting;
}

/* Looks at each ephemeron of a list, and at those that waited for data which this marks. */
static void ephemeron_advance(struct wn_heap *heap, struct marker *marker, uint32_t list) {
  const struct weak *weak = &heap->collector->weak;
  struct ephemerons *of = &heap->collector->weak.ephemerons;
  while (list) {
    uint32_t ephemeron = list - 1;
    wn_value block = weak->blocks[ephemeron], awaited = unmet(heap, block), data = field_load(data_of(block));
    list = of->next[ephemeron];
    if (awaited) {
      ephemeron_wait_for(of, awaited, ephemeron);
    } else if (ephemeron_is_unmarked(heap, data)) {
      mark_value(heap, marker, data);
      for (uint32_t freed = take_waiting(of, data), next; freed; freed = next) {
        next = of->next[freed - 1];
        of->next[freed - 1] = list;
        list = freed;
      }
    }
  }
}

static bool is_waiting(const struct wn_heap *heap, wn_value block) {
  return ephemeron_is_unmarked(heap, field_load(data_of(block)));
}

/* Counts the conditions of all ephemerons whose data are not marked. `*ready`: the conditions of
 * one of them are met. */
static size_t conditions_of(struct wn_heap *heap, bool *ready) {
  const struct weak *weak = &heap->collector->weak;
  size_t conditions = 0;
  *ready = false;
  for (size_t i = 0; i < weak->count; i++) {
    if (!is_waiting(heap, weak->blocks[i])) continue;
    conditions += 1 + weak_keys(weak->blocks[i]);
    *ready = *ready || !unmet(heap, weak->blocks[i]);
  }
  return conditions;
}

/* Without a table a round finds one link of a chain. */
static void mark_ready(struct wn_heap *heap, struct marker *marker) {
  const struct weak *weak = &heap->collector->weak;
  for (size_t i = 0; i < weak->count; i++)
    if (is_waiting(heap, weak->blocks[i]) && !unmet(heap, weak->blocks[i]))
      mark_value(heap, marker, *data_of(weak->blocks[i]));
}

/* ---- shared ---- */

bool ephemerons_mark(struct wn_heap *heap, struct marker *marker) {
  struct weak *weak = &heap->collector->weak;
  bool ready;
  ephemerons_end(heap);
  size_t conditions = conditions_of(heap, &ready);
  if (!ready) return false;
  if (make_table(heap, conditions)) {
    for (size_t i = 0; i < weak->count; i++) {
      weak->ephemerons.next[i] = 0;
      if (is_waiting(heap, weak->blocks[i])) ephemeron_advance(heap, marker, (uint32_t)i + 1);
    }
    atomic_store(&weak->ephemerons.watching, true);
  } else {
    mark_ready(heap, marker);
  }
  if (mark_has_others(heap)) mark_give_all(heap, marker);
  return true;
}

void ephemerons_marked(struct wn_heap *heap, struct marker *marker, wn_value block) {
  struct weak *weak = &heap->collector->weak;
  struct ephemerons *of = &weak->ephemerons;
  if (atomic_load_explicit(&ephemeron_find(of, block)->block, memory_order_relaxed) != block) return;
  lock_acquire(&weak->lock, LOCK_RANK_WEAK);
  ephemeron_advance(heap, marker, take_waiting(of, block));
  lock_release(&weak->lock, LOCK_RANK_WEAK);
}

void ephemerons_end(struct wn_heap *heap) {
  struct ephemerons *of = &heap->collector->weak.ephemerons;
  atomic_store(&of->watching, false);
  if (of->table) metadata_unmap(of->table, of->capacity * sizeof *of->table);
  if (of->next) metadata_unmap(of->next, of->count * sizeof *of->next);
  of->table = NULL;
  of->next = NULL;
}
/* SPDX-License-Identifier: MIT */
