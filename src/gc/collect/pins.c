/* The table of pinned blocks. */
#include "gc/collect/pins.h"

#include "base/metadata.h"
#include "gc/collect/collector.h"

enum { FIRST = TINY ? 4 : 256 };

static size_t pins_home(const struct pins *pins, wn_value block) {
  return (size_t)((block >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (pins->capacity - 1);
}

static size_t after(const struct pins *pins, size_t at) { return (at + 1) & (pins->capacity - 1); }

/* The block's slot, or a free one. */
static struct pin *pins_find(const struct pins *pins, wn_value block) {
  size_t at = pins_home(pins, block);
  while (pins->slots[at].block && pins->slots[at].block != block) at = after(pins, at);
  return &pins->slots[at];
}

static bool pins_grow(struct pins *pins) {
  struct pins grown = {.count = pins->count, .capacity = pins->capacity ? 2 * pins->capacity : FIRST};
  grown.slots = metadata_map(grown.capacity * sizeof *grown.slots);
  if (!grown.slots) return false;
  for (size_t i = 0; i < pins->capacity; i++)
    if (pins->slots[i].block) *pins_find(&grown, pins->slots[i].block) = pins->slots[i];
  metadata_unmap(pins->slots, pins->capacity * sizeof *pins->slots);
  pins->slots = grown.slots;
  pins->capacity = grown.capacity;
  return true;
}

/* Moves up what a search would not find behind a free slot. */
static void pins_close_gap(struct pins *pins, size_t gap) {
  for (size_t at = after(pins, gap); pins->slots[at].block; at = after(pins, at)) {
    size_t distance = (at - pins_home(pins, pins->slots[at].block)) & (pins->capacity - 1);
    if (distance < ((at - gap) & (pins->capacity - 1))) continue;
    pins->slots[gap] = pins->slots[at];
    pins->slots[at] = (struct pin){0};
    gap = at;
  }
}

static bool add_pins(struct pins *pins, wn_value block) {
  struct pin *pin = pins->capacity ? pins_find(pins, block) : NULL;
  if (!pin || !pin->block) {
    if (2 * pins->count >= pins->capacity && !pins_grow(pins)) return false;
    pin = pins_find(pins, block);
    pins->count++;
  }
  pin->block = block;
  pin->count++;
  return true;
}

static bool remove_one(struct pins *pins, wn_value block) {
  struct pin *pin = pins->count ? pins_find(pins, block) : NULL;
  if (!pin || !pin->block) return false;
  if (--pin->count) return true;
  *pin = (struct pin){0};
  pins->count--;
  pins_close_gap(pins, (size_t)(pin - pins->slots));
  return true;
}

/* ---- shared ---- */

bool pins_add(struct wn_heap *heap, wn_value block) {
  struct pins *pins = &heap->collector->pins;
  lock_acquire(&pins->lock, LOCK_RANK_PINS);
  bool added = add_pins(pins, block);
  lock_release(&pins->lock, LOCK_RANK_PINS);
  return added;
}

bool pins_remove(struct wn_heap *heap, wn_value block) {
  struct pins *pins = &heap->collector->pins;
  lock_acquire(&pins->lock, LOCK_RANK_PINS);
  bool removed = remove_one(pins, block);
  lock_release(&pins->lock, LOCK_RANK_PINS);
  return removed;
}

bool pins_has(const struct wn_heap *heap, wn_value block) {
  const struct pins *pins = &heap->collector->pins;
  return pins->count && pins_find(pins, block)->block;
}

void pins_each(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  const struct pins *pins = &heap->collector->pins;
  for (size_t i = 0; i < pins->capacity; i++)
    if (pins->slots[i].block) visit(visitor, &pins->slots[i].block);
}

void pins_destroy(struct wn_heap *heap) {
  struct pins *pins = &heap->collector->pins;
  metadata_unmap(pins->slots, pins->capacity * sizeof *pins->slots);
}
/* SPDX-License-Identifier: MIT */
