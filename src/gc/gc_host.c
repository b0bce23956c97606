/* The heap as a host of the sampling engine: not one yet. The engine asks for a domain's thread only in functions that
 * libwinnow does not export (exports.map), so nobody comes here. */
#include "memprof/host.h"

struct memprof_thread *memprof_host_thread(wn_domain *domain) {
  (void)domain;
  return NULL;
}
/* SPDX-License-Identifier: MIT */
