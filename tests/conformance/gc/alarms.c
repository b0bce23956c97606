/* Alarms: calls at the end of cycles. */
#include "gc/journal.h"

static void count_call(wn_domain *domain, void *context) {
  (void)domain;
  atomic_fetch_add((_Atomic(long) *)context, 1);
}

static void an_alarm_is_called_once_for_each_cycle(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  _Atomic(long) calls = 0;
  journal_open(&of, NULL);
  wn_gc_major(of.domain);
  assert_int_equal(wn_gc_create_alarm(of.domain, count_call, &calls, &alarm), WN_OK);
  for (int i = 0; i < 10; i++) {
    wn_gc_minor(of.domain);
    assert_int_equal(calls, i);
    assert_int_equal(wn_gc_major(of.domain), WN_OK);
    assert_int_equal(calls, i + 1);
  }
  wn_gc_delete_alarm(of.domain, alarm);
  wn_gc_major(of.domain);
  assert_int_equal(calls, 10);
  journal_close(&of);
}

static void an_alarm_is_called_at_safepoints_of_a_program_that_allocates(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  _Atomic(long) calls = 0;
  journal_open(&of, NULL);
  assert_int_equal(wn_gc_create_alarm(of.domain, count_call, &calls, &alarm), WN_OK);
  long before = 0;
  for (long i = 0; i < 5000000 && calls < 3; i++) {
    WN_SCOPE(of.domain);
    assert_false(wn_is_null(wn_alloc(of.domain, i % 8 ? 4 : 400, 0)));
    assert_int_equal(calls, before);
    wn_poll(of.domain);
    before = calls;
  }
  assert_true(calls >= 3);
  journal_close(&of);
}

static void force_cycles(wn_domain *domain, void *context) {
  count_call(domain, context);
  for (int i = 0; i < 3; i++) wn_gc_full_major(domain);
}

static void cycles_that_the_callback_forces_do_not_call_it_again(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  _Atomic(long) calls = 0;
  journal_open(&of, NULL);
  wn_gc_major(of.domain);
  assert_int_equal(wn_gc_create_alarm(of.domain, force_cycles, &calls, &alarm), WN_OK);
  for (int i = 1; i <= 5; i++) {
    wn_gc_major(of.domain);
    wn_poll(of.domain);
    assert_int_equal(calls, i);
  }
  journal_close(&of);
}

static void two_alarms_that_force_cycles_let_the_program_go_on(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *alarms[2];
  _Atomic(long) calls[2] = {0};
  journal_open(&of, NULL);
  for (int i = 0; i < 2; i++)
    assert_int_equal(wn_gc_create_alarm(of.domain, force_cycles, &calls[i], &alarms[i]), WN_OK);
  assert_int_equal(wn_gc_major(of.domain), WN_OK);
  assert_true(calls[0] && calls[1]);
  for (int i = 0; i < 2; i++) wn_gc_delete_alarm(of.domain, alarms[i]);
  journal_close(&of);
}

static void deleting_an_alarm_twice_does_nothing(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *first, *second;
  _Atomic(long) calls = 0;
  journal_open(&of, NULL);
  assert_int_equal(wn_gc_create_alarm(of.domain, count_call, &calls, &first), WN_OK);
  wn_gc_delete_alarm(of.domain, first);
  wn_gc_delete_alarm(of.domain, first);
  assert_int_equal(wn_gc_create_alarm(of.domain, count_call, &calls, &second), WN_OK);
  wn_gc_delete_alarm(of.domain, first); /* not the one that has its place */
  wn_gc_major(of.domain);
  assert_true(calls > 0);
  wn_gc_delete_alarm(of.domain, second);
  wn_gc_delete_alarm(of.domain, NULL);
  assert_int_equal(wn_gc_create_alarm(of.domain, NULL, NULL, &second), WN_EINVAL);
  journal_close(&of);
}

static void many_alarms_are_called_and_deleted_alone(void **state) {
  (void)state;
  enum { ALARMS = 100 };
  struct journal of;
  wn_gc_alarm *alarms[ALARMS];
  _Atomic(long) calls[ALARMS] = {0};
  journal_open(&of, NULL);
  wn_gc_major(of.domain);
  for (int i = 0; i < ALARMS; i++)
    assert_int_equal(wn_gc_create_alarm(of.domain, count_call, &calls[i], &alarms[i]), WN_OK);
  wn_gc_major(of.domain);
  for (int i = 0; i < ALARMS; i += 2) wn_gc_delete_alarm(of.domain, alarms[i]);
  wn_gc_major(of.domain);
  for (int i = 0; i < ALARMS; i++) assert_int_equal(calls[i], 1 + i % 2);
  journal_close(&of);
}

static void a_full_collection_of_a_heap_at_rest_is_one_cycle(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  _Atomic(long) calls = 0;
  journal_open(&of, NULL);
  wn_gc_major(of.domain);
  assert_int_equal(wn_gc_create_alarm(of.domain, count_call, &calls, &alarm), WN_OK);
  for (int i = 1; i <= 5; i++) {
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(calls, i);
  }
  journal_close(&of);
}

static void force_cycle(wn_domain *domain, wn_ref value, void *context) {
  const _Atomic(long) *calls = context;
  (void)value;
  long before = *calls;
  wn_gc_major(domain);
  wn_gc_major(domain);
  assert_int_equal(*calls, before); /* one callback at a time */
}

static void cycles_that_a_finaliser_forces_call_the_alarm_after_it(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  _Atomic(long) calls = 0;
  journal_open(&of, NULL);
  wn_gc_major(of.domain);
  assert_int_equal(wn_gc_create_alarm(of.domain, count_call, &calls, &alarm), WN_OK);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, force_cycle, &calls, block_of(of.domain, 0)), WN_OK);
  }
  wn_gc_full_major(of.domain);
  wn_poll(of.domain);
  assert_int_equal(calls, 3);
  journal_close(&of);
}

struct suicide {
  wn_gc_alarm *alarm;
  long calls;
};

static void delete_itself(wn_domain *domain, void *context) {
  struct suicide *suicide = context;
  suicide->calls++;
  wn_gc_delete_alarm(domain, suicide->alarm);
}

static void an_alarm_may_delete_itself(void **state) {
  (void)state;
  struct journal of;
  struct suicide suicide = {0};
  journal_open(&of, NULL);
  assert_int_equal(wn_gc_create_alarm(of.domain, delete_itself, &suicide, &suicide.alarm), WN_OK);
  for (int i = 0; i < 3; i++) wn_gc_major(of.domain);
  assert_int_equal(suicide.calls, 1);
  journal_close(&of);
}

static void raise_in_alarm(wn_domain *domain, void *context) {
  WN_SCOPE(domain);
  count_call(domain, context);
  wn_raise(domain, block_of(domain, 8));
}

static void an_alarm_that_raises_stays_armed(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  _Atomic(long) calls = 0;
  journal_open(&of, NULL);
  wn_gc_major(of.domain);
  assert_int_equal(wn_gc_create_alarm(of.domain, raise_in_alarm, &calls, &alarm), WN_OK);
  for (int i = 1; i <= 3; i++) {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_major(of.domain), WN_EBUSY);
    assert_int_equal(number_of(wn_take_exception(of.domain)), 8);
    assert_int_equal(calls, i);
  }
  journal_close(&of);
}

/* ---- domains ---- */

static void delete_from_here(wn_domain *domain, void *argument) { wn_gc_delete_alarm(domain, argument); }

static void another_domain_may_delete_an_alarm(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  wn_join *join;
  _Atomic(long) calls = 0;
  journal_open(&of, NULL);
  assert_int_equal(wn_gc_create_alarm(of.domain, count_call, &calls, &alarm), WN_OK);
  assert_int_equal(wn_domain_spawn(of.domain, delete_from_here, alarm, &join), WN_OK);
  assert_int_equal(wn_join_wait(of.domain, join), WN_OK);
  long before = calls;
  wn_gc_major(of.domain);
  assert_int_equal(calls, before);
  journal_close(&of);
}

struct child {
  wn_gc_alarm *alarm;
  _Atomic(long) calls;
  _Atomic(int) step;
};

static void own_an_alarm(wn_domain *domain, void *argument) {
  struct child *child = argument;
  assert_int_equal(wn_gc_create_alarm(domain, count_call, &child->calls, &child->alarm), WN_OK);
  wn_gc_major(domain);
}

static void an_alarm_ends_with_its_domain(void **state) {
  (void)state;
  struct journal of;
  struct child child = {0};
  wn_join *join;
  journal_open(&of, NULL);
  assert_int_equal(wn_domain_spawn(of.domain, own_an_alarm, &child, &join), WN_OK);
  assert_int_equal(wn_join_wait(of.domain, join), WN_OK);
  assert_true(child.calls > 0);
  long before = child.calls;
  for (int i = 0; i < 3; i++) wn_gc_major(of.domain);
  assert_int_equal(child.calls, before);
  wn_gc_delete_alarm(of.domain, child.alarm);
  journal_close(&of);
}

static void note_domain(wn_domain *domain, void *context) {
  if (wn_domain_number(domain) != 0) fail_msg("%s", "called on another domain");
  count_call(domain, context);
}

static void force_from_here(wn_domain *domain, void *argument) {
  (void)argument;
  for (int i = 0; i < 5; i++) wn_gc_major(domain);
}

static void an_alarm_is_called_on_the_domain_that_created_it(void **state) {
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  wn_join *join;
  _Atomic(long) calls = 0;
  journal_open(&of, NULL);
  assert_int_equal(wn_gc_create_alarm(of.domain, note_domain, &calls, &alarm), WN_OK);
  assert_int_equal(wn_domain_spawn(of.domain, force_from_here, NULL, &join), WN_OK);
  assert_int_equal(wn_join_wait(of.domain, join), WN_OK);
  wn_poll(of.domain);
  assert_true(calls >= 5);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_alarm_is_called_once_for_each_cycle),
      cmocka_unit_test(an_alarm_is_called_at_safepoints_of_a_program_that_allocates),
      cmocka_unit_test(cycles_that_the_callback_forces_do_not_call_it_again),
      cmocka_unit_test(two_alarms_that_force_cycles_let_the_program_go_on),
      cmocka_unit_test(deleting_an_alarm_twice_does_nothing),
      cmocka_unit_test(many_alarms_are_called_and_deleted_alone),
      cmocka_unit_test(a_full_collection_of_a_heap_at_rest_is_one_cycle),
      cmocka_unit_test(cycles_that_a_finaliser_forces_call_the_alarm_after_it),
      cmocka_unit_test(an_alarm_may_delete_itself),
      cmocka_unit_test(an_alarm_that_raises_stays_armed),
      cmocka_unit_test(another_domain_may_delete_an_alarm),
      cmocka_unit_test(an_alarm_ends_with_its_domain),
      cmocka_unit_test(an_alarm_is_called_on_the_domain_that_created_it),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
