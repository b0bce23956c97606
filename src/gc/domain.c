/* Domains and their threads: beginning, ending, taking turns.
 *
 * One thread of a domain runs: it has the domain's *turn* (turn.h), which blocking sections give back. The slots' top lives in
 * the domain's face while a thread runs, and in the thread while it does not. */
#include "gc/domain.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/caller.h"
#include "gc/debug.h"
#include "gc/futex.h"
#include "gc/gc_host.h"
#include "gc/major.h"
#include "gc/minor.h"
#include "gc/nursery.h"
#include "gc/safepoint.h"
#include <pthread.h>
#include <string.h>

/* The innermost of the domains' threads that this system thread is. */
static _Thread_local struct gc_thread *innermost;

/* ---- turns ---- */

/* The thread, whose turn it is, begins to run in its domain, which is blocked. */
static void run(struct wn_domain *domain, struct gc_thread *thread) {
  domain_unblock(domain);
  domain->running = thread;
  thread->blocked = false;
  domain->face.top = thread->top;
  domain->face.top_end = thread->accessible_end;
  host_thread_runs(thread);
}

static void pause_thread(struct wn_domain *domain) {
  host_thread_pauses(domain->running);
  domain->running->top = domain->face.top;
  domain->running->blocked = true;
  domain->running = NULL;
  domain_block(domain);
}

/* ---- threads ---- */

/* The thread is the domain's at once, though it may have to wait for its first turn. The domain is running, or nobody knows
 * it yet. */
static struct gc_thread *thread_create(struct wn_domain *domain) {
  struct gc_thread *thread = metadata_map(sizeof *thread);
  if (!thread || !roots_create_slots(thread, domain->heap)) {
    metadata_unmap(thread, sizeof *thread);
    return NULL;
  }
  thread->domain = domain;
  thread->next = domain->threads;
  domain->threads = thread;
  return thread;
}

static void thread_unlink(struct gc_thread *thread) {
  struct gc_thread **link = &thread->domain->threads;
  while (*link != thread) link = &(*link)->next;
  *link = thread->next;
}

/* It is the domain's no more. */
static void thread_destroy(struct gc_thread *thread) {
  roots_destroy_slots(thread);
  metadata_unmap(thread, sizeof *thread);
}

/* The calling system thread is this thread of the domain from now on. */
static void thread_enter(struct gc_thread *thread) {
  thread->outer = innermost;
  innermost = thread;
}

static void thread_leave(struct gc_thread *thread) {
  struct gc_thread **link;
  thread_unlink(thread);
  for (link = &innermost; *link && *link != thread;) link = &(*link)->outer;
  if (*link) *link = thread->outer;
}

struct gc_thread *domain_thread_with(const wn_value *slot) {
  struct gc_thread *thread = innermost;
  while (thread && (slot < thread->slots || slot >= thread->slots_end)) thread = thread->outer;
  return thread;
}

struct gc_thread *domain_thread(const struct wn_domain *domain) {
  struct gc_thread *thread = innermost;
  while (thread && thread->domain != domain) thread = thread->outer;
  return thread;
}

struct gc_thread *domain_thread_of_heap(const struct wn_heap *heap) {
  struct gc_thread *thread = innermost;
  while (thread && (thread->domain->heap != heap || thread->blocked)) thread = thread->outer;
  return thread;
}

/* ---- domains ---- */

static void destroy(struct wn_domain *domain) {
  remembered_destroy(&domain->remembered);
  marker_destroy(&domain->marker);
  metadata_unmap(domain->customs, domain->custom_capacity * sizeof *domain->customs);
  finalisers_destroy_domain(domain);
  metadata_unmap(domain, sizeof *domain);
}

static struct wn_domain *create(wn_heap *heap) {
  struct wn_domain *domain = metadata_map(sizeof *domain);
  if (!domain) return NULL;
  domain->heap = heap;
  domain->face.young_base = heap->young_base;
  domain->face.young_span = heap->young_span;
  atomic_store(&domain->state, DOMAIN_BLOCKED);
  turn_begin(domain);
  return domain;
}

static unsigned free_slot(const wn_heap *heap) {
  unsigned index = 0;
  while (index < DOMAINS_MOST && heap->domains[index]) index++;
  return index;
}

static void place(wn_heap *heap, struct wn_domain *domain) {
  heap->domains[domain->index] = domain;
  heap->domain_count++;
  nursery_secure(heap);
}

static void displace(wn_heap *heap, struct wn_domain *domain) {
  heap->domains[domain->index] = NULL;
  heap->domain_count--;
  nursery_secure(heap);
}

/* The lock is held. A domain for which RESERVE of chunk.h cannot be kept is refused: it is the others that would run out. */
static wn_status enrol_locked(wn_heap *heap, struct wn_domain *domain) {
  domain->index = free_slot(heap);
  if (domain->index == DOMAINS_MOST)
    return error_set(WN_ELIMIT, "attach: the heap has %d domains already", DOMAINS_MOST);
  if (!nursery_place(domain, atomic_load(&heap->minor_words)))
    return error_set(WN_ENOMEM, "attach: no memory for a minor heap");
  domain->number = heap->domain_sequence++;
  random_seed(&domain->random, heap->seed, 0, domain->number);
  place(heap, domain);
  if (!atomic_load(&heap->starved)) return WN_OK;
  displace(heap, domain);
  return error_set(WN_ENOMEM, "attach: no memory for what a minor heap may leave behind");
}

/* Makes the domain one of the heap's. The lock keeps the world from being stopped meanwhile. */
static wn_status enrol(wn_heap *heap, struct wn_domain *domain) {
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  wn_status status = enrol_locked(heap, domain);
  lock_release(&heap->world, LOCK_RANK_WORLD);
  return status;
}

/* What it did is the heap's from now on. The domain is blocked, the lock held, and its minor heap empty. */
static void bequeath(wn_heap *heap, struct wn_domain *domain) {
  heap->ended.minor_words += domain->minor_words;
  heap->ended.promoted_words += domain->promoted_words;
  heap->ended.major_words += domain->major_words;
  pools_flush(heap, domain->runs);
  mark_give_all(heap, &domain->marker);
  host_domain_ends(domain);
  finalisers_leave(domain);
  heap->domains[domain->index] = NULL;
  heap->domain_count--;
}

static wn_status attach(wn_heap *heap, struct wn_domain *parent, wn_domain **out) {
  struct wn_domain *domain = create(heap);
  struct gc_thread *thread = domain ? thread_create(domain) : NULL;
  if (!thread) {
    if (domain) destroy(domain);
    return error_set(WN_ENOMEM, "attach: no memory for a domain");
  }
  host_domain_begins(domain, parent);
  wn_status status = enrol(heap, domain);
  if (status) {
    host_domain_ends(domain);
    thread_destroy(thread);
    destroy(domain);
    return status;
  }
  /* No handles yet, so a collection that comes now finds nothing here. */
  domain_unblock(domain);
  thread_enter(thread);
  domain->running = thread;
  domain->face.top = thread->top;
  domain->face.top_end = thread->accessible_end;
  host_thread_begins(thread);
  *out = domain;
  return WN_OK;
}

static wn_status check_detach(const wn_domain *domain) {
  const struct gc_thread *thread = domain_thread(domain);
  if (!thread || domain->running != thread)
    return error_set(WN_ESTATE, "detach: the calling thread does not run in the domain");
  if (thread->callbacks || host_in_callback(thread))
    return error_set(WN_ESTATE, "detach: called by a callback");
  return WN_OK;
}

static wn_status check_alone(const struct gc_thread *thread) {
  if (atomic_load(&thread->domain->others))
    return error_set(WN_EBUSY, "detach: the domain has other threads");
  return WN_OK;
}

/* What only this domain can tell the next minor collection: it stored other domains' young blocks, too. */
static bool has_young_things(const struct wn_domain *domain) {
  const struct remembered *remembered = &domain->remembered;
  return domain_young_used(domain) || domain->custom_count || remembered->all ||
         remembered->at != remembered->begin || finalisers_have_young(domain);
}

/* ---- shared ---- */

void domain_reset_limit(struct wn_domain *domain) {
  __atomic_store_n(&domain->face.young_limit, nursery_limit(domain), __ATOMIC_SEQ_CST);
  if (world_is_stopping(domain->heap) || turn_is_asked_for(&domain->turn)) domain_raise_limit(domain);
}

void domain_yield(struct wn_domain *domain) {
  struct gc_thread *thread = domain->running;
  pause_thread(domain);
  turn_yield(domain);
  run(domain, thread);
}

void domain_set_due(struct wn_domain *domain) { __atomic_store_n(&domain->face.due, 1, __ATOMIC_SEQ_CST); }

wn_status wn_domain_attach(wn_heap *heap, wn_domain **domain) {
  if (!heap || !domain) return error_set(WN_EINVAL, "attach: an argument is NULL");
  if (!heap_is_open(heap)) return error_set(WN_EINVAL, "attach: it is no heap, or was closed");
  if (domain_thread_of_heap(
          heap)) /* it would wait for itself: the first domain cannot be stopped meanwhile */
    return error_set(WN_ESTATE, "attach: the calling thread is in a domain of this heap already");
  return attach(heap, NULL, domain);
}

wn_status wn_domain_detach(wn_domain *domain) {
  if (!domain) return error_set(WN_EINVAL, "detach: the domain is NULL");
  wn_status status = check_detach(domain);
  if (!status) status = check_alone(domain->running);
  if (status) return status;
  wn_heap *heap = domain->heap;
  struct gc_thread *thread = domain->running;
  finalisers_run_due(domain);
  if ((status = check_alone(thread))) return status; /* they may have spawned threads */
  host_thread_ends(thread);
  if ((status = check_alone(thread))) { /* a callback began another: the domain goes on */
    host_thread_begins(thread);
    return status;
  }
  domain->face.top = thread->slots; /* its handles die */
  while (has_young_things(domain)) major_collect(domain, COLLECT_MINOR);
  pause_thread(domain);
  DEBUG_STEP(heap);
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  bequeath(heap, domain);
  lock_release(&heap->world, LOCK_RANK_WORLD);
  thread_leave(thread);
  thread_destroy(thread);
  destroy(domain);
  return WN_OK;
}

uint64_t wn_domain_number(const wn_domain *domain) { return domain->number; }

void wn_domain_set_data(wn_domain *domain, void *data) {
  DEBUG_DOMAIN(domain);
  domain->data = data;
}

void *wn_domain_data(const wn_domain *domain) { return domain->data; }

void wn_blocking_begin(wn_domain *domain) {
  DEBUG_DOMAIN(domain);
  if (caller_check(domain, "blocking begin")) return;
  domain->running->blocking = true;
  pause_thread(domain);
  turn_give(domain);
}

void wn_blocking_end(wn_domain *domain) {
  struct gc_thread *thread = domain_thread(domain);
  bool blocking = thread && thread->blocking;
  if (CHECKS && !blocking)
    debug_complain(__func__, "the calling thread is in no blocking section of the domain");
  if (!blocking) {
    error_set(WN_ESTATE, "blocking end: the calling thread is in no blocking section of the domain");
    return;
  }
  turn_take(domain);
  thread->blocking = false;
  run(domain, thread);
}

void wn_thread_yield(wn_domain *domain) {
  DEBUG_DOMAIN(domain);
  if (caller_check(domain, "yield")) return;
  wn_poll_slow(domain);
  if (turn_is_waited_for(&domain->turn)) domain_yield(domain);
}

/* ---- spawning ---- */

struct wn_join {
  pthread_t thread;
  wn_heap *heap;
  wn_domain *parent;           /* waits until the domain has begun */
  struct gc_thread *of_domain; /* NULL: a domain of its own */
  wn_body *body;
  void *argument;
  wn_status status;
  uint64_t number;         /* of the domain */
  _Atomic(uint32_t) begun; /* futex: 1 once the thread has attached, or could not */
};

static void say_begun(struct wn_join *join, wn_status status) {
  join->status = status;
  atomic_store(&join->begun, 1);
  futex_wake(&join->begun, 1);
}

/* A body may leave threads of its domain running, and they may spawn others: the domain ends with the last of them. */
static void await_others(struct wn_domain *domain) {
  uint32_t left;
  wn_blocking_begin(domain);
  while ((left = atomic_load(&domain->others))) futex_wait(&domain->others, left);
  wn_blocking_end(domain);
}

static void *run_domain(void *argument) {
  struct wn_join *join = argument;
  wn_domain *domain;
  wn_status status = attach(join->heap, join->parent, &domain);
  if (!status) {
    domain->finalisers.awaited = true;
    join->number = domain->number;
  }
  say_begun(join, status);
  if (status) return NULL;
  join->body(domain, join->argument);
  while (wn_domain_detach(domain) == WN_EBUSY) await_others(domain);
  return NULL;
}

/* The domain may be gone as soon as the number says so: waking somebody looks at no memory. */
static void say_ended(struct wn_domain *domain) {
  atomic_fetch_sub(&domain->others, 1);
  futex_wake(&domain->others, 1);
}

static void *run_thread(void *argument) {
  struct wn_join *join = argument;
  struct gc_thread *thread = join->of_domain;
  struct wn_domain *domain = thread->domain;
  turn_take(domain);
  domain_unblock(domain);
  thread_enter(thread);
  domain->running = thread;
  domain->face.top = thread->top;
  domain->face.top_end = thread->accessible_end;
  host_thread_begins(thread);
  join->body(domain, join->argument);
  host_thread_ends(thread);
  domain->face.top = thread->slots;
  domain->running->top = domain->face.top;
  thread_leave(thread);
  domain->running = NULL;
  domain_block(domain);
  turn_give(domain);
  thread_destroy(thread);
  say_ended(domain);
  return NULL;
}

static struct wn_join *join_create(wn_domain *domain, wn_body *body, void *argument) {
  struct wn_join *join = metadata_map(sizeof *join);
  if (!join) return NULL;
  join->heap = domain->heap;
  join->parent = domain;
  join->body = body;
  join->argument = argument;
  if (CHECKS) debug_note_join(join);
  return join;
}

static wn_status start(wn_domain *domain, struct wn_join *join, void *(*main)(void *)) {
  if (pthread_create(&join->thread, NULL, main, join))
    return error_set(WN_ESYS, "spawn: the system has no thread");
  if (join->of_domain) return WN_OK;
  wn_blocking_begin(domain);
  while (!atomic_load(&join->begun)) futex_wait(&join->begun, 0);
  wn_blocking_end(domain);
  wn_status status = join->status;
  if (!status) return WN_OK;
  pthread_join(join->thread, NULL);
  return error_set(status, "spawn: the new domain could not attach");
}

static void join_destroy(struct wn_join *join) {
  if (CHECKS) debug_forget_join(join, "wn_join_wait");
  metadata_unmap(join, sizeof *join);
}

wn_status wn_domain_spawn(wn_domain *parent, wn_body *body, void *argument, wn_join **join) {
  if (!parent || !body || !join) return error_set(WN_EINVAL, "spawn: an argument is NULL");
  wn_status status = caller_check(parent, "spawn");
  if (status) return status;
  struct wn_join *made = join_create(parent, body, argument);
  if (!made) return error_set(WN_ENOMEM, "spawn: no memory");
  status = start(parent, made, run_domain);
  if (status)
    join_destroy(made);
  else
    *join = made;
  return status;
}

wn_status wn_thread_spawn(wn_domain *domain, wn_body *body, void *argument, wn_join **join) {
  if (!domain || !body || !join) return error_set(WN_EINVAL, "spawn: an argument is NULL");
  wn_status status = caller_check(domain, "spawn");
  if (status) return status;
  struct wn_join *made = join_create(domain, body, argument);
  if (made) made->of_domain = thread_create(domain);
  if (made && made->of_domain) atomic_fetch_add(&domain->others, 1);
  status =
      made && made->of_domain ? start(domain, made, run_thread) : error_set(WN_ENOMEM, "spawn: no memory");
  if (!status) {
    *join = made;
    return WN_OK;
  }
  if (made && made->of_domain) {
    thread_unlink(made->of_domain);
    thread_destroy(made->of_domain);
    say_ended(domain);
  }
  if (made) join_destroy(made);
  return status;
}

wn_status wn_join_wait(wn_domain *domain, wn_join *join) {
  if (!domain || !join) return error_set(WN_EINVAL, "join: an argument is NULL");
  wn_status status = caller_check(domain, "join");
  if (status) return status;
  if (CHECKS) debug_forget_join(join, __func__);
  wn_blocking_begin(domain);
  pthread_join(join->thread, NULL);
  wn_blocking_end(domain);
  if (!join->of_domain && join->heap == domain->heap) finalisers_inherit(domain, join->number);
  metadata_unmap(join, sizeof *join);
  wn_poll_slow(domain);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
