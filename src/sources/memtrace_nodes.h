/* Memtrace's stacks as trace nodes: each a frame and its caller, the same node for all stacks that have
 * the same callers.
 *
 * A node is found by its caller's node and its code, in an open table. Of each domain the nodes of the
 * last stack are kept, so a stack costs a look-up for each frame that the stack before did not have.
 *
 * A code with locations has a node for each of them, outermost first, in the module 1, where location n
 * is at offset n + 1. A code without has a node of module 0, whose offset is the code, an address. Codes
 * that are lost, one or many, have one node, at the offset behind the locations. */
#ifndef SOURCES_MEMTRACE_NODES_H
#define SOURCES_MEMTRACE_NODES_H

#include "sources/memtrace_names.h"
#include "sources/memtrace_stack.h"
#include "trace/event.h"

struct memtrace_nodes {
  const struct memtrace_names *names;
  struct trace_node *nodes; /* [0] is the empty stack */
  uint32_t count, capacity; /* count: the greatest number */
  /* By node: the code that it called last, and that code's node; 0: none. Nodes of one stack lie close
   * to each other here, and far apart in the table. */
  struct memtrace_called {
    uint64_t code;
    uint32_t node;
  } * called;
  struct memtrace_child {
    uint64_t code;
    uint32_t parent;
    uint32_t node; /* 0: an empty slot */
  } * children;
  uint32_t child_count;
  size_t slots; /* a power of two */
  /* By domain: the node of each code of its last stack. */
  struct memtrace_path {
    uint32_t *nodes;
    size_t capacity;
  } * paths;
  uint32_t path_count;
};

/* False without memory; then it may be destroyed. */
bool memtrace_nodes_create(struct memtrace_nodes *nodes, const struct memtrace_names *names,
                           uint32_t domains);
void memtrace_nodes_destroy(struct memtrace_nodes *nodes);

/* Finds the node of a domain's next stack, or makes it. The caller gives every stack of the domain,
 * in the order of the file. False: there is no memory. */
bool memtrace_nodes_of(struct memtrace_nodes *nodes, uint32_t domain, const struct memtrace_stack *stack,
                       uint32_t *node);

/* What is at an offset of the module 1. False if nothing is. */
bool memtrace_place_of(const struct memtrace_names *names, uint64_t offset, struct trace_place *place);

#endif
/* SPDX-License-Identifier: MIT */
