/* Exceptions that callbacks of profiles raise on the collected heap, and groups in whose middle
 * something happens. */
#include "tracker.h"

#include <setjmp.h>

/* Callbacks raise while this is above 0; -1: always. */
static int raises_left;

static void raise_now(wn_domain *domain, struct tracked *all) {
  WN_SCOPE(domain);
  all->of.count++;
  raises_left -= raises_left > 0;
  wn_raise(domain, block_of(domain, (intptr_t)all->of.count));
}

static void *raise_at_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct tracked *all = context;
  if (!raises_left) return tracked_alloc_minor(domain, allocation, all);
  all->allocs_minor++;
  raise_now(domain, all);
  return all;
}
static void *raise_at_promotion(wn_domain *domain, void *minor, void *context) {
  struct tracked *all = context;
  all->promotes++;
  if (raises_left) raise_now(domain, all);
  return minor;
}
static void raise_at_death(wn_domain *domain, void *metadata, void *context) {
  struct tracked *all = context;
  tracked_dealloc_minor(domain, metadata, all);
  if (raises_left) raise_now(domain, all);
}

static void open_raising(struct tracked *all, int raises) {
  tracked_open_heap(all);
  all->tracker.alloc_minor = raise_at_birth;
  raises_left = raises;
  tracked_start(all, 1);
}

static void expect_exception(struct tracked *all, intptr_t number) {
  WN_SCOPE(all->of.domain);
  wn_ref taken = wn_take_exception(all->of.domain);
  assert_false(wn_is_null(taken));
  assert_int_equal(number_of(taken), number);
  assert_true(wn_is_null(wn_take_exception(all->of.domain)));
}

static void a_callback_that_raises_ends_its_block_and_leaves_the_rest_due(void **state) { /* M23 */
  struct tracked all;
  (void)state;
  open_raising(&all, 1);
  allocate(all.of.domain, 10, 3);
  wn_poll(all.of.domain);
  assert_int_equal(all.allocs_minor, 1);
  wn_poll(all.of.domain);
  assert_int_equal(wn_memprof_drain(all.of.domain), WN_EBUSY);
  assert_int_equal(wn_gc_minor(all.of.domain), WN_EBUSY);
  assert_int_equal(all.allocs_minor, 1);
  expect_exception(&all, 1);
  wn_poll(all.of.domain);
  assert_int_equal(all.allocs_minor, 10);
  assert_int_equal(wn_gc_minor(all.of.domain), WN_OK);
  assert_int_equal(all.deallocs_minor, 9);
  wn_memprof_count count = counts_of(all.profile);
  assert_int_equal(count.dropped_minor, 1);
  assert_int_equal(count.dealloc_minor, 9);
  tracked_close(&all);
}

static void a_promotion_that_raises_ends_its_block(void **state) { /* M23 */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  all.tracker.promote = raise_at_promotion;
  raises_left = 1;
  tracked_start(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    make_list(all.of.domain, 10, 2);
    assert_int_equal(wn_gc_minor(all.of.domain), WN_EBUSY);
    expect_exception(&all, 1);
    wn_poll(all.of.domain);
    assert_int_equal(all.promotes, 10);
  }
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.deallocs_major, 9);
  assert_int_equal(counts_of(all.profile).dropped_major, 1);
  tracked_close(&all);
}

static void a_death_that_raises_is_a_death(void **state) { /* M23b */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  all.tracker.dealloc_minor = raise_at_death;
  raises_left = 1;
  tracked_start(&all, 1);
  allocate(all.of.domain, 10, 2);
  assert_int_equal(wn_gc_minor(all.of.domain), WN_EBUSY);
  assert_int_equal(all.deallocs_minor, 1);
  expect_exception(&all, 1);
  wn_poll(all.of.domain);
  assert_int_equal(all.deallocs_minor, 10);
  tracked_check(&all);
  tracked_close(&all);
}

static void stop_is_refused_while_an_exception_is_pending(void **state) { /* M36 */
  struct tracked all;
  (void)state;
  open_raising(&all, 1);
  allocate(all.of.domain, 2, 3);
  assert_int_equal(wn_memprof_stop(all.of.domain), WN_EBUSY);
  assert_true(wn_memprof_is_sampling(all.of.domain));
  expect_exception(&all, 1);
  assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
  assert_int_equal(all.allocs_minor, 2);
  tracked_close(&all);
}

static void a_tracker_that_always_raises_comes_to_an_end(void **state) { /* M23b */
  struct tracked all;
  (void)state;
  open_raising(&all, -1);
  allocate(all.of.domain, 50, 3);
  int rounds = 0;
  while (wn_memprof_drain(all.of.domain) == WN_EBUSY) {
    expect_exception(&all, ++rounds);
    assert_true(rounds <= 50);
  }
  assert_int_equal(rounds, 50);
  assert_int_equal(counts_of(all.profile).dropped_minor, 50);
  raises_left = 0;
  tracked_close(&all);
}

/* ---- a hook that leaves ---- */

static jmp_buf catcher;
static long caught;

static void leave_by_jump(wn_domain *domain, wn_ref exception, void *context) {
  (void)domain, (void)context;
  caught = number_of(exception);
  longjmp(catcher, 1);
}

static void open_jumping(struct tracked *all) {
  wn_heap_options options = without_helpers();
  options.hooks.raise = leave_by_jump;
  tracked_open_with(all, &options);
  all->tracker.alloc_minor = raise_at_birth;
  all->tracker.dealloc_minor = raise_at_death;
  raises_left = -1;
  tracked_start(all, 1);
}

static void the_hook_gets_the_exception_at_the_safepoint_and_may_leave_by_a_jump(void **state) { /* M23 */
  static struct tracked all;
  static volatile int jumps;
  (void)state;
  open_jumping(&all);
  allocate(all.of.domain, 20, 3);
  jumps = 0;
  wn_scope scope = wn_scope_enter(all.of.domain);
  if (setjmp(catcher)) {
    wn_scope_leave(&scope);
    assert_int_equal(caught, ++jumps);
    assert_int_equal(all.allocs_minor, jumps);
    allocate(all.of.domain, 1, 300); /* the heap is as it should be */
    assert_int_equal(wn_gc_verify(all.of.domain, stderr), WN_OK);
  }
  if (jumps < 20) wn_poll(all.of.domain);
  assert_int_equal(jumps, 20);
  raises_left = 0;
  wn_poll(all.of.domain);
  wn_memprof_count count = counts_of(all.profile);
  assert_int_equal(count.dropped_minor, 20);
  assert_int_equal(count.allocs_minor, 20);
  tracked_close(&all);
}

static void an_allocation_never_leaves_by_the_hook(void **state) { /* M23 */
  static struct tracked all;
  (void)state;
  open_jumping(&all);
  if (setjmp(catcher)) fail_msg("left an allocation");
  allocate(all.of.domain, 1000, 200); /* that collect */
  wn_memprof_drain(all.of.domain);    /* runs callbacks, and leaves the exception to a safepoint */
  allocate(all.of.domain, 1000, 200);
  assert_int_equal(all.allocs_minor, 1);
  raises_left = 0;
  expect_exception(&all, 1);
  tracked_close(&all);
}

/* ---- in the middle of a group ---- */

static const wn_shape shapes[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}};

static void allocate_shapes(wn_domain *domain) {
  wn_ref blocks[4];
  WN_SCOPE(domain);
  assert_int_equal(wn_alloc_group(domain, 4, shapes, blocks), WN_OK);
  for (size_t i = 0; i < 4; i++) assert_int_equal(wn_words(wn_value_of(blocks[i])), i + 1);
}

static void a_group_whose_second_block_raises_is_whole_and_the_others_are_tracked(void **state) { /* M24 */
  struct tracked all;
  (void)state;
  open_raising(&all, 0);
  allocate_shapes(all.of.domain);
  wn_poll(all.of.domain);
  assert_int_equal(all.allocs_minor, 4);
  raises_left = 1;
  allocate_shapes(all.of.domain);
  wn_poll(all.of.domain);
  assert_int_equal(all.allocs_minor, 5);
  expect_exception(&all, 1);
  wn_poll(all.of.domain);
  assert_int_equal(all.allocs_minor, 8);
  wn_gc_minor(all.of.domain);
  assert_int_equal(all.deallocs_minor, 7);
  tracked_close(&all);
}

/* At the second block of a group: */
enum { STOP = 1, START = 2, DISCARD = 4 };
static int then;
static struct tracked later;

static void *do_at_second(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct tracked *all = context;
  void *metadata = tracked_alloc_minor(domain, allocation, all);
  if (allocation->size != 2) return metadata;
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  if (then & DISCARD) assert_int_equal(wn_memprof_discard(all->profile), WN_OK);
  if (then & START) tracked_start(&later, 1);
  return metadata;
}

static void run_in_group(struct tracked *all, int what) {
  tracked_open_heap(all);
  all->tracker.alloc_minor = do_at_second;
  later = *all;
  later.tracker.alloc_minor = tracked_alloc_minor;
  later.tracker.context = &later;
  then = what;
  tracked_start(all, 1);
  allocate_shapes(all->of.domain);
  wn_poll(all->of.domain);
  assert_int_equal(all->allocs_minor, 2);
  assert_int_equal(later.allocs_minor, 0);
  allocate_shapes(all->of.domain);
  wn_gc_minor(all->of.domain);
  assert_int_equal(all->allocs_minor, 2);
  assert_int_equal(later.allocs_minor, what & START ? 4 : 0);
  assert_int_equal(later.deallocs_minor, what & START ? 4 : 0);
}

static void stop_in_the_middle_of_a_group_keeps_what_was_told_and_drops_the_rest(void **state) {
  /* M51, M52 */
  struct tracked all;
  (void)state;
  for (int what = STOP; what <= (STOP | START); what += START) {
    run_in_group(&all, what);
    assert_int_equal(all.deallocs_minor, 2);
    wn_memprof_count count = counts_of(all.profile);
    assert_int_equal(count.allocs_minor, 4);
    assert_int_equal(count.dropped_minor, 2);
    if (what & START) {
      tracked_check(&later);
      assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
      assert_int_equal(wn_memprof_discard(later.profile), WN_OK);
    }
    tracked_close(&all);
  }
}

static void discard_in_the_middle_of_a_group_ends_all_calls(void **state) { /* M53 */
  struct tracked all;
  (void)state;
  for (int what = STOP | DISCARD; what <= (STOP | DISCARD | START); what += START) {
    run_in_group(&all, what);
    assert_int_equal(all.deallocs_minor, 0);
    if (what & START) {
      assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
      assert_int_equal(wn_memprof_discard(later.profile), WN_OK);
    }
    journal_close(&all.of);
  }
}

/* Births are told by their sizes, promotions by 100 more, deaths by the negative. The birth of the block of
 * 4 words collects. */
static void *write_size_and_collect(wn_domain *domain, const wn_allocation *allocation, void *context) {
  journal_write(&((struct tracked *)context)->of, (long)allocation->size);
  if (allocation->size == 4) assert_int_equal(wn_gc_minor(domain), WN_OK);
  return (void *)allocation->size;
}
static void *write_promotion(wn_domain *domain, void *size, void *context) {
  (void)domain;
  journal_write(&((struct tracked *)context)->of, 100 + (long)size);
  return size;
}
static void write_death(wn_domain *domain, void *size, void *context) {
  (void)domain;
  journal_write(&((struct tracked *)context)->of, -(long)size);
}

/* A block of 9 words is dead when the birth collects, and the blocks of the group live or not. */
static void tell_a_group_whose_first_birth_collects(struct tracked *all, bool lives) {
  const wn_shape pair[] = {{4, 0}, {7, 1}};
  wn_ref blocks[2];
  tracked_open_heap(all);
  all->tracker.alloc_minor = write_size_and_collect;
  all->tracker.promote = write_promotion;
  all->tracker.dealloc_minor = write_death;
  tracked_start(all, 1);
  {
    WN_SCOPE(all->of.domain);
    wn_alloc(all->of.domain, 9, 0);
  }
  wn_poll(all->of.domain);
  WN_SCOPE(all->of.domain);
  assert_int_equal(wn_alloc_group(all->of.domain, 2, pair, blocks), WN_OK);
  for (int i = 0; i < 2 && !lives; i++) wn_assign_int(blocks[i], 0);
  wn_poll(all->of.domain);
}

static void what_a_birth_makes_pending_of_other_blocks_comes_after_all_births(void **state) { /* M35 */
  struct tracked all;
  (void)state;
  tell_a_group_whose_first_birth_collects(&all, true);
  ASSERT_JOURNAL(&all.of, 9, 4, 104, 7, 107, -9);
  tracked_close(&all);
  tell_a_group_whose_first_birth_collects(&all, false);
  ASSERT_JOURNAL(&all.of, 9, 4, -4, 7, -7, -9);
  tracked_close(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_callback_that_raises_ends_its_block_and_leaves_the_rest_due),
      cmocka_unit_test(a_promotion_that_raises_ends_its_block),
      cmocka_unit_test(a_death_that_raises_is_a_death),
      cmocka_unit_test(stop_is_refused_while_an_exception_is_pending),
      cmocka_unit_test(a_tracker_that_always_raises_comes_to_an_end),
      cmocka_unit_test(the_hook_gets_the_exception_at_the_safepoint_and_may_leave_by_a_jump),
      cmocka_unit_test(an_allocation_never_leaves_by_the_hook),
      cmocka_unit_test(a_group_whose_second_block_raises_is_whole_and_the_others_are_tracked),
      cmocka_unit_test(stop_in_the_middle_of_a_group_keeps_what_was_told_and_drops_the_rest),
      cmocka_unit_test(discard_in_the_middle_of_a_group_ends_all_calls),
      cmocka_unit_test(what_a_birth_makes_pending_of_other_blocks_comes_after_all_births),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
