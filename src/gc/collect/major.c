/* Phases, pace and slices. */
#include "gc/collect/major.h"

#include "base/os.h"
#include "gc/collect/collector.h"
#include "gc/collect/ending.h"
#include "gc/collect/nursery.h"
#include "gc/collect/verify.h"
#include "gc/collect/visitors.h"
#include "gc/domains/host.h"
#include "gc/domains/safepoint.h"

/* PACE: an idle phase takes A / IDLE_PART, marking A / MARK_PACE, sweeping A / SWEEP_PACE. */
enum { IDLE_PART = 2, MARK_PACE = 8, SWEEP_PACE = 16 };
enum { YOUNG_LIVES = 32, YOUNG_HEAPS = 16 };
enum { TIME_PART = 20, TIME_LEAST_NS = 1000000000 };
enum { SLICE_MOST = TINY ? 1 << 12 : 1 << 21, PIECE = TINY ? 16 : 1 << 12 };

/* ---- pace ---- */

static size_t least_allowance(const struct wn_heap *heap) { return 2 * atomic_load(&heap->minor_words); }

/* A of PACE without LIMIT. */
static size_t allowance_wanted(const struct wn_heap *heap) {
  double live = (double)atomic_load(&heap->collector->pace.live_words);
  double words = live * (double)heap->control.space_overhead / 100, least = (double)least_allowance(heap);
  return (size_t)(words > least ? words : least);
}

size_t major_allowance(const struct wn_heap *heap) {
  size_t wanted = allowance_wanted(heap), most = limit_most(heap);
  if (wanted <= most) return wanted;
  size_t least = least_allowance(heap);
  return most > least ? most : least;
}

static size_t heap_words(const struct wn_heap *heap) {
  return atomic_load(&heap->store.chunks.used_bytes) / 8;
}

/* YOUNG. The words that pace the cycle. */
static size_t progress_of(const struct wn_heap *heap) {
  const struct pace *pace = &heap->collector->pace;
  size_t allocated = atomic_load(&pace->allocated), by_young = (size_t)pace->by_young;
  return allocated > by_young ? allocated : by_young;
}

/* Counts the words of minor heaps that the collection found. */
static void count_young(struct wn_heap *heap) {
  struct pace *pace = &heap->collector->pace;
  double lives = (double)YOUNG_LIVES * (double)atomic_load(&pace->live_words);
  double heaps = (double)YOUNG_HEAPS * (double)atomic_load(&heap->minor_words);
  double share = (double)heap->young_used / (lives > heaps ? lives : heaps);
  pace->by_young += share * (double)major_allowance(heap) / IDLE_PART;
}

/* The debt is the work that should be done by now, by what was allocated, less the work that
 * domains and helpers have done. */
static void compute_debt(struct wn_heap *heap) {
  struct pace *pace = &heap->collector->pace;
  double wanted = 0, share = (double)(progress_of(heap) - pace->phase_began) / (double)major_allowance(heap);
  if (heap_phase(heap) == PHASE_MARK) wanted = share * MARK_PACE * (double)pace->phase_goal;
  if (heap_phase(heap) == PHASE_SWEEP) wanted = share * SWEEP_PACE * (double)pace->phase_goal;
  double debt = wanted - (double)atomic_load(&pace->work_done);
  atomic_store(&pace->debt, debt > 0 ? (int64_t)debt : 0);
}

static void begin_phase(struct wn_heap *heap, enum phase phase) {
  struct pace *pace = &heap->collector->pace;
  pace->phase_goal = heap_words(heap);
  pace->phase_began = progress_of(heap);
  atomic_store(&pace->work_done, 0);
  atomic_store(&heap->phase, phase);
}

enum { RATIO_FIRST = 44 }; /* of custom_major_ratio */
enum { EXTERNAL_STEP = 16 };

/* While no cycle is in progress, there is nothing to do before the next one is to begin. */
bool major_external_is_due(const struct wn_heap *heap, size_t words) {
  size_t allowance = major_allowance(heap);
  if (words <= allowance / EXTERNAL_STEP) return false;
  return heap_phase(heap) != PHASE_IDLE || progress_of(heap) >= allowance / IDLE_PART;
}

size_t major_external_words(const struct wn_heap *heap, size_t bytes) {
  const struct pace *pace = &heap->collector->pace;
  double least = 2 * 8 * (double)atomic_load(&heap->minor_words) * 100 / RATIO_FIRST;
  double base = 8 * (double)atomic_load(&pace->live_words) + (double)atomic_load(&pace->external_live);
  double most = (base > least ? base : least) * (double)heap->control.custom_major_ratio / 100;
  double share = 1.5 * (double)bytes / most;
  return (size_t)((share < 1 ? share : 1) * (double)major_allowance(heap));
}

/* Blocks made since the cycle began may be garbage: their external bytes are left out, so that they
 * do not allow for more of their kind. */
static void settle_external(struct wn_heap *heap) {
  struct pace *pace = &heap->collector->pace;
  size_t now = atomic_load(&heap->store.external);
  size_t fresh =
      atomic_load(&pace->external_made) - pace->external_made_before - atomic_load(&pace->external_credit);
  atomic_store(&pace->external_live, now > fresh ? now - fresh : 0);
}

/* ---- phases ---- */

static void mark_root(void *context, wn_value *slot) {
  struct wn_domain *leader = context;
  mark_value(leader->heap, domain_marker(leader), *slot);
}

static void start_cycle(struct wn_heap *heap, struct wn_domain *leader) {
  struct pace *pace = &heap->collector->pace;
  ASSERT(!atomic_load(&heap->collector->helpers.busy)); /* SHARED of mark.h */
  atomic_store(&heap->store.live_colour, heap_live_colour(heap) ^ COLOUR_BITS);
  begin_phase(heap, PHASE_MARK);
  pace->cycle_began = atomic_load(&pace->allocated);
  pace->cycle_began_ns = os_monotonic_ns();
  pace->external_made_before = atomic_load(&pace->external_made);
  atomic_store(&pace->external_credit, 0);
  visitors_each(heap, true, mark_root, leader);
  if (mark_has_others(heap)) mark_give_all(heap, domain_marker(leader));
  event_cycle(&heap->events, EVENT_CYCLE_BEGINS, leader, pace->cycle_began_ns, 0);
}

/* Whether no packet is left and no helper holds anything. Under the lock no thread adds or takes a
 * packet. Without the lock a helper could, between the two loads, take a packet, or return its
 * spans and cease to be busy. */
static bool others_have_nothing(struct wn_heap *heap) {
  struct marking *marking = &heap->collector->marking;
  lock_acquire(&marking->lock, LOCK_RANK_MARK);
  bool nothing = !atomic_load(&marking->packet_count) && !atomic_load(&heap->collector->helpers.busy);
  lock_release(&marking->lock, LOCK_RANK_MARK);
  return nothing;
}

static bool major_is_marked(struct wn_heap *heap) {
  if (!others_have_nothing(heap)) return false;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    if (!mark_is_empty(domain_marker(domain))) return false;
  return true;
}

/* Puts the spans of the other domains' markers into packets, since blocked domains do not mark the
 * spans that their barriers left. The leader's go there too if helpers have nothing to do: a domain
 * marks only what it owes (PACE), which can be nothing for long. */
static void collect_markers(struct wn_heap *heap, struct wn_domain *leader) {
  bool idle = heap->collector->helpers.count && others_have_nothing(heap);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    if (domain != leader || idle) mark_give_all(heap, domain_marker(domain));
}

static void start_sweep(struct wn_heap *heap) {
  domains_flush_pools(heap);
  atomic_store(&heap->store.swept_live, 0);
  pools_unsweep(&heap->store);
  medium_unsweep(&heap->store);
  begin_phase(heap, PHASE_SWEEP);
  helpers_wake(heap);
}

static void end_mark(struct wn_heap *heap, struct wn_domain *leader) {
  collect_markers(heap, leader);
  if (!major_is_marked(heap)) return;
  if (atomic_load(&heap->collector->marking.overflowed)) {
    domains_flush_pools(heap);
    helpers_pause(heap); /* helpers would take the packets that the walk makes */
    mark_again(heap, domain_marker(leader));
    helpers_resume(heap);
    return;
  }
  if (ephemerons_mark(heap, domain_marker(leader))) return;
  if (finalisers_mark_dead(heap, domain_marker(leader))) return;
  weak_clean(heap);
  identities_clean(heap);
  finalisers_clean(heap);
  host_tell(heap); /* of the values whose finalisers are now pending */
  start_sweep(heap);
  event_point(&heap->events, EVENT_MARKING_ENDS, leader);
}

static bool is_swept(const struct wn_heap *heap) {
  return !atomic_load(&heap->store.pools.unswept_count) && !atomic_load(&heap->store.pools.sweeping) &&
         !atomic_load(&heap->store.medium.unswept) && !atomic_load(&heap->store.medium.sweeping);
}

static void end_cycle(struct wn_heap *heap, struct wn_domain *leader) {
  struct pace *pace = &heap->collector->pace;
  if (!is_swept(heap)) return;
  host_tell(heap);
  size_t live = atomic_load(&heap->store.swept_live), before = atomic_exchange(&pace->live_words, live);
  settle_external(heap);
  pace->cycle_words = atomic_exchange(&pace->allocated, 0) - pace->cycle_began;
  pace->by_young = 0;
  pace->cycle_took_ns = atomic_exchange(&pace->work_ns, 0);
  begin_phase(heap, PHASE_IDLE);
  atomic_fetch_add(&heap->major_collections, 1);
  if (live < before / 2) chunks_forget_need(&heap->store.chunks);
  chunks_decay(&heap->store.chunks, major_allowance(heap) / POOL_WORDS, limit_room(heap));
  finalisers_cycle_ended(heap);
  limit_cycle_ended(heap);
  pace->cycle_ended_ns = os_monotonic_ns();
  event_cycle(&heap->events, EVENT_CYCLE_ENDS, leader, pace->cycle_ended_ns, pace->cycle_began_ns);
}

/* TIME. */
static bool is_time_to_begin(const struct wn_heap *heap) {
  const struct pace *pace = &heap->collector->pace;
  if (!heap->collector->helpers.count) return false;
  uint64_t least = TIME_PART * pace->cycle_took_ns;
  if (least < TIME_LEAST_NS) least = TIME_LEAST_NS;
  return os_monotonic_ns() - pace->cycle_ended_ns >= least;
}

/* Advances the cycle. If a cycle ends here, a request for one is met. A compaction comes before the
 * next cycle begins. */
static void major_step(struct wn_heap *heap, struct wn_domain *leader, unsigned what) {
  uint64_t began = limit_clock(heap);
  long ended = atomic_load(&heap->major_collections);
  if (heap_phase(heap) == PHASE_SWEEP) end_cycle(heap, leader);
  if (heap_phase(heap) == PHASE_MARK) end_mark(heap, leader);
  bool has_ended = atomic_load(&heap->major_collections) != ended;
  if (has_ended) what &= ~(unsigned)COLLECT_CYCLE;
  if (heap_phase(heap) == PHASE_IDLE &&
      (what & COLLECT_COMPACT || (has_ended && compact_is_due(heap, allowance_wanted(heap)))))
    compact(heap, leader, what & COLLECT_COMPACT || !heap->control.max_overhead);
  limit_charge(began);
  limit_look(heap, allowance_wanted(heap));
  began = limit_clock(heap);
  if (heap_phase(heap) == PHASE_IDLE &&
      (what & COLLECT_CYCLE || progress_of(heap) >= major_allowance(heap) / IDLE_PART ||
       is_time_to_begin(heap)))
    start_cycle(heap, leader);
  limit_charge(began);
}

/* Adds the words that each domain promoted to its counts. */
static void settle_counts(struct wn_heap *heap) {
  size_t copied = 0;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    size_t words = atomic_exchange(&domain->copied_words, 0);
    copied += words;
    domain->promoted_words += (double)words;
    domain->major_words += (double)words;
  }
  atomic_fetch_add(&heap->collector->pace.allocated, copied);
  count_young(heap);
  nursery_shorten(heap, copied);
  atomic_fetch_add(&heap->minor_collections, 1);
}

enum { MOMENT_NS = 1000000, LATE_NS = 4 * MOMENT_NS, STEP = TINY ? 64 : 1 << 14 };

/* RECLAIM of helpers.h. Returns how long that took; 0 if nothing is left to do. */
static uint64_t reclaim(struct wn_domain *domain) {
  uint64_t began = os_monotonic_ns();
  return helpers_await(domain) ? os_monotonic_ns() - began + 1 : 0;
}

/* A slice that pauses the program for long leaves the rest of its words in the debt; where the
 * cycle is so late that the heap would grow, it may pause it for longer. A slice that finds nothing
 * to do reclaims what helpers hold. The time of waiting does not count as the slice's, since the
 * helpers could use all of it. */
static size_t work_for_a_moment(struct wn_domain *domain, size_t words) {
  struct wn_heap *heap = domain->heap;
  struct pace *pace = &heap->collector->pace;
  bool late = progress_of(heap) > major_allowance(heap);
  uint64_t end = os_monotonic_ns() + (late ? LATE_NS : MOMENT_NS);
  size_t done = 0;
  while (done < words && os_monotonic_ns() < end) {
    size_t piece = major_work(domain, words - done < STEP ? words - done : STEP);
    uint64_t waited = piece ? 0 : reclaim(domain);
    if (!piece && !waited) break;
    atomic_fetch_sub(&pace->debt, (int64_t)piece);
    done += piece;
    end += waited;
  }
  return done;
}

static void slice(struct wn_domain *domain, size_t words) {
  struct wn_heap *heap = domain->heap;
  if (!words) return;
  uint64_t began = event_pause(&heap->events, domain, PAUSE_SLICE);
  size_t done = work_for_a_moment(domain, words);
  event_pause_ends(&heap->events, domain, PAUSE_SLICE, began);
  event_slice(&heap->events, domain, words, done);
}

static void plan_domain(struct wn_domain *domain, size_t words) {
  domain->slice_words = words / nursery_slices(domain);
}

/* Divides the debt among the pieces of the minor heaps. The debt is also for what domains allocated
 * in the major heap, for which each domain does slices when it allocates there again. */
static void plan_slices(struct wn_heap *heap) {
  size_t words = major_slice_words(heap);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    plan_domain(domain, words);
    domain->unpaid_words += domain->direct_words;
    domain->direct_words = 0;
  }
}

/* Collects, unless another domain does so first. If another thread stopped the world, that need not
 * mean a collection, so this checks whether there was one. */
static void collect_or_be_collected(struct wn_domain *domain, unsigned what, enum stop_cause cause) {
  struct wn_heap *heap = domain->heap;
  long before = atomic_load(&heap->minor_collections);
  uint64_t began = event_clock(&heap->events, EVENT_PAUSE_BEGINS);
  while (!world_stop(domain, cause)) {
    if (atomic_load(&heap->minor_collections) != before) return;
    began = event_clock(&heap->events, EVENT_PAUSE_BEGINS);
  }
  event_pause_begins(&heap->events, domain, PAUSE_COLLECTION, began);
  major_collect_stopped(domain, what);
  world_release(domain);
  event_pause_ends(&heap->events, domain, PAUSE_COLLECTION, began);
  ending_bury(heap);
}

static void share_major(struct wn_domain *domain) {
  minor_join(domain);
  uint64_t began = limit_clock(domain->heap);
  compact_join(domain);
  limit_charge(began);
}

/* ---- shared ---- */

void major_open(struct wn_heap *heap) {
  heap->shared_collection = share_major;
  heap->collector->pace.cycle_ended_ns = os_monotonic_ns();
}

void major_count_time(struct wn_heap *heap, uint64_t began_ns) {
  atomic_fetch_add_explicit(&heap->collector->pace.work_ns, os_monotonic_ns() - began_ns,
                            memory_order_relaxed);
}

size_t major_slice_words(const struct wn_heap *heap) {
  int64_t debt = atomic_load(&heap->collector->pace.debt);
  if (debt <= 0 || heap_phase(heap) == PHASE_IDLE) return 0;
  unsigned awake = atomic_load_explicit(&heap->awake, memory_order_relaxed);
  size_t share = (size_t)debt / (awake ? awake : 1) / (size_t)heap->control.window_size;
  return share < SLICE_MOST ? share : SLICE_MOST;
}

void major_collect_stopped(struct wn_domain *leader, unsigned what) {
  struct wn_heap *heap = leader->heap;
  uint64_t began = event_clock(&heap->events, EVENT_MINOR_BEGINS);
  /* Before wrong values lead the collection astray. */
  if (CHECKS && heap->stress.verify) verify_or_die(heap);
  event_stop(&heap->events, EVENT_MINOR_BEGINS, leader, heap->stop_cause, 0);
  minor_collect(heap, leader);
  settle_counts(heap);
  major_step(heap, leader, what);
  ending_reap(heap, leader);
  helpers_return(heap);
  heap->collector->pace.collected = progress_of(heap);
  compute_debt(heap);
  helpers_invite(heap);
  plan_slices(heap);
  nursery_begin(heap);
  nursery_secure(heap);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    domain_reset_limit(domain);
  event_stop(&heap->events, EVENT_MINOR_ENDS, leader, heap->stop_cause, began);
  if (heap->stress.verify) verify_or_die(heap);
}

void major_collect(struct wn_domain *domain, unsigned what, enum stop_cause cause) {
  collect_or_be_collected(domain, what, cause);
  domain_reset_limit(domain);
}

void major_slice(struct wn_domain *domain, unsigned pieces) {
  domain_note_processor(domain);
  if (atomic_load(&domain->heap->collector->pace.debt) > 0)
    slice(domain, pieces * domain->slice_words); /* else other domains have done it */
}

static void slice_all(struct wn_domain *domain) {
  for (size_t i = nursery_slices(domain); i; i--) major_slice(domain, 1);
}

void major_collect_and_slice(struct wn_domain *domain, enum stop_cause cause) {
  major_collect(domain, COLLECT_MINOR, cause);
  slice_all(domain);
}

/* WITHOUT A STOP. Whether the next phase can begin, as far as this domain knows. */
static bool phase_may_end(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  switch (heap_phase(heap)) {
  case PHASE_MARK: return mark_is_empty(domain_marker(domain)) && others_have_nothing(heap);
  case PHASE_SWEEP: return is_swept(heap);
  default: return progress_of(heap) >= major_allowance(heap) / IDLE_PART;
  }
}

/* Another domain that does a slice meanwhile may find a debt that is too small by that slice, until
 * it is computed again. */
void major_pay(struct wn_domain *domain, enum stop_cause cause) {
  struct wn_heap *heap = domain->heap;
  compute_debt(heap);
  plan_domain(domain, major_slice_words(heap));
  slice_all(domain);
  size_t since = progress_of(heap) - heap->collector->pace.collected;
  bool is_late = heap_phase(heap) == PHASE_MARK && since > major_allowance(heap) / MARK_PACE;
  if (is_late || phase_may_end(domain)) major_collect_and_slice(domain, cause);
}

size_t major_work(struct wn_domain *domain, size_t words) {
  struct wn_heap *heap = domain->heap;
  uint64_t began = os_monotonic_ns(), cpu_began = limit_clock(heap);
  size_t done = 0, piece = 1;
  while (done < words && piece && !world_is_stopping(heap)) {
    size_t left = words - done, most = left < PIECE ? left : PIECE;
    switch (heap_phase(heap)) {
    case PHASE_MARK: piece = mark_some(heap, domain_marker(domain), most); break;
    case PHASE_SWEEP:
      piece = pools_sweep_one(&heap->store);
      if (!piece) piece = medium_sweep_one(&heap->store);
      break;
    default: piece = 0;
    }
    done += piece;
    atomic_fetch_add_explicit(&heap->collector->pace.work_done, piece, memory_order_relaxed);
  }
  if (done) major_count_time(heap, began);
  limit_charge(cpu_began);
  return done;
}

/* Does all marking or sweeping that this domain can do now, and waits for helpers that hold the
 * rest. False if there was nothing to do or to wait for. */
static bool work_on(struct wn_domain *domain) {
  const struct events *events = &domain->heap->events;
  uint64_t began = event_pause(events, domain, PAUSE_SLICE);
  bool worked = major_work(domain, SIZE_MAX) || helpers_await(domain);
  event_pause_ends(events, domain, PAUSE_SLICE, began);
  return worked;
}

void major_finish_cycle(struct wn_domain *domain, enum stop_cause cause) {
  struct wn_heap *heap = domain->heap;
  long before = atomic_load(&heap->major_collections);
  major_collect(domain, COLLECT_MINOR | COLLECT_CYCLE, cause);
  while (atomic_load(&heap->major_collections) == before)
    if (!work_on(domain)) major_collect(domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_CYCLE);
}

/* A cycle in progress may keep blocks that died since it began, so this also completes a new
 * cycle. */
void major_full(struct wn_domain *domain, enum stop_cause cause) {
  struct wn_heap *heap = domain->heap;
  major_collect(domain, COLLECT_MINOR, cause);
  if (heap_phase(heap) != PHASE_IDLE) major_finish_cycle(domain, cause);
  major_finish_cycle(domain, cause);
}

/* Another domain may begin a cycle meanwhile, or lead the collection. */
void major_compact(struct wn_domain *domain, enum stop_cause cause) {
  struct wn_heap *heap = domain->heap;
  long before = atomic_load(&heap->compactions);
  do {
    if (heap_phase(heap) != PHASE_IDLE) major_finish_cycle(domain, cause);
    major_collect(domain, COLLECT_MINOR | COLLECT_COMPACT, cause);
  } while (atomic_load(&heap->compactions) == before);
}
/* SPDX-License-Identifier: MIT */
