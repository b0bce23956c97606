/* Finalisers as callbacks: one at a time, never inside an allocation, and what they raise. */
#include "gc/journal.h"

/* ---- one at a time ---- */

struct turn {
  struct entry before, after;
  bool releases;
};

static void take_turn(wn_domain *domain, wn_ref value, void *context) {
  struct turn *turn = context;
  (void)value;
  journal_write(turn->before.journal, turn->before.line);
  if (turn->releases) wn_gc_finalise_release(domain);
  wn_poll(domain);
  wn_gc_minor(domain);
  journal_write(turn->after.journal, turn->after.line);
}

static void run_turns(struct journal *of, bool releases) {
  struct turn turns[] = {
      {{of, 1}, {of, -1}, releases}, {{of, 2}, {of, -2}, releases}, {{of, 3}, {of, -3}, releases}};
  {
    WN_SCOPE(of->domain);
    for (int i = 0; i < 3; i++)
      assert_int_equal(wn_gc_finalise(of->domain, take_turn, &turns[i], block_of(of->domain, 0)), WN_OK);
  }
  wn_gc_full_major(of->domain);
}

static void while_a_finaliser_runs_the_others_wait(void **state) { /* G40 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  run_turns(&of, false);
  ASSERT_JOURNAL(&of, 3, -3, 2, -2, 1, -1);
  journal_close(&of);
}

static void a_finaliser_that_releases_lets_the_next_start_before_it_ends(void **state) { /* G40 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  run_turns(&of, true);
  ASSERT_JOURNAL(&of, 3, 2, 1, -1, -2, -3);
  wn_gc_finalise_release(of.domain); /* outside a finaliser: nothing */
  of.count = 0;
  run_turns(&of, false);
  ASSERT_JOURNAL(&of, 3, -3, 2, -2, 1, -1);
  journal_close(&of);
}

static void release_block(void *bytes) { (void)bytes; }

/* Every function that allocates, young and old. */
static void allocate_everyhow(wn_domain *domain) {
  static const wn_custom_ops ops = {"test", release_block};
  WN_SCOPE(domain);
  wn_ref blocks[2], number = wn_root(domain, wn_int(1));
  const wn_shape shapes[2] = {{3, 0}, {20, WN_TAG_RAW}};
  assert_false(wn_is_null(wn_alloc(domain, 10, 0)));
  assert_false(wn_is_null(wn_alloc(domain, 1000, 0)));
  assert_false(wn_is_null(wn_alloc_bytes(domain, 100)));
  assert_false(wn_is_null(wn_alloc_bytes(domain, 100000)));
  assert_false(wn_is_null(wn_pair(domain, 0, number, number)));
  assert_int_equal(wn_alloc_group(domain, 2, shapes, blocks), WN_OK);
  assert_false(wn_is_null(wn_alloc_custom(domain, &ops, 8, 1000)));
  wn_value *fields = wn_bump(domain, 1, 0);
  assert_non_null(fields);
  fields[0] = wn_int(0);
  wn_global_free(domain, wn_global_new(domain, number));
}

static void no_finaliser_runs_inside_an_allocation(void **state) { /* G39 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry first = {&of, 1}, last = {&of, 2};
  dead_first(&of, &first);
  dead_last(&of, &last);
  bool seen[2] = {false};
  for (long i = 0; i < 2000000 && !seen[1]; i++) {
    allocate_everyhow(of.domain);
    assert_int_equal(of.count, 0);
    seen[1] = seen[0] && i % 64 == 0;
    seen[0] |= wn_context(of.domain)->pending != 0;
  }
  assert_true(seen[1]);
  for (int i = 0; i < 3000; i++) allocate_everyhow(of.domain);
  assert_int_equal(of.count, 0);
  wn_poll(of.domain);
  assert_true(of.count > 0);
  wn_gc_full_major(of.domain);
  assert_int_equal(of.count, 2);
  journal_close(&of);
}

/* ---- exceptions ---- */

static void raise_number(wn_domain *domain, wn_ref value, void *context) {
  const struct entry *entry = context;
  WN_SCOPE(domain);
  journal_write(entry->journal, entry->line);
  wn_ref exception = wn_alloc(domain, 1, 0);
  wn_set(domain, exception, 0, value);
  wn_raise(domain, exception);
  wn_raise(domain, wn_root(domain, wn_int(0))); /* the first one counts */
  wn_gc_finalise_release(domain);
  assert_int_equal(wn_gc_full_major(domain), WN_EBUSY);
  wn_poll(domain);
}

static void three_with_one_that_raises(struct journal *of, struct entry *entries) {
  WN_SCOPE(of->domain);
  register_first(of, &entries[0], block_of(of->domain, 10));
  assert_int_equal(wn_gc_finalise(of->domain, raise_number, &entries[1], block_of(of->domain, 20)), WN_OK);
  register_first(of, &entries[2], block_of(of->domain, 30));
}

static void an_exception_waits_to_be_taken_and_the_rest_stay_queued(void **state) { /* G41 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry entries[] = {{&of, 1}, {&of, 2}, {&of, 3}};
  {
    WN_SCOPE(of.domain);
    assert_true(wn_is_null(wn_take_exception(of.domain)));
    three_with_one_that_raises(&of, entries);
    assert_int_equal(wn_gc_full_major(of.domain), WN_EBUSY);
    ASSERT_JOURNAL(&of, 3, 2);
    wn_poll(of.domain);
    assert_int_equal(wn_gc_minor(of.domain), WN_EBUSY);
    assert_int_equal(wn_gc_major(of.domain), WN_EBUSY);
    assert_int_equal(wn_gc_compact(of.domain), WN_EBUSY);
    wn_gc_major_slice(of.domain, 0);
    ASSERT_JOURNAL(&of, 3, 2);
    for (int i = 0; i < 100000; i++) {
      WN_SCOPE(of.domain);
      block_of(of.domain, i);
    }
    wn_ref exception = wn_take_exception(of.domain);
    assert_int_equal(number_of(wn_get(of.domain, exception, 0)), 20);
    assert_true(wn_is_null(wn_take_exception(of.domain)));
    ASSERT_JOURNAL(&of, 3, 2);
    wn_poll(of.domain);
    ASSERT_JOURNAL(&of, 3, 2, 1);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  }
  journal_close(&of);
}

struct catcher {
  jmp_buf out;
  wn_scope scope;
  intptr_t caught;
  int times;
  bool returns;
};

static void leave_by_longjmp(wn_domain *domain, wn_ref exception, void *context) {
  struct catcher *catcher = context;
  catcher->caught = number_of(wn_get(domain, exception, 0));
  catcher->times++;
  if (!catcher->returns) longjmp(catcher->out, 1);
}

static wn_heap_options with_hook(struct catcher *catcher) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.raise = leave_by_longjmp;
  options.hooks.context = catcher;
  return options;
}

static void the_raise_hook_may_leave_the_safepoint(void **state) { /* G41 */
  (void)state;
  static struct catcher catcher;
  static struct journal of;
  catcher = (struct catcher){0};
  wn_heap_options options = with_hook(&catcher);
  journal_open(&of, &options);
  struct entry entries[] = {{&of, 1}, {&of, 2}, {&of, 3}};
  three_with_one_that_raises(&of, entries);
  catcher.scope = wn_scope_enter(of.domain);
  if (!setjmp(catcher.out)) {
    wn_gc_full_major(of.domain);
    fail_msg("%s", "the hook did not leave");
  }
  wn_scope_leave(&catcher.scope);
  assert_int_equal(catcher.caught, 20);
  ASSERT_JOURNAL(&of, 3, 2);
  assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
  wn_poll(of.domain);
  ASSERT_JOURNAL(&of, 3, 2, 1);
  journal_close(&of); /* not inside a callback any more */
}

static void a_raise_hook_that_returns_has_taken_the_exception(void **state) { /* G41 */
  (void)state;
  struct journal of;
  struct catcher catcher = {.returns = true};
  wn_heap_options options = with_hook(&catcher);
  journal_open(&of, &options);
  struct entry entries[] = {{&of, 1}, {&of, 2}, {&of, 3}};
  three_with_one_that_raises(&of, entries);
  assert_int_equal(wn_gc_full_major(of.domain), WN_EBUSY);
  assert_int_equal(catcher.times, 1);
  assert_true(wn_is_null(wn_take_exception(of.domain)));
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  ASSERT_JOURNAL(&of, 3, 2, 1);
  assert_int_equal(catcher.times, 1);
  journal_close(&of);
}

static void release_and_poll(wn_domain *domain, wn_ref value, void *context) {
  struct entry *entry = context;
  (void)value;
  wn_gc_finalise_release(domain);
  wn_poll(domain); /* the one that raises runs in here */
  journal_write(entry->journal, entry->line);
}

static void an_exception_leaves_once_the_outermost_callback_has_returned(void **state) { /* G41 */
  (void)state;
  static struct catcher catcher;
  static struct journal of;
  catcher = (struct catcher){0};
  wn_heap_options options = with_hook(&catcher);
  journal_open(&of, &options);
  struct entry inner = {&of, 1}, outer = {&of, 2};
  {
    WN_SCOPE(of.domain);
    assert_int_equal(wn_gc_finalise(of.domain, raise_number, &inner, block_of(of.domain, 20)), WN_OK);
    assert_int_equal(wn_gc_finalise(of.domain, release_and_poll, &outer, block_of(of.domain, 0)), WN_OK);
  }
  catcher.scope = wn_scope_enter(of.domain);
  if (!setjmp(catcher.out)) {
    wn_gc_full_major(of.domain);
    fail_msg("%s", "the hook did not leave");
  }
  wn_scope_leave(&catcher.scope);
  ASSERT_JOURNAL(&of, 1, 2);
  assert_int_equal(catcher.caught, 20);
  journal_close(&of);
}

/* ---- handles ---- */

static void use_all_slots(wn_domain *domain) {
  while (!wn_is_null(wn_root(domain, wn_int(0)))) {}
}

static void what_needs_a_handle_waits_until_there_is_a_slot_for_it(void **state) { /* H6, G41 */
  (void)state;
  struct journal of;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  check_handles(&options);
  journal_open(&of, &options);
  struct entry entries[] = {{&of, 1}, {&of, 2}, {&of, 3}};
  three_with_one_that_raises(&of, entries);
  {
    WN_SCOPE(of.domain);
    use_all_slots(of.domain);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(of.count, 0);
  }
  wn_poll(of.domain);
  ASSERT_JOURNAL(&of, 3, 2);
  {
    WN_SCOPE(of.domain);
    use_all_slots(of.domain);
    assert_true(wn_is_null(wn_take_exception(of.domain)));
    wn_poll(of.domain);
  }
  {
    WN_SCOPE(of.domain);
    assert_int_equal(number_of(wn_get(of.domain, wn_take_exception(of.domain), 0)), 20);
  }
  wn_poll(of.domain);
  ASSERT_JOURNAL(&of, 3, 2, 1);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(while_a_finaliser_runs_the_others_wait),
      cmocka_unit_test(a_finaliser_that_releases_lets_the_next_start_before_it_ends),
      cmocka_unit_test(no_finaliser_runs_inside_an_allocation),
      cmocka_unit_test(an_exception_waits_to_be_taken_and_the_rest_stay_queued),
      cmocka_unit_test(the_raise_hook_may_leave_the_safepoint),
      cmocka_unit_test(a_raise_hook_that_returns_has_taken_the_exception),
      cmocka_unit_test(an_exception_leaves_once_the_outermost_callback_has_returned),
      cmocka_unit_test(what_needs_a_handle_waits_until_there_is_a_slot_for_it),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
