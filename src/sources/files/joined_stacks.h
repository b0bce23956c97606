/* The modules and stacks of several sources under common numbers. Modules that are the same file,
 * and frames that are the same place with the same callers, have one number, whichever sources they
 * are of. A language's module has a number for each source, since its offsets are numbers of that
 * trace. */
#pragma once

#include "base/index.h"
#include "sources/source.h"

struct joined_module {
  struct trace_module module; /* with a path of its own */
  uint32_t source, local;     /* the index of the first source that has it, and its number there */
};

struct joined_stacks {
  struct joined_module *modules; /* number 1 is the first */
  struct trace_node *nodes;      /* likewise */
  struct index by_node;
  size_t module_count, module_capacity, node_count, node_capacity;
};

/* The common numbers of one source's modules and stacks, as far as they are known. */
struct joined_numbers {
  uint32_t *modules, *stacks; /* index: number in the source; 0: not known yet */
  size_t module_capacity, stack_capacity;
  uint32_t *path; /* scratch */
  size_t path_capacity;
};

/* Replaces the number of a stack in a source by the common one. False: not enough memory. */
bool joined_stack(struct joined_stacks *stacks, struct joined_numbers *numbers, const struct source *source,
                  uint32_t index, uint32_t *stack);

/* The common number of a source's module, and that of a node; 0 without memory. */
uint32_t joined_module(struct joined_stacks *stacks, const struct trace_module *module, uint32_t index,
                       uint32_t local);
uint32_t joined_node(struct joined_stacks *stacks, const struct trace_node *node);

void joined_numbers_destroy(struct joined_numbers *numbers);
void joined_stacks_destroy(struct joined_stacks *stacks);
/* SPDX-License-Identifier: MIT */
