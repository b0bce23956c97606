/* The threads that help. */
#include "gc/helpers.h"

#include "base/metadata.h"
#include "gc/debug.h"
#include "gc/futex.h"
#include "gc/patience.h"
#include "gc/safepoint.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>

struct gc_helper {
  struct wn_heap *heap;
  pthread_t thread;
  struct marker marker;
  unsigned index;
};

enum { MARK_PIECE = 1 << 14, GUESTS_MOST = 4 };

/* Pairs with wait_while. */
static void end_work(struct wn_heap *heap) {
  struct mark_shared *shared = &heap->marking;
  atomic_fetch_sub(&shared->working, 1);
  DEBUG_STEP(heap);
  if (atomic_load(&shared->paused) || atomic_load(&shared->asking)) helpers_tell(heap);
}

/* Says that the helper touches the heap, unless it must not. */
static bool begin_work(struct wn_heap *heap) {
  atomic_fetch_add(&heap->marking.working, 1);
  DEBUG_STEP(heap);
  if (!atomic_load(&heap->marking.paused)) return true;
  end_work(heap);
  return false;
}

static void wait_for_work(struct wn_heap *heap) {
  struct mark_shared *shared = &heap->marking;
  while (!begin_work(heap)) {
    uint32_t seen = atomic_load(&shared->wake);
    if (atomic_load(&shared->paused)) futex_wait(&shared->wake, seen);
  }
}

/* WAY: a domain may want this processor. */
static void make_way(struct wn_heap *heap) {
  int here = sched_getcpu() + 1;
  bool seen = false;
  for (unsigned i = 0; i < DOMAINS_MOST && here; i++)
    seen |= atomic_load_explicit(&heap->seen_at[i], memory_order_relaxed) == here;
  if (seen) sched_yield();
}

static size_t mark_piece(struct gc_helper *helper) {
  wait_for_work(helper->heap);
  size_t words = mark_some(helper->heap, &helper->marker, MARK_PIECE);
  atomic_fetch_add_explicit(&helper->heap->work_done, words, memory_order_relaxed);
  end_work(helper->heap);
  make_way(helper->heap);
  return words;
}

static size_t sweep_piece(struct wn_heap *heap) {
  wait_for_work(heap);
  size_t words = heap_phase(heap) == PHASE_SWEEP ? pools_sweep_one(heap) : 0;
  if (!words && heap_phase(heap) == PHASE_SWEEP) words = medium_sweep_one(heap);
  atomic_fetch_add_explicit(&heap->work_done, words, memory_order_relaxed);
  end_work(heap);
  make_way(heap);
  return words;
}

static bool may_work(const struct gc_helper *helper) {
  const struct wn_heap *heap = helper->heap;
  return !heap->marking.helpers_are_guests ||
         atomic_load_explicit(&heap->awake, memory_order_relaxed) + helper->index < heap->processors;
}

/* It takes long: a helper that holds what is to be marked gives it back before. */
static void touch_ahead(struct gc_helper *helper) {
  while (chunks_are_cold(&helper->heap->chunks) && may_work(helper) && chunks_touch(&helper->heap->chunks)) {}
}

static void give_back(struct gc_helper *helper) {
  if (mark_is_empty(&helper->marker)) return;
  wait_for_work(helper->heap);
  mark_give_all(helper->heap, &helper->marker);
  end_work(helper->heap);
}

static bool take_first(struct gc_helper *helper) {
  wait_for_work(helper->heap);
  bool taken = mark_take_first(helper->heap, &helper->marker);
  end_work(helper->heap);
  return taken;
}

/* HELD: a domain waits for what this helper may hold. */
static bool is_asked(const struct mark_shared *shared) {
  return atomic_load(&shared->asking) && !atomic_load(&shared->bundle_count);
}

static bool goes_on_marking(const struct gc_helper *helper) {
  return may_work(helper) && !chunks_are_cold(&helper->heap->chunks) && !is_asked(&helper->heap->marking);
}

/* Marks what is shared. False if there was nothing for a helper. */
static bool mark_shared_work(struct gc_helper *helper) {
  struct mark_shared *shared = &helper->heap->marking;
  if (!goes_on_marking(helper) || !take_first(helper)) return false;
  DEBUG_STEP(helper->heap);
  while (goes_on_marking(helper) && mark_piece(helper)) {}
  DEBUG_STEP(helper->heap);
  give_back(helper);
  DEBUG_STEP(helper->heap);
  atomic_fetch_sub(&shared->busy_helpers, 1);
  DEBUG_STEP(helper->heap);
  if (atomic_load(&shared->asking)) helpers_tell(helper->heap); /* pairs with wait_while */
  return true;
}

static bool sweep_shared_work(struct gc_helper *helper) {
  bool swept = false;
  while (may_work(helper) && !atomic_load(&helper->heap->marking.quit) && sweep_piece(helper->heap)) {
    swept = true;
    touch_ahead(helper);
  }
  return swept;
}

static void sleep_until_work(struct mark_shared *shared, uint32_t seen) {
  atomic_fetch_add(&shared->wanting, 1);
  bool work = atomic_load(&shared->bundle_count) && !atomic_load(&shared->asking);
  if (!work && !atomic_load(&shared->quit)) futex_wait(&shared->wake, seen);
  atomic_fetch_sub(&shared->wanting, 1);
}

static void sleep_until_invited(struct mark_shared *shared, uint32_t seen) {
  atomic_fetch_add(&shared->away, 1);
  if (!atomic_load(&shared->quit)) futex_wait(&shared->wake, seen);
  atomic_fetch_sub(&shared->away, 1);
}

static void *help(void *argument) {
  struct gc_helper *helper = argument;
  struct mark_shared *shared = &helper->heap->marking;
  while (!atomic_load(&shared->quit)) {
    uint32_t seen = atomic_load(&shared->wake);
    touch_ahead(helper);
    if (mark_shared_work(helper) || sweep_shared_work(helper)) continue;
    if (may_work(helper))
      sleep_until_work(shared, seen);
    else
      sleep_until_invited(shared, seen);
  }
  return NULL;
}

/* ---- waiting for helpers ---- */

static bool is_any_working(const struct wn_heap *heap) { return atomic_load(&heap->marking.working) != 0; }

/* HELD: what is left to mark, or to sweep, is theirs. */
static bool hold_the_rest(const struct wn_heap *heap) {
  switch (heap_phase(heap)) {
  case PHASE_MARK:
    return atomic_load(&heap->marking.busy_helpers) && !atomic_load(&heap->marking.bundle_count);
  case PHASE_SWEEP: return is_any_working(heap);
  default: return false;
  }
}

/* Until there is news, at most. The helper may be the one thread more than there are processors: so this one is offered. */
static void wait_while(struct wn_heap *heap, bool (*is_so)(const struct wn_heap *heap)) {
  _Atomic(uint32_t) *news = &heap->marking.news;
  struct patience patience = patience_begin(false);
  while (is_so(heap) && patience_lasts(&patience)) {}
  uint32_t seen = atomic_load(news);
  DEBUG_STEP(heap);
  if (is_so(heap)) futex_wait(news, seen);
}

static bool start_one(struct gc_helper *helper) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are for its own threads */
  bool started = pthread_create(&helper->thread, NULL, help, helper) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return started;
}

/* ---- shared ---- */

void helpers_start(struct wn_heap *heap, int asked) {
  struct mark_shared *shared = &heap->marking;
  unsigned idle = heap->processors - 1, count = asked >= 0           ? (unsigned)asked
                                                : idle < GUESTS_MOST ? idle
                                                                     : GUESTS_MOST;
  if (!count || !(shared->helpers = metadata_map(count * sizeof *shared->helpers))) return;
  shared->helpers_are_guests = asked < 0;
  shared->helpers_most = count;
  for (unsigned i = 0; i < count; i++) {
    shared->helpers[i].heap = heap;
    shared->helpers[i].index = i;
    shared->helpers[i].marker.helps = true;
    if (!start_one(&shared->helpers[i])) break;
    shared->helper_count++;
  }
}

void helpers_stop(struct wn_heap *heap) {
  struct mark_shared *shared = &heap->marking;
  atomic_store(&shared->quit, true);
  helpers_wake(heap);
  for (unsigned i = 0; i < shared->helper_count; i++) {
    pthread_join(shared->helpers[i].thread, NULL);
    marker_destroy(&shared->helpers[i].marker);
  }
  metadata_unmap(shared->helpers, shared->helpers_most * sizeof *shared->helpers);
  shared->helpers = NULL;
  shared->helper_count = 0;
}

void helpers_pause(struct wn_heap *heap) {
  atomic_store(&heap->marking.paused, true);
  while (is_any_working(heap)) wait_while(heap, is_any_working);
}

void helpers_resume(struct wn_heap *heap) {
  atomic_store(&heap->marking.paused, false);
  helpers_wake(heap);
}

void helpers_invite(struct wn_heap *heap) {
  if (!atomic_load_explicit(&heap->marking.away, memory_order_relaxed) || heap_phase(heap) == PHASE_IDLE)
    return;
  if (atomic_load_explicit(&heap->awake, memory_order_relaxed) < heap->processors) helpers_wake(heap);
}

void helpers_see(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  if (heap->marking.helper_count)
    atomic_store_explicit(&heap->seen_at[domain->index], sched_getcpu() + 1, memory_order_relaxed);
}

void helpers_forget(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  if (heap->marking.helper_count)
    atomic_store_explicit(&heap->seen_at[domain->index], 0, memory_order_relaxed);
}

bool helpers_touch(struct wn_heap *heap) {
  const struct mark_shared *shared = &heap->marking;
  if (!shared->helper_count || !may_work(&shared->helpers[0])) return false;
  helpers_wake(heap);
  return true;
}

/* It takes before it ceases to ask: what was given back for it is not a helper's again. */
bool helpers_await(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  struct mark_shared *shared = &heap->marking;
  if (!mark_is_empty(&domain->marker) || !hold_the_rest(heap)) return false;
  atomic_fetch_add(&shared->asking, 1);
  DEBUG_STEP(heap);
  domain_step_aside(domain);
  wait_while(heap, hold_the_rest);
  domain_step_back(domain);
  if (heap_phase(heap) == PHASE_MARK && mark_is_empty(&domain->marker)) mark_take(heap, &domain->marker);
  atomic_fetch_sub(&shared->asking, 1);
  DEBUG_STEP(heap);
  if (atomic_load(&shared->bundle_count) && atomic_load(&shared->wanting))
    helpers_wake(heap); /* pairs with sleep_until_work */
  return true;
}

void helpers_tell(struct wn_heap *heap) {
  atomic_fetch_add(&heap->marking.news, 1);
  futex_wake(&heap->marking.news, INT32_MAX);
}

void helpers_wake(struct wn_heap *heap) {
  atomic_fetch_add(&heap->marking.wake, 1);
  futex_wake(&heap->marking.wake, INT32_MAX);
}
/* SPDX-License-Identifier: MIT */
