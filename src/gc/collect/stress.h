/* The collections at stress points (gc/domains/stress.h). */
#ifndef GC_COLLECT_STRESS_H
#define GC_COLLECT_STRESS_H

#include "gc/domains/heap.h"

void stress_collect(struct wn_domain *domain, enum stress_kind kind);

#endif
/* SPDX-License-Identifier: MIT */
