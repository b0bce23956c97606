/* The rate of sampling that a budget allows: recording shall take a given part of the process's processor
 * time, whatever the program does.
 *
 * Time goes by in windows. A window ends after a second of processor time, or when recording has taken
 * as much as it may in a second: so a burst is noticed while it is short, and a program that ends before
 * is sampled at the highest rate all the while. At the end of a window the rate becomes the one that
 * would have taken the budget, since cost is proportional to the rate. What was taken beyond the budget is
 * saved again over the next PAYBACK of processor time, and what was left is spent.
 *
 * A rate is fixed before a thread draws its next sample by it, and no sample is left out after the draw, so
 * no estimate has a bias, however the rate follows the load (RATES of memprof/host.h).
 *
 * Rates have LEVELS, four to a factor of two, so that a trace has few different ones. */
#ifndef PRELOAD_BUDGET_H
#define PRELOAD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
  double share;             /* of processor time that recording may take */
  double highest;           /* rate */
  uint32_t level;           /* the rate is highest * 2^(-level/4) */
  uint64_t cost_ns, cpu_ns; /* when the window began */
  double debt_ns;           /* taken beyond the budget so far; below 0: less */
};

/* Begins with the highest rate, and a window. */
void budget_begin(struct budget *budget, double share, double highest, uint64_t cost_ns, uint64_t cpu_ns);

/* Whether so much cost ends the window, also if the processor time is not known. */
bool budget_is_spent(const struct budget *budget, uint64_t cost_ns);

/* Returns whether the rate changes. Called now and then with the cost and the processor time of the whole
 * process until now; `rate` is then the next one. */
bool budget_follow(struct budget *budget, uint64_t cost_ns, uint64_t cpu_ns);

double budget_rate(const struct budget *budget);

#endif
/* SPDX-License-Identifier: MIT */
