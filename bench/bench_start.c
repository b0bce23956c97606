/* What does recording add to a short process? Prints what recording adds to the start and end of a
 * process that does nothing, to a child by fork that is not followed, to a followed one, and to a
 * followed child by fork and exec: the processor's time, and the wall clock's.
 *
 *   bench_start LIBRARY [WINNOW [PAIRS]]
 *       LIBRARY is libwinnow-malloc.so; WINNOW is the command, to measure `winnow record` too.
 *
 * Each pair runs the program bare and recorded, one after the other, in an order that alternates.
 * The times are those that the kernel counted for the process and all its children (wait4); shown
 * is the median of the differences of the pairs, with the quartiles. Children are measured as parts
 * of a process that starts CHILDREN of them, so each bears its share of that one's start. The
 * traces are written to the working directory and removed. */
#include "base/os.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 20 };

extern char **environ;

/* ---- what is measured: this program again, with a word that says what to do ---- */

static int start_children(const char *self, bool exec) {
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (child < 0) return 1;
    if (!child) {
      if (exec) execl(self, self, "nothing", (char *)NULL);
      exit(exec);
    }
    waitpid(child, NULL, 0);
  }
  return 0;
}

static int play(const char *self, const char *part) {
  if (!strcmp(part, "nothing")) return 0;
  return start_children(self, !strcmp(part, "execs"));
}

/* ---- measuring ---- */

struct cost {
  double processor_us, wall_us;
};

static void fail(const char *what) {
  fprintf(stderr, "bench_start: cannot %s\n", what);
  exit(1);
}

static double us_of(struct timeval time) { return (double)time.tv_sec * 1e6 + (double)time.tv_usec; }

static struct cost run(char *const argv[], char *const environment[]) {
  pid_t child;
  int status;
  struct rusage used;
  uint64_t before = os_monotonic_ns();
  if (posix_spawn(&child, argv[0], NULL, NULL, argv, environment)) fail("start a process");
  if (wait4(child, &status, 0, &used) != child || status) fail("run a process");
  return (struct cost){us_of(used.ru_utime) + us_of(used.ru_stime),
                       (double)(os_monotonic_ns() - before) / 1e3};
}

static int compare(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static void print_differences(const char *what, const char *clock, double *differences, int pairs,
                              double bare) {
  qsort(differences, (size_t)pairs, sizeof *differences, compare);
  printf("%-28s %-9s +%7.0f us (quartiles %.0f to %.0f), bare %.0f us\n", what, clock, differences[pairs / 2],
         differences[pairs / 4], differences[pairs - 1 - pairs / 4], bare);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

/* What one of `parts` equal parts costs. */
static void measure(const char *what, char *const bare[], char *const recorded[], char *const environment[],
                    int parts, int pairs) {
  double *differences[2] = {calloc((size_t)pairs, sizeof(double)), calloc((size_t)pairs, sizeof(double))};
  double *plain[2] = {calloc((size_t)pairs, sizeof(double)), calloc((size_t)pairs, sizeof(double))};
  if (!differences[0] || !differences[1] || !plain[0] || !plain[1]) fail("get memory");
  for (int i = 0; i < pairs; i++) {
    struct cost with = {0}, without = {0};
    if (i % 2) with = run(recorded, environment);
    without = run(bare, environ);
    if (i % 2 == 0) with = run(recorded, environment);
    differences[0][i] = (with.processor_us - without.processor_us) / parts;
    differences[1][i] = (with.wall_us - without.wall_us) / parts;
    plain[0][i] = without.processor_us / parts;
    plain[1][i] = without.wall_us / parts;
  }
  print_differences(what, "processor", differences[0], pairs, median(plain[0], pairs));
  print_differences(what, "wall", differences[1], pairs, median(plain[1], pairs));
  for (int i = 0; i < 2; i++) free(differences[i]), free(plain[i]);
}

/* The traces of followed children are many, in a folder. */
static void remove_traces(void) {
  if (system("rm -rf bench_start.trace bench_start.traces; mkdir bench_start.traces"))
    fail("remove the traces");
}

int main(int argc, char **argv) {
  static char self[4096], preload[4200], follow[] = "WINNOW_FOLLOW=1",
                                         trace[] = "WINNOW_TRACE=bench_start.trace",
                                         folder[] = "WINNOW_TRACE=bench_start.traces/";
  if (argc == 2 && (!strcmp(argv[1], "nothing") || !strcmp(argv[1], "forks") || !strcmp(argv[1], "execs")))
    return play("/proc/self/exe", argv[1]);
  if (argc < 2) {
    fprintf(stderr, "usage: bench_start LIBRARY [WINNOW [PAIRS]]\n");
    return 2;
  }
  int pairs = argc > 3 ? atoi(argv[3]) : 101;
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0 || pairs < 1) fail("begin");
  snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
  char *recording[] = {preload, trace, NULL}, *following[] = {preload, folder, follow, NULL};
  char *nothing[] = {self, (char *)"nothing", NULL}, *forks[] = {self, (char *)"forks", NULL},
       *execs[] = {self, (char *)"execs", NULL};
  remove_traces();
  measure("start and end", nothing, nothing, recording, 1, 5 * pairs);
  measure("a child that is not followed", forks, forks, recording, CHILDREN, pairs);
  measure("a child by fork", forks, forks, following, CHILDREN, pairs);
  if (access("bench_start.trace", F_OK)) fail("record: is that the library?");
  remove_traces();
  measure("a child by fork and exec", execs, execs, following, CHILDREN, pairs);
  remove_traces();
  if (argc > 2 && *argv[2]) {
    char *record[] = {argv[2], (char *)"record",  (char *)"-qo", (char *)"bench_start.trace", (char *)"--",
                      self,    (char *)"nothing", NULL};
    measure("winnow record", nothing, record, environ, 1, pairs);
  }
  remove_traces();
  rmdir("bench_start.traces");
  return 0;
}
/* SPDX-License-Identifier: MIT */
