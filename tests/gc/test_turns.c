/* Threads of one domain: a waiter gets the turn in order, and soon, even where the running thread
 * never yields by itself. */
#include "gc/journal.h"

#include "gc/domains/domain.h"
#include <time.h>

enum { THREADS_MOST = 4 };

struct worker {
  struct crowd *crowd;
  long work;  /* rounds that it did */
  long turns; /* how often it saw that another had run since its last round */
};

struct crowd {
  struct journal of;
  struct worker workers[THREADS_MOST];
  wn_join *joins[THREADS_MOST];
  int count;
  const struct worker *last; /* the thread that runs */
  _Atomic(bool) over;
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void crowd_open(struct crowd *crowd) {
  wn_heap_options options = without_helpers();
  *crowd = (struct crowd){.count = 0};
  journal_open(&crowd->of, &options);
}

static void crowd_add(struct crowd *crowd, wn_body *body) {
  struct worker *worker = &crowd->workers[crowd->count];
  worker->crowd = crowd;
  assert_int_equal(wn_thread_spawn(crowd->of.domain, body, worker, &crowd->joins[crowd->count++]), WN_OK);
}

static void crowd_join(struct crowd *crowd) {
  for (int i = 0; i < crowd->count; i++) join_wait(crowd->of.domain, crowd->joins[i]);
  crowd->count = 0;
}

/* They do as they like for so long; the thread that waits is in a blocking section. */
static void crowd_run(struct crowd *crowd, double seconds) {
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  wn_blocking_begin(crowd->of.domain);
  nanosleep(&time, NULL);
  crowd->over = true;
  wn_blocking_end(crowd->of.domain);
  crowd_join(crowd);
}

static void note(struct worker *worker) {
  struct crowd *crowd = worker->crowd;
  if (crowd->last != worker) worker->turns++;
  crowd->last = worker;
  worker->work++;
}

/* ---- threads that never give their turn ---- */

static void bump_only(wn_domain *domain, void *argument) {
  struct worker *worker = argument;
  while (!worker->crowd->over) {
    wn_value *fields = wn_bump(domain, 2, 0);
    fields[0] = fields[1] = wn_int(0);
    note(worker);
  }
}

static void poll_only(wn_domain *domain, void *argument) {
  struct worker *worker = argument;
  while (!worker->crowd->over) {
    wn_poll(domain);
    note(worker);
  }
}

static void allocate_large_only(wn_domain *domain, void *argument) {
  struct worker *worker = argument;
  while (!worker->crowd->over) {
    WN_SCOPE(domain);
    assert_false(wn_is_null(wn_alloc_bytes(domain, 40000)));
    note(worker);
  }
}

static void collect_only(wn_domain *domain, void *argument) {
  struct worker *worker = argument;
  while (!worker->crowd->over) {
    assert_int_equal(wn_gc_minor(domain), WN_OK);
    note(worker);
  }
}

static void make_groups_only(wn_domain *domain, void *argument) {
  struct worker *worker = argument;
  const wn_shape shapes[] = {{3, 0}, {1, 1}, {2, WN_TAG_RAW}};
  while (!worker->crowd->over) {
    WN_SCOPE(domain);
    wn_ref blocks[3];
    assert_int_equal(wn_alloc_group(domain, 3, shapes, blocks), WN_OK);
    /* another thread's blocks would lie between them */
    assert_int_equal(wn_value_of(blocks[0]) - wn_value_of(blocks[1]), 2 * sizeof(wn_value));
    assert_int_equal(wn_value_of(blocks[1]) - wn_value_of(blocks[2]), 3 * sizeof(wn_value));
    note(worker);
  }
}

/* About 20 turns each on a machine without other load. On a loaded one both get some in the end. */
static void check_takes_turns(wn_body *one, wn_body *other) {
  struct crowd crowd;
  crowd_open(&crowd);
  for (int tries = 0; tries < 20 && (crowd.workers[0].turns < 3 || crowd.workers[1].turns < 3); tries++) {
    crowd.over = false;
    crowd_add(&crowd, one);
    crowd_add(&crowd, other);
    crowd_run(&crowd, 0.4);
  }
  for (int i = 0; i < 2; i++) {
    assert_true(crowd.workers[i].work > 0);
    assert_true(crowd.workers[i].turns >= 3);
  }
  journal_close(&crowd.of);
}

static void two_threads_that_only_compute_both_go_on(void **state) { /* H15 */
  (void)state;
  check_takes_turns(bump_only, bump_only);
}

static void every_safepoint_lets_another_thread_run(void **state) { /* H15 */
  (void)state;
  check_takes_turns(poll_only, bump_only);
  check_takes_turns(poll_only, poll_only);
  check_takes_turns(allocate_large_only, bump_only);
  check_takes_turns(collect_only, poll_only);
}

static void a_group_is_made_in_one_turn(void **state) { /* H15 */
  (void)state;
  check_takes_turns(make_groups_only, make_groups_only);
  check_takes_turns(make_groups_only, bump_only);
}

static void three_threads_share_fairly(void **state) { /* H15 */
  struct crowd crowd;
  long sum = 0;
  (void)state;
  crowd_open(&crowd);
  for (int i = 0; i < 3; i++) crowd_add(&crowd, bump_only);
  crowd_run(&crowd, 0.9);
  for (int i = 0; i < 3; i++) sum += crowd.workers[i].work;
  for (int i = 0; i < 3; i++) assert_true(crowd.workers[i].work > sum * 15 / 100);
  journal_close(&crowd.of);
}

/* How long a thread waits that comes back now and then, while others compute. */
static void sleep_and_come_back(wn_domain *domain, void *argument) {
  struct worker *worker = argument;
  for (int i = 0; i < 10; i++) {
    wn_blocking_begin(domain);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    wn_blocking_end(domain);
    worker->work++;
  }
  worker->crowd->over = true;
}

static void a_thread_that_was_blocked_gets_its_turn_soon(void **state) { /* H15 */
  struct crowd crowd;
  (void)state;
  crowd_open(&crowd);
  double begun = now();
  crowd_add(&crowd, bump_only);
  crowd_add(&crowd, poll_only);
  crowd_add(&crowd, sleep_and_come_back);
  crowd_join(&crowd);
  assert_int_equal(crowd.workers[2].work, 10);
  assert_true(now() - begun < 10); /* of about 0.2 */
  journal_close(&crowd.of);
}

/* ---- order ---- */

enum { ROUNDS = 300 };
static const struct worker *order[THREADS_MOST * ROUNDS];
static int ordered;

static void yield_in_turn(wn_domain *domain, void *argument) {
  struct worker *worker = argument;
  for (int i = 0; i < ROUNDS; i++) {
    order[ordered++] = worker;
    wn_thread_yield(domain);
  }
}

static int place_of(const struct worker *worker, int from, int step) {
  while (order[from] != worker) from += step;
  return from;
}
static int larger(int a, int b) { return a > b ? a : b; }

/* While all three are there, each of them is every third. */
static void a_thread_that_yields_comes_after_all_waiters(void **state) { /* H15 */
  struct crowd crowd;
  int begin = 0, end = 3 * ROUNDS, exceptions = 0;
  (void)state;
  crowd_open(&crowd);
  ordered = 0;
  for (int i = 0; i < 3; i++) crowd_add(&crowd, yield_in_turn);
  crowd_join(&crowd);
  assert_int_equal(ordered, 3 * ROUNDS);
  for (int i = 0; i < 3; i++) {
    begin = larger(begin, place_of(&crowd.workers[i], 0, 1));
    end = -larger(-end, -place_of(&crowd.workers[i], ordered - 1, -1));
  }
  for (int i = begin; i + 3 <= end; i++) exceptions += order[i] != order[i + 3];
  assert_true(exceptions <=
              9 * (int)crowd.of.domain->turn.requests); /* the thread that gets the request may yield twice */
  journal_close(&crowd.of);
}

/* ---- without requests ---- */

static void a_thread_without_waiters_is_never_asked_to_yield(void **state) { /* H15 */
  struct crowd crowd;
  (void)state;
  crowd_open(&crowd);
  wn_domain *domain = crowd.of.domain;
  for (double begun = now(); now() - begun < 0.1;) {
    allocate(domain, 100, 3);
    wn_poll(domain);
    wn_blocking_begin(domain);
    wn_blocking_end(domain);
    wn_thread_yield(domain);
  }
  assert_int_equal(domain->turn.requests, 0);
  crowd_add(&crowd, bump_only);
  crowd_run(&crowd, 0.1);                  /* while this one is blocked */
  assert_true(domain->turn.requests <= 2); /* it waited at the end, and until the other began */
  journal_close(&crowd.of);
}

/* ---- what goes on in between ---- */

static _Thread_local int depth;
static _Atomic(long) births;

static void *compute_long(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)allocation, (void)context;
  assert_int_equal(depth++, 0);
  for (double begun = now(); now() - begun < 0.025;) allocate(domain, 100, 3);
  depth--;
  births++;
  return NULL;
}

static void sampled_once(wn_domain *domain, void *argument) {
  struct worker *worker = argument;
  while (!worker->crowd->over) {
    allocate(domain, 1, 500);
    wn_poll(domain);
    note(worker);
  }
}

static void a_callback_may_be_interrupted_and_none_nests_in_it(void **state) { /* H15 */
  struct crowd crowd;
  wn_tracker tracker = {.alloc_minor = compute_long, .alloc_major = compute_long};
  wn_memprof_options options = {1, 4, 0};
  wn_profile *profile;
  (void)state;
  crowd_open(&crowd);
  births = 0;
  assert_int_equal(wn_memprof_start(crowd.of.domain, &options, &tracker, &profile), WN_OK);
  for (int i = 0; i < 3; i++) crowd_add(&crowd, sampled_once);
  crowd_run(&crowd, 0.6);
  assert_true(births >= 3);
  for (int i = 0; i < 3; i++) assert_true(crowd.workers[i].work > 0);
  assert_true(crowd.of.domain->turn.requests > 3);
  assert_int_equal(wn_memprof_stop(crowd.of.domain), WN_OK);
  assert_int_equal(wn_memprof_discard(profile), WN_OK);
  journal_close(&crowd.of);
}

static _Atomic(long) made, released;
static void count_release(void *bytes) {
  (void)bytes;
  released++;
}

static void make_custom_blocks(wn_domain *domain, void *argument) {
  static const wn_custom_ops ops = {"counted", count_release};
  struct worker *worker = argument;
  while (!worker->crowd->over) {
    WN_SCOPE(domain);
    assert_false(wn_is_null(wn_alloc_custom(domain, &ops, 8, 8)));
    made++;
    note(worker);
  }
}

static void custom_blocks_of_threads_that_are_interrupted_are_all_released(void **state) {
  struct crowd crowd;
  (void)state;
  crowd_open(&crowd);
  made = released = 0;
  for (int i = 0; i < 3; i++) crowd_add(&crowd, make_custom_blocks);
  crowd_run(&crowd, 0.3);
  for (int i = 0; i < 3; i++) assert_true(crowd.workers[i].turns > 1);
  journal_close(&crowd.of);
  assert_int_equal(made, released);
}

/* Two domains of two threads each: the world is stopped, and turns change, at once. */
static void two_computing_threads(wn_domain *domain, void *argument) {
  struct crowd *crowd = argument;
  wn_join *join;
  crowd->workers[1].crowd = crowd->workers[0].crowd = crowd;
  assert_int_equal(wn_thread_spawn(domain, bump_only, &crowd->workers[1], &join), WN_OK);
  bump_only(domain, &crowd->workers[0]);
  join_wait(domain, join);
}

static void domains_take_turns_and_stop_each_other(void **state) {
  struct crowd crowd, others[2] = {{.count = 0}, {.count = 0}};
  wn_join *joins[2];
  (void)state;
  crowd_open(&crowd);
  for (int i = 0; i < 2; i++) joins[i] = spawn(crowd.of.domain, two_computing_threads, &others[i]);
  crowd_run(&crowd, 0.5);
  for (int i = 0; i < 2; i++) others[i].over = true;
  for (int i = 0; i < 2; i++) join_wait(crowd.of.domain, joins[i]);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) assert_true(others[i].workers[j].turns >= 2);
  journal_close(&crowd.of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_threads_that_only_compute_both_go_on),
      cmocka_unit_test(every_safepoint_lets_another_thread_run),
      cmocka_unit_test(a_group_is_made_in_one_turn),
      cmocka_unit_test(three_threads_share_fairly),
      cmocka_unit_test(a_thread_that_was_blocked_gets_its_turn_soon),
      cmocka_unit_test(a_thread_that_yields_comes_after_all_waiters),
      cmocka_unit_test(a_thread_without_waiters_is_never_asked_to_yield),
      cmocka_unit_test(a_callback_may_be_interrupted_and_none_nests_in_it),
      cmocka_unit_test(custom_blocks_of_threads_that_are_interrupted_are_all_released),
      cmocka_unit_test(domains_take_turns_and_stop_each_other),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
