/* The limit of a heap (gc/collect/limit.h): what the collector does near it and beyond it, when the
 * hook is called, and what control groups leave. The files of control groups are those that a case
 * has written. */
#include "gc/limited.h"

#include <stdio.h>

/* ---- files ---- */

static struct {
  bool is_there;
  long max, current, inactive;
} group;

long __real_os_read_file(const char *path, char *buffer, size_t capacity);
long __wrap_os_read_file(const char *path, char *buffer, size_t capacity);

static long give(char *buffer, size_t capacity, const char *name, long number) {
  return snprintf(buffer, capacity, "%s%ld\n", name, number);
}

long __wrap_os_read_file(const char *path, char *buffer, size_t capacity) {
  if (!strcmp(path, "/proc/self/cgroup")) return group.is_there ? snprintf(buffer, capacity, "0::/g\n") : -1;
  if (!strcmp(path, "/proc/self/mountinfo"))
    return snprintf(buffer, capacity, "29 23 0:26 / /groups rw - cgroup2 cgroup2 rw\n");
  if (!strcmp(path, "/groups/g/memory.max")) return give(buffer, capacity, "", group.max);
  if (!strcmp(path, "/groups/g/memory.current")) return give(buffer, capacity, "", group.current);
  if (!strcmp(path, "/groups/g/memory.stat")) return give(buffer, capacity, "inactive_file ", group.inactive);
  if (!strncmp(path, "/groups", 7)) return -1;
  return __real_os_read_file(path, buffer, capacity);
}

/* ---- near the limit, and beyond ---- */

static void near_the_limit_cycles_begin_earlier_and_the_heap_stays_below_it(void **state) { /* H7 */
  (void)state;
  NEEDS_LONG_SLICES;
  time_for_all();
  enum { LIVE = 4 * MEGABYTE, LIMIT = 10 * MEGABYTE };
  wn_gc_stat without = run_with_live(LIVE, 0);
  assert_true(without.top_heap_words * 8 > LIMIT);
  wn_gc_stat with = run_with_live(LIVE, LIMIT);
  assert_true(with.top_heap_words * 8 <= LIMIT);
  assert_int_equal(hooked.calls, 0);
  assert_true(with.major_collections > without.major_collections);
}

static void far_from_the_limit_nothing_changes(void **state) { /* H7 */
  (void)state;
  time_for_all();
  wn_gc_stat without = run_with_live(2 * MEGABYTE, 0), with = run_with_live(2 * MEGABYTE, 1 << 30);
  assert_int_equal(with.major_collections, without.major_collections);
  assert_int_equal(with.top_heap_words, without.top_heap_words);
  assert_int_equal(clocks.process_ns, 0);
  assert_int_equal(clocks.thread_readings, 0);
}

static void set_limit(struct wn_heap *heap, size_t soft_bytes) {
  heap->collector->limit.soft_bytes = soft_bytes;
  atomic_store(&heap->collector->limit.bytes, soft_bytes ? soft_bytes : SIZE_MAX);
}

/* A quarter of the heap is left, more than the limit, and spread over it. */
static void beyond_the_limit_a_cycle_is_followed_by_one_compaction_and_then_by_one_call(void **state) {
  /* H7b */
  (void)state;
  NEEDS_LONG_SLICES;
  time_for_all();
  struct journal of;
  begin(&of, 3 * MEGABYTE);
  set_limit(of.heap, 0); /* for now */
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_array(of.domain, 16 * MEGABYTE);
    thin_out(of.domain, array, 4);
    assert_int_equal(hooked.calls, 0);
    assert_int_equal(quick_stat(of.domain).compactions, 0);
    long before = quick_stat(of.domain).major_collections;
    set_limit(of.heap, 3 * MEGABYTE);
    wn_ref other = make_array(of.domain, MEGABYTE / 4);
    churn(of.domain, other, 16 * MEGABYTE);
    assert_int_equal(hooked.calls, 1);
    assert_int_equal(hooked.at_first.compactions, 1);
    assert_true(hooked.at_first.major_collections >= before + 2);
    assert_true(hooked.used[0] < 10 * MEGABYTE);         /* of 16: the compaction gave memory back */
    assert_true(quick_stat(of.domain).compactions <= 2); /* after the hook comes another, if it gains */
  }
  journal_close(&of);
}

/* The same heap. */
static void where_compactions_are_ruled_out_the_hook_is_called_after_two_cycles(void **state) { /* H7b */
  (void)state;
  NEEDS_LONG_SLICES;
  time_for_all();
  struct journal of;
  wn_heap_options options = options_of(3 * MEGABYTE);
  options.parameters.max_overhead = 1000000;
  begin_with(&of, &options);
  set_limit(of.heap, 0); /* for now */
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_array(of.domain, 16 * MEGABYTE);
    thin_out(of.domain, array, 4);
    long before = quick_stat(of.domain).major_collections;
    set_limit(of.heap, 3 * MEGABYTE);
    churn(of.domain, make_array(of.domain, MEGABYTE / 4), 16 * MEGABYTE);
    assert_int_equal(hooked.calls, 1);
    assert_true(hooked.at_first.major_collections >= before + 2);
    assert_int_equal(quick_stat(of.domain).compactions, 0);
    assert_int_equal(wn_gc_compact(of.domain), WN_OK); /* which the program may still ask for */
    assert_int_equal(quick_stat(of.domain).compactions, 1);
  }
  journal_close(&of);
}

static void a_hook_that_lets_a_cache_go_brings_the_heap_below_the_limit(void **state) { /* H7b */
  (void)state;
  NEEDS_LONG_SLICES;
  time_for_all();
  struct journal of;
  begin(&of, 8 * MEGABYTE);
  {
    WN_SCOPE(of.domain);
    wn_ref cached = make_array(of.domain, 4 * MEGABYTE);
    assert_int_equal(hooked.calls, 0);
    hooked.cache = wn_global_new(of.domain, cached);
    wn_assign_int(cached, 0);
    churn(of.domain, make_array(of.domain, 5 * MEGABYTE), 16 * MEGABYTE);
    assert_int_equal(hooked.calls, 1);
    assert_null(hooked.cache);
    assert_true(heap_bytes(of.domain) <= 8 * MEGABYTE);
  }
  journal_close(&of);
}

static void the_hook_is_called_again_after_growth_by_a_tenth_and_after_an_excess_has_ended(void **state) {
  /* H7b */
  (void)state;
  time_for_all();
  struct journal of;
  begin(&of, 4 * MEGABYTE);
  {
    WN_SCOPE(of.domain);
    make_array(of.domain, 16 * MEGABYTE);
    assert_true(hooked.calls >= 4 && hooked.calls <= 16); /* at most as often as 1.1 fits in 16 / 4 */
    for (long i = 1; i < hooked.calls; i++) assert_true(hooked.used[i] > hooked.used[i - 1] / 10 * 11);
  }
  assert_int_equal(wn_gc_compact(of.domain), WN_OK);
  assert_true(heap_bytes(of.domain) < 4 * MEGABYTE);
  long calls = hooked.calls;
  {
    WN_SCOPE(of.domain);
    churn(of.domain, make_array(of.domain, MEGABYTE), 4 * MEGABYTE);
    assert_int_equal(hooked.calls, calls);
    make_array(of.domain, 6 * MEGABYTE);
    assert_true(hooked.calls > calls);
    assert_true(hooked.used[calls] < hooked.used[calls - 1]);
  }
  journal_close(&of);
}

/* ---- what the hook may do ---- */

static void the_hook_may_leave_by_longjmp(void **state) { /* H7c */
  (void)state;
  time_for_all();
  struct journal of;
  begin(&of, 2 * MEGABYTE);
  wn_scope scope = wn_scope_enter(of.domain);
  hooked.leaves = true;
  if (!setjmp(hooked.out)) {
    make_array(of.domain, 16 * MEGABYTE);
    fail();
  }
  wn_scope_leave(&scope);
  assert_int_equal(hooked.calls, 1);
  hooked.leaves = false;
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  journal_close(&of);
}

static void the_hook_may_raise(void **state) { /* H7c */
  (void)state;
  time_for_all();
  struct journal of;
  begin(&of, 2 * MEGABYTE);
  {
    WN_SCOPE(of.domain);
    hooked.raises = true;
    make_array(of.domain, 8 * MEGABYTE); /* while an exception is pending no other call begins */
    assert_int_equal(hooked.calls, 1);
    hooked.raises = false;
    assert_int_equal(wn_to_int(wn_value_of(wn_take_exception(of.domain))), 7);
    make_array(of.domain, 8 * MEGABYTE);
    assert_true(hooked.calls > 1);
  }
  journal_close(&of);
}

/* In which the heap comes to be beyond its limit. */
static void fill_in_callback(wn_domain *domain, wn_ref value, void *context) {
  WN_SCOPE(domain);
  (void)value, (void)context;
  hooked.in_callback = true;
  make_array(domain, 8 * MEGABYTE);
  wn_poll(domain);
  hooked.in_callback = false;
}

static void the_hook_is_called_after_a_callback_and_not_in_it(void **state) { /* H7c */
  (void)state;
  time_for_all();
  struct journal of;
  begin(&of, 2 * MEGABYTE);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, fill_in_callback, NULL, block_of(of.domain, 1)), WN_OK);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(hooked.calls, 1);
  journal_close(&of);
}

static _Atomic(int) step;

static void poll_until_called(wn_domain *domain, void *argument) {
  (void)argument;
  atomic_store(&step, 1);
  while (!hooked.calls) wn_poll(domain);
}

/* The domain that allocates collects, and never polls. */
static void any_domain_that_polls_takes_the_call(void **state) { /* H7c */
  (void)state;
  time_for_all();
  struct journal of;
  begin(&of, 2 * MEGABYTE);
  atomic_store(&step, 0);
  wn_join *join = spawn(of.domain, poll_until_called, NULL);
  {
    WN_SCOPE(of.domain);
    wait_for_step(of.domain, &step, 1);
    wn_ref list = make_list(of.domain, 8 * MEGABYTE / BLOCK_BYTES, WORDS);
    wn_blocking_begin(of.domain);
    while (!hooked.calls) {}
    wn_blocking_end(of.domain);
    assert_int_equal(length_of(of.domain, list), 8 * MEGABYTE / BLOCK_BYTES);
  }
  join_wait(of.domain, join);
  journal_close(&of);
}

/* ---- control groups ---- */

static void pass_a_second(void) { clocks.skew_ns += 1000000000; }

static void set_group(long max, long current, long inactive) {
  group.is_there = true;
  group.max = max, group.current = current, group.inactive = inactive;
}

static size_t limit_in_force(wn_domain *domain) { return 8 * (size_t)quick_stat(domain).limit_words; }

static void what_the_group_leaves_is_a_limit(void **state) { /* H7e */
  (void)state;
  struct journal of;
  time_for_all();
  set_group(160 * MEGABYTE, 60 * MEGABYTE, 10 * MEGABYTE);
  begin(&of, 0);
  assert_int_equal(limit_in_force(of.domain), 100 * MEGABYTE);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_array(of.domain, 8 * MEGABYTE);
    size_t touched = chunks_touched(&of.heap->store.chunks);
    set_group(160 * MEGABYTE, 150 * MEGABYTE, 10 * MEGABYTE);
    pass_a_second();
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    assert_int_equal(limit_in_force(of.domain), touched + 10 * MEGABYTE); /* what it has is its own */
    set_group(160 * MEGABYTE, 153 * MEGABYTE, 0);
    pass_a_second();
    churn(of.domain, array, 8 * MEGABYTE);
    assert_true(hooked.calls > 0);
    set_group(16 * MEGABYTE, 500 * MEGABYTE, 0); /* never nothing at all */
    pass_a_second();
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    assert_int_equal(limit_in_force(of.domain), 15 * MEGABYTE / 16);
  }
  journal_close(&of);
  group.is_there = false;
}

static void the_smaller_limit_counts_and_groups_can_be_ignored(void **state) { /* H7e */
  (void)state;
  struct journal of;
  time_for_all();
  set_group(160 * MEGABYTE, 50 * MEGABYTE, 0);
  begin(&of, 30 * MEGABYTE);
  assert_int_equal(limit_in_force(of.domain), 30 * MEGABYTE);
  journal_close(&of);
  begin(&of, 200 * MEGABYTE);
  assert_int_equal(limit_in_force(of.domain), 100 * MEGABYTE);
  journal_close(&of);
  wn_heap_options options = without_helpers();
  options.text = "cgroup=0";
  journal_open(&of, &options);
  assert_int_equal(limit_in_force(of.domain), 0);
  journal_close(&of);
  group.is_there = false;
  begin(&of, 0);
  assert_int_equal(limit_in_force(of.domain), 0);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      one_thread_test(near_the_limit_cycles_begin_earlier_and_the_heap_stays_below_it),
      one_thread_test(far_from_the_limit_nothing_changes),
      one_thread_test(beyond_the_limit_a_cycle_is_followed_by_one_compaction_and_then_by_one_call),
      one_thread_test(where_compactions_are_ruled_out_the_hook_is_called_after_two_cycles),
      one_thread_test(a_hook_that_lets_a_cache_go_brings_the_heap_below_the_limit),
      one_thread_test(the_hook_is_called_again_after_growth_by_a_tenth_and_after_an_excess_has_ended),
      cmocka_unit_test(the_hook_may_leave_by_longjmp),
      one_thread_test(the_hook_may_raise),
      one_thread_test(the_hook_is_called_after_a_callback_and_not_in_it),
      cmocka_unit_test(any_domain_that_polls_takes_the_call),
      one_thread_test(what_the_group_leaves_is_a_limit),
      cmocka_unit_test(the_smaller_limit_counts_and_groups_can_be_ignored),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
