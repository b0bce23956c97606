/* Finalisers of several domains and threads: which thread runs them, and their fate when a domain
 * ends. */
#include "gc/journal.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

/* ---- handing over ---- */

struct crowd {
  _Atomic(long) first, last;
};

static void count_first(wn_domain *domain, wn_ref value, void *context) {
  (void)domain;
  if (number_of(value) == 251) atomic_fetch_add(&((struct crowd *)context)->first, 1);
}
static void count_last(wn_domain *domain, void *context) {
  (void)domain;
  atomic_fetch_add(&((struct crowd *)context)->last, 1);
}

enum { GENERATIONS = 11, SIBLINGS = 3, REGISTRATIONS = 251 };

static void register_many(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  for (int i = 0; i < REGISTRATIONS; i++) {
    WN_SCOPE(domain);
    wn_ref value = block_of(domain, REGISTRATIONS);
    assert_int_equal(wn_gc_finalise(domain, count_first, argument, value), WN_OK);
    assert_int_equal(wn_gc_finalise_last(domain, count_last, argument, value), WN_OK);
    if (i % 50 == 0) wn_poll(domain);
  }
}

static void finalisers_of_domains_that_ended_are_all_called(void **state) { /* G42 */
  (void)state;
  struct journal of;
  struct crowd crowd = {0};
  journal_open(&of, NULL);
  for (int i = 0; i < GENERATIONS; i++) {
    wn_join *joins[SIBLINGS];
    for (int j = 0; j < SIBLINGS; j++) joins[j] = spawn(of.domain, register_many, &crowd);
    for (int j = 0; j < SIBLINGS; j++) join_wait(of.domain, joins[j]);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(crowd.first, GENERATIONS * SIBLINGS * REGISTRATIONS);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(crowd.last, GENERATIONS * SIBLINGS * REGISTRATIONS);
  journal_close(&of);
}

struct handover {
  struct journal of;
  struct entry entries[8];
  wn_global *alive;
};

static void handover_open(struct handover *handover) {
  journal_open(&handover->of, NULL);
  for (int i = 0; i < 8; i++) handover->entries[i] = (struct entry){&handover->of, i + 1};
}

/* A value that the heap keeps alive, with finalisers of both kinds, by turns. */
static void register_in_order(wn_domain *domain, void *argument) {
  struct handover *handover = argument;
  WN_SCOPE(domain);
  wn_ref value = block_of(domain, 0);
  handover->alive = wn_global_new(domain, value);
  for (int i = 0; i < 6; i++) {
    struct entry *entry = &handover->entries[i];
    assert_int_equal(i % 2 ? wn_gc_finalise(domain, write_first, entry, value)
                           : wn_gc_finalise_last(domain, write_last, entry, value),
                     WN_OK);
  }
}

static void the_order_of_a_domain_that_ended_is_kept(void **state) { /* G42 */
  (void)state;
  struct handover handover;
  handover_open(&handover);
  wn_domain *domain = handover.of.domain;
  {
    WN_SCOPE(domain);
    wn_ref value = block_of(domain, 0);
    wn_join *join = spawn(domain, register_in_order, &handover);
    assert_int_equal(wn_gc_finalise(domain, write_first, &handover.entries[6], value), WN_OK);
    assert_int_equal(wn_gc_finalise_last(domain, write_last, &handover.entries[7], value), WN_OK);
    join_wait(domain, join);
    wn_gc_full_major(domain);
    assert_int_equal(handover.of.count, 0);
  }
  wn_global_free(domain, handover.alive);
  wn_gc_full_major(domain);
  ASSERT_JOURNAL(&handover.of, 7, 6, 4, 2); /* what was inherited counts as registered before */
  wn_gc_full_major(domain);
  ASSERT_JOURNAL(&handover.of, 7, 6, 4, 2, 8, 5, 3, 1);
  journal_close(&handover.of);
}

static void raise_something(wn_domain *domain, wn_ref value, void *context) {
  write_first(domain, value, context);
  wn_raise(domain, value);
}

static void end_with_pending_calls(wn_domain *domain, void *argument) {
  struct handover *handover = argument;
  {
    WN_SCOPE(domain);
    wn_ref value = block_of(domain, 0);
    assert_int_equal(wn_gc_finalise(domain, write_first, &handover->entries[0], value), WN_OK);
    assert_int_equal(wn_gc_finalise(domain, write_first, &handover->entries[1], value), WN_OK);
    assert_int_equal(wn_gc_finalise(domain, raise_something, &handover->entries[2], value), WN_OK);
  }
  assert_int_equal(wn_gc_full_major(domain), WN_EBUSY);
}

static void calls_that_were_pending_when_the_domain_ended_are_made_by_the_domain_that_joins_it(void **state) {
  /* G42 */
  (void)state;
  struct handover handover;
  handover_open(&handover);
  wn_join *join = spawn(handover.of.domain, end_with_pending_calls, &handover);
  join_wait(handover.of.domain, join);
  ASSERT_JOURNAL(&handover.of, 3, 2, 1);
  journal_close(&handover.of);
}

/* ---- which thread runs them ---- */

struct watch {
  _Atomic(uint64_t) number; /* of the domain that ran it, and 1000 */
  _Atomic(int) step;
  wn_heap *heap;
  wn_gc_alarm *alarm;
};

static void note_domain(wn_domain *domain, wn_ref value, void *context) {
  (void)value;
  atomic_store(&((struct watch *)context)->number, wn_domain_number(domain) + 1000);
}

static void register_watch(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  assert_int_equal(wn_gc_finalise(domain, note_domain, argument, block_of(domain, 0)), WN_OK);
  wn_gc_minor(domain);
}

static void spawn_and_join(wn_domain *domain, void *argument) {
  wn_join *join = spawn(domain, register_watch, argument);
  join_wait(domain, join);
  wn_gc_full_major(domain);
}

static void the_domain_that_joins_another_runs_its_finalisers(void **state) { /* G42 */
  (void)state;
  struct journal of;
  struct watch watch = {0};
  journal_open(&of, NULL);
  wn_join *join = spawn(of.domain, spawn_and_join, &watch); /* number 1, and it spawns number 2 */
  join_wait(of.domain, join);
  assert_int_equal(watch.number, 1001);
  journal_close(&of);
}

static void *attach_and_register(void *argument) {
  struct watch *watch = argument;
  wn_domain *domain;
  if (wn_domain_attach(watch->heap, &domain)) return NULL;
  register_watch(domain, watch);
  wn_domain_detach(domain);
  return NULL;
}

static void the_next_domain_that_collects_runs_them_if_no_domain_joins(void **state) { /* G42 */
  (void)state;
  struct journal of;
  struct watch watch = {0};
  pthread_t thread;
  journal_open(&of, NULL);
  watch.heap = of.heap;
  assert_int_equal(pthread_create(&thread, NULL, attach_and_register, &watch), 0);
  wn_blocking_begin(of.domain);
  pthread_join(thread, NULL);
  wn_blocking_end(of.domain);
  wn_gc_full_major(of.domain);
  assert_int_equal(watch.number, 1000);
  journal_close(&of);
}

static void a_domain_that_is_joined_late_does_not_keep_its_finalisers_for_ever(void **state) { /* G42 */
  (void)state;
  struct journal of;
  struct watch watch = {0};
  journal_open(&of, NULL);
  wn_join *join = spawn(of.domain, register_watch, &watch);
  for (int i = 0; i < 100000 && !watch.number; i++) {
    wn_gc_full_major(of.domain);
    wn_thread_yield(of.domain);
  }
  assert_int_not_equal(watch.number, 0);
  join_wait(of.domain, join);
  journal_close(&of);
}

static void collect_once(wn_domain *domain, void *argument) {
  (void)argument;
  wn_gc_minor(domain);
  wn_gc_major(domain);
  wn_poll(domain);
}

static void finalisers_are_kept_for_the_domain_that_joins_while_others_collect(void **state) { /* G42 */
  (void)state;
  struct journal of;
  struct watch watch = {0};
  journal_open(&of, NULL);
  wn_gc_major(of.domain);
  wn_join *ended = spawn(of.domain, register_watch, &watch);
  nanosleep(&(struct timespec){0, 20000000}, NULL); /* most likely it has ended then */
  wn_join *collector = spawn(of.domain, collect_once, NULL);
  nanosleep(&(struct timespec){0, 1000000}, NULL);
  wn_blocking_begin(of.domain);
  nanosleep(&(struct timespec){0, 20000000}, NULL);
  wn_blocking_end(of.domain);
  join_wait(of.domain, ended);
  wn_gc_full_major(of.domain);
  assert_int_equal(watch.number, 1000);
  join_wait(of.domain, collector);
  journal_close(&of);
}

/* Any thread of the domain that finds a pending call makes it, whichever thread registered it. */
static void poll_here(wn_domain *domain, void *argument) {
  const struct watch *watch = argument;
  while (!watch->number) wn_gc_full_major(domain);
}

static void any_thread_of_the_domain_runs_its_finalisers(void **state) { /* G42 */
  (void)state;
  struct journal of;
  struct watch watch = {0};
  wn_join *join;
  journal_open(&of, NULL);
  register_watch(of.domain, &watch);
  assert_int_equal(wn_thread_spawn(of.domain, poll_here, &watch, &join), WN_OK);
  wn_blocking_begin(of.domain);
  while (!watch.number) sched_yield();
  wn_blocking_end(of.domain);
  join_wait(of.domain, join);
  assert_int_equal(watch.number, 1000);
  journal_close(&of);
}

/* ---- one at a time, over threads ---- */

struct block {
  struct journal *of;
  _Atomic(int) step; /* 1: the finaliser is blocked, 2: the other thread has polled */
  bool releases;
};

static void block_inside(wn_domain *domain, wn_ref value, void *context) {
  struct block *block = context;
  (void)value;
  journal_write(block->of, 1);
  if (block->releases) wn_gc_finalise_release(domain);
  wn_blocking_begin(domain);
  atomic_store(&block->step, 1);
  while (atomic_load(&block->step) != 2) sched_yield();
  wn_blocking_end(domain);
  journal_write(block->of, 2);
}

static void write_three(wn_domain *domain, wn_ref value, void *context) {
  (void)domain, (void)value;
  journal_write(context, 3);
}

static void poll_while_blocked(wn_domain *domain, void *argument) {
  struct block *block = argument;
  wn_blocking_begin(domain);
  while (atomic_load(&block->step) != 1) sched_yield();
  wn_blocking_end(domain);
  wn_poll(domain);
  wn_gc_full_major(domain);
  atomic_store(&block->step, 2);
}

static void run_blocked(struct journal *of, bool releases) {
  struct block block = {.of = of, .releases = releases};
  wn_join *join;
  journal_open(of, NULL);
  {
    WN_SCOPE(of->domain);
    assert_int_equal(wn_gc_finalise(of->domain, write_three, of, block_of(of->domain, 0)), WN_OK);
    assert_int_equal(wn_gc_finalise(of->domain, block_inside, &block, block_of(of->domain, 0)), WN_OK);
  }
  assert_int_equal(wn_thread_spawn(of->domain, poll_while_blocked, &block, &join), WN_OK);
  wn_gc_full_major(of->domain);
  assert_int_equal(wn_join_wait(of->domain, join), WN_OK);
}

static void while_a_finaliser_is_blocked_the_others_wait_on_all_threads(void **state) { /* G40 */
  (void)state;
  struct journal of;
  run_blocked(&of, false);
  ASSERT_JOURNAL(&of, 1, 2, 3);
  journal_close(&of);
}

static void a_blocked_finaliser_that_released_lets_another_thread_run_the_next(void **state) { /* G40 */
  (void)state;
  struct journal of;
  run_blocked(&of, true);
  ASSERT_JOURNAL(&of, 1, 3, 2);
  journal_close(&of);
}

struct relay {
  struct journal *of;
  _Atomic(int)
      step; /* 1: the first is blocked, 2: the second is, 3: the first thread has polled, 4: the second is over */
};

static void await_step(wn_domain *domain, struct relay *relay, int step) {
  wn_blocking_begin(domain);
  while (atomic_load(&relay->step) < step) sched_yield();
  wn_blocking_end(domain);
}

static void release_and_wait(wn_domain *domain, wn_ref value, void *context) {
  struct relay *relay = context;
  (void)value;
  journal_write(relay->of, 1);
  wn_gc_finalise_release(domain);
  atomic_store(&relay->step, 1);
  await_step(domain, relay, 2);
}

static void block_until_polled(wn_domain *domain, wn_ref value, void *context) {
  struct relay *relay = context;
  (void)value;
  journal_write(relay->of, 2);
  atomic_store(&relay->step, 2);
  await_step(domain, relay, 3);
  journal_write(relay->of, -2);
}

static void run_the_second(wn_domain *domain, void *argument) {
  await_step(domain, argument, 1);
  wn_poll(domain);
  atomic_store(&((struct relay *)argument)->step, 4);
}

static void a_finaliser_that_released_and_ends_does_not_release_the_next(void **state) { /* G40 */
  (void)state;
  struct journal of;
  struct relay relay = {.of = &of};
  wn_join *join;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, write_three, &of, block_of(of.domain, 0)), WN_OK);
    assert_int_equal(wn_gc_finalise(of.domain, block_until_polled, &relay, block_of(of.domain, 0)), WN_OK);
    assert_int_equal(wn_gc_finalise(of.domain, release_and_wait, &relay, block_of(of.domain, 0)), WN_OK);
  }
  assert_int_equal(wn_thread_spawn(of.domain, run_the_second, &relay, &join), WN_OK);
  wn_gc_full_major(of.domain);
  wn_gc_full_major(of.domain);
  ASSERT_JOURNAL(&of, 1, 2);
  atomic_store(&relay.step, 3);
  await_step(of.domain, &relay, 4);
  ASSERT_JOURNAL(&of, 1, 2, -2, 3);
  join_wait(of.domain, join);
  journal_close(&of);
}

/* ---- exceptions ---- */

struct raised {
  struct relay relay;
  pthread_t raiser, caught_on;
  _Atomic(int) caught;
};

static void note_thread(wn_domain *domain, wn_ref exception, void *context) {
  struct raised *raised = context;
  (void)domain;
  assert_int_equal(number_of(exception), 5);
  raised->caught_on = pthread_self();
  atomic_fetch_add(&raised->caught, 1);
}

static void raise_and_wait(wn_domain *domain, wn_ref value, void *context) {
  struct raised *raised = context;
  raised->raiser = pthread_self();
  wn_raise(domain, value);
  atomic_store(&raised->relay.step, 1);
  await_step(domain, &raised->relay, 2);
}

static void poll_meanwhile(wn_domain *domain, void *argument) {
  struct raised *raised = argument;
  await_step(domain, &raised->relay, 1);
  wn_poll(domain);
  assert_int_equal(wn_gc_minor(domain), WN_EBUSY);
  assert_int_equal(raised->caught, 0);
  atomic_store(&raised->relay.step, 2);
}

static void an_exception_leaves_on_the_thread_that_raised_it(void **state) { /* G41 */
  (void)state;
  struct journal of;
  struct raised raised = {.relay = {.of = &of}};
  wn_join *join;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.raise = note_thread;
  options.hooks.context = &raised;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, raise_and_wait, &raised, block_of(of.domain, 5)), WN_OK);
  }
  assert_int_equal(wn_thread_spawn(of.domain, poll_meanwhile, &raised, &join), WN_OK);
  assert_int_equal(wn_gc_full_major(of.domain), WN_EBUSY);
  assert_int_equal(raised.caught, 1);
  assert_true(pthread_equal(raised.raiser, raised.caught_on));
  join_wait(of.domain, join);
  journal_close(&of);
}

/* ---- all at once ---- */

enum { BUSY_DOMAINS = 4, ROUNDS = 3000 };

struct busy {
  struct crowd crowd;
  _Atomic(long) first, last;
};

static void revive_some(wn_domain *domain, wn_ref value, void *context) {
  struct busy *busy = context;
  intptr_t lives = number_of(value);
  atomic_fetch_add(&busy->crowd.first, 1);
  if (!lives) return;
  wn_set_int(domain, value, 0, lives - 1);
  atomic_fetch_add(&busy->first, 1);
  assert_int_equal(wn_gc_finalise(domain, revive_some, context, value), WN_OK);
}

static void be_busy(wn_domain *domain, void *argument) {
  struct busy *busy = argument;
  WN_SCOPE(domain);
  wn_ref kept = wn_alloc(domain, 50, 0);
  for (size_t i = 0; i < ROUNDS; i++) {
    WN_SCOPE(domain);
    wn_ref value = block_of(domain, (intptr_t)i % 3);
    assert_int_equal(wn_gc_finalise_last(domain, count_last, &busy->crowd, value), WN_OK);
    atomic_fetch_add(&busy->last, 1);
    if (i % 2) {
      assert_int_equal(wn_gc_finalise(domain, revive_some, busy, value), WN_OK);
      atomic_fetch_add(&busy->first, 1);
    }
    wn_set(domain, kept, i % 50, value);
    for (int j = 0; j < 10; j++) {
      WN_SCOPE(domain);
      assert_false(wn_is_null(wn_alloc(domain, 20, 0)));
    }
    if (i % 500 == 499) wn_gc_major(domain);
    wn_poll(domain);
  }
}

static void busy_domains_lose_no_finaliser(void **state) { /* G42 */
  (void)state;
  struct journal of;
  static struct busy busy;
  wn_join *joins[BUSY_DOMAINS];
  journal_open(&of, NULL);
  for (int i = 0; i < BUSY_DOMAINS; i++) joins[i] = spawn(of.domain, be_busy, &busy);
  be_busy(of.domain, &busy);
  for (int i = 0; i < BUSY_DOMAINS; i++) join_wait(of.domain, joins[i]);
  for (int i = 0; i < 5; i++) assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(busy.crowd.first, busy.first);
  assert_int_equal(busy.crowd.last, busy.last);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finalisers_of_domains_that_ended_are_all_called),
      cmocka_unit_test(the_order_of_a_domain_that_ended_is_kept),
      cmocka_unit_test(calls_that_were_pending_when_the_domain_ended_are_made_by_the_domain_that_joins_it),
      cmocka_unit_test(the_domain_that_joins_another_runs_its_finalisers),
      cmocka_unit_test(the_next_domain_that_collects_runs_them_if_no_domain_joins),
      cmocka_unit_test(a_domain_that_is_joined_late_does_not_keep_its_finalisers_for_ever),
      cmocka_unit_test(finalisers_are_kept_for_the_domain_that_joins_while_others_collect),
      cmocka_unit_test(any_thread_of_the_domain_runs_its_finalisers),
      cmocka_unit_test(while_a_finaliser_is_blocked_the_others_wait_on_all_threads),
      cmocka_unit_test(a_blocked_finaliser_that_released_lets_another_thread_run_the_next),
      cmocka_unit_test(a_finaliser_that_released_and_ends_does_not_release_the_next),
      cmocka_unit_test(an_exception_leaves_on_the_thread_that_raised_it),
      cmocka_unit_test(busy_domains_lose_no_finaliser),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
