/* The functions of the Lisp that are written in C.
 *
 * One gets its arguments on the machine's stack, where a collection finds and updates them; any
 * other value that it needs after an allocation is in a handle. */
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

/* All of them, one after the other: a builtin block holds the place. */
const struct builtin *builtin_at(size_t i); /* NULL behind the last */
static inline const struct builtin *builtin_of(wn_value block) {
  return builtin_at((size_t)integer_of(field(block, 0)));
}

/* Defines all of them in the machine's environment. False if memory is exhausted. */
bool builtins_define(struct vm *vm);

/* What the instructions for numbers do where not both are small integers. `who` is +, - or *. */
wn_value numbers_calculate(struct vm *vm, char who, wn_value a, wn_value b);
/* Below 0, 0, above 0, or 2 where one is not a number. False: one of them is none, and VM_FAILED
 * was set. */
bool numbers_compare(struct vm *vm, const char *who, wn_value a, wn_value b, int *order);

/* equal?; false too where the nesting is too deep, with *deep set. */
bool values_are_equal(wn_value a, wn_value b);
size_t value_hash(wn_value v);

/* Tables, for environments too. All root what they are given. */
wn_value table_create(struct vm *vm);
wn_value table_get(wn_value table, wn_value key, wn_value otherwise);
/* False if memory is exhausted. */
bool table_put(struct vm *vm, wn_ref table, wn_ref key, wn_ref value);

#endif
/* SPDX-License-Identifier: MIT */
