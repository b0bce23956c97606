/* Making nodes, and entering them. */
#include "callstack/nodes.h"

#include "base/metadata.h"

enum { MORE_BITS = TINY ? 4 : 10 };

static size_t piece_bytes(unsigned piece) { return sizeof(struct node) << piece; }

static bool map_piece(struct nodes *nodes, unsigned piece) {
  struct node *present = NULL;
  if (atomic_load_explicit(&nodes->piece[piece], memory_order_acquire)) return true;
  struct node *fresh = metadata_map(piece_bytes(piece));
  if (!fresh) return false;
  if (!atomic_compare_exchange_strong_explicit(&nodes->piece[piece], &present, fresh, memory_order_acq_rel,
                                               memory_order_acquire))
    metadata_unmap(fresh, piece_bytes(piece)); /* another was faster */
  return true;
}

/* A number that nobody else has, and whose node is mapped. 0 if there is none. */
static uint32_t take_number(struct nodes *nodes) {
  uint32_t number = atomic_load_explicit(&nodes->spare, memory_order_relaxed);
  if (number && (number = atomic_exchange_explicit(&nodes->spare, 0, memory_order_acquire))) return number;
  number = atomic_load_explicit(&nodes->count, memory_order_relaxed);
  do {
    if (number >= nodes->most) return 0;
    if (!map_piece(nodes, node_piece(number))) return 0;
  } while (!atomic_compare_exchange_weak_explicit(&nodes->count, &number, number + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
  return number;
}

static struct node *prepare(struct nodes *nodes, uint32_t parent, uint32_t frame) {
  uint32_t number = take_number(nodes);
  if (!number) return NULL;
  struct node *node = nodes_at(nodes, number);
  node->owner = nodes->owner;
  node->number = number;
  node->parent = parent;
  node->frame = frame;
  return node;
}

static void give_up(struct nodes *nodes, const struct node *node) {
  atomic_store_explicit(&nodes->spare, node->number, memory_order_release);
}

static uint32_t count_used(struct nodes *nodes, uint32_t number) {
  atomic_fetch_add_explicit(&nodes->used, 1, memory_order_relaxed);
  return number;
}

/* The parent's list is full: nothing is entered there any more. */
static uint32_t enter_more(struct nodes *nodes, uint32_t parent, uint32_t frame) {
  uint64_t key = (uint64_t)parent << 32 | frame;
  uint32_t index;
  struct slot *slot = levels_find(&nodes->more, key, &index);
  uint64_t number = slot ? atomic_load_explicit(&slot->value, memory_order_acquire) : 0;
  if (number) return (uint32_t)number;
  struct node *node = prepare(nodes, parent, frame); /* before a key is entered that would stay without */
  if (!node) return 0;
  node->next = 0;
  if (!slot && !(slot = levels_insert(&nodes->more, key, &index))) {
    give_up(nodes, node);
    return 0;
  }
  if (atomic_compare_exchange_strong_explicit(&slot->value, &number, node->number, memory_order_acq_rel,
                                              memory_order_acquire))
    return count_used(nodes, node->number);
  give_up(nodes, node);
  return (uint32_t)number;
}

/* ---- shared ---- */

bool nodes_create(struct nodes *nodes, uint32_t most, const void *owner) {
  if (most > NODES_MOST) most = NODES_MOST;
  *nodes = (struct nodes){.most = most, .owner = owner, .count = 1};
  if (!map_piece(nodes, node_piece(0))) return false;
  nodes_at(nodes, 0)->owner = owner;
  return levels_create(&nodes->more, MORE_BITS, most < NODES_MOST / 2 ? 2 * most : most);
}

void nodes_destroy(struct nodes *nodes) {
  for (unsigned piece = 0; piece < NODE_PIECES; piece++)
    metadata_unmap(atomic_load(&nodes->piece[piece]), piece_bytes(piece));
  levels_destroy(&nodes->more);
}

uint32_t nodes_enter(struct nodes *nodes, struct node *parent, uint32_t frame, node_link first,
                     unsigned length) {
  if (length >= NODE_CHILDREN) return enter_more(nodes, parent->number, frame);
  struct node *node = prepare(nodes, parent->number, frame);
  if (!node) return 0;
  for (;;) {
    node->next = first;
    node_link link = (uint64_t)node->number << 32 | frame;
    if (atomic_compare_exchange_strong_explicit(&parent->first, &first, link, memory_order_acq_rel,
                                                memory_order_acquire))
      return count_used(nodes, node->number);
    uint32_t there = nodes_look(nodes, frame, first, &length);
    if (!there && length < NODE_CHILDREN) continue;
    give_up(nodes, node);
    return there ? there : enter_more(nodes, parent->number, frame);
  }
}
/* SPDX-License-Identifier: MIT */
