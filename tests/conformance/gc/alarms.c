/* Alarms: calls at the end of cycles. */
#include "gc/journal.h"

static void count_call(wn_domain *domain, void *context) {
  (void)domain;
  atomic_fetch_add((_Atomic(long) *)context, 1);
}

typedef void alarm_function(wn_domain *domain, void *context);

static wn_gc_alarm *create(wn_domain *domain, alarm_function *function, void *context) {
  wn_gc_alarm *alarm;
  assert_int_equal(wn_gc_create_alarm(domain, function, context, &alarm), WN_OK);
  return alarm;
}

/* A heap at rest, with an alarm whose function gets its count of calls. */
struct watch {
  struct journal of;
  wn_gc_alarm *alarm;
  _Atomic(long) calls;
};

static wn_domain *watch_open(struct watch *watch, alarm_function *function) {
  journal_open(&watch->of, NULL);
  wn_gc_major(watch->of.domain);
  atomic_store(&watch->calls, 0);
  watch->alarm = create(watch->of.domain, function, &watch->calls);
  return watch->of.domain;
}

static void watch_close(struct watch *watch) { journal_close(&watch->of); }

/* ---- when ---- */

static void an_alarm_is_called_once_for_each_cycle(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  wn_domain *domain = watch_open(&watch, count_call);
  for (int i = 0; i < 10; i++) {
    wn_gc_minor(domain);
    assert_int_equal(watch.calls, i);
    assert_int_equal(wn_gc_major(domain), WN_OK);
    assert_int_equal(watch.calls, i + 1);
  }
  wn_gc_delete_alarm(domain, watch.alarm);
  wn_gc_major(domain);
  assert_int_equal(watch.calls, 10);
  watch_close(&watch);
}

static void an_alarm_is_called_at_safepoints_of_a_program_that_allocates(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  wn_domain *domain = watch_open(&watch, count_call);
  long before = 0;
  for (long i = 0; i < 5000000 && watch.calls < 3; i++) {
    allocate(domain, 1, i % 8 ? 4 : 400);
    assert_int_equal(watch.calls, before);
    wn_poll(domain);
    before = watch.calls;
  }
  assert_true(watch.calls >= 3);
  watch_close(&watch);
}

static void a_full_collection_of_a_heap_at_rest_is_one_cycle(void **state) { /* G5 */
  (void)state;
  struct watch watch;
  wn_domain *domain = watch_open(&watch, count_call);
  for (int i = 1; i <= 5; i++) {
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
    assert_int_equal(watch.calls, i);
  }
  watch_close(&watch);
}

static void force_cycles(wn_domain *domain, void *context) {
  count_call(domain, context);
  for (int i = 0; i < 3; i++) wn_gc_full_major(domain);
}

static void cycles_that_the_callback_forces_do_not_call_it_again(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  wn_domain *domain = watch_open(&watch, force_cycles);
  for (int i = 1; i <= 5; i++) {
    wn_gc_major(domain);
    wn_poll(domain);
    assert_int_equal(watch.calls, i);
  }
  watch_close(&watch);
}

static void two_alarms_that_force_cycles_let_the_program_go_on(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  _Atomic(long) other_calls = 0;
  wn_domain *domain = watch_open(&watch, force_cycles);
  wn_gc_alarm *other = create(domain, force_cycles, &other_calls);
  assert_int_equal(wn_gc_major(domain), WN_OK);
  assert_true(watch.calls && other_calls);
  wn_gc_delete_alarm(domain, watch.alarm);
  wn_gc_delete_alarm(domain, other);
  watch_close(&watch);
}

static void alarms_that_force_cycles_starve_no_other(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  _Atomic(long) second_calls = 0, patient_calls = 0;
  wn_domain *domain = watch_open(&watch, force_cycles);
  wn_gc_alarm *second = create(domain, force_cycles, &second_calls);
  wn_gc_alarm *patient = create(domain, count_call, &patient_calls);
  assert_int_equal(wn_gc_major(domain), WN_OK);
  assert_true(watch.calls && second_calls && patient_calls);
  wn_gc_delete_alarm(domain, watch.alarm);
  wn_gc_delete_alarm(domain, second);
  wn_gc_delete_alarm(domain, patient);
  watch_close(&watch);
}

static void force_cycle(wn_domain *domain, wn_ref value, void *context) {
  const _Atomic(long) *calls = context;
  (void)value;
  long before = *calls;
  wn_gc_major(domain);
  wn_gc_major(domain);
  assert_int_equal(*calls, before); /* one callback at a time */
}

static void cycles_that_a_finaliser_forces_call_the_alarm_after_it(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  wn_domain *domain = watch_open(&watch, count_call);
  {
    WN_SCOPE(domain);
    assert_int_equal(wn_gc_finalise(domain, force_cycle, &watch.calls, block_of(domain, 0)), WN_OK);
  }
  wn_gc_full_major(domain);
  wn_poll(domain);
  assert_int_equal(watch.calls, 3);
  watch_close(&watch);
}

/* ---- deleting ---- */

static void deleting_an_alarm_twice_does_nothing(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  _Atomic(long) calls = 0;
  wn_domain *domain = watch_open(&watch, count_call);
  wn_gc_delete_alarm(domain, watch.alarm);
  wn_gc_delete_alarm(domain, watch.alarm);
  wn_gc_alarm *second = create(domain, count_call, &calls);
  wn_gc_delete_alarm(domain, watch.alarm); /* not the one that has its place */
  wn_gc_major(domain);
  assert_int_equal(calls, 1);
  assert_int_equal(watch.calls, 0);
  wn_gc_delete_alarm(domain, second);
  wn_gc_delete_alarm(domain, NULL);
  assert_int_equal(wn_gc_create_alarm(domain, NULL, NULL, &second), WN_EINVAL);
  watch_close(&watch);
}

static void many_alarms_are_called_and_deleted_alone(void **state) { /* G45 */
  (void)state;
  enum { ALARMS = 100 };
  struct watch watch;
  wn_gc_alarm *alarms[ALARMS];
  _Atomic(long) calls[ALARMS] = {0};
  wn_domain *domain = watch_open(&watch, count_call);
  for (int i = 0; i < ALARMS; i++) alarms[i] = create(domain, count_call, &calls[i]);
  wn_gc_major(domain);
  for (int i = 0; i < ALARMS; i += 2) wn_gc_delete_alarm(domain, alarms[i]);
  wn_gc_major(domain);
  for (int i = 0; i < ALARMS; i++) assert_int_equal(calls[i], 1 + i % 2);
  watch_close(&watch);
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

static void an_alarm_may_delete_itself(void **state) { /* G45 */
  (void)state;
  struct journal of;
  struct suicide suicide = {0};
  journal_open(&of, NULL);
  suicide.alarm = create(of.domain, delete_itself, &suicide);
  for (int i = 0; i < 3; i++) wn_gc_major(of.domain);
  assert_int_equal(suicide.calls, 1);
  journal_close(&of);
}

/* ---- exceptions ---- */

static void raise_in_alarm(wn_domain *domain, void *context) {
  WN_SCOPE(domain);
  count_call(domain, context);
  wn_raise(domain, block_of(domain, 8));
}

static void an_alarm_that_raises_stays_armed(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  wn_domain *domain = watch_open(&watch, raise_in_alarm);
  for (int i = 1; i <= 3; i++) {
    WN_SCOPE(domain);
    assert_int_equal(wn_gc_major(domain), WN_EBUSY);
    assert_int_equal(number_of(wn_take_exception(domain)), 8);
    assert_int_equal(watch.calls, i);
  }
  watch_close(&watch);
}

enum { LIMIT_WORDS = 4 << 20 };

static void raise_above_the_limit(wn_domain *domain, void *context) {
  count_call(domain, context);
  WN_SCOPE(domain);
  if (quick_stat(domain).heap_words > LIMIT_WORDS) wn_raise(domain, block_of(domain, 9));
}

static void an_alarm_that_looks_at_the_heaps_size_limits_it(void **state) { /* G31 */
  (void)state;
  struct watch watch;
  wn_domain *domain = watch_open(&watch, raise_above_the_limit);
  {
    WN_SCOPE(domain);
    wn_ref list = wn_root(domain, wn_int(0)), raised = {NULL};
    long blocks = 0;
    for (; wn_is_null(raised = wn_take_exception(domain)) && blocks < 100000; blocks++) {
      WN_SCOPE(domain);
      wn_ref block = wn_alloc(domain, 1000, 0);
      wn_set(domain, block, 0, list);
      wn_assign(list, block);
      wn_poll(domain);
    }
    assert_false(wn_is_null(raised));
    assert_int_equal(number_of(raised), 9);
    assert_in_range(blocks * 1001, LIMIT_WORDS / 2, 4 * LIMIT_WORDS);
  }
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_true(quick_stat(domain).heap_words < LIMIT_WORDS);
  watch_close(&watch);
}

/* ---- domains ---- */

static void delete_from_here(wn_domain *domain, void *argument) { wn_gc_delete_alarm(domain, argument); }

static void another_domain_may_delete_an_alarm(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  wn_domain *domain = watch_open(&watch, count_call);
  join_wait(domain, spawn(domain, delete_from_here, watch.alarm));
  long before = watch.calls;
  wn_gc_major(domain);
  assert_int_equal(watch.calls, before);
  watch_close(&watch);
}

struct child {
  wn_gc_alarm *alarm;
  _Atomic(long) calls;
};

static void own_an_alarm(wn_domain *domain, void *argument) {
  struct child *child = argument;
  child->alarm = create(domain, count_call, &child->calls);
  wn_gc_major(domain);
}

static void an_alarm_ends_with_its_domain(void **state) { /* G45 */
  (void)state;
  struct journal of;
  struct child child = {0};
  journal_open(&of, NULL);
  join_wait(of.domain, spawn(of.domain, own_an_alarm, &child));
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

static void an_alarm_is_called_on_the_domain_that_created_it(void **state) { /* G45 */
  (void)state;
  struct watch watch;
  wn_domain *domain = watch_open(&watch, note_domain);
  join_wait(domain, spawn(domain, force_from_here, NULL));
  wn_poll(domain);
  assert_true(watch.calls >= 5);
  watch_close(&watch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_alarm_is_called_once_for_each_cycle),
      cmocka_unit_test(an_alarm_is_called_at_safepoints_of_a_program_that_allocates),
      cmocka_unit_test(a_full_collection_of_a_heap_at_rest_is_one_cycle),
      cmocka_unit_test(cycles_that_the_callback_forces_do_not_call_it_again),
      cmocka_unit_test(two_alarms_that_force_cycles_let_the_program_go_on),
      cmocka_unit_test(alarms_that_force_cycles_starve_no_other),
      cmocka_unit_test(cycles_that_a_finaliser_forces_call_the_alarm_after_it),
      cmocka_unit_test(deleting_an_alarm_twice_does_nothing),
      cmocka_unit_test(many_alarms_are_called_and_deleted_alone),
      cmocka_unit_test(an_alarm_may_delete_itself),
      cmocka_unit_test(an_alarm_that_raises_stays_armed),
      cmocka_unit_test(an_alarm_that_looks_at_the_heaps_size_limits_it),
      cmocka_unit_test(another_domain_may_delete_an_alarm),
      cmocka_unit_test(an_alarm_ends_with_its_domain),
      cmocka_unit_test(an_alarm_is_called_on_the_domain_that_created_it),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
