/* limits: sets a limit of its address space, reads it back, allocates up to it, executes with it;
 * and tries an exec that fails. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void *volatile kept[20000];

static void show(const char *what) {
  struct rlimit a, b;
  getrlimit(RLIMIT_AS, &a);
  prlimit(getpid(), RLIMIT_AS, NULL, &b);
  printf("%s: %lld %lld %d\n", what, (long long)a.rlim_cur, (long long)a.rlim_max, !memcmp(&a, &b, sizeof a));
  fflush(stdout);
}

static int allocate(void) {
  int failed = 0;
  for (int i = 0; i < 20000; i++) failed += !(kept[i] = realloc(kept[i], (size_t)(i % 100) * 80));
  for (int i = 0; i < 50; i++) {
    void *volatile block = malloc(MIB);
    failed += !block;
    free(block);
  }
  return failed;
}

/* Blocks of 10 MiB until there are no more. */
static int blocks_to_be_had(void) {
  void *block[100];
  int count = 0, i;
  while (count < 100 && (block[count] = malloc(10 * MIB))) count++;
  for (i = 0; i < count; i++) free(block[i]);
  return count;
}

static void run(const char *command) {
  pid_t child = fork();
  if (!child) {
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(99);
  }
  int status;
  waitpid(child, &status, 0);
  printf("child %d\n", status);
  fflush(stdout);
}

int main(void) {
  show("before");
  run("ulimit -v");
  struct rlimit limit = {512 * MIB, 600 * MIB}, wrong = {2, 1};
  printf("set %d\n", setrlimit(RLIMIT_AS, &limit));
  show("limited");
  printf("failed %d\n", allocate());
  void *volatile large = malloc(700 * MIB);
  printf("beyond the limit %d\n", !large);
  int count = blocks_to_be_had();
  printf("about 49 blocks: %d\n", count >= 40 && count <= 51);
  execl("/no/such/program", "x", NULL);
  show("after a failed exec");
  printf("failed %d\n", allocate());
  run("ulimit -v");
  printf("wrong %d\n", setrlimit(RLIMIT_AS, &wrong));
  limit.rlim_cur = 600 * MIB;
  printf("prlimit64 %d\n", prlimit64(0, RLIMIT_AS, (void *)&limit, NULL));
  show("raised");
  return 0;
}
/* SPDX-License-Identifier: MIT */
