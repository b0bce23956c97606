/* The public interface of winnow/callstack.h. */
#include "base/hash.h"
#include "callstack/capture.h"
#include <stdlib.h>
#include <string.h>

static wn_frame frames_frame_of(struct callstacks *owner, uint32_t number_of_frame) {
  uint32_t number;
  uint64_t offset;
  callstack_frame(owner, number_of_frame, &number, &offset);
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

/* ---- public ---- */

size_t wn_callstack_depth(const wn_callstack *callstack) {
  return callstack->count - (callstack->count && callstack->frame[0] == FRAME_CUT);
}

wn_frame wn_callstack_frame(const wn_callstack *callstack, size_t index) {
  if (index >= wn_callstack_depth(callstack)) return (wn_frame){0};
  return frames_frame_of(callstack->owner, callstack->frame[callstack->count - 1 - index]);
}

size_t wn_callstack_frames(const wn_callstack *callstack, wn_frame *frames, size_t most) {
  size_t depth = wn_callstack_depth(callstack);
  for (size_t i = 0; i < most && i < depth; i++) frames[i] = wn_callstack_frame(callstack, i);
  return depth;
}

uint64_t wn_callstack_hash(const wn_callstack *callstack) {
  return hash_words(callstack->frame, callstack->count);
}

bool wn_callstack_equal(const wn_callstack *one, const wn_callstack *other) {
  return one->owner == other->owner && one->count == other->count &&
         !memcmp(one->frame, other->frame, one->count * sizeof *one->frame);
}

wn_callstack *wn_callstack_copy(const wn_callstack *callstack) {
  size_t bytes = callstack->count * sizeof *callstack->frame;
  struct wn_callstack *copy = malloc(sizeof *copy + bytes);
  if (!copy) return NULL;
  uint32_t *frames = (uint32_t *)(copy + 1);
  *copy = (struct wn_callstack){.owner = callstack->owner, .frame = frames, .count = callstack->count};
  if (bytes) memcpy(frames, callstack->frame, bytes);
  return copy;
}

void wn_callstack_free(wn_callstack *copy) { free(copy); }
/* SPDX-License-Identifier: MIT */
