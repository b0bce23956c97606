/* Traces of programs with an interpreter of Python in them, for tests. */
#ifndef TESTS_ANALYSIS_PYTHON_STORY_H
#define TESTS_ANALYSIS_PYTHON_STORY_H

#include "analysis/story.h"
#include <string.h>

/* The nodes of the stacks, from 1 on: a function, the node of its caller, and where it is. */
struct python_node {
  const char *function;
  uint32_t caller;
  const char *module, *file;
  uint32_t line;
};
#define NATIVE(function, caller, module) \
  { function, caller, module, "", 0 }
#define PYTHON(function, caller, file, line) \
  { function, caller, "[python]", file, line }

static const struct python_node *python_nodes;

/* A module has the number of the first node in it. */
static void python_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = python_nodes[node].caller;
  *offset = node;
  *module = 1;
  while (strcmp(python_nodes[*module].module, python_nodes[node].module) != 0) ++*module;
}

/* Each as a language's, so that the trace has the names. */
static void python_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE,
                               .bias = TRACE_LANGUAGE_BASE,
                               .size = 1 << 20,
                               .path = trace_text_of(python_nodes[module].module)};
}

static bool python_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context;
  (void)module;
  const struct python_node *node = &python_nodes[offset];
  *out = (struct trace_place){
      .function = trace_text_of(node->function), .file = trace_text_of(node->file), .line = node->line};
  return true;
}

static inline struct trace_writer *python_story_begin(double rate, const struct python_node *nodes) {
  static struct tree_source source;
  python_nodes = nodes;
  source = (struct tree_source){.node = python_node, .module = python_module, .place = python_place};
  return story_of(&source, rate);
}

#endif
/* SPDX-License-Identifier: MIT */
