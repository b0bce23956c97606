/* Registries, and the calls of finalisers. */
#include "gc/collect/finaliser.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/host.h"
#include "gc/domains/roots.h"
#include <string.h>

enum { FIRST = TINY ? 2 : 128, RESERVED_CYCLES = 2, AHEAD = 16 };

/* A registration, or a pending call. The value of a pending `finalise_last` is 0. A call gets the
 * closure, or the context if that is 0. */
struct finaliser {
  wn_value value;
  union {
    wn_finaliser *finalise;
    wn_last_finaliser *finalise_last;
    wn_finaliser_with *finalise_with;
    wn_last_finaliser_with *finalise_last_with;
  } function;
  void *context;
  wn_value closure;
};

struct registrations {
  struct finaliser *entries;
  size_t count, capacity;
  size_t young; /* YOUNG: the first one that may be young */
};

struct registry {
  struct registrations first, last; /* `finalise` and `finalise_last` */
  struct {
    struct finaliser *ring;
    size_t begin, count, capacity; /* a power of two, or 0 */
  } pending;
  struct registry *next; /* in the list of inherited ones, or of orphans */
  /* Of an orphan: */
  uint64_t number;   /* of the domain that has ended */
  unsigned reserved; /* cycles for which it is kept for the domain that joins that one */
};

/* ---- memory ---- */

static bool grow_list(struct registrations *list, size_t wanted) {
  size_t capacity = list->capacity ? list->capacity : FIRST;
  while (capacity < wanted) capacity *= 2;
  if (capacity == list->capacity) return true;
  struct finaliser *entries = metadata_map(capacity * sizeof *entries);
  if (!entries) return false;
  if (list->count) memcpy(entries, list->entries, list->count * sizeof *entries);
  metadata_unmap(list->entries, list->capacity * sizeof *entries);
  list->entries = entries;
  list->capacity = capacity;
  return true;
}

static struct finaliser *pending_at(const struct registry *registry, size_t i) {
  return &registry->pending.ring[(registry->pending.begin + i) & (registry->pending.capacity - 1)];
}

static bool grow_pending(struct registry *registry, size_t wanted) {
  size_t capacity = registry->pending.capacity ? registry->pending.capacity : FIRST;
  while (capacity < wanted) capacity *= 2;
  if (capacity == registry->pending.capacity) return true;
  struct finaliser *ring = metadata_map(capacity * sizeof *ring);
  if (!ring) return false;
  for (size_t i = 0; i < registry->pending.count; i++) ring[i] = *pending_at(registry, i);
  metadata_unmap(registry->pending.ring, registry->pending.capacity * sizeof *ring);
  registry->pending.ring = ring;
  registry->pending.capacity = capacity;
  registry->pending.begin = 0;
  return true;
}

static size_t registry_size(const struct registry *registry) {
  return registry->first.count + registry->last.count + registry->pending.count;
}

static void registry_destroy(struct registry *registry) {
  if (!registry) return;
  metadata_unmap(registry->first.entries, registry->first.capacity * sizeof(struct finaliser));
  metadata_unmap(registry->last.entries, registry->last.capacity * sizeof(struct finaliser));
  metadata_unmap(registry->pending.ring, registry->pending.capacity * sizeof(struct finaliser));
  metadata_unmap(registry, sizeof *registry);
}

static void finaliser_destroy_list(struct registry *registry) {
  while (registry) {
    struct registry *next = registry->next;
    registry_destroy(registry);
    registry = next;
  }
}

/* ---- the queue ---- */

static void queue(struct registry *registry, struct finaliser finaliser) {
  ASSERT(registry->pending.count < registry->pending.capacity); /* ROOM */
  *pending_at(registry, registry->pending.count++) = finaliser;
}

/* The headers of old values are anywhere in memory: those of the next ones are on their way. A value
 * of 0 does no harm. */
static void fetch_header(const struct finaliser *finaliser) {
  __builtin_prefetch((const wn_value *)finaliser->value - 1);
}

/* ORDER. Queues the registrations from `from` on that `is_dead` finds. The others stay, in their
 * order. */
typedef bool death(struct wn_heap *heap, struct finaliser *finaliser);
static size_t queue_dead(struct wn_heap *heap, struct registry *registry, struct registrations *list,
                         size_t from, death *is_dead) {
  size_t kept = from, before = registry->pending.count;
  bool keeps_value = list == &registry->first;
  for (size_t i = list->count; i-- > from;) {
    struct finaliser *at = &list->entries[i];
    if (i >= AHEAD) fetch_header(at - AHEAD);
    if (!is_dead(heap, at)) continue;
    struct finaliser call = *at;
    if (!keeps_value) call.value = 0;
    queue(registry, call);
    at->value = 0;
  }
  if (registry->pending.count == before) return 0;
  for (size_t i = from; i < list->count; i++)
    if (list->entries[i].value) list->entries[kept++] = list->entries[i];
  list->count = kept;
  return registry->pending.count - before;
}

static bool finaliser_is_unmarked(struct wn_heap *heap, struct finaliser *finaliser) {
  return header_colour(header_of(finaliser->value)) != heap_live_colour(heap);
}

/* FATES of host.h. */
static bool is_dead_for_good(struct wn_heap *heap, struct finaliser *finaliser) {
  if (!finaliser_is_unmarked(heap, finaliser)) return false;
  if (block_is_tracked(finaliser->value)) host_found_dead(heap, finaliser->value);
  return true;
}

/* Updates the address of a value that did not die. */
static bool died_young(struct wn_heap *heap, struct finaliser *finaliser) {
  wn_value fate = heap_young_fate(heap, finaliser->value);
  if (fate) finaliser->value = fate;
  return !fate;
}

static bool finaliser_is_left(struct wn_heap *heap, struct finaliser *finaliser) {
  (void)heap;
  return finaliser->value != 0;
}

/* ---- all registries: the world is stopped ---- */

typedef void registry_function(struct wn_heap *heap, struct wn_domain *domain, struct registry *registry,
                               void *argument);

static void each_of_list(struct wn_heap *heap, struct wn_domain *domain, struct registry *list,
                         registry_function *function, void *argument) {
  for (; list; list = list->next) function(heap, domain, list, argument);
}

/* `domain` is NULL for orphans. */
static void each_registry(struct wn_heap *heap, registry_function *function, void *argument) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    each_of_list(heap, domain, domain->collector->finalisers.own, function, argument);
    each_of_list(heap, domain, domain->collector->finalisers.inherited, function, argument);
  }
  each_of_list(heap, NULL, heap->collector->finalisers.orphans, function, argument);
}

static void note_pending(struct wn_domain *domain) {
  if (domain) domain_add_pending(domain, PENDING_ANY);
}

static void queue_young(struct wn_heap *heap, struct wn_domain *domain, struct registry *registry,
                        void *argument) {
  (void)argument;
  registry->first.young = registry->first.count; /* they were roots */
  if (queue_dead(heap, registry, &registry->last, registry->last.young, died_young)) note_pending(domain);
  registry->last.young = registry->last.count;
}

static void queue_first(struct wn_heap *heap, struct wn_domain *domain, struct registry *registry,
                        void *argument) {
  size_t *found = argument, count = queue_dead(heap, registry, &registry->first, 0, finaliser_is_unmarked);
  registry->first.young = registry->first.count;
  if (count) note_pending(domain);
  *found += count;
}

static void queue_last(struct wn_heap *heap, struct wn_domain *domain, struct registry *registry,
                       void *argument) {
  (void)argument;
  if (queue_dead(heap, registry, &registry->last, 0, is_dead_for_good)) note_pending(domain);
  registry->last.young = registry->last.count;
}

static void mark_pending(struct wn_heap *heap, struct wn_domain *domain, struct registry *registry,
                         void *argument) {
  (void)domain;
  for (size_t i = 0; i < registry->pending.count; i++) {
    fetch_header(pending_at(registry, i + AHEAD)); /* beyond the last one it is any address */
    if (pending_at(registry, i)->value) mark_value(heap, argument, pending_at(registry, i)->value);
  }
}

struct visitation {
  wn_visit *visit;
  void *visitor;
};

static void visit_call(struct finaliser *call, const struct visitation *of) {
  if (call->value) of->visit(of->visitor, &call->value);
  if (call->closure) of->visit(of->visitor, &call->closure);
}

static void visit_closures(struct registrations *list, size_t from, const struct visitation *of) {
  for (size_t i = from; i < list->count; i++)
    if (list->entries[i].closure) of->visit(of->visitor, &list->entries[i].closure);
}

static void visit_roots(struct wn_heap *heap, struct wn_domain *domain, struct registry *registry,
                        void *argument) {
  (void)heap, (void)domain;
  for (size_t i = 0; i < registry->pending.count; i++) visit_call(pending_at(registry, i), argument);
  visit_closures(&registry->first, 0, argument);
  visit_closures(&registry->last, 0, argument);
}

static void visit_list(struct registrations *list, size_t from, const struct visitation *of) {
  for (size_t i = from; i < list->count; i++) of->visit(of->visitor, &list->entries[i].value);
}

static void visit_registered(struct wn_heap *heap, struct wn_domain *domain, struct registry *registry,
                             void *argument) {
  (void)heap, (void)domain;
  visit_list(&registry->first, 0, argument);
  visit_list(&registry->last, 0, argument);
}

static void finaliser_check(struct wn_heap *heap, struct wn_domain *domain, struct registry *registry,
                            void *argument) {
  bool *holds = argument;
  (void)domain;
  *holds &= registry_size(registry) <= registry->pending.capacity; /* ROOM */
  *holds &= registry->first.young <= registry->first.count && registry->last.young <= registry->last.count;
  for (size_t i = 0; i < registry->first.young; i++)
    *holds &= !heap_is_young(heap, registry->first.entries[i].value);
  for (size_t i = 0; i < registry->last.young; i++)
    *holds &= !heap_is_young(heap, registry->last.entries[i].value);
  for (size_t i = 0; i < registry->pending.count; i++)
    *holds &= !heap_is_young(heap, pending_at(registry, i)->value);
}

/* ---- orphans ---- */

static void finaliser_acquire(struct wn_heap *heap) {
  lock_acquire(&heap->collector->finalisers.lock, LOCK_RANK_FINALISERS);
}
static void finaliser_release(struct wn_heap *heap) {
  lock_release(&heap->collector->finalisers.lock, LOCK_RANK_FINALISERS);
}

static void push_last(struct registry **list, struct registry *registry) {
  while (*list) list = &(*list)->next;
  registry->next = NULL;
  *list = registry;
}

/* Gives `heir` the orphans that are not kept for a join, or, if `number` is not NULL, the orphan of
 * the domain with that number. */
static void inherit(struct wn_domain *heir, const uint64_t *number) {
  struct wn_heap *heap = heir->heap;
  finaliser_acquire(heap);
  for (struct registry **link = &heap->collector->finalisers.orphans, *orphan; (orphan = *link);) {
    if (number ? orphan->number != *number : orphan->reserved) {
      link = &orphan->next;
      continue;
    }
    *link = orphan->next;
    push_last(&heir->collector->finalisers.inherited, orphan);
  }
  finaliser_release(heap);
  if (heir->collector->finalisers.inherited) domain_add_pending(heir, PENDING_ANY);
}

static bool has_room_for(struct registry *registry, const struct registry *other) {
  return grow_pending(registry, registry_size(registry) + registry_size(other)) &&
         grow_list(&registry->first, registry->first.count + other->first.count) &&
         grow_list(&registry->last, registry->last.count + other->last.count);
}

/* Puts registrations in front of a list, as if they were older. Inherited values are old. */
static void prepend(struct registrations *list, const struct registrations *other) {
  if (!other->count) return;
  memmove(list->entries + other->count, list->entries, list->count * sizeof *list->entries);
  memcpy(list->entries, other->entries, other->count * sizeof *list->entries);
  list->count += other->count;
  list->young += other->count;
}

static void merge(struct registry *registry, const struct registry *other) {
  prepend(&registry->first, &other->first);
  prepend(&registry->last, &other->last);
  for (size_t i = 0; i < other->pending.count; i++) queue(registry, *pending_at(other, i));
}

/* If memory is short, registries that are not merged wait for the next safepoint. */
static void merge_inherited(struct domain_finalisers *finalisers) {
  struct registry *inherited;
  while ((inherited = finalisers->inherited)) {
    if (finalisers->own && !has_room_for(finalisers->own, inherited)) return;
    finalisers->inherited = inherited->next;
    inherited->next = NULL;
    if (finalisers->own) {
      merge(finalisers->own, inherited);
      registry_destroy(inherited);
    } else {
      finalisers->own = inherited;
    }
  }
}

/* ---- running ---- */

/* True if the value, if there is one, has a handle. */
static bool has_handle(struct wn_domain *domain, wn_value value, wn_ref *ref) {
  if (!value) return true;
  if (!roots_have_slots(domain, 1)) return false;
  *ref = wn_root(domain, value);
  return true;
}

static void make_call(struct wn_domain *domain, const struct finaliser *call, wn_ref value, wn_ref closure) {
  if (call->value && call->closure)
    call->function.finalise_with(domain, value, closure);
  else if (call->value)
    call->function.finalise(domain, value, call->context);
  else if (call->closure)
    call->function.finalise_last_with(domain, closure);
  else
    call->function.finalise_last(domain, call->context);
}

/* Makes one pending call. The values get handles before their call leaves the queue. False if no
 * call is pending, or if there is no slot for a handle. WN_SCOPE is not used: if the thread ends in
 * a blocking section of the callback, the scope would end by itself while the domain's handles are
 * another thread's. */
static bool run_one(struct wn_domain *domain) {
  struct registry *own = domain->collector->finalisers.own;
  wn_ref value = {NULL}, closure = {NULL};
  if (!own || !own->pending.count) return false;
  struct finaliser call = *pending_at(own, 0);
  wn_scope scope = wn_scope_enter(domain);
  bool has_handles = has_handle(domain, call.value, &value) && has_handle(domain, call.closure, &closure);
  if (has_handles) {
    own->pending.begin++;
    own->pending.count--;
    make_call(domain, &call, value, closure);
  }
  wn_scope_leave(&scope);
  return has_handles;
}

typedef bool runner(struct wn_domain *domain);

/* One call at a time, unless the finaliser that runs has released the others. */
static bool finaliser_run(struct wn_domain *domain, runner *run_callback) {
  struct domain_finalisers *finalisers = &domain->collector->finalisers;
  struct domain_thread *thread = domain->running;
  if (domain->exception.pending || finalisers->runner) return false;
  finalisers->runner = thread;
  thread->callbacks++;
  bool ran = run_callback(domain);
  thread->callbacks--;
  if (finalisers->runner == thread) finalisers->runner = NULL;
  return ran;
}

static bool any_is_pending(struct wn_domain *domain) {
  const struct registry *own = domain->collector->finalisers.own;
  return (own && own->pending.count) || alarms_pending(domain);
}

/* Alarms first: there are as many as cycles ended, while finalisers can go on without end. Calls
 * that these calls make pending wait for the next safepoint, so that two alarms that force cycles
 * cannot call each other without end. */
static void finaliser_run_all(struct wn_domain *domain) {
  merge_inherited(&domain->collector->finalisers);
  if (!any_is_pending(domain)) return;
  size_t alarms = alarms_pending(domain);
  event_finalisers(&domain->heap->events, domain,
                   domain->collector->finalisers.own ? domain->collector->finalisers.own->pending.count : 0);
  while (alarms && finaliser_run(domain, alarms_run_one)) alarms--;
  while (finaliser_run(domain, run_one)) {}
  if (domain->exception.pending || domain->collector->finalisers.runner)
    return; /* the other calls come when the exception is taken, or the finaliser ends */
  if (any_is_pending(domain)) domain_add_pending(domain, PENDING_ANY);
}

/* ---- shared ---- */

void finalisers_each_young_root(struct wn_domain *domain, wn_visit *visit, void *visitor) {
  const struct visitation of = {visit, visitor};
  struct registry *own = domain->collector->finalisers.own;
  if (!own) return;
  visit_list(&own->first, own->first.young, &of);
  visit_closures(&own->first, own->first.young, &of);
  visit_closures(&own->last, own->last.young, &of);
}

void finalisers_after_minor(struct wn_heap *heap, struct wn_domain *leader) {
  each_registry(heap, queue_young, NULL);
  inherit(leader, NULL);
}

void finalisers_each_root(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  each_registry(heap, visit_roots, &(struct visitation){visit, visitor});
}

/* Finds all values that died before it marks any of them. */
bool finalisers_mark_dead(struct wn_heap *heap, struct marker *marker) {
  size_t found = 0;
  each_registry(heap, queue_first, &found);
  if (found) each_registry(heap, mark_pending, marker);
  return found != 0;
}

void finalisers_clean(struct wn_heap *heap) { each_registry(heap, queue_last, NULL); }

void finalisers_cycle_ended(struct wn_heap *heap) {
  finaliser_acquire(heap);
  for (struct registry *orphan = heap->collector->finalisers.orphans; orphan; orphan = orphan->next)
    if (orphan->reserved) orphan->reserved--;
  finaliser_release(heap);
}

void finalisers_each_registered(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  each_registry(heap, visit_registered, &(struct visitation){visit, visitor});
}

bool finalisers_check(struct wn_heap *heap) {
  bool holds = true;
  each_registry(heap, finaliser_check, &holds);
  return holds;
}

/* Clears `pending` first: calls that become pending later set it again, and so does the thread that
 * takes a pending exception. */
wn_status finalisers_run_pending(struct wn_domain *domain) {
  uintptr_t pending = domain_take_pending(domain);
  if (pending && !exception_is_pending(domain)) {
    host_run_pending(domain);
    if ((pending | domain->context.pending) & PENDING_ANY) finaliser_run_all(domain);
    if (!exception_is_pending(domain)) limit_tell(domain); /* the last: it may leave by longjmp */
  }
  return exception_is_pending(domain) ? exception_leave(domain) : WN_OK;
}

bool finalisers_have_young(const struct wn_domain *domain) {
  const struct registry *own = domain->collector->finalisers.own;
  return own && (own->first.young < own->first.count || own->last.young < own->last.count);
}

void finalisers_abandon(struct domain_thread *thread) {
  struct wn_domain *domain = thread->domain;
  if (domain->collector->finalisers.runner == thread) {
    domain->collector->finalisers.runner = NULL;
    domain_add_pending(domain, PENDING_ANY);
  }
  alarms_abandon(thread);
}

void finalisers_leave(struct wn_domain *domain) {
  struct domain_finalisers *finalisers = &domain->collector->finalisers;
  alarms_leave(domain);
  if (finalisers->own) push_last(&finalisers->inherited, finalisers->own);
  finalisers->own = NULL;
  finaliser_acquire(domain->heap);
  for (struct registry *registry = finalisers->inherited, *next; registry; registry = next) {
    next = registry->next;
    registry->number = domain->number;
    registry->reserved = finalisers->awaited ? RESERVED_CYCLES : 0;
    registry->first.young = registry->first.count;
    registry->last.young = registry->last.count;
    push_last(&domain->heap->collector->finalisers.orphans, registry);
  }
  finaliser_release(domain->heap);
  finalisers->inherited = NULL;
}

void finalisers_inherit(struct wn_domain *domain, uint64_t number) { inherit(domain, &number); }

void finalisers_destroy_domain(struct wn_domain *domain) {
  registry_destroy(domain->collector->finalisers.own);
  finaliser_destroy_list(domain->collector->finalisers.inherited);
}

/* ---- for the heap ---- */

/* Queues all registrations as pending calls. If a cycle is in progress, it has not marked these new
 * roots, so they are marked here. */
static void queue_left(struct wn_domain *domain, struct registry *registry) {
  struct wn_heap *heap = domain->heap;
  queue_dead(heap, registry, &registry->first, 0, finaliser_is_left);
  queue_dead(heap, registry, &registry->last, 0, finaliser_is_left);
  registry->first.young = registry->last.young = 0;
  if (heap_phase(heap) == PHASE_MARK) mark_pending(heap, domain, registry, domain_marker(domain));
}

/* Calls registry by registry if there is no memory to merge them. */
void finalisers_run_all(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  struct domain_finalisers *finalisers = &domain->collector->finalisers;
  finaliser_acquire(heap);
  for (struct registry *orphan; (orphan = heap->collector->finalisers.orphans);) {
    heap->collector->finalisers.orphans = orphan->next;
    push_last(&finalisers->inherited, orphan);
  }
  finaliser_release(heap);
  for (merge_inherited(finalisers); finalisers->own; merge_inherited(finalisers)) {
    queue_left(domain, finalisers->own);
    for (size_t left = finalisers->own->pending.count; left && finaliser_run(domain, run_one); left--)
      if (exception_is_pending(domain)) exception_drop(domain);
    registry_destroy(finalisers->own);
    finalisers->own = NULL;
  }
}

void finalisers_destroy(struct wn_heap *heap) {
  finaliser_destroy_list(heap->collector->finalisers.orphans);
  alarms_destroy(heap);
}

/* ---- public ---- */

/* The list that the registration belongs to, with room for it. NULL if there is no memory. */
static struct registrations *finaliser_make_room(struct wn_domain *domain, bool last) {
  struct domain_finalisers *finalisers = &domain->collector->finalisers;
  if (!finalisers->own) finalisers->own = metadata_map(sizeof *finalisers->own);
  struct registry *own = finalisers->own;
  if (!own) return NULL;
  struct registrations *list = last ? &own->last : &own->first;
  return grow_pending(own, registry_size(own) + 1) && grow_list(list, list->count + 1) ? list : NULL;
}

static wn_status finaliser_add(wn_domain *domain, wn_ref value, struct finaliser finaliser, bool last) {
  if (!finaliser.function.finalise || wn_is_null(value))
    return error_set(WN_EINVAL, "finalise: an argument is NULL");
  wn_status status = caller_check(domain, "finalise");
  if (status) return status;
  debug_check_given(domain, value, "wn_gc_finalise");
  if (wn_is_int(*value.slot)) return error_set(WN_EINVAL, "finalise: the value is an integer");
  struct registrations *list = finaliser_make_room(domain, last);
  if (!list) return error_set(WN_ENOMEM, "finalise: no memory for a registration");
  finaliser.value = *value.slot;
  list->entries[list->count++] = finaliser;
  return WN_OK;
}

wn_status wn_gc_finalise(wn_domain *domain, wn_finaliser *f, void *context, wn_ref value) {
  return finaliser_add(domain, value, (struct finaliser){.function.finalise = f, .context = context}, false);
}

wn_status wn_gc_finalise_last(wn_domain *domain, wn_last_finaliser *f, void *context, wn_ref value) {
  return finaliser_add(domain, value, (struct finaliser){.function.finalise_last = f, .context = context},
                       true);
}

static wn_status finaliser_with(wn_domain *domain, wn_ref value, wn_ref closure, struct finaliser finaliser,
                                bool last) {
  if (wn_is_null(closure)) return error_set(WN_EINVAL, "finalise: the closure is a null handle");
  if (caller_may(domain, "finalise")) debug_check_given(domain, closure, "wn_gc_finalise");
  finaliser.closure = *closure.slot;
  return finaliser_add(domain, value, finaliser, last);
}

wn_status wn_gc_finalise_with(wn_domain *domain, wn_finaliser_with *f, wn_ref closure, wn_ref value) {
  return finaliser_with(domain, value, closure, (struct finaliser){.function.finalise_with = f}, false);
}

wn_status wn_gc_finalise_last_with(wn_domain *domain, wn_last_finaliser_with *f, wn_ref closure,
                                   wn_ref value) {
  return finaliser_with(domain, value, closure, (struct finaliser){.function.finalise_last_with = f}, true);
}

void wn_gc_finalise_release(wn_domain *domain) {
  if (caller_check(domain, "finalise release") || domain->collector->finalisers.runner != domain->running)
    return;
  domain->collector->finalisers.runner = NULL;
  domain_add_pending(domain, PENDING_ANY);
}
/* SPDX-License-Identifier: MIT */
