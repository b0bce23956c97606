/* Parameters of a heap that runs: each is kept, each acts. */
#include "gc/journal.h"

#include "base/check.h"
#include "gc/api/params.h"
#include "gc/collect/collector.h"
#include "gc/collect/major.h"
#include "gc/domains/domain.h"
#include <string.h>

/* ---- get and set ---- */

static void the_defaults_are_the_documented_ones(void **state) { /* G22 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  wn_gc_control control = get_control(of.domain);
  const wn_gc_control documented = {.minor_heap_size = TINY ? control.minor_heap_size : 262144,
                                    .major_heap_increment = 15,
                                    .space_overhead = 120,
                                    .verbose = 0,
                                    .max_overhead = 500,
                                    .stack_limit = 1048576,
                                    .allocation_policy = 2,
                                    .window_size = 1,
                                    .custom_major_ratio = 44,
                                    .custom_minor_ratio = 100,
                                    .custom_minor_max_size = 70000};
  assert_memory_equal(&control, &documented, sizeof control);
  journal_close(&of);
}

static void each_parameter_survives_get_set_get(void **state) { /* G23 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  for (unsigned i = 0; i < CONTROLS; i++) {
    wn_gc_control before = get_control(of.domain), changed = before;
    long *value = control_field(&changed, &parameters[i]);
    bool is_verbose = !strcmp(parameters[i].name, "verbose"); /* its bits would talk */
    const long values[] = {parameters[i].least, parameters[i].least + (is_verbose ? 0 : 1)};
    for (unsigned j = 0; j < 2; j++) {
      *value = values[j];
      set_control(of.domain, &changed);
      wn_gc_control after = get_control(of.domain);
      assert_memory_equal(&after, &changed, sizeof after);
      allocate(of.domain, 100, 5);
    }
    set_control(of.domain, &before);
  }
  journal_close(&of);
}

static void a_value_out_of_range_is_named_and_changes_nothing(void **state) { /* G23 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  allocate(of.domain, 10, 5);
  double words = wn_gc_minor_words(of.domain);
  for (unsigned i = 0; i < CONTROLS; i++) {
    const long values[] = {parameters[i].least - 1, parameters[i].most + 1, -1, INT64_MIN, INT64_MAX};
    for (unsigned j = 0; j < 5; j++) {
      wn_gc_control before = get_control(of.domain), wrong = before;
      wrong.window_size = 3; /* would change, if anything did */
      wrong.minor_heap_size = 1000;
      *control_field(&wrong, &parameters[i]) = values[j];
      assert_int_equal(wn_gc_set(of.domain, &wrong), WN_EINVAL);
      assert_non_null(strstr(wn_last_error(), parameters[i].name));
      wn_gc_control after = get_control(of.domain);
      assert_memory_equal(&after, &before, sizeof after);
    }
  }
  assert_true(wn_gc_minor_words(of.domain) == words);
  assert_int_equal(wn_gc_set(of.domain, NULL), WN_EINVAL);
  assert_int_equal(wn_gc_get(of.domain, NULL), WN_EINVAL);
  assert_int_equal(quick_stat(of.domain).minor_collections, 0);
  journal_close(&of);
}

/* ---- while domains run ---- */

static _Atomic(int) ended;

static void keep_lists(wn_domain *domain, void *argument) {
  (void)argument;
  for (int round = 0; round < (TINY ? 10 : 60); round++) {
    WN_SCOPE(domain);
    wn_ref list = make_list(domain, 500, 1 + (size_t)round % 5);
    for (int i = 0; i < 50; i++) {
      WN_SCOPE(domain);
      wn_alloc(domain, 300, 1);
      wn_thread_yield(domain);
    }
    assert_int_equal(length_of(domain, list), 500);
  }
  atomic_fetch_add(&ended, 1);
}

static void parameters_change_while_domains_allocate(void **state) { /* G23 */
  (void)state;
  struct journal of;
  wn_join *joins[3];
  journal_open(&of, NULL);
  atomic_store(&ended, 0);
  for (int i = 0; i < 3; i++) joins[i] = spawn(of.domain, keep_lists, NULL);
  for (long i = 0; i < 20 || (i < 400 && atomic_load(&ended) < 3); i++) {
    wn_gc_control control = get_control(of.domain);
    control.minor_heap_size = 320 + i % 7 * 1111;
    control.space_overhead = 20 + i % 10 * 30;
    control.major_heap_increment = i % 3 ? 15 : CHUNK_WORDS * 2;
    control.allocation_policy = i % 3;
    control.window_size = 1 + i % 50;
    control.stack_limit = 2000 + i * 100;
    set_control(of.domain, &control);
    assert_int_equal(wn_gc_get_minor_free(of.domain), control.minor_heap_size);
    if (i % 5 == 0) assert_int_equal(wn_gc_set_domain_minor_heap(of.domain, 700), WN_OK);
    if (i % 10 == 0) assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
    allocate(of.domain, 20, 20);
  }
  for (int i = 0; i < 3; i++) join_wait(of.domain, joins[i]);
  journal_close(&of);
}

/* ---- handles ---- */

static long handles_until_refused(wn_domain *domain) {
  WN_SCOPE(domain);
  long count = 0;
  while (count < 100000 && !wn_is_null(wn_root(domain, wn_int(count)))) count++;
  return count;
}

static void set_stack_limit(wn_domain *domain, long slots) {
  wn_gc_control control = get_control(domain);
  control.stack_limit = slots;
  set_control(domain, &control);
}

static void count_handles(wn_domain *domain, void *argument) {
  assert_int_equal(handles_until_refused(domain), *(long *)argument);
}

static void a_lower_stack_limit_counts_at_once(void **state) { /* G21 */
  (void)state;
  struct journal of;
  wn_join *join;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  check_handles(&options);
  journal_open(&of, &options);
  const long limits[] = {50000, 700, 64, 701, 49999, 512, 50000};
  for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
    set_stack_limit(of.domain, limits[i]);
    assert_int_equal(handles_until_refused(of.domain), limits[i]);
    assert_non_null(strstr(wn_last_error(), "stack_limit"));
  }
  {
    WN_SCOPE(of.domain); /* what is in use stays */
    for (int i = 0; i < 1000; i++) wn_root(of.domain, wn_int(i));
    set_stack_limit(of.domain, 100);
    assert_true(wn_is_null(wn_root(of.domain, wn_int(0))));
    assert_int_equal(quick_stat(of.domain).stack_size, 1000);
    wn_gc_minor(of.domain);
  }
  assert_int_equal(handles_until_refused(of.domain), 1000);
  long slots = 100;
  join = spawn(of.domain, count_handles, &slots);
  join_wait(of.domain, join);
  slots = 3000; /* more than this thread, which was made before */
  set_stack_limit(of.domain, slots);
  assert_int_equal(wn_thread_spawn(of.domain, count_handles, &slots, &join), WN_OK);
  join_wait(of.domain, join);
  journal_close(&of);
}

static void a_higher_stack_limit_counts_for_later_threads(void **state) { /* G21 */
  (void)state;
  struct journal of;
  wn_join *join;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.stack_limit = 1000;
  check_handles(&options);
  long slots = 9000;
  journal_open(&of, &options);
  set_stack_limit(of.domain, slots);
  assert_int_equal(handles_until_refused(of.domain), 1000);
  join = spawn(of.domain, count_handles, &slots);
  join_wait(of.domain, join);
  journal_close(&of);
}

/* ---- the major heap ---- */

static void arrays_of_all_policies_are_sound(void **state) { /* G18 */
  (void)state;
  for (long policy = 0; policy < 3; policy++) {
    struct journal of;
    journal_open(&of, NULL);
    {
      WN_SCOPE(of.domain);
      wn_ref kept[50];
      wn_gc_control control = get_control(of.domain);
      control.allocation_policy = policy;
      set_control(of.domain, &control);
      for (int i = 0; i < 50; i++) kept[i] = wn_root(of.domain, wn_int(0));
      for (int i = 0; i < 5000; i++) {
        WN_SCOPE(of.domain);
        wn_ref array = wn_alloc(of.domain, TINY ? 400 : 10000, 1);
        assert_false(wn_is_null(array));
        wn_set_int(of.domain, array, 399, i);
        wn_assign(kept[i * 7 % 50], array);
        if (i == 2500) control.allocation_policy = (policy + 1) % 3, wn_gc_set(of.domain, &control);
      }
      for (int i = 0; i < 50; i++) assert_true(wn_to_int(wn_field(kept[i], 399)) >= 4950);
      assert_true(quick_stat(of.domain).heap_words < (TINY ? 400L : 10000L) * 1500);
    }
    journal_close(&of);
  }
}

/* A chunk with holes of 640, 320 and 640 words, and the rest of it; where blocks of 320, 640 and
 * 320 words go then. */
struct places {
  wn_value holes[3], rest, blocks[3];
};

static struct places places_by(const char *policy) {
  static const size_t words[] = {639, 319, 319, 319, 639, 319}, wanted[] = {319, 639, 319};
  struct journal of;
  struct places places;
  wn_heap_options options = without_helpers();
  options.text = policy;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref blocks[6];
    for (int i = 0; i < 6; i++) blocks[i] = wn_alloc(of.domain, words[i], 1);
    places.rest = wn_value_of(blocks[5]) + 320 * sizeof(wn_value);
    for (int i = 0; i < 3; i++) {
      places.holes[i] = wn_value_of(blocks[2 * i]);
      wn_assign_int(blocks[2 * i], 0);
    }
    wn_gc_full_major(of.domain);
    for (int i = 0; i < 3; i++) places.blocks[i] = wn_value_of(wn_alloc(of.domain, wanted[i], 1));
  }
  journal_close(&of);
  return places;
}

static void each_policy_searches_in_its_way(void **state) { /* G18 */
  (void)state;
  const size_t half = 320 * sizeof(wn_value);
  struct places next = places_by("a=0"), first = places_by("a=1"), best = places_by("a=2");
  assert_int_equal(next.blocks[0], next.holes[0]);
  assert_int_equal(next.blocks[1], next.holes[2]);
  assert_int_equal(next.blocks[2], next.rest); /* goes on from there */
  assert_int_equal(first.blocks[0], first.holes[0]);
  assert_int_equal(first.blocks[1], first.holes[2]);
  assert_int_equal(first.blocks[2], first.holes[0] + half);
  assert_int_equal(best.blocks[0], best.holes[1]);
  assert_true(best.blocks[1] == best.holes[0] || best.blocks[1] == best.holes[2]);
  assert_true(best.blocks[2] == best.holes[0] || best.blocks[2] == best.holes[2]);
}

/* How many bytes the heap grows by, the first time that it must, and how many it used then. */
static size_t first_growth(long increment, size_t *used) {
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.major_heap_increment = increment;
  journal_open(&of, &options);
  size_t grown = 0;
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 40, CHUNK_WORDS / 4);
    chunks_trim(&of.heap->store.chunks, 0);
    size_t before = atomic_load(&of.heap->store.chunks.mapped_bytes);
    for (int i = 0; i < 100 && !grown; i++) {
      *used = atomic_load(&of.heap->store.chunks.used_bytes);
      wn_alloc(of.domain, CHUNK_WORDS / 4, 1);
      grown = atomic_load(&of.heap->store.chunks.mapped_bytes) - before;
    }
  }
  journal_close(&of);
  return grown;
}

static void an_increment_of_up_to_a_thousand_is_a_percentage(void **state) { /* G18 */
  (void)state;
  size_t used = 0;
  size_t grown = first_growth(100, &used);
  assert_in_range(grown, used - CHUNK_BYTES, used);
  grown = first_growth(1000, &used);
  assert_in_range(grown, 10 * used - CHUNK_BYTES, 10 * used);
}

static void the_heap_grows_by_the_increment(void **state) { /* G18 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  wn_gc_control control = get_control(of.domain);
  control.major_heap_increment = 9L * CHUNK_WORDS;
  set_control(of.domain, &control);
  chunks_trim(&of.heap->store.chunks, 0);
  size_t before = atomic_load(&of.heap->store.chunks.mapped_bytes), grown = 0;
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0));
    for (int i = 0; i < 100 && !grown; i++) {
      wn_ref block = wn_alloc(of.domain, CHUNK_WORDS / 4, 1);
      wn_set(of.domain, block, 0, list);
      wn_assign(list, block);
      grown = atomic_load(&of.heap->store.chunks.mapped_bytes) - before;
    }
  }
  assert_int_equal(grown, 9L * CHUNK_BYTES);
  journal_close(&of);
}

/* Cycles that run while so much is allocated and half of a list is replaced. */
static long cycles_with(const wn_heap_options *options) {
  struct journal of;
  long cycles;
  journal_open(&of, options);
  {
    WN_SCOPE(of.domain);
    wn_ref live = make_list(of.domain, TINY ? 3000 : 30000, 9);
    wn_gc_full_major(of.domain);
    long before = quick_stat(of.domain).major_collections;
    for (int i = 0; i < 40; i++) {
      WN_SCOPE(of.domain);
      wn_assign(live, make_list(of.domain, TINY ? 3000 : 30000, 9));
    }
    cycles = quick_stat(of.domain).major_collections - before;
  }
  journal_close(&of);
  return cycles;
}

static void less_overhead_makes_more_cycles(void **state) { /* G20 */
  (void)state;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = TINY ? 320 : 32768;
  options.parameters.space_overhead = 40;
  long many = cycles_with(&options);
  options.parameters.space_overhead = TINY ? 2000 : 200;
  long few = cycles_with(&options);
  assert_true(few > 0 && many > few + few / 2);
}

static void a_window_divides_the_slices(void **state) { /* G18 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 3000, 9);
    major_collect(of.domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_REQUEST);
    assert_int_equal(heap_phase(of.heap), PHASE_MARK);
    atomic_store(&of.heap->collector->pace.debt, 50);
    assert_int_equal(major_slice_words(of.heap), 50);
    wn_gc_control control = get_control(of.domain);
    control.window_size = 10;
    set_control(of.domain, &control);
    assert_int_equal(major_slice_words(of.heap), 5);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_defaults_are_the_documented_ones),
      cmocka_unit_test(each_parameter_survives_get_set_get),
      cmocka_unit_test(a_value_out_of_range_is_named_and_changes_nothing),
      cmocka_unit_test(parameters_change_while_domains_allocate),
      cmocka_unit_test(a_lower_stack_limit_counts_at_once),
      cmocka_unit_test(a_higher_stack_limit_counts_for_later_threads),
      cmocka_unit_test(arrays_of_all_policies_are_sound),
      cmocka_unit_test(each_policy_searches_in_its_way),
      one_thread_test(an_increment_of_up_to_a_thousand_is_a_percentage),
      cmocka_unit_test(the_heap_grows_by_the_increment),
      one_thread_test(less_overhead_makes_more_cycles),
      cmocka_unit_test(a_window_divides_the_slices),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
