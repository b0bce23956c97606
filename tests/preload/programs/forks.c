/* forks plain: a child frees what it inherited and allocates; raw: by the bare system call, so that
 * no handler runs; leave: leaves such a child behind; heir: a child inherits 20 MB and keeps 2 MB of
 * its own; STORM N: N forks while 16 threads allocate. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *blocks[1000];
static atomic_bool ended;
static int many; /* blocks more of the child, enough for chunks of their own */

__attribute__((noinline)) void of_the_parent(void) {
  for (int i = 0; i < 1000; i++) blocks[i] = malloc((size_t)(i % 50 * 100 + 10));
}

__attribute__((noinline)) void of_the_child(void) {
  for (int i = 0; i < 1000; i++) {
    if (i % 3 == 0) blocks[i] = realloc(blocks[i], (size_t)i * 20 + 1);
    memset(blocks[i], 1, 1);
    free(blocks[i]);
  }
  for (int i = 0; i < 500; i++) free(malloc(77));
  for (int i = 0; i < many; i++) free(malloc(99));
  free(malloc(1000000));
}

__attribute__((noinline)) void of_the_parent_later(void) {
  for (int i = 0; i < 1000; i++) free(blocks[i]);
}

static pid_t raw_fork(void) {
  many = 100000;
  return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void plain(pid_t (*forking)(void)) {
  of_the_parent();
  pid_t pid = forking();
  if (!pid) {
    of_the_child();
    exit(7);
  }
  int status;
  waitpid(pid, &status, 0);
  of_the_parent_later();
  printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

static void *allocate(void *unused) {
  unsigned state = (unsigned)(size_t)unused;
  while (!atomic_load(&ended)) {
    void *block[20];
    for (int i = 0; i < 20; i++) block[i] = malloc((state = state * 1103515245 + 12345) >> 8 & 0xffff);
    for (int i = 0; i < 20; i++)
      block[i] = realloc(block[i], (state = state * 1103515245 + 12345) >> 8 & 0xffff);
    for (int i = 0; i < 20; i++) free(block[i]);
  }
  return NULL;
}

static void storm(int forks) {
  pthread_t thread[16];
  for (size_t i = 0; i < 16; i++) pthread_create(&thread[i], NULL, allocate, (void *)(i + 1));
  int bad = 0;
  for (int i = 0; i < forks; i++) {
    pid_t pid = fork();
    if (!pid) {
      alarm(20);
      for (int k = 0; k < 20; k++) free(realloc(malloc((size_t)k * 3000), (size_t)k * 5000));
      _exit(0);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status) bad++;
  }
  atomic_store(&ended, 1);
  for (size_t i = 0; i < 16; i++) pthread_join(thread[i], NULL);
  printf("%d of %d children failed\n", bad, forks);
}

static void leave_a_child(void) {
  if (raw_fork()) return;
  sleep(3);
  _exit(0);
}

__attribute__((noinline)) void keep(int megabytes) {
  for (int i = 0; i < megabytes * 100; i++) memset(malloc(10000), 1, 10000);
}

static void heir(void) {
  keep(20);
  pid_t pid = fork();
  if (!pid) {
    keep(2);
    exit(0);
  }
  waitpid(pid, NULL, 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "heir")) return heir(), 0;
  if (argc > 1 && !strcmp(argv[1], "leave")) return leave_a_child(), 0;
  if (argc > 2 && !strcmp(argv[1], "STORM"))
    storm(atoi(argv[2]));
  else
    plain(argc > 1 && !strcmp(argv[1], "raw") ? raw_fork : fork);
  return 0;
}
/* SPDX-License-Identifier: MIT */
