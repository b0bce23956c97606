/* The life of profiles on the collected heap: start, stop and discard in every order, from each
 * callback, for ever. */
#include "tracker.h"

#include "gc/domains/heap.h"
#include <math.h>

static void start_another(struct tracked *all, struct tracked *on, double rate) {
  wn_memprof_options options = {rate, 8, 0};
  all->of = on->of;
  all->tracker.context = all;
  assert_int_equal(wn_memprof_start(on->of.domain, &options, &all->tracker, &all->profile), WN_OK);
}

/* ---- states ---- */

static void the_states_of_a_profile_allow_what_they_should(void **state) { /* M41, M42, M43 */
  struct tracked all;
  wn_profile *other = NULL;
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  (void)state;
  tracked_open_heap(&all);
  wn_domain *domain = all.of.domain;
  assert_int_equal(wn_memprof_stop(domain), WN_ESTATE);
  assert_int_equal(wn_memprof_leave(domain), WN_ESTATE);
  assert_int_equal(wn_memprof_drain(domain), WN_OK);
  assert_false(wn_memprof_is_sampling(domain));
  tracked_start(&all, 1);
  assert_true(wn_memprof_is_sampling(domain));
  assert_int_equal(wn_memprof_start(domain, &options, &all.tracker, &other), WN_ESTATE);
  assert_int_equal(wn_memprof_join(domain, all.profile), WN_ESTATE);
  assert_int_equal(wn_memprof_discard(all.profile), WN_ESTATE);
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(wn_memprof_stop(domain), WN_ESTATE);
  assert_int_equal(wn_memprof_join(domain, all.profile), WN_ESTATE);
  assert_int_equal(wn_memprof_discard(all.profile), WN_OK);
  assert_int_equal(wn_memprof_discard(all.profile), WN_ESTATE);
  assert_null(other);
  journal_close(&all.of);
}

static void wrong_arguments_are_refused_and_change_nothing(void **state) { /* M8 */
  static const double rates[] = {-1e-9, 1.0000001, -1, 2, (double)NAN, (double)INFINITY};
  struct tracked all;
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  (void)state;
  tracked_open_heap(&all);
  wn_domain *domain = all.of.domain;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    options.sampling_rate = rates[i];
    assert_int_equal(wn_memprof_start(domain, &options, &all.tracker, &all.profile), WN_EINVAL);
  }
  options.sampling_rate = 1;
  assert_int_equal(wn_memprof_start(domain, NULL, &all.tracker, &all.profile), WN_EINVAL);
  assert_int_equal(wn_memprof_start(domain, &options, NULL, &all.profile), WN_EINVAL);
  assert_int_equal(wn_memprof_start(domain, &options, &all.tracker, NULL), WN_EINVAL);
  assert_int_equal(wn_memprof_start(NULL, &options, &all.tracker, &all.profile), WN_EINVAL);
  assert_int_equal(wn_memprof_stop(NULL), WN_EINVAL);
  assert_int_equal(wn_memprof_leave(NULL), WN_EINVAL);
  assert_int_equal(wn_memprof_drain(NULL), WN_EINVAL);
  assert_int_equal(wn_memprof_join(NULL, NULL), WN_EINVAL);
  assert_int_equal(wn_memprof_join(domain, NULL), WN_EINVAL);
  assert_int_equal(wn_memprof_discard(NULL), WN_EINVAL);
  assert_null(all.profile);
  assert_false(wn_memprof_is_sampling(domain));
  allocate(domain, 100, 3);
  wn_poll(domain);
  assert_int_equal(all.allocs_minor, 0);
  journal_close(&all.of);
}

/* ---- stop ---- */

static void stop_tells_what_is_due_first_and_samples_nothing_afterwards(void **state) { /* M36, M37 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  allocate(all.of.domain, 10, 3);
  assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
  assert_int_equal(all.allocs_minor, 10);
  allocate(all.of.domain, 1000, 3);
  allocate(all.of.domain, 10, 3000);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.allocs_minor + all.allocs_major, 10);
  assert_int_equal(all.deallocs_minor, 10);
  tracked_check(&all);
  tracked_close(&all);
}

static void stopped_profiles_follow_their_blocks_beside_new_ones(void **state) { /* M40, M45, M46 */
  enum { PROFILES = 6 };
  static struct tracked all[PROFILES];
  static const int order[PROFILES] = {3, 0, 5, 1, 4, 2}; /* in which they are discarded */
  (void)state;
  tracked_open_heap(&all[0]);
  wn_domain *domain = all[0].of.domain;
  wn_global *lists[PROFILES];
  for (int i = 1; i < PROFILES; i++) all[i].tracker = all[0].tracker;
  for (int i = 0; i < PROFILES; i++) {
    start_another(&all[i], &all[0], 1);
    WN_SCOPE(domain);
    lists[i] = wn_global_new(domain, make_list(domain, 10 + i, 3));
    assert_int_equal(wn_memprof_stop(domain), WN_OK);
  }
  wn_gc_minor(domain);
  for (int i = 0; i < PROFILES; i++) assert_int_equal(all[i].promotes, 10 + i);
  for (int i = 0; i < PROFILES; i++) {
    int gone = order[i];
    if (i % 2) assert_int_equal(wn_memprof_discard(all[gone].profile), WN_OK);
    wn_global_free(domain, lists[gone]);
    wn_gc_full_major(domain);
    assert_int_equal(all[gone].deallocs_major, i % 2 ? 0 : 10 + gone);
    if (i % 2 == 0) {
      tracked_check(&all[gone]);
      assert_int_equal(wn_memprof_discard(all[gone].profile), WN_OK);
    }
  }
  journal_close(&all[0].of);
}

static _Atomic(long) dropped, released;
static void count_dropped(void *metadata, void *context) {
  (void)metadata, (void)context;
  dropped++;
}
static void count_released(void *context) {
  (void)context;
  released++;
}

static void after_a_discard_nothing_is_called_and_metadata_is_dropped(void **state) { /* M47 */
  struct tracked all;
  (void)state;
  dropped = released = 0;
  tracked_open_heap(&all);
  all.tracker.drop = count_dropped;
  all.tracker.release = count_released;
  tracked_start(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    make_list(all.of.domain, 50, 3);
    wn_poll(all.of.domain);
    allocate(all.of.domain, 7, 3);
    assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
    assert_int_equal(released, 0);
    assert_int_equal(wn_memprof_discard(all.profile), WN_OK);
    assert_int_equal(dropped, 57);
    assert_int_equal(released, 1);
    wn_gc_full_major(all.of.domain);
  }
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.promotes + all.deallocs_minor + all.deallocs_major, 0);
  assert_int_equal(memprof_usage(&all.of.heap->engine).entries, 0);
  journal_close(&all.of);
}

/* ---- in callbacks ---- */

enum { ALLOC_MINOR, ALLOC_MAJOR, PROMOTE, DEALLOC_MINOR, DEALLOC_MAJOR, CALLBACKS };
enum { STOP, STOP_START, STOP_DISCARD, STOP_DISCARD_START, LEAVE, DEEDS };

/* At the first call of one callback, one thing is done. */
struct moment {
  int callback, deed;
  bool done;
  struct tracked *later;
};

static void pass(wn_domain *domain, struct tracked *all, int callback) {
  struct moment *moment = all->test;
  if (moment->done || moment->callback != callback) return;
  moment->done = true;
  if (moment->deed == LEAVE)
    assert_int_equal(wn_memprof_leave(domain), WN_OK);
  else
    assert_int_equal(wn_memprof_stop(domain), WN_OK);
  if (moment->deed == STOP_DISCARD || moment->deed == STOP_DISCARD_START)
    assert_int_equal(wn_memprof_discard(all->profile), WN_OK);
  if (moment->deed == STOP_START || moment->deed == STOP_DISCARD_START) start_another(moment->later, all, 1);
}

static void *pass_alloc_minor(wn_domain *domain, const wn_allocation *allocation, void *context) {
  pass(domain, context, ALLOC_MINOR);
  return tracked_alloc_minor(domain, allocation, context);
}
static void *pass_alloc_major(wn_domain *domain, const wn_allocation *allocation, void *context) {
  pass(domain, context, ALLOC_MAJOR);
  return tracked_alloc_major(domain, allocation, context);
}
static void *pass_promote(wn_domain *domain, void *minor, void *context) {
  pass(domain, context, PROMOTE);
  return tracked_promote(domain, minor, context);
}
static void pass_dealloc_minor(wn_domain *domain, void *minor, void *context) {
  pass(domain, context, DEALLOC_MINOR);
  tracked_dealloc_minor(domain, minor, context);
}
static void pass_dealloc_major(wn_domain *domain, void *major, void *context) {
  pass(domain, context, DEALLOC_MAJOR);
  tracked_dealloc_major(domain, major, context);
}

/* Blocks of all kinds; all are dead in the end. */
static void all_kinds(wn_domain *domain) {
  {
    WN_SCOPE(domain);
    make_list(domain, 20, 3);
    allocate(domain, 20, 4);
    wn_alloc(domain, 500, 0);
    wn_alloc(domain, 500, 0);
    wn_gc_minor(domain);
  }
  wn_gc_full_major(domain);
}

static void at_moment(int callback, int deed) {
  struct tracked all, later;
  struct moment moment = {callback, deed, false, &later};
  bool discards = deed == STOP_DISCARD || deed == STOP_DISCARD_START;
  bool starts = deed == STOP_START || deed == STOP_DISCARD_START;
  tracked_open_heap(&all);
  later = all;
  all.tracker = (wn_tracker){pass_alloc_minor,   pass_alloc_major,   pass_promote,
                             pass_dealloc_minor, pass_dealloc_major, .context = &all};
  all.test = &moment;
  tracked_start(&all, 1);
  all_kinds(all.of.domain);
  assert_true(moment.done);
  long calls = all.allocs_minor + all.allocs_major + all.promotes + all.deallocs_minor + all.deallocs_major;
  assert_int_equal(wn_memprof_is_sampling(all.of.domain), starts);
  all_kinds(all.of.domain);
  assert_int_equal(calls, all.allocs_minor + all.allocs_major + all.promotes + all.deallocs_minor +
                              all.deallocs_major); /* none is left to be told */
  wn_memprof_count count = counts_of(all.profile);
  assert_int_equal(count.live_minor + count.live_major, 0);
  if (!discards) {
    assert_int_equal(all.deallocs_minor + all.deallocs_major, all.allocs_minor + all.allocs_major);
    assert_int_equal(wn_memprof_discard(all.profile), WN_OK);
  }
  if (starts) {
    assert_true(later.allocs_minor >= 40 && later.allocs_major >= 2);
    assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
    tracked_check(&later);
    assert_int_equal(wn_memprof_discard(later.profile), WN_OK);
  }
  assert_int_equal(memprof_usage(&all.of.heap->engine).profiles, 0);
  journal_close(&all.of);
}

static void profiles_may_stop_start_leave_and_be_discarded_in_each_callback(void **state) {
  /* M46, M52, M53, M72 */
  (void)state;
  for (int callback = 0; callback < CALLBACKS; callback++)
    for (int deed = 0; deed < DEEDS; deed++) at_moment(callback, deed);
}

/* ---- for ever ---- */

static long resident_pages(void) {
  long total, resident;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &total, &resident), 2);
  fclose(file);
  return resident;
}

static void one_round(struct tracked *all, int round) {
  WN_SCOPE(all->of.domain);
  tracked_start(all, 1);
  wn_alloc(all->of.domain, 1 + (size_t)round % 5, 0);
  wn_alloc(all->of.domain, 2, 0);
  if (round % 3) wn_poll(all->of.domain);
  if (round % 100 == 0) wn_gc_minor(all->of.domain);
  assert_int_equal(wn_memprof_stop(all->of.domain), WN_OK);
  assert_int_equal(wn_memprof_discard(all->profile), WN_OK);
}

static void a_hundred_thousand_profiles_leave_no_memory_behind(void **state) { /* M48 */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  for (int round = 0; round < 1000; round++) one_round(&all, round);
  size_t mapped = memprof_usage(&all.of.heap->engine).mapped_bytes;
  long pages = resident_pages();
  for (int round = 1000; round < 100000; round++) one_round(&all, round);
  assert_int_equal(wn_memprof_drain(all.of.domain), WN_OK); /* lets go what the last discard left in lists */
  struct memprof_usage usage = memprof_usage(&all.of.heap->engine);
  assert_int_equal(usage.entries, 0);
  assert_int_equal(usage.profiles, 0);
  assert_true(usage.mapped_bytes <= mapped + 4096); /* a few buckets more, as collections fall */
  assert_true(resident_pages() < pages + 1000);     /* 4 MB: less than 42 bytes a round */
  memprof_check(&all.of.heap->engine);
  journal_close(&all.of);
}

static void live_blocks_are_not_told_of_when_the_heap_closes(void **state) { /* M38 */
  struct tracked all;
  (void)state;
  dropped = released = 0;
  tracked_open_heap(&all);
  all.tracker.drop = count_dropped;
  all.tracker.release = count_released;
  tracked_start(&all, 1);
  wn_global *alive;
  {
    WN_SCOPE(all.of.domain);
    alive = wn_global_new(all.of.domain, make_list(all.of.domain, 30, 3));
    wn_gc_minor(all.of.domain);
  }
  assert_non_null(alive);
  journal_close(&all.of); /* while it samples */
  assert_int_equal(all.deallocs_minor + all.deallocs_major, 0);
  assert_int_equal(dropped, 30);
  assert_int_equal(released, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_states_of_a_profile_allow_what_they_should),
      cmocka_unit_test(wrong_arguments_are_refused_and_change_nothing),
      cmocka_unit_test(stop_tells_what_is_due_first_and_samples_nothing_afterwards),
      cmocka_unit_test(stopped_profiles_follow_their_blocks_beside_new_ones),
      cmocka_unit_test(after_a_discard_nothing_is_called_and_metadata_is_dropped),
      cmocka_unit_test(profiles_may_stop_start_leave_and_be_discarded_in_each_callback),
      cmocka_unit_test(a_hundred_thousand_profiles_leave_no_memory_behind),
      cmocka_unit_test(live_blocks_are_not_told_of_when_the_heap_closes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
