/* Wrappers of allocators: functions that allocate for their callers, such as xmalloc and operator
 * new.
 *
 * A table by function that ended at wrappers would say nothing about the program, so a stack
 * belongs to its innermost frame that is no wrapper. A wrapper is known by its name, named by the
 * user, or found by its shape (wrappers.c).
 */
#pragma once

#include "analysis/load/interpreter.h"

struct wrappers_options {
  bool none;                /* no function is a wrapper */
  const char *const *named; /* the user's: names as reports print them; NULL-terminated, or NULL */
};

struct wrappers {
  /* The wrappers at the ends of sampled stacks, those with the most samples first: numbers of strings
   * of the names. */
  uint32_t *functions;
  size_t count;
  bool interpreters[INTERPRETERS]; /* those of one are wrappers, too, and not among them */
};

/* Sets `wrapper` in each frame of the names. WN_EINVAL: no function has a name that the user gave.
 * WN_ENOMEM. */
wn_status wrappers_find(const struct samples *samples, struct names *names,
                        const struct wrappers_options *options, struct wrappers *wrappers);
void wrappers_destroy(struct wrappers *wrappers);

/* Whether the built-in list has this name, as reports print it. */
bool wrapper_is_known(const char *name);
/* SPDX-License-Identifier: MIT */
