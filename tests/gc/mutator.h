/* A random program on a collected heap, compared with its model (shadow.h). */
#ifndef TESTS_GC_MUTATOR_H
#define TESTS_GC_MUTATOR_H

#include "gc/shadow.h"

enum { OPERATIONS = 38 };

/* Runs `steps` random operations in the first domain, and more in those that it spawns.
 * `operations`: a bit for each that is allowed. Aborts on the first thing that is wrong. */
void mutate(uint64_t seed, long steps, uint64_t operations);

#endif
/* SPDX-License-Identifier: MIT */
