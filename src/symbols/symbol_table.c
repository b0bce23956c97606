/* Reads the symbols of a module once and finds them by binary search.
 *
 * libdwfl scans all symbols for each address, which takes a millisecond in a program of 100,000
 * functions. Symbols can contain each other, as a function contains its cold part or an alias. So
 * each entry has `reach`, the largest end among the entries up to it: the search backwards stops
 * where `reach` is not beyond the address. Of symbols with the same start the smaller one is
 * preferred, then a global one, then a weak one, then a local one, as in libdwfl.
 */
#include "symbols/symbol_table.h"

#include <stdlib.h>

static int symbol_table_rank_of(int binding) {
  return binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
}

static int symbol_table_compare(GElf_Addr a, GElf_Addr b) { return (a > b) - (a < b); }

static int symbol_table_by_begin(const void *left, const void *right) {
  const struct table_entry *a = left, *b = right;
  int order = symbol_table_compare(a->begin, b->begin);
  if (!order) order = symbol_table_compare(b->end, a->end);
  if (!order) order = symbol_table_rank_of(a->binding) - symbol_table_rank_of(b->binding);
  return order ? order : b->index - a->index;
}

static bool names_code(const GElf_Sym *symbol, const char *name) {
  int type = GELF_ST_TYPE(symbol->st_info);
  if (!name || !*name || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS) return false;
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Without memory the table stays empty, and functions are named by their addresses. */
static void read_table(struct symbol_table *table, Dwfl_Module *module) {
  int symbols = dwfl_module_getsymtab(module);
  table->read = true;
  table->entries = symbols > 0 ? calloc((size_t)symbols, sizeof *table->entries) : NULL;
  for (int i = 1; table->entries && i < symbols; i++) {
    GElf_Sym symbol;
    GElf_Addr address;
    const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
    if (!name || !names_code(&symbol, name)) continue;
    table->entries[table->count++] = (struct table_entry){.begin = address,
                                                          .end = address + symbol.st_size,
                                                          .name = name,
                                                          .binding = GELF_ST_BIND(symbol.st_info),
                                                          .index = i};
  }
  if (table->count) qsort(table->entries, table->count, sizeof *table->entries, symbol_table_by_begin);
  GElf_Addr reach = 0;
  for (size_t i = 0; i < table->count; i++) {
    if (table->entries[i].end > reach) reach = table->entries[i].end;
    table->entries[i].reach = reach;
  }
}

/* The number of entries that begin at or before an address. */
static size_t count_until(struct symbol_table *table, Dwfl_Module *module, GElf_Addr address) {
  if (!table->read) read_table(table, module);
  size_t low = 0, high = table->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (table->entries[middle].begin <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- shared ---- */

void symbol_table_destroy(struct symbol_table *table) {
  free(table->entries);
  *table = (struct symbol_table){0};
}

const char *symbol_table_find(struct symbol_table *table, Dwfl_Module *module, GElf_Addr address) {
  for (size_t i = count_until(table, module, address); i-- > 0 && table->entries[i].reach > address;)
    if (table->entries[i].end > address) return table->entries[i].name;
  return NULL;
}

const char *symbol_table_find_sizeless(struct symbol_table *table, Dwfl_Module *module, GElf_Addr begin,
                                       GElf_Addr address) {
  for (size_t i = count_until(table, module, address); i-- > 0 && table->entries[i].begin >= begin;)
    if (table->entries[i].end == table->entries[i].begin) return table->entries[i].name;
  return NULL;
}
/* SPDX-License-Identifier: MIT */
