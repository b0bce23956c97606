/* Helpers that get no processor: the heap does not grow for it.
 *
 * The program is linked with `--wrap`. Wherever a helper is about to take something to mark, has
 * taken it, or is in the middle of sweeping, it is held there, as a system would that has better
 * things to do, until the domain sleeps, and so leaves it a processor, or the heap has grown beyond
 * all bounds. The domain for its part begins to mark, or to sweep, in each cycle only when the
 * helper is held, unless nothing is there that one could take. The heap may then use at most as
 * many words as that of the same program without helpers, and a few. The heap's clock is the
 * test's, so that slices have an end that does not depend on the load; the system's clock decides
 * only when to give up. */
#include "gc/blocks.h"
#include "gc/collect/collector.h"
#include "gc/collect/major.h"
#include "gc/domains/domain.h"

#include "base/os.h"
#include <sched.h>

enum { NODES = 20000, MINOR = 8192, BLOCK = 300, CYCLES = 12, CYCLES_MOST = 200, GROWTH = 20 };
enum { FEW_PART = 8 };

#define PATIENCE_NS ((uint64_t)30 * 1000 * 1000 * 1000) /* a helper that is woken comes within this */

static wn_domain *program;
static _Thread_local bool is_program, in_pool;
enum place { NOWHERE, TAKING, MARKING, SWEEPING };
static _Atomic(int) place;     /* enum place: where helpers are held */
static _Atomic(long) held;     /* in how many cycles a helper was */
static _Atomic(long) held_in;  /* the cycle, the first one is 1, in which it was last */
static _Atomic(bool) released; /* for good */
static _Atomic(bool) overgrown, missed;

/* ---- holding ---- */

uint64_t __real_os_monotonic_ns(void);
uint64_t __wrap_os_monotonic_ns(void);
uint64_t __wrap_os_monotonic_ns(void) {
  static _Atomic(uint64_t) ns = 1000000000;
  return atomic_fetch_add(&ns, 1000);
}

static long cycle_of(const struct wn_heap *heap) { return atomic_load(&heap->major_collections) + 1; }

static bool is_overgrown(const struct wn_heap *heap) {
  return atomic_load(&heap->collector->pace.allocated) > GROWTH * major_allowance(heap);
}

static void note_held(const struct wn_heap *heap) {
  if (atomic_exchange(&held_in, cycle_of(heap)) != cycle_of(heap)) atomic_fetch_add(&held, 1);
}

static void come_by(struct wn_heap *heap, enum place here) {
  if ((int)here != atomic_load(&place) || is_program) return;
  note_held(heap);
  while (!atomic_load(&released) && atomic_load(&program->state) == DOMAIN_RUNNING) {
    note_held(heap); /* it can be here still when the next cycle begins */
    if (is_overgrown(heap)) atomic_store(&overgrown, true);
    if (is_overgrown(heap)) return;
    sched_yield();
  }
}

/* Something is there that a helper could take, or has. */
static bool may_come(const struct wn_heap *heap, enum place here) {
  if (here != SWEEPING)
    return atomic_load(&heap->collector->marking.packet_count) || atomic_load(&heap->collector->helpers.busy);
  return atomic_load(&heap->store.pools.unswept_count) || atomic_load(&heap->store.pools.sweeping);
}

static void await_helper(struct wn_heap *heap, enum place here) {
  if ((int)here != atomic_load(&place) || !is_program) return;
  uint64_t end = __real_os_monotonic_ns() + PATIENCE_NS;
  while (!atomic_load(&missed) && atomic_load(&held_in) != cycle_of(heap) && may_come(heap, here)) {
    if (__real_os_monotonic_ns() > end) atomic_store(&missed, true);
    sched_yield();
  }
}

bool __real_mark_take_first(struct wn_heap *heap, struct marker *marker);
bool __wrap_mark_take_first(struct wn_heap *heap, struct marker *marker);
bool __wrap_mark_take_first(struct wn_heap *heap, struct marker *marker) {
  if (atomic_load(&heap->collector->marking.packet_count)) come_by(heap, TAKING);
  return __real_mark_take_first(heap, marker);
}

size_t __real_mark_some(struct wn_heap *heap, struct marker *marker, size_t words);
size_t __wrap_mark_some(struct wn_heap *heap, struct marker *marker, size_t words);
size_t __wrap_mark_some(struct wn_heap *heap, struct marker *marker, size_t words) {
  await_helper(heap, TAKING);
  await_helper(heap, MARKING);
  come_by(heap, MARKING);
  return __real_mark_some(heap, marker, words);
}

static struct wn_heap *heap_of(struct store *store) {
  return (struct wn_heap *)((char *)store - offsetof(struct wn_heap, store));
}

size_t __real_pools_sweep_one(struct store *store);
size_t __wrap_pools_sweep_one(struct store *store);
size_t __wrap_pools_sweep_one(struct store *store) {
  await_helper(heap_of(store), SWEEPING);
  in_pool = true;
  size_t words = __real_pools_sweep_one(store);
  in_pool = false;
  return words;
}

/* The last thing but one that a piece of sweeping does. A helper that sweeps a chunk of medium blocks
 * has their lock then, for which the domain would wait while the helper waits for the domain. */
void __real_store_swept(struct store *store, size_t live_words);
void __wrap_store_swept(struct store *store, size_t live_words);
void __wrap_store_swept(struct store *store, size_t live_words) {
  if (in_pool) come_by(heap_of(store), SWEEPING);
  __real_store_swept(store, live_words);
}

/* ---- the program ---- */

/* Words that are not known to be garbage. */
static size_t used_words(const struct wn_heap *heap) {
  const struct pace *pace = &heap->collector->pace;
  return atomic_load(&pace->live_words) + atomic_load(&pace->allocated);
}

/* What it makes is old at once, and dead. Returns the used words at most. */
static size_t run_cycles(wn_domain *domain, long cycles) {
  long last = quick_stat(domain).major_collections + cycles;
  size_t most = 0;
  while (!atomic_load(&overgrown) && !atomic_load(&missed) && atomic_load(&held) < CYCLES &&
         quick_stat(domain).major_collections < last) {
    allocate(domain, 1, BLOCK);
    size_t words = used_words(domain->heap);
    if (words > most) most = words;
  }
  return most;
}

static bool open_heap(wn_heap **heap, unsigned helpers) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = (int)helpers;
  options.parameters.minor_heap_size = MINOR;
  assert_int_equal(wn_heap_open(&options, heap), WN_OK);
  if ((*heap)->collector->helpers.count == helpers) return true;
  assert_int_equal(wn_heap_close(*heap), WN_OK);
  return false;
}

/* With helpers that are held somewhere, or without helpers. */
static size_t words_at_most(wn_heap *heap, enum place where, wn_ref (*make)(wn_domain *domain)) {
  size_t words;
  assert_int_equal(wn_domain_attach(heap, &program), WN_OK);
  is_program = true;
  {
    WN_SCOPE(program);
    wn_ref kept = make(program);
    assert_int_equal(wn_gc_full_major(program), WN_OK);
    atomic_store(&held, 0);
    atomic_store(&held_in, 0);
    atomic_store(&missed, false);
    atomic_store(&overgrown, false);
    atomic_store(&released, false);
    atomic_store(&place, where);
    words = run_cycles(program, where ? CYCLES_MOST : CYCLES);
    atomic_store(&released, true);
    assert_false(atomic_load(&overgrown));
    assert_false(atomic_load(&missed));
    assert_true(!where || atomic_load(&held) >= CYCLES);
    assert_int_equal(wn_gc_verify(program, stderr), WN_OK);
    assert_false(wn_is_int(wn_value_of(kept)));
  }
  assert_int_equal(wn_domain_detach(program), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
  atomic_store(&place, NOWHERE);
  return words;
}

static void run_with(unsigned helpers, enum place where, wn_ref (*make)(wn_domain *domain)) {
  wn_heap *heap;
  assert_true(open_heap(&heap, 0));
  size_t alone = words_at_most(heap, NOWHERE, make);
  if (!open_heap(&heap, helpers)) {
    print_message("skipped: the system has no more threads\n");
    skip();
  }
  size_t words = words_at_most(heap, where, make);
  assert_in_range(words, 1, alone + alone / FEW_PART);
}

/* Of which no part can be given away while another is kept. */
static wn_ref a_list(wn_domain *domain) { return make_list(domain, NODES, 2); }

static wn_ref lists(wn_domain *domain) {
  wn_ref all = wn_alloc(domain, 200, 0);
  for (size_t i = 0; i < 200; i++) {
    WN_SCOPE(domain);
    wn_set(domain, all, i, make_list(domain, NODES / 200, 2));
  }
  return all;
}

/* ---- tests ---- */

static void the_heap_does_not_grow_for_a_helper_that_is_held_with_a_list(void **state) { /* G30 */
  (void)state;
  run_with(1, MARKING, a_list);
}

static void the_heap_does_not_grow_for_helpers_that_are_held_with_what_could_be_shared(void **state) {
  /* G30 */
  (void)state;
  run_with(2, MARKING, lists);
  run_with(7, MARKING, lists);
}

static void the_heap_does_not_grow_for_helpers_that_are_held_before_they_take_anything(void **state) {
  /* G30 */
  (void)state;
  run_with(1, TAKING, a_list);
  run_with(3, TAKING, lists);
}

static void the_heap_does_not_grow_for_helpers_that_are_held_while_they_sweep(void **state) { /* G30 */
  (void)state;
  run_with(1, SWEEPING, lists);
  run_with(3, SWEEPING, lists);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_heap_does_not_grow_for_a_helper_that_is_held_with_a_list),
      cmocka_unit_test(the_heap_does_not_grow_for_helpers_that_are_held_with_what_could_be_shared),
      cmocka_unit_test(the_heap_does_not_grow_for_helpers_that_are_held_before_they_take_anything),
      cmocka_unit_test(the_heap_does_not_grow_for_helpers_that_are_held_while_they_sweep),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
