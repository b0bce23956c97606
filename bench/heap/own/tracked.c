/* What tracked blocks that live add to a cycle: tracked BLOCKS [DEAD [ROUNDS]].
 *
 * An array has BLOCKS old blocks, all of which a profile tracks or none, and DEAD of which each
 * cycle finds dead. Printed are the medians of the longest stop of a cycle, and of the time of the
 * whole cycle, by rounds that alternate. There are no helper threads. */
#include "tree.h"
#include <stdlib.h>
#include <winnow/events.h>
#include <winnow/gc.h>
#include <winnow/memprof.h>

enum { ROUNDS_MOST = 99 };

struct side {
  wn_heap *heap;
  wn_domain *domain;
  wn_ref array;
  uint64_t longest_ns;
  double stop_ms[ROUNDS_MOST], cycle_ms[ROUNDS_MOST];
};

static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  return context;
}
static void *promoted(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)context;
  return metadata;
}

static void hear(const wn_gc_event *event, void *context) {
  struct side *side = context;
  uint64_t ns = event->ns - event->stopped_ns;
  if (ns > side->longest_ns) side->longest_ns = ns;
}

static void fill(struct side *side, size_t from, size_t blocks) {
  for (size_t i = from; i < blocks; i++) {
    WN_SCOPE(side->domain);
    wn_set(side->domain, side->array, i, wn_alloc(side->domain, 3, 0));
  }
  wn_gc_full_major(side->domain);
}

static void open_side(struct side *side, size_t blocks, double rate) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  wn_gc_listener *listener;
  wn_profile *profile;
  wn_memprof_options sampling = {.sampling_rate = rate, .callstack_size = 4};
  wn_tracker tracker = {.alloc_minor = born, .alloc_major = born, .promote = promoted, .context = side};
  options.helper_threads = 0;
  if (wn_heap_open(&options, &side->heap) || wn_domain_attach(side->heap, &side->domain) ||
      wn_memprof_start(side->domain, &sampling, &tracker, &profile) ||
      wn_gc_listen(side->domain, WN_GC_EVENT(WN_GC_STOP_ENDS), hear, side, &listener))
    abort();
  side->array = wn_alloc(side->domain, blocks, 0);
  fill(side, 0, blocks);
}

static void run(struct side *side, size_t dead, int round) {
  for (size_t i = 0; i < dead; i++) wn_set_int(side->domain, side->array, i, 0);
  side->longest_ns = 0;
  double begin = program_seconds();
  wn_gc_major(side->domain);
  side->cycle_ms[round] = (program_seconds() - begin) * 1e3;
  side->stop_ms[round] = (double)side->longest_ns / 1e6;
  wn_gc_full_major(side->domain);
  if (dead) fill(side, 0, dead);
}

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

int main(int count, char **words) {
  static struct side sides[2];
  size_t blocks = count > 1 ? strtoull(words[1], NULL, 10) : 1000000;
  size_t dead = count > 2 ? strtoull(words[2], NULL, 10) : 0;
  int rounds = count > 3 ? atoi(words[3]) : 15;
  if (rounds > ROUNDS_MOST || dead > blocks) return 2;
  open_side(&sides[0], blocks, 0);
  wn_blocking_begin(sides[0].domain);
  open_side(&sides[1], blocks, 1);
  wn_blocking_begin(sides[1].domain);
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < 2; i++) {
      wn_blocking_end(sides[i].domain);
      run(&sides[i], dead, round);
      wn_blocking_begin(sides[i].domain);
    }
  for (int i = 0; i < 2; i++)
    printf("%s: longest stop %.3f ms, cycle %.1f ms\n", i ? "tracked    " : "not tracked",
           median(sides[i].stop_ms, rounds), median(sides[i].cycle_ms, rounds));
  return 0;
}
/* SPDX-License-Identifier: MIT */
