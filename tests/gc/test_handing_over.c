/* What domains leave to each other when they end, and what several of them ask of the collector at
 * once. */
#include "gc/journal.h"

#include <stdlib.h>

static void detach_all(wn_heap *heap, wn_domain *domain) {
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

/* ---- a young block that another domain made ---- */

struct exchange {
  wn_global *from, *to;
};

/* Allocates nothing: only its remembered set knows of the store. */
static void store_what_another_made(wn_domain *domain, void *argument) {
  const struct exchange *exchange = argument;
  WN_SCOPE(domain);
  wn_ref from = wn_global_get(domain, exchange->from), to = wn_global_get(domain, exchange->to);
  wn_set(domain, to, 0, wn_get(domain, from, 0));
}

static void stores_of_a_domain_that_ended_are_remembered(void **state) { /* H1 */
  (void)state;
  struct journal of;
  wn_join *join;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    struct exchange exchange = {.from = wn_global_new(of.domain, block_of(of.domain, 0)),
                                .to = wn_global_new(of.domain, block_of(of.domain, 0))};
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    wn_ref from = wn_global_get(of.domain, exchange.from), to = wn_global_get(of.domain, exchange.to);
    wn_set(of.domain, from, 0, block_of(of.domain, 7411));
    assert_int_equal(wn_domain_spawn(of.domain, store_what_another_made, &exchange, &join), WN_OK);
    assert_int_equal(wn_join_wait(of.domain, join), WN_OK);
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
    assert_int_equal(number_of(wn_get(of.domain, to, 0)), 7411);
    wn_global_free(of.domain, exchange.from);
    wn_global_free(of.domain, exchange.to);
  }
  journal_close(&of);
}

static void finalise_what_another_made(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  wn_ref value = wn_get(domain, wn_global_get(domain, (wn_global *)(((struct entry *)argument)->line)), 0);
  assert_int_equal(wn_gc_finalise(domain, write_first, argument, value), WN_OK);
}

static void set_in_global(wn_domain *domain, wn_global *global, intptr_t n) {
  WN_SCOPE(domain);
  wn_set(domain, wn_global_get(domain, global), 0, block_of(domain, n));
}

static void values_that_a_domain_that_ended_registered_are_found(void **state) {
  (void)state;
  struct journal of;
  wn_join *join;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref box = block_of(of.domain, 0);
    wn_global *global = wn_global_new(of.domain, box);
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    set_in_global(of.domain, global, 12);
    struct entry entry = {&of, (long)global};
    assert_int_equal(wn_domain_spawn(of.domain, finalise_what_another_made, &entry, &join), WN_OK);
    assert_int_equal(wn_join_wait(of.domain, join), WN_OK);
    assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(of.count, 0);
    wn_set_int(of.domain, wn_global_get(of.domain, global), 0, 0);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(of.count, 1);
    wn_global_free(of.domain, global);
  }
  journal_close(&of);
}

/* ---- threads that have not begun ---- */

static void count_up(wn_domain *domain, void *argument) {
  (void)domain;
  atomic_fetch_add((_Atomic(int) *)argument, 1);
}

static void a_domain_with_a_spawned_thread_cannot_be_detached(void **state) { /* H2 */
  (void)state;
  struct journal of;
  _Atomic(int) ran = 0;
  wn_join *join;
  journal_open(&of, NULL);
  for (int i = 0; i < 50; i++) {
    /* It cannot begin before this thread gives the turn away. */
    assert_int_equal(wn_thread_spawn(of.domain, count_up, &ran, &join), WN_OK);
    assert_int_equal(wn_domain_detach(of.domain), WN_EBUSY);
    assert_int_equal(wn_join_wait(of.domain, join), WN_OK);
  }
  assert_int_equal(ran, 50);
  journal_close(&of);
}

/* ---- a collection while another domain leads something else ---- */

static void verify_until_told(wn_domain *domain, void *argument) {
  _Atomic(bool) *stop = argument;
  while (!atomic_load(stop)) assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
}

static void release_one(void *bytes) { ++**(int **)bytes; }
static const wn_custom_ops counted = {"counted", release_one};

static void a_minor_collection_counts_whichever_domain_stops_the_world(void **state) { /* H3 */
  (void)state;
  struct journal of;
  wn_join *join;
  _Atomic(bool) stop = false;
  journal_open(&of, NULL);
  assert_int_equal(wn_domain_spawn(of.domain, verify_until_told, &stop, &join), WN_OK);
  for (int i = 0; i < 2000; i++) {
    int released = 0;
    {
      WN_SCOPE(of.domain);
      *(int **)wn_bytes(wn_alloc_custom(of.domain, &counted, sizeof(int *), 0)) = &released;
    }
    assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    assert_int_equal(released, 1);
  }
  atomic_store(&stop, true);
  assert_int_equal(wn_join_wait(of.domain, join), WN_OK);
  journal_close(&of);
}

/* ---- many that wait at once ---- */

enum { CROWD = 6, PAIRS = 40000 };

static void make_pairs(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  (void)argument;
  for (int i = 0; i < PAIRS; i++) {
    WN_SCOPE(domain);
    if (i % 200 == 0) wn_assign_int(list, 0);
    wn_assign(list, wn_pair(domain, 0, wn_root(domain, wn_int(i)), list));
    if (i % 1000 == 0) wn_gc_minor(domain);
  }
}

/* A thread that joins a minor collection late must not disturb the next one. */
static void late_helpers_do_no_harm(void **state) {
  (void)state;
  wn_heap *heap;
  wn_domain *domain;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.minor_heap_size = 20000;
  assert_int_equal(setenv("WINNOW_PARAMS", "delays", 1), 0);
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  wn_join *joins[CROWD];
  for (int i = 0; i < CROWD; i++)
    assert_int_equal(wn_domain_spawn(domain, make_pairs, NULL, &joins[i]), WN_OK);
  for (int i = 0; i < CROWD; i++) assert_int_equal(wn_join_wait(domain, joins[i]), WN_OK);
  detach_all(heap, domain);
  assert_int_equal(unsetenv("WINNOW_PARAMS"), 0);
}

/* ---- groups ---- */

static void groups_have_no_other_tags_than_blocks(void **state) { /* H4 */
  (void)state;
  struct journal of;
  wn_ref blocks[1];
  journal_open(&of, NULL);
  for (unsigned tag = 0; tag < 300; tag++) {
    WN_SCOPE(of.domain);
    wn_shape shape = {2, tag};
    bool right = (tag <= WN_TAG_SCANNED_MAX && tag != WN_TAG_MIXED) ||
                 (tag >= WN_TAG_RAW && tag <= WN_TAG_DOUBLE_ARRAY);
    assert_int_equal(wn_alloc_group(of.domain, 1, &shape, blocks), right ? WN_OK : WN_EINVAL);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stores_of_a_domain_that_ended_are_remembered),
      cmocka_unit_test(values_that_a_domain_that_ended_registered_are_found),
      cmocka_unit_test(a_domain_with_a_spawned_thread_cannot_be_detached),
      cmocka_unit_test(a_minor_collection_counts_whichever_domain_stops_the_world),
      cmocka_unit_test(late_helpers_do_no_harm),
      cmocka_unit_test(groups_have_no_other_tags_than_blocks),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
