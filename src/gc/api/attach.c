/* Attaching and detaching domains.
 *
 * A system thread that ends while it is in domains that it attached takes them with it: no other
 * thread could end them, and all collections would wait for a domain that seems to run. It calls
 * nothing of the program then, which may already have destroyed what its callbacks need. */
#include "gc/api/attach.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/api/open.h"
#include "gc/collect/collector.h"
#include "gc/collect/ending.h"
#include "gc/collect/nursery.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/host.h"
#include <pthread.h>

/* ---- system threads that end ---- */

static pthread_key_t ends;
static bool ends_are_seen;

static void end_all(void *unused) {
  (void)unused;
  while (thread_innermost) domain_give_up(thread_innermost);
}

static void prepare_ends(void) { ends_are_seen = !pthread_key_create(&ends, end_all); }

/* From now on the end of the calling system thread ends its domains, too. */
static void end_with_thread(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare_ends);
  if (ends_are_seen) pthread_setspecific(ends, &ends);
}

/* ---- domains ---- */

struct whole_domain {
  struct wn_domain domain;
  struct domain_collector collector;
};

static struct wn_domain *attach_create(wn_heap *heap) {
  struct whole_domain *whole = (struct whole_domain *)ending_take_memory();
  if (!whole) whole = metadata_map(sizeof *whole);
  if (!whole) return NULL;
  *whole = (struct whole_domain){.domain = {.heap = heap, .collector = &whole->collector}};
  struct wn_domain *domain = &whole->domain;
  domain->context.young_base = heap->young_base;
  domain->context.young_span = heap->young_span;
  atomic_store(&domain->state, DOMAIN_BLOCKED);
  turn_begin(domain);
  return domain;
}

static unsigned free_slot(const wn_heap *heap) {
  unsigned index = 0;
  while (index < heap->domains_most && heap->domains[index]) index++;
  return index;
}

static void attach_place(wn_heap *heap, struct wn_domain *domain) {
  heap->domains[domain->index] = domain;
  heap->domain_count++;
  if (heap->domains_end <= domain->index) heap->domains_end = domain->index + 1;
  nursery_secure(heap);
}

/* The lock is held. A domain is refused if RESERVE of chunk.h cannot be kept with it: other domains
 * would run out of memory. */
static wn_status enrol_locked(wn_heap *heap, struct wn_domain *domain) {
  domain->index = free_slot(heap);
  if (domain->index == heap->domains_most)
    return error_set(
        WN_ELIMIT,
        "attach: the heap has %u domains already, as many as the parameter domains, or the address "
        "space (ulimit -v) when it was opened, has room for",
        heap->domains_most);
  if (!nursery_place(domain, atomic_load(&heap->minor_words)))
    return error_set(WN_ENOMEM, "attach: no memory for a minor heap");
  domain->number = heap->domain_sequence++;
  random_seed(&domain->random, heap->seed, 0, domain->number);
  attach_place(heap, domain);
  if (!atomic_load(&heap->starved)) {
    event_point(&heap->events, EVENT_DOMAIN_BEGINS, domain);
    return WN_OK;
  }
  ending_displace(domain);
  nursery_secure(heap);
  return error_set(WN_ENOMEM, "attach: no memory for what a minor heap may leave behind");
}

/* Adds the domain to the heap. The lock keeps leaders from stopping the world meanwhile. */
static wn_status attach_enrol(wn_heap *heap, struct wn_domain *domain) {
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  wn_status status = enrol_locked(heap, domain);
  lock_release(&heap->world, LOCK_RANK_WORLD);
  return status;
}

wn_status domain_attach(wn_heap *heap, struct wn_domain *parent, wn_domain **out) {
  struct wn_domain *domain = attach_create(heap);
  struct domain_thread *thread = domain ? thread_create(domain) : NULL;
  if (!thread) {
    if (domain) ending_destroy(domain);
    return error_set(WN_ENOMEM, "attach: no memory for a domain");
  }
  host_domain_begins(domain, parent);
  wn_status status = attach_enrol(heap, domain);
  if (status) {
    host_domain_ends(domain);
    thread_destroy(thread);
    ending_destroy(domain);
    return status;
  }
  /* No handles yet, so a collection that comes now finds nothing here. */
  thread_run_first(thread);
  end_with_thread();
  *out = domain;
  return WN_OK;
}

static wn_status check_detach(const wn_domain *domain) {
  const struct domain_thread *thread = thread_in(domain);
  if (!thread || domain->running != thread)
    return error_set(WN_ESTATE, "detach: the calling thread does not run in the domain");
  if (thread->callbacks || host_in_callback(thread))
    return error_set(WN_ESTATE, "detach: called by a callback");
  return WN_OK;
}

static wn_status check_alone(const struct domain_thread *thread) {
  if (atomic_load(&thread->domain->others))
    return error_set(WN_EBUSY, "detach: the domain has other threads");
  return WN_OK;
}

/* No callback runs in the domain any more. The calling thread is its last one, and runs. */
static void attach_end(struct wn_domain *domain) {
  wn_heap *heap = domain->heap;
  struct domain_thread *thread = domain->running;
  domain->context.top = thread->slots; /* its handles die */
  while (ending_has_young(domain)) major_collect(domain, COLLECT_MINOR, STOP_DOMAIN_ENDS);
  thread_pause(thread);
  DEBUG_STEP(heap);
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  ending_bequeath(domain);
  lock_release(&heap->world, LOCK_RANK_WORLD);
  thread_leave(thread);
  thread_destroy(thread);
  ending_destroy(domain);
}

/* ---- shared ---- */

void thread_stop(struct domain_thread *thread) {
  struct wn_domain *domain = thread->domain;
  if (thread->blocking) {
    turn_take(domain);
    thread->blocking = false;
    thread_run(thread);
  }
  thread->over = true;
  thread->callbacks = 0;
  domain->context.top = thread->slots;
  finalisers_abandon(thread);
  host_thread_stops(thread);
}

void domain_give_up(struct domain_thread *thread) {
  struct wn_domain *domain = thread->domain;
  thread_stop(thread);
  domain_await_others(domain);
  host_thread_leaves(thread);
  attach_end(domain);
}

/* The calling thread takes over one of them. The collection that ends it ends the others. */
void domain_end_lost(struct wn_heap *heap) {
  struct domain_thread *thread = NULL;
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  struct wn_domain *domain = domain_first(heap);
  while (domain && !domain->lost) domain = domain_next(domain);
  if (domain && (thread = thread_create(domain))) {
    domain->lost = false;
    atomic_fetch_sub(&heap->lost, 1);
  }
  lock_release(&heap->world, LOCK_RANK_WORLD);
  if (!thread) return;
  turn_take(domain);
  thread_run_first(thread);
  host_thread_leaves(thread);
  do major_collect(domain, COLLECT_MINOR, STOP_DOMAIN_ENDS);
  while (atomic_load(&heap->lost));
  attach_end(domain);
}

/* ---- public ---- */

wn_status wn_domain_attach(wn_heap *heap, wn_domain **domain) {
  if (!heap || !domain) return error_set(WN_EINVAL, "attach: an argument is NULL");
  if (!heap_is_open(heap)) return error_set(WN_EINVAL, "attach: it is no heap, or was closed");
  /* The thread would wait for itself: its first domain could not be stopped meanwhile. */
  if (thread_in_heap(heap))
    return error_set(WN_ESTATE, "attach: the calling thread is in a domain of this heap already");
  wn_status status = domain_attach(heap, NULL, domain);
  if (!status || !atomic_load(&heap->lost)) return status;
  domain_end_lost(heap); /* they have what the new domain needs */
  return domain_attach(heap, NULL, domain);
}

wn_status wn_domain_detach(wn_domain *domain) {
  if (!domain) return error_set(WN_EINVAL, "detach: the domain is NULL");
  wn_status status = check_detach(domain);
  if (!status) status = check_alone(domain->running);
  if (status) return status;
  struct domain_thread *thread = domain->running;
  finalisers_run_pending(domain);
  if ((status = check_alone(thread))) return status; /* callbacks may have spawned threads */
  host_thread_finishes(thread);
  host_thread_leaves(thread);
  if ((status = check_alone(thread))) { /* a callback spawned a thread: the domain goes on */
    host_thread_begins(thread);
    return status;
  }
  attach_end(domain);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
