/* The functions of the Lisp that are written in C.
 *
 * A builtin gets its arguments on the machine's stack, where collections find and update them. It
 * keeps any other value that it needs after an allocation in a handle. */
#ifndef LISP_BUILTINS_H
#define LISP_BUILTINS_H

#include "vm.h"

struct builtin {
  const char *name;
  builtin_function *function;
  short least, most; /* arguments; most -1: any number */
};

/* Tables end with a row without a name. */
extern const struct builtin builtins_numbers[], builtins_lists[], builtins_strings[], builtins_tables[],
    builtins_control[], builtins_ports[], builtins_tasks[];

/* All builtins in one sequence: a builtin block holds the index. */
const struct builtin *builtin_at(size_t i); /* NULL behind the last */
static inline const struct builtin *builtin_of(wn_value block) {
  return builtin_at((size_t)integer_of(field(block, 0)));
}

/* Defines all of them in the machine's environment. False if memory is exhausted. */
bool builtins_define(struct vm *vm);

/* The arithmetic instructions call this if not both operands are small integers. `procedure` is +, - or
 * *. */
wn_value numbers_calculate(struct vm *vm, char procedure, wn_value a, wn_value b);
/* Sets *order to below 0, 0, above 0, or to 2 if one of the two is NaN. False if one is no number;
 * the condition is set then. */
bool numbers_compare(struct vm *vm, const char *procedure, wn_value a, wn_value b, int *order);

/* equal?; also false if the values are nested too deeply. */
bool values_are_equal(wn_value a, wn_value b);
size_t value_hash(wn_value v);

/* Tables, also for environments. All of these functions root their arguments. */
wn_value table_create(struct vm *vm);
wn_value table_get(wn_value table, wn_value key, wn_value otherwise);
/* False if memory is exhausted. */
bool table_put(struct vm *vm, wn_ref table, wn_ref key, wn_ref value);

#endif
/* SPDX-License-Identifier: MIT */
