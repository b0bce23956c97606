/* Slots of handles. */
#include "gc/domains/roots.h"

#include "base/metadata.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/shortage.h"
#include "gc/events/hooks.h"
#include <string.h>

enum { STEP = TINY ? 512 : 8192 }; /* slots made accessible at a time */

bool roots_create_slots(struct domain_thread *thread, struct wn_heap *heap) {
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

void roots_destroy_slots(struct domain_thread *thread) {
  if (CHECKS) debug_forget_slots(thread);
  if (thread->slots)
    metadata_give_back(thread->slots, (size_t)(thread->slots_end - thread->slots) * sizeof *thread->slots);
  thread->slots = NULL;
}

static wn_value *roots_top_of(const struct wn_domain *domain, const struct domain_thread *thread) {
  return domain->running == thread && atomic_load(&domain->state) == DOMAIN_RUNNING ? domain->context.top
                                                                                    : thread->top;
}

void roots_each_handle(struct wn_domain *domain, wn_visit *visit, void *visitor) {
  for (struct domain_thread *thread = domain->threads; thread; thread = thread->next) {
    wn_value *top = roots_top_of(domain, thread);
    for (wn_value *slot = thread->slots; slot < top; slot++) visit(visitor, slot);
  }
  if (exception_is_pending(domain)) visit(visitor, &domain->exception.value);
}

void roots_each_of_language(struct wn_domain *domain, wn_visit *visit, void *visitor) {
  const wn_heap_hooks *hooks = &domain->heap->hooks;
  if (!hooks->walk_roots) return;
  hooks_running++;
  hooks->walk_roots(domain, visit, visitor, hooks->context);
  hooks_running--;
}

void roots_each(struct wn_domain *domain, wn_visit *visit, void *visitor) {
  roots_each_handle(domain, visit, visitor);
  roots_each_of_language(domain, visit, visitor);
}

size_t roots_count(const struct wn_domain *domain) {
  size_t count = 0;
  for (struct domain_thread *thread = domain->threads; thread; thread = thread->next)
    count += (size_t)(roots_top_of(domain, thread) - thread->slots);
  return count;
}

/* The end of the thread's slots by the current limit. */
static wn_value *roots_limit_of(const struct domain_thread *thread) {
  wn_value *limit = thread->slots + thread->domain->heap->control.stack_limit;
  return limit < thread->slots_end ? limit : thread->slots_end;
}

void roots_limit_slots(struct wn_domain *domain) {
  for (struct domain_thread *thread = domain->threads; thread; thread = thread->next) {
    wn_value *top = roots_top_of(domain, thread), *limit = roots_limit_of(thread);
    if (limit < top) limit = top;
    if (thread->accessible_end > limit) thread->accessible_end = limit;
  }
  if (domain->running) domain->context.top_end = domain->running->accessible_end;
}

/* A lower limit can have put the end inside a page. */
static bool make_accessible(wn_value *from, wn_value *end) {
  uintptr_t page = (uintptr_t)from & ~(uintptr_t)4095;
  return metadata_make_accessible((void *)page, (uintptr_t)end - page);
}

static wn_status add_slots(struct wn_domain *domain) {
  struct domain_thread *thread = domain->running;
  wn_value *end = thread->accessible_end, *limit = roots_limit_of(thread);
  size_t left = limit > end ? (size_t)(limit - end) : 0, step = left < STEP ? left : STEP;
  if (!step) return WN_ELIMIT;
  if (!make_accessible(end, end + step)) return WN_ENOMEM;
  thread->accessible_end += step;
  domain->context.top_end = thread->accessible_end;
  event_table_grows(&domain->heap->events, "handle slots", (size_t)(thread->accessible_end - thread->slots));
  return WN_OK;
}

bool roots_have_slots(struct wn_domain *domain, size_t count) {
  while ((size_t)(domain->context.top_end - domain->context.top) < count)
    if (add_slots(domain)) return false;
  return true;
}

/* ---- public ---- */

wn_ref wn_root_slow(wn_domain *domain, wn_value value) {
  if (!caller_may(domain, "root")) return (wn_ref){NULL};
  wn_status status = add_slots(domain);
  if (status) {
    shortage_of_handles(domain, status);
    return (wn_ref){NULL};
  }
  wn_ref ref = {domain->context.top++};
  *ref.slot = value;
  return ref;
}
/* SPDX-License-Identifier: MIT */
