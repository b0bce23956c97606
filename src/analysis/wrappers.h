/* Wrappers of allocators: functions that allocate for their callers, such as xmalloc and operator
 * new.
 *
 * A table by function that ends at a wrapper says nothing about the program, so a stack belongs to
 * its innermost frame that is no wrapper. Wrappers are known by name, named by the user, or found
 * by their shape (wrappers.c). */
#ifndef ANALYSIS_WRAPPERS_H
#define ANALYSIS_WRAPPERS_H

#include "analysis/names.h"

struct wrappers_options {
  bool none;                /* no function is a wrapper */
  const char *const *named; /* by the user: names as reports print them; NULL-terminated, or NULL */
};

struct wrappers {
  uint32_t *functions; /* strings of the names: those that sampled stacks end in or pass to
                          * get there, most samples first */
  size_t count;
};

/* Decides for each frame of the names whether it is a wrapper. WN_EINVAL: no function has a name
 * that the user gave. */
wn_status wrappers_find(const struct samples *samples, struct names *names,
                        const struct wrappers_options *options, struct wrappers *wrappers);
void wrappers_destroy(struct wrappers *wrappers);

/* Whether a function of this name, as reports print it, is in the built-in list. */
bool wrapper_is_known(const char *name);

#endif
/* SPDX-License-Identifier: MIT */
