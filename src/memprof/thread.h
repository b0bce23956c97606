/* A thread as the engine sees it. */
#ifndef MEMPROF_THREAD_H
#define MEMPROF_THREAD_H

#include "memprof/owner.h"
#include "memprof/sampler.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <winnow/callstack.h>
#include <winnow/domain.h>

/* Provided by the host, zeroed, at a fixed address while attached. Hosts read `owner` and `host`
 * and nothing else. */
struct memprof_thread {
  /* Set by memprof_thread_attach; constant afterwards. */
  struct memprof_owner *owner;
  wn_domain *domain;
  void *host;
  uint64_t sequence;
  unsigned stripe;       /* of base/stripe.h */
  const bool *exception; /* the host's; while it is true no callback begins */
  /* Written by this thread and by its signal handlers, which leave `suspended` and `busy` as they
   * found them. */
  _Atomic(unsigned) suspended;
  _Atomic(bool) busy; /* with `pending` */
  _Atomic(struct memprof_entry *)
      arrived; /* entries added while it was busy, newest first; pairs with pending_take_arrived */
  /* Written by this thread while it is busy. */
  struct entry_list pending; /* callbacks to run, through `pending_next` */
  uint32_t births; /* entries made pending since it last had no pending callback; BIRTHS_MOST of host.h */
  /* Written by the callback loop of this thread, which suspends the thread. */
  struct memprof_entry *running;
  unsigned running_step;         /* an enum entry_step */
  const wn_callstack *callstack; /* that the running callback got, to be released after it; or NULL */
  uint64_t rows_of;              /* while it runs callbacks of rows (young.h): the profile's handle; else 0 */
  uint64_t sampled;              /* the sequence number that `sampler` is seeded for; 0 for none */
  uint64_t sampled_of;           /* the profile of that number, as a handle */
  double rate, trial_rate;       /* of `sampler`, and of the trials decided last */
  struct sampler sampler;
};

#endif
/* SPDX-License-Identifier: MIT */
