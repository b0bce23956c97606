/* Global roots. */
#include "gc/collect/globals.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/collect/barrier.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/shortage.h"
#include <winnow/snapshot.h>

enum { PAGE_CELLS = TINY ? 8 : 170 };

struct global_page {
  struct global_page *next;
  struct wn_global cells[PAGE_CELLS];
};

static void globals_add_page(struct globals *globals) {
  struct global_page *page = metadata_map(sizeof *page);
  if (!page) return;
  page->next = globals->pages;
  globals->pages = page;
  for (size_t i = PAGE_CELLS; i--;) {
    page->cells[i] = (struct wn_global){wn_int(0), globals->free, NULL};
    globals->free = &page->cells[i];
  }
}

/* NULL if there is no memory. */
static struct wn_global *take_cell(struct globals *globals) {
  lock_acquire(&globals->lock, LOCK_RANK_GLOBALS);
  if (!globals->free) globals_add_page(globals);
  struct wn_global *cell = globals->free;
  if (cell) globals->free = cell->next;
  lock_release(&globals->lock, LOCK_RANK_GLOBALS);
  return cell;
}

void globals_each(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  for (struct global_page *page = heap->collector->globals.pages; page; page = page->next)
    for (size_t i = 0; i < PAGE_CELLS; i++) visit(visitor, &page->cells[i].value);
}

void globals_destroy(struct wn_heap *heap) {
  struct global_page *page = heap->collector->globals.pages;
  while (page) {
    struct global_page *next = page->next;
    metadata_unmap(page, sizeof *page);
    page = next;
  }
}

/* Where checks are on, a cell that is in use links itself. */
static void check_global(const wn_domain *domain, const wn_global *global, const char *function) {
  if (!CHECKS) return;
  debug_check_domain(domain, function);
  if (!global)
    debug_complain(function, "the global root is NULL: there was no memory for it");
  else if (global->next != global)
    debug_complain(function, "the global root was freed");
}

static wn_global *globals_make(wn_domain *domain, wn_ref ref, const char *name) {
  if (!caller_may(domain, "global root")) return NULL;
  if (wn_is_null(ref)) return error_set(WN_EINVAL, "global root: the handle is null"), NULL;
  struct wn_global *cell = take_cell(&domain->heap->collector->globals);
  if (!cell && shortage_of_memory(domain, sizeof(struct global_page) / 8, "no memory for global roots"))
    cell = take_cell(&domain->heap->collector->globals);
  if (!cell) return NULL;
  if (CHECKS) cell->next = cell;
  cell->name = name;
  barrier_store(domain, &cell->value, *ref.slot);
  return cell;
}

/* ---- public ---- */

wn_global *wn_global_new(wn_domain *domain, wn_ref ref) {
  DEBUG_HANDLE(domain, ref);
  return globals_make(domain, ref, NULL);
}

wn_global *wn_global_new_named(wn_domain *domain, wn_ref ref, const char *name) {
  DEBUG_HANDLE(domain, ref);
  return globals_make(domain, ref, name);
}

void wn_global_set(wn_domain *domain, wn_global *global, wn_ref ref) {
  check_global(domain, global, __func__);
  DEBUG_HANDLE(domain, ref);
  if (!caller_may(domain, "global root")) return;
  if (!global || wn_is_null(ref)) {
    error_set(WN_EINVAL, "global root: an argument is NULL");
    return;
  }
  barrier_store(domain, &global->value, *ref.slot);
}

wn_ref wn_global_get(wn_domain *domain, const wn_global *global) {
  check_global(domain, global, __func__);
  if (!caller_may(domain, "global root")) return (wn_ref){NULL};
  if (!global) return error_set(WN_EINVAL, "global root: it is NULL"), (wn_ref){NULL};
  return wn_root(domain, field_load(&global->value));
}

void wn_global_free(wn_domain *domain, wn_global *global) {
  if (!global) return;
  check_global(domain, global, __func__);
  if (!caller_may(domain, "global root")) return;
  struct globals *globals = &domain->heap->collector->globals;
  barrier_store(domain, &global->value, wn_int(0));
  lock_acquire(&globals->lock, LOCK_RANK_GLOBALS);
  global->next = globals->free;
  globals->free = global;
  lock_release(&globals->lock, LOCK_RANK_GLOBALS);
}
/* SPDX-License-Identifier: MIT */
