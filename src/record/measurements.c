/* When the process's memory is measured. */
#include "record/measurements.h"

#include "base/smaller.h"

#define MEMORY_INTERVAL ((uint64_t)10 * 1000 * 1000)
#define MEMORY_SHORTEST ((uint64_t)2 * 1000 * 1000) /* at first */
#define MEMORY_LONGEST  ((uint64_t)1000 * 1000 * 1000)
#define ASLEEP_LONGEST  (10 * MEMORY_LONGEST)

/* A measurement that seems to take longer than MEMORY_TOOK had lost its processor. */
enum { MEMORY_PART = 512, MEMORY_POINTS = 1000, MEMORY_RISE = 30, ASLEEP_RISE = 8, MEMORY_TOOK = 200000 };

/* From a measurement at this time to the next. */
static uint64_t interval_at(const struct measurements *all, uint64_t time) {
  uint64_t took = atomic_load_explicit(&all->took, memory_order_relaxed);
  uint64_t enough = larger(larger(MEMORY_INTERVAL, took * MEMORY_PART), time / MEMORY_POINTS);
  return smaller(smaller(larger(time / MEMORY_RISE, MEMORY_SHORTEST), enough), MEMORY_LONGEST);
}

/* ---- shared ---- */

bool measurements_claim(struct measurements *all, uint64_t time) {
  uint64_t due = atomic_load_explicit(&all->due, memory_order_relaxed);
  return time >= due &&
         atomic_compare_exchange_strong_explicit(&all->due, &due, time + interval_at(all, time),
                                                 memory_order_relaxed, memory_order_relaxed);
}

bool measurements_begin(struct measurements *all, uint64_t time, uint64_t processor) {
  uint64_t last = atomic_load_explicit(&all->last, memory_order_relaxed),
           took = atomic_load_explicit(&all->took, memory_order_relaxed),
           used = processor - atomic_load_explicit(&all->processor, memory_order_relaxed),
           wanted = smaller(interval_at(all, time) / 2, took * MEMORY_PART),
           longest = smaller(larger(time / ASLEEP_RISE, MEMORY_LONGEST), ASLEEP_LONGEST);
  if (processor && used < wanted && time - last < longest) return false;
  atomic_store_explicit(&all->last, time, memory_order_relaxed);
  atomic_store_explicit(&all->processor, processor, memory_order_relaxed);
  return true;
}

void measurements_end(struct measurements *all, uint64_t time, uint64_t now) {
  uint64_t took = now > time ? now - time : 0;
  atomic_store_explicit(&all->took, smaller(took, MEMORY_TOOK), memory_order_relaxed);
}
/* SPDX-License-Identifier: MIT */
