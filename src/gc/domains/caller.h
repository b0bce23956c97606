/* Checks of the caller, in every build: public functions that are not inlined refuse a domain that
 * is NULL or has ended, a thread that is not the domain's, and a thread that does not have the
 * turn, as in a blocking section.
 *
 * Nothing is read through the pointer before it is known to be a domain's: the calling system
 * thread has a list of its domains (thread.h). The usual case costs a few instructions, so that
 * allocation can afford it.
 *
 * Inlined functions do not check. In a domain that has ended they read values that lead them to
 * their slow functions, and these check (ENDED of attach.c). */
#ifndef GC_DOMAINS_CALLER_H
#define GC_DOMAINS_CALLER_H

#include "gc/domains/thread.h"

/* caller_check for a thread that did not run in this domain last, or whose call is a mistake. */
wn_status caller_check_slow(const wn_domain *domain, const char *what);

/* WN_EINVAL: the domain is NULL. WN_ESTATE: the calling thread does not run in it, or it has ended.
 * `what` begins the message. */
static inline wn_status caller_check(const wn_domain *domain, const char *what) {
  return __builtin_expect(thread_runs_in == (uintptr_t)domain, 1) ? WN_OK : caller_check_slow(domain, what);
}

static inline bool caller_may(const wn_domain *domain, const char *what) {
  return !caller_check(domain, what);
}

#endif
/* SPDX-License-Identifier: MIT */
