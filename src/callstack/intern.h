/* All stacks as one tree: a stack is its innermost frame and the stack of its caller.
 *
 * A node is a slot of a table that only grows: the key is the caller's node and the frame (an index into pcs.h's table),
 * the slot's index is the node's id, and the slot's address is the public wn_callstack. Node 0 is the empty stack. The
 * slot's value points to the owner, so that a bare pointer can be asked for its frames; every thread that enters or finds
 * a node stores the same, so it does not matter who is first. */
#ifndef CALLSTACK_INTERN_H
#define CALLSTACK_INTERN_H

#include "callstack/levels.h"

/* The node below `parent` with this frame, entered if it is new; 0 if the table is full. */
static inline uint32_t intern_child(struct levels *nodes, uint32_t parent, uint32_t frame,
                                    const void *owner) {
  uint64_t key = (uint64_t)parent << 32 | frame;
  uint32_t id;
  struct slot *slot = levels_find(nodes, key, &id);
  if (__builtin_expect(!slot, 0)) slot = levels_insert(nodes, key, &id);
  if (__builtin_expect(!slot, 0)) return 0;
  if (__builtin_expect(!atomic_load_explicit(&slot->value, memory_order_relaxed), 0))
    atomic_store_explicit(&slot->value, (uint64_t)(uintptr_t)owner, memory_order_release);
  return id;
}

static inline uint32_t node_parent(const struct slot *slot) {
  return (uint32_t)(atomic_load_explicit(&slot->key, memory_order_relaxed) >> 32);
}
static inline uint32_t node_frame(const struct slot *slot) {
  return (uint32_t)atomic_load_explicit(&slot->key, memory_order_relaxed);
}

#endif
/* SPDX-License-Identifier: MIT */
