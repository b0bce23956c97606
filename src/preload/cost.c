/* Each thread counts its own cycles, and adds them to those of all threads after VISITS_ADDED visits. The
 * length of a cycle is that of the mean since the beginning.
 *
 * A visit that lost its processor seems long, so no visit counts more than VISIT_MOST. Work that takes long
 * is counted by the clock of the thread instead. And the program is slower after a visit, whose data has
 * taken the place of its own in the caches: bench_storm lost 1.4 to 1.6 times the cycles that were
 * counted, at rates of 1e-4 and 1e-3 (five pairs each). So visits count with AFTERWARDS.
 *
 * A filter of system calls may end a process that asks for its processor time, by a call that recording
 * does not make otherwise. Where there may be one, the process reads a file for it, in steps of some
 * milliseconds, and long work counts as any visit. */
#include "preload/cost.h"

enum { VISITS_ADDED = 16 };
#define VISIT_MOST cycles_of_us(100)
static const double AFTERWARDS = 1.5;

_Atomic(bool) cost_is_confined;

static _Thread_local struct {
  uint64_t cycles, beside; /* of visits for samples, and of others */
  uint64_t working;        /* cycles of the visit under way that went to work */
  bool is_beside;          /* the visit under way is for no sample */
  uint32_t visits;
} own;
static _Atomic(uint64_t) all_cycles, all_beside, all_work_ns;
static uint64_t first_cycles, first_ns;      /* set by cost_begin */
static _Atomic(uint64_t) first_processor_ns; /* 0: it was not asked for */
static _Atomic(bool) has_no_clocks;

static void add_to_all(void) {
  atomic_fetch_add_explicit(&all_cycles, own.cycles, memory_order_relaxed);
  atomic_fetch_add_explicit(&all_beside, own.beside, memory_order_relaxed);
  own.cycles = own.beside = 0;
}

/* ---- shared ---- */

void cost_begin(void) {
  own.cycles = own.beside = own.working = own.visits = 0;
  atomic_store_explicit(&all_cycles, 0, memory_order_relaxed);
  atomic_store_explicit(&all_beside, 0, memory_order_relaxed);
  atomic_store_explicit(&all_work_ns, 0, memory_order_relaxed);
  first_cycles = cycles_now();
  first_ns = os_monotonic_ns();
  atomic_store_explicit(&first_processor_ns, 0, memory_order_relaxed);
}

void cost_is_beside(void) { own.is_beside = true; }

void cost_add_since(uint64_t began) {
  uint64_t now = cost_now(), *to = own.is_beside ? &own.beside : &own.cycles;
  began += own.working;
  own.working = 0;
  own.is_beside = false;
  if (now < began) return;
  uint64_t most = VISIT_MOST;
  *to += now - began < most ? now - began : most;
  if (++own.visits % VISITS_ADDED == 0) add_to_all();
}

void cost_forgo_clocks(void) { atomic_store_explicit(&has_no_clocks, true, memory_order_relaxed); }

struct cost_work cost_work_begin(void) {
  if (atomic_load_explicit(&has_no_clocks, memory_order_relaxed)) return (struct cost_work){0, 0};
  return (struct cost_work){cost_now(), os_thread_cpu_ns()};
}

/* A signal handler may have forked meanwhile; the clock of the child's thread began then. */
void cost_work_end(struct cost_work begun) {
  if (!begun.cycles || atomic_load_explicit(&has_no_clocks, memory_order_relaxed)) return;
  uint64_t cycles = cost_now(), cpu_ns = os_thread_cpu_ns();
  if (cycles < begun.cycles || cpu_ns < begun.cpu_ns) return;
  own.working += cycles - begun.cycles;
  atomic_fetch_add_explicit(&all_work_ns, cpu_ns - begun.cpu_ns, memory_order_relaxed);
}

void cost_thread_ends(void) { add_to_all(); }

struct cost cost_until_now(void) {
  double cycles = (double)(cost_now() - first_cycles), ns = (double)(os_monotonic_ns() - first_ns);
  if (atomic_load_explicit(&cost_is_confined, memory_order_relaxed) || cycles <= 0)
    return (struct cost){0, 0};
  double length = AFTERWARDS * (ns / cycles);
  return (struct cost){(uint64_t)(length * (double)atomic_load_explicit(&all_cycles, memory_order_relaxed)),
                       (uint64_t)(length * (double)atomic_load_explicit(&all_beside, memory_order_relaxed)) +
                           atomic_load_explicit(&all_work_ns, memory_order_relaxed)};
}

uint64_t cost_processor_ns(void) {
  bool by_file = atomic_load_explicit(&has_no_clocks, memory_order_relaxed);
  uint64_t now = by_file ? os_processor_ns_of("/proc/self/stat") : os_process_cpu_ns(), first = 0;
  if (!now) now = 1; /* that differs from not asked */
  if (atomic_compare_exchange_strong_explicit(&first_processor_ns, &first, now, memory_order_relaxed,
                                              memory_order_relaxed))
    return 0;
  return now > first ? now - first : 0;
}
/* SPDX-License-Identifier: MIT */
