/* The heap as a host of the sampling engine. */
#include "memprof/host.h"

struct memprof_thread *memprof_host_thread(wn_domain *domain) {
  (void)domain;
  return NULL;
}
/* SPDX-License-Identifier: MIT */
