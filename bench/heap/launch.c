/* Runs a program and writes what it used to a descriptor: launch DESCRIPTOR PROGRAM ARGUMENTS...
 *
 * The runner cannot do this itself: a process inherits the peak of the process that it was forked
 * from, and an interpreter is larger than some of the heaps that are measured here. The line is:
 * seconds, seconds of processor, peak KiB, status.
 *
 * Under a hypervisor that takes free pages back, a page that nobody had for some seconds costs
 * twenty times what others do at its first use, and one program pays what another is spared. So all
 * begin with pages that were in use a moment ago. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A process of its own, for its peak is the parent's too. */
static void warm_pages(void) {
  const size_t bytes = (size_t)1 << 30; /* more than any program here needs */
  pid_t child = fork();
  if (!child) {
    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    _exit(0);
  }
  if (child > 0) waitpid(child, NULL, 0);
}

int main(int count, char **words) {
  int status = 0;
  struct rusage usage;
  double begin;
  pid_t child;
  if (count < 3) return fprintf(stderr, "usage: launch DESCRIPTOR PROGRAM ARGUMENTS...\n"), 2;
  warm_pages();
  begin = now();
  child = fork();
  if (child < 0) return perror("fork"), 2;
  if (!child) {
    close(atoi(words[1]));
    execv(words[2], words + 2);
    perror(words[2]);
    _exit(127);
  }
  if (wait4(child, &status, 0, &usage) != child) return perror("wait4"), 2;
  dprintf(atoi(words[1]), "%.6f %.6f %ld %d\n", now() - begin,
          seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_maxrss, status);
  return 0;
}
/* SPDX-License-Identifier: MIT */
