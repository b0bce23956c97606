/* test_mutator [SECONDS [SEED [STEPS [OPERATIONS]]]], test_mutator --runs RUNS [SEED],
 * test_mutator --minimise SEED [STEPS].
 *
 * Random programs with seeds from SEED on, each compared with its model, until the time is over; 0
 * seconds: one. --runs: so many programs, which are the same each time (support/runs.h). A failure
 * prints its seed. --minimise runs a seed that fails again and again, with fewer steps and with
 * fewer kinds of operations, as long as it fails; a failure that depends on how threads meet may
 * need luck. */
#include "gc/mutator.h"

#include "support/runs.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 3000, TRIES = 3, SECONDS_MOST = 60 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_for(double most, uint64_t seed, long steps, uint64_t operations) {
  double begin = seconds();
  unsigned runs = 0;
  do {
    mutate(seed + runs++, steps, operations);
  } while (seconds() - begin < most);
  printf("%u runs of %ld steps, from seed %llu on\n", runs, steps, (unsigned long long)seed);
  return 0;
}

static int run_times(int runs, uint64_t seed) {
  for (int i = 0; i < runs; i++) mutate(seed + (uint64_t)i, STEPS, UINT64_MAX);
  printf("%d runs of %d steps, from seed %llu on\n", runs, STEPS, (unsigned long long)seed);
  return 0;
}

/* ---- runs that crash ---- */

enum { SIGNALS = 3 };
static const int signals[SIGNALS] = {SIGSEGV, SIGBUS, SIGABRT};
static struct sigaction before[SIGNALS];

/* Says the seed, and leaves the rest to who had the signal before: it comes again. */
static void say_seed(int signal) {
  char text[200];
  for (int i = 0; i < SIGNALS; i++)
    if (signals[i] == signal) sigaction(signal, &before[i], NULL);
  int length =
      snprintf(text, sizeof text, "test_mutator: seed %llu, %ld steps, operations %#llx: signal %d\n",
               (unsigned long long)the_world->seed, the_world->steps,
               (unsigned long long)the_world->operations, signal);
  if (write(2, text, (size_t)length) != length || signal == SIGABRT) raise(signal);
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = say_seed};
  for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &action, &before[i]);
}

/* ---- minimising ---- */

static bool fails_once(uint64_t seed, long steps, uint64_t operations) {
  int status;
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    if (!freopen("/dev/null", "w", stderr)) _exit(2);
    alarm(SECONDS_MOST);
    mutate(seed, steps, operations);
    _exit(0);
  }
  return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

static bool fails(uint64_t seed, long steps, uint64_t operations) {
  for (int i = 0; i < TRIES; i++)
    if (fails_once(seed, steps, operations)) return true;
  return false;
}

static long least_steps(uint64_t seed, long steps, uint64_t operations) {
  long passes = 0;
  while (steps - passes > 1) {
    long middle = passes + (steps - passes) / 2;
    if (fails(seed, middle, operations))
      steps = middle;
    else
      passes = middle;
  }
  return steps;
}

static int minimise(uint64_t seed, long steps) {
  uint64_t operations = UINT64_MAX >> (64 - OPERATIONS);
  if (!fails(seed, steps, operations)) {
    printf("seed %llu does not fail with %ld steps\n", (unsigned long long)seed, steps);
    return 1;
  }
  steps = least_steps(seed, steps, operations);
  for (unsigned i = 0; i < OPERATIONS; i++)
    if (fails(seed, steps, operations & ~(UINT64_C(1) << i))) operations &= ~(UINT64_C(1) << i);
  steps = least_steps(seed, steps, operations);
  printf("test_mutator 0 %llu %ld %#llx\n", (unsigned long long)seed, steps, (unsigned long long)operations);
  return 0;
}

static uint64_t number(int count, char **words, int at, uint64_t otherwise) {
  return at < count ? strtoull(words[at], NULL, 0) : otherwise;
}

int main(int count, char **words) {
  if (count > 2 && !strcmp(words[1], "--minimise"))
    return minimise(number(count, words, 2, 0), (long)number(count, words, 3, STEPS));
  catch_signals();
  if (count > 2 && !strcmp(words[1], "--runs"))
    return run_times(runs_of((int)number(count, words, 2, 1)), number(count, words, 3, 1));
  return run_for((double)number(count, words, 1, 8), number(count, words, 2, (uint64_t)time(NULL)),
                 (long)number(count, words, 3, STEPS), number(count, words, 4, UINT64_MAX));
}
/* SPDX-License-Identifier: MIT */
