/* The interpreter that was found; or else the code that runtimes make. */
#include "preload/interpreters.h"

#include "base/os.h"
#include "base/text.h"
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>

static struct python found_python;
static struct perl found_perl;
static struct code_map made;

/* Set once it has been found. */
static const struct callstack_interpreter *_Atomic found;

static bool interpreters_begin(struct callstacks *callstacks, const char *language,
                               const struct callstack_interpreter *interpreter) {
  callstacks_set_language(callstacks, language);
  atomic_store_explicit(&found, interpreter, memory_order_release);
  return true;
}

/* UNLOADED. An interpreter that the program loaded may be unloaded, while other threads capture.
 * All accesses are sequentially consistent, except where a step says otherwise.
 *
 * The thread that calls dlclose, of whatever library:
 *   1. increments `unloading`, so that other threads may be in steps 1 to 5 at the same time;
 *   2. waits until `captures` is 0, but WAIT_NS at most;
 *   3. calls the loader's dlclose;
 *   4. takes `looking`, and forgets the interpreter if its library is gone: stores NULL in
 *      `found`;
 *   5. decrements `unloading`.
 * A thread that captures:
 *   1. reads `found` (acquire). If that is NULL, or `may_go` is false, it does not count itself:
 *      there is no interpreter, or one that stays. `may_go` is stored before `found`;
 *   2. increments `captures`;
 *   3. reads `unloading`, and does without the interpreter unless that is 0;
 *   4. reads `found` anew: what step 1 read may have been unloaded since;
 *   5. captures, and decrements `captures` (release; step 2 of dlclose then sees that it has read
 *      all).
 * Either the capture reads that `unloading` is not 0, or the dlclose sees its count and waits.
 * A thread that finds an interpreter takes `looking`, or leaves it to the thread that has that. It
 * writes `found_python` only while `found` is NULL; so no capture reads what it writes, and no
 * dlclose.
 *
 * Handlers. A handler that captures within a capture of its thread counts a second time. One that
 * interrupts step 1 of a capture and calls dlclose waits for nothing of its thread. One that
 * leaves the capture it interrupted by longjmp leaves its count, so each dlclose from then on
 * waits for WAIT_NS.
 * Fork. The child has none of the other threads: its counts begin at 0. If the fork came within
 * another thread's dlclose, the library may be half gone, so the child forgets the interpreter; it
 * is found again when it next maps memory. If the forking thread's own capture or dlclose was
 * interrupted by the handler that forked, `captures` or `unloading` is one less than 0 when that
 * ends: then the child does without calls, or its dlclose waits for WAIT_NS. */
static _Atomic(bool) may_go; /* set before such an interpreter is published */
static _Atomic(bool) looking;
static _Atomic(unsigned) unloading, captures;
#define WAIT_NS ((uint64_t)1000 * 1000 * 1000)

static const wn_callstack *capture_interpreters(struct callstacks *callstacks, struct callstack_wish *wish,
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

/* UNLOADED. Waits no longer than WAIT_NS: a handler may have left a thread's search for good. */
static void take_looking(void) {
  uint64_t end = os_monotonic_ns() + WAIT_NS;
  for (bool looks = false; !atomic_compare_exchange_strong(&looking, &looks, true); looks = false) {
    if (os_monotonic_ns() >= end) return;
    sched_yield();
  }
}

/* ---- shared ---- */

bool interpreters_find(struct callstacks *callstacks, const struct python **python,
                       void (*tell)(const struct callstack_place *), char reason[INTERPRETER_REASON_BYTES]) {
  *python = NULL;
  _Static_assert((int)INTERPRETER_REASON_BYTES >= (int)PYTHON_REASON_BYTES &&
                     (int)INTERPRETER_REASON_BYTES >= (int)PERL_REASON_BYTES,
                 "a reason has room");
  enum python_found result = python_find(&found_python, callstacks, NULL, reason);
  if (result == PYTHON_FOUND) {
    *python = &found_python;
    return interpreters_begin(callstacks, "python", &found_python.interpreter);
  }
  enum perl_found perl = result == PYTHON_NONE ? perl_find(&found_perl, callstacks, reason) : PERL_NONE;
  if (perl == PERL_REFUSED && !text_begins(program_invocation_short_name, "perl")) perl = PERL_NONE;
  if (perl == PERL_FOUND) return interpreters_begin(callstacks, "perl", &found_perl.interpreter);
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
    interpreters_begin(callstacks, "python", &found_python.interpreter);
  }
  atomic_store(&looking, false);
  return result != PYTHON_REFUSED;
}

bool interpreters_none(void) { return !atomic_load_explicit(&found, memory_order_relaxed); }

void interpreters_before_unloading(void) {
  atomic_fetch_add(&unloading, 1);
  for (uint64_t end = 0; atomic_load(&captures); sched_yield()) {
    uint64_t now = os_monotonic_ns();
    if (!end) end = now + WAIT_NS;
    if (now >= end) break;
  }
}

void interpreters_after_unloading(void) {
  if (atomic_load(&may_go)) {
    take_looking();
    if (atomic_load(&found) && !exports_are_there(&found_python.exports)) atomic_store(&found, NULL);
    atomic_store(&looking, false);
  }
  atomic_fetch_sub(&unloading, 1);
}

const wn_callstack *interpreters_capture(struct callstacks *callstacks, size_t depth, uintptr_t moved) {
  struct callstack_wish wish = {.depth = depth,
                                .from = __builtin_frame_address(0),
                                .interpreter = atomic_load_explicit(&found, memory_order_acquire)};
  bool counted = wish.interpreter && atomic_load_explicit(&may_go, memory_order_relaxed);
  if (!counted) return capture_interpreters(callstacks, &wish, moved);
  atomic_fetch_add(&captures, 1);
  wish.interpreter = atomic_load(&unloading) ? NULL : atomic_load(&found);
  const wn_callstack *stack = capture_interpreters(callstacks, &wish, moved);
  atomic_fetch_sub_explicit(&captures, 1, memory_order_release);
  return stack;
}

void interpreters_mapped(int descriptor) { code_map_mapped(&made, descriptor); }
void interpreters_end(void) { code_map_refresh(&made, true); }

void interpreters_fork_child(void) {
  if (atomic_load(&may_go) && atomic_load(&unloading)) atomic_store(&found, NULL);
  atomic_store_explicit(&captures, 0, memory_order_relaxed); /* of threads that the child does not have */
  atomic_store_explicit(&unloading, 0, memory_order_relaxed);
  atomic_store_explicit(&looking, false, memory_order_relaxed);
  code_map_fork_child(&made);
}
/* SPDX-License-Identifier: MIT */
