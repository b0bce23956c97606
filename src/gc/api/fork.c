/* The handlers of forks. */
#include "gc/api/fork.h"

#include "callstack/capture.h"
#include "gc/api/attach.h"
#include "gc/api/open.h"
#include "gc/api/spawn.h"
#include "gc/api/trace.h"
#include "gc/collect/budget.h"
#include "gc/collect/collector.h"
#include "gc/domains/debug.h"
#include "gc/domains/host.h"
#include "gc/domains/process.h"
#include "gc/domains/safepoint.h"
#include "gc/domains/thread.h"
#include "gc/events/hooks.h"
#include <pthread.h>
#include <signal.h>

/* ---- locks ---- */

struct ranked {
  enum lock_rank rank;
  struct lock *lock; /* NULL: there is none */
};

/* All locks of a heap but `world`, in the order of their ranks. A thread that runs in no domain can
 * hold one though the world is stopped. */
static void find_locks(struct wn_heap *heap, struct ranked locks[HEAP_LOCKS]) {
  struct collector *collector = heap->collector;
  struct callstacks *callstacks = heap->callstacks_in_fork;
  const struct ranked own[] = {
      {LOCK_RANK_FINALISERS, &collector->finalisers.lock},
      {LOCK_RANK_GLOBALS, &collector->globals.lock},
      {LOCK_RANK_WEAK, &collector->weak.lock},
      {LOCK_RANK_PINS, &collector->pins.lock},
      {LOCK_RANK_IDENTITIES, &collector->identities.lock},
      {LOCK_RANK_MARK, &collector->marking.lock},
      {LOCK_RANK_POOLS, &heap->store.pools.lock},
      {LOCK_RANK_MEDIUM, &heap->store.medium.lock},
      {LOCK_RANK_CHUNKS, &heap->store.chunks.lock},
  };
  for (unsigned i = 0; i < sizeof own / sizeof *own; i++) *locks++ = own[i];
  for (unsigned i = 0; i < MEMPROF_LOCKS; i++)
    *locks++ = (struct ranked){i ? LOCK_RANK_TRACKED : LOCK_RANK_ORPHANS, memprof_lock(&heap->engine, i)};
  *locks = (struct ranked){LOCK_RANK_PLACES, callstacks ? callstacks_places_lock(callstacks) : NULL};
}

/* Rank by rank: ranks must not fall from one heap to the next. */
static void take_locks(void) {
  struct ranked locks[HEAP_LOCKS];
  for (unsigned i = 0; i < HEAP_LOCKS; i++)
    for (struct wn_heap *heap = heaps_open(); heap; heap = heap->next_open) {
      find_locks(heap, locks);
      if (locks[i].lock) lock_before_fork(locks[i].lock, locks[i].rank, &heap->locks_in_fork[i]);
    }
}

static void give_locks_of(struct wn_heap *heap) {
  struct ranked locks[HEAP_LOCKS];
  find_locks(heap, locks);
  for (unsigned i = HEAP_LOCKS; i--;)
    if (locks[i].lock) lock_after_fork(locks[i].lock, locks[i].rank, &heap->locks_in_fork[i]);
}

/* ---- around the fork ---- */

/* Of the thread that forks. A signal handler cannot fork in between: all signals are blocked. */
static _Thread_local struct {
  bool prepared;
  sigset_t mask;
} under_way;

static struct wn_domain *own_of(const struct wn_heap *heap) {
  struct domain_thread *thread = thread_in_heap(heap);
  return thread ? thread->domain : NULL;
}

static void fork_before_fork(void) {
  sigset_t all, mask;
  if (hooks_running || !process_may_acquire()) return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  under_way.mask = mask;
  under_way.prepared = true;
  process_acquire();
  for (struct wn_heap *heap = heaps_open(); heap; heap = heap->next_open)
    world_stop_for_fork(heap, own_of(heap), &heap->world_in_fork);
  for (struct wn_heap *heap = heaps_open(); heap; heap = heap->next_open) helpers_pause(heap);
  for (struct wn_heap *heap = heaps_open(); heap; heap = heap->next_open) {
    heap->callstacks_in_fork = atomic_load(&heap->callstacks);
    memprof_before_fork(&heap->engine);
  }
  take_locks();
  if (CHECKS) debug_before_fork();
}

static void fork_release(struct wn_heap *heap) {
  give_locks_of(heap);
  memprof_after_fork(&heap->engine);
  helpers_resume(heap);
  world_release_after_fork(heap, own_of(heap), &heap->world_in_fork);
}

/* ---- CHILD ---- */

static bool is_mine(const struct domain_thread *thread) {
  struct domain_thread *mine = thread_innermost;
  while (mine && mine != thread) mine = mine->outer;
  return mine != NULL;
}

static void lose_thread(struct domain_thread *thread) {
  struct wn_domain *domain = thread->domain;
  finalisers_abandon(thread);
  host_thread_is_lost(thread);
  exception_outlives(thread);
  if (domain->running == thread) domain->running = NULL;
  thread_unlink(thread);
  thread_destroy(thread);
}

/* Returns the thread that is left; NULL if there is none. */
static struct domain_thread *lose_other_threads(struct wn_domain *domain) {
  struct domain_thread *left = NULL;
  for (struct domain_thread *thread = domain->threads, *next; thread; thread = next) {
    next = thread->next;
    if (is_mine(thread))
      left = thread;
    else
      lose_thread(thread);
  }
  return left;
}

static void lose_domain(struct wn_domain *domain) {
  domain->lost = true;
  domain->collector->finalisers.awaited = false; /* none can join it */
  atomic_fetch_add(&domain->heap->lost, 1);
}

/* A domain that was `forking` in another thread still has the state of a running one. Returns
 * whether the calling thread runs in the domain. */
static bool keep_domain(struct wn_domain *domain) {
  struct domain_thread *left = lose_other_threads(domain);
  bool runs = left && !left->blocked;
  if (!runs) {
    atomic_store(&domain->state, DOMAIN_BLOCKED);
    atomic_store(&domain->forking, false);
  }
  domain->awake = runs;
  atomic_store(&domain->others, left && left->spawned);
  turn_lose_waiters(domain, runs);
  atomic_store(&domain->heap->processor_of[domain->index], 0);
  mark_give_all(domain->heap, domain_marker(domain));
  if (!left) lose_domain(domain);
  return runs;
}

static void in_child_of(struct wn_heap *heap) {
  struct callstacks *callstacks = atomic_load(&heap->callstacks);
  unsigned awake = 0;
  if (callstacks) callstacks_fork_child(callstacks);
  helpers_lose(heap);
  minor_lose_workers(heap);
  compact_lose_workers(heap);
  chunks_lose_threads(&heap->store.chunks);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    awake += keep_domain(domain);
  atomic_store(&heap->awake, awake);
  trace_forget_all(heap);
}

static void after_fork(bool child) {
  if (!under_way.prepared) return;
  if (CHECKS) debug_after_fork();
  for (struct wn_heap *heap = heaps_open(); heap; heap = heap->next_open) fork_release(heap);
  if (child) {
    for (struct wn_heap *heap = heaps_open(); heap; heap = heap->next_open) in_child_of(heap);
    joins_lose_threads();
    budget_begin();
  }
  process_release();
  under_way.prepared = false;
  pthread_sigmask(SIG_SETMASK, &under_way.mask, NULL);
}

static void fork_in_parent(void) { after_fork(false); }
static void fork_in_child(void) { after_fork(true); }

static void fork_handle(void) { pthread_atfork(fork_before_fork, fork_in_parent, fork_in_child); }

/* ---- shared ---- */

void fork_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fork_handle);
}
/* SPDX-License-Identifier: MIT */
