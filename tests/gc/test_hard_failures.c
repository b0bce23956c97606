/* A program that uses all parts of a heap, run again and again: each time another one of its requests
 * for memory fails, or that one and those after it. Calls may fail, but what was there before stays,
 * the heap is sound, and can be used again. */
#include "gc/journal.h"

#include "base/check.h"
#include "support/runs.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <winnow/events.h>
#include <winnow/marshal.h>
#include <winnow/weak.h>

/* ---- requests of the system, which can be made to fail ---- */

static struct {
  _Atomic(long) count;
  long first, last; /* those that fail; 0: none */
  long failed;      /* how many did */
} requests;

static bool fails(void) {
  long n = ++requests.count;
  bool does = n >= requests.first && n <= requests.last;
  if (does) __atomic_fetch_add(&requests.failed, 1, __ATOMIC_RELAXED);
  return does;
}

static void let_fail(long first, long last) {
  requests.count = 0;
  requests.failed = 0;
  requests.first = first;
  requests.last = last;
}

#define WRAP(type, name, parameters, arguments, failure) \
  type __real_##name parameters;                         \
  type __wrap_##name parameters;                         \
  type __wrap_##name parameters {                        \
    if (!fails()) return __real_##name arguments;        \
    errno = ENOMEM;                                      \
    return failure;                                      \
  }
WRAP(void *, mmap, (void *at, size_t bytes, int protection, int flags, int file, off_t offset),
     (at, bytes, protection, flags, file, offset), MAP_FAILED)
WRAP(int, mprotect, (void *at, size_t bytes, int protection), (at, bytes, protection), -1)
WRAP(void *, malloc, (size_t bytes), (bytes), NULL)
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes), NULL)
WRAP(void *, realloc, (void *at, size_t bytes), (at, bytes), NULL)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *with, void *(*body)(void *), void *argument),
     (thread, with, body, argument), EAGAIN)

/* ---- the program ---- */

enum { BLOCKS = 60, ROUNDS = 3 };

static void check_status(wn_status status) {
  if (status != WN_OK && status != WN_ENOMEM && status != WN_ESYS)
    fail_msg("%d: %s", status, wn_last_error());
}

static void finalise(wn_domain *domain, wn_ref value, void *context) {
  (void)domain, (void)value, (void)context;
}
static void finalise_last(wn_domain *domain, void *context) { (void)domain, (void)context; }

static size_t words_of(size_t i) { return i % 16 ? 1 + i * 7 % 90 : 300 + i * 97; }

/* Slots hold a block with their number in its last field, or 0 where there was no memory. */
static wn_ref make_blocks(wn_domain *domain) {
  wn_ref array = wn_alloc(domain, BLOCKS, 0);
  for (size_t i = 0; i < BLOCKS && !wn_is_null(array); i++) {
    WN_SCOPE(domain);
    wn_ref block = wn_alloc(domain, words_of(i), 1);
    if (wn_is_null(block)) continue;
    wn_set_int(domain, block, words_of(i) - 1, (intptr_t)i + 1);
    wn_set(domain, array, i, block);
  }
  return array;
}

static void check_blocks(wn_domain *domain, wn_ref array) {
  for (size_t i = 0; i < BLOCKS && !wn_is_null(array); i++) {
    WN_SCOPE(domain);
    wn_ref block = wn_get(domain, array, i);
    if (wn_is_int(wn_value_of(block))) continue;
    assert_int_equal(wn_words(wn_value_of(block)), words_of(i));
    assert_int_equal(wn_to_int(wn_field(block, words_of(i) - 1)), i + 1);
  }
}

static void use_weak_blocks(wn_domain *domain, wn_ref block) {
  WN_SCOPE(domain);
  wn_ref weak = wn_weak_new(domain, 8), ephemeron = wn_ephemeron_new(domain, 2);
  if (!wn_is_null(weak) && !wn_is_null(block)) check_status(wn_weak_set(domain, weak, 3, block));
  if (wn_is_null(ephemeron) || wn_is_null(block)) return;
  check_status(wn_ephemeron_set_key(domain, ephemeron, 0, block));
  check_status(wn_ephemeron_set_data(domain, ephemeron, block));
  check_status(wn_gc_minor(domain));
}

static void use_custom_blocks(wn_domain *domain) {
  static const wn_custom_ops ops = {"custom", NULL};
  WN_SCOPE(domain);
  for (int i = 0; i < 20; i++) {
    wn_ref custom = wn_alloc_custom(domain, &ops, 16, i % 2 ? 100000 : 10);
    if (!wn_is_null(custom)) check_status(wn_custom_adjust(domain, custom, 200000));
  }
}

static void use_registries(wn_domain *domain, wn_ref block) {
  if (wn_is_null(block)) return;
  wn_global *global = wn_global_new(domain, block);
  bool pinned = !wn_pin(domain, block);
  uint64_t hash = wn_identity_hash(domain, wn_value_of(block));
  check_status(wn_gc_finalise(domain, finalise, NULL, block));
  check_status(wn_gc_finalise_last(domain, finalise_last, NULL, block));
  check_status(wn_gc_compact(domain));
  if (hash) assert_true(wn_identity_hash(domain, wn_value_of(block)) == hash);
  if (pinned) assert_int_equal(wn_unpin(domain, block), WN_OK);
  wn_global_free(domain, global);
}

static void marshal(wn_domain *domain, wn_ref array) {
  WN_SCOPE(domain);
  void *bytes = NULL;
  size_t size = 0;
  wn_ref copy = {NULL};
  wn_status status = wn_is_null(array) ? WN_ENOMEM : wn_marshal_write(domain, array, 0, &bytes, &size);
  check_status(status);
  if (status) return;
  status = wn_marshal_read(domain, bytes, size, 0, &copy, NULL);
  check_status(status);
  if (!status) check_blocks(domain, copy);
  free(bytes);
}

static void other_domain(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  (void)argument;
  wn_ref array = make_blocks(domain);
  check_status(wn_gc_full_major(domain));
  check_blocks(domain, array);
}

static void use_domains(wn_domain *domain) {
  wn_join *joins[2];
  wn_status status[2];
  status[0] = wn_domain_spawn(domain, other_domain, NULL, &joins[0]);
  status[1] = wn_thread_spawn(domain, other_domain, NULL, &joins[1]);
  for (int i = 0; i < 2; i++) {
    check_status(status[i]);
    if (!status[i]) join_wait(domain, joins[i]);
  }
}

static void use_all(wn_domain *domain) {
  WN_SCOPE(domain);
  wn_ref array = make_blocks(domain);
  bool counts = !wn_gc_metrics_begin(domain);
  for (int round = 0; round < ROUNDS; round++) {
    WN_SCOPE(domain);
    wn_ref block = wn_alloc(domain, 1, 3);
    use_weak_blocks(domain, block);
    use_custom_blocks(domain);
    use_registries(domain, block);
    marshal(domain, array);
    use_domains(domain);
    check_blocks(domain, array);
  }
  if (counts) assert_int_equal(wn_gc_metrics_end(domain), WN_OK);
  check_blocks(domain, array);
}

/* Without failures, after them. */
static void check_that_all_is_well(wn_domain *domain, bool is_stressed) {
  WN_SCOPE(domain);
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
  assert_int_equal(wn_gc_compact(domain), WN_OK);
  wn_ref array = make_blocks(domain);
  if (is_stressed && wn_is_null(array)) array = make_blocks(domain); /* its one failure came only here */
  assert_false(wn_is_null(array));
  check_blocks(domain, array);
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
}

static _Atomic(long) shortages;

static bool count_shortage(wn_domain *domain, size_t words, void *context) {
  (void)domain, (void)words, (void)context;
  shortages++;
  return false;
}

static long run(const char *text, long first, long last) {
  wn_heap_options options = without_helpers();
  wn_heap *heap = NULL;
  wn_domain *domain = NULL;
  check_handles(&options);
  options.hooks.out_of_memory = count_shortage;
  shortages = 0;
  options.text = text;
  let_fail(first, last);
  wn_status status = wn_heap_open(&options, &heap);
  check_status(status);
  if (!status) check_status(status = wn_domain_attach(heap, &domain));
  if (!status) use_all(domain);
  long count = requests.count;
  assert_true(!first || requests.failed || first > count);
  let_fail(0, 0);
  if (!status) check_that_all_is_well(domain, strstr(text, "fail_at"));
  if (!status) assert_int_equal(wn_domain_detach(domain), WN_OK);
  if (heap) assert_int_equal(wn_heap_close(heap), WN_OK);
  return count;
}

/* ---- tests ---- */

#define TEXT "s=2k,O=0"

/* Of all runs the test makes one in so many. */
static int one_in(void) { return 1000 / runs_of(1000); }

/* The tiny build asks for memory far more often, in smaller pieces. */
static long step_of(long count) { return (TINY ? count / 40 + 1 : 1) * one_in(); }

static void each_request_of_the_system_may_fail(void **state) {
  (void)state;
  long count = run(TEXT, 0, 0);
  assert_true(count > 50);
  for (long n = 1; n <= count; n += step_of(count)) run(TEXT, n, n);
}

static void all_requests_from_any_on_may_fail(void **state) {
  (void)state;
  long count = run(TEXT, 0, 0);
  for (long n = 1; n <= count; n += step_of(count)) run(TEXT, n, LONG_MAX);
  for (long n = 1; n <= count; n += 3 * step_of(count)) run(TEXT, n, n + 20);
}

/* By the stress mode, with the heap verified after each collection. */
static void each_request_of_the_heap_may_fail(void **state) {
  (void)state;
  enum { MOST = 2000, SOME = TINY ? 10 : 100, STEP = TINY ? 97 : 7 };
  for (int n = 1; n < MOST; n += (n < SOME ? 1 : STEP) * one_in()) {
    char text[64];
    snprintf(text, sizeof text, TEXT ",V,fail_at=%d", n);
    run(text, 0, 0);
    if (n < BLOCKS) assert_true(shortages > 0);
  }
}

/* One domain begins a cycle and shares what it found; another one has no memory for a stack. */
static void finish_cycle(wn_domain *domain, void *argument) {
  _Atomic(int) *step = argument;
  atomic_store(step, 1);
  wait_for_step(domain, step, 2);
  let_fail(1, LONG_MAX);
  wn_status status = wn_gc_full_major(domain);
  let_fail(0, 0);
  assert_int_equal(status, WN_OK);
}

static void a_cycle_ends_without_memory_for_a_mark_stack(void **state) {
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  _Atomic(int) step = 0;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_blocks(of.domain);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    wn_join *join = spawn(of.domain, finish_cycle, &step);
    wait_for_step(of.domain, &step, 1);
    wn_gc_major_slice(of.domain, 1); /* begins the cycle */
    atomic_store(&step, 2);
    join_wait(of.domain, join);
    check_blocks(of.domain, array);
    assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cycle_ends_without_memory_for_a_mark_stack),
      cmocka_unit_test(each_request_of_the_system_may_fail),
      cmocka_unit_test(all_requests_from_any_on_may_fail),
      cmocka_unit_test(each_request_of_the_heap_may_fail),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
