/* Signal handlers that allocate and free in the midst of malloc, 3,000 times a second: signals
 * SECONDS. Then some that leave by longjmp, from code that is not the allocator's: signals SECONDS
 * jump. And with short threads: signals SECONDS threads.
 *
 * No C library's malloc is made for that. But at rate 1 every block is Winnow's own, and Winnow is
 * made for it. So no block of the first thread may lie in the C library's heap, where a handler
 * may free one that it allocated while Winnow was at work. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_int storms;
static _Atomic(void *) passed[64];
static sigjmp_buf out;
static volatile sig_atomic_t may_jump;
static pthread_t first_thread;
static char *heap_begin;
static atomic_int foreign;
extern char end;

static void handler(int signal) {
  (void)signal;
  int storm = atomic_fetch_add(&storms, 1), slot = storm % 64;
  size_t bytes = (size_t)(storm % 100) * 300 + 1;
  char *block = malloc(bytes);
  if (block) memset(block, 3, bytes);
  if (storm % 4 == 0) block = realloc(block, bytes + 5000);
  free(atomic_exchange(&passed[slot], block));
  if (may_jump && storm % 8 == 0) siglongjmp(out, 1);
}

static void look_at(const char *block) {
  if (pthread_self() == first_thread && block >= heap_begin && block < (char *)sbrk(0)) foreign++;
}

static void work(void) {
  char *block[50];
  for (int i = 0; i < 50; i++) {
    block[i] = malloc((size_t)i * 200 + 1);
    block[i][0] = (char)i;
    look_at(block[i]);
  }
  for (int i = 0; i < 50; i++) {
    block[i] = realloc(block[i], (size_t)i * 400 + 1);
    look_at(block[i]);
    if (block[i][0] != (char)i) abort();
    free(block[i]);
  }
}

static void *short_life(void *unused) {
  work();
  return unused;
}

static void with_threads(void) {
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, short_life, NULL);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  first_thread = pthread_self();
  heap_begin = &end;
  double limit = seconds() + (argc > 1 ? atof(argv[1]) : 1);
  int jumps = argc > 2 && !strcmp(argv[2], "jump"), threads = argc > 2 && !strcmp(argv[2], "threads");
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval fast = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &fast, NULL);
  while (seconds() < limit) {
    if (jumps && !sigsetjmp(out, 1)) {
      may_jump = 1;
      for (volatile int i = 0; i < 10000000; i++) {}
    }
    may_jump = 0;
    if (threads)
      with_threads();
    else
      work();
  }
  struct itimerval off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &off, NULL);
  if (foreign) printf("%d blocks are the C library's\n", foreign);
  puts(storms > 100 ? "survived" : "no storm");
  return 0;
}
/* SPDX-License-Identifier: MIT */
