/* Which function, and which calls inlined into it, an address belongs to: an index of one module's
 * DWARF.
 *
 * libdw answers such a question by walking a whole compilation unit, which for a large one takes
 * milliseconds. So the first question about a unit writes down the address ranges of its functions,
 * sorted, each with the ranges of the calls inlined into it in the order of the tree, outer before
 * inner; further questions are a binary search. It also writes down in which classes and namespaces
 * those functions are declared that have no linkage name to say it. */
#ifndef SYMBOLS_INLINES_H
#define SYMBOLS_INLINES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

struct inlines {
  struct unit *units;
};

/* A compilation unit and an address in it. */
struct unit_place {
  Dwarf_Die unit;
  Dwarf_Addr address;
};

void inlines_destroy(struct inlines *inlines);

/* Writes the entries that cover an address, the function first and the innermost inlined call last;
 * returns how many. `place` becomes the unit and the address as its DWARF has it. 0 if the address
 * is in no function. */
size_t inlines_find(struct inlines *inlines, Dwfl_Module *module, Dwarf_Addr address,
                    struct unit_place *place, Dwarf_Die *entries, size_t most);

/* The namespaces and classes that a function without a linkage name is declared in, outermost
 * first; returns how many. 0 if it is in none, or declared in another unit than the place's. */
size_t inlines_scopes(const struct inlines *inlines, const struct unit_place *place, Dwarf_Die *function,
                      Dwarf_Die *scopes, size_t most);

#endif
/* SPDX-License-Identifier: MIT */
