/* Samples where minor heaps and their pieces end: the same words are sampled, wherever collections
 * fall. */
#include "tracker.h"

#include "gc/domains/domain.h"
#include <stdlib.h>
#include <string.h>

enum { SEQUENCE = 1 << 13 };

/* Which blocks were sampled, and how often. */
struct sequence {
  struct tracked all;
  size_t count;
  struct {
    size_t size, n_samples;
  } births[SEQUENCE];
};

static void *write_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct sequence *sequence = context;
  assert_true(sequence->count < SEQUENCE);
  sequence->births[sequence->count].size = allocation->size;
  sequence->births[sequence->count++].n_samples = allocation->n_samples;
  return tracked_alloc_minor(domain, allocation, &sequence->all);
}

/* Blocks of every size, singly, in groups and by the raw tier; some live for a while. `polls`:
 * safepoints in between. */
static void run_program(wn_domain *domain, bool polls) {
  for (size_t i = 0; i < 700; i++) {
    const wn_shape shapes[] = {{i % 7, 0}, {i % 90, 1}, {1, WN_TAG_RAW}, {i % 13 + 1, 0}};
    wn_ref blocks[4];
    WN_SCOPE(domain);
    assert_false(wn_is_null(wn_alloc(domain, 1 + i % WN_MAX_YOUNG_WORDS, 0)));
    assert_int_equal(wn_alloc_group(domain, 4, shapes, blocks), WN_OK);
    make_list(domain, 3, 1 + i % 5);
    wn_value *fields = wn_bump(domain, 2, 0);
    fields[0] = fields[1] = wn_int(0);
    if (i % 50 == 0) assert_false(wn_is_null(wn_alloc(domain, 300 + i, 0)));
    if (polls) wn_poll(domain);
  }
}

static void sample_program(struct sequence *sequence, long minor_words, const char *text, double rate,
                           bool polls) {
  wn_heap_options options = without_helpers();
  wn_memprof_options sampling = {rate, 4, 12345};
  options.text = text;
  options.parameters.minor_heap_size = minor_words;
  sequence->count = 0;
  tracked_open_with(&sequence->all, &options);
  sequence->all.tracker.alloc_minor = sequence->all.tracker.alloc_major = write_birth;
  assert_int_equal(
      wn_memprof_start(sequence->all.of.domain, &sampling, &sequence->all.tracker, &sequence->all.profile),
      WN_OK);
  run_program(sequence->all.of.domain, polls);
  assert_int_equal(wn_memprof_stop(sequence->all.of.domain), WN_OK);
  assert_int_equal(wn_gc_full_major(sequence->all.of.domain), WN_OK);
  wn_memprof_count count = counts_of(sequence->all.profile);
  assert_int_equal(count.allocs_minor + count.allocs_major, sequence->count);
  assert_int_equal(count.live_minor + count.live_major + count.lost, 0);
  tracked_close(&sequence->all);
}

static void the_same_words_are_sampled_wherever_collections_fall(void **state) { /* M4, M19 */
  static const double rates[] = {0.3, 0.05, 0.003};
  static const long minor_words[] = {320, 333, 400, 512, 1000, 5000, 262144};
  struct sequence *first = calloc(1, sizeof *first), *again = calloc(1, sizeof *again);
  (void)state;
  assert_true(first && again);
  for (size_t rate = 0; rate < sizeof rates / sizeof *rates; rate++) {
    sample_program(first, 1 << 20, "", rates[rate], false);
    assert_true(first->count > 50);
    for (size_t i = 0; i < sizeof minor_words / sizeof *minor_words; i++)
      for (int polls = 0; polls < 2; polls++) {
        sample_program(again, minor_words[i], i % 2 ? "" : "every=3", rates[rate], polls);
        assert_int_equal(again->count, first->count);
        assert_memory_equal(again->births, first->births, first->count * sizeof *first->births);
      }
  }
  free(first);
  free(again);
}

static void a_collection_at_every_allocation_loses_no_sample(void **state) { /* M7, M17 */
  struct tracked all;
  wn_heap_options options = without_helpers();
  (void)state;
  options.text = "every=1,verify";
  tracked_open_with(&all, &options);
  tracked_start(&all, 1);
  double before = wn_gc_allocated_bytes(all.of.domain) / 8;
  run_program(all.of.domain, true);
  double words = wn_gc_allocated_bytes(all.of.domain) / 8 - before;
  assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
  assert_int_equal(all.samples, (long)words);
  assert_int_equal(all.samples, all.trials);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.deallocs_minor + all.deallocs_major, all.allocs_minor + all.allocs_major);
  tracked_check(&all);
  tracked_close(&all);
}

/* The next sample is in each word of a group in turn: only the block that has the word is told
 * of. */
static void a_sample_in_a_group_is_that_of_the_block_it_falls_in(void **state) { /* M16 */
  static const wn_shape shapes[] = {{4, 0}, {3, 1}, {2, WN_TAG_RAW}};
  long with[5] = {0}, groups = 0;
  struct sequence *one = calloc(1, sizeof *one);
  (void)state;
  assert_non_null(one);
  for (uint64_t seed = 0; seed < 300; seed++) {
    wn_memprof_options sampling = {0.02, 4, seed};
    wn_ref blocks[3];
    one->count = 0;
    tracked_open_heap(&one->all);
    one->all.tracker.alloc_minor = write_birth;
    assert_int_equal(wn_memprof_start(one->all.of.domain, &sampling, &one->all.tracker, &one->all.profile),
                     WN_OK);
    {
      WN_SCOPE(one->all.of.domain);
      assert_int_equal(wn_alloc_group(one->all.of.domain, 3, shapes, blocks), WN_OK);
      wn_poll(one->all.of.domain);
    }
    groups += one->count == 1;
    for (size_t i = 0; i < one->count; i++) with[one->births[i].size]++;
    tracked_close(&one->all);
  }
  assert_true(groups > 20); /* in which one block was sampled, and its siblings were not */
  for (int size = 2; size <= 4; size++) assert_true(with[size] > 2);
  free(one);
}

static void a_minor_heap_may_change_its_size_between_samples(void **state) { /* M4 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  double before = wn_gc_minor_words(all.of.domain);
  for (long words = 320; words < 6000; words += 371) {
    assert_int_equal(wn_gc_set_domain_minor_heap(all.of.domain, words), WN_OK);
    allocate(all.of.domain, 100, 6);
    wn_gc_control control = get_control(all.of.domain);
    control.minor_heap_size = 6400 - words;
    set_control(all.of.domain, &control);
    allocate(all.of.domain, 100, 6);
  }
  wn_poll(all.of.domain);
  assert_int_equal(all.samples, (long)(wn_gc_minor_words(all.of.domain) - before));
  tracked_check(&all);
  tracked_close(&all);
}

/* The callbacks' own blocks go past the ends of the minor heap, too. */
static void *fill_minor_heap(wn_domain *domain, const wn_allocation *allocation, void *context) {
  allocate(domain, 3, 1 + (size_t)((struct tracked *)context)->allocs_minor % 200);
  return tracked_alloc_minor(domain, allocation, context);
}

static void callbacks_that_fill_the_minor_heap_lose_no_sample(void **state) { /* M33 */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  all.tracker.alloc_minor = fill_minor_heap;
  assert_int_equal(wn_gc_set_domain_minor_heap(all.of.domain, 2000), WN_OK);
  tracked_start(&all, 1);
  for (int i = 0; i < 20000; i++) {
    allocate(all.of.domain, 1, 1);
    wn_poll(all.of.domain);
  }
  wn_gc_minor(all.of.domain);
  assert_int_equal(all.allocs_minor, 20000);
  assert_int_equal(all.deallocs_minor, 20000);
  assert_int_equal(all.promotes, 0);
  tracked_check(&all);
  tracked_close(&all);
}

/* As another thread does that wants the world to stop, or its turn: at the first sample. */
static size_t raise_limit_once(wn_domain *domain, wn_language_frame *frames, size_t most, void *context) {
  bool *raised = context;
  (void)frames, (void)most;
  if (!*raised) domain_raise_limit(domain);
  *raised = true;
  return 0;
}

static void a_sample_loses_no_request_that_came_in_the_same_group(void **state) { /* M16 */
  static const wn_shape shapes[] = {{4, 0}, {3, 1}, {2, WN_TAG_RAW}};
  struct tracked all;
  wn_heap_options options = without_helpers();
  wn_ref blocks[3];
  bool raised = false;
  (void)state;
  options.hooks.callstack = raise_limit_once;
  options.hooks.context = &raised;
  tracked_open_with(&all, &options);
  tracked_start(&all, 1);
  assert_int_equal(wn_alloc_group(all.of.domain, 3, shapes, blocks), WN_OK);
  assert_true((uintptr_t)wn_context(all.of.domain)->young_limit == UINTPTR_MAX);
  wn_poll(all.of.domain);
  assert_int_equal(all.allocs_minor, 3);
  tracked_check(&all);
  tracked_close(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_words_are_sampled_wherever_collections_fall),
      cmocka_unit_test(a_collection_at_every_allocation_loses_no_sample),
      cmocka_unit_test(a_sample_in_a_group_is_that_of_the_block_it_falls_in),
      cmocka_unit_test(a_minor_heap_may_change_its_size_between_samples),
      cmocka_unit_test(callbacks_that_fill_the_minor_heap_lose_no_sample),
      cmocka_unit_test(a_sample_loses_no_request_that_came_in_the_same_group),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
