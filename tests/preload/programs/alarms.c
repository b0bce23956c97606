/* A library for programs in Python: a signal handler that maps memory at any instruction of the
 * program, and a function that allocates for ever. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>

static _Atomic(int) handled;

static void handle(int number) {
  (void)number;
  void *mapped = mmap(NULL, 77 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped != MAP_FAILED && handled % 20) munmap(mapped, 77 << 20); /* a few stay */
  handled++;
}

static void set(int microseconds) {
  struct itimerval every = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &every, NULL);
}

#define EXPORT __attribute__((visibility("default")))

EXPORT void begin(void) {
  const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  raise(SIGALRM); /* one whose mapping is noted for certain: the next ones may interrupt the recorder */
  set(100);
}

EXPORT int count(void) { return handled; }

EXPORT void end(void) { set(0); }
static _Atomic(long) made;

EXPORT void allocate_for_ever(void) {
  for (;; made++) free(malloc(100));
}

EXPORT void await_allocations(long count) {
  for (long until = made + count; made < until;) sched_yield();
}
/* SPDX-License-Identifier: MIT */
