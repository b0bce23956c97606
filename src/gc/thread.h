/* Threads of domains: who the calling thread is, beginning and ending to run, and ending for good.
 *
 * A system thread may be in domains of several heaps, and in several of one if it is blocked in all but one; it has a list of
 * them, the innermost first. The slots' top lives in the domain's face while a thread runs, and in the thread while not.
 *
 * ENDS. A thread may end anywhere in user code: its body returns, or it calls pthread_exit, in a callback, in a hook, in a
 * blocking section. Then it *stops*: it comes back from its blocking section, is in no callback any more, and its
 * handles die. After that its last callbacks run, unless it is one of those that ended it; then it leaves. What is raised now
 * nobody can catch (exception.h). */
#ifndef GC_THREAD_H
#define GC_THREAD_H

#include "gc/domain.h"

/* The innermost of the domains' threads that the calling system thread is. */
extern _Thread_local struct gc_thread *thread_innermost;

/* The domain in which the calling system thread ran last, if it still does: a hint that knows one of them, for caller.h. */
enum { THREAD_NOWHERE = 1 };
extern _Thread_local uintptr_t thread_runs_in;

/* The calling thread in this domain: nothing is read through the pointer. NULL if it is in none. */
static inline struct gc_thread *thread_in(const struct wn_domain *domain) {
  struct gc_thread *thread = thread_innermost;
  while (thread && thread->domain != domain) thread = thread->outer;
  return thread;
}

/* The same in the domain of this heap in which it runs; and in the domain whose slot this is. */
struct gc_thread *thread_in_heap(const struct wn_heap *heap);
struct gc_thread *thread_with(const wn_value *slot);

/* The thread is the domain's at once, though it may have to wait for its first turn. The domain is running, or nobody knows
 * it yet. NULL if there is no memory. */
struct gc_thread *thread_create(struct wn_domain *domain);
/* It is the domain's no more; the domain is running, or nobody knows it. */
void thread_unlink(struct gc_thread *thread);
void thread_destroy(struct gc_thread *thread);

/* The calling system thread is this thread of the domain from now on; and is not. */
void thread_enter(struct gc_thread *thread);
void thread_leave(struct gc_thread *thread);

/* The thread, whose turn it is, begins to run in its domain, which is blocked; for the first time; ceases to run. */
void thread_run(struct gc_thread *thread);
void thread_run_first(struct gc_thread *thread);
void thread_pause(struct gc_thread *thread);

/* ENDS. Harmless if it has stopped. */
void thread_stop(struct gc_thread *thread);

#endif
/* SPDX-License-Identifier: MIT */
