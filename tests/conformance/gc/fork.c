/* Forks of a process with heaps: parent and child go on, whichever thread forks, and whatever the
 * other threads were doing. */
#include "conformance/gc/working.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <winnow/events.h>
#include <winnow/weak.h>

/* ---- all at work ---- */

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { FORKS = 100 }; /* each copies a sanitizer's shadow memory: 20 ms */
#else
enum { FORKS = TINY ? 100 : 1000 };
#endif

static void fork_while_all_work(const char *text, int forks) {
  struct journal of;
  struct world world;
  wn_join *workers[WORKERS];
  open_world(&of, &world, text);
  for (int i = 0; i < WORKERS; i++) workers[i] = spawn(of.domain, work, &world);
  wait_for_step(of.domain, &world.working, WORKERS);
  {
    WN_SCOPE(of.domain);
    uint64_t random = 99;
    wn_ref list = wn_root(of.domain, wn_int(0));
    for (int i = 0; i < forks; i++) {
      do_in_child(of.domain, collect_and_verify, &world);
      step(of.domain, &world, &random, list);
      if (i % 50 == 0) assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
    }
  }
  atomic_store(&world.over, true);
  for (int i = 0; i < WORKERS; i++) join_wait(of.domain, workers[i]);
  wn_global_free(of.domain, world.shared);
  journal_close(&of);
}

static void parent_and_child_go_on_after_many_forks(void **state) { /* H18 */
  (void)state;
  fork_while_all_work("minor_heap_size=4096", FORKS);
}

static void parent_and_child_go_on_if_all_is_verified_and_delayed(void **state) { /* H18 */
  (void)state;
  fork_while_all_work("minor_heap_size=1024,verify,delays=1,max_overhead=0", TINY ? 5 : 20);
}

/* ---- which thread forks ---- */

/* Threads that fork begin and end together: AddressSanitizer's allocator (GCC 12) has locks that a
 * fork does not take, and that threads take when they begin and end. */
static void await_others(wn_domain *domain, _Atomic(int) *arrived, int all) {
  atomic_fetch_add(arrived, 1);
  while (atomic_load(arrived) < all) wn_thread_yield(domain);
}

struct forker {
  struct world *world;
  int forks;
  _Atomic(int) begun, ended;
};

static void fork_often(wn_domain *domain, void *argument) {
  struct forker *of = argument;
  WN_SCOPE(domain);
  uint64_t random = wn_domain_number(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  await_others(domain, &of->begun, WORKERS);
  for (int i = 0; i < of->forks; i++) {
    do_in_child(domain, collect_and_verify, of->world);
    step(domain, of->world, &random, list);
  }
  await_others(domain, &of->ended, WORKERS);
}

static void several_domains_may_fork_at_once(void **state) { /* H18 */
  (void)state;
  struct journal of;
  struct world world;
  wn_join *joins[WORKERS];
  open_world(&of, &world, "minor_heap_size=4096");
  struct forker forker = {.world = &world, .forks = TINY ? 10 : 50};
  for (int i = 0; i < WORKERS; i++) joins[i] = spawn(of.domain, fork_often, &forker);
  for (int i = 0; i < WORKERS; i++) join_wait(of.domain, joins[i]);
  wn_global_free(of.domain, world.shared);
  journal_close(&of);
}

/* A child whose thread was in a blocking section, or in no domain. */
static void unblock_and_verify(wn_domain *domain, void *argument) {
  wn_blocking_end(domain);
  collect_and_verify(domain, argument);
}

static void attach_and_verify(wn_domain *none, void *argument) {
  struct world *world = argument;
  wn_domain *domain;
  (void)none;
  IN_CHILD(wn_domain_attach(world->heap, &domain) == WN_OK);
  collect_and_verify(domain, argument);
}

static void only_close(wn_domain *none, void *argument) {
  (void)none;
  IN_CHILD(wn_heap_close(((struct world *)argument)->heap) == WN_OK);
}

static void *fork_outside(void *argument) {
  for (int i = 0; i < (TINY ? 10 : 50); i++) {
    do_in_child(NULL, attach_and_verify, argument);
    do_in_child(NULL, only_close, argument);
  }
  return NULL;
}

static void a_thread_outside_all_domains_may_fork(void **state) { /* H18 */
  (void)state;
  struct journal of;
  struct world world;
  pthread_t thread;
  open_world(&of, &world, "minor_heap_size=4096,d=2");
  wn_join *worker = spawn(of.domain, work, &world); /* with it the heap has as many domains as it may */
  assert_int_equal(pthread_create(&thread, NULL, fork_outside, &world), 0);
  wn_blocking_begin(of.domain);
  assert_int_equal(pthread_join(thread, NULL), 0);
  wn_blocking_end(of.domain);
  atomic_store(&world.over, true);
  join_wait(of.domain, worker);
  wn_global_free(of.domain, world.shared);
  journal_close(&of);
}

static void a_thread_in_a_blocking_section_may_fork(void **state) { /* H18 */
  (void)state;
  struct journal of;
  struct world world;
  open_world(&of, &world, "minor_heap_size=4096");
  wn_join *worker = spawn(of.domain, work, &world), *thread;
  assert_int_equal(wn_thread_spawn(of.domain, work, &world, &thread), WN_OK);
  while (atomic_load(&world.working) < 2) wn_thread_yield(of.domain);
  wn_blocking_begin(of.domain);
  for (int i = 0; i < (TINY ? 10 : 50); i++) do_in_child(of.domain, unblock_and_verify, &world);
  wn_blocking_end(of.domain);
  atomic_store(&world.over, true);
  join_wait(of.domain, worker);
  join_wait(of.domain, thread);
  wn_global_free(of.domain, world.shared);
  journal_close(&of);
}

/* The domain's first thread is not in the child, so the domain ends with the process. */
static void collect_as_second(wn_domain *domain, void *argument) {
  (void)argument;
  allocate(domain, 1000, 20);
  IN_CHILD(wn_gc_full_major(domain) == WN_OK);
  wn_thread_yield(domain);
  IN_CHILD(wn_gc_verify(domain, stderr) == WN_OK);
}

static void fork_as_second(wn_domain *domain, void *argument) {
  struct forker *of = argument;
  await_others(domain, &of->begun, 2);
  for (int i = 0; i < of->forks; i++) {
    do_in_child(domain, collect_as_second, NULL);
    wn_thread_yield(domain);
  }
  await_others(domain, &of->ended, 2);
}

static void a_second_thread_of_a_domain_may_fork(void **state) { /* H18 */
  (void)state;
  struct journal of;
  struct forker forker = {.forks = 5};
  wn_join *joins[2];
  journal_open(&of, NULL);
  for (int i = 0; i < 2; i++)
    assert_int_equal(wn_thread_spawn(of.domain, fork_as_second, &forker, &joins[i]), WN_OK);
  for (int i = 0; i < 2; i++) join_wait(of.domain, joins[i]);
  journal_close(&of);
}

/* Values without handles: the collections that the other domains want wait. */
static void a_fork_moves_no_block(void **state) { /* H18 */
  (void)state;
  struct journal of;
  struct world world;
  wn_join *workers[WORKERS];
  open_world(&of, &world, "minor_heap_size=1024");
  for (int i = 0; i < WORKERS; i++) workers[i] = spawn(of.domain, work, &world);
  wait_for_step(of.domain, &world.working, WORKERS);
  for (int i = 0; i < (TINY ? 20 : 200); i++) {
    WN_SCOPE(of.domain);
    wn_ref block = block_of(of.domain, i);
    wn_value before = wn_value_of(block);
    pid_t child = fork();
    wn_value after = wn_value_of(block);
    if (!child) _exit(before != after);
    assert_int_equal(before, after);
    await_child(child);
  }
  atomic_store(&world.over, true);
  for (int i = 0; i < WORKERS; i++) join_wait(of.domain, workers[i]);
  wn_global_free(of.domain, world.shared);
  journal_close(&of);
}

/* ---- several heaps ---- */

static void heaps_all_go_on(void **state) { /* H18 */
  (void)state;
  struct journal first, second;
  struct world worlds[2];
  wn_join *workers[2];
  open_world(&first, &worlds[0], "minor_heap_size=4096");
  open_world(&second, &worlds[1], "minor_heap_size=4096");
  workers[0] = spawn(first.domain, work, &worlds[0]);
  workers[1] = spawn(second.domain, work, &worlds[1]);
  for (int i = 0; i < 20; i++) {
    do_in_child(first.domain, collect_and_verify, &worlds[0]);
    do_in_child(second.domain, collect_and_verify, &worlds[1]);
  }
  for (int i = 0; i < 2; i++) atomic_store(&worlds[i].over, true);
  join_wait(first.domain, workers[0]);
  join_wait(second.domain, workers[1]);
  wn_global_free(first.domain, worlds[0].shared);
  wn_global_free(second.domain, worlds[1].shared);
  journal_close(&second);
  journal_close(&first);
}

/* A thread in both heaps, which is in a blocking section of the one while it works in the other. */
static void *work_in_both(void *argument) {
  struct world *worlds = argument;
  wn_domain *domains[2];
  uint64_t random = 1;
  for (int i = 0; i < 2; i++) assert_int_equal(wn_domain_attach(worlds[i].heap, &domains[i]), WN_OK);
  wn_blocking_begin(domains[1]);
  atomic_fetch_add(&worlds[0].working, 1);
  for (int here = 0; !atomic_load(&worlds[0].over); here = !here) {
    {
      WN_SCOPE(domains[here]);
      step(domains[here], &worlds[here], &random, wn_root(domains[here], wn_int(0)));
    }
    wn_blocking_begin(domains[here]);
    wn_blocking_end(domains[!here]);
  }
  return NULL; /* its domains end with it */
}

static void threads_in_two_heaps_delay_no_fork_if_they_block_in_the_one(void **state) { /* H18 */
  (void)state;
  struct journal of[2];
  struct world worlds[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) open_world(&of[i], &worlds[i], "minor_heap_size=1024");
  wn_blocking_begin(of[1].domain);
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, work_in_both, worlds), 0);
  wait_for_step(of[0].domain, &worlds[0].working, 2);
  for (int i = 0; i < (TINY ? 10 : 50); i++) {
    int here = i % 2;
    if (i) wn_blocking_begin(of[!here].domain);
    if (i) wn_blocking_end(of[here].domain);
    do_in_child(of[here].domain, collect_and_verify, &worlds[here]);
    assert_int_equal(wn_gc_full_major(of[here].domain), WN_OK);
  }
  atomic_store(&worlds[0].over, true);
  wn_blocking_begin(of[1].domain);
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < 2; i++) wn_blocking_end(of[i].domain);
  for (int i = 0; i < 2; i++) wn_global_free(of[i].domain, worlds[i].shared);
  for (int i = 2; i--;) journal_close(&of[i]);
}

/* ---- what the lost threads had ---- */

struct keeper {
  wn_global *weak;
  wn_join *join;
  struct entry finalised;
  _Atomic(int) step;
  int in_the_child; /* the process that reads it */
};

/* Keeps a block alive by a handle alone, and registers a finaliser for another. */
static void keep(wn_domain *domain, void *argument) {
  struct keeper *of = argument;
  WN_SCOPE(domain);
  wn_ref kept = block_of(domain, 7);
  wn_ref dropped = block_of(domain, 8);
  assert_int_equal(wn_weak_set(domain, wn_global_get(domain, of->weak), 0, kept), WN_OK);
  assert_int_equal(wn_gc_finalise(domain, write_first, &of->finalised, dropped), WN_OK);
  wn_gc_minor(domain);
  atomic_store(&of->step, 1);
  wait_for_step(domain, &of->step, 2);
}

static void find_what_was_lost(wn_domain *domain, void *argument) {
  struct keeper *of = argument;
  WN_SCOPE(domain);
  IN_CHILD(wn_heap_close(of->finalised.journal->heap) == WN_EBUSY); /* by its own domain */
  wn_ref weak = wn_global_get(domain, of->weak);
  IN_CHILD(wn_weak_check(domain, weak, 0));
  IN_CHILD(wn_join_wait(domain, of->join) == WN_ESTATE);
  IN_CHILD(strstr(wn_last_error(), "forked"));
  for (int i = 0; i < 3; i++) {
    IN_CHILD(wn_gc_full_major(domain) == WN_OK);
    wn_poll(domain);
  }
  IN_CHILD(!wn_weak_check(domain, weak, 0));
  IN_CHILD(of->finalised.journal->count == 1 && of->finalised.journal->lines[0] == 8);
  IN_CHILD(quick_stat(domain).live_words < 1000);
}

static void handles_of_lost_threads_die_and_their_finalisers_run(void **state) { /* H18b */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  struct keeper keeper = {.finalised = {&of, 8}};
  {
    WN_SCOPE(of.domain);
    keeper.weak = wn_global_new(of.domain, wn_weak_new(of.domain, 1));
    keeper.join = spawn(of.domain, keep, &keeper);
    wait_for_step(of.domain, &keeper.step, 1);
    do_in_child(of.domain, find_what_was_lost, &keeper);
    assert_true(wn_weak_check(of.domain, wn_global_get(of.domain, keeper.weak), 0));
    assert_int_equal(of.count, 0);
    atomic_store(&keeper.step, 2);
    join_wait(of.domain, keeper.join);
  }
  wn_gc_full_major(of.domain);
  ASSERT_JOURNAL(&of, 8);
  wn_global_free(of.domain, keeper.weak);
  journal_close(&of);
}

/* ---- callbacks ---- */

static void verify_after(wn_domain *domain, void *argument) {
  (void)argument;
  IN_CHILD(wn_gc_full_major(domain) == WN_OK);
  IN_CHILD(wn_gc_verify(domain, stderr) == WN_OK);
}

static void fork_in_finaliser(wn_domain *domain, wn_ref value, void *context) {
  struct journal *of = context;
  (void)value;
  do_in_child(domain, verify_after, NULL);
  journal_write(of, 1);
}

static void a_callback_may_fork(void **state) { /* H18 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, fork_in_finaliser, &of, block_of(of.domain, 1)), WN_OK);
  }
  wn_gc_full_major(of.domain);
  ASSERT_JOURNAL(&of, 1);
  journal_close(&of);
}

/* In the middle of the heap's work the child must not use the heap, but it can execute a program. */
static void fork_and_execute(void) {
  pid_t child = fork();
  if (!child) {
    execlp("true", "true", (char *)NULL);
    _exit(1);
  }
  await_child(child);
}

static _Atomic(int) hook_forks, release_forks, listener_forks;

static void fork_in_hook(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  (void)domain, (void)visit, (void)visitor, (void)context;
  if (atomic_fetch_add(&hook_forks, 1) < 5) fork_and_execute();
}
static void fork_in_release(void *bytes) {
  (void)bytes;
  if (atomic_fetch_add(&release_forks, 1) < 5) fork_and_execute();
}
static void fork_in_listener(const wn_gc_event *event, void *context) {
  (void)event, (void)context;
  if (atomic_fetch_add(&listener_forks, 1) < 5) fork_and_execute();
}

static void release_often(wn_domain *domain, void *argument) {
  static const wn_custom_ops ops = {"forks", fork_in_release};
  (void)argument;
  for (int i = 0; i < 200; i++) {
    WN_SCOPE(domain);
    wn_alloc_custom(domain, &ops, 8, 0);
    make_list(domain, 20, 20);
    if (i % 20 == 0) wn_gc_major(domain);
    wn_blocking_begin(domain);
    wn_blocking_end(domain);
  }
}

static void a_hook_may_fork_and_execute(void **state) { /* H18c */
  (void)state;
  struct journal of;
  wn_join *joins[2];
  wn_gc_listener *listener;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 2;
  options.hooks.walk_roots = fork_in_hook;
  journal_open(&of, &options);
  assert_int_equal(wn_gc_listen(of.domain, WN_GC_EVENT(WN_GC_PAUSE_ENDS), fork_in_listener, NULL, &listener),
                   WN_OK);
  for (int i = 0; i < 2; i++) joins[i] = spawn(of.domain, release_often, NULL);
  for (int i = 0; i < 2; i++) join_wait(of.domain, joins[i]);
  wn_gc_full_major(of.domain);
  assert_true(hook_forks > 1 && release_forks > 1 && listener_forks > 1);
  assert_int_equal(wn_gc_unlisten(of.domain, listener), WN_OK);
  journal_close(&of);
}

int main(int argc, char **argv) {
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parent_and_child_go_on_after_many_forks),
      cmocka_unit_test(parent_and_child_go_on_if_all_is_verified_and_delayed),
      cmocka_unit_test(several_domains_may_fork_at_once),
      cmocka_unit_test(a_thread_outside_all_domains_may_fork),
      cmocka_unit_test(a_thread_in_a_blocking_section_may_fork),
      cmocka_unit_test(a_second_thread_of_a_domain_may_fork),
      cmocka_unit_test(a_fork_moves_no_block),
      cmocka_unit_test(heaps_all_go_on),
      cmocka_unit_test(threads_in_two_heaps_delay_no_fork_if_they_block_in_the_one),
      cmocka_unit_test(handles_of_lost_threads_die_and_their_finalisers_run),
      cmocka_unit_test(a_callback_may_fork),
      cmocka_unit_test(a_hook_may_fork_and_execute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
