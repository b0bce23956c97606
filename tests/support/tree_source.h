/* Stacks for traces that tests write: an event's `stack` is the number of a node of a call tree, 0
 * is the empty stack. */
#ifndef TESTS_SUPPORT_TREE_SOURCE_H
#define TESTS_SUPPORT_TREE_SOURCE_H

#include "trace/writer.h"

struct tree_source {
  void (*node)(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset);
  void (*module)(void *context, uint32_t module, struct trace_module *out);
  bool (*place)(void *context, uint32_t module, uint64_t offset, struct trace_place *out);
  void *context;
};

/* The trees of the writers that were opened last, in all files of a test. */
enum { TREE_WRITERS = 64, TREE_DEEPEST = 4096 };
struct tree_of_writer {
  const struct trace_writer *writer;
  struct tree_source source;
  double rate; /* of the run */
};
__attribute__((weak)) struct tree_of_writer trees_of_writers[TREE_WRITERS];
__attribute__((weak)) unsigned trees_opened;

static inline void tree_frame(void *context, uint32_t node, uint32_t *module, uint64_t *offset) {
  const struct tree_source *tree = context;
  uint32_t parent;
  tree->node(tree->context, node, &parent, module, offset);
}
static inline void tree_module(void *context, uint32_t module, struct trace_module *out) {
  const struct tree_source *tree = context;
  tree->module(tree->context, module, out);
}
static inline bool tree_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  const struct tree_source *tree = context;
  return tree->place(tree->context, module, offset, out);
}

/* As trace_writer_open. */
static inline wn_status tree_writer_open(const struct trace_options *options, const struct trace_run *run,
                                         const struct tree_source *tree, struct trace_writer **writer) {
  struct tree_of_writer *place = &trees_of_writers[trees_opened++ % TREE_WRITERS];
  place->source = *tree;
  const struct trace_stack_source source = {.frame = tree_frame,
                                            .module = tree_module,
                                            .place = tree->place ? tree_place : NULL,
                                            .context = &place->source};
  wn_status status = trace_writer_open(options, run, &source, writer);
  place->writer = status ? NULL : *writer;
  place->rate = run->rate;
  return status;
}

static inline const struct tree_of_writer *tree_of_the_writer(const struct trace_writer *writer) {
  unsigned at = trees_opened + TREE_WRITERS - 1;
  while (trees_of_writers[at % TREE_WRITERS].writer != writer) at--;
  return &trees_of_writers[at % TREE_WRITERS];
}

/* The frames from the root to a node, in a buffer of the calling thread. */
static inline struct trace_stack tree_stack(const struct trace_writer *writer, uint32_t node) {
  static _Thread_local uint32_t path[TREE_DEEPEST];
  const struct tree_source *tree = &tree_of_the_writer(writer)->source;
  uint32_t begin = TREE_DEEPEST, module;
  uint64_t offset;
  while (node && begin) {
    path[--begin] = node;
    tree->node(tree->context, node, &node, &module, &offset);
  }
  return (struct trace_stack){path + begin, TREE_DEEPEST - begin};
}

#define TREE_WRITES(type)                                                                               \
  static inline bool tree_write_##type(struct trace_writer *writer, const struct trace_##type *event) { \
    return trace_write_##type(writer, event, tree_stack(writer, event->stack));                         \
  }
TREE_WRITES(sample)
TREE_WRITES(map)

/* A rate of 0 is that of the run; a negative one is 0. */
static inline bool tree_write_resize(struct trace_writer *writer, const struct trace_resize *event) {
  struct trace_resize resize = *event;
  resize.rate = event->rate < 0 ? 0 : event->rate > 0 ? event->rate : tree_of_the_writer(writer)->rate;
  return trace_write_resize(writer, &resize, tree_stack(writer, event->stack));
}

#endif
/* SPDX-License-Identifier: MIT */
