/* The loop of a helper thread, and waiting for helpers. */
#include "gc/collect/helpers.h"

#include "base/metadata.h"
#include "gc/collect/collector.h"
#include "gc/domains/backoff.h"
#include "gc/domains/debug.h"
#include "gc/domains/safepoint.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>

struct helper {
  struct wn_heap *heap;
  pthread_t thread;
  struct marker marker;
  unsigned index;
};

enum { MARK_PIECE = 1 << 14, IDLE_ONLY_MOST = 4 };

/* WAITING, the helper's side. */
static void end_work(struct wn_heap *heap) {
  struct helpers *helpers = &heap->collector->helpers;
  atomic_fetch_sub(&helpers->working, 1);
  DEBUG_STEP(heap);
  if (atomic_load(&helpers->paused) || atomic_load(&helpers->reclaimers)) helpers_tell(heap);
}

/* Called before the helper touches the heap. False if helpers are paused: then it must not. */
static bool begin_work(struct wn_heap *heap) {
  atomic_fetch_add(&heap->collector->helpers.working, 1);
  DEBUG_STEP(heap);
  if (!atomic_load(&heap->collector->helpers.paused)) return true;
  end_work(heap);
  return false;
}

static void wait_for_work(struct wn_heap *heap) {
  struct helpers *helpers = &heap->collector->helpers;
  while (!begin_work(heap)) {
    uint32_t seen = atomic_load(&helpers->wake);
    if (atomic_load(&helpers->paused)) futex_wait(&helpers->wake, seen);
  }
}

/* GIVE WAY: yields this processor if a domain was seen on it. */
static void make_way(struct wn_heap *heap) {
  int here = sched_getcpu() + 1;
  bool seen = false;
  for (unsigned i = 0; i < DOMAINS_MOST && here; i++)
    seen |= atomic_load_explicit(&heap->processor_of[i], memory_order_relaxed) == here;
  if (seen) sched_yield();
}

static size_t mark_piece(struct helper *helper) {
  wait_for_work(helper->heap);
  uint64_t began = os_monotonic_ns(), cpu_began = limit_clock(helper->heap);
  size_t words = mark_some(helper->heap, &helper->marker, MARK_PIECE);
  major_count_time(helper->heap, began);
  limit_charge(cpu_began);
  atomic_fetch_add_explicit(&helper->heap->collector->pace.work_done, words, memory_order_relaxed);
  end_work(helper->heap);
  make_way(helper->heap);
  return words;
}

static size_t sweep_piece(struct wn_heap *heap) {
  wait_for_work(heap);
  uint64_t began = os_monotonic_ns(), cpu_began = limit_clock(heap);
  size_t words = heap_phase(heap) == PHASE_SWEEP ? pools_sweep_one(&heap->store) : 0;
  if (!words && heap_phase(heap) == PHASE_SWEEP) words = medium_sweep_one(&heap->store);
  if (words) major_count_time(heap, began);
  limit_charge(cpu_began);
  atomic_fetch_add_explicit(&heap->collector->pace.work_done, words, memory_order_relaxed);
  end_work(heap);
  make_way(heap);
  return words;
}

static bool may_work(const struct helper *helper) {
  const struct wn_heap *heap = helper->heap;
  return !heap->collector->helpers.idle_only ||
         atomic_load_explicit(&heap->awake, memory_order_relaxed) + helper->index < heap->processors;
}

/* Touching takes long, so a helper that holds spans returns them before it calls this. */
static void helpers_touch_ahead(struct helper *helper) {
  while (chunks_are_cold(&helper->heap->store.chunks) && may_work(helper) &&
         chunks_touch(&helper->heap->store.chunks)) {}
}

static void return_work(struct helper *helper) {
  if (mark_is_empty(&helper->marker)) return;
  wait_for_work(helper->heap);
  mark_give_all(helper->heap, &helper->marker);
  end_work(helper->heap);
}

static bool helpers_take_first(struct helper *helper) {
  wait_for_work(helper->heap);
  bool taken = mark_take_first(helper->heap, &helper->marker);
  end_work(helper->heap);
  return taken;
}

/* RECLAIM: whether a domain waits for spans that this helper may hold. */
static bool is_reclaimed(const struct wn_heap *heap) {
  return atomic_load(&heap->collector->helpers.reclaimers) &&
         !atomic_load(&heap->collector->marking.packet_count);
}

static bool goes_on_marking(const struct helper *helper) {
  return may_work(helper) && !chunks_are_cold(&helper->heap->store.chunks) && !is_reclaimed(helper->heap);
}

/* Marks from packets. False if there was no packet that a helper may take. */
static bool mark_packets(struct helper *helper) {
  struct helpers *helpers = &helper->heap->collector->helpers;
  if (!goes_on_marking(helper) || !helpers_take_first(helper)) return false;
  DEBUG_STEP(helper->heap);
  while (goes_on_marking(helper) && mark_piece(helper)) {}
  DEBUG_STEP(helper->heap);
  return_work(helper);
  DEBUG_STEP(helper->heap);
  atomic_fetch_sub(&helpers->busy, 1);
  DEBUG_STEP(helper->heap);
  if (atomic_load(&helpers->reclaimers)) helpers_tell(helper->heap); /* pairs with wait_while */
  return true;
}

static bool helpers_sweep(struct helper *helper) {
  bool swept = false;
  while (may_work(helper) && !atomic_load(&helper->heap->collector->helpers.quit) &&
         sweep_piece(helper->heap)) {
    swept = true;
    helpers_touch_ahead(helper);
  }
  return swept;
}

static void sleep_until_work(struct wn_heap *heap, uint32_t seen) {
  struct helpers *helpers = &heap->collector->helpers;
  atomic_fetch_add(&helpers->sleeping, 1);
  bool work = atomic_load(&heap->collector->marking.packet_count) && !atomic_load(&helpers->reclaimers);
  if (!work && !atomic_load(&helpers->quit)) futex_wait(&helpers->wake, seen);
  atomic_fetch_sub(&helpers->sleeping, 1);
}

static void sleep_until_invited(struct helpers *helpers, uint32_t seen) {
  atomic_fetch_add(&helpers->away, 1);
  if (!atomic_load(&helpers->quit)) futex_wait(&helpers->wake, seen);
  atomic_fetch_sub(&helpers->away, 1);
}

static void *help(void *argument) {
  struct helper *helper = argument;
  struct helpers *helpers = &helper->heap->collector->helpers;
  while (!atomic_load(&helpers->quit)) {
    uint32_t seen = atomic_load(&helpers->wake);
    helpers_touch_ahead(helper);
    if (mark_packets(helper) || helpers_sweep(helper)) continue;
    if (may_work(helper))
      sleep_until_work(helper->heap, seen);
    else
      sleep_until_invited(helpers, seen);
  }
  return NULL;
}

/* ---- waiting for helpers ---- */

static bool is_any_working(const struct wn_heap *heap) {
  return atomic_load(&heap->collector->helpers.working) != 0;
}

/* RECLAIM: whether helpers hold all that is left to mark or to sweep. */
static bool hold_the_rest(const struct wn_heap *heap) {
  switch (heap_phase(heap)) {
  case PHASE_MARK:
    return atomic_load(&heap->collector->helpers.busy) &&
           !atomic_load(&heap->collector->marking.packet_count);
  case PHASE_SWEEP: return is_any_working(heap);
  default: return false;
  }
}

/* WAITING: waits while `is_so`, but only until the next news. There may be one thread more than
 * processors, and the helper may be the one without a processor: so this thread yields its own
 * first. */
static void wait_while(struct wn_heap *heap, bool (*is_so)(const struct wn_heap *heap)) {
  _Atomic(uint32_t) *news = &heap->collector->helpers.news;
  struct backoff backoff = backoff_begin(false);
  while (is_so(heap) && backoff_step(&backoff)) {}
  uint32_t seen = atomic_load(news);
  DEBUG_STEP(heap);
  if (is_so(heap)) futex_wait(news, seen);
}

static bool start_one(struct helper *helper) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are for its own threads */
  bool started = pthread_create(&helper->thread, NULL, help, helper) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return started;
}

/* ---- shared ---- */

void helpers_start(struct wn_heap *heap, int asked) {
  struct helpers *helpers = &heap->collector->helpers;
  unsigned idle = heap->processors - 1, count = asked >= 0              ? (unsigned)asked
                                                : idle < IDLE_ONLY_MOST ? idle
                                                                        : IDLE_ONLY_MOST;
  if (!count || !(helpers->threads = metadata_map(count * sizeof *helpers->threads))) return;
  helpers->idle_only = asked < 0;
  heap->notes_processors = true;
  helpers->capacity = count;
  for (unsigned i = 0; i < count; i++) {
    helpers->threads[i].heap = heap;
    helpers->threads[i].index = i;
    helpers->threads[i].marker.is_helper = true;
    if (!start_one(&helpers->threads[i])) break;
    helpers->count++;
  }
}

void helpers_stop(struct wn_heap *heap) {
  struct helpers *helpers = &heap->collector->helpers;
  atomic_store(&helpers->quit, true);
  helpers_wake(heap);
  for (unsigned i = 0; i < helpers->count; i++) {
    if (!helpers->lost) pthread_join(helpers->threads[i].thread, NULL);
    marker_destroy(&helpers->threads[i].marker);
  }
  metadata_unmap(helpers->threads, helpers->capacity * sizeof *helpers->threads);
  helpers->threads = NULL;
  helpers->count = 0;
}

void helpers_pause(struct wn_heap *heap) {
  atomic_store(&heap->collector->helpers.paused, true);
  while (is_any_working(heap)) wait_while(heap, is_any_working);
}

void helpers_resume(struct wn_heap *heap) {
  atomic_store(&heap->collector->helpers.paused, false);
  helpers_wake(heap);
}

void helpers_lose(struct wn_heap *heap) {
  struct helpers *helpers = &heap->collector->helpers;
  for (unsigned i = 0; i < helpers->count; i++) mark_give_all(heap, &helpers->threads[i].marker);
  atomic_store(&helpers->busy, 0);
  atomic_store(&helpers->working, 0);
  atomic_store(&helpers->sleeping, 0);
  atomic_store(&helpers->away, 0);
  atomic_store(&helpers->reclaimers, 0);
  atomic_store(&helpers->paused, false);
  helpers->lost = helpers->count != 0;
}

/* A marker without a thread is empty. */
void helpers_return(struct wn_heap *heap) {
  struct helpers *helpers = &heap->collector->helpers;
  if (!helpers->lost) return;
  helpers->lost = false;
  for (unsigned i = 0; i < helpers->count; i++) {
    if (start_one(&helpers->threads[i])) continue;
    for (unsigned rest = i; rest < helpers->count; rest++) marker_destroy(&helpers->threads[rest].marker);
    helpers->count = i;
  }
}

void helpers_invite(struct wn_heap *heap) {
  if (!atomic_load_explicit(&heap->collector->helpers.away, memory_order_relaxed) ||
      heap_phase(heap) == PHASE_IDLE)
    return;
  if (atomic_load_explicit(&heap->awake, memory_order_relaxed) < heap->processors) helpers_wake(heap);
}

bool helpers_touch(struct wn_heap *heap) {
  const struct helpers *helpers = &heap->collector->helpers;
  if (!helpers->count || !may_work(&helpers->threads[0])) return false;
  helpers_wake(heap);
  return true;
}

/* RECLAIM, steps 1 to 4. Between its raising and lowering `reclaimers` no helper takes a packet: so
 * if nothing is held, and there is no packet, nothing is left but what other domains have. */
bool helpers_await(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  struct helpers *helpers = &heap->collector->helpers;
  if (!mark_is_empty(domain_marker(domain))) return false;
  atomic_fetch_add(&helpers->reclaimers, 1);
  DEBUG_STEP(heap);
  bool held = hold_the_rest(heap);
  if (held) {
    domain_suspend(domain);
    wait_while(heap, hold_the_rest);
    domain_resume(domain);
  }
  bool taken = heap_phase(heap) == PHASE_MARK && mark_is_empty(domain_marker(domain)) &&
               mark_take(heap, domain_marker(domain));
  atomic_fetch_sub(&helpers->reclaimers, 1);
  DEBUG_STEP(heap);
  if (atomic_load(&heap->collector->marking.packet_count) && atomic_load(&helpers->sleeping))
    helpers_wake(heap); /* pairs with sleep_until_work */
  return held || taken;
}

void helpers_tell(struct wn_heap *heap) {
  atomic_fetch_add(&heap->collector->helpers.news, 1);
  futex_wake(&heap->collector->helpers.news, INT32_MAX);
}

void helpers_wake(struct wn_heap *heap) {
  atomic_fetch_add(&heap->collector->helpers.wake, 1);
  futex_wake(&heap->collector->helpers.wake, INT32_MAX);
}
/* SPDX-License-Identifier: MIT */
