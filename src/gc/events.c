/* Telling what happens. */
#include "gc/events.h"

#include "base/os.h"
#include "gc/domain.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static bool is_told(const _Atomic(long) *verbose, enum event event) {
  return __builtin_expect((atomic_load_explicit(verbose, memory_order_relaxed) & (long)event) != 0, 0);
}

/* Numbers and short names only: then snprintf needs no memory. */
__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...) {
  static const char prefix[] = "winnow: ";
  char line[512] = "winnow: ";
  int saved = errno;
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
  errno = saved;
}

static size_t young_words(const struct wn_heap *heap) {
  size_t words = 0;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    words += domain_young_used(domain);
  return words;
}

static size_t used_words(const struct wn_heap *heap) { return atomic_load(&heap->chunks.used_bytes) / 8; }

/* ---- shared ---- */

/* All of params.h, as a text that could be given back; helpers only if their number was said. */
void event_start(struct wn_heap *heap) {
  const wn_gc_control *control = &heap->control;
  const struct stress *stress = &heap->stress;
  char helpers[24] = "";
  if (!is_told(&heap->verbose, EVENT_START)) return;
  if (heap->helper_threads >= 0) snprintf(helpers, sizeof helpers, ",helpers=%d", heap->helper_threads);
  tell("heap opens: s=%ld,i=%ld,o=%ld,v=%ld,O=%ld,l=%ld,a=%ld,w=%ld,M=%ld,m=%ld,n=%ld,h=%zu,H=%d%s,"
       "soft_limit=%zu,V=%d,every=%ld,polls=%ld,delays=%d,fail_at=%ld,mark_stack=%zu",
       control->minor_heap_size, control->major_heap_increment, control->space_overhead, control->verbose,
       control->max_overhead, control->stack_limit, control->allocation_policy, control->window_size,
       control->custom_major_ratio, control->custom_minor_ratio, control->custom_minor_max_size,
       heap->initial_words, heap->chunks.huge_pages, helpers, heap->soft_limit_bytes, stress->verify,
       stress->every, stress->polls, stress->delays, stress->fail_at, stress->mark_most);
}

/* All domains have ended. */
void event_close(struct wn_heap *heap) {
  if (!is_told(&heap->verbose, EVENT_EXIT)) return;
  double minor = heap->ended.minor_words, promoted = heap->ended.promoted_words,
         major = heap->ended.major_words;
  tell("heap closes: allocated_words %.0f", minor + major - promoted);
  tell("heap closes: minor_words %.0f", minor);
  tell("heap closes: promoted_words %.0f", promoted);
  tell("heap closes: major_words %.0f", major);
  tell("heap closes: minor_collections %ld", atomic_load(&heap->minor_collections));
  tell("heap closes: major_collections %ld", atomic_load(&heap->major_collections));
  tell("heap closes: forced_major_collections %ld", atomic_load(&heap->forced_major_collections));
  tell("heap closes: heap_words %zu", used_words(heap));
  tell("heap closes: top_heap_words %zu", atomic_load(&heap->chunks.top_bytes) / 8);
}

void event_minor_begins(struct wn_heap *heap) {
  if (!is_told(&heap->verbose, EVENT_COLLECTION)) return;
  tell("minor collection %ld begins: %zu words in %u domains", atomic_load(&heap->minor_collections) + 1,
       young_words(heap), heap->domain_count);
}

void event_minor_ends(struct wn_heap *heap) {
  if (!is_told(&heap->verbose, EVENT_COLLECTION)) return;
  tell("minor collection %ld ends: heap of %zu words", atomic_load(&heap->minor_collections),
       used_words(heap));
}

void event_cycle_begins(struct wn_heap *heap) {
  if (!is_told(&heap->verbose, EVENT_CYCLE)) return;
  tell("cycle %ld begins: heap of %zu words", atomic_load(&heap->major_collections) + 1, used_words(heap));
}

void event_mark_ends(struct wn_heap *heap) {
  if (!is_told(&heap->verbose, EVENT_COLLECTION)) return;
  tell("marking ends: heap of %zu words", used_words(heap));
}

void event_cycle_ends(struct wn_heap *heap) {
  size_t live = atomic_load(&heap->live_words), used = used_words(heap);
  if (is_told(&heap->verbose, EVENT_COLLECTION))
    tell("cycle %ld ends: %zu words are live, heap of %zu words", atomic_load(&heap->major_collections), live,
         used);
  if (is_told(&heap->verbose, EVENT_COMPACTION_COST))
    tell("free memory is %zu%% of what is live, max_overhead is %ld%%: blocks do not move",
         used > live ? (used - live) * 100 / (live ? live : 1) : 0, heap->control.max_overhead);
}

void event_slice(struct wn_heap *heap, size_t computed, size_t done) {
  if (is_told(&heap->verbose, EVENT_SLICE_SIZE)) tell("slice of %zu words is computed", computed);
  if (is_told(&heap->verbose, EVENT_COLLECTION)) tell("slice: %zu words done", done);
}

void event_heap_grows(const _Atomic(long) *verbose, size_t bytes, size_t mapped) {
  if (is_told(verbose, EVENT_HEAP_SIZE)) tell("heap grows by %zu bytes to %zu", bytes, mapped);
}

void event_heap_shrinks(const _Atomic(long) *verbose, size_t bytes, size_t mapped) {
  if (is_told(verbose, EVENT_HEAP_SIZE)) tell("heap shrinks by %zu bytes to %zu", bytes, mapped);
}

void event_table_grows(struct wn_heap *heap, const char *table, size_t entries) {
  if (is_told(&heap->verbose, EVENT_TABLES)) tell("%s grows to %zu entries", table, entries);
}

void event_compaction(struct wn_heap *heap, size_t bytes) {
  if (is_told(&heap->verbose, EVENT_COMPACTION))
    tell("compaction: %zu bytes of empty chunks go back to the system", bytes);
}

void event_parameter(struct wn_heap *heap, const char *name, long before, long after) {
  if (before != after && is_told(&heap->verbose, EVENT_PARAMETER))
    tell("%s changes from %ld to %ld", name, before, after);
}

void event_finalisers(struct wn_heap *heap, size_t due) {
  if (due && is_told(&heap->verbose, EVENT_FINALISERS)) tell("%zu finalisers are due", due);
}
/* SPDX-License-Identifier: MIT */
