/* Operations on the blocks in registers. */
#ifndef TESTS_DIFFERENTIAL_OPERATIONS_H
#define TESTS_DIFFERENTIAL_OPERATIONS_H

#include "differential/world.h"

/* Does an operation of this name, if it is one on blocks. */
bool operate_on_blocks(struct actor *actor, const char *name, const int *a);

wn_ref register_get(struct actor *actor, int r);
void register_set(struct actor *actor, int r, wn_ref value);

/* Prints the blocks in registers, and what their fields and places hold. */
void print_registers(struct actor *actor);

#endif
/* SPDX-License-Identifier: MIT */
