/* Heaps that are opened and closed leave nothing behind, and several threads may do so at once. */
#include "gc/journal.h"
#include "gc/pages_held.h"

#include <dirent.h>
#include <pthread.h>
#include <time.h>

enum { TIMES = 40, WARM = 6 };

static long threads_of_this_process(void) {
  long threads = 0;
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (const struct dirent *entry; (entry = readdir(tasks));) threads += entry->d_name[0] != '.';
  assert_int_equal(closedir(tasks), 0);
  return threads;
}

/* ---- a heap that uses everything that takes memory or a thread ---- */

static _Atomic(int) released;
static void release(void *bytes) {
  (void)bytes;
  atomic_fetch_add(&released, 1);
}
static const wn_custom_ops ops = {"counted", release};

static void ignore(wn_domain *domain, wn_ref value, void *context) {
  (void)domain, (void)value, (void)context;
}

/* All domains of a heap are there at one time, so that each heap has as many of them. */
enum { FILLING = 4 };
static pthread_barrier_t all_are_there;

static void fill(wn_domain *domain, void *argument) {
  wn_blocking_begin(domain);
  pthread_barrier_wait(&all_are_there);
  wn_blocking_end(domain);
  WN_SCOPE(domain);
  wn_global **global = argument;
  wn_ref list = wn_root(domain, wn_int(0));
  for (int i = 0; i < 2000; i++) {
    WN_SCOPE(domain);
    wn_ref block = wn_alloc(domain, (size_t)(i % 300) + 2, 0);
    wn_set(domain, block, 0, list);
    wn_set(domain, block, 1, wn_alloc_custom(domain, &ops, 8, 100));
    if (i % 10 == 0) assert_int_equal(wn_gc_finalise(domain, ignore, NULL, block), WN_OK);
    wn_assign(list, block);
  }
  wn_set(domain, list, 0, wn_alloc(domain, 200000, WN_TAG_RAW));
  if (global) *global = wn_global_new(domain, list);
}

static void use_a_heap(void) {
  wn_heap *heap;
  wn_domain *domain;
  wn_join *joins[FILLING - 1];
  wn_global *globals[FILLING - 1];
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 2;
  options.parameters.minor_heap_size = 8192;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  assert_true(atomic_load(&pages_held) > pages(8192 * sizeof(wn_value)));
  for (int i = 0; i < FILLING - 1; i++)
    assert_int_equal((i % 2 ? wn_thread_spawn : wn_domain_spawn)(domain, fill, &globals[i], &joins[i]),
                     WN_OK);
  fill(domain, NULL);
  for (int i = 0; i < FILLING - 1; i++) assert_int_equal(wn_join_wait(domain, joins[i]), WN_OK);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

/* A thread that was joined may be seen for a moment. */
static bool threads_become(long threads) {
  for (int i = 0; i < 10000 && threads_of_this_process() != threads; i++)
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  return threads_of_this_process() == threads;
}

static void *do_nothing(void *argument) { return argument; }

/* Without heaps. A sanitizer begins a thread of its own with the first that the program begins. */
static long threads_at_rest(void) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, do_nothing, NULL), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  long least = threads_of_this_process();
  for (int i = 0; i < 50; i++) {
    long now = threads_of_this_process();
    if (now < least) least = now;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  return least;
}

static void heaps_leave_nothing_behind(void **state) { /* H5 */
  (void)state;
  assert_int_equal(pthread_barrier_init(&all_are_there, NULL, FILLING), 0);
  long threads_before = threads_at_rest();
  for (int i = 0; i < WARM; i++) use_a_heap(); /* the memory of a few domains that ended is kept */
  long pages_before = atomic_load(&pages_held);
  for (int i = WARM; i < TIMES; i++) {
    use_a_heap();
    assert_int_equal(atomic_load(&pages_held), pages_before);
    assert_true(threads_become(threads_before));
  }
  assert_int_equal(atomic_load(&released), TIMES * FILLING * 2000);
}

/* ---- several threads ---- */

enum { THREADS = 4, HEAPS = 20 };

static void *open_and_close(void *unused) {
  pthread_barrier_wait(&all_are_there);
  for (int i = 0; i < HEAPS; i++) {
    struct journal of;
    wn_heap_options options = without_helpers();
    journal_open(&of, &options);
    {
      WN_SCOPE(of.domain);
      assert_false(wn_is_null(wn_alloc(of.domain, 10, 0)));
      assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    }
    journal_close(&of);
  }
  return unused;
}

/* The first case: nothing that all heaps share is there yet. */
static void threads_may_open_heaps_at_once(void **state) { /* H5 */
  (void)state;
  pthread_t threads[THREADS];
  assert_int_equal(pthread_barrier_init(&all_are_there, NULL, THREADS), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  pthread_barrier_destroy(&all_are_there);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads_may_open_heaps_at_once),
                                     cmocka_unit_test(heaps_leave_nothing_behind)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
