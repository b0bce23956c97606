/* What a program calls that ends without its exit handlers, and so without ours: it is measured a
 * last time.
 *
 * exit and quick_exit end by the C library's own _exit, which does not come here. Handlers of
 * signals and children of vfork may come, so nothing is looked up here. A process that is not
 * recorded makes no system call here but getpid where it shares a recorded one's memory: its filter
 * may forbid all.
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

/* A handler's alternate stack may be all but full; to measure takes 3 KiB. */
static bool has_room(void) {
  stack_t stack;
  if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_ONSTACK)) return true;
  return (uintptr_t)&stack - (uintptr_t)stack.ss_sp >= ROOM_BYTES;
}

static _Noreturn void leave(leave_function *next, int status) {
  if (process_is_recorded() && has_room()) process_leaves();
  if (next) next(status);
  for (;;) syscall(SYS_exit_group, status);
}

/* ---- shared ---- */

void exit_calls_resolve(void) {
  next_exit = (leave_function *)dlsym(RTLD_NEXT, "_exit");
  next_Exit = (leave_function *)dlsym(RTLD_NEXT, "_Exit");
}

/* ---- what the program calls ---- */

EXPORT _Noreturn void _exit(int status) { leave(next_exit, status); }
EXPORT _Noreturn void _Exit(int status) { leave(next_Exit, status); }
/* SPDX-License-Identifier: MIT */
