/* Split DWARF: the debugging information of a unit in a file of its own (.dwo), or of all units
 * in one package (.dwp); the program has skeletons of the units, with their lines. DWARF 5, and
 * GNU's of DWARF 4. */
#pragma once

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one module; all zeros but `search` is one that has opened nothing. */
struct splits {
  const char *const *search; /* as in symbols_options */
  struct merged_tree *joined;
  struct package *package;
  struct shared {
    unsigned char *copy; /* of what units have had; NULL: of nothing yet */
    const unsigned char *bytes;
    size_t size;
  } addresses, ranges; /* sections of the program */
  uint64_t taken;      /* bytes that expanded files have taken */
};

/* The tree of a skeleton's unit, and what reading its ranges needs. */
struct split {
  Dwarf_Die unit;
  Dwarf_Addr base;       /* that ranges are relative to */
  size_t bytes;          /* of the unit; 0: there is none */
  const Elf_Data *lists; /* DWARF 5: .debug_rnglists; or NULL */
};

void splits_close(struct splits *splits);

/* Whether a unit is a skeleton. */
bool split_is_skeleton(Dwarf_Die *unit);

/* Finds the tree of a skeleton. False: there is none, or it is of another build. */
bool split_find(struct splits *splits, Dwfl_Module *module, Dwarf_Die *skeleton, struct split *split);

/* dwarf_ranges for an entry of a split unit; begin with *at = 0. */
bool split_next_range(const struct split *split, Dwarf_Die *entry, ptrdiff_t *at, Dwarf_Addr *base,
                      Dwarf_Addr *begin, Dwarf_Addr *end);
/* SPDX-License-Identifier: MIT */
