/* Domains: beginning, ending, blocking sections.
 *
 * One thread of a domain runs: it has the domain's *turn* (turn.h), which blocking sections give back.
 *
 * A system thread that ends while it is in domains that it attached takes them with it: as nobody else could end them, and all
 * collections would wait for one that looks as if it ran. It calls nothing then: callbacks are the program's, which may have taken
 * apart what they need. */
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
#include "gc/thread.h"
#include <pthread.h>

enum { ENDED_MOST = 8 };

/* ---- system threads that end ---- */

static pthread_key_t ends;
static bool ends_are_seen;

static void end_all(void *unused) {
  (void)unused;
  while (thread_innermost) domain_give_up(thread_innermost);
}

static void prepare_ends(void) { ends_are_seen = !pthread_key_create(&ends, end_all); }

/* From now on the end of the calling system thread is one of its domains, too. */
static void end_with_thread(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare_ends);
  if (ends_are_seen) pthread_setspecific(ends, &ends);
}

/* ---- domains ---- */

/* ENDED. The memory of a domain that ended stays one, of no heap, and what inlined functions read of it leads them to their slow
 * halves: no allocation is above its limit, no slot is free, no block is young. Those refuse it. It is used again only after
 * some others have ended: until then whoever still has the pointer is told so. */
static struct {
  struct lock lock; /* rank HEAPS */
  struct wn_domain *first, *last;
  unsigned count;
} ended;

static void remember_ended(struct wn_domain *domain) {
  *domain = (struct wn_domain){.face.young_limit = (char *)UINTPTR_MAX, .number = UINT64_MAX};
  lock_acquire(&ended.lock, LOCK_RANK_HEAPS);
  *(ended.last ? &ended.last->next_ended : &ended.first) = domain;
  ended.last = domain;
  ended.count++;
  lock_release(&ended.lock, LOCK_RANK_HEAPS);
}

static struct wn_domain *take_ended(void) {
  struct wn_domain *domain = NULL;
  lock_acquire(&ended.lock, LOCK_RANK_HEAPS);
  if (ended.count > ENDED_MOST) {
    domain = ended.first;
    ended.first = domain->next_ended;
    ended.count--;
  }
  lock_release(&ended.lock, LOCK_RANK_HEAPS);
  return domain;
}

static void destroy(struct wn_domain *domain) {
  remembered_destroy(&domain->remembered);
  marker_destroy(&domain->marker);
  metadata_unmap(domain->customs, domain->custom_capacity * sizeof *domain->customs);
  finalisers_destroy_domain(domain);
  remember_ended(domain);
}

static struct wn_domain *create(wn_heap *heap) {
  struct wn_domain *domain = take_ended();
  if (!domain) domain = metadata_map(sizeof *domain);
  if (!domain) return NULL;
  *domain = (struct wn_domain){.heap = heap};
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
  if (heap->domains_end <= domain->index) heap->domains_end = domain->index + 1;
  nursery_secure(heap);
}

static void displace(wn_heap *heap, struct wn_domain *domain) {
  heap->domains[domain->index] = NULL;
  heap->domain_count--;
  while (heap->domains_end && !heap->domains[heap->domains_end - 1]) heap->domains_end--;
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
  if (!atomic_load(&heap->starved)) {
    event_point(&heap->events, EVENT_DOMAIN_BEGINS, domain);
    return WN_OK;
  }
  displace(heap, domain);
  nursery_secure(heap);
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
  event_point(&heap->events, EVENT_DOMAIN_ENDS, domain);
  displace(heap, domain);
}

wn_status domain_attach(wn_heap *heap, struct wn_domain *parent, wn_domain **out) {
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
  thread_run_first(thread);
  end_with_thread();
  *out = domain;
  return WN_OK;
}

static wn_status check_detach(const wn_domain *domain) {
  const struct gc_thread *thread = thread_in(domain);
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

/* Everything is over but the domain: no callback runs any more. Its thread is alone, and runs. */
static void end(struct wn_domain *domain) {
  wn_heap *heap = domain->heap;
  struct gc_thread *thread = domain->running;
  domain->face.top = thread->slots; /* its handles die */
  while (has_young_things(domain)) major_collect(domain, COLLECT_MINOR, STOP_DOMAIN_ENDS);
  thread_pause(thread);
  DEBUG_STEP(heap);
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  bequeath(heap, domain);
  lock_release(&heap->world, LOCK_RANK_WORLD);
  thread_leave(thread);
  thread_destroy(thread);
  destroy(domain);
}

/* ---- shared ---- */

void domain_reset_limit(struct wn_domain *domain) {
  __atomic_store_n(&domain->face.young_limit, nursery_limit(domain), __ATOMIC_SEQ_CST);
  if (world_is_stopping(domain->heap) || turn_is_asked_for(&domain->turn)) domain_raise_limit(domain);
}

void domain_yield(struct wn_domain *domain) {
  struct gc_thread *thread = domain->running;
  thread_pause(thread);
  turn_yield(domain);
  thread_run(thread);
}

void domain_await_others(struct wn_domain *domain) {
  uint32_t left;
  wn_blocking_begin(domain);
  while ((left = atomic_load(&domain->others))) futex_wait(&domain->others, left);
  wn_blocking_end(domain);
}

void domain_give_up(struct gc_thread *thread) {
  struct wn_domain *domain = thread->domain;
  thread_stop(thread);
  domain_await_others(domain);
  host_thread_leaves(thread);
  end(domain);
}

wn_status wn_domain_attach(wn_heap *heap, wn_domain **domain) {
  if (!heap || !domain) return error_set(WN_EINVAL, "attach: an argument is NULL");
  if (!heap_is_open(heap)) return error_set(WN_EINVAL, "attach: it is no heap, or was closed");
  if (thread_in_heap(heap)) /* it would wait for itself: the first domain cannot be stopped meanwhile */
    return error_set(WN_ESTATE, "attach: the calling thread is in a domain of this heap already");
  return domain_attach(heap, NULL, domain);
}

wn_status wn_domain_detach(wn_domain *domain) {
  if (!domain) return error_set(WN_EINVAL, "detach: the domain is NULL");
  wn_status status = check_detach(domain);
  if (!status) status = check_alone(domain->running);
  if (status) return status;
  struct gc_thread *thread = domain->running;
  finalisers_run_due(domain);
  if ((status = check_alone(thread))) return status; /* they may have spawned threads */
  host_thread_finishes(thread);
  host_thread_leaves(thread);
  if ((status = check_alone(thread))) { /* a callback began another: the domain goes on */
    host_thread_begins(thread);
    return status;
  }
  end(domain);
  return WN_OK;
}

/* These two are asked by other threads, too: what can be told of a domain is that it has ended. */
static bool has_ended(const wn_domain *domain, const char *what) {
  if (domain && domain->heap) return false;
  error_set(WN_EINVAL, "%s: the domain %s", what, domain ? "has ended" : "is NULL");
  return true;
}

uint64_t wn_domain_number(const wn_domain *domain) {
  return has_ended(domain, "domain number") ? UINT64_MAX : domain->number;
}

void *wn_domain_data(const wn_domain *domain) {
  return has_ended(domain, "domain data") ? NULL : domain->data;
}

void wn_domain_set_data(wn_domain *domain, void *data) {
  DEBUG_DOMAIN(domain);
  if (caller_may(domain, "domain data")) domain->data = data;
}

void wn_blocking_begin(wn_domain *domain) {
  DEBUG_DOMAIN(domain);
  if (caller_check(domain, "blocking begin")) return;
  domain->running->blocking = true;
  thread_pause(domain->running);
  turn_give(domain);
}

void wn_blocking_end(wn_domain *domain) {
  struct gc_thread *thread = thread_in(domain);
  bool blocking = thread && thread->blocking;
  if (CHECKS && !blocking)
    debug_complain(__func__, "the calling thread is in no blocking section of the domain");
  if (!blocking) {
    error_set(WN_ESTATE, "blocking end: the calling thread is in no blocking section of the domain");
    return;
  }
  turn_take(domain);
  thread->blocking = false;
  thread_run(thread);
}

void wn_thread_yield(wn_domain *domain) {
  DEBUG_DOMAIN(domain);
  if (caller_check(domain, "yield")) return;
  wn_poll_slow(domain);
  if (turn_is_waited_for(&domain->turn)) domain_yield(domain);
}

/* SPDX-License-Identifier: MIT */
