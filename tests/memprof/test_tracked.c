/* The table of old tracked blocks: entries by address, those that leave it, and whose deaths are
 * told. */
#include "memprof/room.h"

#include "base/random.h"
#include "memprof/entry.h"
#include "memprof/tracked.h"
#include <sys/resource.h>

enum { MANY = 3000, ADDRESSES = 1000 };

/* ---- the table alone ---- */

static struct tracked_table table;
static struct memprof_entry entries[MANY];

static uintptr_t address_of(const struct memprof_entry *entry) { return atomic_load(&entry->address); }

static void insert(struct memprof_entry *entry, uintptr_t address) {
  *entry = (struct memprof_entry){0};
  atomic_store(&entry->word, STAGE_MAJOR | ENTRY_OLD);
  atomic_store(&entry->address, address);
  assert_true(tracked_insert(&table, entry));
  assert_true(entry_word(entry) & ENTRY_LINKED);
}

static void fill(size_t count) {
  for (size_t i = 0; i < count; i++) insert(&entries[i], 0x10000 + i % ADDRESSES * 24);
  assert_int_equal(tracked_verify(&table), count);
}

/* Takes the entries of each address, and expects those from `from` on with that address. */
static void take_all(uintptr_t first, size_t from, size_t count) {
  for (size_t at = 0; at < ADDRESSES; at++) {
    uintptr_t address = first + at * 24;
    struct entry_list list = {0};
    size_t found = 0, expected = 0;
    tracked_take(&table, address, &list);
    for (const struct memprof_entry *entry = list.first; entry; entry = entry->next, found++)
      assert_int_equal(address_of(entry), address);
    for (size_t i = from; i < count; i++) expected += address_of(&entries[i]) == address;
    assert_int_equal(found, expected);
  }
  assert_int_equal(tracked_verify(&table), 0);
}

static void entries_are_found_by_their_addresses_however_many_there_are(void **state) {
  (void)state;
  for (size_t count = 0; count <= MANY; count += count / 4 + 1) {
    fill(count);
    take_all(0x10000, 0, count);
  }
  tracked_unmap(&table);
}

static void entries_are_taken_out_one_by_one(void **state) {
  (void)state;
  fill(MANY);
  for (size_t i = 0; i < MANY / 2; i++) assert_true(tracked_remove(&table, &entries[i]));
  for (size_t i = 0; i < MANY / 2; i++) assert_false(tracked_remove(&table, &entries[i]));
  assert_int_equal(tracked_verify(&table), MANY / 2);
  take_all(0x10000, MANY / 2, MANY);
  tracked_unmap(&table);
}

static void no_zombie_enters(void **state) {
  struct memprof_entry *zombie = entries;
  (void)state;
  *zombie = (struct memprof_entry){0};
  atomic_store(&zombie->word, STAGE_ZOMBIE | ENTRY_LINKED | ENTRY_OLD);
  assert_false(tracked_insert(&table, zombie));
  assert_int_equal(tracked_verify(&table), 0);
}

/* Chains become longer instead. */
static void without_memory_for_buckets_nothing_is_lost(void **state) {
  struct rlimit before, none;
  (void)state;
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  none = (struct rlimit){4096, before.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
  for (size_t i = 0; i < MANY; i++) {
    atomic_store(&entries[i].word, STAGE_MAJOR | ENTRY_OLD);
    atomic_store(&entries[i].address, 0x10000 + i % ADDRESSES * 24);
    tracked_insert(&table, &entries[i]);
  }
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  assert_int_equal(tracked_mapped_bytes(&table), 0);
  assert_int_equal(tracked_verify(&table), MANY);
  take_all(0x10000, 0, MANY);
}

static void shift(void *distance, uintptr_t *address) {
  if (*address / 24 % 3) *address += *(uintptr_t *)distance;
}

static void what_moves_is_found_where_it_is(void **state) {
  uintptr_t distance = (uintptr_t)1 << 30;
  struct entry_list moved = {0};
  (void)state;
  fill(MANY);
  tracked_visit(&table, shift, &distance, &moved);
  size_t count = 0;
  for (struct memprof_entry *entry = moved.first, *next; entry; entry = next, count++) {
    next = entry->next;
    assert_true(address_of(entry) >= distance);
    assert_true(tracked_insert(&table, entry));
  }
  assert_in_range(count, MANY / 2, MANY - MANY / 4);
  assert_int_equal(tracked_verify(&table), MANY);
  for (size_t i = 0; i < MANY; i++) assert_true(tracked_remove(&table, &entries[i]));
  tracked_unmap(&table);
}

/* ---- entries that leave it ---- */

static size_t in_use(const struct toy_heap *heap) { return memprof_usage(&heap->engine).entries; }

static size_t tabled(const struct toy_heap *heap) { return tracked_verify(&heap->engine.tracked); }

static void blocks_of_a_discarded_profile_leave_at_once(void **state) { /* M74b */
  (void)state;
  struct room *room = room_open(1);
  for (int i = 0; i < 10; i++) born(room, 1000);
  assert_int_equal(tabled(room->heap), 10);
  assert_int_equal(wn_memprof_stop(room->domain), WN_OK);
  assert_int_equal(wn_memprof_discard(room->log.profile), WN_OK);
  assert_int_equal(tabled(room->heap), 0);
  assert_int_equal(in_use(room->heap), 0);
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
static void a_block_that_the_tracker_lets_go_leaves_at_once(void **state) { /* M74b */
  (void)state;
  for (int ends = 0; ends < 2; ends++) {
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
    assert_int_equal(tabled(heap), 10);
    if (ends) toy_domain_end(domain);
    if (ends) toy_switch(first, first->current);
    wn_memprof_drain(first);
    assert_int_equal(tabled(heap), 0);
    assert_int_equal(in_use(heap), 0);
    toy_domain_end(first);
    toy_close(heap);
  }
}

/* Freed while its dealloc callback cannot run. */
static void a_block_that_is_freed_leaves_at_once(void **state) {
  (void)state;
  struct room *room = room_open(1);
  struct memprof_thread *thread = &room->domain->current->memprof;
  struct memprof_entry *entry = toy_alloc_entry(room->domain, 1000, WN_SOURCE_NORMAL);
  wn_memprof_drain(room->domain);
  memprof_suspend(thread);
  memprof_freed(thread, entry);
  assert_int_equal(tabled(room->heap), 0);
  memprof_found_dead(&room->heap->engine, room->heap->blocks[0].address); /* too late, and no harm */
  memprof_tell(&room->heap->engine, &room->domain->owner);
  memprof_resume(thread);
  assert_true(memprof_drain(thread));
  assert_log(room, "AD");
  room_close(room);
}

static void a_block_that_was_resized_is_found_where_it_is(void **state) {
  (void)state;
  struct room *room = room_open(1);
  struct memprof_entry *entry = toy_alloc_entry(room->domain, 1000, WN_SOURCE_NORMAL);
  uintptr_t before = address_of(entry);
  wn_memprof_drain(room->domain);
  memprof_resized(&room->domain->current->memprof, entry, before + 4096, 16000, 2001, 2001);
  memprof_found_dead(&room->heap->engine, before);
  memprof_tell(&room->heap->engine, &room->domain->owner);
  wn_memprof_drain(room->domain);
  assert_log(room, "Ar");
  memprof_found_dead(&room->heap->engine, before + 4096);
  memprof_tell(&room->heap->engine, &room->domain->owner);
  wn_memprof_drain(room->domain);
  assert_log(room, "ArD");
  room_close(room);
}

/* ---- deaths ---- */

static void a_death_is_told_though_its_address_serves_another_block(void **state) {
  (void)state;
  struct room *room = room_open(1);
  struct memprof *engine = &room->heap->engine;
  int number = born(room, 1000);
  for (int i = 0; i < 5; i++) {
    memprof_found_dead(engine, room->heap->blocks[number].address);
    room->heap->blocks[number].used = false;
    assert_int_equal(born(room, 1000), number);
    memprof_tell(engine, &room->domain->owner);
    wn_memprof_drain(room->domain);
  }
  assert_log(room, "AADADADADAD");
  assert_int_equal(counts_of(room->log.profile).live_major, 1);
  room_close(room);
}

/* A domain may end before a death is told, or before it is found. */
static void deaths_are_told_to_the_domain_that_allocated_or_else_to_another(void **state) {
  (void)state;
  for (int ends = 0; ends < 3; ends++) {
    struct room *room = room_open(1);
    wn_domain *other = toy_domain(room->heap, room->domain);
    int number = toy_alloc(other, 1000);
    wn_memprof_drain(other);
    uintptr_t address = room->heap->blocks[number].address;
    if (ends == 2) toy_domain_end(other);
    memprof_found_dead(&room->heap->engine, address);
    if (ends == 1) toy_domain_end(other);
    memprof_tell(&room->heap->engine, &room->domain->owner);
    wn_memprof_drain(room->domain);
    assert_log(room, ends ? "AD" : "A");
    if (!ends) {
      assert_int_equal(other->woken, 1);
      wn_memprof_drain(other);
      assert_log(room, "AD");
      toy_domain_end(other);
    }
    toy_switch(room->domain, room->domain->current);
    room_close(room);
  }
}

static void a_death_that_is_found_and_not_told_may_be_discarded(void **state) {
  (void)state;
  struct room *room = room_open(1);
  for (int i = 0; i < 4; i++)
    memprof_found_dead(&room->heap->engine, room->heap->blocks[born(room, 1000)].address);
  assert_int_equal(wn_memprof_stop(room->domain), WN_OK);
  assert_int_equal(wn_memprof_discard(room->log.profile), WN_OK);
  assert_log(room, "AAAAxxxxR");
  memprof_tell(&room->heap->engine, &room->domain->owner);
  wn_memprof_drain(room->domain);
  assert_int_equal(in_use(room->heap), 0);
  room_close(room);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_are_found_by_their_addresses_however_many_there_are),
      cmocka_unit_test(entries_are_taken_out_one_by_one),
      cmocka_unit_test(no_zombie_enters),
      cmocka_unit_test(without_memory_for_buckets_nothing_is_lost),
      cmocka_unit_test(what_moves_is_found_where_it_is),
      cmocka_unit_test(blocks_of_a_discarded_profile_leave_at_once),
      cmocka_unit_test(a_block_that_the_tracker_lets_go_leaves_at_once),
      cmocka_unit_test(a_block_that_is_freed_leaves_at_once),
      cmocka_unit_test(a_block_that_was_resized_is_found_where_it_is),
      cmocka_unit_test(a_death_is_told_though_its_address_serves_another_block),
      cmocka_unit_test(deaths_are_told_to_the_domain_that_allocated_or_else_to_another),
      cmocka_unit_test(a_death_that_is_found_and_not_told_may_be_discarded),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
