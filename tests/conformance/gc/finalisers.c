/* Finalisers of one domain: when they are called, in which order, what they may do, and what is
 * left at the end. */
#include "gc/journal.h"
#include "support/mapped.h"

#include <sys/resource.h>

/* Under these the address space cannot be limited. */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

/* ---- when ---- */

static void read_number(wn_domain *domain, wn_ref value, void *context) {
  (void)domain;
  *(intptr_t *)context = number_of(value);
}

static void finalise_is_called_with_the_value_that_died(void **state) { /* G35 */
  (void)state;
  struct journal of;
  intptr_t seen = 0;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref value = block_of(of.domain, 42);
    assert_int_equal(wn_gc_finalise(of.domain, read_number, &seen, value), WN_OK);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(seen, 0);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(seen, 42);
  journal_close(&of);
}

static void large_values_are_finalised_as_well(void **state) { /* G32 */
  (void)state;
  struct journal of;
  intptr_t seen[3] = {0};
  const size_t words[] = {200, 5000, 1 << 20};
  journal_open(&of, NULL);
  for (int i = 0; i < 3; i++) {
    WN_SCOPE(of.domain);
    wn_ref value = wn_alloc(of.domain, words[i], 0);
    wn_set_int(of.domain, value, 0, i + 1);
    assert_int_equal(wn_gc_finalise(of.domain, read_number, &seen[i], value), WN_OK);
  }
  wn_gc_full_major(of.domain);
  for (int i = 0; i < 3; i++) assert_int_equal(seen[i], i + 1);
  journal_close(&of);
}

static void a_young_value_with_finalise_is_not_finalised_by_minor_collections(void **state) { /* G37 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry entry = {&of, 1};
  dead_first(&of, &entry);
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  assert_int_equal(of.count, 0);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 1);
  journal_close(&of);
}

static void finalise_last_of_a_young_value_is_called_after_the_minor_collection_it_died_in(void **state) {
  /* G37 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry entry = {&of, 1};
  wn_gc_minor(of.domain);
  dead_last(&of, &entry);
  assert_int_equal(of.count, 0);
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 1);
  wn_gc_full_major(of.domain);
  ASSERT_JOURNAL(&of, 1);
  journal_close(&of);
}

static void note_cycles(wn_domain *domain, void *context) {
  *(long *)context = quick_stat(domain).major_collections;
}

static void finalise_last_of_a_young_value_waits_for_the_rest_of_a_full_major(void **state) { /* G37 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  long cycles = -1;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref young = block_of(of.domain, 1);
    assert_int_equal(wn_gc_finalise_last(of.domain, note_cycles, &cycles, young), WN_OK);
  }
  long before = quick_stat(of.domain).major_collections;
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_true(quick_stat(of.domain).major_collections > before);
  assert_int_equal(cycles, quick_stat(of.domain).major_collections);
  journal_close(&of);
}

static void finalise_last_is_not_called_while_the_value_is_reachable(void **state) { /* G36 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry entry = {&of, 1};
  {
    WN_SCOPE(of.domain);
    wn_ref outer = wn_alloc(of.domain, 1, 0);
    {
      WN_SCOPE(of.domain);
      wn_ref inner = block_of(of.domain, 7);
      register_last(&of, &entry, inner);
      wn_set(of.domain, outer, 0, inner);
    }
    for (int i = 0; i < 5; i++) {
      wn_gc_minor(of.domain);
      wn_gc_full_major(of.domain);
      assert_int_equal(of.count, 0);
    }
    assert_int_equal(number_of(wn_get(of.domain, outer, 0)), 7);
  }
  wn_gc_full_major(of.domain);
  ASSERT_JOURNAL(&of, 1);
  journal_close(&of);
}

static void one_full_major_collects_all_but_values_with_finalise_and_a_second_those(void **state) { /* G27 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry first = {&of, 1}, last = {&of, 2}, child_last = {&of, 3}, other = {&of, 4};
  {
    WN_SCOPE(of.domain);
    wn_ref value = wn_alloc(of.domain, 1, 0), child = block_of(of.domain, 0);
    wn_set(of.domain, value, 0, child);
    register_last(&of, &child_last, child);
    register_last(&of, &last, value);
    register_first(&of, &first, value);
    register_last(&of, &other, block_of(of.domain, 0));
    wn_gc_minor(of.domain);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 1, 4);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 1, 4, 2, 3);
  journal_close(&of);
}

static void integers_have_no_finalisers(void **state) { /* G32 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref integer = wn_root(of.domain, wn_int(1)), null = {NULL};
    assert_int_equal(wn_gc_finalise(of.domain, write_first, NULL, integer), WN_EINVAL);
    assert_string_equal(wn_last_error(), "finalise: the value is an integer");
    assert_int_equal(wn_gc_finalise_last(of.domain, write_last, NULL, integer), WN_EINVAL);
    assert_string_equal(wn_last_error(), "finalise: the value is an integer");
    assert_int_equal(wn_gc_finalise(of.domain, NULL, NULL, block_of(of.domain, 0)), WN_EINVAL);
    assert_int_equal(wn_gc_finalise_last(of.domain, NULL, NULL, block_of(of.domain, 0)), WN_EINVAL);
    assert_int_equal(wn_gc_finalise(of.domain, write_first, NULL, null), WN_EINVAL);
    wn_gc_full_major(of.domain);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  }
  journal_close(&of);
}

/* ---- in which order ---- */

static void values_of_one_cycle_are_finalised_last_registered_first(void **state) { /* G34 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry entries[] = {{&of, 1}, {&of, 2}, {&of, 3}, {&of, 4}};
  {
    WN_SCOPE(of.domain);
    wn_ref value = block_of(of.domain, 0);
    for (int i = 0; i < 4; i++) register_first(&of, &entries[i], i == 2 ? value : block_of(of.domain, i));
  }
  wn_gc_full_major(of.domain);
  ASSERT_JOURNAL(&of, 4, 3, 2, 1);
  journal_close(&of);
}

static void each_registration_of_a_value_is_called_once(void **state) { /* G33 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry a = {&of, 1}, b = {&of, 2}, c = {&of, 3};
  {
    WN_SCOPE(of.domain);
    wn_ref value = block_of(of.domain, 0);
    register_first(&of, &a, value);
    register_first(&of, &b, value);
    register_first(&of, &b, value);
    register_last(&of, &c, value);
    register_last(&of, &c, value);
  }
  for (int i = 0; i < 4; i++) wn_gc_full_major(of.domain);
  ASSERT_JOURNAL(&of, 2, 2, 1, 3, 3);
  journal_close(&of);
}

static void finalise_comes_before_finalise_last_of_the_same_cycle(void **state) { /* G36 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry entries[] = {{&of, 1}, {&of, 2}, {&of, 3}, {&of, 4}};
  {
    WN_SCOPE(of.domain);
    register_last(&of, &entries[0], block_of(of.domain, 0));
    register_first(&of, &entries[1], block_of(of.domain, 0));
    register_last(&of, &entries[2], block_of(of.domain, 0));
    register_first(&of, &entries[3], block_of(of.domain, 0));
    wn_gc_minor(of.domain);
  }
  wn_gc_full_major(of.domain);
  ASSERT_JOURNAL(&of, 4, 2, 3, 1);
  journal_close(&of);
}

/* Lets values die in two cycles, while the others must wait. */
static void die_in_two_cycles(wn_domain *domain, wn_ref value, void *context) {
  struct entry *entries = context;
  struct journal *of = entries[0].journal;
  (void)value;
  for (int i = 0; i < 2; i++) {
    {
      WN_SCOPE(domain);
      register_first(of, &entries[2 * i], block_of(domain, 0));
      register_first(of, &entries[2 * i + 1], block_of(domain, 0));
    }
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
  }
  assert_int_equal(of->count, 0);
}

static void batches_of_different_cycles_are_first_in_first_out(void **state) { /* G34 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry entries[] = {{&of, 1}, {&of, 2}, {&of, 3}, {&of, 4}};
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, die_in_two_cycles, entries, block_of(of.domain, 0)), WN_OK);
  }
  wn_gc_full_major(of.domain);
  ASSERT_JOURNAL(&of, 2, 1, 4, 3);
  journal_close(&of);
}

/* ---- what a finaliser may do ---- */

struct revival {
  struct journal of;
  wn_global *saved;
  long times;
};

static void revive(wn_domain *domain, wn_ref value, void *context) {
  struct revival *revival = context;
  revival->times++;
  wn_global_set(domain, revival->saved, value);
}

static void a_value_may_be_made_reachable_again(void **state) { /* G35, G36 */
  (void)state;
  struct revival revival = {0};
  struct entry last = {&revival.of, 1};
  journal_open(&revival.of, NULL);
  wn_domain *domain = revival.of.domain;
  {
    WN_SCOPE(domain);
    wn_ref none = wn_root(domain, wn_int(0));
    revival.saved = wn_global_new(domain, none);
    {
      WN_SCOPE(domain);
      wn_ref value = wn_alloc(domain, 1, 0);
      wn_set(domain, value, 0, block_of(domain, 99));
      assert_int_equal(wn_gc_finalise(domain, revive, &revival, value), WN_OK);
      register_last(&revival.of, &last, value);
    }
    for (int i = 0; i < 3; i++) wn_gc_full_major(domain);
    assert_int_equal(revival.times, 1);
    assert_int_equal(number_of(wn_get(domain, wn_global_get(domain, revival.saved), 0)), 99);
    assert_int_equal(revival.of.count, 0);
    wn_global_set(domain, revival.saved, none);
  }
  wn_gc_full_major(domain);
  assert_int_equal(revival.times, 1);
  ASSERT_JOURNAL(&revival.of, 1);
  wn_global_free(domain, revival.saved);
  journal_close(&revival.of);
}

static void register_again(wn_domain *domain, wn_ref value, void *context) {
  long *left = context;
  assert_int_equal(number_of(value), 5);
  if (--*left) assert_int_equal(wn_gc_finalise(domain, register_again, context, value), WN_OK);
}

static void a_finaliser_may_register_its_value_again(void **state) { /* G35 */
  (void)state;
  struct journal of;
  long left = 4;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, register_again, &left, block_of(of.domain, 5)), WN_OK);
  }
  for (int i = 4; i > 0; i--) {
    assert_int_equal(left, i);
    wn_gc_full_major(of.domain);
  }
  assert_int_equal(left, 0);
  wn_gc_full_major(of.domain);
  assert_int_equal(left, 0);
  journal_close(&of);
}

static void collect_inside(wn_domain *domain, wn_ref value, void *context) {
  WN_SCOPE(domain);
  wn_ref local = wn_alloc(domain, 1, 0);
  wn_set(domain, local, 0, block_of(domain, 1234));
  for (int i = 0; i < 3; i++) {
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
    assert_int_equal(wn_gc_compact(domain), WN_OK);
    wn_gc_major_slice(domain, 0);
    assert_int_equal(number_of(wn_get(domain, local, 0)), 1234);
    assert_int_equal(number_of(value), 6);
  }
  ++*(long *)context;
}

static void a_finaliser_may_collect_with_live_handles(void **state) { /* G35 */
  (void)state;
  struct journal of;
  long times = 0;
  journal_open(&of, NULL);
  for (int i = 0; i < 5; i++) {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, collect_inside, &times, block_of(of.domain, 6)), WN_OK);
  }
  wn_gc_full_major(of.domain);
  assert_int_equal(times, 5);
  journal_close(&of);
}

static void leave_the_heap(wn_domain *domain, wn_ref value, void *context) {
  (void)value;
  *(wn_status *)context = wn_domain_detach(domain);
}

static void a_finaliser_cannot_end_its_domain(void **state) { /* G54i */
  (void)state;
  struct journal of;
  wn_status status = WN_OK;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, leave_the_heap, &status, block_of(of.domain, 0)), WN_OK);
  }
  wn_gc_full_major(of.domain);
  assert_int_equal(status, WN_ESTATE);
  journal_close(&of);
}

static void a_value_that_its_own_context_keeps_never_dies(void **state) { /* G38 */
  (void)state;
  struct revival revival = {0};
  journal_open(&revival.of, NULL);
  wn_domain *domain = revival.of.domain;
  {
    WN_SCOPE(domain);
    wn_ref value = block_of(domain, 5);
    revival.saved = wn_global_new(domain, value);
    assert_int_equal(wn_gc_finalise(domain, revive, &revival, value), WN_OK);
  }
  for (int i = 0; i < 5; i++) wn_gc_full_major(domain);
  assert_int_equal(revival.times, 0);
  {
    WN_SCOPE(domain);
    wn_global_set(domain, revival.saved, wn_root(domain, wn_int(0)));
  }
  wn_gc_full_major(domain);
  assert_int_equal(revival.times, 1);
  journal_close(&revival.of);
}

/* ---- many ---- */

struct crowd {
  long first, last;
  wn_global *keep;
};

static void count_first(wn_domain *domain, wn_ref value, void *context) {
  struct crowd *crowd = context;
  crowd->first++;
  if (number_of(value) % 16 == 0) wn_global_set(domain, crowd->keep, value);
  if (number_of(value) % 64 == 1) wn_gc_minor(domain);
}
static void count_last(wn_domain *domain, void *context) {
  (void)domain;
  ((struct crowd *)context)->last++;
}

static void thousands_of_mixed_registrations_are_all_called(void **state) { /* G33 */
  (void)state;
  enum { REGISTRATIONS = 10000 };
  struct journal of;
  struct crowd crowd = {0};
  long first = 0, last = 0;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    crowd.keep = wn_global_new(of.domain, wn_root(of.domain, wn_int(0)));
    wn_ref alive = wn_alloc(of.domain, 100, 0);
    for (intptr_t i = 0; i < REGISTRATIONS; i++) {
      WN_SCOPE(of.domain);
      wn_ref value = block_of(of.domain, i);
      if (i % 3) first++, assert_int_equal(wn_gc_finalise(of.domain, count_first, &crowd, value), WN_OK);
      if (i % 2) last++, assert_int_equal(wn_gc_finalise_last(of.domain, count_last, &crowd, value), WN_OK);
      if (i % 5 == 0) wn_set(of.domain, alive, (size_t)i % 100, value);
      if (i % 1000 == 999) wn_gc_major(of.domain);
      wn_poll(of.domain);
    }
    assert_true(crowd.first < first && crowd.last < last);
    wn_set_int(of.domain, alive, 0, 0);
  }
  wn_gc_full_major(of.domain);
  wn_global_free(of.domain, crowd.keep);
  wn_gc_full_major(of.domain);
  wn_gc_full_major(of.domain);
  assert_int_equal(crowd.first, first);
  assert_int_equal(crowd.last, last);
  journal_close(&of);
}

/* ---- memory ---- */

static void a_registration_without_memory_changes_nothing(void **state) { /* G32 */
  (void)state;
  if (__asan_init || __tsan_init) skip();
  struct journal of;
  struct crowd crowd = {0};
  struct rlimit old, small;
  long registered = 0;
  wn_status status = WN_OK;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref value = block_of(of.domain, 3);
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    small = (struct rlimit){mapped_bytes() + (1 << 20), old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    while (!(status = wn_gc_finalise_last(of.domain, count_last, &crowd, value)) && registered < 1000000)
      registered++;
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
  }
  assert_int_equal(status, WN_ENOMEM);
  assert_true(registered > 0);
  wn_gc_full_major(of.domain);
  assert_int_equal(crowd.last, registered);
  journal_close(&of);
}

/* ---- closing ---- */

static void leave_behind(struct journal *of, struct entry *entries) {
  WN_SCOPE(of->domain);
  wn_ref value = block_of(of->domain, 1);
  wn_global_new(of->domain, value);
  register_last(of, &entries[0], value);
  register_first(of, &entries[1], value);
  register_first(of, &entries[2], block_of(of->domain, 2));
  register_last(of, &entries[3], value);
}

static void closing_a_heap_calls_no_finalisers(void **state) { /* G43 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry entries[] = {{&of, 1}, {&of, 2}, {&of, 3}, {&of, 4}};
  leave_behind(&of, entries);
  journal_close(&of);
  assert_int_equal(of.count, 0);
}

static void closing_a_heap_calls_what_is_left_if_asked_to(void **state) { /* G43 */
  (void)state;
  struct journal of;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.finalise_at_close = true;
  journal_open(&of, &options);
  struct entry entries[] = {{&of, 1}, {&of, 2}, {&of, 3}, {&of, 4}};
  leave_behind(&of, entries);
  journal_close(&of);
  ASSERT_JOURNAL(&of, 3, 2, 4, 1);
}

static void raise_value(wn_domain *domain, wn_ref value, void *context) {
  write_first(domain, value, context);
  wn_raise(domain, value);
}

static void a_finaliser_at_close_may_raise_register_and_collect(void **state) { /* G43 */
  (void)state;
  struct journal of;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.finalise_at_close = true;
  journal_open(&of, &options);
  struct entry raises = {&of, 1};
  long left = 3, times = 0;
  {
    WN_SCOPE(of.domain);
    wn_ref value = block_of(of.domain, 5);
    wn_global_new(of.domain, value);
    assert_int_equal(wn_gc_finalise(of.domain, register_again, &left, value), WN_OK);
    assert_int_equal(wn_gc_finalise(of.domain, raise_value, &raises, value), WN_OK);
    wn_set_int(of.domain, value, 0, 5);
    wn_ref other = block_of(of.domain, 6);
    wn_global_new(of.domain, other);
    assert_int_equal(wn_gc_finalise(of.domain, collect_inside, &times, other), WN_OK);
  }
  journal_close(&of);
  assert_int_equal(times, 1);
  assert_int_equal(left, 2);
  ASSERT_JOURNAL(&of, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finalise_is_called_with_the_value_that_died),
      cmocka_unit_test(large_values_are_finalised_as_well),
      cmocka_unit_test(a_young_value_with_finalise_is_not_finalised_by_minor_collections),
      cmocka_unit_test(finalise_last_of_a_young_value_is_called_after_the_minor_collection_it_died_in),
      cmocka_unit_test(finalise_last_of_a_young_value_waits_for_the_rest_of_a_full_major),
      cmocka_unit_test(finalise_last_is_not_called_while_the_value_is_reachable),
      cmocka_unit_test(one_full_major_collects_all_but_values_with_finalise_and_a_second_those),
      cmocka_unit_test(integers_have_no_finalisers),
      cmocka_unit_test(values_of_one_cycle_are_finalised_last_registered_first),
      cmocka_unit_test(each_registration_of_a_value_is_called_once),
      cmocka_unit_test(finalise_comes_before_finalise_last_of_the_same_cycle),
      cmocka_unit_test(batches_of_different_cycles_are_first_in_first_out),
      cmocka_unit_test(a_value_may_be_made_reachable_again),
      cmocka_unit_test(a_finaliser_may_register_its_value_again),
      cmocka_unit_test(a_finaliser_may_collect_with_live_handles),
      cmocka_unit_test(a_finaliser_cannot_end_its_domain),
      cmocka_unit_test(a_value_that_its_own_context_keeps_never_dies),
      cmocka_unit_test(thousands_of_mixed_registrations_are_all_called),
      cmocka_unit_test(a_registration_without_memory_changes_nothing),
      cmocka_unit_test(closing_a_heap_calls_no_finalisers),
      cmocka_unit_test(closing_a_heap_calls_what_is_left_if_asked_to),
      cmocka_unit_test(a_finaliser_at_close_may_raise_register_and_collect),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
