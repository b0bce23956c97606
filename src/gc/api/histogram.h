/* Histograms of lengths of time, which several threads add to at once.
 *
 * A bucket counts the lengths up to its bound that are above the bound before. The bounds are 1, 2
 * and 5 in each decade from 10 us to 10 s; the last bucket counts what is longer. Lengths are whole
 * nanoseconds, so sums are exact. */
#ifndef GC_API_HISTOGRAM_H
#define GC_API_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum { HISTOGRAM_BOUNDS = 19 };

/* A reader finds members that belong together only while no thread adds. */
struct histogram {
  _Atomic(uint64_t) buckets[HISTOGRAM_BOUNDS + 1];
  _Atomic(uint64_t) sum_ns, max_ns;
};

void histogram_add(struct histogram *histogram, uint64_t ns);

/* Sets `to` to what `from` is. */
void histogram_copy(const struct histogram *from, struct histogram *to);

/* The bound of a bucket that has one. */
uint64_t histogram_bound_ns(unsigned bucket);

#endif
/* SPDX-License-Identifier: MIT */
