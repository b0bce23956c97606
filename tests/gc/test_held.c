/* Helpers that get no processor: the heap does not grow for it.
 *
 * The program is linked with `--wrap`. Wherever a helper has taken something to mark, or is in the
 * middle of sweeping, it is held there, as a system would that has better things to do, until the
 * domain sleeps, and so leaves it a processor, or the heap has grown beyond all bounds. The domain
 * for its part begins to mark, or to sweep, in each cycle only when the helper is held, unless
 * nothing is there that one could take. A clock decides only when to give up. */
#include "gc/blocks.h"
#include "gc/collect/collector.h"
#include "gc/collect/major.h"
#include "gc/world/domain.h"

#include "base/os.h"
#include <sched.h>

enum { NODES = 20000, MINOR = 8192, BLOCK = 300, CYCLES = 12, CYCLES_MOST = 200, GROWTH = 20 };

#define PATIENCE_NS ((uint64_t)30 * 1000 * 1000 * 1000) /* a helper that is woken comes within this */

static wn_domain *program;
static _Thread_local bool is_program;
enum place { NOWHERE, MARKING, SWEEPING };
static _Atomic(int) place;     /* enum place: where helpers are held */
static _Atomic(long) held;     /* in how many cycles a helper was */
static _Atomic(long) held_in;  /* the cycle, the first one is 1, in which it was last */
static _Atomic(bool) released; /* for good */
static _Atomic(bool) overgrown, missed;

/* ---- holding ---- */

static long cycle_of(const struct wn_heap *heap) { return atomic_load(&heap->major_collections) + 1; }

static bool is_overgrown(const struct wn_heap *heap) {
  return atomic_load(&heap->collector->pace.allocated) > GROWTH * major_allowance(heap);
}

static void come_by(struct wn_heap *heap, enum place here) {
  if ((int)here != atomic_load(&place) || is_program) return;
  if (atomic_exchange(&held_in, cycle_of(heap)) != cycle_of(heap)) atomic_fetch_add(&held, 1);
  while (!atomic_load(&released) && atomic_load(&program->state) == DOMAIN_RUNNING) {
    if (is_overgrown(heap)) atomic_store(&overgrown, true);
    if (is_overgrown(heap)) return;
    sched_yield();
  }
}

/* Something is there that a helper could take, or has. */
static bool may_come(const struct wn_heap *heap, enum place here) {
  if (here == MARKING)
    return atomic_load(&heap->collector->marking.packet_count) || atomic_load(&heap->collector->helpers.busy);
  return atomic_load(&heap->store.pools.unswept_count) || atomic_load(&heap->store.pools.sweeping);
}

static void await_helper(struct wn_heap *heap, enum place here) {
  if ((int)here != atomic_load(&place) || !is_program) return;
  uint64_t end = os_monotonic_ns() + PATIENCE_NS;
  while (!atomic_load(&missed) && atomic_load(&held_in) != cycle_of(heap) && may_come(heap, here)) {
    if (os_monotonic_ns() > end) atomic_store(&missed, true);
    sched_yield();
  }
}

size_t __real_mark_some(struct wn_heap *heap, struct marker *marker, size_t words);
size_t __wrap_mark_some(struct wn_heap *heap, struct marker *marker, size_t words);
size_t __wrap_mark_some(struct wn_heap *heap, struct marker *marker, size_t words) {
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
  return __real_pools_sweep_one(store);
}

/* The last thing but one that a piece of sweeping does. */
void __real_store_swept(struct store *store, size_t live_words);
void __wrap_store_swept(struct store *store, size_t live_words);
void __wrap_store_swept(struct store *store, size_t live_words) {
  come_by(heap_of(store), SWEEPING);
  __real_store_swept(store, live_words);
}

/* ---- the program ---- */

/* What it makes is old at once, and dead. */
static void run_cycles(wn_domain *domain) {
  long most = quick_stat(domain).major_collections + CYCLES_MOST;
  while (!atomic_load(&overgrown) && !atomic_load(&missed) && atomic_load(&held) < CYCLES &&
         quick_stat(domain).major_collections < most)
    allocate(domain, 1, BLOCK);
}

static void run_with(unsigned helpers, enum place where, wn_ref (*make)(wn_domain *domain)) {
  wn_heap *heap;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = (int)helpers;
  options.parameters.minor_heap_size = MINOR;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  if (heap->collector->helpers.count < helpers) {
    assert_int_equal(wn_heap_close(heap), WN_OK);
    print_message("skipped: the system has no more threads\n");
    skip();
  }
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
    run_cycles(program);
    atomic_store(&released, true);
    assert_false(atomic_load(&overgrown));
    assert_false(atomic_load(&missed));
    assert_true(atomic_load(&held) >= CYCLES);
    assert_int_equal(wn_gc_verify(program, stderr), WN_OK);
    assert_false(wn_is_int(wn_value_of(kept)));
  }
  assert_int_equal(wn_domain_detach(program), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
  atomic_store(&place, NOWHERE);
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

static void the_heap_does_not_grow_for_a_helper_that_is_held_with_a_list(void **state) {
  (void)state;
  run_with(1, MARKING, a_list);
}

static void the_heap_does_not_grow_for_helpers_that_are_held_with_what_could_be_shared(void **state) {
  (void)state;
  run_with(2, MARKING, lists);
}

static void the_heap_does_not_grow_for_a_helper_that_is_held_while_it_sweeps(void **state) {
  (void)state;
  run_with(1, SWEEPING, lists);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_heap_does_not_grow_for_a_helper_that_is_held_with_a_list),
      cmocka_unit_test(the_heap_does_not_grow_for_helpers_that_are_held_with_what_could_be_shared),
      cmocka_unit_test(the_heap_does_not_grow_for_a_helper_that_is_held_while_it_sweeps),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
