/* The interpreter that was found; or else the code that runtimes make. */
#include "preload/interpreters.h"

#include <stdatomic.h>

static struct python found_python;
static struct code_map made;

/* Set once it has been found. */
static const struct callstack_interpreter *_Atomic found;

/* ---- shared ---- */

bool interpreters_find(struct callstacks *callstacks, const struct python **python,
                       void (*tell)(uintptr_t, const struct callstack_place *),
                       char reason[INTERPRETER_REASON_BYTES]) {
  *python = NULL;
  _Static_assert((int)INTERPRETER_REASON_BYTES >= (int)PYTHON_REASON_BYTES, "a reason has room");
  enum python_found result = python_find(&found_python, callstacks, reason);
  if (result != PYTHON_FOUND) {
    callstacks_set_language(callstacks, "jit");
    code_map_begin(&made, callstacks, tell);
    return result == PYTHON_NONE;
  }
  callstacks_set_language(callstacks, "python");
  *python = &found_python;
  atomic_store_explicit(&found, &found_python.interpreter, memory_order_release);
  return true;
}

const wn_callstack *interpreters_capture(struct callstacks *callstacks, size_t depth) {
  struct callstack_wish wish = {.depth = depth,
                                .from = __builtin_frame_address(0),
                                .interpreter = atomic_load_explicit(&found, memory_order_acquire)};
  bool makes = !wish.interpreter && callstacks_have_unowned(callstacks) && code_map_begun(&made);
  if (!wish.interpreter && !makes) return callstack_capture(callstacks, depth);
  if (makes) {
    code_map_refresh(&made, false);
    wish.code = &made.code;
  }
  return callstack_capture_with(callstacks, &wish);
}

void interpreters_mapped(int descriptor) { code_map_mapped(&made, descriptor); }
void interpreters_end(void) { code_map_refresh(&made, true); }
void interpreters_fork_child(void) { code_map_fork_child(&made); }
/* SPDX-License-Identifier: MIT */
