/* Marks the stacks that have such an address, and makes new ones of them. */
#include "sources/reused.h"

#include <stdlib.h>

enum { FRAMES_MOST = 1025 }; /* as many as recorders write; the work for a stack is bounded by it */

bool reused_begin(struct reused *reused, struct source *source) {
  uint32_t count = source_stack_count(source);
  bool any = false;
  reused->source = source;
  if (!source->format->is_reused) return true;
  if (!(reused->is = calloc((size_t)count + 1, sizeof *reused->is))) return false;
  for (uint32_t stack = 1; stack <= count; stack++) { /* callers have smaller numbers */
    struct trace_node node = source_stack(source, stack);
    reused->is[stack] = reused->is[node.parent] || source->format->is_reused(source, &node);
    any |= reused->is[stack];
  }
  reused->count = count;
  if (!any) reused_destroy(reused);
  return true;
}

void reused_destroy(struct reused *reused) {
  free(reused->is);
  reused->is = NULL;
}

bool reused_find(struct reused *reused, uint32_t thread, uint64_t time_ns, uint32_t *stack) {
  struct source *source = reused->source;
  uint32_t process = source_process_of(thread, source_process_count(source)), node = *stack;
  uint32_t path[FRAMES_MOST], depth = 0;
  if (!reused->is || node > reused->count || !reused->is[node]) return true;
  for (; reused->is[node]; node = source_stack(source, node).parent) {
    if (depth == FRAMES_MOST) return true;
    path[depth++] = node;
  }
  while (depth) {
    struct trace_node frame = source_stack(source, path[--depth]);
    frame.parent = node;
    if (!source->format->find_owner(source, process, time_ns, &frame)) return false;
    if (!(node = source->format->add_node(source, frame))) return false;
  }
  return *stack = node, true;
}
/* SPDX-License-Identifier: MIT */
