/* Chunks of the major heap that are touched before they are needed, and mappings of large blocks that
 * are idle.
 *
 * The program is linked with `--wrap`: what `meanwhile` does happens in the middle of a touch, as
 * other threads do it where the system delays the thread that touches. */
#include "gc/blocks.h"
#include "gc/domains/domain.h"
#include "gc/store/chunk.h"

#include <string.h>
#include <sys/mman.h>

enum { MANY = 20 * CHUNK_UNITS, RESERVED = 4 * CHUNK_UNITS };

static const struct events silent; /* nobody listens */

static void (*meanwhile)(struct chunks *chunks, char *touched);
static struct chunks under_test;

int __real_madvise(void *begin, size_t size, int advice);
int __wrap_madvise(void *begin, size_t size, int advice);
int __wrap_madvise(void *begin, size_t size, int advice) {
  if (meanwhile && advice != MADV_HUGEPAGE) meanwhile(&under_test, begin);
  return __real_madvise(begin, size, advice);
}

static bool watches_unmapping;
static size_t unmapped_bytes;

int __real_munmap(void *begin, size_t size);
int __wrap_munmap(void *begin, size_t size);
int __wrap_munmap(void *begin, size_t size) {
  if (watches_unmapping) {
    assert_false(lock_is_mine(&under_test.lock));
    unmapped_bytes += size;
  }
  return __real_munmap(begin, size);
}

static struct chunks *many_chunks(void) {
  struct chunks *chunks = &under_test;
  struct chunk *of;
  *chunks = (struct chunks){.limit_bytes = SIZE_MAX, .increment = 15, .huge_pages = true, .events = &silent};
  assert_true(chunks_create(chunks));
  for (int i = 0; i < MANY; i++) {
    char *unit = chunks_take_unit(chunks, true, &of);
    assert_non_null(unit);
    *unit = 1;
  }
  assert_true(chunks_secure(chunks, RESERVED));
  return chunks;
}

/* Resident pages of the chunks that are not taken. */
static size_t resident_fresh_pages(const struct chunks *chunks) {
  enum { PAGES = CHUNK_BYTES / 4096 };
  size_t resident = 0;
  for (size_t i = 0; i < chunks->count; i++) {
    unsigned char pages[PAGES];
    if (chunks->table[i].use != CHUNK_EMPTY) continue;
    assert_int_equal(mincore(chunks->table[i].base, CHUNK_BYTES, pages), 0);
    for (size_t page = 0; page < PAGES; page++) resident += pages[page] & 1;
  }
  return resident;
}

static void half_of_the_reserve_is_touched_ahead(void **state) {
  (void)state;
  struct chunks *chunks = many_chunks();
  size_t free_units = chunks->free_units, touched = 0;
  assert_int_equal(resident_fresh_pages(chunks), 0);
  assert_true(atomic_load(&chunks->cold));
  while (chunks_touch(chunks)) touched++;
  assert_int_equal(touched, RESERVED / 2 / CHUNK_UNITS);
  assert_false(atomic_load(&chunks->cold));
  assert_int_equal(chunks->free_units, free_units);
  size_t resident = resident_fresh_pages(chunks); /* none, if the kernel cannot do it */
  assert_true(!resident || resident == touched * (CHUNK_BYTES / 4096));
  chunks_destroy(chunks);
}

static void what_is_touched_is_taken_first_and_given_back_last(void **state) {
  (void)state;
  struct chunks *chunks = many_chunks();
  struct chunk *of;
  while (chunks_touch(chunks)) {}
  size_t fresh = chunks->fresh_count;
  assert_non_null(chunks_take_unit(chunks, true, &of));
  assert_int_equal(chunks->fresh_count, fresh);
  assert_true(atomic_load(&chunks->mapped_bytes) && fresh);
  assert_true(chunks_secure(chunks, CHUNK_UNITS));
  chunks_trim(chunks, 0);
  assert_int_equal(chunks->fresh_count, 0);
  chunks_destroy(chunks);
}

static bool is_mapped(const char *chunk) {
  unsigned char pages[CHUNK_BYTES / 4096];
  return mincore((void *)(uintptr_t)chunk, CHUNK_BYTES, pages) == 0;
}

static void give_all_units(struct chunks *chunks) {
  for (size_t i = 0; i < chunks->count; i++) {
    struct chunk *chunk = &chunks->table[i];
    for (int unit = 0; unit < CHUNK_UNITS && chunk->use == CHUNK_POOLS; unit++)
      chunks_give_unit(chunks, chunk, chunk->base + (size_t)unit * UNIT_BYTES);
  }
}

static size_t mapped_bytes(struct chunks *chunks) { return atomic_load(&chunks->mapped_bytes); }

static void trim_all(struct chunks *chunks, char *touched) {
  meanwhile = NULL;
  give_all_units(chunks);
  chunks_trim(chunks, 0);
  assert_int_equal(mapped_bytes(chunks), RESERVED * UNIT_BYTES);
  assert_true(chunks_secure(chunks, 0));
  chunks_trim(chunks, 0);
  assert_int_equal(mapped_bytes(chunks), CHUNK_BYTES);
  assert_true(is_mapped(touched));
}

static void all_that_is_empty_goes_back_while_a_chunk_is_touched_but_for_that_chunk(void **state) { /* G28 */
  (void)state;
  struct chunks *chunks = many_chunks();
  meanwhile = trim_all;
  assert_true(chunks_touch(chunks));
  assert_null(meanwhile);
  assert_int_equal(chunks_trim(chunks, 0), CHUNK_BYTES);
  assert_int_equal(mapped_bytes(chunks), 0);
  chunks_destroy(chunks);
}

static struct chunk *taken;

static void take_and_give_touched(struct chunks *chunks, char *touched) {
  meanwhile = NULL;
  char *unit = chunks_take_unit(chunks, true, &taken);
  assert_ptr_equal(unit, touched);
  *unit = 1;
  assert_true(chunks_secure(chunks, 0));
  chunks_give_unit(chunks, taken, unit);
  chunks_trim(chunks, 0);
  assert_true(is_mapped(touched));
}

static void a_chunk_that_was_taken_while_it_is_touched_stays_mapped_when_it_is_empty_again(void **state) {
  (void)state;
  struct chunks *chunks = many_chunks();
  meanwhile = take_and_give_touched;
  assert_true(chunks_touch(chunks));
  assert_null(meanwhile);
  size_t before = mapped_bytes(chunks);
  assert_int_equal(chunks_trim(chunks, 0), CHUNK_BYTES);
  assert_int_equal(mapped_bytes(chunks), before - CHUNK_BYTES);
  chunks_destroy(chunks);
}

static void small_heaps_touch_nothing_ahead(void **state) {
  (void)state;
  struct chunks chunks = {.limit_bytes = SIZE_MAX, .increment = 15, .huge_pages = true, .events = &silent};
  assert_true(chunks_create(&chunks));
  assert_true(chunks_secure(&chunks, RESERVED));
  assert_false(atomic_load(&chunks.cold));
  assert_false(chunks_touch(&chunks));
  chunks_destroy(&chunks);
}

/* ---- idle mappings ---- */

enum { LARGE = CHUNK_BYTES / 2 + 4096 };

static struct chunks *no_chunks(void) {
  under_test = (struct chunks){.limit_bytes = SIZE_MAX, .increment = 15, .events = &silent};
  assert_true(chunks_create(&under_test));
  return &under_test;
}

static size_t used_bytes(struct chunks *chunks) { return atomic_load(&chunks->used_bytes); }

static char *map_large(struct chunks *chunks, size_t bytes, bool fresh) {
  size_t has = bytes;
  bool zeroed;
  char *mapping = chunks_map_large(chunks, &has, false, &zeroed);
  assert_non_null(mapping);
  assert_true(zeroed == fresh && has >= bytes);
  if (zeroed) assert_true(has == bytes && !mapping[0] && !mapping[bytes - 1]);
  memset(mapping, 1, has);
  return mapping;
}

static void idle_bytes_are(struct chunks *chunks, size_t idle) {
  assert_int_equal(chunks->idle_bytes, idle);
  assert_int_equal(mapped_bytes(chunks), used_bytes(chunks) + chunks->free_units * UNIT_BYTES + idle);
}

static void a_mapping_is_used_again_for_a_block_that_fills_most_of_it(void **state) { /* G31b */
  (void)state;
  struct chunks *chunks = no_chunks();
  char *one = map_large(chunks, LARGE, true), *other = map_large(chunks, 2 * LARGE, true);
  chunks_unmap_large(chunks, one, LARGE);
  chunks_unmap_large(chunks, other, 2 * LARGE);
  idle_bytes_are(chunks, 3 * LARGE);
  assert_int_equal(used_bytes(chunks), 0);
  assert_ptr_equal(map_large(chunks, LARGE - LARGE / 10, false), one);
  assert_int_equal(used_bytes(chunks), LARGE);
  idle_bytes_are(chunks, 2 * LARGE);
  map_large(chunks, LARGE, true); /* `other` is twice as large; it goes back, so that less is mapped */
  idle_bytes_are(chunks, 0);
  assert_int_equal(used_bytes(chunks), 2 * LARGE);
  chunks_destroy(chunks);
}

static void what_no_block_needed_goes_back_when_a_cycle_ends(void **state) { /* G31b */
  (void)state;
  enum { COUNT = 3 };
  struct chunks *chunks = no_chunks();
  char *mappings[COUNT];
  for (int i = 0; i < COUNT; i++) mappings[i] = map_large(chunks, LARGE, true);
  for (int i = 0; i < COUNT; i++) chunks_unmap_large(chunks, mappings[i], LARGE);
  chunks_decay(chunks, 0, SIZE_MAX);
  idle_bytes_are(chunks, COUNT * LARGE);
  for (int i = 0; i < COUNT - 1; i++) mappings[i] = map_large(chunks, LARGE, false);
  for (int i = 0; i < COUNT - 1; i++) chunks_unmap_large(chunks, mappings[i], LARGE);
  chunks_decay(chunks, 0, SIZE_MAX);
  idle_bytes_are(chunks, (COUNT - 1) * LARGE);
  chunks_decay(chunks, 0, SIZE_MAX);
  idle_bytes_are(chunks, 0);
  assert_int_equal(mapped_bytes(chunks), 0);
  chunks_destroy(chunks);
}

static void what_the_limit_has_no_room_for_goes_back_when_a_cycle_ends(void **state) { /* G31b */
  (void)state;
  struct chunks *chunks = no_chunks();
  char *one = map_large(chunks, LARGE, true), *other = map_large(chunks, LARGE, true);
  chunks_unmap_large(chunks, one, LARGE);
  chunks_unmap_large(chunks, other, LARGE);
  chunks_decay(chunks, 0, LARGE);
  idle_bytes_are(chunks, LARGE);
  assert_ptr_equal(chunks->idle[0].at, other);
  chunks_decay(chunks, 0, LARGE - 1);
  idle_bytes_are(chunks, 0);
  chunks_destroy(chunks);
}

static void what_goes_back_does_so_in_steps(void **state) { /* G31b */
  (void)state;
  enum { COUNT = 4, BYTES = 16 * CHUNK_BYTES };
  struct chunks *chunks = no_chunks();
  char *mappings[COUNT];
  chunks_decay(chunks, COUNT * BYTES / UNIT_BYTES, SIZE_MAX);
  for (int i = 0; i < COUNT; i++) mappings[i] = map_large(chunks, BYTES, true);
  for (int i = 0; i < COUNT; i++) chunks_unmap_large(chunks, mappings[i], BYTES);
  idle_bytes_are(chunks, COUNT * BYTES);
  chunks_decay(chunks, 0, BYTES);
  for (size_t left = COUNT - 1; left; left--) {
    idle_bytes_are(chunks, left * BYTES);
    assert_true(chunks_secure(chunks, 0));
  }
  idle_bytes_are(chunks, BYTES);
  chunks_destroy(chunks);
}

static void idle_mappings_are_few(void **state) { /* G31b */
  (void)state;
  enum { COUNT = TINY ? 2 * IDLE_MOST : 80 };
  struct chunks *chunks = no_chunks();
  char *mappings[COUNT], *huge = map_large(chunks, IDLE_LARGEST + 4096, true);
  chunks_decay(chunks, 2 * IDLE_LARGEST / UNIT_BYTES, SIZE_MAX);
  chunks_unmap_large(chunks, huge, IDLE_LARGEST + 4096);
  idle_bytes_are(chunks, 0);
  chunks_decay(chunks, 0, SIZE_MAX);
  for (int i = 0; i < COUNT; i++) mappings[i] = map_large(chunks, LARGE, true);
  for (int i = 0; i < COUNT; i++) chunks_unmap_large(chunks, mappings[i], LARGE);
  size_t most = TINY ? (size_t)IDLE_MOST : IDLE_LEAST / LARGE;
  idle_bytes_are(chunks, most * LARGE);
  assert_ptr_equal(chunks->idle[most - 1].at, mappings[COUNT - 1]); /* the newest are left */
  assert_int_equal(chunks_trim(chunks, 0), most * LARGE);
  idle_bytes_are(chunks, 0);
  chunks_destroy(chunks);
}

/* Of the largest blocks, with their heads, two stay. */
static void large_blocks_in_a_row_take_idle_mappings(void **state) { /* G31b */
  (void)state;
  enum { BYTES = 16 * CHUNK_BYTES + 64 + 8 };
  struct chunks *chunks = no_chunks();
  size_t bytes = (BYTES + 4095) / 4096 * 4096;
  char *one = map_large(chunks, bytes, true), *other = map_large(chunks, bytes, true);
  chunks_unmap_large(chunks, one, bytes);
  chunks_unmap_large(chunks, other, bytes);
  idle_bytes_are(chunks, 2 * bytes);
  assert_ptr_equal(map_large(chunks, bytes, false), other);
  assert_ptr_equal(map_large(chunks, bytes, false), one);
  chunks_destroy(chunks);
}

static void a_limit_is_no_reason_to_refuse_what_idle_mappings_leave(void **state) {
  (void)state;
  struct chunks *chunks = no_chunks();
  chunks->limit_bytes = 2 * LARGE + 4096;
  char *one = map_large(chunks, LARGE, true), *other = map_large(chunks, LARGE, true);
  chunks_unmap_large(chunks, one, LARGE);
  chunks_unmap_large(chunks, other, LARGE);
  size_t bytes = 2 * LARGE + 4096;
  bool zeroed;
  assert_non_null(chunks_map_large(chunks, &bytes, false, &zeroed));
  assert_int_equal(mapped_bytes(chunks), bytes);
  assert_null(chunks_map_large(chunks, &bytes, false, &zeroed));
  chunks_destroy(chunks);
}

static void mappings_go_back_while_the_lock_is_free(void **state) {
  (void)state;
  struct chunks *chunks = no_chunks();
  size_t bytes = IDLE_LARGEST + 4096;
  char *huge = map_large(chunks, bytes, true), *one = map_large(chunks, LARGE, true);
  unmapped_bytes = 0;
  watches_unmapping = true;
  chunks_unmap_large(chunks, huge, bytes);
  assert_int_equal(unmapped_bytes, bytes);
  chunks_unmap_large(chunks, one, LARGE);
  one = map_large(chunks, 2 * LARGE, true); /* in place of the idle one */
  assert_int_equal(unmapped_bytes, bytes + LARGE);
  chunks_unmap_large(chunks, one, 2 * LARGE);
  chunks_decay(chunks, 0, 0);
  assert_int_equal(unmapped_bytes, bytes + 3 * LARGE);
  watches_unmapping = false;
  chunks_destroy(chunks);
}

static void drop_large_blocks(wn_domain *domain, int count) {
  WN_SCOPE(domain);
  for (int i = 0; i < count; i++) wn_alloc_bytes(domain, LARGE);
}

/* One stays. */
static size_t idle_after_large_blocks(size_t limit_bytes) {
  wn_heap *heap;
  wn_domain *domain;
  wn_heap_options options = without_helpers();
  options.soft_limit_bytes = limit_bytes;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  struct chunks *chunks = &heap->store.chunks;
  {
    WN_SCOPE(domain);
    wn_alloc_bytes(domain, LARGE);
    drop_large_blocks(domain, 4);
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
  }
  size_t idle = chunks->idle_bytes;
  if (limit_bytes) assert_true(used_bytes(chunks) + idle <= limit_bytes);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
  return idle;
}

static void a_heap_with_its_idle_mappings_is_not_beyond_its_limit(void **state) { /* G31b */
  (void)state;
  size_t idle = idle_after_large_blocks(0);
  assert_true(TINY || idle >= 4 * LARGE); /* its small heap may have ended a cycle that needed none */
  idle_after_large_blocks(2 * CHUNK_BYTES);
}

static void a_large_block_in_a_mapping_that_was_used_is_cleared(void **state) { /* G31b */
  (void)state;
  wn_heap *heap;
  wn_domain *domain;
  wn_heap_options options = without_helpers();
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  int again = 0;
  for (int i = 0; i < 5; i++) {
    {
      WN_SCOPE(domain);
      size_t idle = heap->store.chunks.idle_count;
      char *bytes = wn_bytes(wn_alloc_bytes(domain, LARGE));
      again += idle && heap->store.chunks.idle_count == idle - 1;
      for (size_t at = 0; at < LARGE; at++) assert_int_equal(bytes[at], 0);
      memset(bytes, 1, LARGE);
    }
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
  }
  assert_true(TINY || again == 4); /* in a tiny heap most that is idle makes way for chunks */
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(half_of_the_reserve_is_touched_ahead),
      cmocka_unit_test(what_is_touched_is_taken_first_and_given_back_last),
      cmocka_unit_test(all_that_is_empty_goes_back_while_a_chunk_is_touched_but_for_that_chunk),
      cmocka_unit_test(a_chunk_that_was_taken_while_it_is_touched_stays_mapped_when_it_is_empty_again),
      cmocka_unit_test(small_heaps_touch_nothing_ahead),
      cmocka_unit_test(a_mapping_is_used_again_for_a_block_that_fills_most_of_it),
      cmocka_unit_test(what_no_block_needed_goes_back_when_a_cycle_ends),
      cmocka_unit_test(what_the_limit_has_no_room_for_goes_back_when_a_cycle_ends),
      cmocka_unit_test(what_goes_back_does_so_in_steps),
      cmocka_unit_test(idle_mappings_are_few),
      cmocka_unit_test(large_blocks_in_a_row_take_idle_mappings),
      cmocka_unit_test(mappings_go_back_while_the_lock_is_free),
      cmocka_unit_test(a_heap_with_its_idle_mappings_is_not_beyond_its_limit),
      cmocka_unit_test(a_limit_is_no_reason_to_refuse_what_idle_mappings_leave),
      cmocka_unit_test(a_large_block_in_a_mapping_that_was_used_is_cleared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
