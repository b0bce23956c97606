/* The store of callstacks that are kept. */
#include "callstack/stack.h"

#include "base/check.h"
#include <stddef.h>

struct stored {
  uint64_t free_link; /* belongs to slots.c */
  struct wn_callstack stack;
  uint32_t frame[];
};

static size_t slot_bytes(unsigned class) {
  size_t bytes = sizeof(struct stored) + (((size_t)STACK_FIRST << class) + 1) * sizeof(uint32_t);
  return (bytes + 7) / 8 * 8;
}

static unsigned class_for(size_t count) {
  unsigned class = 0;
  while (count > ((size_t)STACK_FIRST << class) + 1) class ++;
  return class;
}

/* ---- shared ---- */

void stack_store_open(struct stack_store *store, size_t most) {
  for (unsigned class = 0; class < STACK_CLASSES; class ++)
    slots_open(&store->classes[class], slot_bytes(class), most);
}

void stack_store_close(struct stack_store *store) {
  for (unsigned class = 0; class < STACK_CLASSES; class ++) slots_close(&store->classes[class]);
}

struct wn_callstack *stack_store_take(struct stack_store *store, size_t count, uint32_t **frames) {
  ASSERT(count <= CALLSTACK_FRAMES_MOST);
  unsigned class = class_for(count);
  uint32_t number;
  struct stored *stored = slots_take(&store->classes[class], stripe_of_thread(), &number);
  if (!stored) return NULL;
  *frames = stored->frame;
  stored->stack.frame = stored->frame;
  stored->stack.count = (uint32_t)count;
  stored->stack.where = STACK_IN_STORE + class;
  stored->stack.number = number;
  atomic_store_explicit(&stored->stack.references, 1, memory_order_relaxed);
  return &stored->stack;
}

void stack_store_give(struct stack_store *store, struct wn_callstack *stack) {
  void *slot = (char *)stack - offsetof(struct stored, stack);
  slots_give(&store->classes[stack->where - STACK_IN_STORE], slot, stack->number);
}

size_t stack_store_count(const struct stack_store *store) {
  size_t count = 0;
  for (unsigned class = 0; class < STACK_CLASSES; class ++)
    count += slots_numbered(&store->classes[class]) - slots_free_count(&store->classes[class]);
  return count;
}
/* SPDX-License-Identifier: MIT */
