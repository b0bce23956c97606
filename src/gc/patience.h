/* What a wait does before it sleeps: it lets some moments pass, since what is awaited mostly comes soon.
 *
 * It spins where who could end it has a processor. Else it offers its own to the others, since what is awaited mostly needs it: who
 * sleeps at once is woken late, and often on a busy processor beside an idle one. */
#ifndef GC_PATIENCE_H
#define GC_PATIENCE_H

#include "gc/futex.h"
#include <sched.h>

struct patience {
  unsigned spins, yields; /* that are left */
};

enum { PATIENCE_SPINS = 2000, PATIENCE_YIELDS = 100 };

static inline struct patience patience_begin(bool spins) {
  return (struct patience){.spins = spins ? PATIENCE_SPINS : 0, .yields = spins ? 0 : PATIENCE_YIELDS};
}

/* Lets a moment pass. False if there were enough of them. */
static inline bool patience_lasts(struct patience *patience) {
  if (patience->spins) {
    patience->spins--;
    spin_pause();
    return true;
  }
  if (!patience->yields) return false;
  patience->yields--;
  sched_yield();
  return true;
}

#endif
/* SPDX-License-Identifier: MIT */
