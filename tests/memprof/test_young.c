/* Samples of young blocks as rows: what happens when something comes in between that rows are not
 * made for, and discards by another thread at any moment. What rows and entries both promise is in
 * the other tests, which run with either. */
#include "memprof/room.h"

#include "memprof/young.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static size_t rows_of(struct room *room) {
  size_t tables;
  return young_rows(&room->heap->engine, NULL, &tables);
}

/* ---- rows and entries ---- */

static void a_young_sample_is_a_row_and_a_promoted_one_is_not(void **state) {
  (void)state;
  struct room *room = room_open(1);
  toy_alloc(room->domain, 2);
  assert_int_equal(rows_of(room), 1);
  wn_memprof_drain(room->domain);
  assert_int_equal(rows_of(room), 1);
  toy_minor(room->domain);
  assert_int_equal(rows_of(room), 0);
  wn_memprof_drain(room->domain);
  assert_log(room, "ap");
  memprof_check(&room->heap->engine);
  room_close(room);
}

static void more_young_samples_than_a_table_has_room_for_are_told_of_in_order(void **state) {
  (void)state;
  struct room *room = room_open(1);
  for (int i = 0; i < YOUNG_MOST + 9; i++) toy_kill(room->heap, toy_alloc(room->domain, (size_t)(1 + i % 5)));
  memprof_check(&room->heap->engine);
  wn_memprof_drain(room->domain);
  memprof_check(&room->heap->engine);
  assert_true(room->log.alloc_minor == YOUNG_MOST + 9);
  assert_int_equal(room->log.last.size, 1 + (YOUNG_MOST + 8) % 5);
  minor(room);
  assert_int_equal(room->log.outstanding, 0);
  assert_true(counts_of(room->log.profile).dealloc_minor == YOUNG_MOST + 9);
  for (int i = 0; i < 3; i++) toy_kill(room->heap, born(room, 2));
  assert_int_equal(rows_of(room), 3); /* the table is empty and in use again */
  room_close(room);
}

static void a_large_birth_does_not_overtake_a_young_one(void **state) {
  (void)state;
  struct room *room = room_open(1);
  toy_alloc(room->domain, 2);
  toy_alloc(room->domain, 1000);
  toy_alloc(room->domain, 2);
  wn_memprof_drain(room->domain);
  assert_log(room, "aAa");
  room_close(room);
}

static void deaths_and_births_that_wait_together_are_both_told(void **state) {
  (void)state;
  struct room *room = room_open(1);
  toy_kill(room->heap, born(room, 2));
  toy_minor(room->domain);
  toy_kill(room->heap, toy_alloc(room->domain, 2));
  wn_memprof_drain(room->domain);
  assert_log(room, "aad");
  minor(room);
  assert_log(room, "aadd");
  room_close(room);
}

static void a_birth_that_waits_through_a_collection_is_told_before_its_end(void **state) { /* B2 */
  (void)state;
  struct room *room = room_open(1);
  toy_kill(room->heap, toy_alloc(room->domain, 2));
  toy_alloc(room->domain, 2);
  toy_minor(room->domain);
  memprof_check(&room->heap->engine);
  wn_memprof_drain(room->domain);
  assert_log(room, "adap");
  room_close(room);
}

/* ---- inside a callback ---- */

static void collect(struct log *log, wn_domain *domain) {
  (void)log;
  toy_minor(domain);
}

static void a_collection_in_the_birth_callback_promotes_its_block_afterwards(void **state) {
  (void)state;
  struct room *room = room_open(1);
  room->log.act_at = 'a';
  room->log.act = collect;
  toy_alloc(room->domain, 2);
  wn_memprof_drain(room->domain);
  assert_log(room, "ap");
  room->log.null_at = 'a';
  toy_alloc(room->domain, 2);
  wn_memprof_drain(room->domain);
  assert_log(room, "apa");
  assert_true(counts_of(room->log.profile).dropped_minor == 1);
  memprof_check(&room->heap->engine);
  room_close(room);
}

static void a_collection_in_the_death_callback_adds_to_what_is_told(void **state) {
  (void)state;
  struct room *room = room_open(1);
  toy_kill(room->heap, born(room, 2));
  toy_kill(room->heap, born(room, 2));
  toy_minor(room->domain);
  toy_kill(room->heap, toy_alloc(room->domain, 2));
  room->log.act_at = 'd';
  room->log.act = collect;
  wn_memprof_drain(room->domain);
  assert_log(room, "aaaddd");
  memprof_check(&room->heap->engine);
  room_close(room);
}

static struct toy_thread *first, *second;

/* The callback's thread sleeps, another one runs and collects. */
static void let_the_second_run(struct log *log, wn_domain *domain) {
  log->act = NULL;
  log->nested--;
  toy_switch(domain, second);
  toy_alloc(domain, 2);
  wn_memprof_drain(domain);
  toy_minor(domain);
  wn_memprof_drain(domain);
  toy_switch(domain, first);
  log->nested++;
}

static void a_birth_callback_that_sleeps_lets_another_thread_use_rows(void **state) {
  (void)state;
  struct room *room = room_open(1);
  first = room->domain->current;
  second = toy_thread(room->domain);
  room->log.act_at = 'a';
  room->log.act = let_the_second_run;
  toy_alloc(room->domain, 2);
  wn_memprof_drain(room->domain);
  assert_log(room, "aapp");
  memprof_check(&room->heap->engine);
  toy_thread_end(second);
  toy_switch(room->domain, first);
  room_close(room);
}

static void a_death_callback_that_sleeps_lets_another_thread_use_rows(void **state) {
  (void)state;
  struct room *room = room_open(1);
  first = room->domain->current;
  second = toy_thread(room->domain);
  toy_kill(room->heap, born(room, 2));
  toy_kill(room->heap, born(room, 2));
  room->log.act_at = 'd';
  room->log.act = let_the_second_run;
  minor(room);
  assert_log(room, "aadadp");
  memprof_check(&room->heap->engine);
  toy_thread_end(second);
  toy_switch(room->domain, first);
  room_close(room);
}

/* The profile stops, and the second thread allocates for the next one, while the first one's
 * callback sleeps. */
static void let_the_second_start_another(struct log *log, wn_domain *domain) {
  static struct log next;
  next = (struct log){0};
  log->act = NULL;
  log->nested--;
  toy_switch(domain, second);
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(log_start(&next, domain, 1), WN_OK);
  toy_alloc(domain, 2);
  wn_memprof_drain(domain);
  assert_string_equal(next.text, "a");
  assert_int_equal(wn_memprof_discard(log->profile), WN_OK);
  assert_null(strchr(log->text, 'R'));
  toy_switch(domain, first);
  log->nested++;
}

static void a_profile_is_released_after_its_callback_of_a_row_has_ended(void **state) { /* L7 */
  (void)state;
  for (const char *at = "ad"; *at; at++) {
    struct room *room = room_open(1);
    first = room->domain->current;
    second = toy_thread(room->domain);
    room->log.act_at = *at;
    room->log.act = let_the_second_start_another;
    toy_kill(room->heap, toy_alloc(room->domain, 2));
    wn_memprof_drain(room->domain);
    minor(room);
    assert_string_equal(room->log.text, *at == 'a' ? "axR" : "adR");
    memprof_check(&room->heap->engine);
    toy_thread_end(second);
    toy_switch(room->domain, first);
    room_close(room);
  }
}

static wn_domain *domain_of_reader;

/* The second thread uses the table as often as it would take to come to any of its rows. */
static void *read_after_others(wn_domain *domain, const wn_allocation *allocation, void *context) {
  static int depth;
  if (depth++) return depth--, context;
  size_t size = allocation->size;
  toy_switch(domain_of_reader, second);
  for (int i = 0; i < 3; i++) {
    toy_kill(domain->heap, toy_alloc(domain, 7));
    wn_memprof_drain(domain);
    toy_minor(domain);
    wn_memprof_drain(domain);
  }
  toy_switch(domain_of_reader, first);
  assert_int_equal(allocation->size, size);
  depth--;
  return context;
}

static void what_a_callback_is_told_lasts_while_it_sleeps(void **state) {
  (void)state;
  int anything;
  struct toy_heap *heap = toy_open(100);
  domain_of_reader = toy_domain(heap, NULL);
  first = domain_of_reader->current;
  second = toy_thread(domain_of_reader);
  const wn_memprof_options options = {.sampling_rate = 1};
  const wn_tracker tracker = {.alloc_minor = read_after_others, .context = &anything};
  wn_profile *profile;
  assert_int_equal(wn_memprof_start(domain_of_reader, &options, &tracker, &profile), WN_OK);
  toy_alloc(domain_of_reader, 2);
  wn_memprof_drain(domain_of_reader);
  toy_thread_end(second);
  toy_switch(domain_of_reader, first);
  toy_domain_end(domain_of_reader);
  toy_close(heap);
}

static void discard_and_start(struct log *log, wn_domain *domain) {
  static struct log next;
  next = (struct log){0};
  log->act = NULL;
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(wn_memprof_discard(log->profile), WN_OK);
  assert_int_equal(log_start(&next, domain, 1), WN_OK);
}

static void a_discard_in_a_callback_of_rows_drops_all_and_releases_once(void **state) {
  (void)state;
  for (const char *at = "ad"; *at; at++) {
    struct room *room = room_open(1);
    toy_kill(room->heap, born(room, 2));
    toy_kill(room->heap, born(room, 2));
    toy_minor(room->domain);
    toy_kill(room->heap, toy_alloc(room->domain, 2));
    toy_kill(room->heap, toy_alloc(room->domain, 2));
    room->log.act_at = *at;
    room->log.act = discard_and_start;
    wn_memprof_drain(room->domain);
    assert_string_equal(room->log.text, *at == 'a' ? "aaaxxxR" : "aaaadxxxR");
    assert_int_equal(room->log.outstanding, 0);
    toy_alloc(room->domain, 2);
    memprof_check(&room->heap->engine);
    room_close(room);
  }
}

/* ---- profiles and owners ---- */

static void rows_of_a_stopped_profile_are_followed_beside_the_next_one(void **state) {
  (void)state;
  struct room *room = room_open(1);
  struct log next = {0};
  int dies = born(room, 2);
  born(room, 2);
  assert_int_equal(wn_memprof_stop(room->domain), WN_OK);
  assert_int_equal(log_start(&next, room->domain, 1), WN_OK);
  born(room, 2);
  memprof_check(&room->heap->engine);
  toy_kill(room->heap, dies);
  minor(room);
  assert_log(room, "aadp");
  assert_string_equal(next.text, "ap");
  room_close(room);
}

static void what_is_left_of_an_owners_rows_is_told_of_by_another(void **state) {
  (void)state;
  struct room *room = room_open(1);
  wn_domain *child = toy_domain(room->heap, room->domain);
  int dies = toy_alloc(child, 2);
  toy_alloc(child, 2);
  wn_memprof_drain(child);
  toy_kill(room->heap, dies);
  toy_domain_end(child);
  memprof_check(&room->heap->engine);
  wn_memprof_drain(room->domain);
  assert_log(room, "aadp");
  room_close(room);
}

static void a_row_that_cannot_become_an_entry_is_dropped(void **state) {
  (void)state;
  struct toy_heap *heap = toy_open(2);
  wn_domain *domain = toy_domain(heap, NULL);
  struct log log = {0};
  log_start(&log, domain, 1);
  for (int i = 0; i < 4; i++) toy_alloc(domain, 2);
  wn_memprof_drain(domain);
  toy_minor(domain);
  memprof_check(&heap->engine);
  wn_memprof_drain(domain);
  assert_string_equal(log.text, "aaaaxxpp");
  assert_true(counts_of(log.profile).dropped_minor == 2);
  memprof_check(&heap->engine);
  toy_domain_end(domain);
  toy_close(heap);
  assert_int_equal(log.outstanding, 0);
}

/* ---- discards by another thread ---- */

enum { HANDLES = 64, ROUNDS = 400, BLOCKS = 12 };

static struct {
  struct memprof engine;
  struct memprof_owner owner;
  struct memprof_thread thread;
  _Atomic(wn_profile *) stopped; /* to be discarded */
  _Atomic(bool) over;
  _Atomic(long) given, taken, released;
} busy;

static void rearm(struct memprof_owner *owner) { (void)owner; }
static const wn_callstack *capture(struct memprof_thread *thread, size_t depth) {
  (void)thread, (void)depth;
  return NULL;
}

/* Metadata is a block of its own: AddressSanitizer sees what comes back twice, or never. */
static void *give(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation, (void)context;
  atomic_fetch_add(&busy.given, 1);
  return malloc(1);
}
static void *pass(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)context;
  return metadata;
}
static void take(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)context;
  atomic_fetch_add(&busy.taken, 1);
  free(metadata);
}
static void take_dropped(void *metadata, void *context) { take(NULL, metadata, context); }
static void released(void *context) {
  (void)context;
  atomic_fetch_add(&busy.released, 1);
}

static void *discard_all(void *argument) {
  while (!atomic_load(&busy.over) || atomic_load(&busy.stopped)) {
    wn_profile *profile = atomic_exchange(&busy.stopped, NULL);
    if (!profile)
      sched_yield();
    else if (wn_memprof_discard(profile))
      abort();
  }
  return argument;
}

static struct memprof_fate third_survives(uintptr_t address, void *context) {
  (void)context;
  return (struct memprof_fate){address % 3 ? MEMPROF_DEAD : MEMPROF_OLD, address};
}

static void allocate_some(unsigned round) {
  for (unsigned i = 0; i < BLOCKS; i++) {
    memprof_born_young(
        &busy.thread,
        &(struct memprof_birth){
            .address = round * BLOCKS + i, .trials = 3, .bytes = 16, .n_samples = 1, .minor = true});
    if (i % (1 + round % 4) == 0) memprof_drain(&busy.thread);
  }
  if (round % 3 == 0) memprof_thread_pauses(&busy.thread);
  memprof_after_minor(&busy.owner, third_survives, NULL);
  if (round % 5) memprof_drain(&busy.thread);
}

static void discards_by_another_thread_find_each_sample_once(void **state) { /* L7 */
  (void)state;
  static const struct memprof_ops ops = {.rearm = rearm, .capture = capture};
  const wn_tracker tracker = {.alloc_minor = give,
                              .promote = pass,
                              .dealloc_minor = take,
                              .dealloc_major = take,
                              .drop = take_dropped,
                              .release = released};
  const wn_memprof_options options = {.sampling_rate = 1};
  long started = 0;
  pthread_t other;
  memprof_open(&busy.engine, &ops, NULL, 1000);
  memprof_owner_create(&busy.owner, &busy.engine, NULL, NULL);
  memprof_thread_attach(&busy.thread, &busy.owner, NULL, NULL);
  assert_int_equal(pthread_create(&other, NULL, discard_all, NULL), 0);
  for (unsigned round = 0; round < ROUNDS; round++) {
    wn_profile *profile;
    assert_int_equal(memprof_start(&busy.thread, &options, &tracker, &profile), WN_OK);
    started++;
    allocate_some(round);
    allocate_some(round + 1);
    assert_int_equal(memprof_stop(&busy.thread), WN_OK);
    while (atomic_load(&busy.stopped)) sched_yield();
    atomic_store(&busy.stopped, profile);
    for (unsigned i = 0; i < round % 7; i++) allocate_some(i); /* not sampled, while it is discarded */
  }
  atomic_store(&busy.over, true);
  pthread_join(other, NULL);
  memprof_check(&busy.engine);
  assert_int_equal(atomic_load(&busy.released), started);
  assert_int_equal(atomic_load(&busy.given), atomic_load(&busy.taken));
  memprof_thread_detach(&busy.thread);
  memprof_owner_end(&busy.owner);
  memprof_close(&busy.engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_young_sample_is_a_row_and_a_promoted_one_is_not),
      cmocka_unit_test(more_young_samples_than_a_table_has_room_for_are_told_of_in_order),
      cmocka_unit_test(a_large_birth_does_not_overtake_a_young_one),
      cmocka_unit_test(deaths_and_births_that_wait_together_are_both_told),
      cmocka_unit_test(a_birth_that_waits_through_a_collection_is_told_before_its_end),
      cmocka_unit_test(a_collection_in_the_birth_callback_promotes_its_block_afterwards),
      cmocka_unit_test(a_collection_in_the_death_callback_adds_to_what_is_told),
      cmocka_unit_test(a_birth_callback_that_sleeps_lets_another_thread_use_rows),
      cmocka_unit_test(a_death_callback_that_sleeps_lets_another_thread_use_rows),
      cmocka_unit_test(a_profile_is_released_after_its_callback_of_a_row_has_ended),
      cmocka_unit_test(what_a_callback_is_told_lasts_while_it_sleeps),
      cmocka_unit_test(a_discard_in_a_callback_of_rows_drops_all_and_releases_once),
      cmocka_unit_test(rows_of_a_stopped_profile_are_followed_beside_the_next_one),
      cmocka_unit_test(what_is_left_of_an_owners_rows_is_told_of_by_another),
      cmocka_unit_test(a_row_that_cannot_become_an_entry_is_dropped),
      cmocka_unit_test(discards_by_another_thread_find_each_sample_once),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
