/* Programs that map memory themselves: maps sizes|file|steps|copied|sparse|dropped|spike|handlers|
 * threads|forks|bare_forks|small_stack|small_stack_exec; or allocate many blocks: maps small. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB       ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))

/* No function of its own, which would be the one that maps. */
#define get(bytes, protection) mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)

NOINLINE static char *arena(void) {
  char *block = get(10 * MB, PROT_READ | PROT_WRITE);
  memset(block, 1, 10 * MB);
  return block;
}

/* A hundred megabytes of addresses, of which one is touched. */
NOINLINE static char *reserve(void) {
  char *block = get(100 * MB, PROT_NONE);
  if (mprotect(block, MB, PROT_READ | PROT_WRITE)) abort();
  memset(block, 1, MB);
  return block;
}

NOINLINE static char *file(void) {
  int descriptor = open("/proc/self/exe", O_RDONLY);
  char *block = mmap(NULL, (size_t)1 << 16, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  return block == MAP_FAILED ? abort(), NULL : block;
}

NOINLINE static char *grow_break(void) {
  char *block = sbrk((intptr_t)(2 * MB));
  if (block == (void *)-1) abort();
  memset(block, 1, 2 * MB);
  return block;
}

NOINLINE static char *step_break(void) {
  char *block = NULL;
  for (int i = 0; i < 300; i++) {
    block = sbrk(10000);
    memset(block, 1, 10000);
  }
  return block;
}

NOINLINE static char *grown(void) {
  char *block = get(MB, PROT_READ | PROT_WRITE);
  block = mremap(block, MB, 5 * MB, MREMAP_MAYMOVE);
  if (block == MAP_FAILED) abort();
  memset(block, 1, 5 * MB);
  return block;
}

/* A private mapping of a file, of which two of three megabytes are written. */
NOINLINE static char *copied(void) {
  FILE *file = tmpfile();
  if (!file || ftruncate(fileno(file), 3 * MB)) abort();
  char *block = mmap(NULL, 3 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
  volatile char sum = 0;
  for (size_t i = 0; i < 3 * MB; i += 4096) sum += block[i];
  memset(block, 1, 2 * MB);
  return block;
}

NOINLINE static char *shared(void) {
  char *block = mmap(NULL, 4 * MB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memset(block, 1, 4 * MB);
}

/* As much as a machine cannot have, below all else. */
NOINLINE static char *sparse(void) {
  char *block = mmap((void *)((uintptr_t)1 << 44), (size_t)256 << 30, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) exit(77);
  return memset(block + ((size_t)100 << 30), 1, 3 * MB);
}

static void dropped(void) {
  if (setgid(65534) || setuid(65534)) exit(77);
  arena();
  puts("done");
}

static void sizes(void) {
  char *arenas[4];
  for (int i = 0; i < 3; i++) munmap(get(20 * MB, PROT_READ), 20 * MB);
  for (int i = 0; i < 4; i++) arenas[i] = arena();
  munmap(arenas[0] + 2 * MB, 3 * MB); /* a hole: 37 MB are left */
  reserve();
  grown();
  grow_break();
  printf("%s\n", arenas[1][5] ? "done" : "");
}

/* Large for a moment, in which nothing is allocated or mapped. */
NOINLINE static int spike(void) {
  char stack[6 << 20];
  memset(stack, 1, sizeof stack);
  return stack[12345];
}

static volatile sig_atomic_t handled;
static void handler(int signal) {
  (void)signal;
  munmap(get(MB, PROT_READ), MB);
  handled++;
}

static void handlers(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  struct itimerval timer = {{0, 200}, {0, 200}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  while (handled < 500) munmap(get(MB, PROT_READ), MB);
  memset(&timer, 0, sizeof timer);
  setitimer(ITIMER_REAL, &timer, NULL);
  puts("done");
}

static void *map_and_unmap(void *unused) {
  for (int i = 0; i < 5000; i++) {
    char *block = get(MB / 4, PROT_READ | PROT_WRITE);
    block[5] = 1;
    munmap(block + MB / 16, MB / 16);
    char *moved = mremap(block, MB / 16, MB / 8, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) abort();
    munmap(block + MB / 8, MB / 8);
    munmap(moved, MB / 8);
  }
  return unused;
}

static void threads(void) {
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, map_and_unmap, NULL);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  arena();
  puts("done");
}

NOINLINE static void in_child(void) {
  for (int i = 0; i < 200; i++) free(malloc(100000));
  arena();
}

static void forks(void) {
  arena();
  pid_t child = fork();
  if (!child) {
    in_child();
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  puts(status ? "the child failed" : "done");
}

static atomic_bool stopping;

static void *map_until_told(void *unused) {
  while (!stopping) munmap(get(MB / 8, PROT_READ), MB / 8);
  return unused;
}

/* Children that no fork handler sees, while other threads map. One that hangs ends by its alarm. */
static void bare_forks(void) {
  pthread_t thread[3];
  int ended = 0, status;
  for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, map_until_told, NULL);
  for (int i = 0; i < 400; i++) {
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!child) {
      alarm(5);
      char *block = get(MB / 8, PROT_READ);
      block = mremap(block, MB / 8, MB / 4, MREMAP_MAYMOVE);
      munmap(block, MB / 4);
      _exit(sbrk((intptr_t)MB) == (void *)-1);
    }
    if (waitpid(child, &status, 0) != child || status) break;
    ended++;
  }
  stopping = 1;
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  printf("%d children ended\n", ended);
}

static void allocate_and_map(int signal) {
  (void)signal;
  for (int i = 0; i < 20000; i++) free(malloc(100));
  for (int i = 0; i < 20; i++) *(char *)get(MB, PROT_READ | PROT_WRITE) = 1;
}

static void execute(int signal) {
  (void)signal;
  execl("/bin/echo", "echo", "executed", NULL);
}

/* A handler on the stack of 8 KiB that programs used to give it. */
static void small_stack(void (*action)(int)) {
  enum { STACK = 8192, GUARD = 65536 };
  char *stack = get(GUARD + STACK, PROT_READ | PROT_WRITE);
  mprotect(stack, GUARD, PROT_NONE);
  sigaltstack(&(stack_t){.ss_sp = stack + GUARD, .ss_size = STACK}, NULL);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = action, .sa_flags = SA_ONSTACK}, NULL);
  raise(SIGUSR1);
  puts("done");
}

static void small(void) {
  for (int i = 0; i < 200000; i++) memset(malloc(24), 1, 24), memset(malloc(25), 1, 25);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  free(malloc(5000000)); /* so that something is recorded */
  if (!strcmp(what, "sizes")) sizes();
  if (!strcmp(what, "small")) small();
  if (!strcmp(what, "file")) printf("%d\n", file()[0]);
  if (!strcmp(what, "steps")) printf("%d\n", step_break()[0]);
  if (!strcmp(what, "copied")) printf("%d\n", copied()[0] + shared()[0]);
  if (!strcmp(what, "sparse")) printf("%d\n", sparse()[0] + arena()[0]);
  if (!strcmp(what, "dropped")) dropped();
  if (!strcmp(what, "small_stack")) small_stack(allocate_and_map);
  if (!strcmp(what, "small_stack_exec")) small_stack(execute);
  if (!strcmp(what, "spike")) printf("%d\n", spike());
  if (!strcmp(what, "handlers")) handlers();
  if (!strcmp(what, "threads")) threads();
  if (!strcmp(what, "forks")) forks();
  if (!strcmp(what, "bare_forks")) bare_forks();
  return 0;
}
/* SPDX-License-Identifier: MIT */
