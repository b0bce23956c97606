/* The interpreter that was found. */
#include "preload/interpreters.h"

#include <stdatomic.h>

static struct python found_python;

/* Set once it has been found. */
static const struct callstack_interpreter *_Atomic found;

/* ---- shared ---- */

bool interpreters_find(struct callstacks *callstacks, const struct python **python,
                       char reason[INTERPRETER_REASON_BYTES]) {
  *python = NULL;
  _Static_assert((int)INTERPRETER_REASON_BYTES >= (int)PYTHON_REASON_BYTES, "a reason has room");
  enum python_found result = python_find(&found_python, callstacks, reason);
  if (result != PYTHON_FOUND) return result == PYTHON_NONE;
  callstacks_set_language(callstacks, "python");
  *python = &found_python;
  atomic_store_explicit(&found, &found_python.interpreter, memory_order_release);
  return true;
}

const wn_callstack *interpreters_capture(struct callstacks *callstacks, size_t depth) {
  struct callstack_wish wish = {.depth = depth,
                                .from = __builtin_frame_address(0),
                                .interpreter = atomic_load_explicit(&found, memory_order_acquire)};
  return wish.interpreter ? callstack_capture_with(callstacks, &wish) : callstack_capture(callstacks, depth);
}
/* SPDX-License-Identifier: MIT */
