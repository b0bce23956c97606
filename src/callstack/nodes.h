/* All stacks as one tree: a stack is a node, which has its innermost frame and, as its parent, the
 * stack of its caller.
 *
 * Nodes have numbers from 0 on, in the order in which they are made, and fixed addresses: an array
 * in pieces, each twice as large as the one before, mapped when it is needed. So stacks that are
 * met together lie together, where a hash table would have them all over memory. Node 0 is the
 * empty stack. A node's address is the public wn_callstack. The functions that read frames get only
 * this pointer, so the last place of each page has a head instead of a node, and the head leads to
 * the tree's owner.
 *
 * To enter a stack is to go from node to node, and the cost of that is to load nodes from memory.
 * So a node is half a cache line, and a search touches few nodes that are not the stack's: a link
 * to a node has the node's number and 8 bits of the node's frame, which rule most other children
 * out. A node has links to its first `NODE_DIRECT` children, and to the newest of a list of at most
 * `NODE_CHILDREN` other children. A few nodes have still more children, such as the loop of an
 * interpreter; these are in a hash table, `more`, by parent and frame. A full list never changes
 * again, nor does a direct link that is set.
 *
 * Any thread may look for a child and enter it, also in a signal handler that interrupts just that.
 * No thread waits for another.
 *
 *   A thread that enters a child:
 *   1. looks for the child at the direct links in order, up to the first free one;
 *   2. if one is free: prepares a node, and sets the link to it by compare-and-exchange; if another
 *      thread was faster, gives the node up and begins again at 1;
 *   3. if none is free: looks for the child in the list;
 *   4. if the list is not full: prepares a node, and puts it in front of the list by
 *      compare-and-exchange; if another thread was faster, keeps the node, looks at the list again,
 *      and tries again if the child is not there and the list is not full;
 *   5. if the list is full: looks for the child in `more`, prepares a node if the child is not
 *      there, and enters the node by compare-and-exchange; if another thread was faster, takes that
 *      thread's node.
 *
 * So no child is there twice, and a list is full for all threads or for none. A node that was
 * prepared and not needed becomes the `spare` one. */
#ifndef CALLSTACK_NODES_H
#define CALLSTACK_NODES_H

#include "base/check.h"
#include "callstack/levels.h"

enum { NODE_DIRECT = 3, NODE_CHILDREN = TINY ? 2 : 16, NODE_PIECES = 24 };
enum { NODE_PAGE_BYTES = 4096, NODE_BYTES = 32, NODE_PAGE = NODE_PAGE_BYTES / NODE_BYTES };
enum { NODE_FIRST = TINY ? NODE_PAGE : 1 << 11 };

/* As many numbers as the pieces have, nearly 2^24. */
enum { NODES_MOST = (1 << 24) - NODE_FIRST };

/* A node's number << LINK_FRAME_BITS | the lowest bits of its frame; 0: none. */
typedef uint32_t node_link;
enum { LINK_FRAME_BITS = 8 };
_Static_assert(NODES_MOST < 1 << (32 - LINK_FRAME_BITS), "each number fits into a link");

struct node {
  /* Set before the node is published; constant afterwards. */
  uint32_t number, parent;
  uint32_t frame; /* an index into pcs.h's table */
  node_link next; /* in the list: the next older sibling */
  /* Published with release by the thread that enters a child. The links in `child` are set once
   * each, in order; `others` is set when all of them are. */
  _Atomic(node_link) child[NODE_DIRECT], others;
};
_Static_assert(sizeof(struct node) == NODE_BYTES, "half a cache line");

/* In the last place of a page. */
struct node_head {
  /* The tree's owner. Each thread that prepares a node in the page stores it, the same pointer. */
  _Atomic(const void *) owner;
};

struct nodes {
  /* Set by nodes_create; constant afterwards. */
  uint32_t most;
  const void *owner;
  /* Piece i has the numbers n with 2^i <= n + NODE_FIRST < 2^(i + 1). Published with release once,
   * by the first thread that needs it. */
  _Atomic(struct node *) piece[NODE_PIECES];
  /* Written by any thread. Each number below `count` belongs to a node, to a head, or to a thread
   * that prepares a node, except the number in `spare` and those that another number replaced in
   * `spare`: these are lost. */
  _Atomic(uint32_t) count;
  _Atomic(uint32_t) spare; /* 0: none */
  _Atomic(uint32_t) used;
  struct levels more; /* the value is the child's number; 0 while a thread enters it */
};

/* Makes an empty tree for at most `most` nodes, and at most NODES_MOST. If memory is exhausted it
 * returns false, and the caller may call nodes_destroy. */
bool nodes_create(struct nodes *nodes, uint32_t most, const void *owner);
void nodes_destroy(struct nodes *nodes);

/* The child of a node with this frame, entered if it is new. NULL if there is no room. nodes_child
 * calls it if it does not find the child by a direct link. */
struct node *nodes_enter(struct nodes *nodes, struct node *parent, uint32_t frame);

static inline unsigned node_piece(uint32_t number) {
  return 31u - (unsigned)__builtin_clz(number + NODE_FIRST);
}

/* The node of a number that was given out. */
static inline struct node *nodes_at(const struct nodes *nodes, uint32_t number) {
  unsigned piece = node_piece(number);
  struct node *first = atomic_load_explicit(&nodes->piece[piece], memory_order_acquire);
  return first + (number + NODE_FIRST - (1u << piece));
}

/* Whether a number is a head's, and so no node has it. */
static inline bool node_is_head(uint32_t number) { return number % NODE_PAGE == NODE_PAGE - 1; }

static inline struct node_head *node_head(const struct node *node) {
  uintptr_t page = (uintptr_t)node & ~(uintptr_t)(NODE_PAGE_BYTES - 1);
  return (struct node_head *)(page + NODE_PAGE_BYTES - NODE_BYTES);
}

static inline struct node *nodes_linked(const struct nodes *nodes, node_link link) {
  return nodes_at(nodes, link >> LINK_FRAME_BITS);
}

/* Whether a link may lead to a node with this frame. */
static inline bool link_fits(node_link link, uint32_t frame) {
  return !((link ^ frame) & ((1u << LINK_FRAME_BITS) - 1));
}

/* The node below `parent` with this frame, entered if it is new; NULL if there is no room. The link
 * that fits is selected without a branch, since the processor could not predict a branch in a
 * recursion. */
static inline struct node *nodes_child(struct nodes *nodes, struct node *parent, uint32_t frame) {
  node_link link = 0;
  for (unsigned i = NODE_DIRECT; i--;) {
    node_link each = atomic_load_explicit(&parent->child[i], memory_order_acquire);
    link = link_fits(each, frame) ? each : link;
  }
  struct node *child = nodes_linked(nodes, link); /* node 0 if no link fits; its frame is 0 */
  __builtin_prefetch(child + 2);                  /* the next line: nodes entered together lie together */
  return child->frame == frame ? child : nodes_enter(nodes, parent, frame);
}

#endif
/* SPDX-License-Identifier: MIT */
