/* A heap with a limit (gc/collect/limit.h) for a test: its hook, and the program that fills it. The
 * clocks are the test's: processor time passes as a case says. A test links with the functions of
 * base/os.h wrapped that are defined here. */
#ifndef TESTS_GC_LIMITED_H
#define TESTS_GC_LIMITED_H

#include "gc/journal.h"

#include "base/check.h"
#include "base/os.h"
#include "gc/collect/budget.h"
#include "gc/collect/collector.h"
#include "gc/domains/heap.h"
#include <setjmp.h>
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

static inline uint64_t read_around_work(void) {
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

static inline void time_for_all(void) {
  memset(&clocks, 0, sizeof clocks);
  budget_begin();
  clocks.process_step = 1000000000;
  clocks.thread_step = 1;
}

static inline void time_for_nothing(void) {
  memset(&clocks, 0, sizeof clocks);
  budget_begin();
  clocks.thread_step = 1;
}

static inline void time_is_real(void) {
  memset(&clocks, 0, sizeof clocks);
  budget_begin();
  clocks.are_real = true;
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

static inline void over_limit(wn_domain *domain, size_t used_bytes, size_t limit_bytes, void *context) {
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

static inline wn_heap_options options_of(size_t limit_bytes) {
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = TINY ? 2400 : 8192; /* in the tiny build slices are short */
  options.parameters.space_overhead = 500;
  options.soft_limit_bytes = limit_bytes;
  options.hooks.over_limit = over_limit;
  options.hooks.context = &hooked;
  return options;
}

static inline void begin_with(struct journal *of, const wn_heap_options *options) {
  memset(&hooked, 0, sizeof hooked);
  journal_open(of, options);
}

static inline void begin(struct journal *of, size_t limit_bytes) {
  wn_heap_options options = options_of(limit_bytes);
  begin_with(of, &options);
}

static inline size_t blocks_in(size_t bytes) { return bytes / BLOCK_BYTES; }

static inline void set_block(wn_domain *domain, wn_ref array, size_t i) {
  WN_SCOPE(domain);
  wn_ref block = wn_alloc(domain, WORDS, 0);
  assert_false(wn_is_null(block));
  wn_set(domain, array, i, block);
  wn_poll(domain);
}

static inline wn_ref make_array(wn_domain *domain, size_t bytes) {
  size_t count = blocks_in(bytes);
  wn_ref array = wn_alloc(domain, count, 0);
  for (size_t i = 0; i < count; i++) set_block(domain, array, i);
  return array;
}

/* Replaces blocks at random, so many bytes of them. */
static inline void churn(wn_domain *domain, wn_ref array, size_t bytes) {
  uint64_t x = 88172645463325252;
  for (size_t i = 0; i < blocks_in(bytes); i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    set_block(domain, array, x % wn_words(wn_value_of(array)));
  }
}

/* What is left is spread over all of the memory. */
static inline void thin_out(wn_domain *domain, wn_ref array, size_t part) {
  for (size_t i = 0; i < wn_words(wn_value_of(array)); i++)
    if (i % part) wn_set_int(domain, array, i, 0);
}

static inline size_t heap_bytes(wn_domain *domain) { return 8 * (size_t)quick_stat(domain).heap_words; }

static inline wn_gc_stat run_with_live(size_t live_bytes, size_t limit_bytes) {
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

#endif
/* SPDX-License-Identifier: MIT */
