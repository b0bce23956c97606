/* Profiles that start, stop and are discarded, also from inside callbacks, and callbacks that
 * raise. */
#include "memprof/room.h"

/* ---- profiles ---- */

static void wrong_arguments_are_refused_and_change_nothing(void **state) { /* L1 */
  (void)state;
  struct toy_heap *heap = toy_open(100);
  wn_domain *domain = toy_domain(heap, NULL);
  struct log log = {0};
  wn_tracker tracker = log_tracker(&log);
  wn_profile *profile = (wn_profile *)&log;
  const double rates[] = {-0.1, 1.0000001, -__builtin_inf(), __builtin_inf(), __builtin_nan("")};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    wn_memprof_options options = {.sampling_rate = rates[i]};
    assert_int_equal(wn_memprof_start(domain, &options, &tracker, &profile), WN_EINVAL);
    assert_non_null(strstr(wn_last_error(), "sampling rate"));
  }
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  assert_int_equal(wn_memprof_start(domain, NULL, &tracker, &profile), WN_EINVAL);
  assert_int_equal(wn_memprof_start(domain, &options, NULL, &profile), WN_EINVAL);
  assert_int_equal(wn_memprof_start(domain, &options, &tracker, NULL), WN_EINVAL);
  assert_ptr_equal(profile, &log);
  assert_false(wn_memprof_is_sampling(domain));
  assert_int_equal(wn_memprof_join(domain, NULL), WN_EINVAL);
  assert_int_equal(wn_memprof_discard(NULL), WN_EINVAL);
  assert_int_equal(memprof_usage(&heap->engine).profiles, 0);
  toy_domain_end(domain);
  toy_close(heap);
}

static void the_states_of_a_profile_allow_what_they_should(void **state) { /* L2 */
  (void)state;
  struct room *room = room_open(1);
  wn_profile *first = room->log.profile, *second;
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  wn_tracker tracker = {0};
  assert_int_equal(wn_memprof_start(room->domain, &options, &tracker, &second), WN_ESTATE);
  assert_string_equal(wn_last_error(), "already sampling");
  assert_int_equal(wn_memprof_discard(first), WN_ESTATE);
  assert_true(wn_memprof_is_sampling(room->domain));
  assert_int_equal(wn_memprof_stop(room->domain), WN_OK);
  assert_false(wn_memprof_is_sampling(room->domain));
  assert_int_equal(wn_memprof_stop(room->domain), WN_ESTATE);
  assert_int_equal(wn_memprof_leave(room->domain), WN_ESTATE);
  assert_int_equal(wn_memprof_join(room->domain, first), WN_ESTATE);
  assert_int_equal(wn_memprof_start(room->domain, &options, &tracker, &second), WN_OK);
  assert_int_equal(wn_memprof_discard(first), WN_OK);
  assert_log(room, "R");
  assert_int_equal(wn_memprof_discard(first), WN_ESTATE);
  assert_int_equal(wn_memprof_stop(room->domain), WN_OK);
  wn_profile *third;
  assert_int_equal(wn_memprof_start(room->domain, &options, &tracker, &third),
                   WN_OK); /* may use first's memory */
  assert_int_equal(wn_memprof_discard(first), WN_ESTATE);
  assert_non_null(strstr(wn_last_error(), "already discarded"));
  wn_memprof_count count;
  wn_memprof_counts(first, &count);
  assert_int_equal(count.allocs_minor, 0);
  assert_int_equal(wn_memprof_discard(second), WN_OK);
  room_close(room);
}

static void stopped_profiles_follow_their_blocks_and_discarded_ones_do_not(void **state) { /* L6 */
  (void)state;
  struct room *room = room_open(1);
  struct log second = {0};
  int block = born(room, 2);
  wn_memprof_stop(room->domain);
  born(room, 2);
  assert_int_equal(log_start(&second, room->domain, 1), WN_OK);
  born(room, 2);
  minor(room);
  assert_log(room, "ap");
  assert_string_equal(second.text, "ap");
  assert_int_equal(wn_memprof_discard(room->log.profile), WN_OK);
  assert_log(room, "apxR");
  toy_kill(room->heap, block);
  major(room);
  assert_log(room, "apxR");
  room_close(room);
  assert_string_equal(second.text, "apxR"); /* by close */
}

static void stop_runs_this_threads_callbacks_and_drops_the_others(void **state) { /* L5 */
  (void)state;
  struct room *room = room_open(1);
  struct toy_thread *first = room->domain->current, *second = toy_thread(room->domain);
  toy_alloc(room->domain, 2);
  toy_switch(room->domain, second);
  toy_alloc(room->domain, 2);
  assert_int_equal(wn_memprof_stop(room->domain), WN_OK);
  assert_log(room, "a");
  toy_switch(room->domain, first);
  wn_memprof_drain(room->domain);
  assert_log(room, "a");
  assert_true(counts_of(room->log.profile).dropped_minor == 1);
  toy_thread_end(second);
  room_close(room);
}

/* ---- inside callbacks ---- */

static void act_stop(struct log *log, wn_domain *domain) {
  log->act = NULL;
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
}
static void act_stop_discard(struct log *log, wn_domain *domain) {
  if (wn_memprof_is_sampling(domain)) wn_memprof_stop(domain);
  log->act = NULL;
  assert_int_equal(wn_memprof_discard(log->profile), WN_OK);
}
static struct log other;
static void act_restart(struct log *log, wn_domain *domain) {
  act_stop_discard(log, domain);
  assert_int_equal(log_start(&other, domain, 1), WN_OK);
}
static void act_allocate(struct log *log, wn_domain *domain) {
  toy_alloc(domain, 3);
  toy_minor(domain);
  assert_int_equal(wn_memprof_drain(domain), WN_OK); /* does nothing here */
  log->act = NULL;
}

/* Two blocks, one callback of the first of which acts; then both live through everything. */
static void act_in_callback(char letter, void (*act)(struct log *, wn_domain *), const char *expected) {
  struct room *room = room_open(1);
  room->log.act_at = letter;
  room->log.act = act;
  size_t words = letter == 'A' || letter == 'D' ? 1000 : 2;
  int first = toy_alloc(room->domain, words), second = toy_alloc(room->domain, words);
  wn_memprof_drain(room->domain);
  if (letter == 'd') toy_kill(room->heap, first);
  minor(room);
  toy_kill(room->heap, first);
  toy_kill(room->heap, second);
  major(room);
  assert_log(room, expected);
  counts_of(room->log.profile);
  room_close(room);
}

static void stop_in_each_callback_keeps_what_is_tracked(void **state) { /* L8 */
  (void)state;
  act_in_callback('a', act_stop, "apD");
  act_in_callback('A', act_stop, "AD");
  act_in_callback('p', act_stop, "aappDD");
  act_in_callback('d', act_stop, "aadpD");
  act_in_callback('D', act_stop, "AADD");
}

static void discard_in_each_callback_drops_its_result_and_all_others(void **state) { /* L7 */
  (void)state;
  act_in_callback('a', act_stop_discard, "axR");
  act_in_callback('A', act_stop_discard, "AxR");
  act_in_callback('p', act_stop_discard, "aapxxR");
  act_in_callback('d', act_stop_discard, "aadxR");
  act_in_callback('D', act_stop_discard, "AADxR");
}

/* Before any collection, and with the profile gone before the block. */
static void discard_in_a_callback_drops_its_result_at_once(void **state) {
  (void)state;
  const struct {
    char letter;
    size_t words;
    const char *expected;
  } cases[] = {{'a', 2, "axR"}, {'A', 1000, "AxR"}, {'p', 2, "aapxxR"}};
  for (int i = 0; i < 3; i++) {
    struct room *room = room_open(1);
    room->log.act_at = cases[i].letter;
    room->log.act = act_stop_discard;
    toy_alloc(room->domain, cases[i].words), toy_alloc(room->domain, cases[i].words);
    wn_memprof_drain(room->domain);
    if (cases[i].letter == 'p') minor(room);
    assert_log(room, cases[i].expected);
    room_close(room);
  }
}

static void a_new_profile_can_start_in_a_callback(void **state) { /* L8 */
  (void)state;
  const char letters[] = "aApdD";
  for (int i = 0; i < 5; i++) {
    memset(&other, 0, sizeof other);
    struct room *room = room_open(1);
    room->log.act_at = letters[i];
    room->log.act = act_restart;
    int number = born(room, letters[i] == 'A' || letters[i] == 'D' ? 1000 : 2);
    if (letters[i] == 'd') toy_kill(room->heap, number);
    minor(room);
    toy_kill(room->heap, number);
    major(room);
    assert_true(wn_memprof_is_sampling(room->domain));
    toy_kill(room->heap, born(room, 2));
    minor(room);
    assert_string_equal(other.text, "ad");
    room_close(room);
  }
}

static void callbacks_allocate_unsampled_and_can_collect(void **state) { /* T3 */
  (void)state;
  act_in_callback('a', act_allocate, "apapDD");
  act_in_callback('p', act_allocate, "aappDD");
}

static void suspension_nests_and_hides_allocations(void **state) { /* T5 */
  (void)state;
  struct room *room = room_open(1);
  struct memprof_thread *thread = &room->domain->current->memprof;
  toy_alloc(room->domain, 2);
  memprof_suspend(thread);
  memprof_suspend(thread);
  born(room, 2);
  memprof_resume(thread);
  born(room, 2);
  assert_true(memprof_suspended(thread));
  assert_log(room, "");
  memprof_resume(thread);
  wn_memprof_drain(room->domain);
  assert_log(room, "a");
  born(room, 2);
  assert_log(room, "aa");
  room_close(room);
}

/* ---- exceptions ---- */

static void act_raise(struct log *log, wn_domain *domain) {
  (void)log;
  wn_raise(domain, (wn_ref){0});
}

static void raising_in(char letter, const char *first, const char *second) {
  struct room *room = room_open(1);
  room->log.act_at = letter;
  room->log.act = act_raise;
  size_t words = letter == 'A' || letter == 'D' ? 1000 : 2;
  int blocks[] = {toy_alloc(room->domain, words), toy_alloc(room->domain, words)};
  if (letter == 'd') toy_kill(room->heap, blocks[0]), toy_kill(room->heap, blocks[1]);
  wn_status status = wn_memprof_drain(room->domain);
  if (letter == 'p' || letter == 'd') {
    toy_minor(room->domain);
    status = wn_memprof_drain(room->domain);
  }
  if (letter == 'D') {
    toy_kill(room->heap, blocks[0]), toy_kill(room->heap, blocks[1]);
    toy_major(room->heap, &room->domain, 1);
    status = wn_memprof_drain(room->domain);
  }
  assert_int_equal(status, WN_EBUSY);
  assert_log(room, first);
  assert_int_equal(wn_memprof_drain(room->domain), WN_EBUSY);
  assert_int_equal(wn_memprof_stop(room->domain), WN_EBUSY);
  assert_true(wn_memprof_is_sampling(room->domain));
  assert_log(room, first);
  wn_take_exception(room->domain);
  assert_int_equal(wn_memprof_drain(room->domain), WN_EBUSY); /* the second block's */
  assert_log(room, second);
  wn_take_exception(room->domain);
  assert_int_equal(wn_memprof_drain(room->domain), WN_OK);
  assert_int_equal(room->log.outstanding, 0);
  assert_true(counts_of(room->log.profile).live_minor + counts_of(room->log.profile).live_major == 0);
  room_close(room);
}

static void a_callback_that_raises_ends_its_block_and_leaves_the_rest_due(void **state) { /* E1 */
  (void)state;
  raising_in('a', "ax", "axax");
  raising_in('A', "Ax", "AxAx");
  raising_in('p', "aapx", "aapxpx");
  raising_in('d', "aad", "aadd");
  raising_in('D', "AAD", "AADD");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_arguments_are_refused_and_change_nothing),
      cmocka_unit_test(the_states_of_a_profile_allow_what_they_should),
      cmocka_unit_test(stopped_profiles_follow_their_blocks_and_discarded_ones_do_not),
      cmocka_unit_test(stop_runs_this_threads_callbacks_and_drops_the_others),
      cmocka_unit_test(stop_in_each_callback_keeps_what_is_tracked),
      cmocka_unit_test(discard_in_each_callback_drops_its_result_and_all_others),
      cmocka_unit_test(discard_in_a_callback_drops_its_result_at_once),
      cmocka_unit_test(a_new_profile_can_start_in_a_callback),
      cmocka_unit_test(callbacks_allocate_unsampled_and_can_collect),
      cmocka_unit_test(suspension_nests_and_hides_allocations),
      cmocka_unit_test(a_callback_that_raises_ends_its_block_and_leaves_the_rest_due),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
