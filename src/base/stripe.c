/* Stripes are given to threads in turn, when they first ask. */
#include "base/stripe.h"

#include <stdatomic.h>

static _Atomic(unsigned) threads;
_Thread_local unsigned stripe_given;

unsigned stripe_give(void) {
  stripe_given = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % STRIPES;
  return stripe_given - 1;
}
/* SPDX-License-Identifier: MIT */
