/* The interpreter that was found; or else the code that runtimes make. */
#include "preload/interpreters.h"

#include "base/text.h"
#include <errno.h>
#include <stdatomic.h>

static struct python found_python;
static struct perl found_perl;
static struct code_map made;

/* Set once it has been found. */
static const struct callstack_interpreter *_Atomic found;

static bool begin(struct callstacks *callstacks, const char *language,
                  const struct callstack_interpreter *interpreter) {
  callstacks_set_language(callstacks, language);
  atomic_store_explicit(&found, interpreter, memory_order_release);
  return true;
}

/* ---- shared ---- */

bool interpreters_find(struct callstacks *callstacks, const struct python **python,
                       void (*tell)(uintptr_t, const struct callstack_place *),
                       char reason[INTERPRETER_REASON_BYTES]) {
  *python = NULL;
  _Static_assert((int)INTERPRETER_REASON_BYTES >= (int)PYTHON_REASON_BYTES &&
                     (int)INTERPRETER_REASON_BYTES >= (int)PERL_REASON_BYTES,
                 "a reason has room");
  enum python_found result = python_find(&found_python, callstacks, reason);
  if (result == PYTHON_FOUND) {
    *python = &found_python;
    return begin(callstacks, "python", &found_python.interpreter);
  }
  enum perl_found perl = result == PYTHON_NONE ? perl_find(&found_perl, callstacks, reason) : PERL_NONE;
  if (perl == PERL_REFUSED && !text_begins(program_invocation_short_name, "perl")) perl = PERL_NONE;
  if (perl == PERL_FOUND) return begin(callstacks, "perl", &found_perl.interpreter);
  callstacks_set_language(callstacks, "jit");
  code_map_begin(&made, callstacks, tell);
  return result == PYTHON_NONE && perl == PERL_NONE;
}

const wn_callstack *interpreters_capture(struct callstacks *callstacks, size_t depth, uintptr_t moved) {
  struct callstack_wish wish = {.depth = depth,
                                .from = __builtin_frame_address(0),
                                .interpreter = atomic_load_explicit(&found, memory_order_acquire)};
  if (moved && wish.interpreter == &found_perl.interpreter && perl_is_moving(&found_perl, moved))
    return callstack_capture(callstacks, depth);
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
