/* The controller of the rate. It calls no function of the mathematical library, which a process need not
 * have. */
#include "preload/budget.h"

#define SECOND 1e9

/* Of processor time. */
static const double WINDOW = SECOND, PAYBACK = 10 * SECOND;

/* Of the budget, in one window: a burst does not get all that was saved before it, since the time of a
 * request matters then. */
static const double LEAST_PART = 0.25, MOST_PART = 2;

/* A window's cost may be by chance, or the program about to change: the rate rises by this at most. */
static const double MOST_RISE = 4;

/* The rate does not change by less. */
enum { LEVELS_A_CHANGE = 2, LEVELS_TO_TWO = 4 };
static const double LEVEL = 1.189207115002721; /* 2^(1/4) */
static const double HALF_LEVEL = 1.0905077326652577;

static const double LOWEST_RATE = 1e-7;

static double within(double value, double least, double most) {
  return value < least ? least : value > most ? most : value;
}

/* The next window may take this part. */
static double wanted_share(const struct budget *budget) {
  return budget->share * within(1 - budget->debt_ns / (budget->share * PAYBACK), LEAST_PART, MOST_PART);
}

static double rate_at(const struct budget *budget, uint32_t level) {
  static const double part[LEVELS_TO_TWO] = {1, 1 / 1.189207115002721, 1 / 1.4142135623730951,
                                             1 / 1.681792830507429};
  return budget->highest * part[level % LEVELS_TO_TWO] / (double)((uint64_t)1 << level / LEVELS_TO_TWO);
}

/* The level at which the rate is `factor` times what it is, or nearly. */
static uint32_t level_after(const struct budget *budget, double factor) {
  uint32_t level = budget->level;
  for (; level && factor > HALF_LEVEL; factor /= LEVEL) level--;
  for (; factor < 1 / HALF_LEVEL && rate_at(budget, level) > LOWEST_RATE; factor *= LEVEL) level++;
  return level;
}

static uint32_t apart(uint32_t a, uint32_t b) { return a < b ? b - a : a - b; }

/* ---- shared ---- */

void budget_begin(struct budget *budget, double share, double highest, uint64_t cost_ns, uint64_t cpu_ns) {
  *budget = (struct budget){.share = share, .highest = highest, .cost_ns = cost_ns, .cpu_ns = cpu_ns};
}

bool budget_is_spent(const struct budget *budget, uint64_t cost_ns) {
  return (double)(cost_ns - budget->cost_ns) >= budget->share * WINDOW;
}

bool budget_follow(struct budget *budget, uint64_t cost_ns, uint64_t cpu_ns) {
  double cost = (double)(cost_ns - budget->cost_ns), cpu = (double)(cpu_ns - budget->cpu_ns);
  if (cpu < WINDOW && !budget_is_spent(budget, cost_ns)) return false;
  budget->cost_ns = cost_ns;
  budget->cpu_ns = cpu_ns;
  double most_saved = budget->share * PAYBACK;
  budget->debt_ns += cost - budget->share * cpu;
  if (budget->debt_ns < -most_saved) budget->debt_ns = -most_saved;
  double may = wanted_share(budget) * cpu;
  double factor = may < MOST_RISE * cost ? may / cost : MOST_RISE;
  uint32_t level = level_after(budget, factor);
  if (apart(level, budget->level) < LEVELS_A_CHANGE && level) return false;
  bool changes = level != budget->level;
  budget->level = level;
  return changes;
}

double budget_rate(const struct budget *budget) { return rate_at(budget, budget->level); }
/* SPDX-License-Identifier: MIT */
