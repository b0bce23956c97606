/* Making nodes, and entering them. */
#include "callstack/nodes.h"

#include "base/metadata.h"

enum { MORE_BITS = TINY ? 4 : 10 };

static size_t piece_bytes(unsigned piece) { return (size_t)NODE_BYTES << piece; }

static bool map_piece(struct nodes *nodes, unsigned piece) {
  struct node *present = NULL;
  if (atomic_load_explicit(&nodes->piece[piece], memory_order_acquire)) return true;
  struct node *fresh = metadata_map(piece_bytes(piece));
  if (!fresh) return false;
  if (!atomic_compare_exchange_strong_explicit(&nodes->piece[piece], &present, fresh, memory_order_acq_rel,
                                               memory_order_acquire))
    metadata_unmap(fresh, piece_bytes(piece)); /* another thread was faster */
  return true;
}

/* The next number that is not a head's. */
static uint32_t after(uint32_t number) { return node_is_head(number + 1) ? number + 2 : number + 1; }

/* An unused number whose node is mapped; from now on it is the caller's. 0 if there is none. */
static uint32_t take_number(struct nodes *nodes) {
  uint32_t number = atomic_load_explicit(&nodes->spare, memory_order_relaxed);
  if (number && (number = atomic_exchange_explicit(&nodes->spare, 0, memory_order_acquire))) return number;
  number = atomic_load_explicit(&nodes->count, memory_order_relaxed);
  do {
    if (number >= nodes->most) return 0;
    if (!map_piece(nodes, node_piece(number))) return 0;
  } while (!atomic_compare_exchange_weak_explicit(&nodes->count, &number, after(number), memory_order_relaxed,
                                                  memory_order_relaxed));
  return number;
}

static struct node *prepare(struct nodes *nodes, const struct node *parent, uint32_t frame) {
  uint32_t number = take_number(nodes);
  if (!number) return NULL;
  struct node *node = nodes_at(nodes, number);
  atomic_store_explicit(&node_head(node)->owner, nodes->owner, memory_order_relaxed);
  node->number = number;
  node->parent = parent->number;
  node->frame = frame;
  node->next = 0;
  return node;
}

static void give_up(struct nodes *nodes, const struct node *node) {
  atomic_store_explicit(&nodes->spare, node->number, memory_order_release);
}

static struct node *count_used(struct nodes *nodes, struct node *node) {
  atomic_fetch_add_explicit(&nodes->used, 1, memory_order_relaxed);
  return node;
}

/* Enters a child in the table `more`. The parent's list is full, so no thread enters a child there
 * any more. */
static struct node *enter_more(struct nodes *nodes, const struct node *parent, uint32_t frame) {
  uint64_t key = (uint64_t)parent->number << 32 | frame;
  uint32_t index;
  struct slot *slot = levels_find(&nodes->more, key, &index);
  uint64_t number = slot ? atomic_load_explicit(&slot->value, memory_order_acquire) : 0;
  if (number) return nodes_at(nodes, (uint32_t)number);
  struct node *node = prepare(nodes, parent, frame); /* first: a key without a node would stay in the table */
  if (!node) return NULL;
  if (!slot && !(slot = levels_insert(&nodes->more, key, &index))) {
    give_up(nodes, node);
    return NULL;
  }
  if (atomic_compare_exchange_strong_explicit(&slot->value, &number, node->number, memory_order_acq_rel,
                                              memory_order_acquire))
    return count_used(nodes, node);
  give_up(nodes, node);
  return nodes_at(nodes, (uint32_t)number);
}

static node_link link_to(const struct node *node) {
  return node->number << LINK_FRAME_BITS | (node->frame & ((1u << LINK_FRAME_BITS) - 1));
}

/* Looks for a frame in a list of children. NULL if it is not there; `*length` is then the length of
 * the list. */
static struct node *look(const struct nodes *nodes, uint32_t frame, node_link newest, unsigned *length) {
  *length = 0;
  for (node_link at = newest; at; ++*length) {
    struct node *child = nodes_linked(nodes, at);
    if (child->frame == frame) return child;
    at = child->next;
  }
  return NULL;
}

/* Enters a child in the list. All direct links are set to other children. */
static struct node *enter_other(struct nodes *nodes, struct node *parent, uint32_t frame) {
  node_link newest = atomic_load_explicit(&parent->others, memory_order_acquire);
  unsigned length;
  struct node *child = look(nodes, frame, newest, &length);
  if (child) return child;
  if (length >= NODE_CHILDREN) return enter_more(nodes, parent, frame);
  struct node *node = prepare(nodes, parent, frame);
  if (!node) return NULL;
  for (;;) {
    node->next = newest;
    if (atomic_compare_exchange_strong_explicit(&parent->others, &newest, link_to(node), memory_order_acq_rel,
                                                memory_order_acquire))
      return count_used(nodes, node);
    child = look(nodes, frame, newest, &length);
    if (!child && length < NODE_CHILDREN) continue;
    give_up(nodes, node);
    return child ? child : enter_more(nodes, parent, frame);
  }
}

/* Enters a child in a direct link that was free. If another thread has set it meanwhile, looks
 * again. */
static struct node *enter_direct(struct nodes *nodes, struct node *parent, uint32_t frame, unsigned place) {
  struct node *node = prepare(nodes, parent, frame);
  if (!node) return NULL;
  node_link none = 0;
  if (atomic_compare_exchange_strong_explicit(&parent->child[place], &none, link_to(node),
                                              memory_order_acq_rel, memory_order_acquire))
    return count_used(nodes, node);
  give_up(nodes, node);
  return nodes_enter(nodes, parent, frame);
}

/* ---- shared ---- */

bool nodes_create(struct nodes *nodes, uint32_t most, const void *owner) {
  if (most > NODES_MOST) most = NODES_MOST;
  *nodes = (struct nodes){.most = most, .owner = owner, .count = 1};
  if (!map_piece(nodes, node_piece(0))) return false;
  atomic_store_explicit(&node_head(nodes_at(nodes, 0))->owner, owner, memory_order_relaxed);
  return levels_create(&nodes->more, MORE_BITS, most < NODES_MOST / 2 ? 2 * most : most);
}

void nodes_destroy(struct nodes *nodes) {
  for (unsigned piece = 0; piece < NODE_PIECES; piece++)
    metadata_unmap(atomic_load(&nodes->piece[piece]), piece_bytes(piece));
  levels_destroy(&nodes->more);
}

struct node *nodes_enter(struct nodes *nodes, struct node *parent, uint32_t frame) {
  for (unsigned place = 0; place < NODE_DIRECT; place++) {
    node_link link = atomic_load_explicit(&parent->child[place], memory_order_acquire);
    if (!link) return enter_direct(nodes, parent, frame, place);
    struct node *child = nodes_linked(nodes, link);
    if (link_fits(link, frame) && child->frame == frame) return child;
  }
  return enter_other(nodes, parent, frame);
}
/* SPDX-License-Identifier: MIT */
