/* becomes HOW PROGRAM ARGUMENT...: becomes another program, by any of the exec functions. If it
 * cannot, it says so, allocates more and ends: by exit(9), or by the signal KILL if the program's
 * name ends in "kill". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *volatile kept[1000];
static const char *how, *path;
static char **arguments;

__attribute__((noinline)) static void born_before(void) {
  for (int i = 0; i < 500; i++) kept[i] = malloc(100);
}

__attribute__((noinline)) static void born_after(void) {
  for (int i = 500; i < 1000; i++) kept[i] = malloc(100);
}

static void become(void) {
  char **a = arguments;
  if (!strcmp(how, "execve")) execve(path, a, environ);
  if (!strcmp(how, "execv")) execv(path, a);
  if (!strcmp(how, "execvp")) execvp(path, a);
  if (!strcmp(how, "execvpe")) execvpe(path, a, environ);
  if (!strcmp(how, "execl")) execl(path, a[0], a[1], a[2], NULL);
  if (!strcmp(how, "execlp")) execlp(path, a[0], a[1], a[2], NULL);
  if (!strcmp(how, "execle")) execle(path, a[0], a[1], a[2], NULL, environ);
  if (!strcmp(how, "fexecve")) fexecve(open(path, O_RDONLY), a, environ);
  if (!strcmp(how, "execveat")) execveat(AT_FDCWD, path, a, environ, 0);
  if (!strcmp(how, "handler")) execv(path, a);
}

static void handle(int signal) {
  (void)signal;
  become();
}

int main(int argc, char **argv) {
  how = argv[1];
  path = argv[2];
  arguments = argv + 2;
  born_before();
  signal(SIGUSR1, handle);
  if (!strcmp(how, "vfork")) { /* the child shares our memory, and is not us */
    int status;
    if (!vfork()) {
      execv(path, arguments);
      _exit(99);
    }
    wait(&status);
  } else if (!strcmp(how, "syscall")) {
    syscall(SYS_execve, path, arguments, environ);
  } else if (!strcmp(how, "handler")) {
    raise(SIGUSR1);
  } else {
    errno = 0;
    become();
  }
  printf("errno %d\n", errno);
  fflush(stdout);
  born_after();
  if (strlen(path) > 4 && !strcmp(path + strlen(path) - 4, "kill")) raise(SIGKILL);
  return 9;
}
/* SPDX-License-Identifier: MIT */
