/* Stripes are given to threads in turn, when they first ask. */
#include "base/stripe.h"

#include <stdatomic.h>

static _Atomic(unsigned) threads;
static _Thread_local unsigned given; /* the stripe + 1; 0 for none yet */

unsigned stripe_of_thread(void) {
  if (!given) given = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % STRIPES;
  return given - 1;
}
/* SPDX-License-Identifier: MIT */
