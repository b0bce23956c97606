/* The public interface of winnow/callstack.h. Its functions get only a pointer to a callstack; the
 * head of the page where it points leads them to the tables (nodes.h). */
#include "callstack/capture.h"
#include "callstack/nodes.h"

static struct callstacks *owner_of(const wn_callstack *callstack) {
  const void *owner =
      atomic_load_explicit(&node_head((const struct node *)callstack)->owner, memory_order_relaxed);
  return (struct callstacks *)(uintptr_t)owner;
}

/* The innermost frame of a callstack that is not empty, and the number of the rest. */
static wn_frame frame_of(struct callstacks *owner, uint32_t id, uint32_t *parent) {
  uint32_t number;
  uint64_t offset;
  callstack_node(owner, id, parent, &number, &offset);
  struct callstack_module module = {0};
  bool in_module = callstack_module(owner, number, &module);
  wn_frame frame = {.pc = (uintptr_t)(offset + module.bias),
                    .offset = (uintptr_t)offset,
                    .module = in_module ? module.path : NULL};
  struct callstack_place place;
  if (callstack_place(owner, number, offset, &place)) {
    frame.function = place.function;
    frame.file = place.file;
    frame.line = place.line;
  }
  return frame;
}

/* The number of a callstack, and 0 for the mark at the outer end of one that was cut. */
static uint32_t known(struct callstacks *owner, uint32_t id) {
  uint32_t parent, module;
  uint64_t offset;
  callstack_node(owner, id, &parent, &module, &offset);
  return !parent && !module && offset == CALLSTACK_CUT ? 0 : id;
}

static uint32_t caller_of(struct callstacks *owner, uint32_t id) {
  uint32_t parent, module;
  uint64_t offset;
  callstack_node(owner, id, &parent, &module, &offset);
  return known(owner, parent);
}

/* ---- public ---- */

size_t wn_callstack_depth(const wn_callstack *callstack) { return wn_callstack_frames(callstack, NULL, 0); }

wn_frame wn_callstack_frame(const wn_callstack *callstack, size_t index) {
  struct callstacks *owner = owner_of(callstack);
  uint32_t id = callstack_id(callstack);
  for (; index && id; index--) id = caller_of(owner, id);
  return known(owner, id) ? frame_of(owner, id, &id) : (wn_frame){0};
}

size_t wn_callstack_frames(const wn_callstack *callstack, wn_frame *frames, size_t most) {
  struct callstacks *owner = owner_of(callstack);
  uint32_t id = callstack_id(callstack);
  size_t depth = 0;
  for (; (id = known(owner, id)) && depth < most; depth++) frames[depth] = frame_of(owner, id, &id);
  for (; id; depth++) id = caller_of(owner, id);
  return depth;
}
/* SPDX-License-Identifier: MIT */
