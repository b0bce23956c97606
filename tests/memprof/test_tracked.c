/* Old tracked blocks: their addresses in pieces, and where there is no room for them. */
#include "memprof/room.h"

#include "memprof/entry.h"
#include "memprof/tracked.h"

enum { SLOTS = 100, MANY = 5 * TRACKED_ROOM + 1 };

static struct slots pieces;
static struct memprof_entry *const nobody = NULL;

static struct tracked_list list_of(uintptr_t from, size_t count) {
  struct tracked_list list = {0};
  for (size_t i = 0; i < count; i++) assert_true(tracked_append(&list, &pieces, nobody, from + i));
  return list;
}

struct wish {
  uintptr_t every, next, asked;
};

/* They are asked for in order: those that stay are the multiples of `every`. */
static bool is_multiple(struct tracked *tracked, void *context) {
  struct wish *wish = context;
  assert_int_equal(tracked->address, wish->next);
  wish->asked++;
  wish->next++;
  return tracked->address % wish->every == 0;
}

static bool is_next_multiple(struct tracked *tracked, void *context) {
  struct wish *wish = context;
  assert_int_equal(tracked->address, wish->next);
  wish->asked++;
  wish->next += wish->every;
  return true;
}

static bool goes(struct tracked *tracked, void *asked) {
  (void)tracked;
  ++*(size_t *)asked;
  return false;
}

static void those_that_stay_close_ranks_in_order(void **state) {
  (void)state;
  slots_open(&pieces, sizeof(struct tracked_piece), SLOTS);
  for (uintptr_t every = 1; every < 5; every++) {
    struct tracked_list list = list_of(0, MANY);
    struct wish wish = {.every = every};
    tracked_filter(&list, &pieces, is_multiple, &wish);
    assert_int_equal(wish.asked, MANY);
    wish = (struct wish){.every = every};
    tracked_filter(&list, &pieces, is_next_multiple, &wish);
    assert_int_equal(wish.asked, (MANY + every - 1) / every);
    assert_true(tracked_append(&list, &pieces, nobody, wish.next));
    wish = (struct wish){.every = every};
    tracked_filter(&list, &pieces, is_next_multiple, &wish);
    assert_int_equal(wish.asked, (MANY + every - 1) / every + 1);
    size_t asked = 0;
    tracked_filter(&list, &pieces, goes, &asked);
    assert_int_equal(asked, wish.asked);
    assert_int_equal(slots_free_count(&pieces), slots_numbered(&pieces) - 1); /* one is kept */
    slots_give(&pieces, list.first, list.first->number);
  }
  slots_close(&pieces);
}

static void lists_that_are_joined_lose_nothing(void **state) {
  (void)state;
  slots_open(&pieces, sizeof(struct tracked_piece), SLOTS);
  for (size_t first = 0; first < 2 * TRACKED_ROOM; first += 1 + TRACKED_ROOM / 3) {
    struct tracked_list list = list_of(0, first), tail = list_of(first, MANY), none = {0};
    tracked_join(&list, &tail);
    tracked_join(&list, &none);
    assert_null(tail.first);
    struct wish wish = {.every = 2};
    tracked_filter(&list, &pieces, is_multiple, &wish);
    assert_int_equal(wish.asked, first + MANY);
    wish = (struct wish){.every = 2};
    tracked_filter(&list, &pieces, is_next_multiple, &wish);
    assert_int_equal(wish.asked, (first + MANY + 1) / 2);
    size_t asked = 0;
    tracked_filter(&list, &pieces, goes, &asked);
    slots_give(&pieces, list.first, list.first->number);
  }
  slots_close(&pieces);
}

static void without_room_for_its_address_a_block_is_followed_to_its_end(void **state) {
  (void)state;
  struct room *room = room_open(1);
  size_t limit = room->heap->engine.pieces.limit;
  room->heap->engine.pieces.limit = 0;
  int small = born(room, 2), large = born(room, 1000), stays = born(room, 2);
  minor(room);
  major(room);
  minor(room);
  toy_kill(room->heap, small);
  major(room);
  assert_int_equal(counts_of(room->log.profile).dealloc_major, 1);
  room->heap->engine.pieces.limit = limit;
  minor(room); /* there is room now */
  assert_non_null(room->domain->owner.old.first);
  assert_null(room->domain->owner.young.first);
  toy_kill(room->heap, large);
  major(room);
  wn_memprof_count count = counts_of(room->log.profile);
  assert_int_equal(count.dealloc_major, 2);
  assert_int_equal(count.promotes, 2);
  assert_int_equal(count.live_major, 1);
  toy_kill(room->heap, stays);
  major(room);
  assert_int_equal(counts_of(room->log.profile).dealloc_major, 3);
  room_close(room);
}

/* What a major collection asked for; everything stays where it is. */
static struct {
  uintptr_t address[64];
  size_t count;
} asked;

static struct memprof_fate stays_old(uintptr_t address, void *unused) {
  (void)unused;
  if (asked.count < 64) asked.address[asked.count++] = address;
  return (struct memprof_fate){MEMPROF_OLD, address};
}

static void collect(struct room *room) {
  asked.count = 0;
  memprof_after_major(&room->domain->owner, stays_old, NULL);
}

static size_t entries(struct room *room) { return memprof_usage(&room->heap->engine).entries; }

static void give_up_the_profile(struct room *room) {
  assert_int_equal(wn_memprof_stop(room->domain), WN_OK);
  assert_int_equal(wn_memprof_discard(room->log.profile), WN_OK);
}

static void blocks_of_a_discarded_profile_leave_at_the_next_collection(void **state) {
  (void)state;
  struct room *room = room_open(1);
  for (int i = 0; i < 10; i++) born(room, 1000);
  give_up_the_profile(room);
  collect(room);
  assert_int_equal(asked.count, 0);
  assert_int_equal(entries(room), 0);
  room_close(room);
}

static void *no_metadata(wn_domain *domain, void *minor, void *context) {
  (void)domain, (void)minor, (void)context;
  return NULL;
}

static void *some_metadata(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  return context;
}

/* Its blocks are let go when they are promoted; the domain may end then. */
static void let_blocks_go(bool ends) {
  struct toy_heap *heap = toy_open(TOY_BLOCKS);
  wn_domain *first = toy_domain(heap, NULL);
  wn_memprof_options options = {.sampling_rate = 1, .callstack_size = 0};
  wn_tracker tracker = {.alloc_minor = some_metadata, .promote = no_metadata, .context = heap};
  wn_profile *profile;
  assert_int_equal(wn_memprof_start(first, &options, &tracker, &profile), WN_OK);
  wn_domain *domain = ends ? toy_domain(heap, first) : first;
  for (int i = 0; i < 10; i++) toy_alloc(domain, 2);
  wn_memprof_drain(domain);
  toy_minor(domain);
  wn_memprof_drain(domain);
  assert_int_equal(memprof_usage(&heap->engine).entries, 10);
  if (ends) toy_domain_end(domain);
  asked.count = 0;
  memprof_after_major(&first->owner, stays_old, NULL);
  assert_int_equal(asked.count, 0);
  assert_int_equal(memprof_usage(&heap->engine).entries, 0);
  toy_domain_end(first);
  toy_close(heap);
}

static void a_block_that_the_tracker_lets_go_leaves_at_the_next_collection(void **state) {
  (void)state;
  let_blocks_go(false);
}

static void also_if_its_domain_has_ended(void **state) {
  (void)state;
  let_blocks_go(true);
}

/* Freed while its dealloc callback cannot run; in between all entries may be looked at for other
 * reasons. */
static void free_one(bool cleaned_between) {
  struct room *room = room_open(1);
  struct memprof_thread *thread = &room->domain->current->memprof;
  struct memprof_entry *entry = toy_alloc_entry(room->domain, 1000, WN_SOURCE_NORMAL);
  struct log second = {0};
  wn_memprof_drain(room->domain);
  memprof_suspend(thread);
  memprof_freed(thread, entry);
  if (cleaned_between) {
    room->domain->owner.discards_seen--; /* as if a profile had been discarded meanwhile */
    assert_int_equal(wn_memprof_stop(room->domain), WN_OK);
    assert_int_equal(log_start(&second, room->domain, 1), WN_OK); /* which cleans */
  }
  collect(room);
  assert_int_equal(asked.count, 0);
  memprof_resume(thread);
  assert_true(memprof_drain(thread));
  assert_int_equal(counts_of(room->log.profile).dealloc_major, 1);
  room_close(room);
  assert_int_equal(second.outstanding, 0);
}

static void a_block_that_was_freed_is_not_asked_for(void **state) {
  (void)state;
  free_one(false);
}

static void nor_after_a_cleaning_in_between(void **state) {
  (void)state;
  free_one(true);
}

static void a_block_that_was_resized_is_asked_for_where_it_is(void **state) {
  (void)state;
  struct room *room = room_open(1);
  struct memprof_entry *entry = toy_alloc_entry(room->domain, 1000, WN_SOURCE_NORMAL);
  uintptr_t before = atomic_load(&entry->address);
  wn_memprof_drain(room->domain);
  memprof_resized(&room->domain->current->memprof, entry, before + 4096, 2000, 16000, 2001, 2001);
  for (int round = 0; round < 2; round++) {
    collect(room);
    assert_int_equal(asked.count, 1);
    assert_int_equal(asked.address[0], before + 4096);
  }
  memprof_resized(&room->domain->current->memprof, entry, before, 1000, 8000, 2001, 2001);
  room_close(room);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(those_that_stay_close_ranks_in_order),
      cmocka_unit_test(lists_that_are_joined_lose_nothing),
      cmocka_unit_test(without_room_for_its_address_a_block_is_followed_to_its_end),
      cmocka_unit_test(blocks_of_a_discarded_profile_leave_at_the_next_collection),
      cmocka_unit_test(a_block_that_the_tracker_lets_go_leaves_at_the_next_collection),
      cmocka_unit_test(also_if_its_domain_has_ended),
      cmocka_unit_test(a_block_that_was_freed_is_not_asked_for),
      cmocka_unit_test(nor_after_a_cleaning_in_between),
      cmocka_unit_test(a_block_that_was_resized_is_asked_for_where_it_is),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
