/* Public listeners: a listener (events.h) for each, which gives the callback a public event.
 *
 * BEGUN. A listener is told the begin and the end of a pause or a stop, or neither.
 * - Pauses that began before the listener was added are left out: the end has the time of the
 *   begin, and so both are known by their time.
 * - A stop is told if its begin was. A leader can begin to stop the world, by its clock, before a
 *   listener is added, and succeed afterwards: the collection inside is told, so the stop is, too.
 *
 * The end of a stop says when all stood still. Only the begin knows, so the begin is wanted where
 * the end is. tests/models/listen.pml explores it. */
#include "gc/api/listen.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/collect/listeners.h"
#include "gc/domains/caller.h"
#include "gc/domains/stress.h"
#include "gc/events/hooks.h"

/* The calling thread is in a callback. */
static _Thread_local bool telling;

/* ---- kinds and causes ---- */

/* 0: the event is not public. */
static const wn_gc_event_kind public_kinds[EVENT_KINDS] = {
    [EVENT_PAUSE_BEGINS] = WN_GC_PAUSE_BEGINS, [EVENT_PAUSE_ENDS] = WN_GC_PAUSE_ENDS,
    [EVENT_STOP_BEGINS] = WN_GC_STOP_BEGINS,   [EVENT_STOP_ENDS] = WN_GC_STOP_ENDS,
    [EVENT_MINOR_BEGINS] = WN_GC_MINOR_BEGINS, [EVENT_MINOR_ENDS] = WN_GC_MINOR_ENDS,
    [EVENT_CYCLE_BEGINS] = WN_GC_CYCLE_BEGINS, [EVENT_CYCLE_ENDS] = WN_GC_CYCLE_ENDS,
    [EVENT_MARKING_ENDS] = WN_GC_MARKING_ENDS, [EVENT_SLICE] = WN_GC_SLICE,
    [EVENT_HEAP_GROWS] = WN_GC_HEAP_GROWS,     [EVENT_HEAP_SHRINKS] = WN_GC_HEAP_SHRINKS,
    [EVENT_COMPACTION] = WN_GC_COMPACTION,     [EVENT_DOMAIN_BEGINS] = WN_GC_DOMAIN_BEGINS,
    [EVENT_DOMAIN_ENDS] = WN_GC_DOMAIN_ENDS,
};

static const wn_gc_cause pause_causes[] = {[PAUSE_COLLECTION] = WN_GC_CAUSE_COLLECTION,
                                           [PAUSE_SLICE] = WN_GC_CAUSE_SLICE,
                                           [PAUSE_TOUCH] = WN_GC_CAUSE_TOUCH,
                                           [PAUSE_STOP] = WN_GC_CAUSE_STOPPED};

static const wn_gc_cause stop_causes[] = {
    [STOP_MINOR_HEAP] = WN_GC_CAUSE_MINOR_HEAP, [STOP_OLD_ALLOCATION] = WN_GC_CAUSE_OLD_ALLOCATION,
    [STOP_EXTERNAL] = WN_GC_CAUSE_EXTERNAL,     [STOP_NO_MEMORY] = WN_GC_CAUSE_NO_MEMORY,
    [STOP_REQUEST] = WN_GC_CAUSE_REQUEST,       [STOP_STRESS] = WN_GC_CAUSE_STRESS,
    [STOP_CYCLE] = WN_GC_CAUSE_CYCLE,           [STOP_DOMAIN_ENDS] = WN_GC_CAUSE_DOMAIN_ENDS,
    [STOP_PARAMETERS] = WN_GC_CAUSE_PARAMETERS, [STOP_STATISTICS] = WN_GC_CAUSE_STATISTICS,
    [STOP_VERIFY] = WN_GC_CAUSE_VERIFY,         [STOP_LISTENERS] = WN_GC_CAUSE_LISTENERS,
};

static uint64_t listen_wants_of(uint64_t kinds) {
  uint64_t wants = 0;
  if (kinds & WN_GC_EVENT(WN_GC_STOP_ENDS)) kinds |= WN_GC_EVENT(WN_GC_STOP_BEGINS);
  for (unsigned kind = 0; kind < EVENT_KINDS; kind++)
    if (public_kinds[kind] && kinds & WN_GC_EVENT(public_kinds[kind]))
      wants |= event_bit((enum event_kind)kind);
  return wants;
}

/* ---- telling ---- */

/* BEGUN. Also keeps when all stood still. */
static bool is_heard(struct wn_gc_listener *listener, const struct event *event) {
  switch (event->kind) {
  case EVENT_PAUSE_BEGINS: return event->ns > listener->listener.since_ns;
  case EVENT_PAUSE_ENDS: return event->began_ns > listener->listener.since_ns;
  case EVENT_STOP_BEGINS: listener->stopped_ns = event->stopped_ns; return true;
  case EVENT_STOP_ENDS: return listener->stopped_ns != 0;
  default: return true;
  }
}

/* The members that only some kinds have. */
static void add_members(const struct wn_gc_listener *listener, const struct event *event, wn_gc_event *told) {
  switch (event->kind) {
  case EVENT_PAUSE_BEGINS:
  case EVENT_PAUSE_ENDS: told->cause = pause_causes[event->pause]; break;
  case EVENT_STOP_BEGINS:
  case EVENT_STOP_ENDS: told->stopped_ns = listener->stopped_ns; /* fall through */
  case EVENT_MINOR_BEGINS:
  case EVENT_MINOR_ENDS: told->cause = stop_causes[event->stop]; break;
  case EVENT_SLICE: told->words = event->slice.done; break;
  case EVENT_HEAP_GROWS:
  case EVENT_HEAP_SHRINKS:
    told->bytes = event->size.bytes;
    told->mapped = event->size.mapped;
    break;
  case EVENT_COMPACTION:
    told->words = event->compaction.moved_words;
    told->bytes = event->compaction.bytes;
    told->mapped = event->compaction.mapped;
    break;
  default: break;
  }
}

static void listen_tell(const struct wn_gc_listener *listener, const struct event *event) {
  wn_gc_event told = {.size = sizeof told,
                      .kind = public_kinds[event->kind],
                      .domain = event->domain ? event->domain->number : UINT64_MAX,
                      .ns = event->ns ? event->ns : os_monotonic_ns(),
                      .began_ns = event->began_ns};
  add_members(listener, event, &told);
  bool was_telling = telling; /* of another heap */
  telling = true;
  hooks_running++;
  listener->hear(&told, listener->context);
  hooks_running--;
  telling = was_telling;
}

static void listen_hear(struct listener *heard_by, const struct event *event) {
  struct wn_gc_listener *listener = (struct wn_gc_listener *)heard_by;
  if (is_heard(listener, event) && listener->kinds & WN_GC_EVENT(public_kinds[event->kind]))
    listen_tell(listener, event);
  if (event->kind == EVENT_STOP_ENDS) listener->stopped_ns = 0;
}

/* ---- shared ---- */

void listen_add(struct wn_heap *heap, struct wn_gc_listener *listener) {
  listener->listener.hear = listen_hear;
  listener->listener.wants = listen_wants_of(listener->kinds);
  listeners_add(heap, &listener->listener);
}

wn_status listen_check(const struct wn_domain *domain, const char *what) {
  if (telling) return error_set(WN_ESTATE, "%s: a callback of a listener must not call it", what);
  return caller_check(domain, what);
}

static void listen_end(struct wn_heap *heap, struct wn_gc_listener **link) {
  struct wn_gc_listener *listener = *link;
  *link = listener->next;
  listeners_remove(heap, &listener->listener);
  metadata_unmap(listener, sizeof *listener);
}

void listen_close_all(struct wn_heap *heap) {
  while (heap->public_listeners) listen_end(heap, &heap->public_listeners);
}

/* ---- public ---- */

const char *wn_gc_cause_text(wn_gc_cause cause) {
  static const char *const texts[] = {
      [WN_GC_CAUSE_NONE] = "none",
      [WN_GC_CAUSE_COLLECTION] = "collection",
      [WN_GC_CAUSE_SLICE] = "slice",
      [WN_GC_CAUSE_TOUCH] = "touch",
      [WN_GC_CAUSE_STOPPED] = "stopped",
      [WN_GC_CAUSE_MINOR_HEAP] = "minor_heap",
      [WN_GC_CAUSE_OLD_ALLOCATION] = "old_allocation",
      [WN_GC_CAUSE_EXTERNAL] = "external",
      [WN_GC_CAUSE_NO_MEMORY] = "no_memory",
      [WN_GC_CAUSE_REQUEST] = "request",
      [WN_GC_CAUSE_STRESS] = "stress",
      [WN_GC_CAUSE_CYCLE] = "cycle",
      [WN_GC_CAUSE_DOMAIN_ENDS] = "domain_ends",
      [WN_GC_CAUSE_PARAMETERS] = "parameters",
      [WN_GC_CAUSE_STATISTICS] = "statistics",
      [WN_GC_CAUSE_VERIFY] = "verify",
      [WN_GC_CAUSE_LISTENERS] = "listeners",
  };
  return (size_t)cause < sizeof texts / sizeof *texts ? texts[cause] : texts[0];
}

wn_status wn_gc_listen(wn_domain *domain, uint64_t kinds, wn_gc_hear *hear_by, void *context,
                       wn_gc_listener **listener) {
  wn_status status = listen_check(domain, "listen");
  if (status) return status;
  if (!hear_by || !listener) return error_set(WN_EINVAL, "listen: an argument is NULL");
  if (!kinds || kinds & ~WN_GC_EVERY_EVENT)
    return error_set(WN_EINVAL, "listen: the set of kinds is empty, or has others than there are");
  struct wn_gc_listener *made = metadata_map(sizeof *made);
  if (!made) return error_set(WN_ENOMEM, "listen: no memory");
  made->kinds = kinds;
  made->hear = hear_by;
  made->context = context;
  struct wn_heap *heap = domain->heap;
  stress_world_stop(domain, STOP_LISTENERS);
  made->next = heap->public_listeners;
  heap->public_listeners = made;
  listen_add(heap, made);
  world_release(domain);
  *listener = made;
  return WN_OK;
}

wn_status wn_gc_unlisten(wn_domain *domain, wn_gc_listener *listener) {
  wn_status status = listen_check(domain, "unlisten");
  if (status) return status;
  stress_world_stop(domain, STOP_LISTENERS);
  struct wn_gc_listener **link = &domain->heap->public_listeners;
  while (*link && *link != listener) link = &(*link)->next;
  bool found = *link != NULL;
  if (found) listen_end(domain->heap, link);
  world_release(domain);
  return found ? WN_OK : error_set(WN_EINVAL, "unlisten: the heap has no such listener");
}
/* SPDX-License-Identifier: MIT */
