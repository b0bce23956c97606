/* The interpreter that was found; or else the code that runtimes make. */
#include "preload/interpreters.h"

#include "base/text.h"
#include <errno.h>
#include <sched.h>
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

/* UNLOADED. An interpreter that the program loaded may be unloaded, while other threads capture. The
 * thread that unloads a library:
 *   1. increments `unloading`;
 *   2. waits until `captures` is 0;
 *   3. unloads, and forgets the interpreter if that is gone;
 *   4. decrements `unloading`.
 * A capture that may use the interpreter increments `captures`, then reads `unloading`, and then, if that
 * is 0, which interpreter there is: what it read before may be gone. A handler that never returns to
 * the capture it interrupted leaves its count; so the wait has an end. */
static _Atomic(bool) may_go; /* set before such an interpreter is published */
static _Atomic(bool) looking;
static _Atomic(unsigned) unloading, captures;
enum { WAITS_MOST = 1 << 16 };

static const wn_callstack *capture(struct callstacks *callstacks, struct callstack_wish *wish,
                                   uintptr_t moved) {
  if (moved && wish->interpreter == &found_perl.interpreter && perl_is_moving(&found_perl, moved))
    return callstack_capture(callstacks, wish->depth);
  bool makes = !wish->interpreter && callstacks_have_unowned(callstacks) && code_map_begun(&made);
  if (!wish->interpreter && !makes) return callstack_capture(callstacks, wish->depth);
  if (makes) {
    code_map_refresh(&made, false);
    wish->code = &made.code;
  }
  return callstack_capture_with(callstacks, wish);
}

/* ---- shared ---- */

bool interpreters_find(struct callstacks *callstacks, const struct python **python,
                       void (*tell)(uintptr_t, const struct callstack_place *),
                       char reason[INTERPRETER_REASON_BYTES]) {
  *python = NULL;
  _Static_assert((int)INTERPRETER_REASON_BYTES >= (int)PYTHON_REASON_BYTES &&
                     (int)INTERPRETER_REASON_BYTES >= (int)PERL_REASON_BYTES,
                 "a reason has room");
  enum python_found result = python_find(&found_python, callstacks, NULL, reason);
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

bool interpreters_find_late(struct callstacks *callstacks, const void *caller, const struct python **python,
                            char reason[INTERPRETER_REASON_BYTES]) {
  struct exports exports;
  bool looks = false;
  *python = NULL;
  if (!exports_open(&exports, (uintptr_t)caller) || !exports_find(&exports, "_PyRuntime", NULL) ||
      !atomic_compare_exchange_strong(&looking, &looks, true))
    return true;
  enum python_found result = PYTHON_NONE;
  if (!atomic_load(&found)) result = python_find(&found_python, callstacks, &exports, reason);
  if (result == PYTHON_FOUND) {
    *python = &found_python;
    atomic_store(&may_go, true);
    begin(callstacks, "python", &found_python.interpreter);
  }
  atomic_store(&looking, false);
  return result != PYTHON_REFUSED;
}

bool interpreters_none(void) { return !atomic_load_explicit(&found, memory_order_relaxed); }

void interpreters_before_unloading(void) {
  atomic_fetch_add(&unloading, 1);
  for (unsigned i = 0; i < WAITS_MOST && atomic_load(&captures); i++) sched_yield();
}

void interpreters_after_unloading(void) {
  if (atomic_load(&may_go) && !exports_are_there(&found_python.exports)) atomic_store(&found, NULL);
  atomic_fetch_sub(&unloading, 1);
}

const wn_callstack *interpreters_capture(struct callstacks *callstacks, size_t depth, uintptr_t moved) {
  struct callstack_wish wish = {.depth = depth,
                                .from = __builtin_frame_address(0),
                                .interpreter = atomic_load_explicit(&found, memory_order_acquire)};
  bool counted = wish.interpreter && atomic_load_explicit(&may_go, memory_order_relaxed);
  if (!counted) return capture(callstacks, &wish, moved);
  atomic_fetch_add(&captures, 1);
  wish.interpreter = atomic_load(&unloading) ? NULL : atomic_load(&found);
  const wn_callstack *stack = capture(callstacks, &wish, moved);
  atomic_fetch_sub_explicit(&captures, 1, memory_order_release);
  return stack;
}

void interpreters_mapped(int descriptor) { code_map_mapped(&made, descriptor); }
void interpreters_end(void) { code_map_refresh(&made, true); }

void interpreters_fork_child(void) {
  atomic_store_explicit(&captures, 0, memory_order_relaxed); /* of threads that the child does not have */
  atomic_store_explicit(&unloading, 0, memory_order_relaxed);
  atomic_store_explicit(&looking, false, memory_order_relaxed);
  code_map_fork_child(&made);
}
/* SPDX-License-Identifier: MIT */
