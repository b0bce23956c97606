/* Profiles and traces of a process that forks. */
#include "conformance/gc/working.h"

#include <stdlib.h>
#include <winnow/trace.h>

/* ---- profiles ---- */

struct seen {
  _Atomic(long) births, deaths;
};

static void *count_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  atomic_fetch_add(&((struct seen *)context)->births, 1);
  return context;
}
static void *keep_tracking(wn_domain *domain, void *meta, void *context) {
  (void)domain, (void)context;
  return meta;
}
static void count_death(wn_domain *domain, void *meta, void *context) {
  (void)domain, (void)meta;
  atomic_fetch_add(&((struct seen *)context)->deaths, 1);
}

struct profiled {
  struct seen seen;
  struct world world;
  wn_profile *profile;
};

static void profile_in_child(wn_domain *domain, void *argument) {
  struct profiled *of = argument;
  long births = atomic_load(&of->seen.births);
  IN_CHILD(wn_memprof_is_sampling(domain));
  allocate(domain, 1000, 10);
  wn_poll(domain);
  IN_CHILD(atomic_load(&of->seen.births) >= births + 1000);
  IN_CHILD(wn_gc_verify(domain, stderr) == WN_OK);
  IN_CHILD(wn_memprof_stop(domain) == WN_OK);
  atomic_store(&of->world.over, true);
  for (int i = 0; i < 3; i++) IN_CHILD(wn_gc_full_major(domain) == WN_OK);
  wn_global_free(domain, of->world.shared);
  for (int i = 0; i < 3; i++) IN_CHILD(wn_gc_full_major(domain) == WN_OK);
  wn_poll(domain);
  wn_memprof_count count;
  wn_memprof_counts(of->profile, &count);
  IN_CHILD(count.allocs_minor ==
           count.promotes + count.dealloc_minor + count.live_minor + count.dropped_minor);
  IN_CHILD(count.promotes + count.allocs_major ==
           count.dealloc_major + count.live_major + count.dropped_major);
  IN_CHILD(count.live_minor == 0 && count.live_major == 0); /* the lost domains' deaths were told, too */
  IN_CHILD(wn_memprof_discard(of->profile) == WN_OK);
  end_heap(domain, of->world.heap);
}

static void a_profile_goes_on_in_parent_and_child(void **state) { /* M85 */
  (void)state;
  struct journal of;
  struct profiled profiled = {0};
  wn_join *workers[WORKERS];
  wn_memprof_options options = {.sampling_rate = 1, .callstack_size = 4, .seed = 1};
  wn_tracker tracker = {.alloc_minor = count_birth,
                        .alloc_major = count_birth,
                        .promote = keep_tracking,
                        .dealloc_minor = count_death,
                        .dealloc_major = count_death,
                        .context = &profiled.seen};
  open_world(&of, &profiled.world, "minor_heap_size=4096");
  assert_int_equal(wn_memprof_start(of.domain, &options, &tracker, &profiled.profile), WN_OK);
  for (int i = 0; i < WORKERS; i++) workers[i] = spawn(of.domain, work, &profiled.world);
  wait_for_step(of.domain, &profiled.world.working, WORKERS);
  for (int i = 0; i < (TINY ? 5 : 20); i++) do_in_child(of.domain, profile_in_child, &profiled);
  atomic_store(&profiled.world.over, true);
  for (int i = 0; i < WORKERS; i++) join_wait(of.domain, workers[i]);
  wn_global_free(of.domain, profiled.world.shared);
  assert_int_equal(wn_memprof_stop(of.domain), WN_OK);
  for (int i = 0; i < 3; i++) wn_gc_full_major(of.domain);
  wn_poll(of.domain);
  assert_int_equal(atomic_load(&profiled.seen.births), atomic_load(&profiled.seen.deaths));
  assert_int_equal(wn_memprof_discard(profiled.profile), WN_OK);
  journal_close(&of);
}

/* ---- traces ---- */

static void leave_the_trace(wn_domain *domain, void *trace) {
  IN_CHILD(!wn_memprof_is_sampling(domain));
  allocate(domain, 10000, 10);
  IN_CHILD(wn_trace_stop(domain, trace) == WN_ESTATE);
  IN_CHILD(wn_gc_full_major(domain) == WN_OK);
  IN_CHILD(wn_trace_start(domain, "fork_child.wt", NULL, (wn_trace **)&trace) == WN_OK);
  allocate(domain, 10000, 10);
  IN_CHILD(wn_trace_stop(domain, trace) == WN_OK);
  IN_CHILD(wn_gc_verify(domain, stderr) == WN_OK);
}

static off_t size_of_file(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  off_t size = ftello(file);
  fclose(file);
  return size;
}

static void a_trace_stays_the_parents(void **state) { /* M85 */
  (void)state;
  struct journal of;
  wn_trace *trace;
  journal_open(&of, NULL);
  assert_int_equal(wn_trace_start(of.domain, "fork_parent.wt", NULL, &trace), WN_OK);
  allocate(of.domain, 10000, 10);
  do_in_child(of.domain, leave_the_trace, trace);
  off_t before = size_of_file("fork_parent.wt");
  do_in_child(of.domain, leave_the_trace, trace);
  assert_int_equal(size_of_file("fork_parent.wt"), before);
  allocate(of.domain, 10000, 10);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  assert_true(size_of_file("fork_child.wt") > 0);
  remove("fork_parent.wt");
  remove("fork_child.wt");
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_profile_goes_on_in_parent_and_child),
      cmocka_unit_test(a_trace_stays_the_parents),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
