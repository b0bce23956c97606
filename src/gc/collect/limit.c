/* The limit in force, its pressure, and the hook. */
#include "gc/collect/limit.h"

#include "base/os.h"
#include "gc/collect/budget.h"
#include "gc/collect/collector.h"
#include "gc/domains/host.h"

enum { GROUP_PART = 16, GROWTH_PART = 10, CYCLES = 2, READ_NS = 100000000 };

static struct limit *limit_of(const struct wn_heap *heap) { return &heap->collector->limit; }

static size_t used_bytes(const struct wn_heap *heap) { return atomic_load(&heap->store.chunks.used_bytes); }

static bool is_beyond(const struct wn_heap *heap) {
  return used_bytes(heap) > atomic_load(&limit_of(heap)->bytes);
}

/* ---- IN FORCE ---- */

static size_t left_by_cgroup(struct wn_heap *heap, const struct cgroup_room *room) {
  int64_t bytes = (int64_t)chunks_touched(&heap->store.chunks) + room->left;
  int64_t least = (int64_t)(room->allowed / GROUP_PART);
  return (size_t)(bytes > least ? bytes : least);
}

/* What can no longer be read is no limit any more. */
static void read_limit(struct wn_heap *heap) {
  struct limit *limit = limit_of(heap);
  struct cgroup_room room;
  size_t bytes = limit->soft_bytes ? limit->soft_bytes : SIZE_MAX;
  if (cgroup_read(&limit->cgroup, &room)) {
    size_t left = left_by_cgroup(heap, &room);
    if (left < bytes) bytes = left;
  }
  atomic_store(&limit->bytes, bytes);
}

static void limit_read_again(struct wn_heap *heap) {
  struct limit *limit = limit_of(heap);
  uint64_t now = limit->cgroup.count ? os_monotonic_ns() : 0;
  if (now - limit->read_ns < READ_NS) return;
  limit->read_ns = now;
  read_limit(heap);
}

/* ---- HOOK ---- */

/* Each domain is to look whether there is a call, since it is not known which of them polls. */
static void call_hook(struct wn_heap *heap) {
  if (!heap->hooks.over_limit) return;
  atomic_store(&limit_of(heap)->due, true);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    domain_add_pending(domain, PENDING_ANY);
}

static bool limit_has_grown(size_t bytes, size_t from) {
  return bytes > from && bytes - from > from / GROWTH_PART;
}

static void note_excess(struct wn_heap *heap, bool has_budget) {
  struct limit *limit = limit_of(heap);
  size_t used = used_bytes(heap), reported = limit->reported_bytes;
  size_t bytes = atomic_load(&limit->bytes);
  bool helpless = limit->cycles_beyond >= CYCLES || (!has_budget && limit_has_grown(used, bytes));
  if (used <= bytes || !helpless || (reported && !limit_has_grown(used, reported))) return;
  limit->reported_bytes = used;
  call_hook(heap);
}

/* ---- PRESSURE ---- */

/* The most words that A may be. */
static size_t most_words(const struct wn_heap *heap) {
  const struct collector *of = heap->collector;
  size_t words = atomic_load(&of->limit.bytes) / 8;
  size_t least = atomic_load(&of->pace.live_words) + of->compaction.overhead_left;
  size_t in_cycle = of->pace.cycle_words;
  if (is_beyond(heap) || words <= least + in_cycle) return 0;
  size_t room = words - least, before_cycle = 2 * (room - in_cycle);
  return before_cycle < room ? before_cycle : room;
}

/* HALF: the rest of a cycle that was hastened counts, too. */
static void press(struct wn_heap *heap, bool hastens) {
  struct limit *limit = limit_of(heap);
  bool counted = heap_phase(heap) != PHASE_IDLE && atomic_load(&limit->counts);
  atomic_store(&limit->most, hastens ? most_words(heap) : SIZE_MAX);
  atomic_store(&limit->counts, hastens || counted);
}

/* ---- shared ---- */

void limit_open(struct wn_heap *heap, size_t soft_bytes, bool heeds_cgroup) {
  struct limit *limit = limit_of(heap);
  limit->soft_bytes = soft_bytes;
  limit->heeds_cgroup = heeds_cgroup;
  if (heeds_cgroup) cgroup_find(&limit->cgroup, "");
  atomic_store(&limit->most, SIZE_MAX);
  limit->read_ns = os_monotonic_ns();
  read_limit(heap);
}

void limit_cycle_ended(struct wn_heap *heap) {
  struct limit *limit = limit_of(heap);
  limit->compacts = false;
  if (!is_beyond(heap)) {
    limit->cycles_beyond = 0;
    limit->reported_bytes = 0;
    atomic_store(&limit->compacted, false);
    return;
  }
  limit->cycles_beyond++;
  chunks_trim(&heap->store.chunks, 0);
  if (limit->cycles_beyond >= CYCLES && limit_most(heap) != SIZE_MAX)
    limit->compacts = !atomic_exchange(&limit->compacted, true);
}

void limit_look(struct wn_heap *heap, size_t wanted) {
  struct limit *limit = limit_of(heap);
  if (!limit->soft_bytes && !limit->cgroup.count) return;
  limit_read_again(heap);
  bool presses = most_words(heap) < wanted, budget = !presses || budget_look();
  note_excess(heap, budget);
  press(heap, presses && budget);
}

size_t limit_bytes(const struct wn_heap *heap) {
  size_t bytes = atomic_load(&limit_of(heap)->bytes);
  return bytes == SIZE_MAX ? 0 : bytes;
}

size_t limit_room(const struct wn_heap *heap) {
  size_t bytes = atomic_load(&limit_of(heap)->bytes), used = used_bytes(heap);
  return used < bytes ? bytes - used : 0;
}

size_t limit_most(const struct wn_heap *heap) {
  return atomic_load_explicit(&limit_of(heap)->most, memory_order_relaxed);
}

bool limit_wants_compaction(const struct wn_heap *heap) { return limit_of(heap)->compacts; }

uint64_t limit_clock(const struct wn_heap *heap) {
  return atomic_load_explicit(&limit_of(heap)->counts, memory_order_relaxed) ? os_thread_cpu_ns() : 0;
}

void limit_charge(uint64_t began) {
  if (began) budget_take(os_thread_cpu_ns() - began);
}

void limit_tell(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  struct limit *limit = limit_of(heap);
  const struct domain_thread *thread = domain->running;
  if (!atomic_load_explicit(&limit->due, memory_order_relaxed)) return;
  if (thread->callbacks || host_in_callback(thread) || thread->over) {
    domain_add_pending(domain, PENDING_ANY);
    return;
  }
  if (!atomic_exchange(&limit->due, false)) return;
  atomic_store(&limit->compacted, false);
  heap->hooks.over_limit(domain, used_bytes(heap), limit_bytes(heap), heap->hooks.context);
}
/* SPDX-License-Identifier: MIT */
