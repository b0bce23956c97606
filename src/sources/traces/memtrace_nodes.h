/* Memtrace's stacks as trace nodes: each a frame and its caller, the same node for all stacks that have
 * the same callers.
 *
 * A call is a code and its caller, which is a call, too. Of each domain the calls of the last stack are
 * kept, so a stack costs a look-up for each frame that the stack before did not have. The calls of a stack
 * that is new get consecutive numbers. So a call is looked for, in this order:
 *   1. at the number behind its caller's;
 *   2. at the number of the call that its caller made last;
 *   3. in an index.
 * Where the first is right, and is predicted to be, the processor does not wait for one frame before it
 * begins with the next one, and what it loads is consecutive.
 *
 * A code with locations has a node for each of them, outermost first, in the module 1, where location n
 * is at offset n + 1. A code without has a node of module 0, whose offset is the code, an address. Codes
 * that are lost, one or many, have one node, at the offset behind the locations. */
#pragma once

#include "base/index.h"
#include "memtrace/names.h"
#include "memtrace/stack.h"
#include "trace/event.h"

struct memtrace_nodes {
  const struct memtrace_names *names;
  struct trace_node *nodes; /* [0] is the empty stack */
  uint32_t count;           /* the greatest number */
  size_t capacity;
  struct memtrace_call {
    uint64_t code;
    uint32_t caller;
    uint32_t last;     /* the call that it made last; 0: none */
  } * calls;           /* [0] is the empty stack */
  uint32_t *node_of;   /* by call: the innermost node of its code */
  uint32_t call_count; /* the greatest number */
  size_t call_capacity, node_of_capacity;
  struct index by_code;
  /* By domain: the call of each code of its last stack. */
  struct memtrace_path {
    uint32_t *calls;
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
/* SPDX-License-Identifier: MIT */
