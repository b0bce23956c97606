/* Random numbers of the binding: the share of a client in samples, and the distances between samples of
 * memory outside the heap. */
#define CAML_NAME_SPACE
#include "winnow_random.h"

#include <caml/mlvalues.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>

/* Uniform in (0, 1], from splitmix64. Each thread has a sequence of its own. The seeds depend on
 * nothing but the order in which the threads begin, as those of Gc.Memprof. */
static double random_number(void) {
  static _Atomic(uint64_t) threads;
  static _Thread_local uint64_t state;
  if (!state) state = (atomic_fetch_add(&threads, 1) + 1) * UINT64_C(0xd1342543de82ef95);
  uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
  mixed ^= mixed >> 31;
  return ldexp((double)((mixed >> 11) + 1), -53);
}

/* A binomial number, for a probability of at most 1/2: steps from one success to the next one, at
 * geometric distances. */
static long successes(long trials, double probability) {
  if (!(probability > 0)) return 0;
  double scale = 1 / log1p(-probability);
  long count = 0;
  for (double at = 1 + floor(log(random_number()) * scale); at <= (double)trials;
       at += 1 + floor(log(random_number()) * scale))
    count++;
  return count;
}

/* n_samples -> probability -> int: how many samples are kept, each with this probability. */
value winnow_thin(value n_samples, value probability) {
  long n = Long_val(n_samples);
  double p = Double_val(probability);
  return Val_long(p <= 0.5 ? successes(n, p) : n - successes(n, 1 - p));
}

long winnow_next_sample(double rate) {
  const double most = 1e15;
  double words = 1 + floor(log(random_number()) / log1p(-rate));
  return words < most ? (long)words : (long)most; /* at the rate 0 it is no number */
}
/* SPDX-License-Identifier: MIT */
