/* All stacks as one tree: a stack is a node, which has its innermost frame and, as its parent, the stack of its caller.
 *
 * Nodes have numbers from 0 on, in the order in which they are made, and fixed addresses: an array in pieces, each twice as
 * large as the one before, mapped when it is needed. So stacks that are met together lie together, where a hash table would
 * have them all over memory. Node 0 is the empty stack. A node's address is the public wn_callstack; it knows its owner, so
 * that a bare pointer can be asked for its frames.
 *
 * Where a node names another, its frame is there, too, so that a node that is not looked for is mostly not touched.
 *
 * A node's children are a list, newest first, of at most `NODE_CHILDREN`. The few nodes that have more, such as the loop of an
 * interpreter, have the others in a hash table, `more`, by parent and frame. A list that is full never changes again.
 *
 * Any thread may look for a child and enter it, also in a signal handler that interrupts just that; nobody waits. Who enters
 * prepares a node and puts it in front of the list by compare-and-exchange. If another was faster, he looks again at the whole
 * list: so no child is there twice, and a list is full for all or for none. A node that was prepared in vain is the
 * `spare` one. */
#ifndef CALLSTACK_NODES_H
#define CALLSTACK_NODES_H

#include "base/check.h"
#include "callstack/levels.h"

enum { NODE_CHILDREN = TINY ? 2 : 16, NODE_FIRST = TINY ? 1 << 5 : 1 << 11, NODE_PIECES = 24 };

/* As many as the pieces hold, nearly 2^24. */
enum { NODES_MOST = (1 << 24) - NODE_FIRST };

/* A node's number << 32 | its frame's, an index into pcs.h's table; 0: none. */
typedef uint64_t node_link;

struct node {
  /* Published with release, by whoever enters a child. */
  _Atomic(node_link) first;
  /* Set before the node is published; constant afterwards. */
  node_link next; /* sibling, older */
  uint32_t number, parent, frame;
  const void *owner; /* of the tree */
};

struct nodes {
  /* Set by nodes_create; constant afterwards. */
  uint32_t most;
  const void *owner;
  /* Piece i has the numbers n for which 2^i is the last power of two in n + NODE_FIRST. Published with release once, by the
   * first thread that needs it. */
  _Atomic(struct node *) piece[NODE_PIECES];
  /* Written by any thread. */
  _Atomic(uint32_t) count; /* numbers given out, 0 among them, and a few that were lost as spare ones */
  _Atomic(uint32_t) spare; /* 0: none */
  _Atomic(uint32_t) used;
  struct levels more; /* the value is the child's number; 0 for a moment */
};

/* At most so many nodes, and NODES_MOST. False if memory is exhausted; then it can be destroyed. */
bool nodes_create(struct nodes *nodes, uint32_t most, const void *owner);
void nodes_destroy(struct nodes *nodes);

/* The child of a node whose list was looked through, from `first` on, and has `length` nodes; 0 if there is no room. */
uint32_t nodes_enter(struct nodes *nodes, struct node *parent, uint32_t frame, node_link first,
                     unsigned length);

static inline unsigned node_piece(uint32_t number) {
  return 31u - (unsigned)__builtin_clz(number + NODE_FIRST);
}

/* The node of a number that was given out. */
static inline struct node *nodes_at(const struct nodes *nodes, uint32_t number) {
  unsigned piece = node_piece(number);
  struct node *first = atomic_load_explicit(&nodes->piece[piece], memory_order_acquire);
  return first + (number + NODE_FIRST - (1u << piece));
}

static inline uint32_t link_number(node_link link) { return (uint32_t)(link >> 32); }

/* Looks for a frame in a list of children. 0: it is not there, and `*length` is how many are. */
static inline uint32_t nodes_look(const struct nodes *nodes, uint32_t frame, node_link first,
                                  unsigned *length) {
  *length = 0;
  for (node_link at = first; at; at = nodes_at(nodes, link_number(at))->next, ++*length)
    if ((uint32_t)at == frame) return link_number(at);
  return 0;
}

/* The node below `number` with this frame, entered if it is new; 0 if there is no room. */
static inline uint32_t nodes_child(struct nodes *nodes, uint32_t number, uint32_t frame) {
  struct node *parent = nodes_at(nodes, number);
  node_link first = atomic_load_explicit(&parent->first, memory_order_acquire);
  unsigned length;
  uint32_t child = nodes_look(nodes, frame, first, &length);
  return child ? child : nodes_enter(nodes, parent, frame, first, length);
}

#endif
/* SPDX-License-Identifier: MIT */
