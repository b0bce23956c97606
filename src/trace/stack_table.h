/* Stacks and modules as the reader sees them: the same node met in ten chunks is one node.
 *
 * Nodes and modules are numbered from 1 for the life of the table; 0 is the empty stack and no
 * module. Memory grows with what the file defines, and each definition takes at least one byte of
 * it, so a hostile file gets at most some dozen times its own size. A user that needs stacks only
 * as long as their chunk is read can have them forgotten; their numbers are not given again.
 *
 * OWNERS. At an address in no module a runtime puts one function after another. A node has the
 * address alone, or the place of the function that was known there when its first stack was
 * written. All functions that the file names for the address are owners of it, each since a time:
 * of a stack of some time the frame is the last one until then. */
#ifndef TRACE_STACK_TABLE_H
#define TRACE_STACK_TABLE_H

#include "base/index.h"
#include "trace/event.h"

/* A language's frame: its name, with a NUL byte behind each text. */
struct named_place {
  uint32_t module;
  uint64_t offset;
  struct trace_place name;
};

/* OWNERS. Its name is at the offset of the module. */
struct code_owner {
  uint64_t address, since_ns;
  uint64_t offset;
  uint32_t module;
};

/* Offsets in no module of the names of owners without a place, but for an address's first one. */
#define CODE_OWNER_BASE ((uint64_t)1 << 63)

struct stack_table {
  struct trace_node *nodes; /* [0] is the empty stack */
  uint32_t node_count;      /* the greatest number */
  uint32_t nodes_forgotten; /* those up to this number: the next one is at [1] */
  size_t node_capacity;
  struct trace_module *modules; /* likewise */
  uint32_t module_count, modules_forgotten;
  size_t module_capacity;
  struct named_place *places;
  uint32_t place_count;
  size_t place_capacity;
  struct index by_node, by_module, by_place;
  struct code_owner *owners;
  size_t owner_count, owner_capacity;
  bool owners_ordered; /* by address and time */
};

/* False when memory is exhausted. A failed table may be destroyed. */
bool stack_table_create(struct stack_table *table);
void stack_table_destroy(struct stack_table *table);

/* Forgets all nodes, modules and names. */
void stack_table_forget(struct stack_table *table);

/* How many nodes, modules and names there are. */
static inline uint32_t stack_table_items(const struct stack_table *table) {
  return table->node_count - table->nodes_forgotten + table->module_count - table->modules_forgotten +
         table->place_count;
}

/* What has a number; the empty stack, or no module, if it is not known. */
static inline const struct trace_node *stack_table_node_of(const struct stack_table *table, uint32_t node) {
  bool known = node > table->nodes_forgotten && node <= table->node_count;
  return &table->nodes[known ? node - table->nodes_forgotten : 0];
}
static inline struct trace_module *stack_table_module_of(const struct stack_table *table, uint32_t module) {
  bool known = module > table->modules_forgotten && module <= table->module_count;
  return &table->modules[known ? module - table->modules_forgotten : 0];
}

/* The number of the node or module, found or added; 0 when memory is exhausted. The module's path
 * is copied. */
uint32_t stack_table_node(struct stack_table *table, struct trace_node node);
uint32_t stack_table_module(struct stack_table *table, const struct trace_module *module);

/* Names what is at an offset of a module, unless it has a name. The texts are copied. False when
 * memory is exhausted. */
bool stack_table_name(struct stack_table *table, uint32_t module, uint64_t offset,
                      const struct trace_place *name);

/* That name; NULL if it has none. */
const struct trace_place *stack_table_place(const struct stack_table *table, uint32_t module,
                                            uint64_t offset);

/* Names an address in no module: one more owner of it. The address has the first name for those that
 * do not ask for a time. False when memory is exhausted. */
bool stack_table_code(struct stack_table *table, const struct trace_place *name);

/* Whether what a node stands for may depend on the time: it has an address, and an owner of that beside
 * its own place. Sorts the owners if they are not in order. */
bool stack_table_is_reused(struct stack_table *table, const struct trace_node *node);

/* Replaces module and offset of a node by those of the owner of its address at a time. Before all of
 * them an address has the first one, and a place stays; so does any other node. */
void stack_table_find_owner(struct stack_table *table, struct trace_node *node, uint64_t time_ns);

#endif
/* SPDX-License-Identifier: MIT */
