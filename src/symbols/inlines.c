/* The index of one module's functions and inlined calls, made unit by unit from DWARF's tree of
 * entries. Where memory is short, entries are missing from the index, and their addresses have less
 * precise names. */
#include "symbols/inlines.h"

#include "base/array.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* How deep the entries of a unit may lie in each other: a damaged file may claim more. */
enum { LEVELS_MOST = 512 };

/* One range of addresses of a DWARF entry; an entry may have several. */
struct span {
  Dwarf_Addr begin, end;
  Dwarf_Die entry;
  unsigned depth;
  /* For a function: its inlined calls are inlined[first] to inlined[first + count - 1]. */
  size_t first, count;
};

struct spans {
  struct span *span;
  size_t count, capacity;
};

/* A namespace or class, or a function that has classes, as lambdas are. `parent` is the index of
 * the scope that contains it, or NO_SCOPE. */
struct scope {
  Dwarf_Die entry;
  size_t parent;
};
#define NO_SCOPE SIZE_MAX

/* A function that is declared in a scope and has no linkage name. */
struct declared {
  Dwarf_Off offset;
  size_t scope;
};

struct unit {
  struct unit *next;
  const void *key;
  struct split split; /* of a skeleton; its `bytes` are 0 in other units */
  bool bare;          /* as in unit_place */
  unsigned level;     /* of the entry that is visited */
  size_t spans_most;  /* of each kind */
  bool damaged;       /* entries lie too deep in each other: the rest is left out */
  struct spans functions, inlined;
  struct scope *scopes;
  size_t scope_count, scope_capacity;
  struct declared *declared; /* ordered by offset, which is their order in the unit */
  size_t declared_count, declared_capacity;
};

static struct span *spans_add(struct spans *spans) {
  if (spans->count == spans->capacity) {
    size_t capacity = spans->capacity ? spans->capacity * 2 : 64;
    struct span *larger = reallocarray(spans->span, capacity, sizeof *larger);
    if (!larger) return NULL;
    spans->span = larger;
    spans->capacity = capacity;
  }
  return &spans->span[spans->count++];
}

static bool next_range(const struct unit *unit, Dwarf_Die *entry, ptrdiff_t *at, Dwarf_Addr *base,
                       Dwarf_Addr *begin, Dwarf_Addr *end) {
  if (unit->split.bytes) return split_next_range(&unit->split, entry, at, base, begin, end);
  return (*at = dwarf_ranges(entry, *at, base, begin, end)) > 0;
}

/* The spans of a unit that entries do not share are fewer than its bytes. Of a damaged file, whose
 * entries share long lists, no more are taken. */
static size_t spans_most(Dwarf_Die *unit) {
  Dwarf_Off next, offset = dwarf_dieoffset(unit) - dwarf_cuoffset(unit); /* where the unit begins */
  Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
  return dwarf_next_unit(dwarf, offset, &next, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ? 0 : next - offset;
}

static void add_ranges(struct unit *unit, struct spans *spans, Dwarf_Die *entry, unsigned depth) {
  Dwarf_Addr base, begin, end;
  for (ptrdiff_t at = 0;
       spans->count < unit->spans_most && next_range(unit, entry, &at, &base, &begin, &end);) {
    struct span *span = spans_add(spans);
    if (span) *span = (struct span){.begin = begin, .end = end, .entry = *entry, .depth = depth};
  }
}

/* The index of the new scope, or `parent` without memory. */
static size_t add_scope(struct unit *unit, Dwarf_Die *entry, size_t parent) {
  if (!array_reserve(&unit->scopes, &unit->scope_capacity, unit->scope_count + 1, sizeof *unit->scopes))
    return parent;
  unit->scopes[unit->scope_count] = (struct scope){*entry, parent};
  return unit->scope_count++;
}

static void add_declared(struct unit *unit, Dwarf_Die *entry, size_t scope) {
  if (scope == NO_SCOPE || dwarf_hasattr(entry, DW_AT_linkage_name) ||
      !array_reserve(&unit->declared, &unit->declared_capacity, unit->declared_count + 1,
                     sizeof *unit->declared))
    return;
  unit->declared[unit->declared_count++] = (struct declared){dwarf_dieoffset(entry), scope};
}

static void visit_children(struct unit *unit, Dwarf_Die *parent, unsigned depth, size_t scope);

static void visit_function(struct unit *unit, Dwarf_Die *entry, size_t scope) {
  size_t own = unit->functions.count, first = unit->inlined.count;
  add_declared(unit, entry, scope);
  add_ranges(unit, &unit->functions, entry, 0);
  size_t end = unit->functions.count;
  size_t scopes = unit->scope_count, declared = unit->declared_count;
  visit_children(unit, entry, 1, add_scope(unit, entry, scope));
  if (unit->declared_count == declared) unit->scope_count = scopes; /* nobody needs them */
  for (size_t i = own; i < end; i++) {
    unit->functions.span[i].first = first;
    unit->functions.span[i].count = unit->inlined.count - first;
  }
}

/* The scope of a function that is declared in another function is not that function. */
static size_t scope_of_function(const struct unit *unit, size_t scope) {
  bool local = scope != NO_SCOPE && dwarf_tag(&unit->scopes[scope].entry) == DW_TAG_subprogram;
  return local ? NO_SCOPE : scope;
}

static void visit_children(struct unit *unit, Dwarf_Die *parent, unsigned depth, size_t scope) {
  Dwarf_Die child;
  if (unit->level == LEVELS_MOST) unit->damaged = true;
  if (unit->damaged || dwarf_child(parent, &child) != 0) return;
  unit->level++;
  do {
    switch (dwarf_tag(&child)) {
    case DW_TAG_subprogram: visit_function(unit, &child, scope_of_function(unit, scope)); break;
    case DW_TAG_inlined_subroutine:
      add_ranges(unit, &unit->inlined, &child, depth);
      visit_children(unit, &child, depth + 1, NO_SCOPE);
      break;
    case DW_TAG_lexical_block: visit_children(unit, &child, depth, scope); break;
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_structure_type: visit_children(unit, &child, depth, add_scope(unit, &child, scope)); break;
    default: break;
    }
  } while (!unit->damaged && dwarf_siblingof(&child, &child) == 0);
  unit->level--;
}

static int by_offset(const void *left, const void *right) {
  const struct declared *a = left, *b = right;
  return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int inlines_by_begin(const void *left, const void *right) {
  const struct span *a = left, *b = right;
  return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* The span that has an address; NULL if there is none. */
static const struct span *find_span(const struct spans *spans, Dwarf_Addr address) {
  size_t low = 0, high = spans->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (spans->span[middle].begin <= address)
      low = middle + 1;
    else
      high = middle;
  }
  const struct span *span = low ? &spans->span[low - 1] : NULL;
  return span && address < span->end ? span : NULL;
}

static void sort_spans(struct spans *spans) {
  if (spans->count) qsort(spans->span, spans->count, sizeof *spans->span, inlines_by_begin);
}

/* The index of a unit, made when it is first asked for. Recently used units come first in the list.
 */
static struct unit *unit_of(struct inlines *inlines, Dwfl_Module *module, Dwarf_Die *entry) {
  for (struct unit **link = &inlines->units; *link; link = &(*link)->next) {
    struct unit *unit = *link;
    if (unit->key != entry->addr) continue;
    *link = unit->next;
    unit->next = inlines->units;
    return inlines->units = unit;
  }
  struct unit *unit = calloc(1, sizeof *unit);
  if (!unit) return NULL;
  unit->key = entry->addr;
  unit->bare = split_is_skeleton(entry) && !split_find(&inlines->splits, module, entry, &unit->split);
  Dwarf_Die *tree = unit->split.bytes ? &unit->split.unit : entry;
  unit->spans_most = spans_most(tree);
  if (!unit->bare) visit_children(unit, tree, 0, NO_SCOPE);
  sort_spans(&unit->functions);
  unit->next = inlines->units;
  return inlines->units = unit;
}

/* The ranges of all units, as the units have them. Compilers other than GCC leave out the table of
 * ranges, and where some units of a program are in it, libdwfl takes what lies between two of them
 * for the first one's. */
static struct spans *ranges_of_units(Dwfl_Module *module) {
  Dwarf_Addr bias;
  struct spans *ranges = calloc(1, sizeof *ranges);
  for (Dwarf_Die *entry = NULL; ranges && (entry = dwfl_module_nextcu(module, entry, &bias));)
    add_ranges(&(struct unit){.spans_most = ranges->count + spans_most(entry)}, ranges, entry, 0);
  if (ranges) sort_spans(ranges);
  return ranges;
}

/* The unit that covers an address. */
static bool inlines_find_unit(struct inlines *inlines, Dwfl_Module *module, Dwarf_Addr address,
                              struct unit_place *place) {
  Dwarf_Addr bias;
  if (!dwfl_module_getdwarf(module, &bias)) return false;
  if (!inlines->ranges) inlines->ranges = ranges_of_units(module);
  const struct span *found = inlines->ranges ? find_span(inlines->ranges, address - bias) : NULL;
  if (found) *place = (struct unit_place){.unit = found->entry, .address = address - bias};
  return found != NULL;
}

/* ---- shared ---- */

void inlines_destroy(struct inlines *inlines) {
  for (struct unit *unit = inlines->units, *next; unit; unit = next) {
    next = unit->next;
    free(unit->functions.span);
    free(unit->inlined.span);
    free(unit->scopes);
    free(unit->declared);
    free(unit);
  }
  inlines->units = NULL;
  if (inlines->ranges) free(inlines->ranges->span);
  free(inlines->ranges);
  inlines->ranges = NULL;
  splits_close(&inlines->splits);
}

size_t inlines_find(struct inlines *inlines, Dwfl_Module *module, Dwarf_Addr address,
                    struct unit_place *place, Dwarf_Die *entries, size_t most) {
  *place = (struct unit_place){.address = 0};
  if (!most || !inlines_find_unit(inlines, module, address, place)) return 0;
  struct unit *unit = unit_of(inlines, module, &place->unit);
  place->bare = unit && unit->bare;
  const struct span *function = unit ? find_span(&unit->functions, place->address) : NULL;
  if (!function) return 0;
  size_t count = 0;
  entries[count++] = function->entry;
  for (size_t i = function->first; i < function->first + function->count && count < most; i++) {
    struct span *span = &unit->inlined.span[i];
    if (place->address >= span->begin && place->address < span->end) entries[count++] = span->entry;
  }
  return count;
}

size_t inlines_scopes(const struct inlines *inlines, const struct unit_place *place, Dwarf_Die *function,
                      Dwarf_Die *scopes, size_t most, unsigned *number) {
  const struct unit *unit = inlines->units;
  while (unit && unit->key != place->unit.addr) unit = unit->next;
  if (!unit || !unit->declared_count) return 0;
  struct declared wanted = {.offset = dwarf_dieoffset(function)};
  const struct declared *found =
      bsearch(&wanted, unit->declared, unit->declared_count, sizeof wanted, by_offset);
  size_t depth = 0, count = 0;
  for (size_t at = 0; found && at <= found->scope; at++)
    if (unit->scopes[at].parent == unit->scopes[found->scope].parent)
      *number += !dwarf_hasattr(&unit->scopes[at].entry, DW_AT_name);
  for (size_t at = found ? found->scope : NO_SCOPE; at != NO_SCOPE; at = unit->scopes[at].parent) depth++;
  for (size_t at = found ? found->scope : NO_SCOPE; at != NO_SCOPE; at = unit->scopes[at].parent)
    if (--depth < most) scopes[depth] = unit->scopes[at].entry, count++;
  return count;
}
/* SPDX-License-Identifier: MIT */
