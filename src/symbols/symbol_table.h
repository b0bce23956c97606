/* The functions of a module's symbol tables, by address. */
#pragma once

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

struct table_entry {
  GElf_Addr begin, end; /* equal: the symbol has no size */
  GElf_Addr reach;      /* the largest end among the entries up to this one */
  const char *name;
  int binding, index;
};

/* All zeros is a table that has not been read yet. */
struct symbol_table {
  struct table_entry *entries; /* ordered by `begin`; among equals the preferred one comes last */
  size_t count;
  bool read;
};

void symbol_table_destroy(struct symbol_table *table);

/* The innermost symbol whose range has the address; NULL if there is none. */
const char *symbol_table_find(struct symbol_table *table, Dwfl_Module *module, GElf_Addr address);

/* The last symbol without a size from `begin`, the start of the function, up to the address; NULL
 * if there is none. */
const char *symbol_table_find_sizeless(struct symbol_table *table, Dwfl_Module *module, GElf_Addr begin,
                                       GElf_Addr address);
/* SPDX-License-Identifier: MIT */
