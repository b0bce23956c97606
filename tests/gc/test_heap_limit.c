/* The limit of a heap (gc/collect/limit.h): what the collector does near it and beyond it, when the
 * hook is called, and what control groups leave. The clocks are the test's, but for one case:
 * processor time passes as a case says, and the files of control groups are those that a case has
 * written. */
#include "gc/journal.h"

#include "base/check.h"
#include "base/os.h"
#include "gc/collect/collector.h"
#include "gc/world/heap.h"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

/* Where slices are as short as they can be, a heap grows while a cycle that is to help is under way:
 * then cases whose sizes this would spoil are skipped. */
#define NEEDS_LONG_SLICES \
  if (TINY) skip()
enum { WORDS = 31, BLOCK_BYTES = 8 * (WORDS + 1), MEGABYTE = 1 << 20 };

/* ---- clocks ---- */

/* Each reading is so much later than the one before it. The time of a thread passes only between a
 * clock's two readings around work of the collector: it is what the work costs. */
static struct {
  uint64_t process_step, thread_step, skew_ns; /* the skew is of the monotonic clock */
  _Atomic(uint64_t) process_ns, thread_ns;
  _Atomic(long) thread_readings;
  bool are_real;
  _Atomic(uint64_t) worked_ns; /* of real clocks: between the two readings around each piece of work */
} clocks;

uint64_t __real_os_process_cpu_ns(void);
uint64_t __real_os_thread_cpu_ns(void);
uint64_t __real_os_monotonic_ns(void);

uint64_t __wrap_os_process_cpu_ns(void);
uint64_t __wrap_os_process_cpu_ns(void) {
  if (clocks.are_real) return __real_os_process_cpu_ns();
  return atomic_fetch_add(&clocks.process_ns, clocks.process_step) + clocks.process_step;
}

static uint64_t read_around_work(void) {
  static _Thread_local uint64_t began;
  uint64_t now = __real_os_thread_cpu_ns();
  if (began) atomic_fetch_add(&clocks.worked_ns, now - began);
  began = began ? 0 : now;
  return now;
}

uint64_t __wrap_os_thread_cpu_ns(void);
uint64_t __wrap_os_thread_cpu_ns(void) {
  if (clocks.are_real) return read_around_work();
  clocks.thread_readings++;
  return atomic_fetch_add(&clocks.thread_ns, clocks.thread_step) + clocks.thread_step;
}

uint64_t __wrap_os_monotonic_ns(void);
uint64_t __wrap_os_monotonic_ns(void) {
  static _Atomic(uint64_t) ns = 1000000000;
  if (clocks.are_real) return __real_os_monotonic_ns();
  return atomic_fetch_add(&ns, 1000) + clocks.skew_ns;
}

static void time_for_all(void) {
  memset(&clocks, 0, sizeof clocks);
  clocks.process_step = 1000000000;
  clocks.thread_step = 1;
}

static void time_for_nothing(void) {
  memset(&clocks, 0, sizeof clocks);
  clocks.thread_step = 1;
}

static void time_is_real(void) {
  memset(&clocks, 0, sizeof clocks);
  clocks.are_real = true;
}

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

/* ---- a heap and its hook ---- */

enum { CALLS_MOST = 64 };

static struct {
  _Atomic(long) calls;
  size_t used[CALLS_MOST];
  wn_gc_stat at_first;
  wn_global *cache; /* let go by the hook */
  jmp_buf out;      /* if it leaves */
  bool leaves, raises, in_callback;
} hooked;

static void over_limit(wn_domain *domain, size_t used_bytes, size_t limit_bytes, void *context) {
  assert_ptr_equal(context, &hooked);
  assert_true(used_bytes > limit_bytes || hooked.cache); /* what it let go may be gone already */
  assert_false(hooked.in_callback);
  if (!hooked.calls) hooked.at_first = quick_stat(domain);
  hooked.used[hooked.calls++ % CALLS_MOST] = used_bytes;
  wn_global_free(domain, hooked.cache);
  hooked.cache = NULL;
  if (hooked.raises) wn_raise(domain, wn_root(domain, wn_int(7)));
  if (hooked.leaves) longjmp(hooked.out, 1);
}

static wn_heap_options options_of(size_t limit_bytes) {
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = TINY ? 2400 : 8192; /* in the tiny build slices are short */
  options.parameters.space_overhead = 500;
  options.soft_limit_bytes = limit_bytes;
  options.hooks.over_limit = over_limit;
  options.hooks.context = &hooked;
  return options;
}

static void begin_with(struct journal *of, const wn_heap_options *options) {
  memset(&hooked, 0, sizeof hooked);
  journal_open(of, options);
}

static void begin(struct journal *of, size_t limit_bytes) {
  wn_heap_options options = options_of(limit_bytes);
  begin_with(of, &options);
}

static size_t blocks_in(size_t bytes) { return bytes / BLOCK_BYTES; }

static void set_block(wn_domain *domain, wn_ref array, size_t i) {
  WN_SCOPE(domain);
  wn_ref block = wn_alloc(domain, WORDS, 0);
  assert_false(wn_is_null(block));
  wn_set(domain, array, i, block);
  wn_poll(domain);
}

static wn_ref make_array(wn_domain *domain, size_t bytes) {
  size_t count = blocks_in(bytes);
  wn_ref array = wn_alloc(domain, count, 0);
  for (size_t i = 0; i < count; i++) set_block(domain, array, i);
  return array;
}

/* Replaces blocks at random, so many bytes of them. */
static void churn(wn_domain *domain, wn_ref array, size_t bytes) {
  uint64_t x = 88172645463325252;
  for (size_t i = 0; i < blocks_in(bytes); i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    set_block(domain, array, x % wn_words(wn_value_of(array)));
  }
}

/* What is left is spread over all of the memory. */
static void thin_out(wn_domain *domain, wn_ref array, size_t part) {
  for (size_t i = 0; i < wn_words(wn_value_of(array)); i++)
    if (i % part) wn_set_int(domain, array, i, 0);
}

static size_t heap_bytes(wn_domain *domain) { return 8 * (size_t)quick_stat(domain).heap_words; }

/* ---- near the limit, and beyond ---- */

static wn_gc_stat run_with_live(size_t live_bytes, size_t limit_bytes) {
  struct journal of;
  begin(&of, limit_bytes);
  {
    WN_SCOPE(of.domain);
    churn(of.domain, make_array(of.domain, live_bytes), 10 * live_bytes);
  }
  wn_gc_stat stat = quick_stat(of.domain);
  journal_close(&of);
  return stat;
}

static void near_the_limit_cycles_begin_earlier_and_the_heap_stays_below_it(void **state) {
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

static void far_from_the_limit_nothing_changes(void **state) {
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
static void where_compactions_are_ruled_out_the_hook_is_called_after_two_cycles(void **state) {
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

static void a_hook_that_lets_a_cache_go_brings_the_heap_below_the_limit(void **state) {
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

static void the_hook_may_leave_by_longjmp(void **state) {
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

static void the_hook_may_raise(void **state) {
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

static void the_hook_is_called_after_a_callback_and_not_in_it(void **state) {
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
static void any_domain_that_polls_takes_the_call(void **state) {
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

/* ---- HALF ---- */

static void without_processor_time_the_program_goes_on_as_if_there_were_no_limit(void **state) {
  (void)state;
  time_for_nothing();
  wn_gc_stat without = run_with_live(4 * MEGABYTE, 0), with = run_with_live(4 * MEGABYTE, 3 * MEGABYTE);
  assert_int_equal(with.major_collections, without.major_collections);
  assert_int_equal(with.compactions, without.compactions);
  assert_true(hooked.calls > 0); /* after one cycle, since there is no time for a second */
}

/* Each piece of work costs a millisecond, each poll of the program a tenth of that. */
static void a_heap_beyond_its_limit_collects_for_no_more_than_half_of_the_time(void **state) {
  (void)state;
  const uint64_t millisecond = 1000000;
  struct journal of;
  time_for_all();
  begin(&of, MEGABYTE);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_array(of.domain, 4 * MEGABYTE);
    clocks.process_step = 0;
    clocks.thread_step = millisecond;
    long before = quick_stat(of.domain).major_collections;
    uint64_t work_began = clocks.thread_ns, began = clocks.process_ns;
    for (size_t i = 0; i < blocks_in(64 * MEGABYTE); i++) {
      uint64_t work = clocks.thread_ns;
      set_block(of.domain, array, i % wn_words(wn_value_of(array)));
      /* Of two readings around a piece of work half of the time is between them. */
      clocks.process_ns += millisecond / 10 + (clocks.thread_ns - work) / 2;
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
    of.heap->collector->limit.saved_ns = 0;
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

/* The share of the limit is measured from the moment when nothing is saved. */
static void run_beyond_the_limit(int helper_threads) {
  const uint64_t millisecond = 1000000;
  struct journal of;
  wn_heap_options options = options_of(MEGABYTE);
  options.helper_threads = helper_threads;
  begin_with(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref array = make_array(of.domain, 8 * MEGABYTE);
    for (int i = 0; hastens(of.heap) && i < 10000; i++) churn(of.domain, array, MEGABYTE / 8);
    uint64_t work_began = clocks.worked_ns, began = os_process_cpu_ns(), all = 0;
    while (all < 800 * millisecond) {
      churn(of.domain, array, MEGABYTE / 8);
      all = os_process_cpu_ns() - began;
    }
    uint64_t work = clocks.worked_ns - work_began;
    assert_true(work > all / 8); /* it uses its share */
    assert_true(work <= all / 2 + 100 * millisecond);
  }
  journal_close(&of);
}

static void of_the_processor_time_of_real_clocks_the_limit_takes_no_more_than_half(void **state) {
  (void)state;
  time_is_real();
  run_beyond_the_limit(0);
  run_beyond_the_limit(1);
}

/* ---- control groups ---- */

static void pass_a_second(void) { clocks.skew_ns += 1000000000; }

static void set_group(long max, long current, long inactive) {
  group.is_there = true;
  group.max = max, group.current = current, group.inactive = inactive;
}

static size_t limit_in_force(wn_domain *domain) { return 8 * (size_t)quick_stat(domain).limit_words; }

static void what_the_group_leaves_is_a_limit(void **state) {
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

static void the_smaller_limit_counts_and_groups_can_be_ignored(void **state) {
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
      cmocka_unit_test(near_the_limit_cycles_begin_earlier_and_the_heap_stays_below_it),
      cmocka_unit_test(far_from_the_limit_nothing_changes),
      cmocka_unit_test(beyond_the_limit_a_cycle_is_followed_by_one_compaction_and_then_by_one_call),
      cmocka_unit_test(where_compactions_are_ruled_out_the_hook_is_called_after_two_cycles),
      cmocka_unit_test(a_hook_that_lets_a_cache_go_brings_the_heap_below_the_limit),
      cmocka_unit_test(the_hook_is_called_again_after_growth_by_a_tenth_and_after_an_excess_has_ended),
      cmocka_unit_test(the_hook_may_leave_by_longjmp),
      cmocka_unit_test(the_hook_may_raise),
      cmocka_unit_test(the_hook_is_called_after_a_callback_and_not_in_it),
      cmocka_unit_test(any_domain_that_polls_takes_the_call),
      cmocka_unit_test(without_processor_time_the_program_goes_on_as_if_there_were_no_limit),
      cmocka_unit_test(a_heap_beyond_its_limit_collects_for_no_more_than_half_of_the_time),
      cmocka_unit_test(without_processor_time_a_cycle_that_has_begun_goes_on_at_its_ordinary_pace),
      cmocka_unit_test(of_the_processor_time_of_real_clocks_the_limit_takes_no_more_than_half),
      cmocka_unit_test(what_the_group_leaves_is_a_limit),
      cmocka_unit_test(the_smaller_limit_counts_and_groups_can_be_ignored),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
