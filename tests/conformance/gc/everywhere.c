/* Where the functions of winnow/gc.h may be called: everywhere but in the release of a custom
 * block. */
#include "gc/journal.h"

#include "gc/domains/heap.h"

static void no_value(wn_domain *domain, wn_ref value, void *context) {
  (void)domain, (void)value, (void)context;
}
static void nothing(wn_domain *domain, void *context) { (void)domain, (void)context; }

static void ask_everything(wn_domain *domain) {
  wn_gc_stat stat;
  double minor, promoted, major;
  assert_int_equal(wn_gc_read_stat(domain, &stat), WN_OK);
  assert_int_equal(wn_gc_quick_stat(domain, &stat), WN_OK);
  wn_gc_counters(domain, &minor, &promoted, &major);
  assert_true(wn_gc_allocated_bytes(domain) == 8 * (minor + major - promoted));
  assert_true(wn_gc_minor_words(domain) == minor);
  assert_true(wn_gc_get_minor_free(domain) > 0);
  FILE *out = fopen("/dev/null", "w");
  assert_non_null(out);
  assert_int_equal(wn_gc_print_stat(domain, out), WN_OK);
  fclose(out);
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
}

static void set_everything(wn_domain *domain) {
  wn_gc_control before = get_control(domain), changed = before;
  changed.minor_heap_size = 3000;
  changed.space_overhead = 50;
  set_control(domain, &changed);
  assert_int_equal(wn_gc_set_domain_minor_heap(domain, 2000), WN_OK);
  set_control(domain, &before);
}

static void collect_everyhow(wn_domain *domain) {
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  wn_gc_major_slice(domain, 1000);
  assert_int_equal(wn_gc_major(domain), WN_OK);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(wn_gc_compact(domain), WN_OK);
  wn_poll(domain);
  wn_thread_yield(domain);
  wn_blocking_begin(domain);
  wn_blocking_end(domain);
}

/* Leaves a dead value with both kinds of finalisers. */
static void register_everything(wn_domain *domain) {
  WN_SCOPE(domain);
  wn_gc_alarm *alarm;
  wn_ref value = block_of(domain, 5);
  assert_int_equal(wn_gc_finalise(domain, no_value, NULL, value), WN_OK);
  assert_int_equal(wn_gc_finalise_last(domain, nothing, NULL, value), WN_OK);
  assert_int_equal(wn_gc_create_alarm(domain, nothing, NULL, &alarm), WN_OK);
  wn_gc_delete_alarm(domain, alarm);
}

static void collect_elsewhere(wn_domain *domain, void *argument) {
  collect_everyhow(domain);
  ++*(int *)argument;
}

/* `context` counts the calls. */
static void call_everything(wn_domain *domain, void *context) {
  WN_SCOPE(domain);
  wn_join *join;
  int ran = 0;
  wn_ref list = make_list(domain, 50, 3);
  register_everything(domain);
  ask_everything(domain);
  set_everything(domain);
  collect_everyhow(domain);
  join_wait(domain, spawn(domain, collect_elsewhere, &ran));
  assert_int_equal(wn_thread_spawn(domain, collect_elsewhere, &ran, &join), WN_OK);
  join_wait(domain, join);
  assert_int_equal(ran, 2);
  assert_int_equal(length_of(domain, list), 50);
  ++*(int *)context;
}

static void call_everything_first(wn_domain *domain, wn_ref value, void *context) {
  call_everything(domain, context);
  assert_int_equal(number_of(value), 7);
  wn_gc_finalise_release(domain);
  call_everything(domain, context);
}

static void every_function_may_be_called_in_a_finaliser(void **state) { /* G54i */
  (void)state;
  struct journal of;
  int first = 0, last = 0;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref value = block_of(of.domain, 7);
    assert_int_equal(wn_gc_finalise(of.domain, call_everything_first, &first, value), WN_OK);
    assert_int_equal(wn_gc_finalise_last(of.domain, call_everything, &last, value), WN_OK);
  }
  for (int i = 0; i < 2; i++) assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(first, 2);
  assert_int_equal(last, 1);
  journal_close(&of);
}

static void every_function_may_be_called_in_an_alarm(void **state) { /* G54i */
  (void)state;
  struct journal of;
  wn_gc_alarm *alarm;
  int calls = 0;
  journal_open(&of, NULL);
  wn_gc_major(of.domain);
  assert_int_equal(wn_gc_create_alarm(of.domain, call_everything, &calls, &alarm), WN_OK);
  assert_int_equal(wn_gc_major(of.domain), WN_OK);
  assert_true(calls >= 1);
  wn_gc_delete_alarm(of.domain, alarm);
  journal_close(&of);
}

static void every_function_may_be_called_by_each_thread_of_a_domain(void **state) { /* G54i */
  (void)state;
  struct journal of;
  wn_join *joins[3];
  int calls = 0;
  journal_open(&of, NULL);
  for (int i = 0; i < 3; i++)
    assert_int_equal(wn_thread_spawn(of.domain, call_everything, &calls, &joins[i]), WN_OK);
  call_everything(of.domain, &calls);
  for (int i = 0; i < 3; i++) join_wait(of.domain, joins[i]);
  assert_int_equal(calls, 4);
  journal_close(&of);
}

static void call_everything_on_a_raise(wn_domain *domain, wn_ref exception, void *context) {
  call_everything(domain, context);
  assert_int_equal(number_of(exception), 7);
}

static void raise_seven(wn_domain *domain, void *context) {
  WN_SCOPE(domain);
  (void)context;
  wn_raise(domain, block_of(domain, 7));
}

static void every_function_may_be_called_in_the_raise_hook(void **state) { /* G54i */
  (void)state;
  struct journal of;
  int calls = 0;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.raise = call_everything_on_a_raise;
  options.hooks.context = &calls;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise_last(of.domain, raise_seven, NULL, block_of(of.domain, 0)), WN_OK);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_EBUSY);
  assert_int_equal(calls, 1);
  journal_close(&of);
}

enum { ROOM = 64 << 20 };

static bool call_everything_when_memory_is_short(wn_domain *domain, size_t words, void *context) {
  (void)words;
  if (!*(int *)context) call_everything(domain, context); /* not for what is allocated in here */
  return false;
}

static void every_function_may_be_called_when_memory_is_short(void **state) { /* G54i */
  (void)state;
  struct journal of;
  int calls = 0;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.out_of_memory = call_everything_when_memory_is_short;
  options.hooks.context = &calls;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    of.heap->store.chunks.limit_bytes = atomic_load(&of.heap->store.chunks.mapped_bytes) + ROOM;
    assert_true(wn_is_null(wn_alloc_bytes(of.domain, 2 * ROOM)));
  }
  assert_int_equal(calls, 1);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_function_may_be_called_in_a_finaliser),
      cmocka_unit_test(every_function_may_be_called_in_an_alarm),
      cmocka_unit_test(every_function_may_be_called_by_each_thread_of_a_domain),
      cmocka_unit_test(every_function_may_be_called_in_the_raise_hook),
      cmocka_unit_test(every_function_may_be_called_when_memory_is_short),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
