/* The region and its substitute: placement, random models, threads, double frees. */
#include "support/test.h"

#include "base/check.h"
#include "base/metadata.h"
#include "base/random.h"
#include "preload/addresses.h"
#include "preload/region.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static struct region_range range;

static bool inside(const void *address) { return (uintptr_t)address - range.base < range.span; }

static void *allocate(size_t bytes, size_t alignment) {
  bool zeroed;
  struct sampled_place place = region_allocate(bytes, alignment, &zeroed);
  if (place.address && zeroed)
    for (size_t i = 0; i < bytes && i < 100000; i++) assert_int_equal(((char *)place.address)[i], 0);
  if (place.address) assert_ptr_equal(region_find(place.address), place.block);
  return place.address;
}

/* By address, as free and realloc know a block. */
static struct sampled_place place_of(void *block) {
  return (struct sampled_place){block, region_find(block)};
}
static size_t usable(void *block) { return region_usable(place_of(block)); }
static bool is_live(void *block) { return region_is_live(place_of(block)); }
static bool resize(void *block, size_t bytes) { return region_resize(place_of(block), bytes); }
static bool release(void *block) { return region_release(place_of(block)); }

static void every_size_gets_a_block_of_its_own_that_is_large_enough(void **state) {
  (void)state;
  for (size_t bytes = 0; bytes < 200000; bytes = bytes < 20000 ? bytes + 7 : bytes + 1777) {
    char *a = allocate(bytes, 16), *b = allocate(bytes, 16);
    assert_true(a && b && a != b && inside(a) && inside(b));
    assert_true(usable(a) >= bytes);
    memset(a, 1, usable(a));
    memset(b, 2, usable(b));
    for (size_t i = 0; i < bytes; i += 97) assert_int_equal(a[i], 1);
    assert_true(release(a) && release(b));
  }
}

static void every_alignment_up_to_four_mebibytes_is_kept(void **state) {
  (void)state;
  for (size_t alignment = 16; alignment <= (size_t)4 << 20; alignment *= 2)
    for (size_t bytes = 1; bytes < 100000; bytes = bytes * 5 + 3) {
      void *block = allocate(bytes, alignment);
      assert_non_null(block);
      assert_int_equal((uintptr_t)block % alignment, 0);
      memset(block, 3, bytes);
      assert_true(release(block));
    }
}

static void a_second_free_and_a_foreign_pointer_are_noticed(void **state) {
  (void)state;
  for (size_t bytes = 40; bytes < 100000; bytes *= 50) {
    char *block = allocate(bytes, 16);
    assert_true(is_live(block));
    if (bytes > 16000) assert_null(region_find(block + 16));
    assert_null(region_find(block + 8));
    assert_false(release(block + 8));
    assert_true(release(block));
    assert_false(release(block));
    assert_false(is_live(block));
  }
}

static void a_growing_block_seldom_moves(void **state) {
  (void)state;
  size_t bytes = 20000, moves = 0;
  char *block = region_allocate_growing(bytes).address;
  memset(block, 5, bytes);
  for (; bytes < (size_t)40 << 20; bytes += 10000) {
    if (resize(block, bytes + 10000)) continue;
    char *moved = region_allocate_growing(bytes + 10000).address;
    memcpy(moved, block, bytes);
    assert_true(release(block));
    block = moved;
    moves++;
  }
  assert_int_equal(block[12345], 5);
  assert_true(moves < 15);
  assert_true(release(block));
}

/* ---- what is kept of freed runs ---- */

enum { MEBIBYTE = 1 << 20, BLOCKS = 62 };

static size_t resident_of(void *block, size_t bytes) {
  static unsigned char pages[16 * MEBIBYTE / 4096];
  size_t resident = 0;
  assert_int_equal(mincore(block, bytes, pages), 0);
  for (size_t i = 0; i < bytes / 4096; i++) resident += (pages[i] & 1u) * 4096;
  return resident;
}

/* Fills that many blocks of 1 MiB and frees them all. Returns how much of them is resident then. */
static size_t fill_and_free(int count) {
  static void *blocks[BLOCKS];
  size_t resident = 0;
  for (int i = 0; i < count; i++) {
    assert_non_null(blocks[i] = allocate(MEBIBYTE, 16));
    memset(blocks[i], 1, MEBIBYTE);
  }
  for (int i = 0; i < count; i++) assert_true(release(blocks[i]));
  for (int i = 0; i < count; i++) resident += resident_of(blocks[i], MEBIBYTE);
  return resident;
}

/* Until nothing is left that nobody took between two calls. */
static void give_back_all(void) {
  region_give_back_idle();
  region_give_back_idle();
}

static void a_program_that_frees_all_has_little_left(void **state) {
  (void)state;
  give_back_all();
  assert_true(fill_and_free(BLOCKS) <= 2 * MEBIBYTE);
}

static void large_blocks_that_are_taken_again_keep_their_pages(void **state) {
  (void)state;
  const size_t bytes = 16 * MEBIBYTE;
  give_back_all();
  for (int round = 0; round < 4; round++) {
    void *block = allocate(bytes, 16);
    assert_non_null(block);
    if (round >= 2 && !TINY) assert_int_equal(resident_of(block, bytes), bytes);
    memset(block, 1, bytes);
    assert_true(release(block));
  }
}

static void pages_that_nobody_took_for_a_while_go_back(void **state) {
  (void)state;
  for (int round = 0; round < 4; round++) fill_and_free(16);
  if (!TINY) assert_true(fill_and_free(16) > 8 * MEBIBYTE);
  region_give_back_idle();
  if (!TINY) assert_true(fill_and_free(16) > 8 * MEBIBYTE); /* they were taken since */
  region_give_back_idle();
  size_t kept = metadata_bytes();
  region_give_back_idle();
  if (!TINY) assert_true(kept - metadata_bytes() > 8 * MEBIBYTE);
}

static void kept_pages_are_counted_as_our_own(void **state) {
  (void)state;
  give_back_all();
  void *block = allocate(100 * 4096, 16);
  assert_non_null(block);
  memset(block, 1, 100 * 4096);
  size_t before = metadata_bytes();
  assert_true(release(block));
  if (!TINY) assert_int_equal(metadata_bytes() - before, 100 * 4096);
  assert_ptr_equal(allocate(100 * 4096, 16), block);
  assert_int_equal(metadata_bytes(), before);
  assert_true(release(block));
}

/* Of the last run that goes back only a part may be needed, whatever its length and that of the
 * others. */
static void runs_of_many_lengths_go_back_in_part(void **state) {
  enum { RUNS = 60 };
  void *runs[RUNS], *between[RUNS];
  size_t kept = 0;
  (void)state;
  for (int i = 0; i < RUNS; i++) {
    assert_non_null(runs[i] = allocate(15 * 4096, 16));
    assert_non_null(between[i] = allocate(5 * 4096, 16)); /* keeps neighbours apart */
  }
  for (int i = 0; i < RUNS; i++) assert_true(release(runs[i]));
  for (size_t round = 0; round < 200; round++) {
    size_t count = 30 + round % 30;
    for (int twice = 0; twice < 2; twice++) { /* the second time, their pages are kept */
      for (size_t i = 0; i < count; i++) {
        size_t bytes = (8 + (i * 5 + round) % 8) * 4096;
        assert_non_null(runs[i] = allocate(bytes, 16));
        memset(runs[i], 1, bytes);
      }
      for (size_t i = 0; i < count; i++) assert_true(release(runs[i]));
    }
    size_t before = metadata_bytes();
    give_back_all();
    kept += before - metadata_bytes();
  }
  for (int i = 0; i < RUNS; i++) assert_true(release(between[i]));
  if (!TINY) assert_true(kept > 0);
  give_back_all();
}

/* ---- random models ---- */

struct kept {
  unsigned char *block;
  size_t bytes;
  unsigned char fill;
};

static void check_kept(const struct kept *kept) {
  assert_true(is_live(kept->block));
  if (!kept->bytes) return;
  assert_int_equal(kept->block[0], kept->fill);
  assert_int_equal(kept->block[kept->bytes / 2], kept->fill);
  assert_int_equal(kept->block[kept->bytes - 1], kept->fill);
}

static size_t random_size(struct random *random) {
  uint64_t bits = random_bits(random);
  return (size_t)(bits >> 16) >> (36 + bits % 12); /* up to 4 KiB .. 8 MiB, small ones more often */
}

/* Allocates, resizes and frees at random; each block is filled with its own byte and checked before
 * it goes. */
static void run_model(uint64_t seed, int steps) {
  enum { KEPT = 200 };
  struct kept kept[KEPT] = {0};
  struct random random;
  random_seed(&random, seed, 0, 0);
  for (int i = 0; i < steps; i++) {
    struct kept *at = &kept[random_bits(&random) % KEPT];
    size_t bytes = random_size(&random);
    if (i % 500 == 0) region_give_back_idle();
    if (at->block) check_kept(at);
    if (at->block && random_bits(&random) % 3 == 0) {
      if (resize(at->block, bytes)) {
        assert_true(usable(at->block) >= bytes);
        memset(at->block, at->fill, at->bytes = bytes);
      }
      continue;
    }
    if (at->block) assert_true(release(at->block));
    *at = (struct kept){allocate(bytes, (size_t)16 << random_bits(&random) % 10), bytes,
                        (unsigned char)(i | 1)};
    if (!at->block) continue;
    memset(at->block, at->fill, bytes);
  }
  for (int i = 0; i < KEPT; i++)
    if (kept[i].block) check_kept(&kept[i]), assert_true(release(kept[i].block));
}

static void a_random_model_keeps_every_blocks_contents(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 10; seed++) run_model(seed, 5000);
}

static _Atomic(void *) mailbox[64];

/* Hands blocks to the other threads, so that most are freed where they were not allocated. */
static void *trade(void *argument) {
  struct random random;
  random_seed(&random, (uintptr_t)argument, 1, 1);
  for (int i = 0; i < 20000; i++) {
    bool zeroed;
    size_t bytes = i % 50 ? random_bits(&random) % 600 : 20000 + random_bits(&random) % 50000;
    if (i % 1000 == 0) region_give_back_idle();
    char *block = region_allocate(bytes + 8, 16, &zeroed).address;
    if (block) memset(block, 7, bytes + 8);
    void *other = atomic_exchange(&mailbox[random_bits(&random) % 64], block);
    if (other && !release(other)) return (void *)1;
  }
  return NULL;
}

static void threads_may_free_each_others_blocks(void **state) {
  (void)state;
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, trade, (void *)i), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  for (int i = 0; i < 64; i++) {
    void *left = atomic_exchange(&mailbox[i], NULL);
    if (left) assert_true(release(left));
  }
}

static void *free_it(void *block) { return release(block) ? (void *)1 : NULL; }

static void of_two_threads_that_free_one_block_one_is_told(void **state) {
  (void)state;
  for (int i = 0; i < 300; i++) {
    void *block = allocate(i % 2 ? 100 : 50000, 16), *first, *second;
    pthread_t a, b;
    pthread_create(&a, NULL, free_it, block);
    pthread_create(&b, NULL, free_it, block);
    pthread_join(a, &first);
    pthread_join(b, &second);
    assert_int_equal((first != NULL) + (second != NULL), 1);
  }
}

static void what_is_known_of_a_block_stays_with_it(void **state) {
  (void)state;
  for (size_t bytes = 10; bytes < 1000000; bytes *= 10) {
    void *block = allocate(bytes, 16);
    struct sampled_block *known = region_find(block);
    assert_non_null(known);
    assert_int_equal(known->bytes, 0);
    known->bytes = bytes;
    assert_ptr_equal(region_find(block), known);
    assert_int_equal(region_find(block)->bytes, bytes);
    release(block);
  }
}

static void addresses_are_found_until_they_are_removed(void **state) {
  (void)state;
  assert_true(addresses_create());
  char blocks[40];
  for (int round = 0; round < 1000; round++) {
    struct sampled_block *known = addresses_insert(&blocks[round % 7]);
    assert_non_null(known);
    known->bytes = (size_t)round;
    assert_ptr_equal(addresses_find(&blocks[round % 7]), known);
    assert_null(addresses_find(&blocks[20]));
    addresses_remove(known);
    assert_null(addresses_find(&blocks[round % 7]));
  }
}

static void addresses_that_find_no_room_are_refused(void **state) {
  (void)state;
  assert_true(addresses_create());
  size_t inserted = 0, refused = 0;
  for (uintptr_t i = 1; i < 400000; i++) *(addresses_insert((void *)(i * 16)) ? &inserted : &refused) += 1;
  assert_true(inserted > 0 && refused > 0);
  for (uintptr_t i = 1; i < 400000; i++) {
    struct sampled_block *known = addresses_find((void *)(i * 16));
    if (known) addresses_remove(known), inserted--;
  }
  assert_int_equal(inserted, 0);
}

static bool is_mapped(void *page) { return !msync(page, 4096, MS_ASYNC); }

/* The last test of the region. */
static void confined_ends_of_blocks_make_the_c_librarys_system_calls_alone(void **state) {
  (void)state;
  enum { MEDIUM = 60000 };
  char *large = allocate(MEBIBYTE, 16), *medium[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) medium[i] = memset(allocate(MEDIUM, 16), 1, MEDIUM);
  assert_true(region_confine() >= (size_t)BLOCKS * MEDIUM);
  for (int i = 0; i < BLOCKS; i++) assert_true(release(medium[i]));
  for (int i = 0; i < BLOCKS; i++) assert_true(is_mapped(medium[i]) && medium[i][MEDIUM / 2] == 1);
  assert_true(release(large));
  assert_false(is_mapped(large));
}

int main(void) {
  if (!region_reserve(&range)) return 77; /* the address space is limited here */
  const struct CMUnitTest tests[] = {
      one_thread_test(a_program_that_frees_all_has_little_left), /* the first: nothing was taken before */
      cmocka_unit_test(every_size_gets_a_block_of_its_own_that_is_large_enough),
      cmocka_unit_test(every_alignment_up_to_four_mebibytes_is_kept),
      cmocka_unit_test(a_second_free_and_a_foreign_pointer_are_noticed),
      cmocka_unit_test(a_growing_block_seldom_moves),
      cmocka_unit_test(large_blocks_that_are_taken_again_keep_their_pages),
      cmocka_unit_test(pages_that_nobody_took_for_a_while_go_back),
      cmocka_unit_test(kept_pages_are_counted_as_our_own),
      one_thread_test(runs_of_many_lengths_go_back_in_part),
      cmocka_unit_test(a_random_model_keeps_every_blocks_contents),
      cmocka_unit_test(threads_may_free_each_others_blocks),
      cmocka_unit_test(of_two_threads_that_free_one_block_one_is_told),
      cmocka_unit_test(what_is_known_of_a_block_stays_with_it),
      cmocka_unit_test(confined_ends_of_blocks_make_the_c_librarys_system_calls_alone),
      cmocka_unit_test(addresses_are_found_until_they_are_removed),
      one_thread_test(addresses_that_find_no_room_are_refused),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
