/* The roots of a snapshot. */
#include "gc/snapshot/holders.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"
#include "gc/collect/collector.h"
#include "gc/domains/roots.h"
#include <stdlib.h>
#include <string.h>
#include <winnow/snapshot.h>

struct holder {
  enum holder_kind kind;
  uint64_t domain;
  char *name; /* "": none */
};

struct holders {
  struct snapshot_writer *writer;
  struct holder *items; /* the id of each is its place + 1 */
  size_t count, capacity, last;
  struct index index;
  struct holder now; /* of the roots that are visited; its name is not a copy */
  bool no_memory;
};

static bool is_same(const struct holder *a, const struct holder *b) {
  return a->kind == b->kind && a->domain == b->domain && !strcmp(a->name, b->name);
}

static bool add(struct holders *holders, uint64_t hash) {
  struct holder made = holders->now;
  if (!(made.name = strdup(made.name)) ||
      !ARRAY_ADD(holders->items, holders->count, holders->capacity, made)) {
    free(made.name);
    holders->no_memory = true;
    return false;
  }
  holders->no_memory = !index_add(&holders->index, hash, (uint32_t)holders->count);
  snapshot_holder(holders->writer, (uint32_t)holders->count, made.kind, made.domain, made.name);
  return !holders->no_memory;
}

/* The place of the holder of now; `count`: it is new. */
static size_t find(const struct holders *holders, uint64_t hash) {
  struct index_walk walk = {.hash = hash};
  uint32_t number;
  while ((number = index_next(&holders->index, &walk)))
    if (is_same(&holders->items[number - 1], &holders->now)) return number - 1;
  return holders->count;
}

/* Roots of one holder mostly follow each other. */
static void visit_root(void *visitor, wn_value *slot) {
  struct holders *holders = visitor;
  size_t i = holders->last;
  if (*slot & 1 || holders->no_memory) return;
  if (!holders->count || !is_same(&holders->items[i], &holders->now)) {
    const struct holder *now = &holders->now;
    uint64_t hash = hash_combine(hash_bytes(now->name, strlen(now->name)), now->domain << 8 | now->kind);
    i = find(holders, hash);
    if (i == holders->count && !add(holders, hash)) return;
  }
  holders->last = i;
  snapshot_root(holders->writer, (uint32_t)i + 1, *slot);
}

static void visit_global(void *visitor, wn_value *slot) {
  const struct wn_global *global = (const struct wn_global *)slot; /* whose first member it is */
  struct holders *holders = visitor;
  holders->now.name = (char *)(uintptr_t)(global->name ? global->name : "");
  visit_root(visitor, slot);
}

static void begin(struct holders *holders, enum holder_kind kind, uint64_t domain) {
  static char none[] = "";
  holders->now = (struct holder){kind, domain, none};
}

/* ---- shared ---- */

/* Holders that say most come first: a block that several lead to is found from the first of
 * them. */
bool holders_write(struct wn_heap *heap, struct snapshot_writer *writer) {
  struct holders holders = {.writer = writer};
  begin(&holders, HOLDER_GLOBALS, 0);
  globals_each(heap, visit_global, &holders);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    begin(&holders, HOLDER_ROOTS, domain->number);
    roots_each_of_language(domain, visit_root, &holders);
  }
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    begin(&holders, HOLDER_HANDLES, domain->number);
    roots_each_handle(domain, visit_root, &holders);
  }
  begin(&holders, HOLDER_FINALISERS, 0);
  finalisers_each_root(heap, visit_root, &holders);
  begin(&holders, HOLDER_PINS, 0);
  pins_each(heap, visit_root, &holders);
  for (size_t i = 0; i < holders.count; i++) free(holders.items[i].name);
  free(holders.items), free(holders.index.slots);
  return !holders.no_memory;
}

/* ---- public ---- */

void wn_root_name(wn_visit *visit, void *visitor, const char *name) {
  if (visit == visit_root) ((struct holders *)visitor)->now.name = (char *)(uintptr_t)(name ? name : "");
}
/* SPDX-License-Identifier: MIT */
