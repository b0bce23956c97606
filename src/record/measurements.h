/* When the process's memory is measured.
 *
 * A measurement takes some 100 us. Where a short program is measured as often as a long one, each
 * comes a thirtieth of the time after the last, but no more often than each takes a part of
 * MEMORY_PART, and in a long run a thousandth of its time apart.
 *
 * ASLEEP. That part is of time, and a program that sleeps nearly all the time has little processor
 * time to take it from. So a measurement that is due is left out while the processor time since the
 * last one is less than half of the interval, and so little that the measurement would take more
 * than that part of it. But one comes after each second; in a long run after an eighth of its
 * time, at most ten seconds. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Times are of the trace, in nanoseconds. All 0: none was made. */
struct measurements {
  _Atomic(uint64_t) due;       /* the thread that moves it on measures */
  _Atomic(uint64_t) took;      /* the last one */
  _Atomic(uint64_t) last;      /* when it was made, */
  _Atomic(uint64_t) processor; /* and what the process had used of its processors */
};

static inline bool measurements_are_due(const struct measurements *all, uint64_t time) {
  return time >= atomic_load_explicit(&all->due, memory_order_relaxed);
}

/* A measurement is due. Returns whether the calling thread is the one that decides on it. */
bool measurements_claim(struct measurements *all, uint64_t time);

/* The thread that decides has asked for the processor time of the process. Returns whether it measures.
 * `processor` 0: not known, or none was used. */
bool measurements_begin(struct measurements *all, uint64_t time, uint64_t processor);
void measurements_end(struct measurements *all, uint64_t time, uint64_t now);
/* SPDX-License-Identifier: MIT */
