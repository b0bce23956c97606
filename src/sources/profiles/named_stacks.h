/* Stacks whose frames the file names itself, as trace nodes: a node for each frame and its caller, the
 * same node for all stacks that have the same callers.
 *
 * A named frame is a place: its number is an offset in a language's module (TRACE_LANGUAGE_BASE). There
 * is such a module for each file of code that frames are in, and one without a path for the others.
 * Module 1 is the one without a path. A frame without a name lies in a module with addresses, or in
 * none.
 *
 * Texts, places, modules and nodes are kept once each, so the memory is that of different ones. */
#pragma once

#include "base/index.h"
#include "trace/event.h"

struct named_place {
  uint32_t function, file, line; /* numbers of texts */
};

struct named_stacks {
  struct trace_text *texts;     /* [0] is the empty text */
  struct named_place *places;   /* [0] is unused, as that of all that follow */
  struct trace_module *modules; /* their paths are texts */
  struct trace_node *nodes;
  size_t text_count, text_capacity, place_count, place_capacity, module_count, module_capacity, node_count,
      node_capacity;
  struct index by_text, by_place, by_module, by_node;
};

/* Of the counts the first number is that of [0], so the largest number is the count less 1. False
 * without memory; then they may be destroyed. */
bool named_stacks_create(struct named_stacks *stacks);
void named_stacks_destroy(struct named_stacks *stacks);

/* The number of a text, which is copied. It ends at a NUL byte. False: there is no memory, or no number
 * left, as in all functions that follow. */
bool named_text(struct named_stacks *stacks, const char *bytes, size_t length, uint32_t *number);

/* The place of a name; 0 where a text is not known. In the function "> >" becomes ">>", as the
 * symboliser writes it. */
bool named_place(struct named_stacks *stacks, const struct named_place *place, uint32_t *number);

/* The language's module of a file of code, whose path is a text. The module has its last part
 * alone, which is what names have of it. */
bool named_module(struct named_stacks *stacks, uint32_t path, uint32_t *number);

/* A module of addresses. Its path is copied. */
bool named_mapped(struct named_stacks *stacks, const struct trace_module *module, uint32_t *number);

bool named_node(struct named_stacks *stacks, const struct trace_node *node, uint32_t *number);

/* What is at an offset of a module of names. False if nothing is. */
bool named_place_of(const struct named_stacks *stacks, uint32_t module, uint64_t offset,
                    struct trace_place *place);

static inline const char *named_text_of(const struct named_stacks *stacks, uint32_t text) {
  return stacks->texts[text].bytes;
}
/* SPDX-License-Identifier: MIT */
