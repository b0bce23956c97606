/* A runtime that makes code, and tells its names as V8 and OpenJDK do:
 *   first()  allocates 1000 blocks of 100 bytes
 *   second() is put in its place, and allocates 1000 of 200
 *   late     allocates 1000 of 300, is then told as "int A.late(int)", and allocates 1000 of 400
 * Names are read at most once a millisecond, so two are spent between one and the next.
 * FORK: a child allocates by the code of its parent, too. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static size_t size;
static void *kept[1000];

__attribute__((noinline)) static void allocate(void) {
  for (int i = 0; i < 1000; i++) kept[i] = malloc(size);
}

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const unsigned char calls[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

static void tell(const void *code, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE *out = fopen(path, "a");
  fprintf(out, "%lx %zx %s\n", (unsigned long)code, sizeof calls, name);
  fclose(out);
}

static void run(void *code, size_t bytes) {
  size = bytes;
  nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  ((void (*)(void (*)(void)))code)(allocate);
}

int main(int argc, char **argv) {
  unsigned char *code =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char path[64];
  memcpy(code, calls, sizeof calls);
  memcpy(code + 64, calls, sizeof calls);
  run(code, 1); /* before there is a file */
  tell(code, "JS:~first /srv/app.js:3:1");
  run(code, 100);
  tell(code, "JS:*second /srv/app.js:9:1");
  run(code, 200);
  run(code + 64, 300);
  tell(code + 64, "int A.late(int)");
  run(code + 64, 400);
  if (argc > 1 && !strcmp(argv[1], "FORK")) {
    pid_t child = fork();
    if (!child) return run(code, 500), 0;
    waitpid(child, NULL, 0);
  }
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  unlink(path);
  return 0;
}
/* SPDX-License-Identifier: MIT */
