/* What comes together in one pause.
 *
 * The program is linked with `--wrap`: it sees each slice, and each pool that is swept. */
#include "gc/collect/major.h"
#include "gc/collect/nursery.h"
#include "gc/small_heap.h"

enum { MINOR_BYTES = PIECES * PIECE_LEAST, POOLS = 40, OLD = 300 };

static long slices, early_slices, shares_done, swept;

void __real_major_slice(struct wn_domain *domain, unsigned shares);
void __wrap_major_slice(struct wn_domain *domain, unsigned shares);
void __wrap_major_slice(struct wn_domain *domain, unsigned shares) {
  slices++;
  shares_done += shares;
  if (domain_young_used(domain) < PIECE_LEAST / 2) early_slices++;
  __real_major_slice(domain, shares);
}

void __real_store_swept(struct store *store, size_t live_words);
void __wrap_store_swept(struct store *store, size_t live_words);
void __wrap_store_swept(struct store *store, size_t live_words) {
  swept++;
  __real_store_swept(store, live_words);
}

static void run_in_a_heap(void (*body)(wn_domain *domain)) {
  wn_domain *domain = open_heap_of(MINOR_BYTES);
  {
    WN_SCOPE(domain);
    body(domain);
  }
  close_heap(domain);
}

static void fill_minor_heaps(wn_domain *domain, long times) {
  long wanted = quick_stat(domain).minor_collections + times;
  while (quick_stat(domain).minor_collections < wanted) allocate(domain, 1, 2);
}

static void count_slices_of_full_minor_heaps(wn_domain *domain) {
  fill_minor_heaps(domain, 2);
  slices = early_slices = shares_done = 0;
  fill_minor_heaps(domain, 10);
  assert_int_equal(slices, 10 * (PIECES - 1));
  assert_int_equal(shares_done, 10 * PIECES);
  assert_int_equal(early_slices, 0);
}

static void a_slice_is_no_part_of_the_pause_of_a_minor_collection(void **state) {
  (void)state;
  run_in_a_heap(count_slices_of_full_minor_heaps);
}

static void count_slices_of_what_is_collected_early(wn_domain *domain) {
  fill_minor_heaps(domain, 2);
  shares_done = 0;
  for (unsigned i = 0; i < 10; i++) {
    allocate(domain, 10, 2);
    assert_int_equal(wn_gc_minor(domain), WN_OK);
  }
  assert_in_range(shares_done, 9, 11);
}

static void a_program_whose_minor_heap_is_always_collected_early_has_slices_too(void **state) {
  (void)state;
  run_in_a_heap(count_slices_of_what_is_collected_early);
}

/* Old garbage brings the cycle to where it sweeps, and nothing is swept yet. */
static void sweep_full_pools(wn_domain *domain) {
  const struct wn_heap *heap = domain->heap;
  WN_SCOPE(domain);
  wn_ref kept = make_list(domain, (long)POOLS * POOL_WORDS / 3, 2), more;
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  while (heap_phase(heap) != PHASE_SWEEP) allocate(domain, 1, OLD);
  assert_true(atomic_load(&heap->store.pools.unswept_count) >= POOLS / 2);
  more = make_list(domain, PIECE_LEAST / 2 / 3, 2);
  swept = 0;
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  assert_in_range(swept, 1, 2 * FULL_MOST);
  assert_int_equal(length_of(domain, more), PIECE_LEAST / 2 / 3);
  assert_false(wn_is_int(wn_value_of(kept)));
}

static void a_minor_collection_sweeps_few_pools_where_nothing_died(void **state) {
  (void)state;
  run_in_a_heap(sweep_full_pools);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_slice_is_no_part_of_the_pause_of_a_minor_collection),
      cmocka_unit_test(a_program_whose_minor_heap_is_always_collected_early_has_slices_too),
      cmocka_unit_test(a_minor_collection_sweeps_few_pools_where_nothing_died),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
