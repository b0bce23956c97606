/* The slow part of checking the caller. */
#include "gc/domains/caller.h"

#include "base/error.h"

wn_status caller_check_slow(const wn_domain *domain, const char *what) {
  if (!domain) return error_set(WN_EINVAL, "%s: the domain is NULL", what);
  const struct domain_thread *thread = thread_in(domain);
  if (!thread)
    return error_set(WN_ESTATE, "%s: the calling thread is none of the domain's, or the domain has ended",
                     what);
  if (thread->blocked)
    return error_set(WN_ESTATE, "%s: called in a blocking section, or by a thread whose turn it is not",
                     what);
  thread_runs_in = (uintptr_t)domain;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
