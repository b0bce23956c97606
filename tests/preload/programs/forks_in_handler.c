/* Forks in signal handlers that interrupt the allocator: forks_in_handler COUNT. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t forks;

static void handler(int signal) {
  (void)signal;
  pid_t child = fork();
  if (!child) _exit(0);
  if (child > 0 && waitpid(child, NULL, 0) == child) forks++;
}

int main(int argc, char **argv) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  struct itimerval fast = {{0, 300}, {0, 300}}, off = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &fast, NULL);
  while (forks < atoi(argv[argc - 1])) {
    void *one = malloc(40000), *other = malloc(60000);
    free(one);
    free(other);
  }
  setitimer(ITIMER_REAL, &off, NULL);
  puts("survived");
  return 0;
}
/* SPDX-License-Identifier: MIT */
