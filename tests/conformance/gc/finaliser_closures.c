/* Finalisers that get a closure: the heap keeps it, and updates it, until the call. */
#include "gc/collect/major.h"
#include "gc/compacting.h"
#include "gc/domains/domain.h"

enum { MARK = 4711 };

/* ---- closures ---- */

static struct journal *the_journal;

/* A closure is a block of a line, and of a block with a number. */
static wn_ref make_closure(wn_domain *domain, intptr_t line) {
  wn_ref closure = wn_alloc(domain, 2, 9);
  WN_SCOPE(domain);
  wn_set_int(domain, closure, 0, line);
  wn_set(domain, closure, 1, block_of(domain, MARK));
  return closure;
}

static void write_closure(wn_domain *domain, wn_ref closure) {
  WN_SCOPE(domain);
  assert_int_equal(wn_tag(wn_value_of(closure)), 9);
  assert_int_equal(number_of(wn_get(domain, closure, 1)), MARK);
  journal_write(the_journal, wn_to_int(wn_field(closure, 0)));
}

static void write_first_of_closure(wn_domain *domain, wn_ref value, wn_ref closure) {
  assert_int_equal(number_of(value), wn_to_int(wn_field(closure, 0)));
  write_closure(domain, closure);
}

static void register_with(wn_domain *domain, bool last, intptr_t line, wn_ref value) {
  WN_SCOPE(domain);
  wn_ref closure = make_closure(domain, line);
  if (last)
    assert_int_equal(wn_gc_finalise_last_with(domain, write_closure, closure, value), WN_OK);
  else
    assert_int_equal(wn_gc_finalise_with(domain, write_first_of_closure, closure, value), WN_OK);
}

static void open_journal(struct journal *of) {
  open_moving(of);
  the_journal = of;
}

/* ---- tests ---- */

/* Young, then old, then moved by compactions, while the value lives. */
static void keep_and_call(bool last) {
  static struct journal of;
  open_journal(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref value = block_of(of.domain, 7);
    register_with(of.domain, last, 7, value);
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    compact_heap(of.domain);
    compact_heap(of.domain);
    assert_int_equal(of.count, 0);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 7);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(read_stat(of.domain).live_blocks, 0); /* the closure is gone */
  ASSERT_JOURNAL(&of, 7);
  journal_close(&of);
}

static void a_closure_is_kept_and_updated_until_the_call(void **state) { /* G38b */
  (void)state;
  keep_and_call(false);
  keep_and_call(true);
}

static void the_closure_of_a_value_that_dies_young_is_kept(void **state) { /* G38b */
  static struct journal of;
  (void)state;
  open_journal(&of);
  {
    WN_SCOPE(of.domain);
    register_with(of.domain, true, 1, block_of(of.domain, 1));
  }
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 1);
  journal_close(&of);
}

/* Nothing else leads to the closure, and marking has passed all roots when it is registered. */
static void a_closure_that_is_registered_while_marking_goes_on_is_kept(void **state) { /* G38b */
  static struct journal of;
  (void)state;
  open_journal(&of);
  WN_SCOPE(of.domain);
  wn_ref value = block_of(of.domain, 3), holder = wn_alloc(of.domain, 1, 0);
  {
    WN_SCOPE(of.domain);
    wn_set(of.domain, holder, 0, make_closure(of.domain, 3));
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  major_collect(of.domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_REQUEST);
  assert_int_equal(heap_phase(of.domain->heap), PHASE_MARK);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(
        wn_gc_finalise_with(of.domain, write_first_of_closure, wn_get(of.domain, holder, 0), value), WN_OK);
    wn_set_int(of.domain, holder, 0, 0);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  compact_heap(of.domain);
  wn_assign_int(value, 0);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 3);
  journal_close(&of);
}

static void register_two_and_end(wn_domain *domain, void *argument) {
  wn_global **kept = argument;
  WN_SCOPE(domain);
  wn_ref value = block_of(domain, 5);
  register_with(domain, false, 5, value);
  register_with(domain, true, 6, value);
  *kept = wn_global_new(domain, value);
}

static void closures_go_to_the_heir_of_a_domain_that_ends(void **state) { /* G38b */
  static struct journal of;
  wn_global *kept;
  (void)state;
  open_journal(&of);
  join_wait(of.domain, spawn(of.domain, register_two_and_end, &kept));
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  compact_heap(of.domain);
  wn_global_free(of.domain, kept);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 5);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 5, 6);
  journal_close(&of);
}

static void a_value_that_its_closure_leads_to_stays_until_the_heap_is_closed(void **state) { /* G38b, G44 */
  static struct journal of;
  wn_heap_options options = without_helpers();
  (void)state;
  options.finalise_at_close = true;
  journal_open(&of, &options);
  the_journal = &of;
  {
    WN_SCOPE(of.domain);
    register_with(of.domain, false, 8, block_of(of.domain, 8));
    wn_ref leading = wn_alloc(of.domain, 3, 9);
    wn_set_int(of.domain, leading, 0, 9);
    wn_set(of.domain, leading, 1, block_of(of.domain, MARK));
    wn_ref held = block_of(of.domain, 9);
    wn_set(of.domain, leading, 2, held);
    assert_int_equal(wn_gc_finalise_with(of.domain, write_first_of_closure, leading, held), WN_OK);
  }
  for (int i = 0; i < 3; i++) assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 8);
  journal_close(&of);
  ASSERT_JOURNAL(&of, 8, 9);
}

/* One slot is enough for the value, and not for the closure as well. */
static void a_call_waits_until_there_are_slots_for_both(void **state) { /* H6, G38b */
  static struct journal of;
  wn_heap_options options = without_helpers();
  (void)state;
  check_handles(&options);
  journal_open(&of, &options);
  the_journal = &of;
  {
    WN_SCOPE(of.domain);
    register_with(of.domain, false, 2, block_of(of.domain, 2));
  }
  for (int left = 0; left < 2; left++) {
    WN_SCOPE(of.domain);
    wn_scope scope = wn_scope_enter(of.domain);
    while (!wn_is_null(wn_root(of.domain, wn_int(0)))) {}
    of.domain->context.top -= left;
    wn_value *top = of.domain->context.top;
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_ptr_equal(of.domain->context.top, top);
    assert_int_equal(of.count, 0);
    wn_scope_leave(&scope);
  }
  wn_poll(of.domain);
  ASSERT_JOURNAL(&of, 2);
  journal_close(&of);
}

static void note_integer(wn_domain *domain, wn_ref value, wn_ref closure) {
  (void)domain, (void)value;
  journal_write(the_journal, wn_to_int(wn_value_of(closure)));
}

static void a_closure_may_be_an_integer_but_no_null_handle(void **state) { /* G38b, G32 */
  static struct journal of;
  wn_ref null = {NULL};
  (void)state;
  open_journal(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref value = block_of(of.domain, 1), zero = wn_root(of.domain, wn_int(0));
    assert_int_equal(wn_gc_finalise_with(of.domain, note_integer, null, value), WN_EINVAL);
    assert_int_equal(wn_gc_finalise_with(of.domain, note_integer, zero, null), WN_EINVAL);
    assert_int_equal(wn_gc_finalise_with(of.domain, NULL, zero, value), WN_EINVAL);
    assert_int_equal(wn_gc_finalise_with(of.domain, note_integer, value, zero), WN_EINVAL);
    assert_int_equal(wn_gc_finalise_last_with(of.domain, write_closure, null, value), WN_EINVAL);
    assert_int_equal(wn_gc_finalise_with(of.domain, note_integer, zero, value), WN_OK);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 0);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_closure_is_kept_and_updated_until_the_call),
      cmocka_unit_test(the_closure_of_a_value_that_dies_young_is_kept),
      cmocka_unit_test(a_closure_that_is_registered_while_marking_goes_on_is_kept),
      cmocka_unit_test(closures_go_to_the_heir_of_a_domain_that_ends),
      cmocka_unit_test(a_value_that_its_closure_leads_to_stays_until_the_heap_is_closed),
      one_thread_test(a_call_waits_until_there_are_slots_for_both),
      cmocka_unit_test(a_closure_may_be_an_integer_but_no_null_handle),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
