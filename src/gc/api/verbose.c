/* The lines of verbose output. */
#include "gc/api/verbose.h"

#include "gc/collect/collector.h"
#include <stdarg.h>
#include <stdio.h>

/* The arguments are numbers and short names: for these snprintf needs no memory. */
__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...) {
  static const char prefix[] = "winnow: ";
  char line[512] = "winnow: ";
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line + sizeof prefix - 1, sizeof line - sizeof prefix, format, arguments);
  va_end(arguments);
  if (length > 0) {
    size_t used = sizeof prefix - 1 + (size_t)length;
    if (used > sizeof line - 2) used = sizeof line - 2;
    line[used] = '\n';
    os_write_all(2, line, used + 1);
  }
}

static size_t young_words(const struct wn_heap *heap) {
  size_t words = 0;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    words += domain_young_used(domain);
  return words;
}

static size_t used_words(const struct wn_heap *heap) {
  return atomic_load(&heap->store.chunks.used_bytes) / 8;
}

/* ---- the lines of each event ---- */

/* All of params.h, as a text that sets the same parameters; helpers only if their number was
 * set. */
static void tell_parameters(const struct wn_heap *heap) {
  const wn_gc_control *control = &heap->control;
  const struct stress *stress = &heap->stress;
  const struct limit *limit = &heap->collector->limit;
  char helpers[24] = "";
  if (heap->helper_threads >= 0) snprintf(helpers, sizeof helpers, ",helpers=%d", heap->helper_threads);
  tell("heap opens: s=%ld,i=%ld,o=%ld,v=%ld,O=%ld,l=%ld,a=%ld,w=%ld,M=%ld,m=%ld,n=%ld,d=%u,h=%zu,H=%d%s,"
       "soft_limit=%zu,cgroup=%d,V=%d,every=%ld,polls=%ld,compact=%ld,delays=%d,fail_at=%ld,mark_stack=%zu,"
       "move_all=%d",
       control->minor_heap_size, control->major_heap_increment, control->space_overhead, control->verbose,
       control->max_overhead, control->stack_limit, control->allocation_policy, control->window_size,
       control->custom_major_ratio, control->custom_minor_ratio, control->custom_minor_max_size,
       heap->domains_most, heap->initial_words, heap->store.chunks.huge_pages, helpers, limit->soft_bytes,
       limit->heeds_cgroup, stress->verify, stress->every, stress->polls, stress->compact, stress->delays,
       stress->fail_at, stress->mark_most, stress->move_all);
}

static void tell_counts(const struct wn_heap *heap) {
  double minor = heap->ended.minor_words, promoted = heap->ended.promoted_words,
         major = heap->ended.major_words;
  tell("heap closes: allocated_words %.0f", minor + major - promoted);
  tell("heap closes: minor_words %.0f", minor);
  tell("heap closes: promoted_words %.0f", promoted);
  tell("heap closes: major_words %.0f", major);
  tell("heap closes: minor_collections %ld", atomic_load(&heap->minor_collections));
  tell("heap closes: major_collections %ld", atomic_load(&heap->major_collections));
  tell("heap closes: compactions %ld", atomic_load(&heap->compactions));
  tell("heap closes: forced_major_collections %ld", atomic_load(&heap->forced_major_collections));
  tell("heap closes: heap_words %zu", used_words(heap));
  tell("heap closes: top_heap_words %zu", atomic_load(&heap->store.chunks.top_bytes) / 8);
}

static void tell_cycle_end(const struct wn_heap *heap, long bits) {
  size_t live = atomic_load(&heap->collector->pace.live_words), used = used_words(heap);
  if (bits & VERBOSE_COLLECTION)
    tell("cycle %ld ends: %zu words are live, heap of %zu words", atomic_load(&heap->major_collections), live,
         used);
  if (bits & VERBOSE_COMPACTION_COST)
    tell("free memory is %zu%% of what is live, max_overhead is %ld%%",
         used > live ? (used - live) * 100 / (live ? live : 1) : 0, heap->control.max_overhead);
  if (bits & VERBOSE_HEAP_SIZE && limit_bytes(heap))
    tell("limit of the heap is %zu bytes", limit_bytes(heap));
}

static void tell_slice(const struct event *event, long bits) {
  if (bits & VERBOSE_SLICE_SIZE) tell("slice of %zu words is computed", event->slice.computed);
  if (bits & VERBOSE_COLLECTION) tell("slice: %zu words done", event->slice.done);
}

static void tell_collection(const struct wn_heap *heap, const struct event *event) {
  switch (event->kind) {
  case EVENT_MINOR_BEGINS:
    tell("minor collection %ld begins: %zu words in %u domains", atomic_load(&heap->minor_collections) + 1,
         young_words(heap), heap->domain_count);
    break;
  case EVENT_MINOR_ENDS:
    tell("minor collection %ld ends: heap of %zu words", atomic_load(&heap->minor_collections),
         used_words(heap));
    break;
  case EVENT_CYCLE_BEGINS:
    tell("cycle %ld begins: heap of %zu words", atomic_load(&heap->major_collections) + 1, used_words(heap));
    break;
  case EVENT_MARKING_ENDS: tell("marking ends: heap of %zu words", used_words(heap)); break;
  default: break;
  }
}

static void tell_change(const struct event *event) {
  switch (event->kind) {
  case EVENT_HEAP_GROWS: tell("heap grows by %zu bytes to %zu", event->size.bytes, event->size.mapped); break;
  case EVENT_HEAP_SHRINKS:
    tell("heap shrinks by %zu bytes to %zu", event->size.bytes, event->size.mapped);
    break;
  case EVENT_COMPACTION:
    tell("compaction: %zu words moved, %zu bytes go back to the system, heap of %zu bytes",
         event->compaction.moved_words, event->compaction.bytes, event->compaction.mapped);
    break;
  case EVENT_TABLE_GROWS: tell("%s grows to %zu entries", event->table.name, event->table.entries); break;
  case EVENT_PARAMETER:
    tell("%s changes from %ld to %ld", event->parameter.name, event->parameter.before,
         event->parameter.after);
    break;
  case EVENT_FINALISERS: tell("%zu finalisers are due", event->finalisers); break;
  default: break;
  }
}

static void verbose_hear(struct listener *listener, const struct event *event) {
  const struct wn_heap *heap =
      (const struct wn_heap *)((const char *)listener - offsetof(struct wn_heap, verbose_listener));
  long bits = atomic_load_explicit(&heap->verbose, memory_order_relaxed);
  switch (event->kind) {
  case EVENT_HEAP_OPENS: tell_parameters(heap); break;
  case EVENT_HEAP_CLOSES: tell_counts(heap); break;
  case EVENT_CYCLE_ENDS: tell_cycle_end(heap, bits); break;
  case EVENT_SLICE: tell_slice(event, bits); break;
  case EVENT_MINOR_BEGINS:
  case EVENT_MINOR_ENDS:
  case EVENT_CYCLE_BEGINS:
  case EVENT_MARKING_ENDS: tell_collection(heap, event); break;
  default: tell_change(event);
  }
}

/* Which events each bit wants. */
static uint64_t verbose_wants_of(long bits) {
  static const struct {
    long bits;
    enum event_kind kind;
  } rows[] = {
      {VERBOSE_CYCLE, EVENT_CYCLE_BEGINS},
      {VERBOSE_COLLECTION, EVENT_MINOR_BEGINS},
      {VERBOSE_COLLECTION, EVENT_MINOR_ENDS},
      {VERBOSE_COLLECTION, EVENT_MARKING_ENDS},
      {VERBOSE_COLLECTION | VERBOSE_COMPACTION_COST | VERBOSE_HEAP_SIZE, EVENT_CYCLE_ENDS},
      {VERBOSE_COLLECTION | VERBOSE_SLICE_SIZE, EVENT_SLICE},
      {VERBOSE_HEAP_SIZE, EVENT_HEAP_GROWS},
      {VERBOSE_HEAP_SIZE, EVENT_HEAP_SHRINKS},
      {VERBOSE_TABLES, EVENT_TABLE_GROWS},
      {VERBOSE_COMPACTION, EVENT_COMPACTION},
      {VERBOSE_PARAMETER, EVENT_PARAMETER},
      {VERBOSE_FINALISERS, EVENT_FINALISERS},
      {VERBOSE_START, EVENT_HEAP_OPENS},
      {VERBOSE_EXIT, EVENT_HEAP_CLOSES},
  };
  uint64_t wants = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (bits & rows[i].bits) wants |= event_bit(rows[i].kind);
  return wants;
}

/* ---- shared ---- */

void verbose_open(struct wn_heap *heap) {
  heap->verbose_listener.hear = verbose_hear;
  events_add(&heap->events, &heap->verbose_listener);
}

void verbose_set(struct wn_heap *heap, long bits) {
  atomic_store(&heap->verbose, bits);
  events_set_wants(&heap->events, &heap->verbose_listener, verbose_wants_of(bits));
}
/* SPDX-License-Identifier: MIT */
