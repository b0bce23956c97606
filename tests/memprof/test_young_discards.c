/* Samples of young blocks as rows, where a discard by another thread meets their owner half-way, or
 * there is no memory. What one thread does between two steps of another is done here by a callback,
 * or while the table's guard is held. */
#include "memprof/room.h"

#include "memprof/callbacks.h"
#include "memprof/young.h"
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <unistd.h>

static void collect_once(struct log *log, wn_domain *domain) {
  log->act = NULL;
  toy_minor(domain);
}

/* A heap with room for one entry, which a large block has. */
static void open_full(struct room *room) {
  *room = (struct room){.heap = toy_open(1)};
  room->domain = toy_domain(room->heap, NULL);
  log_start(&room->log, room->domain, 1);
  born(room, 1000);
}

static void close_full(struct room *room) {
  memprof_check(&room->heap->engine);
  toy_domain_end(room->domain);
  toy_close(room->heap);
  assert_int_equal(room->log.outstanding, 0);
}

/* ---- no memory ---- */

static void a_birth_whose_callback_collects_counts_once_as_dropped_if_there_is_no_memory(void **state) {
  (void)state;
  struct room room;
  open_full(&room);
  room.log.act_at = 'a';
  room.log.act = collect_once;
  born(&room, 2);
  minor(&room);
  assert_string_equal(room.log.text, "Aax");
  assert_true(counts_of(room.log.profile).dropped_minor == 1);
  assert_true(counts_of(room.log.profile).lost == 1);
  assert_true(memprof_lost(room.log.profile) == 1);
  close_full(&room);
}

static void what_is_lost_to_another_profile_is_due_after_the_next_collection(void **state) {
  (void)state;
  struct room room;
  struct log next = {0};
  open_full(&room);
  born(&room, 2);
  assert_int_equal(wn_memprof_stop(room.domain), WN_OK);
  assert_int_equal(log_start(&next, room.domain, 1), WN_OK);
  toy_alloc(room.domain, 2); /* it needs the table */
  unsigned before = room.domain->woken;
  toy_minor(room.domain);
  assert_true(room.domain->woken > before);
  wn_memprof_drain(room.domain);
  assert_string_equal(room.log.text, "Aax");
  assert_true(counts_of(next.profile).lost == 1);
  close_full(&room);
}

static void an_owner_that_ends_calls_nothing_and_the_next_drops_what_cannot_become_entries(void **state) {
  (void)state;
  struct toy_heap *heap = toy_open(1);
  wn_domain *domain = toy_domain(heap, NULL), *other = toy_domain(heap, domain);
  struct log log = {0}, next = {0};
  log_start(&log, domain, 1);
  for (int i = 0; i < 3; i++) toy_alloc(domain, 2);
  wn_memprof_drain(domain);
  memprof_owner_end(&domain->owner); /* without a collection before; a host may hold a lock */
  assert_string_equal(log.text, "aaa");
  memprof_check(&heap->engine);
  log_start(&next, other, 1);
  toy_alloc(other, 2);
  wn_memprof_drain(other);
  assert_string_equal(log.text, "aaaxx");
  memprof_owner_create(&domain->owner, &heap->engine, NULL, domain);
  memprof_check(&heap->engine);
  toy_domain_end(other);
  toy_domain_end(domain);
  toy_close(heap);
  assert_int_equal(log.outstanding, 0);
}

/* ---- order ---- */

static void births_are_told_before_deaths_and_promotions_that_one_of_them_finds(void **state) { /* M35 */
  (void)state;
  for (int dies = 0; dies < 2; dies++) {
    struct room *room = room_open(1);
    int earlier = born(room, 2);
    toy_alloc(room->domain, 2);
    toy_alloc(room->domain, 2);
    if (dies) toy_kill(room->heap, earlier);
    room->log.act_at = 'a';
    room->log.act = collect_once;
    wn_memprof_drain(room->domain);
    assert_string_equal(room->log.text, dies ? "aapapd" : "aapapp");
    room_close(room);
  }
}

/* ---- a thread that ends ---- */

static jmp_buf ends;

static void drop_and_end(void *metadata, void *context) {
  log_drop(metadata, context);
  longjmp(ends, 1);
}

static void raise_it(struct log *log, wn_domain *domain) {
  (void)log;
  wn_raise(domain, (wn_ref){0});
}

static void a_birth_that_raises_counts_once_though_its_thread_ends_in_drop(void **state) {
  static struct log log;
  const wn_memprof_options options = {.sampling_rate = 1};
  wn_tracker tracker = log_tracker(&log);
  (void)state;
  log = (struct log){.act_at = 'a', .act = raise_it};
  struct toy_heap *heap = toy_open(TOY_BLOCKS);
  wn_domain *domain = toy_domain(heap, NULL);
  tracker.drop = drop_and_end;
  assert_int_equal(wn_memprof_start(domain, &options, &tracker, &log.profile), WN_OK);
  toy_alloc(domain, 2);
  if (!setjmp(ends)) wn_memprof_drain(domain);
  toy_thread_end(domain->current);
  assert_string_equal(log.text, "ax");
  assert_true(counts_of(log.profile).dropped_minor == 1);
  memprof_check(&heap->engine);
  toy_switch(domain, toy_thread(domain));
  toy_domain_end(domain);
  toy_close(heap);
}

/* ---- fates ---- */

static void rearm(struct memprof_owner *owner) { (void)owner; }
static const wn_callstack *capture(struct memprof_thread *thread, size_t depth) {
  (void)thread, (void)depth;
  return NULL;
}
static const struct memprof_ops quiet_ops = {.rearm = rearm, .capture = capture};

static struct memprof_fate stays_young_once(uintptr_t address, void *asked) {
  ++*(int *)asked;
  return (struct memprof_fate){MEMPROF_YOUNG, address + 1};
}

static void *keep(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  return context;
}

static void a_collection_asks_for_a_block_that_stays_young_once(void **state) {
  static struct memprof engine;
  static struct memprof_owner owner;
  static struct memprof_thread thread;
  int asked = 0;
  const wn_tracker tracker = {.alloc_minor = keep, .context = &asked};
  const wn_memprof_options options = {.sampling_rate = 1};
  wn_profile *profile;
  (void)state;
  memprof_open(&engine, &quiet_ops, NULL, 100);
  memprof_owner_create(&owner, &engine, NULL, NULL);
  memprof_thread_attach(&thread, &owner, NULL, NULL);
  assert_int_equal(memprof_start(&thread, &options, &tracker, &profile), WN_OK);
  memprof_born_young(&thread, &(struct memprof_birth){
                                  .address = 100, .trials = 3, .bytes = 16, .n_samples = 1, .minor = true});
  memprof_drain(&thread);
  for (int i = 1; i <= 2; i++) {
    memprof_after_minor(&owner, stays_young_once, &asked);
    assert_int_equal(asked, i);
  }
  memprof_thread_detach(&thread);
  memprof_owner_end(&owner);
  memprof_close(&engine);
}

/* ---- discards ---- */

static wn_domain *to_collect;

static void drop_and_collect(void *metadata, void *context) {
  wn_domain *domain = to_collect;
  log_drop(metadata, context);
  to_collect = NULL;
  if (domain) toy_minor(domain);
}

/* So many rows that they are not forgotten at once. */
static void a_collection_in_the_midst_of_a_discard_finds_no_row_that_is_forgotten(void **state) {
  enum { MANY = 80 };
  struct log log = {0};
  const wn_memprof_options options = {.sampling_rate = 1};
  wn_tracker tracker = log_tracker(&log);
  (void)state;
  struct toy_heap *heap = toy_open(TOY_BLOCKS);
  wn_domain *domain = toy_domain(heap, NULL);
  tracker.drop = drop_and_collect;
  assert_int_equal(wn_memprof_start(domain, &options, &tracker, &log.profile), WN_OK);
  for (int i = 0; i < MANY; i++) toy_alloc(domain, 2);
  wn_memprof_drain(domain);
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  to_collect = domain;
  assert_int_equal(wn_memprof_discard(log.profile), WN_OK);
  wn_memprof_drain(domain);
  assert_int_equal(log.length, 2 * MANY + 1);
  assert_int_equal(log.text[log.length - 1], 'R');
  memprof_check(&heap->engine);
  toy_domain_end(domain);
  toy_close(heap);
}

/* Else its holders could be summed up wrongly, and the profile be free while it is held
 * (profile.h). */
static void no_row_becomes_an_entry_that_holds_a_discarded_profile(void **state) {
  (void)state;
  struct room *room = room_open(1);
  uint64_t handle = (uintptr_t)room->log.profile;
  struct profile *profile = profile_of(handle);
  for (int i = 0; i < 3; i++) born(room, 2);
  assert_int_equal(wn_memprof_stop(room->domain), WN_OK);
  assert_true(profile_advance(handle, PROFILE_STOPPED, PROFILE_DISCARDED)); /* a discard begins */
  uint64_t holders = profile_holders(profile);
  toy_minor(room->domain);
  assert_true(profile_holders(profile) <= holders);
  callbacks_forget_profile(profile);
  profile_release(profile);
  assert_log(room, "aaaxxxR");
  memprof_check(&room->heap->engine);
  room_close(room);
}

enum { RACES = 60 };

static struct race {
  struct memprof engine;
  struct memprof_owner starter_owner, owner;
  struct memprof_thread starter, thread;
  wn_profile *profile;
  long released;
} race;

static void count_release(void *context) { ++*(long *)context; }

static void *bear(void *argument) {
  memprof_born_young(
      &race.thread,
      &(struct memprof_birth){.address = 100, .trials = 3, .bytes = 16, .n_samples = 1, .minor = true});
  return argument;
}
static void *discard_it(void *argument) {
  assert_int_equal(wn_memprof_discard(race.profile), WN_OK);
  return argument;
}

static void await_status(enum profile_status status) {
  while (profile_status((uintptr_t)race.profile) < status) sched_yield();
}

/* The table is nobody's. One thread waits for it to become the profile's, another to forget the
 * profile's rows there. */
static void race_for(struct young_table *table) {
  pthread_t birth, discard;
  young_seize(table);
  pthread_create(&birth, NULL, bear, NULL);
  while (!profile_holders(profile_of((uintptr_t)race.profile))) sched_yield();
  assert_int_equal(memprof_stop(&race.starter), WN_OK);
  pthread_create(&discard, NULL, discard_it, NULL);
  await_status(PROFILE_DISCARDED);
  usleep(200);
  young_release(table);
  pthread_join(discard, NULL);
  pthread_join(birth, NULL);
}

static void attach_second(void) {
  race.owner = (struct memprof_owner){0};
  race.thread = (struct memprof_thread){0};
  memprof_owner_create(&race.owner, &race.engine, &race.starter_owner, NULL);
  memprof_thread_attach(&race.thread, &race.owner, NULL, NULL);
}
static void detach_second(void) {
  memprof_thread_detach(&race.thread);
  memprof_owner_end(&race.owner);
}

static void a_table_does_not_become_a_profiles_that_was_discarded_meanwhile(void **state) {
  const wn_tracker tracker = {.alloc_minor = keep, .context = &race.released, .release = count_release};
  const wn_memprof_options options = {.sampling_rate = 1};
  (void)state;
  memprof_open(&race.engine, &quiet_ops, NULL, 100);
  memprof_owner_create(&race.starter_owner, &race.engine, NULL, NULL);
  memprof_thread_attach(&race.starter, &race.starter_owner, NULL, NULL);
  for (long i = 0; i <= RACES; i++) {
    assert_int_equal(memprof_start(&race.starter, &options, &tracker, &race.profile), WN_OK);
    attach_second();
    if (i) {
      race_for(young_first(&race.engine));
    } else { /* makes the table */
      bear(NULL);
      assert_int_equal(memprof_stop(&race.starter), WN_OK);
      discard_it(NULL);
    }
    assert_int_equal(race.released, i + 1); /* though nothing else happens to the table */
    detach_second();
  }
  memprof_thread_detach(&race.starter);
  memprof_owner_end(&race.starter_owner);
  memprof_close(&race.engine);
}

/* ---- counts ---- */

static struct {
  wn_profile *profile;
  _Atomic(bool) over;
  long asked, wrong;
} census;

static bool are_possible(const wn_memprof_count *counts) {
  const uint64_t most = UINT64_C(1) << 40; /* more ends than births would be far above */
  return counts->live_minor < most && counts->live_major < most && counts->allocs_minor < most;
}

static void *ask(void *argument) {
  uint64_t before = 0;
  while (!atomic_load(&census.over)) {
    wn_memprof_count counts = counts_of(census.profile);
    census.wrong += !are_possible(&counts) || counts.allocs_minor < before;
    before = counts.allocs_minor;
    census.asked++;
  }
  return argument;
}

/* Of a few blocks each time some stay, so that rows become entries, too. */
static uint64_t live_and_die(struct toy_heap *heap, wn_domain *domain, int rounds) {
  uint64_t made = 0;
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < 5; i++) {
      int block = toy_alloc(domain, 2);
      if (i) toy_kill(heap, block);
    }
    made += 5;
    wn_memprof_drain(domain);
    wn_memprof_count counts = counts_of(census.profile);
    assert_true(counts.allocs_minor == made); /* at any time */
    if (round % 3 == 0) toy_minor(domain);
    wn_memprof_drain(domain);
  }
  return made;
}

static void counts_have_never_more_ends_than_births_whoever_asks_meanwhile(void **state) {
  (void)state;
  struct toy_heap *heap = toy_open(5000);
  wn_domain *domain = toy_domain(heap, NULL);
  struct log log = {0};
  pthread_t thread;
  log_start(&log, domain, 1);
  census.profile = log.profile;
  census.asked = census.wrong = 0;
  atomic_store(&census.over, false);
  assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
  uint64_t made = live_and_die(heap, domain, 2000);
  atomic_store(&census.over, true);
  pthread_join(thread, NULL);
  toy_minor(domain);
  wn_memprof_drain(domain);
  wn_memprof_count counts = counts_of(log.profile);
  assert_true(census.asked > 0);
  assert_int_equal(census.wrong, 0);
  assert_true(counts.allocs_minor == made && counts.live_minor == 0);
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(wn_memprof_discard(log.profile), WN_OK);
  memprof_check(&heap->engine);
  toy_domain_end(domain);
  toy_close(heap);
}

static void *refuse(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation, (void)context;
  return NULL;
}

static void a_row_is_counted_before_the_entry_that_it_becomes_can_end(void **state) {
  (void)state;
  struct toy_heap *heap = toy_open(10);
  wn_domain *domain = toy_domain(heap, NULL);
  const wn_memprof_options options = {.sampling_rate = 1};
  const wn_tracker tracker = {.alloc_minor = refuse};
  wn_profile *profile;
  wn_memprof_count counts;
  assert_int_equal(wn_memprof_start(domain, &options, &tracker, &profile), WN_OK);
  toy_alloc(domain, 2);
  memprof_thread_pauses(&domain->current->memprof); /* it becomes an entry */
  wn_memprof_drain(domain);
  profile_counts((uintptr_t)profile, &counts); /* as if between two looks of who asks */
  assert_true(counts.dropped_minor == 1 && counts.allocs_minor == 1);
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(wn_memprof_discard(profile), WN_OK);
  toy_domain_end(domain);
  toy_close(heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_birth_whose_callback_collects_counts_once_as_dropped_if_there_is_no_memory),
      cmocka_unit_test(what_is_lost_to_another_profile_is_due_after_the_next_collection),
      cmocka_unit_test(an_owner_that_ends_calls_nothing_and_the_next_drops_what_cannot_become_entries),
      cmocka_unit_test(births_are_told_before_deaths_and_promotions_that_one_of_them_finds),
      cmocka_unit_test(a_birth_that_raises_counts_once_though_its_thread_ends_in_drop),
      cmocka_unit_test(a_collection_asks_for_a_block_that_stays_young_once),
      cmocka_unit_test(a_collection_in_the_midst_of_a_discard_finds_no_row_that_is_forgotten),
      cmocka_unit_test(no_row_becomes_an_entry_that_holds_a_discarded_profile),
      cmocka_unit_test(a_table_does_not_become_a_profiles_that_was_discarded_meanwhile),
      cmocka_unit_test(counts_have_never_more_ends_than_births_whoever_asks_meanwhile),
      cmocka_unit_test(a_row_is_counted_before_the_entry_that_it_becomes_can_end),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
