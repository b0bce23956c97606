/* The walk over the roots, and writing them. */
#include "gc/snapshot/holders.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"
#include "gc/collect/collector.h"
#include "gc/domains/debug.h"
#include "gc/domains/roots.h"
#include <stdlib.h>
#include <string.h>
#include <winnow/snapshot.h>

struct holders {
  struct holders_walk walk;
  struct snapshot_writer *writer;
  struct holder *items; /* with copies of the names; the id of each is its place + 1 */
  size_t count, capacity, last;
  struct index index;
  bool no_memory;
};

static bool holders_is_same(const struct holder *a, const struct holder *b) {
  return a->kind == b->kind && a->domain == b->domain && !strcmp(a->name, b->name);
}

static bool holders_add(struct holders *holders, uint64_t hash) {
  struct holder made = holders->walk.now;
  char *name = strdup(made.name);
  made.name = name;
  if (!name || !ARRAY_ADD(holders->items, holders->count, holders->capacity, made)) {
    free(name);
    holders->no_memory = true;
    return false;
  }
  holders->no_memory = !index_add(&holders->index, hash, (uint32_t)holders->count);
  snapshot_holder(holders->writer, (uint32_t)holders->count, made.kind, made.domain, made.name);
  return !holders->no_memory;
}

/* The place of the holder; `count`: it is new. */
static size_t holders_find(const struct holders *holders, uint64_t hash) {
  struct index_walk walk = {.hash = hash};
  uint32_t number;
  while ((number = index_next(&holders->index, &walk)))
    if (holders_is_same(&holders->items[number - 1], &holders->walk.now)) return number - 1;
  return holders->count;
}

/* Roots of one holder mostly follow each other. */
static void write_root(struct holders_walk *walk, const wn_value *slot) {
  struct holders *holders = (struct holders *)walk; /* whose first member it is */
  const struct holder *now = &walk->now;
  size_t i = holders->last;
  if (holders->no_memory) return;
  if (!holders->count || !holders_is_same(&holders->items[i], now)) {
    uint64_t hash = hash_combine(hash_bytes(now->name, strlen(now->name)), now->domain << 8 | now->kind);
    i = holders_find(holders, hash);
    if (i == holders->count && !holders_add(holders, hash)) return;
  }
  holders->last = i;
  snapshot_root(holders->writer, (uint32_t)i + 1, *slot);
}

static void holders_visit_root(void *visitor, wn_value *slot) {
  struct holders_walk *walk = visitor;
  if (!(*slot & 1)) walk->meet(walk, slot);
}

/* A thread's slots follow each other, and a scope's name comes before its handles. */
static void visit_handle(void *visitor, wn_value *slot) {
  struct holders_walk *walk = visitor;
  if (slot != walk->next) walk->slots = slot, walk->now.kind = HOLDER_HANDLES, walk->now.name = "";
  const char *function = debug_scope_named_by(slot, walk->slots);
  if (function) walk->now.kind = HOLDER_SCOPES, walk->now.name = function;
  walk->next = slot + 1;
  holders_visit_root(visitor, slot);
}

static void visit_global(void *visitor, wn_value *slot) {
  const struct wn_global *global = (const struct wn_global *)slot; /* whose first member it is */
  struct holders_walk *walk = visitor;
  walk->now.name = global->name ? global->name : "";
  holders_visit_root(visitor, slot);
}

/* ---- shared ---- */

void holders_each(struct wn_heap *heap, struct holders_walk *walk) {
  walk->now = (struct holder){HOLDER_GLOBALS, 0, ""};
  globals_each(heap, visit_global, walk);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    walk->now = (struct holder){HOLDER_ROOTS, domain->number, ""};
    roots_each_of_language(domain, holders_visit_root, walk);
  }
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    walk->now = (struct holder){HOLDER_HANDLES, domain->number, ""};
    roots_each_handle(domain, visit_handle, walk);
  }
  walk->now = (struct holder){HOLDER_FINALISERS, 0, ""};
  finalisers_each_root(heap, holders_visit_root, walk);
  walk->now = (struct holder){HOLDER_PINS, 0, ""};
  pins_each(heap, holders_visit_root, walk);
}

bool holders_write(struct wn_heap *heap, struct snapshot_writer *writer) {
  struct holders holders = {.walk = {.meet = write_root}, .writer = writer};
  holders_each(heap, &holders.walk);
  for (size_t i = 0; i < holders.count; i++) free((char *)(uintptr_t)holders.items[i].name);
  free(holders.items), free(holders.index.slots);
  return !holders.no_memory;
}

/* ---- public ---- */

void wn_root_name(wn_visit *visit, void *visitor, const char *name) {
  if (visit == holders_visit_root) ((struct holders_walk *)visitor)->now.name = name ? name : "";
}
/* SPDX-License-Identifier: MIT */
