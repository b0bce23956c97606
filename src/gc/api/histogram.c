/* Histograms of lengths of time. */
#include "gc/api/histogram.h"

/* A table, since a division for each bound would cost as much as the rest. */
static const uint64_t bounds_ns[HISTOGRAM_BOUNDS] = {
    10000,     20000,      50000,      100000,     200000,     500000,    1000000,
    2000000,   5000000,    10000000,   20000000,   50000000,   100000000, 200000000,
    500000000, 1000000000, 2000000000, 5000000000, 10000000000};

static void histogram_raise_to(_Atomic(uint64_t) *most, uint64_t ns) {
  uint64_t before = atomic_load_explicit(most, memory_order_relaxed);
  while (before < ns && !atomic_compare_exchange_weak_explicit(most, &before, ns, memory_order_relaxed,
                                                               memory_order_relaxed)) {}
}

static void copy(const _Atomic(uint64_t) *from, _Atomic(uint64_t) *to) {
  atomic_store_explicit(to, atomic_load_explicit(from, memory_order_relaxed), memory_order_relaxed);
}

/* ---- shared ---- */

void histogram_add(struct histogram *histogram, uint64_t ns) {
  unsigned bucket = 0;
  while (bucket < HISTOGRAM_BOUNDS && ns > bounds_ns[bucket]) bucket++;
  atomic_fetch_add_explicit(&histogram->buckets[bucket], 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&histogram->sum_ns, ns, memory_order_relaxed);
  histogram_raise_to(&histogram->max_ns, ns);
}

void histogram_copy(const struct histogram *from, struct histogram *to) {
  for (unsigned bucket = 0; bucket <= HISTOGRAM_BOUNDS; bucket++)
    copy(&from->buckets[bucket], &to->buckets[bucket]);
  copy(&from->sum_ns, &to->sum_ns);
  copy(&from->max_ns, &to->max_ns);
}

uint64_t histogram_bound_ns(unsigned bucket) { return bounds_ns[bucket]; }
/* SPDX-License-Identifier: MIT */
