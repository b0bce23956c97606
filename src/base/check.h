/* Assertions. A broken invariant is a bug in Winnow; bad input never comes here. */
#pragma once

#include <stdbool.h>

#ifdef WINNOW_CHECKS
enum { CHECKS = 1 };
#else
enum { CHECKS = 0 };
#endif

/* In the tiny build every table and buffer starts as small as it can, and deep checks run after
 * each change. */
#ifdef WINNOW_TINY
enum { TINY = 1, CHECK_DEEP = 1 };
#else
enum { TINY = 0, CHECK_DEEP = 0 };
#endif

/* Prints one line without allocating and aborts. */
_Noreturn void check_failed(const char *condition, const char *file, int line);

/* The condition is compiled in every build and evaluated only where checks are on. */
#define ASSERT(condition) \
  ((void)(!CHECKS || (condition) || (check_failed(#condition, __FILE__, __LINE__), 0)))
/* SPDX-License-Identifier: MIT */
