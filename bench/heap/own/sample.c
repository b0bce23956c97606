/* What one sample costs: sample ROUNDS LISTS.
 *
 * A profile of 1e-4 costs some percent, which is less than two runs of one program differ by. So
 * blocks of work (the lists of churn) without, with and again without a profile follow each other
 * in one process, many times; what is printed is the median of what the middle one took longer, by
 * sample. Each rate is measured with callbacks that follow each block to its end; with none, where
 * a block is forgotten when its first callback would be due; and with those, but empty
 * callstacks. */
#include "../raw/lists.h"
#include <time.h>

enum { ROUNDS_MOST = 999, LENGTH = 100, SETTLE = 1000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int64_t total;

/* Returns the nanoseconds. */
static double work(wn_domain *d, long lists) {
  double begin = now();
  for (long i = 1; i <= lists; i++) {
    total = (total + sum(build(d, LENGTH, i))) & SUM_MASK;
    wn_poll(d);
  }
  return now() - begin;
}

struct kind {
  const char *name;
  wn_tracker tracker;
  size_t depth;
};

struct result {
  double by_sample, ratio;
};

static struct result measure(wn_domain *d, double rate, const struct kind *kind, long lists) {
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  wn_profile *profile;
  options.sampling_rate = rate;
  options.callstack_size = kind->depth;
  double without = work(d, lists);
  program_check(wn_memprof_start(d, &options, &kind->tracker, &profile));
  work(d, SETTLE);
  double with = work(d, lists);
  program_check(wn_memprof_stop(d));
  work(d, SETTLE);
  program_check(wn_memprof_discard(profile));
  without = (without + work(d, lists)) / 2;
  double samples = rate * (double)lists * 3 * LENGTH;
  return (struct result){.by_sample = (with - without) / samples, .ratio = with / without};
}

static int compare(const void *a, const void *b) {
  const double *first = a, *second = b;
  return (*first > *second) - (*first < *second);
}

static double median(double *of, size_t count) {
  qsort(of, count, sizeof *of, compare);
  return of[count / 2];
}

static void report(wn_domain *d, double rate, const struct kind *kind, size_t rounds, long lists) {
  double by_sample[ROUNDS_MOST], ratio[ROUNDS_MOST];
  for (size_t i = 0; i < rounds; i++) {
    struct result result = measure(d, rate, kind, lists);
    by_sample[i] = result.by_sample;
    ratio[i] = result.ratio;
  }
  printf("rate %-7g %-18s %6.1f ns a sample, %.4f of the time\n", rate, kind->name, median(by_sample, rounds),
         median(ratio, rounds));
}

int main(int count, char **words) {
  static const double rates[] = {1e-4, 1e-3, 1e-2};
  static long deaths;
  long rounds = sequence_argument(count, words, 41), lists = count > 2 ? strtol(words[2], NULL, 10) : 30000;
  const wn_tracker follow = {.alloc_minor = program_born,
                             .alloc_major = program_born,
                             .promote = program_promoted,
                             .dealloc_minor = program_died,
                             .dealloc_major = program_died,
                             .context = &deaths};
  const struct kind kinds[] = {{"", follow, SIZE_MAX},
                               {"without callbacks", {.context = &deaths}, SIZE_MAX},
                               {"without callstacks", follow, 0}};
  struct program program = program_begin();
  if (rounds < 1 || rounds > ROUNDS_MOST || lists < 1) return 2;
  work(program.domain, lists);
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
      report(program.domain, rates[i], &kinds[k], (size_t)rounds, lists);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
