/* spawns HOW PROGRAM [ARGUMENT...]: runs a program by exec, fork, vfork, spawn or system, and passes its exit code on. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *volatile kept[200];

int main(int argc, char **argv) {
  for (int i = 0; i < 200; i++) kept[i] = malloc(1000);
  const char *how = argv[1];
  int status = 0;
  pid_t pid = 0;
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
