/* When a process looks at what is asked, and whether a time is over: a quarter of the time since a
 * command asked last, between a shortest and a longest time. So the commands of a script are
 * answered in milliseconds; and a program that sleeps nearly all the time, in which a look takes
 * some 20 us, as its caches are cold, looks seldom.
 *
 * Any thread may call both. Two may look at the same time: then one look is too many, or the next
 * comes late. */
#ifndef PRELOAD_LOOKS_H
#define PRELOAD_LOOKS_H

#include "base/cycles.h"
#include "base/smaller.h"
#include <stdatomic.h>
#include <stdbool.h>

#define LOOK         cycles_of_us(1500)
#define LOOK_LONGEST cycles_of_us(200000)
enum { LOOK_PART = 4 };

/* In cycles. All 0: there was no look. */
struct looks {
  _Atomic(uint64_t) due, asked; /* asked: by the last command, or at the first look */
};

/* `now` 0: there is no clock, and each look is due. */
static inline bool looks_are_due(const struct looks *looks, uint64_t now) {
  return !now || now >= atomic_load_explicit(&looks->due, memory_order_relaxed);
}

/* There was a look. `asks`: it found a command. */
static inline void looks_made(struct looks *looks, uint64_t now, bool asks) {
  uint64_t asked = atomic_load_explicit(&looks->asked, memory_order_relaxed);
  if (asks || !asked) atomic_store_explicit(&looks->asked, asked = now, memory_order_relaxed);
  uint64_t wait = larger(now > asked ? (now - asked) / LOOK_PART : 0, LOOK);
  atomic_store_explicit(&looks->due, now + smaller(wait, LOOK_LONGEST), memory_order_relaxed);
}

#endif
/* SPDX-License-Identifier: MIT */
