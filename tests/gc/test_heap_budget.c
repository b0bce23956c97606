/* The processor time that limits may take (gc/collect/budget.h): the account, and heaps beyond their
 * limits. */
#include "gc/forks.h"
#include "gc/limited.h"

#include "gc/domains/domain.h"
#include <pthread.h>

#define MILLISECOND ((uint64_t)1000000)

/* ---- the account ---- */

/* No time passes by itself. */
static void begin_account(void) {
  time_for_nothing();
  clocks.process_ns = 1000 * MILLISECOND;
  assert_true(budget_look());
  budget_take(125 * MILLISECOND); /* all that can be saved up */
  assert_false(budget_look());
}

static void seven_sixteenths_of_the_time_are_earned(void **state) {
  (void)state;
  begin_account();
  clocks.process_ns += 160 * MILLISECOND;
  assert_true(budget_look());
  budget_take(70 * MILLISECOND - 1);
  assert_true(budget_look());
  budget_take(1);
  assert_false(budget_look());
}

static void what_is_taken_beyond_must_be_earned_first(void **state) { /* H7d */
  (void)state;
  begin_account();
  budget_take(700 * MILLISECOND);
  clocks.process_ns += 1600 * MILLISECOND;
  assert_false(budget_look());
  clocks.process_ns += 16;
  assert_true(budget_look());
}

static void no_more_than_an_eighth_of_a_second_is_saved_up(void **state) {
  (void)state;
  begin_account();
  for (int i = 0; i < 10; i++) {
    clocks.process_ns += 1600 * MILLISECOND;
    assert_true(budget_look());
  }
  budget_take(125 * MILLISECOND);
  assert_false(budget_look());
}

static void a_time_before_the_last_look_earns_nothing(void **state) {
  (void)state;
  begin_account();
  clocks.process_ns -= 500 * MILLISECOND;
  assert_false(budget_look());
  clocks.process_ns += 500 * MILLISECOND;
  assert_false(budget_look());
}

enum { THREADS = 4, LOOKS = 20000, EARNED = 7, STEP = 16 };

static void *look_and_take(void *unused) {
  for (int i = 0; i < LOOKS; i++) {
    budget_look();
    budget_take(EARNED);
  }
  return unused;
}

/* Each look lets as much time pass as earns what is taken after it. */
static void several_threads_earn_no_moment_twice_and_lose_none(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  begin_account();
  clocks.process_step = STEP;
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, look_and_take, NULL), 0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  clocks.process_step = 0;
  assert_false(budget_look());
  clocks.process_ns += STEP;
  assert_true(budget_look());
}

static void earn_in_child(wn_domain *domain, void *unused) {
  (void)domain, (void)unused;
  clocks.process_ns = 0;
  IN_CHILD(!budget_look());
  clocks.process_ns = STEP;
  IN_CHILD(budget_look());
}

static void the_child_of_a_fork_begins_its_account_anew(void **state) { /* H7d */
  (void)state;
  struct journal of;
  begin_account();
  begin(&of, 0);
  await_child(fork_child(of.domain, earn_in_child, NULL));
  assert_false(budget_look());
  journal_close(&of);
}

/* ---- one heap ---- */

static void without_processor_time_the_program_goes_on_as_if_there_were_no_limit(void **state) { /* H7d */
  (void)state;
  time_for_nothing();
  wn_gc_stat without = run_with_live(4 * MEGABYTE, 0), with = run_with_live(4 * MEGABYTE, 3 * MEGABYTE);
  assert_int_equal(with.major_collections, without.major_collections);
  assert_int_equal(with.compactions, without.compactions);
  assert_true(hooked.calls > 0); /* after one cycle, since there is no time for a second */
}

/* Each piece of work costs a MILLISECOND, each poll of the program a tenth of that. */
static void a_heap_beyond_its_limit_collects_for_no_more_than_half_of_the_time(void **state) { /* H7d */
  (void)state;
  struct journal of;
  time_for_all();
  begin(&of, MEGABYTE);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_array(of.domain, 4 * MEGABYTE);
    clocks.process_step = 0;
    clocks.thread_step = MILLISECOND;
    long before = quick_stat(of.domain).major_collections;
    uint64_t work_began = clocks.thread_ns, began = clocks.process_ns;
    for (size_t i = 0; i < blocks_in(64 * MEGABYTE); i++) {
      uint64_t work = clocks.thread_ns;
      set_block(of.domain, array, i % wn_words(wn_value_of(array)));
      /* Of two readings around a piece of work half of the time is between them. */
      clocks.process_ns += MILLISECOND / 10 + (clocks.thread_ns - work) / 2;
    }
    uint64_t work = (clocks.thread_ns - work_began) / 2, all = clocks.process_ns - began;
    long cycles = quick_stat(of.domain).major_collections - before;
    assert_true(cycles > (TINY ? 1 : 4));
    assert_true(work > all / 4); /* it uses its share */
    assert_true(work - 2 * work / (uint64_t)cycles <= all / 2);
  }
  journal_close(&of);
}

static bool hastens(const struct wn_heap *heap) { return limit_most(heap) != SIZE_MAX; }

static void without_processor_time_a_cycle_that_has_begun_goes_on_at_its_ordinary_pace(void **state) {
  /* H7d */
  (void)state;
  NEEDS_LONG_SLICES;
  struct journal of;
  time_for_all();
  begin(&of, MEGABYTE);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_array(of.domain, 4 * MEGABYTE);
    while (heap_phase(of.heap) == PHASE_IDLE) churn(of.domain, array, BLOCK_BYTES);
    assert_true(hastens(of.heap));
    long before = quick_stat(of.domain).major_collections, readings;
    time_for_nothing();
    for (int i = 0; hastens(of.heap) && i < 10000; i++) churn(of.domain, array, BLOCK_BYTES);
    assert_false(hastens(of.heap));
    readings = clocks.thread_readings;
    size_t bytes = 0;
    for (; quick_stat(of.domain).major_collections == before; bytes += BLOCK_BYTES)
      churn(of.domain, array, BLOCK_BYTES);
    assert_false(hastens(of.heap));
    assert_true(bytes / 8 > major_allowance(of.heap) / 32); /* the sweep alone takes twice as many words */
    assert_true(clocks.thread_readings > readings);         /* it counts */
  }
  journal_close(&of);
}

/* ---- what counts ---- */

/* Roots of a language whose marking, where a cycle begins, takes so much time of the thread. Their walk in
 * minor collections takes none. */
static struct {
  uint64_t cost_ns;
  bool were_walked_idle; /* by the last walk, which was that of a minor collection */
  long markings;
} slow_roots;

static void walk_slowly(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  (void)visit, (void)visitor, (void)context;
  bool is_idle = heap_phase(domain->heap) == PHASE_IDLE;
  if (slow_roots.were_walked_idle && !is_idle) {
    clocks.thread_ns += slow_roots.cost_ns;
    slow_roots.markings++;
  }
  slow_roots.were_walked_idle = is_idle;
}

/* Whether anything is saved after a cycle has begun beyond the limit, where no processor time is earned any
 * more. */
static bool is_saved_after_marking_roots(uint64_t cost_ns) {
  struct journal of;
  bool saved;
  time_for_all();
  memset(&slow_roots, 0, sizeof slow_roots);
  wn_heap_options options = options_of(MEGABYTE);
  options.hooks.walk_roots = walk_slowly;
  begin_with(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_array(of.domain, 4 * MEGABYTE);
    clocks.process_step = 0;
    slow_roots.cost_ns = cost_ns;
    long before = slow_roots.markings;
    while (slow_roots.markings == before) churn(of.domain, array, BLOCK_BYTES);
    assert_true(hastens(of.heap));
    saved = budget_look();
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    assert_int_equal(hastens(of.heap), saved);
  }
  journal_close(&of);
  return saved;
}

static void the_marking_of_roots_counts(void **state) { /* H7d */
  (void)state;
  assert_true(is_saved_after_marking_roots(0));
  assert_false(is_saved_after_marking_roots(1000 * MILLISECOND));
}

/* ---- several heaps ---- */

/* Heaps beyond their limits, one for each thread. Threads meet when nothing is saved any more, and
 * the share of the limits is measured from then on. */
struct beyond {
  wn_heap_options options;
  pthread_barrier_t meet;
  uint64_t began_ns;
};

enum { RUN_MS = 800, LATE_MS = 100 };

static uint64_t passed_ns(const struct beyond *beyond) { return os_process_cpu_ns() - beyond->began_ns; }

static void *run_heap(void *argument) {
  struct beyond *beyond = argument;
  struct journal of;
  journal_open(&of, &beyond->options);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_array(of.domain, 8 * MEGABYTE);
    for (int i = 0; hastens(of.heap) && i < 10000; i++) churn(of.domain, array, MEGABYTE / 8);
    pthread_barrier_wait(&beyond->meet);
    pthread_barrier_wait(&beyond->meet);
    while (passed_ns(beyond) < RUN_MS * MILLISECOND) churn(of.domain, array, MEGABYTE / 8);
    pthread_barrier_wait(&beyond->meet);
  }
  journal_close(&of);
  return NULL;
}

static void run_beyond_limits(unsigned heaps, int helper_threads) {
  enum { HEAPS_MOST = 3 };
  struct beyond beyond = {.options = options_of(MEGABYTE)};
  pthread_t threads[HEAPS_MOST];
  beyond.options.helper_threads = helper_threads;
  beyond.options.hooks.over_limit = NULL;
  assert_int_equal(pthread_barrier_init(&beyond.meet, NULL, heaps + 1), 0);
  for (unsigned i = 0; i < heaps; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run_heap, &beyond), 0);
  pthread_barrier_wait(&beyond.meet);
  uint64_t work_began = clocks.worked_ns;
  beyond.began_ns = os_process_cpu_ns();
  pthread_barrier_wait(&beyond.meet);
  pthread_barrier_wait(&beyond.meet);
  uint64_t work = clocks.worked_ns - work_began, all = passed_ns(&beyond);
  for (unsigned i = 0; i < heaps; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  pthread_barrier_destroy(&beyond.meet);
  assert_true(work > all / 8); /* they use their share */
  assert_true(work <= all / 2 + LATE_MS * MILLISECOND);
}

static void of_the_processor_time_of_real_clocks_the_limit_takes_no_more_than_half(void **state) { /* H7d */
  (void)state;
  time_is_real();
  run_beyond_limits(1, 0);
  run_beyond_limits(1, 1);
}

static void several_heaps_beyond_their_limits_take_no_more_than_half_together(void **state) { /* H7d */
  (void)state;
  time_is_real();
  run_beyond_limits(2, 0);
  run_beyond_limits(3, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seven_sixteenths_of_the_time_are_earned),
      cmocka_unit_test(what_is_taken_beyond_must_be_earned_first),
      cmocka_unit_test(no_more_than_an_eighth_of_a_second_is_saved_up),
      cmocka_unit_test(a_time_before_the_last_look_earns_nothing),
      cmocka_unit_test(several_threads_earn_no_moment_twice_and_lose_none),
      cmocka_unit_test(the_child_of_a_fork_begins_its_account_anew),
      one_thread_test(without_processor_time_the_program_goes_on_as_if_there_were_no_limit),
      one_thread_test(a_heap_beyond_its_limit_collects_for_no_more_than_half_of_the_time),
      one_thread_test(without_processor_time_a_cycle_that_has_begun_goes_on_at_its_ordinary_pace),
      one_thread_test(the_marking_of_roots_counts),
      cmocka_unit_test(of_the_processor_time_of_real_clocks_the_limit_takes_no_more_than_half),
      cmocka_unit_test(several_heaps_beyond_their_limits_take_no_more_than_half_together),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
