/* Backoff: what a waiting thread does before it sleeps, since most waits are short.
 *
 * 1. Spin, only while the thread that will end the wait can be running on another processor.
 * 2. Otherwise yield the processor, since the other thread probably needs it. A thread that sleeps
 *    at once is woken late, and often on a busy processor while another one is idle.
 * 3. When the spins or yields are used up, the caller sleeps on a futex. */
#ifndef GC_DOMAINS_BACKOFF_H
#define GC_DOMAINS_BACKOFF_H

#include "gc/domains/futex.h"
#include <sched.h>

struct backoff {
  unsigned spins, yields; /* that are left */
};

enum { BACKOFF_SPINS = 2000, BACKOFF_YIELDS = 100 };

static inline struct backoff backoff_begin(bool spins) {
  return (struct backoff){.spins = spins ? BACKOFF_SPINS : 0, .yields = spins ? 0 : BACKOFF_YIELDS};
}

/* Spins or yields once. False if none is left. */
static inline bool backoff_step(struct backoff *backoff) {
  if (backoff->spins) {
    backoff->spins--;
    spin_pause();
    return true;
  }
  if (!backoff->yields) return false;
  backoff->yields--;
  sched_yield();
  return true;
}

#endif
/* SPDX-License-Identifier: MIT */
