/* Frames of all kinds. Built without frame pointers and without tail calls, so that every function
 * is on the stack. */
#include "callpaths.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))

struct call {
  leaf_function *leaf;
  void *context;
  int result;
  int done;
};
/* Set before anything below needs it; one test runs at a time. */
static struct call current;
static void *volatile kept;

static NOINLINE int chain_third(leaf_function *leaf, void *context) { return leaf(context) + 3; }
static NOINLINE int chain_second(leaf_function *leaf, void *context) {
  return chain_third(leaf, context) + 2;
}
NOINLINE int path_chain(leaf_function *leaf, void *context) { return chain_second(leaf, context) + 1; }

NOINLINE int path_recursion(int depth, leaf_function *leaf, void *context) {
  return depth ? path_recursion(depth - 1, leaf, context) + 1 : leaf(context);
}

NOINLINE int path_alloca(int bytes, leaf_function *leaf, void *context) {
  char *room = alloca((size_t)bytes);
  memset(room, 1, (size_t)bytes);
  kept = room;
  return leaf(context) + room[bytes - 1];
}

NOINLINE int path_big_frame(leaf_function *leaf, void *context) {
  char room[1 << 20];
  memset(room, 1, sizeof room);
  kept = room;
  return path_chain(leaf, context) + room[77];
}

NOINLINE int path_realigned(int bytes, leaf_function *leaf, void *context) {
  _Alignas(64) char aligned[128];
  char *room = alloca((size_t)bytes);
  memset(room, 1, (size_t)bytes);
  memset(aligned, 1, sizeof aligned);
  kept = room;
  int first = leaf(context);
  kept = aligned;
  return first + aligned[3] + room[0];
}

NOINLINE int path_many_registers(int number, leaf_function *leaf, void *context) {
  int a = number * 3, b = number * 5, c = number * 7, d = number * 11, e = number * 13, f = number * 17;
  int first = leaf(context);
  return first + (a ^ b) + (c ^ d) + (e ^ f) + (a & b & c & d & e & f);
}

static int compare(const void *left, const void *right) {
  if (!current.done++) current.result = current.leaf(current.context);
  return *(const int *)left - *(const int *)right;
}
NOINLINE int path_qsort(leaf_function *leaf, void *context) {
  int numbers[] = {3, 1, 2, 5, 4};
  current = (struct call){leaf, context, 0, 0};
  qsort(numbers, 5, sizeof *numbers, compare);
  return current.result;
}

static void *thread_main(void *unused) {
  current.result = path_chain(current.leaf, current.context);
  return unused;
}
NOINLINE int path_thread(leaf_function *leaf, void *context) {
  pthread_t thread;
  current = (struct call){leaf, context, 0, 0};
  if (pthread_create(&thread, NULL, thread_main, NULL)) return -1;
  pthread_join(thread, NULL);
  return current.result;
}

static void handler(int number) {
  (void)number;
  current.result = path_chain(current.leaf, current.context);
}
static NOINLINE int raise_it(int number, int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
  sigaction(number, &action, &old);
  raise(number);
  sigaction(number, &old, NULL);
  return current.result;
}
NOINLINE int path_signal(leaf_function *leaf, void *context) {
  current = (struct call){leaf, context, 0, 0};
  return raise_it(SIGUSR1, 0);
}
NOINLINE int path_alternate_stack(leaf_function *leaf, void *context) {
  current = (struct call){leaf, context, 0, 0};
  size_t bytes = 1 << 18;
  stack_t stack = {.ss_size = bytes}, old;
  stack.ss_sp = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaltstack(&stack, &old);
  int result = raise_it(SIGUSR1, SA_ONSTACK);
  sigaltstack(&old, NULL);
  munmap(stack.ss_sp, bytes);
  return result;
}

/* The interrupted instruction is the one that faults, in the middle of a function and not after a
 * call. */
static char *faulting_page;
static void repair(int number) {
  handler(number);
  mprotect(faulting_page, 4096, PROT_READ | PROT_WRITE);
}
NOINLINE int path_fault(leaf_function *leaf, void *context) {
  current = (struct call){leaf, context, 0, 0};
  struct sigaction action = {.sa_handler = repair}, old;
  faulting_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaction(SIGSEGV, &action, &old);
  *(volatile char *)faulting_page = 1;
  sigaction(SIGSEGV, &old, NULL);
  munmap(faulting_page, 4096);
  return current.result;
}
/* SPDX-License-Identifier: MIT */
