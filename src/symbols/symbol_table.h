/* The functions of a module's symbol tables, by address. */
#ifndef SYMBOLS_SYMBOL_TABLE_H
#define SYMBOLS_SYMBOL_TABLE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

struct table_entry {
  GElf_Addr begin, end; /* equal: the symbol has no size */
  GElf_Addr reach;      /* the largest end up to this entry */
  const char *name;
  int binding, index;
};

/* Zero is a table that was not read yet. */
struct symbol_table {
  struct table_entry *entries; /* by begin; of several with one begin the best comes last */
  size_t count;
  bool read;
};

void symbol_table_destroy(struct symbol_table *table);

/* The innermost symbol whose addresses hold this one; NULL if none does. */
const char *symbol_table_find(struct symbol_table *table, Dwfl_Module *module, GElf_Addr address);

/* The last symbol without a size in a function that begins at `begin`, at or before an address;
 * NULL if there is none. */
const char *symbol_table_find_sizeless(struct symbol_table *table, Dwfl_Module *module, GElf_Addr begin,
                                       GElf_Addr address);

#endif
/* SPDX-License-Identifier: MIT */
