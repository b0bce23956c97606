/* Stripes: what many threads write is kept several times over, each copy on cache lines of its own,
 * so that threads do not wait for each other's. A thread keeps to one stripe; threads may share
 * one, so a stripe is still changed atomically. */
#pragma once

#include "base/check.h"

enum { STRIPES = TINY ? 2 : 8, STRIPE_BYTES = 128 /* processors fetch lines of 64 bytes by two */ };

extern _Thread_local unsigned stripe_given; /* the thread's stripe + 1; 0 for none yet */
unsigned stripe_give(void);

/* The calling thread's stripe, below STRIPES. Also in a signal handler. */
static inline unsigned stripe_of_thread(void) { return stripe_given ? stripe_given - 1 : stripe_give(); }
/* SPDX-License-Identifier: MIT */
