/* Weak arrays: what they keep, when their places become empty, and what is refused. */
#include "gc/journal.h"

#include "base/check.h"
#include "gc/domains/heap.h"
#include <string.h>
#include <winnow/weak.h>

/* A weak array of one place with a new block of a number in it, which has no handle. */
static wn_ref weak_of(wn_domain *domain, intptr_t n) {
  wn_ref weak = wn_weak_new(domain, 1);
  WN_SCOPE(domain);
  assert_int_equal(wn_weak_set(domain, weak, 0, block_of(domain, n)), WN_OK);
  return weak;
}

/* ---- what a place keeps ---- */

static void a_new_array_is_empty(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    const size_t sizes[] = {0, 1, 7, 5000, 300000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      wn_ref weak = wn_weak_new(of.domain, sizes[s]);
      assert_int_equal(wn_weak_length(weak), sizes[s]);
      for (size_t i = 0; i < sizes[s]; i++) assert_false(wn_weak_check(of.domain, weak, i));
      if (sizes[s]) assert_true(wn_is_null(wn_weak_get(of.domain, weak, sizes[s] - 1)));
    }
    assert_int_equal(wn_weak_length(block_of(of.domain, 1)), 0);
    assert_int_equal(wn_weak_length(wn_root(of.domain, wn_int(3))), 0);
  }
  journal_close(&of);
}

static void a_place_keeps_no_block_alive(void **state) { /* G49, G54 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  for (int old = 0; old < 2; old++) {
    WN_SCOPE(of.domain);
    wn_ref weak = wn_weak_new(of.domain, 2);
    wn_ref kept = block_of(of.domain, 1);
    assert_int_equal(wn_weak_set(of.domain, weak, 0, kept), WN_OK);
    {
      WN_SCOPE(of.domain);
      assert_int_equal(wn_weak_set(of.domain, weak, 1, block_of(of.domain, 2)), WN_OK);
      if (old) wn_gc_minor(of.domain); /* both are old from here on */
      assert_int_equal(number_of(wn_weak_get(of.domain, weak, 1)), 2);
    }
    old ? wn_gc_full_major(of.domain) : wn_gc_minor(of.domain);
    assert_true(wn_weak_check(of.domain, weak, 0) && !wn_weak_check(of.domain, weak, 1));
    assert_true(wn_value_of(wn_weak_get(of.domain, weak, 0)) == wn_value_of(kept));
    assert_true(wn_is_null(wn_weak_get(of.domain, weak, 1)));
  }
  journal_close(&of);
}

static void integers_are_never_gone(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref weak = wn_weak_new(of.domain, 1);
    wn_weak_set(of.domain, weak, 0, wn_root(of.domain, wn_int(-1)));
    wn_gc_full_major(of.domain);
    assert_int_equal(wn_to_int(wn_value_of(wn_weak_get(of.domain, weak, 0))), -1);
    wn_ref none = {NULL};
    assert_int_equal(wn_weak_set(of.domain, weak, 0, none), WN_OK);
    assert_false(wn_weak_check(of.domain, weak, 0));
  }
  journal_close(&of);
}

/* From the moment when a value is dropped to the end of the second cycle after it. */
static void a_value_is_gone_within_two_cycles(void **state) { /* G51 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  for (int phase = 0; phase < 12; phase++) {
    WN_SCOPE(of.domain);
    wn_ref weak = weak_of(of.domain, phase);
    {
      WN_SCOPE(of.domain);
      wn_ref value = wn_weak_get(of.domain, weak, 0);
      wn_gc_minor(of.domain);
      for (int step = 0; step < phase; step++) wn_gc_major_slice(of.domain, 50);
      assert_int_equal(number_of(value), phase);
    }
    wn_gc_major(of.domain);
    wn_gc_major(of.domain);
    assert_false(wn_weak_check(of.domain, weak, 0));
  }
  journal_close(&of);
}

static void all_places_lose_a_value_at_once(void **state) { /* G50 */
  (void)state;
  enum { ARRAYS = 40 };
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  for (int round = 0; round < 6; round++) {
    WN_SCOPE(of.domain);
    wn_ref weak[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) weak[i] = wn_weak_new(of.domain, 3);
    {
      WN_SCOPE(of.domain);
      wn_ref value = block_of(of.domain, 7);
      for (int i = 0; i < ARRAYS; i++) wn_weak_set(of.domain, weak[i], 1, value);
      if (round % 2) wn_gc_minor(of.domain);
    }
    for (int step = 0; step < 100 && wn_weak_check(of.domain, weak[0], 1); step++) {
      wn_gc_major_slice(of.domain, 20);
      for (int i = 1; i < ARRAYS; i++)
        assert_int_equal(wn_weak_check(of.domain, weak[i], 1), wn_weak_check(of.domain, weak[0], 1));
    }
  }
  journal_close(&of);
}

/* The value is unreachable when the cycle begins, and is read in the middle of it. */
static void what_is_read_while_marking_goes_on_is_kept(void **state) { /* M70 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  for (long before = 0; before < 2000; before += 100) {
    WN_SCOPE(of.domain);
    wn_ref weak = weak_of(of.domain, before), kept = wn_root(of.domain, wn_int(0));
    make_list(of.domain, 500, 3); /* something to mark */
    wn_gc_full_major(of.domain);
    {
      WN_SCOPE(of.domain);
      wn_ref inner = block_of(of.domain, before + 1), outer = wn_alloc(of.domain, 1, 0);
      wn_set(of.domain, outer, 0, inner);
      wn_weak_set(of.domain, weak, 0, outer);
      wn_gc_minor(of.domain);
    }
    wn_gc_major_slice(of.domain, before + 1);
    {
      WN_SCOPE(of.domain);
      wn_ref read = wn_weak_get(of.domain, weak, 0);
      if (!wn_is_null(read)) wn_assign(kept, read);
    }
    wn_gc_major(of.domain);
    wn_gc_full_major(of.domain);
    assert_int_equal(wn_weak_check(of.domain, weak, 0), !wn_is_int(wn_value_of(kept)));
    if (!wn_is_int(wn_value_of(kept))) assert_int_equal(number_of(wn_get(of.domain, kept, 0)), before + 1);
    assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
  }
  journal_close(&of);
}

static void a_dead_array_is_no_trouble(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  for (int round = 0; round < 30; round++) {
    WN_SCOPE(of.domain);
    for (int i = 0; i < 20; i++) {
      WN_SCOPE(of.domain);
      wn_ref weak = wn_weak_new(of.domain, (size_t)i);
      for (int k = 0; k < i; k++) wn_weak_set(of.domain, weak, (size_t)k, block_of(of.domain, k));
    }
    round % 3 ? wn_gc_minor(of.domain) : wn_gc_full_major(of.domain);
  }
  journal_close(&of);
}

/* ---- finalisers ---- */

struct witness {
  wn_global *weak;
  int called, full;
};

static void look(wn_domain *domain, wn_ref value, void *context) {
  struct witness *witness = context;
  (void)value;
  witness->called++;
  witness->full = wn_weak_check(domain, wn_global_get(domain, witness->weak), 0);
}

static void look_last(wn_domain *domain, void *context) { look(domain, (wn_ref){NULL}, context); }

static void a_first_finaliser_keeps_its_value_and_a_last_one_does_not(void **state) { /* G35, G36 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  for (int last = 0; last < 2; last++)
    for (int old = 0; old < 2; old++) {
      WN_SCOPE(of.domain);
      struct witness witness = {.called = 0};
      wn_ref weak = weak_of(of.domain, 5);
      witness.weak = wn_global_new(of.domain, weak);
      {
        WN_SCOPE(of.domain);
        wn_ref value = wn_weak_get(of.domain, weak, 0);
        if (last)
          wn_gc_finalise_last(of.domain, look_last, &witness, value);
        else
          wn_gc_finalise(of.domain, look, &witness, value);
        if (old) wn_gc_minor(of.domain);
      }
      wn_gc_full_major(of.domain);
      assert_int_equal(witness.called, 1);
      assert_int_equal(witness.full, !last);
      wn_gc_full_major(of.domain);
      assert_false(wn_weak_check(of.domain, weak, 0));
      wn_global_free(of.domain, witness.weak);
    }
  journal_close(&of);
}

static void resurrect(wn_domain *domain, wn_ref value, void *context) {
  wn_global_set(domain, context, value);
}

/* A weak array that a finaliser brings back is one like others afterwards. */
static void a_resurrected_array_loses_its_values_later(void **state) { /* G35 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_global *back = wn_global_new(of.domain, wn_root(of.domain, wn_int(0)));
    wn_ref value = block_of(of.domain, 9);
    {
      WN_SCOPE(of.domain);
      wn_ref weak = wn_weak_new(of.domain, 1);
      wn_weak_set(of.domain, weak, 0, value);
      wn_gc_finalise(of.domain, resurrect, back, weak);
    }
    wn_gc_full_major(of.domain);
    wn_ref weak = wn_global_get(of.domain, back);
    assert_false(wn_is_int(wn_value_of(weak)));
    assert_true(wn_weak_check(of.domain, weak, 0));
    wn_assign_int(value, 0);
    wn_gc_full_major(of.domain);
    assert_false(wn_weak_check(of.domain, weak, 0));
    wn_global_free(of.domain, back);
  }
  journal_close(&of);
}

/* ---- several places ---- */

static void fill_numbers(wn_domain *domain, wn_ref weak, wn_ref list) {
  for (size_t i = 0; i < wn_weak_length(weak); i++) {
    WN_SCOPE(domain);
    wn_ref block = block_of(domain, (intptr_t)i);
    wn_ref pair = wn_pair(domain, 0, block, list);
    wn_assign(list, pair);
    wn_weak_set(domain, weak, i, block);
  }
}

static intptr_t number_at(wn_domain *domain, wn_ref weak, size_t i) {
  WN_SCOPE(domain);
  wn_ref value = wn_weak_get(domain, weak, i);
  return wn_is_null(value) ? -1 : number_of(value);
}

static void places_are_copied_in_blocks_that_may_overlap(void **state) { /* G49 */
  (void)state;
  enum { PLACES = 12 };
  struct journal of;
  journal_open(&of, NULL);
  for (size_t from = 0; from < PLACES; from += 3)
    for (size_t to = 0; to < PLACES; to += 2) {
      WN_SCOPE(of.domain);
      size_t n = PLACES - (from > to ? from : to);
      wn_ref weak = wn_weak_new(of.domain, PLACES), kept = wn_root(of.domain, wn_int(0));
      intptr_t expected[PLACES];
      fill_numbers(of.domain, weak, kept);
      for (intptr_t i = 0; i < PLACES; i++) expected[i] = i;
      memmove(expected + to, expected + from, n * sizeof *expected);
      if (to % 4) wn_gc_minor(of.domain);
      assert_int_equal(wn_weak_blit(of.domain, weak, from, weak, to, n), WN_OK);
      wn_gc_full_major(of.domain);
      for (size_t i = 0; i < PLACES; i++) assert_int_equal(number_at(of.domain, weak, i), expected[i]);
    }
  journal_close(&of);
}

static void places_are_filled_and_emptied(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref weak = wn_weak_new(of.domain, 6), none = {NULL};
    assert_int_equal(wn_weak_fill(of.domain, weak, 1, 4, block_of(of.domain, 8)), WN_OK);
    assert_int_equal(wn_weak_fill(of.domain, weak, 3, 1, none), WN_OK);
    const intptr_t expected[] = {-1, 8, 8, -1, 8, -1};
    for (size_t i = 0; i < 6; i++) assert_int_equal(number_at(of.domain, weak, i), expected[i]);
  }
  journal_close(&of);
}

static void a_copy_is_another_block_with_the_same_fields(void **state) { /* G52 */
  (void)state;
  static const wn_custom_ops ops = {.name = "test"};
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref weak = wn_weak_new(of.domain, 4), pair = wn_pair(of.domain, 7, block_of(of.domain, 1), weak);
    wn_ref bytes = wn_alloc_bytes(of.domain, 3000), custom = wn_alloc_custom(of.domain, &ops, 8, 100);
    strcpy(wn_bytes(bytes), "weak");
    wn_weak_set(of.domain, weak, 0, pair);
    wn_weak_set(of.domain, weak, 1, bytes);
    wn_weak_set(of.domain, weak, 2, custom);
    wn_ref copy = wn_weak_get_copy(of.domain, weak, 0), raw = wn_weak_get_copy(of.domain, weak, 1);
    assert_true(wn_value_of(copy) != wn_value_of(pair));
    assert_int_equal(wn_tag(wn_value_of(copy)), 7);
    assert_int_equal(number_of(wn_get(of.domain, copy, 0)), 1);
    assert_true(wn_field(copy, 1) == wn_value_of(weak));
    assert_true(wn_value_of(raw) != wn_value_of(bytes));
    assert_string_equal(wn_bytes(raw), "weak");
    assert_true(wn_value_of(wn_weak_get_copy(of.domain, weak, 2)) == wn_value_of(custom));
    assert_true(wn_is_null(wn_weak_get_copy(of.domain, weak, 3)));
    wn_assign_int(pair, 0); /* the copy has left no handle of it */
    wn_gc_full_major(of.domain);
    assert_false(wn_weak_check(of.domain, weak, 0));
    assert_int_equal(number_of(wn_get(of.domain, copy, 0)), 1);
  }
  journal_close(&of);
}

/* ---- errors ---- */

static void places_out_of_range_are_refused(void **state) { /* G54b */
  (void)state;
  struct journal of;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  check_handles(&options);
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref weak = wn_weak_new(of.domain, 3), value = block_of(of.domain, 1), none = {NULL};
    assert_int_equal(wn_weak_set(of.domain, weak, 3, value), WN_EINVAL);
    assert_string_equal(wn_last_error(), "weak set: 1 places from 3 on, and there are 3");
    assert_int_equal(wn_weak_set(of.domain, weak, SIZE_MAX, value), WN_EINVAL);
    assert_int_equal(wn_weak_fill(of.domain, weak, 1, 3, value), WN_EINVAL);
    assert_int_equal(wn_weak_fill(of.domain, weak, 1, SIZE_MAX, value), WN_EINVAL);
    assert_int_equal(wn_weak_fill(of.domain, weak, 3, 0, value), WN_OK);
    assert_int_equal(wn_weak_blit(of.domain, weak, 0, weak, 1, 3), WN_EINVAL);
    assert_int_equal(wn_weak_blit(of.domain, weak, 4, weak, 0, 0), WN_EINVAL);
    assert_int_equal(wn_weak_blit(of.domain, weak, 3, weak, 3, 0), WN_OK);
    assert_true(wn_is_null(wn_weak_get(of.domain, weak, 3)));
    assert_true(wn_is_null(wn_weak_get_copy(of.domain, weak, 3)));
    assert_false(wn_weak_check(of.domain, weak, 3));
    assert_int_equal(wn_weak_set(of.domain, value, 0, value), WN_EINVAL);
    assert_string_equal(wn_last_error(), "weak set: the handle is of no weak block");
    assert_int_equal(wn_weak_set(of.domain, none, 0, value), WN_EINVAL);
    assert_true(wn_is_null(wn_weak_new(of.domain, WN_MAX_WORDS)));
    assert_true(wn_is_null(wn_weak_new(of.domain, SIZE_MAX)));
    for (size_t i = 0; i < 3; i++) assert_false(wn_weak_check(of.domain, weak, i));
  }
  journal_close(&of);
}

/* ---- profiles ---- */

struct counted {
  long born, died;
};

static void *count_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain;
  struct counted *counted = context;
  counted->born++;
  return (void *)(uintptr_t)(allocation->size + 1);
}
static void *count_promotion(wn_domain *domain, void *block, void *context) {
  (void)domain, (void)context;
  return block;
}
static void count_death(wn_domain *domain, void *block, void *context) {
  (void)domain, (void)block;
  ((struct counted *)context)->died++;
}

/* The only handle is that of the read, which is gone before the cycle ends. */
static void a_tracked_block_that_a_weak_read_keeps_has_no_death(void **state) { /* M70 */
  (void)state;
  struct journal of;
  struct counted counted = {0};
  wn_tracker tracker = {.alloc_minor = count_birth,
                        .alloc_major = count_birth,
                        .promote = count_promotion,
                        .dealloc_minor = count_death,
                        .dealloc_major = count_death,
                        .context = &counted};
  wn_memprof_options options = {.sampling_rate = 1, .callstack_size = 0};
  wn_heap_options heap_options = without_helpers();
  wn_profile *profile;
  journal_open(&of, &heap_options);
  for (int reads = 0; reads < 2; reads++) {
    WN_SCOPE(of.domain);
    memset(&counted, 0, sizeof counted);
    wn_ref list = make_list(of.domain, 5000, 3); /* so that a small slice leaves marking to do */
    wn_gc_full_major(of.domain);
    assert_int_equal(wn_memprof_start(of.domain, &options, &tracker, &profile), WN_OK);
    wn_ref weak = weak_of(of.domain, 3);
    {
      WN_SCOPE(of.domain);
      wn_ref value = wn_weak_get(of.domain, weak, 0);
      wn_gc_minor(of.domain);
      assert_int_equal(number_of(value), 3);
    }
    wn_gc_major_slice(of.domain, 1);
    assert_int_equal(heap_phase(of.heap), PHASE_MARK);
    if (reads) {
      WN_SCOPE(of.domain);
      assert_int_equal(number_of(wn_weak_get(of.domain, weak, 0)), 3);
    } else {
      assert_true(wn_weak_check(of.domain, weak, 0));
    }
    wn_gc_major(of.domain); /* ends the cycle */
    assert_int_equal(counted.born, 2);
    assert_int_equal(counted.died, !reads);
    assert_int_equal(wn_weak_check(of.domain, weak, 0), reads);
    wn_gc_full_major(of.domain);
    assert_int_equal(counted.died, 1);
    assert_false(wn_weak_check(of.domain, weak, 0));
    assert_int_equal(length_of(of.domain, list), 5000);
    assert_int_equal(wn_memprof_stop(of.domain), WN_OK);
    assert_int_equal(wn_memprof_discard(profile), WN_OK);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_new_array_is_empty),
      cmocka_unit_test(a_place_keeps_no_block_alive),
      cmocka_unit_test(integers_are_never_gone),
      cmocka_unit_test(a_value_is_gone_within_two_cycles),
      cmocka_unit_test(all_places_lose_a_value_at_once),
      cmocka_unit_test(what_is_read_while_marking_goes_on_is_kept),
      cmocka_unit_test(a_dead_array_is_no_trouble),
      cmocka_unit_test(a_first_finaliser_keeps_its_value_and_a_last_one_does_not),
      cmocka_unit_test(a_resurrected_array_loses_its_values_later),
      cmocka_unit_test(places_are_copied_in_blocks_that_may_overlap),
      cmocka_unit_test(places_are_filled_and_emptied),
      cmocka_unit_test(a_copy_is_another_block_with_the_same_fields),
      cmocka_unit_test(places_out_of_range_are_refused),
      cmocka_unit_test(a_tracked_block_that_a_weak_read_keeps_has_no_death),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
