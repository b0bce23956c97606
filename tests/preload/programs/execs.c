/* execs HOW LEFT [followed]: becomes itself again, LEFT times, each time by HOW, then allocates
 * 2000 blocks in born_last and ends with 5. Every program on the way allocates 5 blocks. Exits
 * with 8 if a variable of the recorder is seen, unless it is followed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void *volatile kept[2000];
static char **arguments;

__attribute__((noinline)) static void born_on_the_way(void) {
  for (int i = 0; i < 5; i++) kept[i] = malloc(100);
}

__attribute__((noinline)) static void born_last(void) {
  for (int i = 0; i < 2000; i++) kept[i] = malloc(100);
}

static void *become(void *how) {
  char *nothing[] = {NULL}, *own[] = {"OWN=1", "LD_PRELOAD=", NULL};
  if (!strcmp(how, "thread")) execv("/proc/self/exe", arguments);
  if (!strcmp(how, "handler")) execv("/proc/self/exe", arguments);
  if (!strcmp(how, "execve")) execve("/proc/self/exe", arguments, environ);
  if (!strcmp(how, "empty")) execve("/proc/self/exe", arguments, nothing);
  if (!strcmp(how, "own")) execve("/proc/self/exe", arguments, own);
  if (!strcmp(how, "null")) execve("/proc/self/exe", arguments, NULL);
  if (!strcmp(how, "fexecve")) fexecve(open("/proc/self/exe", O_RDONLY), arguments, environ);
  if (!strcmp(how, "path")) fexecve(open("/proc/self/exe", O_PATH), arguments, environ);
  if (!strcmp(how, "execveat"))
    execveat(open("/proc/self/exe", O_PATH), "", arguments, environ, AT_EMPTY_PATH);
  if (!strcmp(how, "fails")) {
    for (int i = 0; i < 10; i++) execv("/no/such/program", arguments);
    execv("/proc/self/exe", arguments);
  }
  perror(how);
  _exit(9);
}

static void handle(int signal) {
  (void)signal;
  become("handler");
}

int main(int argc, char **argv) {
  int left = atoi(argv[2]);
  char less[16];
  arguments = argv;
  for (char **at = environ; argc < 4 && at && *at; at++)
    if (!strncmp(*at, "WINNOW_", 7) || strstr(*at, "libwinnow-malloc")) return 8;
  born_on_the_way();
  if (!left) {
    born_last();
    return 5;
  }
  snprintf(less, sizeof less, "%d", left - 1);
  argv[2] = less;
  if (!strcmp(argv[1], "thread")) { /* with a small stack */
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_create(&thread, &small, become, argv[1]);
    pthread_join(thread, NULL);
  }
  if (!strcmp(argv[1], "handler")) {
    signal(SIGUSR1, handle);
    sigset_t mask;
    sigemptyset(&mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    raise(SIGUSR1);
  }
  become(argv[1]);
}
/* SPDX-License-Identifier: MIT */
