/* Creating threads of domains, and letting them run. */
#include "gc/domains/thread.h"

#include "base/metadata.h"
#include "gc/domains/host.h"
#include "gc/domains/roots.h"
#include "gc/domains/safepoint.h"

_Thread_local struct domain_thread *thread_innermost;
_Thread_local uintptr_t thread_runs_in = THREAD_NOWHERE;

struct domain_thread *thread_in_heap(const struct wn_heap *heap) {
  struct domain_thread *thread = thread_innermost;
  while (thread && (thread->domain->heap != heap || thread->blocked)) thread = thread->outer;
  return thread;
}

struct domain_thread *thread_with(const wn_value *slot) {
  struct domain_thread *thread = thread_innermost;
  while (thread && (slot < thread->slots || slot >= thread->slots_end)) thread = thread->outer;
  return thread;
}

struct domain_thread *thread_create(struct wn_domain *domain) {
  struct domain_thread *thread = metadata_map(sizeof *thread);
  if (!thread || !roots_create_slots(thread, domain->heap)) {
    metadata_unmap(thread, sizeof *thread);
    return NULL;
  }
  thread->domain = domain;
  thread->next = domain->threads;
  domain->threads = thread;
  return thread;
}

void thread_unlink(struct domain_thread *thread) {
  struct domain_thread **link = &thread->domain->threads;
  while (*link != thread) link = &(*link)->next;
  *link = thread->next;
}

void thread_destroy(struct domain_thread *thread) {
  roots_destroy_slots(thread);
  metadata_unmap(thread, sizeof *thread);
}

void thread_enter(struct domain_thread *thread) {
  thread->outer = thread_innermost;
  thread_innermost = thread;
}

void thread_leave(struct domain_thread *thread) {
  struct domain_thread **link;
  thread_unlink(thread);
  for (link = &thread_innermost; *link && *link != thread;) link = &(*link)->outer;
  if (*link) *link = thread->outer;
}

static void take_context(struct domain_thread *thread) {
  struct wn_domain *domain = thread->domain;
  domain_unblock(domain);
  domain->running = thread;
  thread->blocked = false;
  thread_runs_in = (uintptr_t)domain;
  domain->context.top = thread->top;
  domain->context.top_end = thread->accessible_end;
}

void thread_run(struct domain_thread *thread) {
  take_context(thread);
  host_thread_runs(thread);
}

void thread_run_first(struct domain_thread *thread) {
  thread_enter(thread);
  take_context(thread);
  host_thread_begins(thread);
}

void thread_pause(struct domain_thread *thread) {
  struct wn_domain *domain = thread->domain;
  host_thread_pauses(thread);
  thread->top = domain->context.top;
  thread->blocked = true;
  thread_runs_in = THREAD_NOWHERE;
  domain->running = NULL;
  domain_block(domain);
}
/* SPDX-License-Identifier: MIT */
