/* The sizes of minor heaps: of all domains, of one, and what they are for. */
#include "gc/journal.h"

#include "base/check.h"
#include "gc/collect/nursery.h"
#include "gc/domains/domain.h"

static void set_minor_size(wn_domain *domain, long words) {
  wn_gc_control control = get_control(domain);
  control.minor_heap_size = words;
  set_control(domain, &control);
}

static void a_new_minor_heap_size_is_had_at_once_and_keeps_values(void **state) { /* G17 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    const long sizes[] = {1000, 320, 1 << 16, 321, TINY ? 4096 : 1 << 22, 320, 5000};
    wn_ref list = make_list(of.domain, 100, 3);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      set_minor_size(of.domain, sizes[i]);
      assert_int_equal(wn_gc_get_minor_free(of.domain), sizes[i]);
      allocate(of.domain, 1000, 7);
      assert_int_equal(length_of(of.domain, list), 100);
      assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
    }
  }
  journal_close(&of);
}

static void a_new_size_is_no_wrong_store_where_those_are_looked_for(void **state) { /* G17 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  options.text = "every=3,verify,s=2000";
  journal_open(&of, &options);
  for (int i = 0; i < 20; i++) {
    allocate(of.domain, 10, 5);
    set_minor_size(of.domain, 320 + 700L * (i % 5));
    allocate(of.domain, 10, 5);
    assert_int_equal(wn_gc_set_domain_minor_heap(of.domain, 400 + 300L * (i % 7)), WN_OK);
  }
  journal_close(&of);
}

static void a_minor_heap_without_another_place_is_no_wrong_store_either(void **state) { /* H13 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  options.text = "every=5,verify,s=20M";
  journal_open(&of, &options);
  allocate(of.domain, 100, 5);
  journal_close(&of);
}

static void wait_for_the_end(wn_domain *domain, void *argument) { wait_for_step(domain, argument, 1); }

/* A domain that uses what others leave uses more than the piece that its minor heap moves by. */
static void a_minor_heap_that_outgrows_its_size_is_no_wrong_store_either(void **state) { /* H13 */
  (void)state;
  struct journal of;
  _Atomic(int) end = 0;
  wn_heap_options options = without_helpers();
  options.text = "every=1M,verify,s=8k";
  journal_open(&of, &options);
  wn_join *join = spawn(of.domain, wait_for_the_end, &end);
  size_t most = 0;
  for (int i = 0; i < 20000; i++) {
    allocate(of.domain, 1, 5);
    if (domain_young_used(of.domain) > most) most = domain_young_used(of.domain);
  }
  assert_true(most > 9000);
  atomic_store(&end, 1);
  join_wait(of.domain, join);
  journal_close(&of);
}

static void the_size_decides_how_often_is_collected(void **state) { /* G17 */
  (void)state;
  struct journal of;
  long collections[2];
  journal_open(&of, NULL);
  for (int i = 0; i < 2; i++) {
    set_minor_size(of.domain, i ? 32000 : 1000);
    long before = quick_stat(of.domain).minor_collections;
    allocate(of.domain, 32000, 9);
    collections[i] = quick_stat(of.domain).minor_collections - before;
  }
  assert_in_range(collections[0], 319, 330);
  assert_in_range(collections[1], 9, 12);
  journal_close(&of);
}

/* Words between two minor collections, of blocks of which so many in sixteen are kept in a list. */
static double words_between_collections(wn_domain *domain, wn_ref list, int kept) {
  long before = quick_stat(domain).minor_collections;
  double begin = wn_gc_minor_words(domain), words = 0;
  for (int i = 0; quick_stat(domain).minor_collections == before; i++) {
    WN_SCOPE(domain);
    words = wn_gc_minor_words(domain) - begin;
    wn_ref block = wn_alloc(domain, 9, 1);
    if (i % 16 >= kept) continue;
    wn_set(domain, block, 0, list);
    wn_assign(list, block);
  }
  return words;
}

enum { WORDS = 8192, SLACK = 32 };

static void journal_open_with_words(struct journal *of) {
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = WORDS;
  journal_open(of, &options);
}

/* So many collections come, one after the other, when so much is used. */
static void assert_collections(wn_domain *domain, int count, double words, wn_ref list, int kept) {
  for (int i = 0; i < count; i++)
    assert_in_range(words_between_collections(domain, list, kept), words - SLACK, words + SLACK);
}

static void where_nearly_all_blocks_live_half_full_minor_heaps_are_collected(void **state) { /* G17 */
  (void)state;
  struct journal of;
  journal_open_with_words(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0));
    wn_gc_minor(of.domain);
    assert_collections(of.domain, 3 * ALIVE_COLLECTIONS, WORDS, list, 13);
    assert_collections(of.domain, ALIVE_COLLECTIONS, WORDS, list, 15);
    assert_in_range(wn_gc_get_minor_free(of.domain), WORDS / 2 - SLACK, WORDS / 2);
    assert_collections(of.domain, 20, WORDS / 2, list, 15);
    assert_collections(of.domain, 1, WORDS / 2, list, 13);
    assert_collections(of.domain, ALIVE_COLLECTIONS, WORDS, list, 16);
    assert_collections(of.domain, 1, WORDS / 2, list, 16);
  }
  journal_close(&of);
}

/* A collection on request finds little in the minor heaps, and tells nothing about how much of more
 * would live. */
static void collections_of_little_neither_shorten_minor_heaps_nor_end_that(void **state) { /* G17 */
  (void)state;
  struct journal of;
  journal_open_with_words(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0));
    for (int i = 0; i < 3 * ALIVE_COLLECTIONS; i++) {
      make_list(of.domain, 10, 9);
      wn_gc_minor(of.domain);
    }
    assert_collections(of.domain, ALIVE_COLLECTIONS, WORDS, list, 16);
    allocate(of.domain, 100, 9);
    wn_gc_full_major(of.domain);
    assert_collections(of.domain, 1, WORDS / 2, list, 16);
  }
  journal_close(&of);
}

static _Atomic(int) stage;

static void be_awake(wn_domain *domain, void *argument) {
  (void)argument;
  atomic_store(&stage, 1);
  wait_for_step(domain, &stage, 2);
}

/* The larger minor heap takes all there is to be had but the other one's first piece, in pieces of
 * its own. */
static void all_domains_minor_heaps_are_shortened_whatever_their_sizes(void **state) { /* G17 */
  (void)state;
  enum { PIECE_WORDS = 5 * WORDS / PIECES };
  struct journal of;
  journal_open_with_words(&of);
  assert_int_equal(wn_gc_set_domain_minor_heap(of.domain, 5 * WORDS), WN_OK);
  atomic_store(&stage, 0);
  wn_join *join = spawn(of.domain, be_awake, NULL);
  wait_for_step(of.domain, &stage, 1);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0));
    wn_gc_minor(of.domain);
    for (int turn = 0; turn < 2; turn++) {
      assert_collections(of.domain, ALIVE_COLLECTIONS, 9 * PIECE_WORDS, list, 16);
      assert_collections(of.domain, 4, 4 * PIECE_WORDS, list, 16);
      words_between_collections(of.domain, list, 0);
    }
  }
  atomic_store(&stage, 2);
  join_wait(of.domain, join);
  journal_close(&of);
}

/* Minor collections while one domain allocates forty times its minor heap. */
static long collections_of_forty_sizes(wn_domain *domain) {
  long before = quick_stat(domain).minor_collections;
  allocate(domain, 32000, 9);
  return quick_stat(domain).minor_collections - before;
}

static void a_domain_uses_what_others_leave_of_their_minor_heaps(void **state) { /* G17 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 8000;
  journal_open(&of, &options);
  atomic_store(&stage, 0);
  assert_in_range(collections_of_forty_sizes(of.domain), 39, 42);
  wn_join *join = spawn(of.domain, be_awake, NULL);
  wait_for_step(of.domain, &stage, 1);
  wn_gc_minor(of.domain);
  assert_in_range(collections_of_forty_sizes(of.domain), 19, 24);
  atomic_store(&stage, 2);
  join_wait(of.domain, join);
  wn_gc_minor(of.domain);
  assert_in_range(collections_of_forty_sizes(of.domain), 39, 42);
  journal_close(&of);
}

static void watch_size(wn_domain *domain, void *argument) {
  (void)argument;
  atomic_store(&stage, 1);
  wait_for_step(domain, &stage, 2);
  assert_int_equal(wn_gc_get_minor_free(domain), 4096);
  atomic_store(&stage, 3);
  wait_for_step(domain, &stage, 4);
  assert_int_equal(wn_gc_get_minor_free(domain), 4096);
}

static void see_size(wn_domain *domain, void *argument) {
  assert_int_equal(wn_gc_get_minor_free(domain), *(long *)argument);
}

static void the_size_counts_for_domains_that_run_and_that_will(void **state) { /* G17 */
  (void)state;
  struct journal of;
  wn_join *join;
  long size = 4096;
  journal_open(&of, NULL);
  atomic_store(&stage, 0);
  join = spawn(of.domain, watch_size, NULL);
  wait_for_step(of.domain, &stage, 1);
  set_minor_size(of.domain, size);
  atomic_store(&stage, 2);
  wait_for_step(of.domain, &stage, 3);
  assert_int_equal(wn_gc_set_domain_minor_heap(of.domain, 2000), WN_OK); /* of this one alone */
  assert_int_equal(wn_gc_get_minor_free(of.domain), 2000);
  assert_int_equal(get_control(of.domain).minor_heap_size, size);
  atomic_store(&stage, 4);
  join_wait(of.domain, join);
  join = spawn(of.domain, see_size, &size);
  join_wait(of.domain, join);
  wn_gc_control control = get_control(of.domain); /* the size of all does not change: nor does that of one */
  control.window_size = 2;
  set_control(of.domain, &control);
  assert_int_equal(wn_gc_get_minor_free(of.domain), 2000);
  set_minor_size(of.domain, 5000);
  assert_int_equal(wn_gc_get_minor_free(of.domain), 5000);
  journal_close(&of);
}

static void a_domains_own_size_must_be_possible(void **state) { /* G17 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  long size = wn_gc_get_minor_free(of.domain);
  assert_int_equal(wn_gc_set_domain_minor_heap(of.domain, 319), WN_EINVAL);
  assert_int_equal(wn_gc_set_domain_minor_heap(of.domain, -1), WN_EINVAL);
  assert_int_equal(wn_gc_set_domain_minor_heap(of.domain, 1L << 40), WN_EINVAL);
  assert_int_equal(wn_gc_get_minor_free(of.domain), size);
  journal_close(&of);
}

static void a_size_that_cannot_be_had_leaves_the_old_one(void **state) { /* G23 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref list = make_list(of.domain, 50, 3);
    wn_gc_control before = get_control(of.domain), large = before;
    wn_gc_minor(of.domain);
    of.heap->store.chunks.limit_bytes = atomic_load(&of.heap->store.chunks.mapped_bytes);
    large.minor_heap_size = (long)nursery_words_most(of.heap);
    large.space_overhead = 77;
    assert_int_equal(wn_gc_set(of.domain, &large), WN_ENOMEM);
    assert_int_equal(wn_gc_set_domain_minor_heap(of.domain, large.minor_heap_size), WN_ENOMEM);
    wn_gc_control after = get_control(of.domain);
    assert_memory_equal(&after, &before, sizeof after);
    assert_int_equal(wn_gc_get_minor_free(of.domain), before.minor_heap_size);
    allocate(of.domain, 100000, 5);
    assert_int_equal(length_of(of.domain, list), 50);
    set_minor_size(of.domain, MINOR_WORDS_LEAST); /* less can always be had */
    of.heap->store.chunks.limit_bytes = SIZE_MAX;
    set_control(of.domain, &large);
    assert_int_equal(wn_gc_get_minor_free(of.domain), large.minor_heap_size);
    assert_int_equal(length_of(of.domain, list), 50);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_new_minor_heap_size_is_had_at_once_and_keeps_values),
      cmocka_unit_test(a_new_size_is_no_wrong_store_where_those_are_looked_for),
      cmocka_unit_test(a_minor_heap_without_another_place_is_no_wrong_store_either),
      cmocka_unit_test(a_minor_heap_that_outgrows_its_size_is_no_wrong_store_either),
      cmocka_unit_test(the_size_decides_how_often_is_collected),
      cmocka_unit_test(where_nearly_all_blocks_live_half_full_minor_heaps_are_collected),
      cmocka_unit_test(collections_of_little_neither_shorten_minor_heaps_nor_end_that),
      cmocka_unit_test(all_domains_minor_heaps_are_shortened_whatever_their_sizes),
      cmocka_unit_test(a_domain_uses_what_others_leave_of_their_minor_heaps),
      cmocka_unit_test(the_size_counts_for_domains_that_run_and_that_will),
      cmocka_unit_test(a_domains_own_size_must_be_possible),
      cmocka_unit_test(a_size_that_cannot_be_had_leaves_the_old_one),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
