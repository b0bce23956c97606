/* The controller of the rate. It calls no function of the mathematical library, which a process need not
 * have. */
#include "preload/budget.h"

#define SECOND 1e9

/* Of processor time: a window from the fourth on, and the first. */
static const double WINDOW = SECOND, FIRST_WINDOW = SECOND / 8, PAYBACK = 10 * SECOND;

/* Of the budget, in one window: a burst does not get all that was saved before it, since the time of a
 * request matters then. */
static const double LEAST_PART = 0.25, MOST_PART = 2;

/* A window's cost may be by chance, or of a program that has just begun: the rate changes by a factor of
 * these at most. */
static const double MOST_RISE = 4, MOST_FALL = 8;

/* Of the budget. */
static const double LEAST_FOR_SAMPLES = 0.5;

/* The rate does not change by less. */
enum { LEVELS_A_CHANGE = 2, LEVELS_TO_TWO = 4 };
static const double LEVEL = 1.189207115002721; /* 2^(1/4) */
static const double HALF_LEVEL = 1.0905077326652577;

/* At this rate, of a sample every 8 MB, no program allocates so much that samples cost much. */
static const double LOWEST_RATE = 1e-6;

static double budget_within(double value, double least, double most) {
  return value < least ? least : value > most ? most : value;
}

/* The next window may take this part. */
static double wanted_share(const struct budget *budget) {
  return budget->share *
         budget_within(1 - budget->debt_ns / (budget->share * PAYBACK), LEAST_PART, MOST_PART);
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

/* The clock of samples may go back a little: the length of a cycle is measured again for each reading. */
static double since(uint64_t now, uint64_t then) { return now > then ? (double)(now - then) : 0; }

static uint32_t budget_apart(uint32_t a, uint32_t b) { return a < b ? b - a : a - b; }

/* The least level that memory allows (MEMORY). */
static uint32_t level_of_memory(const struct budget *budget, uint64_t own_bytes) {
  uint32_t level = 0;
  for (uint64_t bytes = BUDGET_MEMORY; own_bytes >= bytes && rate_at(budget, level) > LOWEST_RATE;
       bytes += BUDGET_MEMORY / 4)
    level += LEVELS_TO_TWO;
  return level;
}

/* The least level that the bound of the trace allows (BOUND). */
static uint32_t level_of_bound(struct budget *budget, const struct budget_time *now) {
  bool is_new = now->dropped_ns > budget->bound_ns;
  if (is_new && since(now->time_ns, now->dropped_ns) < (double)BUDGET_KEEPS &&
      rate_at(budget, budget->bound_level) > LOWEST_RATE) {
    if (budget->bound_level < budget->level) budget->bound_level = budget->level;
    budget->bound_level += LEVELS_TO_TWO;
    budget->bound_ns = now->time_ns;
  } else if (budget->bound_level && since(now->time_ns, budget->bound_ns) >= (double)BUDGET_KEEPS) {
    budget->bound_level--;
    budget->bound_ns = now->time_ns;
  }
  return budget->bound_level;
}

/* ---- shared ---- */

void budget_begin(struct budget *budget, double share, double rate, const struct budget_time *now) {
  *budget = (struct budget){.share = share > 0 ? share : 1,
                            .highest = rate,
                            .window_ns = FIRST_WINDOW,
                            .began = *now,
                            .bound_ns = now->time_ns};
  for (; share > 0 && 2 * budget->highest <= BUDGET_HIGHEST; budget->highest *= 2)
    budget->level += LEVELS_TO_TWO;
}

bool budget_is_spent(const struct budget *budget, uint64_t sampling_ns) {
  return since(sampling_ns, budget->began.sampling) >= budget->share * budget->window_ns;
}

bool budget_follow(struct budget *budget, const struct budget_time *now) {
  double sampling = since(now->sampling, budget->began.sampling),
         other = since(now->other, budget->began.other), all = since(now->all, budget->began.all);
  if (now->all < budget->began.all) budget->began = *now; /* of a parent, whose handler forked within this */
  uint32_t least_level = level_of_memory(budget, now->own_bytes), of_bound = level_of_bound(budget, now);
  if (least_level < of_bound) least_level = of_bound;
  if (all < budget->window_ns && !budget_is_spent(budget, now->sampling) &&
      least_level < budget->level + LEVELS_A_CHANGE)
    return false;
  budget->began = *now;
  budget->window_ns = budget_within(2 * budget->window_ns, FIRST_WINDOW, WINDOW);
  double most_debt = budget->share * PAYBACK;
  budget->debt_ns =
      budget_within(budget->debt_ns + sampling + other - budget->share * all, -most_debt, most_debt);
  double may = wanted_share(budget) * all - other, least = LEAST_FOR_SAMPLES * budget->share * all;
  if (may < least) may = least;
  double factor =
      may < MOST_RISE * sampling ? budget_within(may / sampling, 1 / MOST_FALL, MOST_RISE) : MOST_RISE;
  uint32_t level = level_after(budget, factor);
  if (level < least_level) level = least_level;
  if (budget_apart(level, budget->level) < LEVELS_A_CHANGE && level) return false;
  bool changes = level != budget->level;
  budget->level = level;
  return changes;
}

double budget_rate(const struct budget *budget) { return rate_at(budget, budget->level); }
/* SPDX-License-Identifier: MIT */
