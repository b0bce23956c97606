/* Threads of domains: which of them the calling system thread is, and how a thread begins and
 * ceases to run.
 *
 * A system thread can be in domains of several heaps. It can be in several domains of one heap if
 * it is in a blocking section in all but one of them. It has a list of its domain threads, the
 * innermost first. The top of the handle slots is in the domain's context while a thread runs, and
 * in the thread while it does not. */
#ifndef GC_DOMAINS_THREAD_H
#define GC_DOMAINS_THREAD_H

#include "gc/domains/domain.h"

/* The innermost of the domain threads that the calling system thread is. */
extern _Thread_local struct domain_thread *thread_innermost;

/* The domain in which the calling system thread ran last, if it still runs there; else
 * THREAD_NOWHERE. A hint for caller.h: the thread may also run in a domain of another heap. */
enum { THREAD_NOWHERE = 1 };
extern _Thread_local uintptr_t thread_runs_in;

/* The calling system thread's domain thread in this domain; NULL if it has none. Nothing is read
 * through `domain`. */
static inline struct domain_thread *thread_in(const struct wn_domain *domain) {
  struct domain_thread *thread = thread_innermost;
  while (thread && thread->domain != domain) thread = thread->outer;
  return thread;
}

/* thread_in_heap: the same in the domain of this heap in which the system thread runs. thread_with:
 * the same in the domain that has this slot. */
struct domain_thread *thread_in_heap(const struct wn_heap *heap);
struct domain_thread *thread_with(const wn_value *slot);

/* Makes a thread of the domain. It belongs to the domain at once, though it may have to wait for
 * its first turn. The domain is running, or no other thread knows it yet. NULL if there is no
 * memory. */
struct domain_thread *thread_create(struct wn_domain *domain);
/* Takes the thread out of the domain. The domain is running, or no other thread knows it. */
void thread_unlink(struct domain_thread *thread);
void thread_destroy(struct domain_thread *thread);

/* thread_enter: from now on the calling system thread is this thread of the domain. thread_leave:
 * from now on it is not. */
void thread_enter(struct domain_thread *thread);
void thread_leave(struct domain_thread *thread);

/* thread_run: the thread has the turn, and begins to run in its domain, which is blocked.
 * thread_run_first: the same, for the first time. thread_pause: the thread ceases to run. */
void thread_run(struct domain_thread *thread);
void thread_run_first(struct domain_thread *thread);
void thread_pause(struct domain_thread *thread);

#endif
/* SPDX-License-Identifier: MIT */
