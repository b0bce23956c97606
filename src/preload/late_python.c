/* Finds CPython when it maps memory for the first time.
 *
 * A program may load libpython by dlopen, in a scope of its own, or a library that has CPython
 * inside or needs it. No function that the program calls then is ours, until CPython maps its first
 * arena or the first part of its stack of frames: before its first object. The library is found by
 * the address that mmap returns to. No lock is taken: other threads may hold the loader's. UNLOADED
 * in interpreters.c is the protocol by which it is forgotten when the program unloads it. */
#include "preload/late_python.h"

#include "languages/python_allocator.h"
#include "preload/interpreters.h"
#include "preload/malloc_host.h"
#include "preload/process.h"
#include "preload/python_objects.h"
#include <stdatomic.h>
#include <stdint.h>

static struct {
  /* Set by late_python_begin, before `begun`. */
  bool samples;
  void (*tell)(const char *reason);
  _Atomic(bool) begun;
  _Atomic(bool) told;
} late;

/* What CPython's versions map: arenas of 3.9 and of later ones, and parts of the stack of
 * frames. */
static bool is_of_pythons_sizes(size_t bytes) {
  return bytes == 1 << 20 || bytes == 256 << 10 || bytes == 16 << 10;
}

static bool late_python_look(const void *caller, const void *mapped, size_t bytes) {
  char reason[INTERPRETER_REASON_BYTES];
  const struct python *python;
  if (!interpreters_find_late(host_callstacks(), caller, &python, reason)) {
    if (!atomic_exchange(&late.told, true)) late.tell(reason);
    atomic_store(&late.begun, false);
  }
  if (!python || !late.samples || !python_objects_begin(python) || bytes != python->layout.arena_bytes)
    return false;
  python_arena_begins(python, (uintptr_t)mapped);
  return true;
}

/* ---- shared ---- */

void late_python_begin(bool samples, void (*tell)(const char *reason)) {
  if (!interpreters_none()) return;
  late.samples = samples;
  late.tell = tell;
  atomic_store(&late.told, !tell);
  atomic_store_explicit(&late.begun, true, memory_order_release);
}

bool late_python_mapped(const void *caller, const void *mapped, size_t bytes) {
  if (!is_of_pythons_sizes(bytes) || !atomic_load_explicit(&late.begun, memory_order_acquire) ||
      !interpreters_none() || !process_is_recorded())
    return false;
  struct host_visit visit = host_enter();
  bool is_arena = late_python_look(caller, mapped, bytes);
  host_leave(visit);
  return is_arena;
}
/* SPDX-License-Identifier: MIT */
