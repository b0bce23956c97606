/* A thread as the engine sees it. */
#ifndef MEMPROF_THREAD_H
#define MEMPROF_THREAD_H

#include "memprof/sampler.h"
#include <stdatomic.h>
#include <stdint.h>
#include <winnow/domain.h>

struct memprof_entry;
struct memprof_owner;

/* Provided by the host, zeroed, at a fixed address while attached. Hosts read `owner` and `host` and nothing else. */
struct memprof_thread {
  /* Set by memprof_thread_attach; constant afterwards. */
  struct memprof_owner *owner;
  wn_domain *domain;
  void *host;
  uint64_t sequence;
  /* Written by this thread and by its signal handlers, which leave `suspended` as they found it. */
  _Atomic(unsigned) suspended;
  _Atomic(struct memprof_entry *) arrived; /* newest first: what became due here; pairs with thread_take */
  /* Written by this thread while it is not suspended, or by the callback loop that suspended it. */
  struct memprof_entry *due; /* oldest first: taken from `arrived`, and not yet run */
  struct memprof_entry *running;
  unsigned running_step; /* an enum entry_step */
  uint64_t sampled;      /* the profile that `sampler` is seeded for; 0 for none */
  struct sampler sampler;
};

#endif
/* SPDX-License-Identifier: MIT */
