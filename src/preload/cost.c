/* Each thread counts its own cycles, and adds them to those of all threads after VISITS_ADDED visits. The
 * length of a cycle is that of the mean since the beginning.
 *
 * A visit that lost its processor seems long, so no visit counts more than VISIT_MOST. Work that takes long
 * is counted by the clock of the thread instead. And the program is
 * slower after a visit, whose data has taken the place of its own in the caches: bench_storm lost 1.4 to
 * 1.6 times the cycles that were counted, at rates of 1e-4 and 1e-3 (five pairs each). So visits count with
 * AFTERWARDS. */
#include "preload/cost.h"

enum { VISITS_ADDED = 16 };
#define VISIT_MOST ((uint64_t)1 << 18) /* some 100 us */
static const double AFTERWARDS = 1.5;

_Atomic(bool) cost_is_confined;

static _Thread_local struct {
  uint64_t cycles;
  uint64_t working; /* cycles of the visit under way that went to work */
  uint32_t visits;
} own;
static _Atomic(uint64_t) all_cycles, all_work_ns;
static uint64_t first_cycles, first_ns, first_processor_ns; /* set by cost_begin */

/* ---- shared ---- */

void cost_begin(void) {
  own.cycles = own.working = own.visits = 0;
  atomic_store_explicit(&all_cycles, 0, memory_order_relaxed);
  atomic_store_explicit(&all_work_ns, 0, memory_order_relaxed);
  first_cycles = cycles_now();
  first_ns = os_monotonic_ns();
  first_processor_ns = os_process_cpu_ns();
}

void cost_add_since(uint64_t began) {
  uint64_t now = cost_now();
  began += own.working;
  own.working = 0;
  if (now < began) return;
  own.cycles += now - began < VISIT_MOST ? now - began : VISIT_MOST;
  if (++own.visits % VISITS_ADDED) return;
  atomic_fetch_add_explicit(&all_cycles, own.cycles, memory_order_relaxed);
  own.cycles = 0;
}

struct cost_work cost_work_begin(void) {
  return (struct cost_work){cost_now(), os_thread_cpu_ns()};
}

void cost_work_end(struct cost_work begun) {
  own.working += cost_now() - begun.cycles;
  atomic_fetch_add_explicit(&all_work_ns, os_thread_cpu_ns() - begun.cpu_ns, memory_order_relaxed);
}

void cost_thread_ends(void) {
  atomic_fetch_add_explicit(&all_cycles, own.cycles, memory_order_relaxed);
  own.cycles = 0;
}

struct cost cost_until_now(void) {
  double cycles = (double)(cost_now() - first_cycles), ns = (double)(os_monotonic_ns() - first_ns);
  if (atomic_load_explicit(&cost_is_confined, memory_order_relaxed) || cycles <= 0)
    return (struct cost){0, 0};
  double visits = (double)atomic_load_explicit(&all_cycles, memory_order_relaxed) * (ns / cycles);
  return (struct cost){(uint64_t)(AFTERWARDS * visits),
                       atomic_load_explicit(&all_work_ns, memory_order_relaxed)};
}

uint64_t cost_processor_ns(void) { return os_process_cpu_ns() - first_processor_ns; }
/* SPDX-License-Identifier: MIT */
