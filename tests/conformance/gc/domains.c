/* Domains as the collector sees them: how many, which waits for which, what one leaves when it is
 * joined. */
#include "gc/journal.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

/* Every kind of stop, and cycles that come by themselves. */
static void collect_everyhow(wn_domain *domain) {
  wn_gc_stat stat;
  wn_gc_control control = get_control(domain);
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(wn_gc_compact(domain), WN_OK);
  assert_int_equal(wn_gc_read_stat(domain, &stat), WN_OK);
  control.minor_heap_size = 5000;
  set_control(domain, &control);
  long before = quick_stat(domain).major_collections;
  for (long i = 0; i < 100000 && quick_stat(domain).major_collections < before + 3; i++)
    allocate(domain, 10, 400);
  assert_true(quick_stat(domain).major_collections >= before + 3);
}

/* ---- how many ---- */

struct gate {
  int pipe[2];
};

static void wait_at_gate(wn_domain *domain, void *argument) {
  const struct gate *gate = argument;
  char byte;
  wn_blocking_begin(domain);
  assert_int_equal(read(gate->pipe[0], &byte, 1), 1);
  wn_blocking_end(domain);
}

static void let_one_through(const struct gate *gate) { assert_int_equal(write(gate->pipe[1], "", 1), 1); }

static void do_nothing(wn_domain *domain, void *argument) { (void)domain, (void)argument; }

static void a_heap_has_as_many_domains_as_its_parameters_allow(void **state) { /* G56 */
  (void)state;
  struct journal of;
  struct gate gate;
  wn_join *first, *second;
  wn_heap_options options = without_helpers();
  options.text = "d=2";
  assert_int_equal(pipe(gate.pipe), 0);
  journal_open(&of, &options);
  first = spawn(of.domain, wait_at_gate, &gate);
  assert_int_equal(wn_domain_spawn(of.domain, do_nothing, NULL, &second), WN_ELIMIT);
  let_one_through(&gate);
  join_wait(of.domain, first);
  join_wait(of.domain, spawn(of.domain, do_nothing, NULL));
  close(gate.pipe[0]);
  close(gate.pipe[1]);
  journal_close(&of);
}

static void a_domain_too_many_is_refused_and_another_may_come_when_one_has_ended(void **state) { /* G54e */
  (void)state;
  enum { MANY = 1000 };
  static wn_join *joins[MANY];
  struct journal of;
  struct gate gate;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 320;
  options.parameters.stack_limit = 64;
  assert_int_equal(pipe(gate.pipe), 0);
  journal_open(&of, &options);
  int count = 0;
  wn_status status;
  while (!(status = wn_domain_spawn(of.domain, wait_at_gate, &gate, &joins[count])) && count < MANY - 1)
    count++;
  assert_int_equal(status, WN_ELIMIT);
  assert_true(count >= 15);
  allocate(of.domain, 1000, 5);
  assert_int_equal(wn_domain_spawn(of.domain, wait_at_gate, &gate, &joins[count]), WN_ELIMIT);
  for (int i = 0; i < count; i++) let_one_through(&gate);
  for (int i = 0; i < count; i++) join_wait(of.domain, joins[i]);
  wn_join *join = spawn(of.domain, wait_at_gate, &gate);
  let_one_through(&gate);
  join_wait(of.domain, join);
  close(gate.pipe[0]);
  close(gate.pipe[1]);
  journal_close(&of);
}

/* ---- one thread in several ---- */

static void attach_again(wn_domain *domain, void *argument) {
  wn_domain *again = domain;
  assert_int_equal(wn_domain_attach(argument, &again), WN_ESTATE);
  assert_ptr_equal(again, domain);
  assert_string_equal(wn_last_error(), "attach: the calling thread is in a domain of this heap already");
  assert_int_equal(wn_gc_minor(domain), WN_OK);
}

static void a_thread_is_in_one_domain_of_a_heap(void **state) { /* G54e */
  (void)state;
  struct journal of;
  wn_join *join;
  journal_open(&of, NULL);
  attach_again(of.domain, of.heap);
  join_wait(of.domain, spawn(of.domain, attach_again, of.heap));
  assert_int_equal(wn_thread_spawn(of.domain, attach_again, of.heap, &join), WN_OK);
  join_wait(of.domain, join);
  assert_int_equal(wn_domain_detach(of.domain), WN_OK);
  assert_int_equal(wn_domain_attach(of.heap, &of.domain), WN_OK);
  journal_close(&of);
}

static void a_thread_may_be_in_domains_of_several_heaps(void **state) { /* G54e */
  (void)state;
  struct journal outer, inner;
  journal_open(&outer, NULL);
  journal_open(&inner, NULL);
  attach_again(inner.domain, outer.heap);
  attach_again(outer.domain, inner.heap);
  {
    WN_SCOPE(outer.domain);
    wn_ref list = make_list(outer.domain, 100, 3);
    collect_everyhow(inner.domain);
    collect_everyhow(outer.domain);
    assert_int_equal(length_of(outer.domain, list), 100);
  }
  journal_close(&outer);
  assert_int_equal(wn_gc_full_major(inner.domain), WN_OK);
  journal_close(&inner);
}

/* ---- which waits for which ---- */

struct sleeper {
  struct gate gate;
  _Atomic(int) step;
};

static void sleep_with_a_list(wn_domain *domain, void *argument) {
  struct sleeper *sleeper = argument;
  WN_SCOPE(domain);
  wn_ref list = make_list(domain, 100, 3);
  atomic_store(&sleeper->step, 1);
  wait_at_gate(domain, &sleeper->gate);
  assert_int_equal(length_of(domain, list), 100);
}

static void collections_go_on_while_a_domain_is_blocked(void **state) { /* G54f */
  (void)state;
  struct journal of;
  struct sleeper sleeper = {0};
  assert_int_equal(pipe(sleeper.gate.pipe), 0);
  journal_open(&of, NULL);
  wn_join *join = spawn(of.domain, sleep_with_a_list, &sleeper);
  wait_for_step(of.domain, &sleeper.step, 1);
  collect_everyhow(of.domain);
  let_one_through(&sleeper.gate); /* so all of that was without it */
  join_wait(of.domain, join);
  close(sleeper.gate.pipe[0]);
  close(sleeper.gate.pipe[1]);
  journal_close(&of);
}

static void collect_and_open(wn_domain *domain, void *argument) {
  collect_everyhow(domain);
  atomic_store(&((struct sleeper *)argument)->step, 2);
}

static void collections_go_on_while_a_domain_waits_to_join_another(void **state) { /* G54f */
  (void)state;
  struct journal of;
  struct sleeper sleeper = {0};
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref list = make_list(of.domain, 100, 3);
    join_wait(of.domain, spawn(of.domain, collect_and_open, &sleeper));
    assert_int_equal(sleeper.step, 2);
    assert_int_equal(length_of(of.domain, list), 100);
  }
  journal_close(&of);
}

static void spin_and_poll(wn_domain *domain, void *argument) {
  const struct sleeper *sleeper = argument;
  atomic_store((_Atomic(int) *)&sleeper->step, 1);
  wait_for_step(domain, &sleeper->step, 2);
}

static void a_domain_that_polls_without_allocating_lets_others_collect(void **state) { /* G54g */
  (void)state;
  struct journal of;
  struct sleeper sleeper = {0};
  journal_open(&of, NULL);
  wn_join *join = spawn(of.domain, spin_and_poll, &sleeper);
  wait_for_step(of.domain, &sleeper.step, 1);
  for (int i = 0; i < 100; i++) assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  atomic_store(&sleeper.step, 2);
  join_wait(of.domain, join);
  journal_close(&of);
}

static void be_busy_then_poll(wn_domain *domain, void *argument) {
  struct sleeper *sleeper = argument;
  atomic_store(&sleeper->step, 1);
  sleep_ms(30); /* runs, as far as the heap knows */
  atomic_store(&sleeper->step, 2);
  wn_poll(domain);
}

static void a_collection_waits_for_a_domain_that_does_not_poll(void **state) { /* G54g */
  (void)state;
  struct journal of;
  struct sleeper sleeper = {0};
  journal_open(&of, NULL);
  wn_join *join = spawn(of.domain, be_busy_then_poll, &sleeper);
  wait_for_step(of.domain, &sleeper.step, 1);
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  assert_int_equal(sleeper.step, 2);
  join_wait(of.domain, join);
  journal_close(&of);
}

/* ---- threads that a body leaves running ---- */

struct family {
  struct gate gate;
  wn_join *child, *grandchild;
  _Atomic(int) returned, ended;
};

static void be_grandchild(wn_domain *domain, void *argument) {
  struct family *family = argument;
  WN_SCOPE(domain);
  wn_ref list = make_list(domain, 100, 3);
  wait_at_gate(domain, &family->gate);
  assert_int_equal(length_of(domain, list), 100);
  atomic_fetch_add(&family->ended, 1);
}

static void be_child(wn_domain *domain, void *argument) {
  struct family *family = argument;
  wait_at_gate(domain, &family->gate);
  assert_int_equal(wn_thread_spawn(domain, be_grandchild, family, &family->grandchild), WN_OK);
  atomic_fetch_add(&family->ended, 1);
}

static void leave_a_child(wn_domain *domain, void *argument) {
  struct family *family = argument;
  assert_int_equal(wn_thread_spawn(domain, be_child, family, &family->child), WN_OK);
  atomic_store(&family->returned, 1);
}

static void a_domain_whose_body_returned_ends_with_the_last_of_its_threads(void **state) { /* G54h */
  (void)state;
  struct journal of;
  struct family family = {0};
  assert_int_equal(pipe(family.gate.pipe), 0);
  journal_open(&of, NULL);
  wn_join *join = spawn(of.domain, leave_a_child, &family);
  wait_for_step(of.domain, &family.returned, 1);
  collect_everyhow(of.domain);
  let_one_through(&family.gate);
  wait_for_step(of.domain, &family.ended, 1);
  collect_everyhow(of.domain);
  assert_int_equal(wn_heap_close(of.heap), WN_EBUSY);
  let_one_through(&family.gate);
  join_wait(of.domain, join);
  assert_int_equal(family.ended, 2);
  join_wait(of.domain, family.child);
  join_wait(of.domain, family.grandchild);
  close(family.gate.pipe[0]);
  close(family.gate.pipe[1]);
  journal_close(&of);
}

static void spawn_a_grandchild(wn_domain *domain, void *context) {
  struct family *family = context;
  let_one_through(&family->gate);
  assert_int_equal(wn_thread_spawn(domain, be_grandchild, family, &family->grandchild), WN_OK);
}

/* What is found dead by the collection that the parent asks for is finalised when the domain
 * ends. */
static void return_with_a_pending_finaliser(wn_domain *domain, void *argument) {
  struct family *family = argument;
  {
    WN_SCOPE(domain);
    assert_int_equal(wn_gc_finalise_last(domain, spawn_a_grandchild, family, block_of(domain, 1)), WN_OK);
  }
  atomic_store(&family->returned, 1);
  wait_at_gate(domain, &family->gate);
}

static void a_finaliser_may_spawn_a_thread_while_its_domain_ends(void **state) { /* G54h */
  (void)state;
  struct journal of;
  struct family family = {0};
  assert_int_equal(pipe(family.gate.pipe), 0);
  journal_open(&of, NULL);
  wn_join *join = spawn(of.domain, return_with_a_pending_finaliser, &family);
  wait_for_step(of.domain, &family.returned, 1);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  let_one_through(&family.gate);
  join_wait(of.domain, join);
  assert_int_equal(family.ended, 1);
  join_wait(of.domain, family.grandchild);
  close(family.gate.pipe[0]);
  close(family.gate.pipe[1]);
  journal_close(&of);
}

/* ---- what is left ---- */

struct legacy {
  struct entry entry;
  _Atomic(int) ended;
};

static void leave_a_legacy(wn_domain *domain, void *argument) {
  struct legacy *legacy = argument;
  allocate(domain, 1000, 9);
  {
    WN_SCOPE(domain);
    assert_int_equal(wn_gc_finalise(domain, write_first, &legacy->entry, block_of(domain, 0)), WN_OK);
  }
  sleep_ms(5);
  atomic_store(&legacy->ended, 1);
}

static void a_join_returns_when_the_domain_has_ended_and_what_it_left_is_there(void **state) { /* G54h */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  for (int i = 0; i < 20; i++) {
    struct legacy legacy = {.entry = {&of, i + 1}};
    wn_gc_stat before = quick_stat(of.domain);
    join_wait(of.domain, spawn(of.domain, leave_a_legacy, &legacy));
    assert_int_equal(legacy.ended, 1);
    wn_gc_stat after = quick_stat(of.domain);
    assert_true(after.minor_words == before.minor_words + 1000 * 10 + 2);
    wn_gc_full_major(of.domain);
    assert_int_equal(of.count, i + 1);
    assert_int_equal(of.lines[i], i + 1);
  }
  journal_close(&of);
}

static void be_short(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  atomic_fetch_add((_Atomic(int) *)argument, 1);
  assert_int_equal(length_of(domain, make_list(domain, 100, 4)), 100);
}

static void spawn_a_chain(wn_domain *domain, void *argument) {
  _Atomic(int) *left = argument;
  if (atomic_fetch_sub(left, 1) > 1) join_wait(domain, spawn(domain, spawn_a_chain, argument));
}

static void domains_come_and_go_and_their_numbers_are_not_used_again(void **state) { /* H8 */
  (void)state;
  struct journal of;
  _Atomic(int) ran = 0, left = 10;
  journal_open(&of, NULL);
  for (int round = 0; round < 20; round++) {
    wn_join *joins[5];
    for (int i = 0; i < 5; i++) joins[i] = spawn(of.domain, be_short, &ran);
    wn_gc_minor(of.domain);
    for (int i = 0; i < 5; i++) join_wait(of.domain, joins[i]);
  }
  assert_int_equal(ran, 100);
  join_wait(of.domain, spawn(of.domain, spawn_a_chain, &left));
  assert_int_equal(left, 0);
  assert_int_equal(wn_domain_number(of.domain), 0);
  wn_domain *other;
  assert_int_equal(wn_domain_detach(of.domain), WN_OK);
  assert_int_equal(wn_domain_attach(of.heap, &other), WN_OK);
  assert_int_equal(wn_domain_number(other), 111);
  of.domain = other;
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_heap_has_as_many_domains_as_its_parameters_allow),
      cmocka_unit_test(a_domain_too_many_is_refused_and_another_may_come_when_one_has_ended),
      cmocka_unit_test(a_thread_is_in_one_domain_of_a_heap),
      cmocka_unit_test(a_thread_may_be_in_domains_of_several_heaps),
      cmocka_unit_test(collections_go_on_while_a_domain_is_blocked),
      cmocka_unit_test(collections_go_on_while_a_domain_waits_to_join_another),
      cmocka_unit_test(a_domain_that_polls_without_allocating_lets_others_collect),
      cmocka_unit_test(a_collection_waits_for_a_domain_that_does_not_poll),
      cmocka_unit_test(a_domain_whose_body_returned_ends_with_the_last_of_its_threads),
      cmocka_unit_test(a_finaliser_may_spawn_a_thread_while_its_domain_ends),
      cmocka_unit_test(a_join_returns_when_the_domain_has_ended_and_what_it_left_is_there),
      cmocka_unit_test(domains_come_and_go_and_their_numbers_are_not_used_again),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
