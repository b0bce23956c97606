/* _exit and _Exit, as the program sees them: they end a process without its exit handlers, ours
 * among them. So the process is measured here for the last time.
 *
 * exit and quick_exit end by the C library's own _exit, not by ours. Signal handlers and children
 * of vfork may call ours, so these functions look nothing up. In a process that is not recorded
 * they make no system call before the exit, since a seccomp filter of that process may forbid any;
 * only a process that shares the memory of a recorded one (vfork) calls getpid.
 */
#include "preload/exit_calls.h"

#include "preload/process.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { ROOM_BYTES = 6144 };

typedef void leave_function(int);

static leave_function *next_exit, *next_Exit;

/* Whether the stack has room for a measurement, which takes 3 KiB, and as much again for safety: a
 * handler's alternate stack may be all but full. */
static bool exit_calls_has_room(void) {
  stack_t stack;
  if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_ONSTACK)) return true;
  return (uintptr_t)&stack - (uintptr_t)stack.ss_sp >= ROOM_BYTES;
}

static _Noreturn void exit_calls_leave(leave_function *next, int status) {
  if (process_is_recorded() && exit_calls_has_room()) process_leaves();
  if (next) next(status);
  for (;;) syscall(SYS_exit_group, status);
}

/* ---- shared ---- */

void exit_calls_resolve(void) {
  next_exit = (leave_function *)dlsym(RTLD_NEXT, "_exit");
  next_Exit = (leave_function *)dlsym(RTLD_NEXT, "_Exit");
}

/* ---- what the program calls ---- */

EXPORT _Noreturn void _exit(int status) { exit_calls_leave(next_exit, status); }
EXPORT _Noreturn void _Exit(int status) { exit_calls_leave(next_Exit, status); }
/* SPDX-License-Identifier: MIT */
