/* Raising, taking and dropping exceptions. */
#include "gc/domains/exception.h"

#include "base/error.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/host.h"
#include "gc/domains/roots.h"
#include <winnow/memprof.h>

void exception_drop(wn_domain *domain) { domain->exception = (struct gc_exception){.value = wn_int(0)}; }

/* Takes the exception as a handle. If there is no slot for a handle, returns a null handle, and the
 * exception is still pending. Callbacks that waited for the exception are pending again. */
static wn_ref exception_take(wn_domain *domain) {
  if (!roots_have_slots(domain, 1)) return (wn_ref){NULL};
  wn_ref ref = wn_root(domain, domain->exception.value);
  exception_drop(domain);
  domain_add_pending(domain, PENDING_ANY);
  return ref;
}

bool exception_outlives(struct domain_thread *thread) {
  struct wn_domain *domain = thread->domain;
  struct gc_exception *exception = &domain->exception;
  if (!exception->pending || exception->raiser != thread) return !exception->pending;
  exception->raiser = NULL;
  if (!domain->heap->hooks.raise) return false;
  exception_drop(domain);
  domain_add_pending(domain, PENDING_ANY);
  return true;
}

/* The hook need not return, so nothing that must be done comes after it. No WN_SCOPE: see run_one
 * of finaliser.c. */
static void hand_to_hook(wn_domain *domain) {
  const wn_heap_hooks *hooks = &domain->heap->hooks;
  wn_scope scope = wn_scope_enter(domain);
  wn_ref ref = exception_take(domain);
  if (!wn_is_null(ref)) hooks->raise(domain, ref, hooks->context);
  wn_scope_leave(&scope);
}

wn_status exception_leave(wn_domain *domain) {
  struct domain_thread *thread = domain->running;
  bool may_leave = domain->heap->hooks.raise && domain->exception.raiser == thread && !thread->callbacks &&
                   !host_in_callback(thread);
  if (may_leave && thread->over)
    exception_outlives(thread);
  else if (may_leave)
    hand_to_hook(domain);
  return error_set(WN_EBUSY, "a callback raised an exception");
}

/* ---- public ---- */

/* Only the first exception counts, since the callback should have returned after it. */
void wn_raise(wn_domain *domain, wn_ref raised) {
  if (wn_is_null(raised) || caller_check(domain, "raise") || exception_is_pending(domain)) return;
  debug_check_given(domain, raised, "wn_raise");
  domain->exception =
      (struct gc_exception){.pending = true, .value = *raised.slot, .raiser = domain->running};
  domain_add_pending(domain, PENDING_ANY);
}

wn_ref wn_take_exception(wn_domain *domain) {
  return !caller_check(domain, "take exception") && exception_is_pending(domain) ? exception_take(domain)
                                                                                 : (wn_ref){NULL};
}
/* SPDX-License-Identifier: MIT */
