/* Compactions: what they leave of a heap, that all that holds a block follows it, and when they come
 * by themselves. */
#include "gc/compacting.h"

#include "base/check.h"
#include "gc/domains/heap.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <winnow/events.h>
#include <winnow/weak.h>

/* ---- what is left ---- */

static void little_more_is_left_than_what_is_live(void **state) { /* G28 */
  (void)state;
  struct journal of;
  open_with(&of, ONLY_REQUESTED);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_mixed(of.domain, TINY ? 20000 : 200000);
    drop_four_of_five(of.domain, array);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    wn_gc_stat before = read_stat(of.domain);
    compact_heap(of.domain);
    wn_gc_stat after = read_stat(of.domain);
    assert_int_equal(after.live_words, before.live_words);
    assert_int_equal(after.live_blocks, before.live_blocks);
    assert_true((double)before.heap_words > 3 * (double)before.live_words);
    assert_true((double)after.heap_words < 1.2 * (double)after.live_words + (TINY ? 90000 : 200000));
    check_mixed(of.domain, array);
  }
  journal_close(&of);
}

static void a_second_compaction_finds_little_to_move(void **state) { /* G28 */
  (void)state;
  struct journal of;
  open_with(&of, ONLY_REQUESTED);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_mixed(of.domain, TINY ? 2000 : 10000);
    drop_four_of_five(of.domain, array);
    compact_heap(of.domain);
    long heap = quick_stat(of.domain).heap_words;
    size_t stayed = 0, all = 0;
    wn_value *before = test_calloc(wn_words(wn_value_of(array)), sizeof *before);
    for (size_t i = 0; i < wn_words(wn_value_of(array)); i++) before[i] = wn_field(array, i);
    compact_heap(of.domain);
    for (size_t i = 0; i < wn_words(wn_value_of(array)); i++) {
      if (before[i] & 1) continue;
      all++;
      stayed += before[i] == wn_field(array, i);
    }
    assert_true(stayed * 2 > all);
    assert_true(quick_stat(of.domain).heap_words <= heap);
    check_mixed(of.domain, array);
    test_free(before);
  }
  journal_close(&of);
}

/* ---- what follows a block ---- */

struct stack {
  wn_value value;
};

static void walk_stack(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  (void)domain;
  struct stack *stack = context;
  if (stack->value) visit(visitor, &stack->value);
}

static void all_that_holds_a_block_follows_it(void **state) { /* G28 */
  (void)state;
  struct journal of;
  struct stack stack = {0};
  wn_heap_options options = without_helpers();
  options.text = MOVES_ALL;
  options.hooks.walk_roots = walk_stack;
  options.hooks.context = &stack;
  journal_open(&of, &options);
  wn_domain *d = of.domain;
  {
    WN_SCOPE(d);
    wn_ref block = block_of(d, 42), bytes = wn_alloc_bytes(d, 100);
    wn_ref medium = wn_alloc(d, 1000, 0), large = wn_alloc(d, 200000, 0);
    wn_ref weak = wn_weak_new(d, 1), ephemeron = wn_ephemeron_new(d, 1);
    wn_global *global = wn_global_new(d, block);
    memset(wn_bytes(bytes), 7, 100);
    wn_set(d, medium, 999, block);
    wn_set(d, large, 199999, medium);
    wn_set(d, medium, 0, bytes);
    assert_int_equal(wn_weak_set(d, weak, 0, block), WN_OK);
    assert_int_equal(wn_ephemeron_set_key(d, ephemeron, 0, medium), WN_OK);
    assert_int_equal(wn_ephemeron_set_data(d, ephemeron, block), WN_OK);
    stack.value = wn_value_of(block);
    assert_int_equal(wn_gc_full_major(d), WN_OK);
    wn_value before = wn_value_of(block), medium_before = wn_value_of(medium);
    for (int i = 0; i < 3; i++) compact_heap(d);
    assert_int_not_equal(wn_value_of(block), before);
    assert_int_not_equal(wn_value_of(medium), medium_before);
    assert_int_equal(stack.value, wn_value_of(block));
    assert_int_equal(wn_value_of(wn_global_get(d, global)), wn_value_of(block));
    assert_int_equal(wn_field(medium, 999), wn_value_of(block));
    assert_int_equal(wn_field(large, 199999), wn_value_of(medium));
    assert_int_equal(wn_value_of(wn_weak_get(d, weak, 0)), wn_value_of(block));
    assert_int_equal(wn_value_of(wn_ephemeron_get_key(d, ephemeron, 0)), wn_value_of(medium));
    assert_int_equal(wn_value_of(wn_ephemeron_get_data(d, ephemeron)), wn_value_of(block));
    for (int i = 0; i < 100; i++) assert_int_equal(((char *)wn_bytes(wn_get(d, medium, 0)))[i], 7);
    assert_int_equal(number_of(block), 42);
    wn_global_free(d, global);
    stack.value = 0;
  }
  journal_close(&of);
}

static void finalisers_get_the_block_where_it_is_and_only_when_it_is_dead(void **state) { /* G28 */
  (void)state;
  struct journal of;
  open_moving(&of);
  struct entry first = {&of, 1}, last = {&of, 2};
  {
    WN_SCOPE(of.domain);
    wn_ref block = block_of(of.domain, 5);
    register_first(&of, &first, block);
    register_last(&of, &last, block);
    for (int i = 0; i < 3; i++) compact_heap(of.domain);
    assert_int_equal(of.count, 0);
  }
  for (int i = 0; i < 3; i++) compact_heap(of.domain);
  ASSERT_JOURNAL(&of, 1, 2);
  journal_close(&of);
}

static void keep_number(wn_domain *domain, wn_ref value, void *context) {
  (void)domain;
  *(intptr_t *)context = number_of(value);
}

static void hold_back(wn_domain *domain, wn_ref value, void *context) {
  (void)value, (void)context;
  assert_int_equal(wn_gc_compact(domain), WN_OK); /* the next call is pending, and its value moves */
}

static void values_of_pending_calls_move_too(void **state) { /* G28 */
  (void)state;
  struct journal of;
  intptr_t number = 0;
  open_moving(&of);
  {
    WN_SCOPE(of.domain); /* the last registered is called first */
    assert_int_equal(wn_gc_finalise(of.domain, keep_number, &number, block_of(of.domain, 77)), WN_OK);
    assert_int_equal(wn_gc_finalise(of.domain, hold_back, NULL, block_of(of.domain, 1)), WN_OK);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(number, 77);
  journal_close(&of);
}

/* ---- tracked blocks ---- */

struct calls {
  long allocated, promoted, died;
};

static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  return ((struct calls *)context)->allocated++, context;
}
static void *promoted(wn_domain *domain, void *metadata, void *context) {
  (void)domain;
  ((struct calls *)context)->promoted++;
  return metadata;
}
static void *promote_as_is(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)context;
  return metadata;
}
static void died(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)metadata;
  ((struct calls *)context)->died++;
}

static void tracked_blocks_are_followed_and_nobody_is_told(void **state) { /* M71 */
  (void)state;
  enum { BLOCKS = 200 };
  struct journal of;
  struct calls calls = {0};
  wn_profile *profile;
  open_moving(&of);
  wn_memprof_options options = {.sampling_rate = 1, .callstack_size = 0};
  wn_tracker tracker = {.alloc_minor = born,
                        .alloc_major = born,
                        .promote = promoted,
                        .dealloc_minor = died,
                        .dealloc_major = died,
                        .context = &calls};
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_alloc(of.domain, BLOCKS, 0);
    assert_int_equal(wn_memprof_start(of.domain, &options, &tracker, &profile), WN_OK);
    for (size_t i = 0; i < BLOCKS; i++) {
      WN_SCOPE(of.domain);
      wn_set(of.domain, list, i, wn_alloc(of.domain, i % 10 ? 5 : 400, 1));
    }
    assert_int_equal(wn_memprof_stop(of.domain), WN_OK);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    struct calls before = calls;
    assert_int_equal(before.allocated, BLOCKS);
    for (int i = 0; i < 3; i++) compact_heap(of.domain);
    assert_memory_equal(&calls, &before, sizeof calls);
    for (size_t i = 0; i < BLOCKS; i += 2) wn_set_int(of.domain, list, i, 0);
    compact_heap(of.domain);
    assert_int_equal(calls.died, BLOCKS / 2);
  }
  compact_heap(of.domain);
  assert_int_equal(calls.died, BLOCKS);
  assert_int_equal(wn_memprof_discard(profile), WN_OK);
  journal_close(&of);
}

struct slow_drop {
  _Atomic(int) step;   /* 1: a drop waits; 2: it goes on */
  _Atomic(int) before; /* drops that do not wait */
  wn_profile *profile;
};

static void wait_in_drop(void *metadata, void *context) {
  struct slow_drop *drop = context;
  (void)metadata;
  if (atomic_fetch_sub(&drop->before, 1)) return;
  atomic_store(&drop->step, 1);
  while (atomic_load(&drop->step) < 2) sched_yield();
}

static void *keep_drop(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  return context;
}

static void *discard(void *argument) {
  struct slow_drop *drop = argument;
  assert_int_equal(wn_memprof_discard(drop->profile), WN_OK);
  return NULL;
}

/* The blocks whose samples are forgotten already move, too, and the next cycle looks at them. */
static void blocks_of_a_profile_that_is_being_discarded_are_followed(void **state) { /* M71 */
  (void)state;
  enum { BLOCKS = TINY ? 2000 : 40000 };
  struct journal of;
  struct slow_drop drop = {.before = BLOCKS / 2};
  pthread_t thread;
  open_moving(&of);
  wn_memprof_options options = {.sampling_rate = 1, .callstack_size = 0};
  wn_tracker tracker = {
      .alloc_minor = keep_drop, .promote = promote_as_is, .drop = wait_in_drop, .context = &drop};
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_alloc(of.domain, BLOCKS, 0);
    assert_int_equal(wn_memprof_start(of.domain, &options, &tracker, &drop.profile), WN_OK);
    for (size_t i = 0; i < BLOCKS; i++) {
      WN_SCOPE(of.domain);
      wn_set(of.domain, list, i, wn_alloc(of.domain, 20, 1));
    }
    assert_int_equal(wn_memprof_stop(of.domain), WN_OK);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(pthread_create(&thread, NULL, discard, &drop), 0);
    wait_for_step(of.domain, &drop.step, 1);
    for (int i = 0; i < 3; i++) compact_heap(of.domain);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    atomic_store(&drop.step, 2);
    pthread_join(thread, NULL);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  }
  journal_close(&of);
}

/* ---- by itself ---- */

/* So many cycles, by small requests, of a heap that is mostly holes. */
static long compactions_in_cycles(long max_overhead, int cycles, long *all_cycles) {
  struct journal of;
  long compactions;
  wn_heap_options options = without_helpers();
  options.parameters.max_overhead = max_overhead;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_mixed(of.domain, TINY ? 5000 : 20000);
    drop_four_of_five(of.domain, array);
    for (int i = 0; i < cycles; i++) assert_int_equal(wn_gc_major(of.domain), WN_OK);
    check_mixed(of.domain, array);
    compactions = quick_stat(of.domain).compactions;
    *all_cycles = quick_stat(of.domain).major_collections;
  }
  journal_close(&of);
  return compactions;
}

static void max_overhead_begins_a_compaction_when_a_cycle_ends(void **state) { /* G19, G29 */
  (void)state;
  long cycles;
  assert_int_equal(compactions_in_cycles(1000000, 4, &cycles), 0);
  assert_int_equal(compactions_in_cycles(999999, 4, &cycles), 0);
  assert_int_equal(compactions_in_cycles(0, 4, &cycles), cycles);
  assert_in_range(compactions_in_cycles(50, 4, &cycles), 1, cycles - 1); /* not again once it is compact */
}

static void a_heap_without_holes_is_left_alone(void **state) { /* G29 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.max_overhead = 1;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref list = make_list(of.domain, 5000, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(wn_gc_major(of.domain), WN_OK);
    wn_value before = wn_value_of(list);
    long compactions = quick_stat(of.domain).compactions;
    for (int i = 0; i < 10; i++) assert_int_equal(wn_gc_major(of.domain), WN_OK);
    assert_int_equal(wn_value_of(list), before);
    assert_int_equal(quick_stat(of.domain).compactions, compactions);
  }
  journal_close(&of);
}

/* ---- limits, and others ---- */

static void without_memory_for_copies_blocks_stay(void **state) { /* G28 */
  (void)state;
  struct journal of;
  open_moving(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_mixed(of.domain, TINY ? 3000 : 10000);
    drop_four_of_five(of.domain, array);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    struct chunks *chunks = &of.heap->store.chunks;
    chunks->limit_bytes = atomic_load(&chunks->mapped_bytes);
    for (int i = 0; i < 3; i++) compact_heap(of.domain);
    chunks->limit_bytes = SIZE_MAX;
    check_mixed(of.domain, array);
    compact_heap(of.domain);
    check_mixed(of.domain, array);
  }
  journal_close(&of);
}

/* How many cycles the same work takes. */
static long cycles_of_work(wn_domain *domain, wn_ref array) {
  long before = quick_stat(domain).major_collections;
  for (size_t round = 0; round < 60; round++)
    for (size_t i = 0; i < wn_words(wn_value_of(array)); i++) {
      WN_SCOPE(domain);
      wn_set(domain, array, i, block_of(domain, (intptr_t)i));
    }
  return quick_stat(domain).major_collections - before;
}

static void a_thousand_compactions_do_not_upset_the_pace(void **state) { /* G28 */
  (void)state;
  enum { BLOCKS = 5000 };
  struct journal of;
  open_with(&of, "O=1000000,s=4096");
  {
    WN_SCOPE(of.domain);
    wn_ref array = wn_alloc(of.domain, BLOCKS, 0);
    cycles_of_work(of.domain, array);
    assert_int_equal(wn_gc_compact(of.domain), WN_OK);
    long before = cycles_of_work(of.domain, array);
    for (int i = 0; i < 1000; i++) {
      WN_SCOPE(of.domain);
      wn_set(of.domain, array, (size_t)i, block_of(of.domain, i));
      assert_int_equal(wn_gc_compact(of.domain), WN_OK);
    }
    long after = cycles_of_work(of.domain, array);
    assert_true(before > 1);
    assert_in_range(after, before - 1, before + 1);
    assert_int_equal(quick_stat(of.domain).compactions, 1001);
  }
  journal_close(&of);
}

static void wait_and_check(wn_domain *domain, void *argument) {
  _Atomic(int) *step = argument;
  WN_SCOPE(domain);
  wn_ref array = make_mixed(domain, TINY ? 1000 : 5000);
  drop_four_of_five(domain, array);
  atomic_fetch_add(step, 1);
  wait_for_step(domain, step, 1000);
  check_mixed(domain, array);
}

static void domains_that_wait_share_the_work_and_find_their_blocks(void **state) { /* G28 */
  (void)state;
  enum { DOMAINS = 3 };
  struct journal of;
  _Atomic(int) step = 0;
  wn_join *joins[DOMAINS];
  open_moving(&of);
  {
    WN_SCOPE(of.domain);
    for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, wait_and_check, &step);
    wait_for_step(of.domain, &step, DOMAINS);
    wn_ref array = make_mixed(of.domain, TINY ? 1000 : 5000);
    drop_four_of_five(of.domain, array);
    for (int i = 0; i < 5; i++) compact_heap(of.domain);
    atomic_store(&step, 1000);
    for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
    check_mixed(of.domain, array);
  }
  journal_close(&of);
}

static void keep_event(const wn_gc_event *event, void *context) { *(wn_gc_event *)context = *event; }

static void a_listener_is_told_what_moved_and_what_went_back(void **state) { /* N7 */
  (void)state;
  struct journal of;
  wn_gc_event told = {0};
  wn_gc_listener *listener;
  open_with(&of, ONLY_REQUESTED);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_mixed(of.domain, TINY ? 5000 : 20000);
    drop_four_of_five(of.domain, array);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    size_t before = atomic_load(&of.heap->store.chunks.mapped_bytes);
    assert_int_equal(wn_gc_listen(of.domain, WN_GC_EVENT(WN_GC_COMPACTION), keep_event, &told, &listener),
                     WN_OK);
    compact_heap(of.domain);
    assert_int_equal(told.kind, WN_GC_COMPACTION);
    assert_true(told.began_ns && told.began_ns <= told.ns);
    assert_true(told.words > 0 && (long)told.words < read_stat(of.domain).live_words);
    assert_true(told.bytes > 0);
    assert_true(told.mapped < before);
    assert_int_equal(wn_gc_unlisten(of.domain, listener), WN_OK);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      one_thread_test(little_more_is_left_than_what_is_live),
      cmocka_unit_test(a_second_compaction_finds_little_to_move),
      cmocka_unit_test(all_that_holds_a_block_follows_it),
      cmocka_unit_test(finalisers_get_the_block_where_it_is_and_only_when_it_is_dead),
      cmocka_unit_test(values_of_pending_calls_move_too),
      cmocka_unit_test(tracked_blocks_are_followed_and_nobody_is_told),
      cmocka_unit_test(blocks_of_a_profile_that_is_being_discarded_are_followed),
      one_thread_test(max_overhead_begins_a_compaction_when_a_cycle_ends),
      cmocka_unit_test(a_heap_without_holes_is_left_alone),
      cmocka_unit_test(without_memory_for_copies_blocks_stay),
      one_thread_test(a_thousand_compactions_do_not_upset_the_pace),
      cmocka_unit_test(domains_that_wait_share_the_work_and_find_their_blocks),
      cmocka_unit_test(a_listener_is_told_what_moved_and_what_went_back),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
