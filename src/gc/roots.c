/* Slots of handles, scopes in debug programs, and global roots. */
#include "gc/roots.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/barrier.h"
#include "gc/caller.h"
#include "gc/debug.h"
#include "gc/domain.h"
#include <string.h>

enum { STEP = TINY ? 512 : 8192 }; /* slots made accessible at a time */
enum { PAGE_CELLS = TINY ? 8 : 255 };

struct global_page {
  struct global_page *next;
  struct wn_global cells[PAGE_CELLS];
};

/* ---- slots ---- */

bool roots_create_slots(struct gc_thread *thread, struct wn_heap *heap) {
  size_t slots = (size_t)__atomic_load_n(&heap->control.stack_limit, __ATOMIC_RELAXED);
  thread->slots = metadata_reserve_addresses(slots * sizeof *thread->slots);
  if (!thread->slots) return false;
  thread->slots_end = thread->slots + slots;
  size_t first = slots < STEP ? slots : STEP;
  if (!metadata_make_accessible(thread->slots, first * sizeof *thread->slots)) {
    roots_destroy_slots(thread);
    return false;
  }
  thread->accessible_end = thread->slots + first;
  thread->top = thread->slots;
  if (CHECKS) debug_note_slots(thread);
  return true;
}

void roots_destroy_slots(struct gc_thread *thread) {
  if (CHECKS) debug_forget_slots(thread);
  if (thread->slots)
    metadata_give_back(thread->slots, (size_t)(thread->slots_end - thread->slots) * sizeof *thread->slots);
  thread->slots = NULL;
}

static wn_value *top_of(const struct wn_domain *domain, const struct gc_thread *thread) {
  return domain->running == thread && atomic_load(&domain->state) == DOMAIN_RUNNING ? domain->face.top
                                                                                    : thread->top;
}

void roots_each(struct wn_domain *domain, wn_visit *visit, void *visitor) {
  const wn_heap_hooks *hooks = &domain->heap->hooks;
  for (struct gc_thread *thread = domain->threads; thread; thread = thread->next) {
    wn_value *top = top_of(domain, thread);
    for (wn_value *slot = thread->slots; slot < top; slot++) visit(visitor, slot);
  }
  if (exception_is_pending(domain)) visit(visitor, &domain->exception.value);
  if (hooks->walk_roots) hooks->walk_roots(domain, visit, visitor, hooks->context);
}

size_t roots_count(const struct wn_domain *domain) {
  size_t count = 0;
  for (struct gc_thread *thread = domain->threads; thread; thread = thread->next)
    count += (size_t)(top_of(domain, thread) - thread->slots);
  return count;
}

/* Where the thread's slots end, by the limit that holds now. */
static wn_value *limit_of(const struct gc_thread *thread) {
  wn_value *limit = thread->slots + thread->domain->heap->control.stack_limit;
  return limit < thread->slots_end ? limit : thread->slots_end;
}

void roots_limit_slots(struct wn_domain *domain) {
  for (struct gc_thread *thread = domain->threads; thread; thread = thread->next) {
    wn_value *top = top_of(domain, thread), *limit = limit_of(thread);
    if (limit < top) limit = top;
    if (thread->accessible_end > limit) thread->accessible_end = limit;
  }
  if (domain->running) domain->face.top_end = domain->running->accessible_end;
}

/* A lower limit may have left the end within a page. */
static bool make_accessible(wn_value *from, wn_value *end) {
  uintptr_t page = (uintptr_t)from & ~(uintptr_t)4095;
  return metadata_make_accessible((void *)page, (uintptr_t)end - page);
}

wn_ref wn_root_slow(wn_domain *domain, wn_value value) {
  if (!caller_may(domain, "root")) return (wn_ref){NULL};
  struct gc_thread *thread = domain->running;
  wn_value *end = thread->accessible_end, *limit = limit_of(thread);
  size_t left = limit > end ? (size_t)(limit - end) : 0, step = left < STEP ? left : STEP;
  if (!step || !make_accessible(end, end + step)) {
    error_set(WN_ELIMIT, "handles: all %ld slots of the thread are in use (stack_limit)",
              domain->heap->control.stack_limit);
    return (wn_ref){NULL};
  }
  thread->accessible_end += step;
  domain->face.top_end = thread->accessible_end;
  event_table_grows(&domain->heap->events, "handle slots", (size_t)(thread->accessible_end - thread->slots));
  wn_ref ref = {domain->face.top++};
  *ref.slot = value;
  return ref;
}

/* ---- global roots ---- */

static struct wn_global *take_cell(struct globals *globals) {
  if (!globals->free) {
    struct global_page *page = metadata_map(sizeof *page);
    if (!page) return NULL;
    page->next = globals->pages;
    globals->pages = page;
    for (size_t i = PAGE_CELLS; i--;) {
      page->cells[i] = (struct wn_global){wn_int(0), globals->free};
      globals->free = &page->cells[i];
    }
  }
  struct wn_global *cell = globals->free;
  globals->free = cell->next;
  return cell;
}

void roots_each_global(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  for (struct global_page *page = heap->globals.pages; page; page = page->next)
    for (size_t i = 0; i < PAGE_CELLS; i++) visit(visitor, &page->cells[i].value);
}

void roots_destroy_globals(struct wn_heap *heap) {
  struct global_page *page = heap->globals.pages;
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

wn_global *wn_global_new(wn_domain *domain, wn_ref ref) {
  DEBUG_HANDLE(domain, ref);
  if (!caller_may(domain, "global root")) return NULL;
  if (wn_is_null(ref)) return error_set(WN_EINVAL, "global root: the handle is null"), NULL;
  struct globals *globals = &domain->heap->globals;
  lock_acquire(&globals->lock, LOCK_RANK_GLOBALS);
  struct wn_global *cell = take_cell(globals);
  lock_release(&globals->lock, LOCK_RANK_GLOBALS);
  if (!cell) {
    error_set(WN_ENOMEM, "no memory for a global root");
    return NULL;
  }
  if (CHECKS) cell->next = cell;
  barrier_store(domain, &cell->value, *ref.slot);
  return cell;
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
  struct globals *globals = &domain->heap->globals;
  barrier_store(domain, &global->value, wn_int(0));
  lock_acquire(&globals->lock, LOCK_RANK_GLOBALS);
  global->next = globals->free;
  globals->free = global;
  lock_release(&globals->lock, LOCK_RANK_GLOBALS);
}
/* SPDX-License-Identifier: MIT */
