/* Traces whose frames have names, for tests of what depends on names: node n of the stacks is a
 * function of a language. */
#ifndef TESTS_ANALYSIS_NAMED_STORY_H
#define TESTS_ANALYSIS_NAMED_STORY_H

#include "analysis/story.h"
#include <string.h>

/* The nodes of the stacks, from 1 on: a function, and the node of its caller. */
struct named_node {
  const char *function;
  uint32_t caller;
};

static const struct named_node *named_nodes;

static void named_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = named_nodes[node].caller;
  *module = 1;
  *offset = 1; /* the first node of the function: one place each */
  while (strcmp(named_nodes[*offset].function, named_nodes[node].function) != 0) ++*offset;
}

static void named_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context;
  (void)module;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE,
                               .bias = TRACE_LANGUAGE_BASE,
                               .size = 1 << 20,
                               .path = trace_text_of("[story]")};
}

static bool named_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context;
  (void)module;
  *out = (struct trace_place){.function = trace_text_of(named_nodes[offset].function),
                              .file = trace_text_of(offset % 3 ? "one.x" : "other.x"),
                              .line = (uint32_t)(offset % 5)};
  return true;
}

static inline struct trace_writer *named_story_begin(double rate, const struct named_node *nodes) {
  static struct tree_source source;
  named_nodes = nodes;
  source = (struct tree_source){.node = named_node, .module = named_module, .place = named_place};
  return story_of(&source, rate);
}

/* One more block, at a time of its own. */
static inline void story_next(struct trace_writer *writer, uint64_t *block, uint64_t size, uint32_t stack) {
  ++*block;
  story_alloc(writer, *block, *block, size, stack);
}

#endif
/* SPDX-License-Identifier: MIT */
