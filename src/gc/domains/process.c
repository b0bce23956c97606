/* Around the lock: which domains the calling thread runs in. */
#include "gc/domains/process.h"

#include "gc/domains/safepoint.h"
#include "gc/domains/thread.h"

static struct lock process;

void process_acquire(void) {
  for (struct domain_thread *thread = thread_innermost; thread; thread = thread->outer)
    if (!thread->blocked) domain_begin_fork(thread->domain);
  lock_acquire(&process, LOCK_RANK_PROCESS);
}

/* The lock is released last: the next thread that forks must not take this one for stopped. */
void process_release(void) {
  for (struct domain_thread *thread = thread_innermost; thread; thread = thread->outer)
    if (!thread->blocked) domain_end_fork(thread->domain);
  lock_release(&process, LOCK_RANK_PROCESS);
}

bool process_may_acquire(void) { return !lock_must_not_wait(LOCK_RANK_PROCESS); }
/* SPDX-License-Identifier: MIT */
