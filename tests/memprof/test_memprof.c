/* The engine over the toy heap: the life of a block, threads, domains, and the law. */
#include "memprof/room.h"

/* ---- one block ---- */

static void a_block_that_dies_young_is_born_and_freed(void **state) { /* B1, B3 */
  (void)state;
  struct room *room = room_open(1);
  toy_kill(room->heap, born(room, 2));
  minor(room);
  assert_log(room, "ad");
  assert_true(counts_of(room->log.profile).dealloc_minor == 1);
  room_close(room);
}

static void a_block_that_lives_is_promoted_moved_and_freed(void **state) { /* S9, B3 */
  (void)state;
  struct room *room = room_open(1);
  int number = born(room, 2);
  minor(room);
  major(room);
  major(room);
  assert_log(room, "ap");
  toy_kill(room->heap, number);
  major(room);
  assert_log(room, "apD");
  room_close(room);
}

static void a_large_block_is_born_major(void **state) { /* S7, B1 */
  (void)state;
  struct room *room = room_open(1);
  int number = born(room, 1000);
  minor(room);
  toy_kill(room->heap, number);
  major(room);
  assert_log(room, "AD");
  assert_int_equal(room->log.last.size, 1000);
  assert_int_equal(room->log.last.trials, 1001);
  assert_int_equal(room->log.last.n_samples, 1001);
  assert_int_equal(room->heap->captured_depth, 7);
  room_close(room);
}

static void callbacks_that_are_late_still_come_in_order_and_once(void **state) { /* B2 */
  (void)state;
  struct room *room = room_open(1);
  int number = toy_alloc(room->domain, 2);
  toy_minor(room->domain);
  toy_kill(room->heap, number);
  toy_major(room->heap, &room->domain, 1);
  assert_log(room, "");
  memprof_check(&room->heap->engine);
  wn_memprof_drain(room->domain);
  wn_memprof_drain(room->domain);
  assert_log(room, "apD");
  room_close(room);
}

static void due_callbacks_wake_the_owner_and_are_visible(void **state) {
  (void)state;
  struct room *room = room_open(1);
  assert_false(memprof_is_due(&room->domain->current->memprof));
  toy_alloc(room->domain, 2);
  assert_true(memprof_is_due(&room->domain->current->memprof));
  wn_memprof_drain(room->domain);
  assert_int_equal(room->domain->woken, 0);
  toy_minor(room->domain);
  assert_int_equal(room->domain->woken, 1);
  assert_true(memprof_is_due(&room->domain->current->memprof));
  room_close(room);
}

static void null_from_a_callback_ends_the_tracking(void **state) { /* B5 */
  (void)state;
  const char letters[] = "aAp", *logs[] = {"a", "A", "ap"};
  for (int i = 0; i < 3; i++) {
    struct room *room = room_open(1);
    room->log.null_at = letters[i];
    int number = born(room, letters[i] == 'A' ? 1000 : 2);
    minor(room);
    toy_kill(room->heap, number);
    major(room);
    assert_log(room, logs[i]);
    wn_memprof_count count = counts_of(room->log.profile);
    assert_true(count.dropped_minor + count.dropped_major == 1);
    assert_int_equal(memprof_usage(&room->heap->engine).entries, 0);
    room_close(room);
  }
}

static void a_missing_callback_is_the_null_trackers(void **state) { /* B6 */
  (void)state;
  for (int missing = 0; missing < 5; missing++) {
    struct toy_heap *heap = toy_open(100);
    wn_domain *domain = toy_domain(heap, NULL);
    struct log log = {0};
    wn_tracker tracker = log_tracker(&log);
    if (missing == 0) tracker.alloc_minor = NULL;
    if (missing == 1) tracker.alloc_major = NULL;
    if (missing == 2) tracker.promote = NULL;
    if (missing == 3) tracker.dealloc_minor = NULL;
    if (missing == 4) tracker.dealloc_major = NULL;
    wn_memprof_options options = {.sampling_rate = 1};
    assert_int_equal(wn_memprof_start(domain, &options, &tracker, &log.profile), WN_OK);
    int blocks[] = {toy_alloc(domain, 2), toy_alloc(domain, 2), toy_alloc(domain, 1000)};
    wn_memprof_drain(domain);
    toy_kill(heap, blocks[0]);
    toy_minor(domain);
    wn_memprof_drain(domain);
    toy_kill(heap, blocks[1]);
    toy_kill(heap, blocks[2]);
    toy_major(heap, &domain, 1);
    wn_memprof_drain(domain);
    const char *logs[] = {"AD", "aadpD", "aaAdxD", "aaAxpDD", "aaAdpxx"};
    assert_string_equal(log.text, logs[missing]);
    counts_of(log.profile);
    assert_int_equal(log.outstanding, 0); /* what no callback takes is dropped */
    assert_int_equal(memprof_usage(&heap->engine).entries, 0);
    toy_domain_end(domain);
    toy_close(heap);
  }
}

static void a_resized_block_keeps_its_identity(void **state) { /* B8 */
  (void)state;
  struct room *room = room_open(1);
  struct memprof_thread *thread = &room->domain->current->memprof;
  struct memprof_entry *entry = toy_alloc_entry(room->domain, 1000, WN_SOURCE_NORMAL);
  memprof_resized(thread, entry, 0, 4000, 1001, 1001);
  wn_memprof_drain(room->domain);
  assert_log(room, "A"); /* announced with its new size at once */
  assert_int_equal(room->log.last.size, 500);
  memprof_resized(thread, entry, 0, 16000, 2001, 2001);
  memprof_freed(thread, entry);
  wn_memprof_drain(room->domain);
  assert_log(room, "ArD");
  assert_int_equal(room->log.last.previous_bytes, 4000);
  assert_int_equal(room->log.last.bytes, 16000);
  room_close(room);
}

static void a_young_block_may_be_resized(void **state) { /* B8 */
  (void)state;
  struct room *room = room_open(1);
  struct memprof_entry *entry = toy_alloc_entry(room->domain, 2, WN_SOURCE_NORMAL);
  wn_memprof_drain(room->domain);
  memprof_resized(&room->domain->current->memprof, entry, room->heap->blocks[0].address, 32, 5, 5);
  wn_memprof_drain(room->domain);
  assert_log(room, "ar");
  assert_int_equal(room->log.last.size, 4);
  minor(room);
  assert_log(room, "arp");
  room_close(room);
}

/* `promoted`: and told of nothing before it is dead. */
static void a_young_block_that_was_resized_and_died_is_told_of_in_order(void **state) { /* B8 */
  (void)state;
  for (int promoted = 0; promoted < 2; promoted++) {
    struct room *room = room_open(1);
    struct memprof_entry *entry = toy_alloc_entry(room->domain, 2, WN_SOURCE_NORMAL);
    wn_memprof_drain(room->domain);
    memprof_resized(&room->domain->current->memprof, entry, room->heap->blocks[0].address, 32, 5, 5);
    if (promoted) toy_minor(room->domain);
    toy_kill(room->heap, 0);
    if (promoted)
      toy_major(room->heap, &room->domain, 1);
    else
      toy_minor(room->domain);
    assert_log(room, "a");
    wn_memprof_drain(room->domain);
    assert_log(room, promoted ? "aprD" : "ad");
    room_close(room);
  }
}

/* ---- threads and domains ---- */

static void a_thread_that_ends_runs_its_callbacks_first(void **state) { /* T9 */
  (void)state;
  struct room *room = room_open(1);
  struct toy_thread *first = room->domain->current, *second = toy_thread(room->domain);
  toy_switch(room->domain, second);
  toy_alloc(room->domain, 2);
  toy_thread_end(second);
  toy_switch(room->domain, first);
  assert_log(room, "a");
  minor(room);
  assert_log(room, "ap");
  room_close(room);
}

static void what_an_ending_thread_cannot_run_is_dropped(void **state) { /* T10 */
  (void)state;
  struct room *room = room_open(1);
  struct toy_thread *first = room->domain->current, *second = toy_thread(room->domain);
  toy_switch(room->domain, second);
  toy_alloc(room->domain, 2);
  wn_raise(room->domain, (wn_ref){0});
  toy_thread_end(second);
  toy_switch(room->domain, first);
  assert_log(room, "");
  assert_true(counts_of(room->log.profile).dropped_minor == 1);
  room_close(room);
}

static jmp_buf out_of_callback;
static void act_leave(struct log *log, wn_domain *domain) {
  (void)domain;
  log->act = NULL;
  log->nested = 0;
  longjmp(out_of_callback, 1);
}

static void leave_inside(struct room *room, char letter) {
  room->log.act_at = letter;
  room->log.act = act_leave;
  if (setjmp(out_of_callback)) return;
  int number = born(room, 2);
  if (letter == 'd') toy_kill(room->heap, number);
  minor(room);
  fail_msg("the callback returned");
}

static void thread_ends_inside(char letter) {
  struct room *room = room_open(1);
  struct toy_thread *first = room->domain->current, *second = toy_thread(room->domain);
  toy_switch(room->domain, second);
  leave_inside(room, letter);
  toy_thread_end(second);
  toy_switch(room->domain, first);
  memprof_check(&room->heap->engine);
  toy_kill(room->heap, born(room, 2));
  minor(room);
  wn_memprof_count count = counts_of(room->log.profile);
  assert_true(count.live_minor + count.live_major == 0);
  room_close(room);
}

static void a_thread_may_end_inside_a_callback(void **state) { /* T11 */
  (void)state;
  thread_ends_inside('a');
  thread_ends_inside('p');
  thread_ends_inside('d');
}

static void the_owner_runs_callbacks_on_any_of_its_threads_but_births_on_their_own(void **state) { /* T2 */
  (void)state;
  struct room *room = room_open(1);
  struct toy_thread *first = room->domain->current, *second = toy_thread(room->domain);
  born(room, 2);
  toy_alloc(room->domain, 2);
  toy_minor(room->domain);
  toy_switch(room->domain, second);
  wn_memprof_drain(room->domain);
  assert_log(room, "ap");
  toy_switch(room->domain, first);
  wn_memprof_drain(room->domain);
  assert_log(room, "apap");
  toy_thread_end(second);
  room_close(room);
}

static void children_join_the_profile_and_others_do_not(void **state) { /* T7, T8 */
  (void)state;
  struct room *room = room_open(1);
  wn_domain *child = toy_domain(room->heap, room->domain), *stranger = toy_domain(room->heap, NULL);
  assert_true(wn_memprof_is_sampling(child));
  assert_false(wn_memprof_is_sampling(stranger));
  toy_alloc(stranger, 2);
  assert_false(memprof_is_due(&stranger->current->memprof));
  assert_int_equal(wn_memprof_join(stranger, room->log.profile), WN_OK);
  assert_int_equal(wn_memprof_join(stranger, room->log.profile), WN_ESTATE);
  toy_alloc(stranger, 2);
  toy_alloc(child, 2);
  wn_memprof_drain(stranger);
  wn_memprof_drain(child);
  assert_log(room, "aa");
  assert_int_equal(wn_memprof_leave(stranger), WN_OK);
  toy_alloc(stranger, 2);
  wn_memprof_drain(stranger);
  assert_log(room, "aa");
  assert_int_equal(wn_memprof_stop(child), WN_OK);
  assert_false(wn_memprof_is_sampling(room->domain));
  toy_domain_end(child);
  toy_domain_end(stranger);
  room_close(room);
}

static void a_profile_of_another_heap_cannot_be_joined(void **state) { /* T8 */
  (void)state;
  struct room *room = room_open(1);
  struct toy_heap *heap = toy_open(10);
  wn_domain *domain = toy_domain(heap, NULL);
  assert_int_equal(wn_memprof_join(domain, room->log.profile), WN_EINVAL);
  toy_domain_end(domain);
  toy_close(heap);
  room_close(room);
}

static void a_profile_stops_when_its_last_domain_ends_or_leaves(void **state) { /* L9 */
  (void)state;
  struct toy_heap *heap = toy_open(100);
  wn_domain *keeper = toy_domain(heap, NULL), *parent = toy_domain(heap, NULL);
  struct log log = {0};
  assert_int_equal(log_start(&log, parent, 1), WN_OK);
  wn_domain *child = toy_domain(heap, parent);
  toy_domain_end(parent);
  assert_int_equal(wn_memprof_discard(log.profile), WN_ESTATE);
  toy_domain_end(child);
  assert_int_equal(wn_memprof_join(keeper, log.profile), WN_ESTATE);
  assert_int_equal(wn_memprof_discard(log.profile), WN_OK);
  assert_int_equal(log_start(&log, keeper, 1), WN_OK);
  assert_int_equal(wn_memprof_leave(keeper), WN_OK);
  assert_int_equal(wn_memprof_discard(log.profile), WN_OK);
  toy_domain_end(keeper);
  toy_close(heap);
}

static void orphans_are_adopted_by_the_first_domain_that_scans(void **state) { /* T12 */
  (void)state;
  struct room *room = room_open(1);
  wn_domain *child = toy_domain(room->heap, room->domain);
  int number = toy_alloc(child, 2);
  wn_memprof_drain(child);
  toy_domain_end(child); /* its promotion is run by its ending thread */
  assert_log(room, "ap");
  toy_kill(room->heap, number);
  major(room);
  assert_log(room, "apD");
  room_close(room);
}

static void orphans_of_a_discarded_profile_are_forgotten(void **state) { /* L10 */
  (void)state;
  struct room *room = room_open(1);
  wn_domain *child = toy_domain(room->heap, room->domain);
  toy_alloc(child, 2);
  wn_memprof_drain(child);
  toy_domain_end(child);
  wn_memprof_stop(room->domain);
  assert_int_equal(wn_memprof_discard(room->log.profile), WN_OK);
  assert_log(room, "apxR");
  wn_memprof_drain(room->domain);
  assert_int_equal(memprof_usage(&room->heap->engine).entries, 0);
  room_close(room);
}

/* ---- the law, through the engine ---- */

static void rate_one_tracks_every_word_and_rate_zero_none(void **state) { /* S5, S6 */
  (void)state;
  struct room *room = room_open(1);
  size_t words = 0;
  for (size_t size = 0; size < 600; size += 7) {
    born(room, size);
    words += size + 1;
  }
  assert_true(room->log.samples == words && room->log.words == words);
  room_close(room);
  room = room_open(0);
  for (size_t size = 0; size < 600; size += 7) born(room, size);
  assert_log(room, "");
  assert_true(wn_memprof_is_sampling(room->domain));
  room_close(room);
}

static uint64_t samples_with(uint64_t seed, int threads) {
  struct toy_heap *heap = toy_open(TOY_BLOCKS);
  wn_domain *domain = toy_domain(heap, NULL);
  struct log log = {0};
  wn_memprof_options options = {.sampling_rate = 0.01, .seed = seed};
  wn_tracker tracker = log_tracker(&log);
  struct toy_thread *idle = domain->current;
  if (threads) toy_switch(domain, toy_thread(domain));
  wn_memprof_start(domain, &options, &tracker, &log.profile);
  uint64_t hash = 0;
  for (int i = 0; i < 1000; i++) {
    toy_alloc(domain, 10);
    wn_memprof_drain(domain);
    hash = hash * 31 + log.samples;
  }
  wn_memprof_stop(domain);
  wn_memprof_discard(log.profile);
  if (threads) toy_thread_end(idle);
  toy_domain_end(domain);
  toy_close(heap);
  return hash;
}

static void a_seed_repeats_the_samples_and_another_or_another_thread_does_not(void **state) { /* S8, M19 */
  (void)state;
  assert_true(samples_with(7, 0) == samples_with(7, 0));
  assert_true(samples_with(7, 0) != samples_with(8, 0));
  assert_true(samples_with(7, 0) != samples_with(7, 1));
}

static void samples_beyond_the_limit_are_counted_as_lost(void **state) { /* S11, M73 */
  (void)state;
  struct toy_heap *heap = toy_open(10);
  wn_domain *domain = toy_domain(heap, NULL);
  struct log log = {0};
  log_start(&log, domain, 1);
  for (int i = 0; i < 15; i++) toy_alloc_entry(domain, 2, WN_SOURCE_NORMAL);
  wn_memprof_drain(domain);
  wn_memprof_count count = counts_of(log.profile);
  assert_true(count.lost == 5 && count.allocs_minor == 10);
  toy_kill(heap, 0);
  toy_minor(domain);
  wn_memprof_drain(domain);
  toy_alloc_entry(domain, 2, WN_SOURCE_NORMAL);
  assert_true(counts_of(log.profile).lost == 5); /* a place is free again */
  toy_domain_end(domain);
  toy_close(heap);
}

static void starting_and_discarding_for_ever_leaves_no_memory(void **state) { /* L11 */
  (void)state;
  struct toy_heap *heap = toy_open(TOY_BLOCKS);
  wn_domain *domain = toy_domain(heap, NULL);
  struct log log = {0};
  size_t mapped = 0;
  int number = -1;
  for (int i = 0; i < 100000; i++) {
    log.length = 0;
    assert_int_equal(log_start(&log, domain, 1), WN_OK);
    number = toy_alloc(domain, i % 2 ? 1000 : 2);
    if (i % 3) wn_memprof_drain(domain);
    assert_int_equal(wn_memprof_stop(domain), WN_OK);
    assert_int_equal(wn_memprof_discard(log.profile), WN_OK);
    heap->blocks[number].used = false; /* no collection ever happens */
    if (i == 100) mapped = memprof_usage(&heap->engine).mapped_bytes;
  }
  struct memprof_usage usage = memprof_usage(&heap->engine);
  assert_true(usage.mapped_bytes == mapped && usage.entries <= 1 && usage.profiles == 0);
  assert_int_equal(log.outstanding, 0);
  toy_domain_end(domain);
  toy_close(heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_that_dies_young_is_born_and_freed),
      cmocka_unit_test(a_block_that_lives_is_promoted_moved_and_freed),
      cmocka_unit_test(a_large_block_is_born_major),
      cmocka_unit_test(callbacks_that_are_late_still_come_in_order_and_once),
      cmocka_unit_test(due_callbacks_wake_the_owner_and_are_visible),
      cmocka_unit_test(null_from_a_callback_ends_the_tracking),
      cmocka_unit_test(a_missing_callback_is_the_null_trackers),
      cmocka_unit_test(a_resized_block_keeps_its_identity),
      cmocka_unit_test(a_young_block_may_be_resized),
      cmocka_unit_test(a_young_block_that_was_resized_and_died_is_told_of_in_order),
      cmocka_unit_test(a_thread_that_ends_runs_its_callbacks_first),
      cmocka_unit_test(what_an_ending_thread_cannot_run_is_dropped),
      cmocka_unit_test(a_thread_may_end_inside_a_callback),
      cmocka_unit_test(the_owner_runs_callbacks_on_any_of_its_threads_but_births_on_their_own),
      cmocka_unit_test(children_join_the_profile_and_others_do_not),
      cmocka_unit_test(a_profile_of_another_heap_cannot_be_joined),
      cmocka_unit_test(a_profile_stops_when_its_last_domain_ends_or_leaves),
      cmocka_unit_test(orphans_are_adopted_by_the_first_domain_that_scans),
      cmocka_unit_test(orphans_of_a_discarded_profile_are_forgotten),
      cmocka_unit_test(rate_one_tracks_every_word_and_rate_zero_none),
      cmocka_unit_test(a_seed_repeats_the_samples_and_another_or_another_thread_does_not),
      cmocka_unit_test(samples_beyond_the_limit_are_counted_as_lost),
      cmocka_unit_test(starting_and_discarding_for_ever_leaves_no_memory),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
