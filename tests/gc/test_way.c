/* Helpers make way for domains: one that runs where a domain does offers the processor after each
 * piece, and only then.
 *
 * The program is linked with `--wrap`: the test says on which processor each thread is, and counts
 * what helpers offer. In each cycle the domain begins to mark when the helper has marked a piece,
 * so that there are some. */
#include "gc/blocks.h"
#include "gc/collect/collector.h"

#include "base/os.h"
#include <sched.h>

enum { LISTS = 100, LENGTH = 200, MINOR = 8192, BLOCK = 300, CYCLES = 3 };
enum { HERE = 1, THERE, NOWHERE }; /* processors; a domain is on one of the first two */

#define PATIENCE_NS ((uint64_t)30 * 1000 * 1000 * 1000) /* a helper that is woken comes within this */

static _Thread_local int processor; /* of the program's thread; 0: this is a helper */
static _Atomic(int) of_helper;
static _Atomic(long) pieces, offers; /* of marking; of the processor */
static _Atomic(long) helped_in;      /* the cycle, the first one is 1, in which the helper marked last */
static _Atomic(bool) missed;

/* ---- what is wrapped ---- */

int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void) { return processor ? processor : atomic_load(&of_helper); }

int __real_sched_yield(void);
int __wrap_sched_yield(void);
int __wrap_sched_yield(void) {
  if (!processor) atomic_fetch_add(&offers, 1);
  return __real_sched_yield();
}

static long cycle_of(const struct wn_heap *heap) { return atomic_load(&heap->major_collections) + 1; }

static void await_helper(const struct wn_heap *heap) {
  uint64_t end = os_monotonic_ns() + PATIENCE_NS;
  while (
      !atomic_load(&missed) && atomic_load(&helped_in) != cycle_of(heap) &&
      (atomic_load(&heap->collector->marking.packet_count) || atomic_load(&heap->collector->helpers.busy))) {
    if (os_monotonic_ns() > end) atomic_store(&missed, true);
    __real_sched_yield();
  }
}

size_t __real_mark_some(struct wn_heap *heap, struct marker *marker, size_t words);
size_t __wrap_mark_some(struct wn_heap *heap, struct marker *marker, size_t words);
size_t __wrap_mark_some(struct wn_heap *heap, struct marker *marker, size_t words) {
  if (processor) await_helper(heap);
  size_t marked = __real_mark_some(heap, marker, words);
  if (processor) return marked;
  atomic_fetch_add(&pieces, 1);
  atomic_store(&helped_in, cycle_of(heap));
  return marked;
}

/* ---- the program ---- */

static wn_heap *heap;

static void open_heap(void) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 1;
  options.parameters.minor_heap_size = MINOR;
  processor = NOWHERE;
  atomic_store(&of_helper, NOWHERE);
  atomic_store(&helped_in, 0);
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  if (heap->collector->helpers.count) return;
  assert_int_equal(wn_heap_close(heap), WN_OK);
  print_message("skipped: the system has no more threads\n");
  skip();
}

/* A domain of the calling thread, which is where it is said to be, with something to mark. */
static wn_domain *attach(int where) {
  wn_domain *domain;
  processor = where;
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  wn_ref all = wn_alloc(domain, LISTS, 0);
  for (size_t i = 0; i < LISTS; i++) {
    WN_SCOPE(domain);
    wn_set(domain, all, i, make_list(domain, LENGTH, 2));
  }
  return domain;
}

static void run(wn_domain *domain) {
  long first = quick_stat(domain).major_collections;
  while (quick_stat(domain).major_collections < first + CYCLES) allocate(domain, 1, BLOCK);
  assert_false(atomic_load(&missed));
}

/* Runs cycles while the helper is somewhere. Returns how often it offered its processor. */
static long offers_while(wn_domain *domain, int helper_is) {
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  while (!atomic_load(&heap->collector->helpers.sleeping)) __real_sched_yield(); /* it sleeps */
  atomic_store(&of_helper, helper_is);
  atomic_store(&offers, 0);
  atomic_store(&pieces, 0);
  run(domain);
  assert_true(atomic_load(&pieces) >= CYCLES);
  return atomic_load(&offers);
}

static void close_heap(wn_domain *domain) {
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

/* ---- tests ---- */

static void a_helper_offers_the_processor_that_a_domain_runs_on_and_no_other(void **state) {
  (void)state;
  open_heap();
  wn_domain *domain = attach(HERE);
  assert_true(offers_while(domain, HERE) >= CYCLES);
  assert_int_equal(offers_while(domain, THERE), 0);
  processor = THERE; /* the system moved it */
  run(domain);
  assert_int_equal(offers_while(domain, HERE), 0);
  assert_true(offers_while(domain, THERE) >= CYCLES);
  close_heap(domain);
}

static void a_helper_makes_no_way_for_a_domain_that_has_ended(void **state) {
  (void)state;
  open_heap();
  wn_domain *domain = attach(HERE);
  wn_blocking_begin(domain);
  wn_domain *other = attach(THERE);
  assert_true(offers_while(other, THERE) >= CYCLES);
  assert_int_equal(wn_domain_detach(other), WN_OK);
  processor = HERE;
  wn_blocking_end(domain);
  assert_int_equal(offers_while(domain, THERE), 0);
  close_heap(domain);
}

static void a_helper_makes_way_for_a_domain_that_was_blocked_when_it_is_back(void **state) {
  (void)state;
  open_heap();
  wn_domain *domain = attach(HERE);
  wn_blocking_begin(domain);
  wn_domain *other = attach(THERE);
  run(other);
  wn_blocking_begin(other);
  processor = HERE;
  wn_blocking_end(domain);
  assert_int_equal(offers_while(domain, THERE), 0);
  wn_blocking_begin(domain);
  processor = THERE;
  wn_blocking_end(other);
  assert_int_equal(atomic_load(&heap->processor_of[other->index]), THERE + 1); /* before its next slice */
  assert_int_equal(wn_domain_detach(other), WN_OK);
  wn_blocking_end(domain);
  close_heap(domain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_helper_offers_the_processor_that_a_domain_runs_on_and_no_other),
      cmocka_unit_test(a_helper_makes_no_way_for_a_domain_that_has_ended),
      cmocka_unit_test(a_helper_makes_way_for_a_domain_that_was_blocked_when_it_is_back),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
