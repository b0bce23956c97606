/* The collector's data of a heap, and of a domain. The heap and the domain have a pointer to
 * theirs, so that gc/domains need not know these types. */
#ifndef GC_COLLECT_COLLECTOR_H
#define GC_COLLECT_COLLECTOR_H

#include "gc/collect/alarm.h"
#include "gc/collect/compact.h"
#include "gc/collect/finaliser.h"
#include "gc/collect/globals.h"
#include "gc/collect/helpers.h"
#include "gc/collect/identity.h"
#include "gc/collect/limit.h"
#include "gc/collect/major.h"
#include "gc/collect/mark.h"
#include "gc/collect/minor.h"
#include "gc/collect/pins.h"
#include "gc/collect/weak.h"

/* In the memory of the heap; zero at first. */
struct collector {
  struct minor_work minor;
  struct pace pace;
  struct marking marking;
  struct helpers helpers;
  struct globals globals;
  struct finalisers finalisers;
  struct alarms alarms;
  struct weak weak;
  struct pins pins;
  struct identities identities;
  struct compaction compaction;
  struct limit limit;
  _Atomic(struct wn_domain *) reaped; /* LOST of ending.h: a list of ended domains to be freed */
};

/* In the memory of the domain; zero at first. */
struct domain_collector {
  struct marker marker;
  struct domain_finalisers finalisers;
  struct weak_stores weak_stores;
};

static inline struct marker *domain_marker(const struct wn_domain *domain) {
  return &domain->collector->marker;
}

#endif
/* SPDX-License-Identifier: MIT */
