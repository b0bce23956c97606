/* spawns HOW PROGRAM [ARGUMENT...]: runs a program by exec, fork, vfork, spawn or system, and
 * passes its exit code on.
 * spawns vforks PROGRAM [ARGUMENT...]: runs it 30 times by vfork, and prints how many KiB of
 * addresses the last 29 left. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *volatile kept[200];

static int run_by_vfork(char **arguments) {
  int status = 0;
  pid_t pid = vfork();
  if (!pid) {
    execvp(arguments[0], arguments);
    _exit(113);
  }
  waitpid(pid, &status, 0);
  return status;
}

/* Of addresses, in KiB; without malloc. */
static long size_now(void) {
  char text[128] = "";
  int fd = open("/proc/self/statm", O_RDONLY);
  read(fd, text, sizeof text - 1);
  close(fd);
  return atol(text) * (sysconf(_SC_PAGESIZE) / 1024);
}

static int run_often(char **arguments) {
  int status = run_by_vfork(arguments);
  long before = size_now();
  for (int i = 1; i < 30 && !status; i++) status = run_by_vfork(arguments);
  printf("%ld\n", size_now() - before);
  return status ? 1 : 0;
}

int main(int argc, char **argv) {
  for (int i = 0; i < 200; i++) kept[i] = malloc(1000);
  const char *how = argv[1];
  int status = 0;
  pid_t pid = 0;
  if (!strcmp(how, "vforks")) return run_often(argv + 2);
  if (!strcmp(how, "exec")) {
    execv(argv[2], argv + 2);
    return 111;
  }
  if (!strcmp(how, "system")) {
    status = system(argv[2]);
  } else if (!strcmp(how, "spawn")) {
    if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ)) return 112;
  } else {
    pid = strcmp(how, "vfork") ? fork() : vfork();
    if (!pid) {
      execvp(argv[2], argv + 2);
      _exit(113);
    }
  }
  if (pid) waitpid(pid, &status, 0);
  for (int i = 0; i < 200; i++) free(kept[i]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 114;
}
/* SPDX-License-Identifier: MIT */
