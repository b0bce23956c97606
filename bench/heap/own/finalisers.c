/* What finalisers of old values cost: finalisers COUNT CYCLES.
 *
 * Values are registered in random order, live for CYCLES cycles, and die together. Times are of the
 * processor, for each value; there are no helper threads. */
#include "heap_program.h"

#include <winnow/gc.h>

static double began;
static long calls;

static void finalise(wn_domain *d, wn_ref value, void *context) {
  (void)d, (void)value, (void)context;
  calls++;
}

static void tell(const char *what, double parts) {
  printf("%s %.1f ns\n", what, 1e9 * (program_thread_seconds() - began) / parts);
  began = program_thread_seconds();
}

static void run(wn_domain *d, size_t count, int cycles) {
  WN_SCOPE(d);
  uint64_t random = 1;
  wn_ref all = wn_alloc(d, count, 0);
  for (size_t i = 0; i < count; i++) {
    WN_SCOPE(d);
    wn_set(d, all, i, wn_alloc(d, 4, 0));
  }
  program_check(wn_gc_full_major(d));
  began = program_thread_seconds();
  for (size_t i = 0; i < count; i++) {
    WN_SCOPE(d);
    random = random * 6364136223846793005u + 1442695040888963407u;
    program_check(wn_gc_finalise(d, finalise, NULL, wn_get(d, all, (random >> 32) % count)));
  }
  tell("registered", (double)count);
  for (int i = 0; i < cycles; i++) program_check(wn_gc_major(d));
  tell("a cycle", (double)count * cycles);
  wn_assign_int(all, 0);
  program_check(wn_gc_full_major(d));
  program_check(wn_gc_full_major(d));
  tell("dead", (double)count);
}

int main(int count, char **arguments) {
  if (count != 3) return fprintf(stderr, "usage: finalisers COUNT CYCLES\n"), 1;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 0;
  struct program program;
  program_check(wn_heap_open(&options, &program.heap));
  program_check(wn_domain_attach(program.heap, &program.domain));
  run(program.domain, (size_t)atol(arguments[1]), atoi(arguments[2]));
  printf("%ld calls\n", calls);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
