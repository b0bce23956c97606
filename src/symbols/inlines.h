/* Finds the function and the inlined calls that an address belongs to, by an index of one module's
 * DWARF.
 *
 * libdw answers such a question by walking a whole compilation unit, which takes milliseconds for a
 * large unit. So the first question about a unit makes an index: the address ranges of its
 * functions, sorted, each with the ranges of its inlined calls in the order of the DWARF tree,
 * outer before inner. Later questions are a binary search. The index also has the classes and
 * namespaces of those functions that have no linkage name, which would contain them.
 */
#pragma once

#include "symbols/split.h"
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

struct inlines {
  struct unit *units;
  struct spans *ranges; /* of all units; NULL before the first question */
  struct splits splits;
};

/* A compilation unit, or a skeleton (split.h), and an address in it. */
struct unit_place {
  Dwarf_Die unit;
  Dwarf_Addr address;
  bool bare; /* `unit` is a skeleton, and its entries are not there */
};

void inlines_destroy(struct inlines *inlines);

/* Writes the entries that cover an address, the function first and the innermost inlined call last,
 * and returns their number; 0 if the address is in no function. `place` becomes the unit and the
 * address in the unit's DWARF; all zeros if no unit has the address. */
size_t inlines_find(struct inlines *inlines, Dwfl_Module *module, Dwarf_Addr address,
                    struct unit_place *place, Dwarf_Die *entries, size_t most);

/* Writes the namespaces and classes in which a function without a linkage name is declared, and the
 * functions that these classes are local to, outermost first, and returns their number; 0 if there
 * are none, or if the function is declared in another unit than that of `place`. `number` is 0
 * before, and then that of the innermost one among those without a name in the scope around it,
 * from 1 on. */
size_t inlines_scopes(const struct inlines *inlines, const struct unit_place *place, Dwarf_Die *function,
                      Dwarf_Die *scopes, size_t most, unsigned *number);
/* SPDX-License-Identifier: MIT */
