/* Who calls: the functions of winnow/gc.h, which are called seldom, refuse callers that may not, in every build. */
#ifndef GC_CALLER_H
#define GC_CALLER_H

#include <winnow/heap.h>

/* WN_EINVAL: the domain is NULL. WN_ESTATE: the calling thread does not run in it, or it has ended: nothing is read through the
 * pointer before that is known. `what` begins the message. */
wn_status caller_check(const wn_domain *domain, const char *what);

#endif
/* SPDX-License-Identifier: MIT */
