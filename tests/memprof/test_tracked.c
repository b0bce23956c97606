/* Old tracked blocks: their addresses in pieces, and where there is no room for them. */
#include "memprof/room.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(those_that_stay_close_ranks_in_order),
      cmocka_unit_test(lists_that_are_joined_lose_nothing),
      cmocka_unit_test(without_room_for_its_address_a_block_is_followed_to_its_end),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
