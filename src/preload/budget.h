/* The rate of sampling that a budget allows: recording shall take a given part of the process's processor
 * time, whatever the program does.
 *
 * Time goes by in windows. A window ends after a second of processor time, when recording has taken
 * as much as it may in a second, or when memory demands a lower rate: so a burst is noticed while
 * it is short. The first lasts an eighth of that, and each next one twice as long as the one before:
 * in a program that sleeps nearly all the time a sample takes 30 us and not one, on cold caches, and
 * it may need hours for a second of processor time. At the end of a window the rate becomes the one
 * that would have taken the budget, since the cost of sampling is proportional to the rate. What was
 * taken beyond the budget is saved again over the next PAYBACK of processor time, and what was left
 * is spent.
 *
 * Other work, such as measuring the process's memory, does not depend on the rate. It takes its part
 * of the budget, but never more than half of it is taken from the samples.
 *
 * MEMORY. A sampled block that lives takes some 170 bytes. From BUDGET_MEMORY on the highest rate
 * that a budget allows is halved for each quarter more: so a program that holds ever more has a
 * bounded number of sampled blocks, down to the lowest rate.
 *
 * BOUND. A bounded trace drops its oldest chunks when it is full. If a chunk is dropped that was
 * begun after the rate was last lowered, and less than BUDGET_KEEPS ago, the highest rate is
 * halved: so the file comes to hold at least the last half of the run, and later the last ten
 * minutes, or all, if another process takes old chunks over. It rises again by a level each ten
 * minutes.
 *
 * Memory and bound hold at a fixed rate too, in a bounded trace: a budget of all the processor's
 * time.
 *
 * A rate is fixed before a thread draws its next sample by it, and no sample is left out after the draw, so
 * no estimate has a bias, however the rate follows the load (RATES of memprof/host.h).
 *
 * Rates have LEVELS, four to a factor of two, so that a trace has few different ones. */
#ifndef PRELOAD_BUDGET_H
#define PRELOAD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Processor time of the whole process until now, in nanoseconds. */
struct budget_time {
  uint64_t sampling, other; /* what recording took: for samples, and beside them */
  uint64_t all;             /* what the process took, with these */
  uint64_t own_bytes;       /* memory that recording takes now */
  uint64_t time_ns;         /* of the trace */
  uint64_t dropped_ns;      /* when the chunk was begun that was dropped last; 0: none was */
};

struct budget {
  double share;             /* of processor time that recording may take */
  double highest;           /* rate: BUDGET_HIGHEST or less, or the first one */
  uint32_t level;           /* the rate is highest * 2^(-level/4) */
  double window_ns;         /* of processor time: the longest that the window lasts */
  struct budget_time began; /* the window */
  double debt_ns;           /* taken beyond the budget so far; below 0: less */
  uint32_t bound_level;     /* BOUND: the level is this at least, */
  uint64_t bound_ns;        /* since this time */
};

/* A sample costs a microsecond or so, and this is a sample every 8 kB. */
#define BUDGET_HIGHEST 1e-3

#define BUDGET_MEMORY ((uint64_t)64 << 20)
#define BUDGET_KEEPS  ((uint64_t)600 * 1000 * 1000 * 1000)

/* Begins with a rate, and a window. `share` 0: memory and bound alone lower the rate. */
void budget_begin(struct budget *budget, double share, double rate, const struct budget_time *now);

/* Whether so much time for samples ends the window. */
bool budget_is_spent(const struct budget *budget, uint64_t sampling_ns);

/* Returns whether the rate changes. Called now and then. */
bool budget_follow(struct budget *budget, const struct budget_time *now);

double budget_rate(const struct budget *budget);

#endif
/* SPDX-License-Identifier: MIT */
