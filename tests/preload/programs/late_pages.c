/* late_pages HOW: maps 64 MB by one malloc, writes it without another call of malloc, and ends by
 * HOW: _exit, _Exit, abort, kill, or return. `vfork`: a child of vfork leaves by _exit between the
 * two. `child`: a child writes as much, and the program, which does not, waits for it and is
 * killed. `handler`: a handler leaves by _exit when its stack has 1 KiB left. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 64 << 20, STACK = 65536, LEFT = 1024 };

static void *volatile kept;

static void write_all(void) { memset(kept, 1, BYTES); }

static void wait_for_child(pid_t pid) {
  if (!pid) {
    write_all();
    _exit(0);
  }
  waitpid(pid, NULL, 0);
}

static char *lowest;

static void leave(int signal) {
  volatile char here;
  volatile char *used = __builtin_alloca((size_t)(&here - lowest) - LEFT);
  used[0] = 1;
  _exit(6);
}

static void leave_in_handler(void) {
  char *memory = mmap(NULL, 2 * STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  lowest = memory + STACK;
  mprotect(lowest, STACK, PROT_READ | PROT_WRITE);
  sigaltstack(&(stack_t){.ss_sp = lowest, .ss_size = STACK}, NULL);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = leave, .sa_flags = SA_ONSTACK}, NULL);
  raise(SIGUSR1);
}

int main(int argc, char **argv) {
  const char *how = argv[1];
  kept = malloc(BYTES);
  if (!strcmp(how, "handler")) leave_in_handler();
  if (!strcmp(how, "child")) {
    wait_for_child(fork());
    raise(SIGKILL);
  }
  if (!strcmp(how, "vfork")) {
    pid_t pid = vfork();
    if (!pid) _exit(0);
    waitpid(pid, NULL, 0);
  }
  write_all();
  if (!strcmp(how, "_exit")) _exit(6);
  if (!strcmp(how, "_Exit")) _Exit(6);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "kill")) raise(SIGKILL);
  return 0;
}
/* SPDX-License-Identifier: MIT */
