/* Promises of winnow/memprof.h to the users of a parallel heap, one by one, without real threads:
 * what runs where, and what is told when it is told late. */
#include "support/test.h"

#include "memprof/host.h"
#include <math.h>
#include <pthread.h>
#include <string.h>

enum { MOST_EVENTS = 256 };

/* What the callbacks saw: a letter and the domain, which names the thread that it ran on. */
struct told {
  char letters[MOST_EVENTS + 1];
  uintptr_t domains[MOST_EVENTS];
  wn_allocation last;
  unsigned count;
  bool raise;
};

struct heap {
  struct memprof engine;
  struct memprof_owner owner;
  struct memprof_thread first, second;
  wn_profile *profile;
  struct told told;
};

static struct heap heap;
static bool exception, exception_of_another;
static struct memprof_entry *resize_when_born, *free_when_born;
static bool discard_when_born;
static const wn_callstack *next_callstack;
static size_t next_depth;

static void rearm(struct memprof_owner *owner) { (void)owner; }
static const wn_callstack *capture(struct memprof_thread *thread, size_t depth) {
  (void)thread;
  next_depth = depth;
  return next_callstack;
}
static const bool *exception_of(struct memprof_thread *thread) {
  (void)thread;
  return &exception;
}
static bool raised(const struct memprof_thread *thread) {
  (void)thread;
  return !exception_of_another;
}
static const struct memprof_ops ops = {
    .parallel = true, .rearm = rearm, .capture = capture, .exception = exception_of, .raised = raised};

static void tell(struct told *told, char letter, const wn_domain *domain) {
  assert_in_range(told->count, 0, MOST_EVENTS - 1);
  told->domains[told->count] = (uintptr_t)domain;
  told->letters[told->count++] = letter;
  if (told->raise) exception = true;
}
static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct told *told = context;
  told->last = *allocation;
  tell(told, 'A', domain);
  if (resize_when_born) memprof_resized(&heap.first, resize_when_born, 0, 48, 7, 7);
  if (free_when_born) memprof_freed(&heap.second, free_when_born);
  if (discard_when_born)
    assert_true(memprof_stop(&heap.first) == WN_OK && wn_memprof_discard(heap.profile) == WN_OK);
  return told;
}
static void *resized(wn_domain *domain, void *metadata, const wn_allocation *allocation, void *context) {
  struct told *told = context;
  told->last = *allocation;
  tell(told, 'r', domain);
  return metadata;
}
static void died(wn_domain *domain, void *metadata, void *context) {
  assert_ptr_equal(metadata, context);
  tell(context, 'D', domain);
}

static void attach(struct memprof_thread *thread, uintptr_t domain) {
  memprof_thread_attach(thread, &heap.owner, (wn_domain *)domain, NULL);
}

static void heap_open(double rate) {
  memset(&heap, 0, sizeof heap);
  exception = exception_of_another = discard_when_born = false;
  resize_when_born = free_when_born = NULL;
  next_callstack = NULL;
  memprof_open(&heap.engine, &ops, NULL, 1000);
  memprof_owner_create(&heap.owner, &heap.engine, NULL, NULL);
  attach(&heap.first, 8);
  attach(&heap.second, 16);
  wn_memprof_options options = {.sampling_rate = rate, .callstack_size = SIZE_MAX, .seed = 5};
  wn_tracker tracker = {.alloc_major = born, .dealloc_major = died, .resize = resized, .context = &heap.told};
  assert_int_equal(memprof_start(&heap.first, &options, &tracker, &heap.profile), WN_OK);
}

static void heap_close(void) {
  memprof_check(&heap.engine);
  memprof_thread_detach(&heap.first);
  memprof_thread_detach(&heap.second);
  memprof_owner_end(&heap.owner);
  memprof_close(&heap.engine);
}

static struct memprof_entry *allocate(struct memprof_thread *thread, wn_alloc_source source) {
  struct memprof_birth birth = {
      .trials = 4, .bytes = 21, .n_samples = memprof_hits_of(thread, 4), .source = source};
  assert_true(birth.n_samples > 0);
  return memprof_allocated(thread, &birth);
}

static wn_memprof_count counts(void) {
  wn_memprof_count count;
  wn_memprof_counts(heap.profile, &count);
  return count;
}

/* ---- what is told ---- */

static void a_late_callback_gets_the_callstack_of_the_allocation(void **state) { /* B10 */
  (void)state;
  static const char here, elsewhere;
  heap_open(1);
  next_callstack = (const wn_callstack *)&here;
  struct memprof_entry *entry = allocate(&heap.first, WN_SOURCE_NORMAL);
  assert_true(next_depth == SIZE_MAX);
  next_callstack = (const wn_callstack *)&elsewhere;
  memprof_drain(&heap.first);
  assert_ptr_equal(heap.told.last.callstack, &here);
  next_callstack = NULL; /* no memory for it: the sample is kept */
  struct memprof_entry *bare = allocate(&heap.first, WN_SOURCE_NORMAL);
  memprof_drain(&heap.first);
  assert_null(heap.told.last.callstack);
  memprof_freed(&heap.first, entry);
  memprof_freed(&heap.first, bare);
  memprof_drain(&heap.first);
  assert_string_equal(heap.told.letters, "AADD");
  heap_close();
}

static void a_block_is_described_as_its_allocator_did(void **state) { /* S10 */
  (void)state;
  const wn_alloc_source sources[] = {WN_SOURCE_NORMAL, WN_SOURCE_MARSHAL, WN_SOURCE_CUSTOM};
  heap_open(1);
  for (int i = 0; i < 3; i++) {
    struct memprof_entry *entry = allocate(&heap.first, sources[i]);
    memprof_drain(&heap.first);
    const wn_allocation *last = &heap.told.last;
    assert_int_equal(last->source, sources[i]);
    assert_true(last->size == 3 && last->bytes == 21 && last->trials == 4 && last->n_samples == 4);
    assert_true(last->previous_bytes == 0);
    memprof_freed(&heap.first, entry);
    memprof_drain(&heap.first);
  }
  heap_close();
}

static void a_block_that_grew_before_it_was_announced_is_announced_once(void **state) { /* B9 */
  (void)state;
  heap_open(1);
  struct memprof_entry *entry = allocate(&heap.first, WN_SOURCE_NORMAL);
  memprof_resized(&heap.first, entry, 0, 70, 10, 10);
  memprof_drain(&heap.first);
  assert_string_equal(heap.told.letters, "A");
  assert_true(heap.told.last.size == 9 && heap.told.last.bytes == 70 && heap.told.last.n_samples == 10);
  memprof_resized(&heap.first, entry, 0, 10, 10, 10);
  memprof_drain(&heap.first);
  assert_true(heap.told.last.previous_bytes == 70 && heap.told.last.bytes == 10);
  memprof_freed(&heap.first, entry);
  memprof_drain(&heap.first);
  assert_string_equal(heap.told.letters, "ArD");
  heap_close();
}

/* ---- where it is told ---- */

static void births_are_told_by_their_thread_and_deaths_by_the_freeing_one(void **state) { /* T1 */
  (void)state;
  heap_open(1);
  struct memprof_entry *entry = allocate(&heap.first, WN_SOURCE_NORMAL);
  memprof_drain(&heap.second);
  assert_string_equal(heap.told.letters, "");
  memprof_drain(&heap.first);
  memprof_freed(&heap.second, entry);
  memprof_drain(&heap.first);
  assert_string_equal(heap.told.letters, "A");
  memprof_drain(&heap.second);
  assert_string_equal(heap.told.letters, "AD");
  assert_true(heap.told.domains[0] == 8 && heap.told.domains[1] == 16);
  heap_close();
}

static void a_death_waits_for_the_birth_that_is_not_told_yet(void **state) { /* B2, T2 */
  (void)state;
  heap_open(1);
  struct memprof_entry *entry = allocate(&heap.first, WN_SOURCE_NORMAL);
  memprof_freed(&heap.second, entry);
  memprof_drain(&heap.second);
  assert_string_equal(heap.told.letters, "");
  memprof_drain(&heap.first);
  assert_string_equal(heap.told.letters, "AD");
  assert_true(heap.told.domains[0] == 8 && heap.told.domains[1] == 8);
  assert_int_equal(memprof_usage(&heap.engine).entries, 0);
  heap_close();
}

static void deaths_of_a_suspended_thread_are_told_in_order_when_it_resumes(void **state) { /* T5 */
  (void)state;
  heap_open(1);
  struct memprof_entry *entries[3];
  for (int i = 0; i < 3; i++) entries[i] = allocate(&heap.first, WN_SOURCE_NORMAL);
  memprof_drain(&heap.first);
  memprof_freed(&heap.first, entries[0]);
  memprof_suspend(&heap.first);
  memprof_freed(&heap.first, entries[1]);
  memprof_freed(&heap.first, entries[2]);
  assert_true(memprof_drain(&heap.first));
  memprof_check(&heap.engine);
  assert_string_equal(heap.told.letters, "AAA");
  assert_true(memprof_is_due(&heap.first));
  memprof_resume(&heap.first);
  memprof_drain(&heap.first);
  assert_string_equal(heap.told.letters, "AAADDD");
  assert_false(memprof_is_due(&heap.first));
  heap_close();
}

/* ---- stop, discard, exceptions ---- */

static void a_stop_by_another_thread_drops_the_births_that_are_due(void **state) { /* L5 */
  (void)state;
  heap_open(1);
  struct memprof_entry *mine = allocate(&heap.first, WN_SOURCE_NORMAL);
  struct memprof_entry *others = allocate(&heap.second, WN_SOURCE_NORMAL);
  assert_int_equal(memprof_stop(&heap.first), WN_OK);
  assert_string_equal(heap.told.letters, "A");
  memprof_drain(&heap.second);
  assert_string_equal(heap.told.letters, "A");
  assert_true(counts().dropped_major == 1 && counts().live_major == 1);
  memprof_freed(&heap.second, others);
  memprof_freed(&heap.second, mine); /* tracked on after the stop */
  memprof_drain(&heap.second);
  assert_string_equal(heap.told.letters, "AD");
  heap_close();
}

static void a_death_that_is_due_at_the_discard_is_not_told(void **state) { /* L7 */
  (void)state;
  heap_open(1);
  struct memprof_entry *entry = allocate(&heap.first, WN_SOURCE_NORMAL);
  memprof_drain(&heap.first);
  assert_int_equal(memprof_stop(&heap.first), WN_OK);
  memprof_freed(&heap.second, entry);
  assert_int_equal(wn_memprof_discard(heap.profile), WN_OK);
  memprof_drain(&heap.second);
  assert_string_equal(heap.told.letters, "A");
  assert_int_equal(memprof_usage(&heap.engine).entries, 0);
  assert_int_equal(memprof_usage(&heap.engine).profiles, 0);
  heap_close();
}

static void *discard_elsewhere(void *profile) { return (void *)(uintptr_t)wn_memprof_discard(profile); }

static void any_thread_may_use_a_handle(void **state) { /* L4, M55b */
  (void)state;
  heap_open(1);
  assert_int_equal(memprof_stop(&heap.first), WN_OK);
  pthread_t thread;
  void *status;
  assert_int_equal(pthread_create(&thread, NULL, discard_elsewhere, heap.profile), 0);
  pthread_join(thread, &status);
  assert_int_equal((uintptr_t)status, WN_OK);
  assert_int_equal(wn_memprof_discard(heap.profile), WN_ESTATE);
  heap_close();
}

static void a_tracker_that_always_raises_comes_to_an_end(void **state) { /* E2, E3 */
  (void)state;
  heap_open(1);
  heap.told.raise = true;
  struct memprof_entry *entries[20];
  for (int i = 0; i < 20; i++) entries[i] = allocate(&heap.first, WN_SOURCE_NORMAL);
  unsigned raised = 0;
  while (!memprof_drain(&heap.first)) {
    assert_int_equal(++raised, heap.told.count); /* nothing begins while an exception is pending */
    assert_int_equal(memprof_stop(&heap.first), WN_EBUSY);
    exception = false;
  }
  assert_int_equal(raised, 20);
  assert_true(counts().dropped_major == 20);
  for (int i = 0; i < 20; i++) memprof_freed(&heap.first, entries[i]);
  assert_true(memprof_drain(&heap.first));
  assert_int_equal(heap.told.count, 20);
  assert_int_equal(memprof_usage(&heap.engine).entries, 0);
  heap_close();
}

static struct memprof_entry *open_with_an_exception_of_another(void) {
  heap_open(1);
  exception_of_another = heap.told.raise = true;
  return allocate(&heap.first, WN_SOURCE_NORMAL);
}

static void what_becomes_due_in_a_callback_waits_until_an_exception_of_another_thread_is_taken(void **state) {
  /* E1b */
  (void)state;
  resize_when_born = free_when_born = open_with_an_exception_of_another();
  assert_false(memprof_drain(&heap.first));
  assert_string_equal(heap.told.letters, "A");
  assert_int_equal(counts().live_major, 1);
  memprof_check(&heap.engine);
  exception = heap.told.raise = false;
  assert_true(memprof_drain(&heap.first));
  assert_string_equal(heap.told.letters, "ArD");
  assert_true(heap.told.last.size == 6 && heap.told.last.previous_bytes == 21);
  heap_close();
}

static void what_waits_for_an_exception_of_another_thread_may_be_discarded(void **state) { /* E1b */
  (void)state;
  for (int inside = 0; inside < 2; inside++) {
    free_when_born = open_with_an_exception_of_another();
    discard_when_born = inside;
    assert_false(memprof_drain(&heap.first));
    if (!inside)
      assert_true(memprof_leave(&heap.first) == WN_OK && wn_memprof_discard(heap.profile) == WN_OK);
    assert_int_equal(memprof_usage(&heap.engine).profiles, 0);
    exception = heap.told.raise = false;
    assert_true(memprof_drain(&heap.first));
    assert_string_equal(heap.told.letters, "A");
    assert_int_equal(memprof_usage(&heap.engine).entries, 0);
    heap_close();
  }
}

/* ---- the law ---- */

/* A host may draw a fresh count whenever it likes: here after each block, though the old count was
 * not used up. */
static void fresh_gaps_at_any_time_do_not_change_the_rate(void **state) { /* S4 */
  (void)state;
  const double rate = 0.1;
  const int blocks = 400000, words = 3;
  heap_open(rate);
  double hits = 0;
  for (int i = 0; i < blocks; i++) hits += (double)memprof_hits_of(&heap.first, (size_t)words);
  double mean = blocks * words * rate;
  assert_true(fabs(hits - mean) < 5 * sqrt(mean * (1 - rate)));
  heap_close();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_late_callback_gets_the_callstack_of_the_allocation),
      cmocka_unit_test(a_block_is_described_as_its_allocator_did),
      cmocka_unit_test(a_block_that_grew_before_it_was_announced_is_announced_once),
      cmocka_unit_test(births_are_told_by_their_thread_and_deaths_by_the_freeing_one),
      cmocka_unit_test(a_death_waits_for_the_birth_that_is_not_told_yet),
      cmocka_unit_test(deaths_of_a_suspended_thread_are_told_in_order_when_it_resumes),
      cmocka_unit_test(a_stop_by_another_thread_drops_the_births_that_are_due),
      cmocka_unit_test(a_death_that_is_due_at_the_discard_is_not_told),
      cmocka_unit_test(any_thread_may_use_a_handle),
      cmocka_unit_test(a_tracker_that_always_raises_comes_to_an_end),
      cmocka_unit_test(what_becomes_due_in_a_callback_waits_until_an_exception_of_another_thread_is_taken),
      cmocka_unit_test(what_waits_for_an_exception_of_another_thread_may_be_discarded),
      cmocka_unit_test(fresh_gaps_at_any_time_do_not_change_the_rate),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
