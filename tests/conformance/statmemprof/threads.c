/* Profiles and the threads of one domain of the collected heap. Threads take turns by steps
 * (gc/blocks.h). */
#include "tracker.h"

#include "gc/domains/heap.h"

static _Thread_local long my_number;

static wn_join *begin_thread(wn_domain *domain, wn_body *body, void *argument) {
  wn_join *join;
  assert_int_equal(wn_thread_spawn(domain, body, argument, &join), WN_OK);
  return join;
}

/* Lets the domain's other threads run until one has taken that step. */
static void yield_until(wn_domain *domain, const _Atomic(int) *step, int wanted) {
  while (atomic_load(step) < wanted) wn_thread_yield(domain);
}

/* The same without a safepoint of its own: nothing of this thread is told. */
static void sleep_until(wn_domain *domain, const _Atomic(int) *step, int wanted) {
  while (atomic_load(step) < wanted) {
    wn_blocking_begin(domain);
    wn_blocking_end(domain);
  }
}

/* ---- whose births ---- */

enum { CROWD = 5, BLOCKS = 200 };

static void *expect_own(wn_domain *domain, const wn_allocation *allocation, void *context) {
  assert_int_equal(allocation->size, my_number);
  return tracked_alloc_minor(domain, allocation, context);
}

static _Atomic(long) numbers;
static void allocate_own_size(wn_domain *domain, void *argument) {
  (void)argument;
  my_number = ++numbers;
  for (int i = 0; i < BLOCKS; i++) {
    allocate(domain, 1, (size_t)my_number);
    if (i % 10 == 0) wn_thread_yield(domain);
  }
}

static void births_are_told_on_the_thread_that_allocated(void **state) { /* M28, M50 */
  struct tracked all;
  wn_join *joins[CROWD];
  (void)state;
  tracked_open_heap(&all);
  all.tracker.alloc_minor = expect_own;
  tracked_start(&all, 1);
  numbers = 0;
  for (int i = 0; i < CROWD; i++) joins[i] = begin_thread(all.of.domain, allocate_own_size, NULL);
  for (int i = 0; i < CROWD; i++) join_wait(all.of.domain, joins[i]);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.allocs_minor, CROWD * BLOCKS);
  assert_int_equal(all.deallocs_minor, CROWD * BLOCKS);
  tracked_check(&all);
  tracked_close(&all);
}

struct turns {
  struct tracked all;
  _Atomic(int) step;
  wn_ref exception;
};

static void allocate_and_sleep(wn_domain *domain, void *argument) {
  struct turns *turns = argument;
  allocate(domain, 5, 3);
  turns->step = 1;
  sleep_until(domain, &turns->step, 2);
  turns->step = 3;
}

static void a_thread_that_blocks_tells_its_births_before(void **state) { /* M27 */
  struct turns turns = {.step = 0};
  (void)state;
  tracked_open(&turns.all, 1);
  wn_domain *domain = turns.all.of.domain;
  wn_join *join = begin_thread(domain, allocate_and_sleep, &turns);
  yield_until(domain, &turns.step, 1);
  assert_int_equal(turns.all.allocs_minor, 5);
  wn_gc_full_major(domain);
  wn_gc_full_major(domain);
  assert_int_equal(turns.all.deallocs_minor, 5);
  turns.step = 2;
  yield_until(domain, &turns.step, 3);
  join_wait(domain, join);
  tracked_check(&turns.all);
  tracked_close(&turns.all);
}

/* ---- ends ---- */

static void allocate_and_end(wn_domain *domain, void *argument) {
  (void)argument;
  allocate(domain, 7, 3);
  wn_alloc(domain, 400, 0);
}

static void a_thread_that_ends_tells_its_births_first(void **state) { /* M28, M54, M59 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  join_wait(all.of.domain, begin_thread(all.of.domain, allocate_and_end, NULL));
  assert_int_equal(all.allocs_minor, 7);
  assert_int_equal(all.allocs_major, 1);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.deallocs_minor + all.deallocs_major, 8);
  tracked_check(&all);
  tracked_close(&all);
}

static void *raise_always(wn_domain *domain, const wn_allocation *allocation, void *context) {
  WN_SCOPE(domain);
  tracked_alloc_minor(domain, allocation, context);
  wn_raise(domain, wn_root(domain, wn_int(1)));
  return context;
}

static void what_an_ending_thread_cannot_tell_is_dropped(void **state) { /* M28 */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  all.tracker.alloc_minor = raise_always;
  tracked_start(&all, 1);
  join_wait(all.of.domain, begin_thread(all.of.domain, allocate_and_end, NULL));
  assert_int_equal(all.allocs_minor, 1); /* it raised, and the exception was not taken */
  assert_int_equal(all.allocs_major, 0);
  wn_memprof_count count = counts_of(all.profile);
  assert_int_equal(count.dropped_minor, 7);
  assert_int_equal(count.dropped_major, 1);
  assert_false(wn_is_null(wn_take_exception(all.of.domain)));
  tracked_close(&all);
}

static void threads_that_end_leave_nothing_behind(void **state) { /* M48, M59 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  for (int i = 0; i < 300; i++) join_wait(all.of.domain, begin_thread(all.of.domain, allocate_and_end, NULL));
  wn_gc_full_major(all.of.domain);
  tracked_check(&all);
  assert_int_equal(all.deallocs_minor + all.deallocs_major, 300 * 8);
  assert_int_equal(memprof_usage(&all.of.heap->engine).entries, 0);
  memprof_check(&all.of.heap->engine);
  tracked_close(&all);
}

/* ---- callbacks that block ---- */

static void *sleep_in_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct turns *turns = ((struct tracked *)context)->test;
  if (allocation->size == 9) {
    turns->step = 1;
    sleep_until(domain, &turns->step, 2);
  }
  return tracked_alloc_minor(domain, allocation, context);
}

static void open_sleeping(struct turns *turns) {
  *turns = (struct turns){.step = 0};
  tracked_open_heap(&turns->all);
  turns->all.tracker.alloc_minor = sleep_in_birth;
  turns->all.test = turns;
  tracked_start(&turns->all, 1);
}

static void allocate_sleeping_block(wn_domain *domain, void *argument) {
  (void)argument;
  WN_SCOPE(domain);
  wn_alloc(domain, 9, 0);
  wn_poll(domain);
}

static void while_one_callback_sleeps_other_threads_are_sampled_and_called(void **state) { /* M31, M62 */
  struct turns turns;
  (void)state;
  open_sleeping(&turns);
  wn_domain *domain = turns.all.of.domain;
  wn_join *join = begin_thread(domain, allocate_sleeping_block, NULL);
  sleep_until(domain, &turns.step, 1);
  allocate(domain, 10, 3);
  wn_gc_minor(domain);
  assert_int_equal(turns.all.allocs_minor, 10);
  assert_int_equal(turns.all.deallocs_minor, 10);
  turns.step = 2;
  join_wait(domain, join);
  assert_int_equal(turns.all.allocs_minor, 11);
  tracked_close(&turns.all);
}

static void a_block_may_move_and_die_while_its_birth_is_told(void **state) { /* M29, M32 */
  struct turns turns;
  (void)state;
  open_sleeping(&turns);
  struct tracked *all = &turns.all;
  wn_domain *domain = all->of.domain;
  wn_join *join = begin_thread(domain, allocate_sleeping_block, NULL);
  sleep_until(domain, &turns.step, 1);
  wn_gc_full_major(domain); /* promotes the block, which the sleeping thread has */
  assert_int_equal(all->allocs_minor + all->promotes, 0);
  turns.step = 2;
  join_wait(domain, join);
  assert_int_equal(all->allocs_minor, 1);
  assert_int_equal(all->promotes, 1);
  assert_int_equal(all->deallocs_minor + all->deallocs_major, 0);
  wn_gc_full_major(domain);
  assert_int_equal(all->deallocs_major, 1);
  tracked_check(all);
  tracked_close(all);
}

static void a_callback_that_sleeps_through_stop_and_discard_has_its_result_dropped(void **state) {
  /* M32, M47 */
  struct turns turns;
  (void)state;
  open_sleeping(&turns);
  wn_domain *domain = turns.all.of.domain;
  wn_join *join = begin_thread(domain, allocate_sleeping_block, NULL);
  sleep_until(domain, &turns.step, 1);
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(wn_memprof_discard(turns.all.profile), WN_OK);
  turns.step = 2;
  join_wait(domain, join);
  wn_gc_full_major(domain);
  wn_gc_full_major(domain);
  assert_int_equal(turns.all.allocs_minor, 1);
  assert_int_equal(turns.all.promotes + turns.all.deallocs_minor + turns.all.deallocs_major, 0);
  assert_int_equal(memprof_usage(&turns.all.of.heap->engine).entries, 0);
  journal_close(&turns.all.of);
}

static void *raise_in_small_births(wn_domain *domain, const wn_allocation *allocation, void *context) {
  if (allocation->size == 9) return sleep_in_birth(domain, allocation, context);
  wn_raise(domain, block_of(domain, 1));
  return tracked_alloc_minor(domain, allocation, context);
}

/* The block is promoted meanwhile, which is told when the exception is taken. */
static void what_another_thread_raises_ends_no_block_of_a_callback_that_sleeps(void **state) { /* E1b, M23 */
  struct turns turns;
  (void)state;
  tracked_open_heap(&turns.all);
  turns.step = 0;
  turns.all.tracker.alloc_minor = raise_in_small_births;
  turns.all.test = &turns;
  tracked_start(&turns.all, 1);
  wn_domain *domain = turns.all.of.domain;
  wn_join *join = begin_thread(domain, allocate_sleeping_block, NULL);
  sleep_until(domain, &turns.step, 1);
  wn_gc_minor(domain);
  allocate(domain, 1, 2);
  wn_poll(domain);
  turns.step = 2;
  wn_join_wait(domain, join);
  assert_int_equal(turns.all.allocs_minor, 2);
  assert_int_equal(turns.all.promotes, 0);
  assert_false(wn_is_null(wn_take_exception(domain)));
  wn_poll(domain);
  assert_int_equal(turns.all.promotes, 1);
  wn_gc_full_major(domain);
  assert_int_equal(turns.all.deallocs_minor, 0);
  assert_int_equal(turns.all.deallocs_major, 1);
  tracked_check(&turns.all);
  tracked_close(&turns.all);
}

/* Two threads whose callbacks all yield: those of one block never meet. */
struct busy {
  _Atomic(int) inside;
};
static struct busy busy[1 << 15];
static _Atomic(long) busy_count;

static void work_slowly(wn_domain *domain, struct busy *of) {
  assert_int_equal(atomic_fetch_add(&of->inside, 1), 0);
  wn_thread_yield(domain);
  assert_int_equal(atomic_fetch_sub(&of->inside, 1), 1);
}
static void *slow_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct busy *of = &busy[atomic_fetch_add(&busy_count, 1) % (1 << 15)];
  work_slowly(domain, of);
  tracked_alloc_minor(domain, allocation, context);
  return of;
}
static void *slow_promotion(wn_domain *domain, void *minor, void *context) {
  work_slowly(domain, minor);
  tracked_promote(domain, minor, context);
  return minor;
}
static void slow_death(wn_domain *domain, void *minor, void *context) {
  work_slowly(domain, minor);
  tracked_dealloc_minor(domain, minor, context);
}
static void slow_old_death(wn_domain *domain, void *major, void *context) {
  work_slowly(domain, major);
  tracked_dealloc_major(domain, major, context);
}

enum { SLOW_LISTS = 100, SLOW_LENGTH = 20 };
static void make_lists(wn_domain *domain, void *argument) {
  (void)argument;
  for (int i = 0; i < SLOW_LISTS; i++) {
    WN_SCOPE(domain);
    make_list(domain, SLOW_LENGTH, 2);
    if (i % 7 == 0) wn_gc_minor(domain);
    wn_poll(domain);
  }
}

static void callbacks_of_one_block_never_run_on_two_threads_at_once(void **state) { /* M31 */
  struct tracked all;
  wn_join *joins[3];
  (void)state;
  tracked_open_heap(&all);
  all.tracker =
      (wn_tracker){slow_birth, slow_birth, slow_promotion, slow_death, slow_old_death, .context = &all};
  tracked_start(&all, 1);
  for (int i = 0; i < 3; i++) joins[i] = begin_thread(all.of.domain, make_lists, NULL);
  for (int i = 0; i < 3; i++) join_wait(all.of.domain, joins[i]);
  wn_gc_full_major(all.of.domain);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.allocs_minor, 3 * SLOW_LISTS * SLOW_LENGTH);
  assert_int_equal(all.deallocs_minor + all.deallocs_major, all.allocs_minor);
  assert_true(all.promotes > 0 && all.deallocs_minor > 0);
  tracked_check(&all);
  tracked_close(&all);
}

/* ---- callbacks that begin threads ---- */

static wn_join *begun_inside;
static void *begin_inside(wn_domain *domain, const wn_allocation *allocation, void *context) {
  if (allocation->size == 9) begun_inside = begin_thread(domain, allocate_and_end, NULL);
  return tracked_alloc_minor(domain, allocation, context);
}

static void a_thread_that_a_callback_begins_is_sampled(void **state) { /* M38c */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  all.tracker.alloc_minor = begin_inside;
  tracked_start(&all, 1);
  allocate_sleeping_block(all.of.domain, NULL);
  join_wait(all.of.domain, begun_inside);
  assert_int_equal(all.allocs_minor, 8);
  tracked_close(&all);
}

static void a_domain_whose_last_callback_begins_a_thread_does_not_end(void **state) { /* M38c */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  wn_heap *heap = all.of.heap;
  wn_domain *domain = all.of.domain;
  all.tracker.alloc_minor = begin_inside;
  tracked_start(&all, 1);
  allocate(domain, 1, 9);
  assert_int_equal(wn_domain_detach(domain), WN_EBUSY);
  assert_int_equal(all.allocs_minor, 1);
  join_wait(domain, begun_inside);
  allocate(domain, 1, 3); /* it is sampled as before */
  wn_poll(domain);
  assert_int_equal(all.allocs_minor, 9);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

/* ---- discard from anywhere ---- */

struct discarder {
  wn_profile *profile;
  _Atomic(int) step;
};
static void discard_while_blocked(wn_domain *domain, void *argument) {
  struct discarder *discarder = argument;
  for (int round = 1; round < 200; round++) {
    wn_blocking_begin(domain);
    while (discarder->step < 2 * round - 1) {}
    assert_int_equal(wn_memprof_discard(discarder->profile), WN_OK);
    discarder->step = 2 * round;
    wn_blocking_end(domain);
  }
}

static void a_thread_in_a_blocking_section_may_discard(void **state) { /* M55b */
  struct tracked all;
  struct discarder discarder = {.step = 0};
  (void)state;
  tracked_open_heap(&all);
  wn_domain *domain = all.of.domain;
  wn_join *join = begin_thread(domain, discard_while_blocked, &discarder);
  for (int round = 1; round < 200; round++) {
    WN_SCOPE(domain);
    tracked_start(&all, 1);
    make_list(domain, 10, 3);
    assert_int_equal(wn_memprof_stop(domain), WN_OK);
    discarder.profile = all.profile;
    discarder.step = 2 * round - 1;
    while (discarder.step < 2 * round) {
      wn_gc_minor(domain);
      wn_thread_yield(domain);
    }
  }
  join_wait(domain, join);
  journal_close(&all.of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(births_are_told_on_the_thread_that_allocated),
      cmocka_unit_test(a_thread_that_blocks_tells_its_births_before),
      cmocka_unit_test(a_thread_that_ends_tells_its_births_first),
      cmocka_unit_test(what_an_ending_thread_cannot_tell_is_dropped),
      cmocka_unit_test(threads_that_end_leave_nothing_behind),
      cmocka_unit_test(while_one_callback_sleeps_other_threads_are_sampled_and_called),
      cmocka_unit_test(a_block_may_move_and_die_while_its_birth_is_told),
      cmocka_unit_test(what_another_thread_raises_ends_no_block_of_a_callback_that_sleeps),
      cmocka_unit_test(a_callback_that_sleeps_through_stop_and_discard_has_its_result_dropped),
      cmocka_unit_test(callbacks_of_one_block_never_run_on_two_threads_at_once),
      cmocka_unit_test(a_thread_that_a_callback_begins_is_sampled),
      cmocka_unit_test(a_domain_whose_last_callback_begins_a_thread_does_not_end),
      cmocka_unit_test(a_thread_in_a_blocking_section_may_discard),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
