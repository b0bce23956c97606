/* Bounds what a regular expression of a query may cost. */
#pragma once

#include <stdbool.h>

/* Whether regcomp compiles a POSIX extended regular expression in moderate memory. It copies what is
 * repeated by + and {}, so nested repetitions double or multiply: "a" with 30 times "+" behind it
 * needs gigabytes. And it calls itself for each parenthesis. True also for many invalid expressions,
 * which regcomp then explains. */
bool query_pattern_is_moderate(const char *pattern);
/* SPDX-License-Identifier: MIT */
