/* Ephemerons: data live as long as their keys, in chains, in random formulas, and while several domains
 * use them. */
#include "gc/journal.h"

#include "base/check.h"
#include "gc/collect/collector.h"
#include "gc/domains/heap.h"
#include <stdlib.h>
#include <winnow/weak.h>

static void set(wn_domain *domain, wn_ref ephemeron, wn_ref key, wn_ref data) {
  assert_int_equal(wn_ephemeron_set_key(domain, ephemeron, 0, key), WN_OK);
  assert_int_equal(wn_ephemeron_set_data(domain, ephemeron, data), WN_OK);
}

static bool has_data(wn_domain *domain, wn_ref ephemeron) {
  return wn_ephemeron_check_data(domain, ephemeron);
}

/* The number in the data's block; -1: there are none. */
static intptr_t data_of(wn_domain *domain, wn_ref ephemeron) {
  WN_SCOPE(domain);
  wn_ref data = wn_ephemeron_get_data(domain, ephemeron);
  return wn_is_null(data) ? -1 : number_of(data);
}

/* ---- one ephemeron ---- */

static void data_live_as_long_as_the_key(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  for (int old = 0; old < 2; old++) {
    WN_SCOPE(of.domain);
    wn_ref ephemeron = wn_ephemeron_new(of.domain, 1), key = block_of(of.domain, 1);
    {
      WN_SCOPE(of.domain);
      set(of.domain, ephemeron, key, block_of(of.domain, 2));
    }
    if (old) wn_gc_full_major(of.domain);
    wn_gc_minor(of.domain);
    assert_int_equal(data_of(of.domain, ephemeron), 2);
    wn_assign_int(key, 0);
    wn_gc_full_major(of.domain);
    assert_false(has_data(of.domain, ephemeron));
    assert_false(wn_ephemeron_check_key(of.domain, ephemeron, 0));
  }
  journal_close(&of);
}

/* A young key dies in a minor collection, and takes old data with it. */
static void a_young_key_takes_the_data_with_it(void **state) { /* G54 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref ephemeron = wn_ephemeron_new(of.domain, 2), data = block_of(of.domain, 4),
           key = block_of(of.domain, 5);
    wn_gc_minor(of.domain);
    {
      WN_SCOPE(of.domain);
      wn_ephemeron_set_key(of.domain, ephemeron, 0, key);
      wn_ephemeron_set_key(of.domain, ephemeron, 1, block_of(of.domain, 6));
      wn_ephemeron_set_data(of.domain, ephemeron, data);
    }
    wn_gc_minor(of.domain);
    assert_true(wn_ephemeron_check_key(of.domain, ephemeron, 0));
    assert_false(wn_ephemeron_check_key(of.domain, ephemeron, 1));
    assert_false(has_data(of.domain, ephemeron));
  }
  journal_close(&of);
}

static void data_that_lead_to_their_own_key_keep_nothing(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref ephemeron = wn_ephemeron_new(of.domain, 1);
    {
      WN_SCOPE(of.domain);
      wn_ref key = block_of(of.domain, 1);
      set(of.domain, ephemeron, key, wn_pair(of.domain, 0, key, key));
    }
    wn_gc_full_major(of.domain);
    assert_false(has_data(of.domain, ephemeron));
    {
      WN_SCOPE(of.domain); /* the same block */
      wn_ref key = block_of(of.domain, 1);
      set(of.domain, ephemeron, key, key);
    }
    wn_gc_full_major(of.domain);
    assert_false(has_data(of.domain, ephemeron));
  }
  journal_close(&of);
}

static void every_key_that_is_set_counts_and_no_other(void **state) { /* G49 */
  (void)state;
  enum { KEYS = 9 };
  struct journal of;
  journal_open(&of, NULL);
  for (size_t dead = 0; dead <= KEYS; dead++) {
    WN_SCOPE(of.domain);
    wn_ref ephemeron = wn_ephemeron_new(of.domain, KEYS), keys[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
      keys[i] = i == 4 ? wn_root(of.domain, wn_int(4)) : block_of(of.domain, (intptr_t)i);
      if (i != 7) wn_ephemeron_set_key(of.domain, ephemeron, i, keys[i]);
    }
    {
      WN_SCOPE(of.domain);
      wn_ephemeron_set_data(of.domain, ephemeron, block_of(of.domain, 77));
    }
    wn_gc_minor(of.domain);
    if (dead < KEYS) wn_assign_int(keys[dead], 0);
    wn_gc_full_major(of.domain);
    bool lives = dead == KEYS || dead == 4 || dead == 7; /* an integer, and one that is not set */
    assert_int_equal(data_of(of.domain, ephemeron), lives ? 77 : -1);
  }
  journal_close(&of);
}

static void what_is_unset_counts_no_more(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref ephemeron = wn_ephemeron_new(of.domain, 2), other = block_of(of.domain, 1);
    {
      WN_SCOPE(of.domain);
      wn_ref key = block_of(of.domain, 2);
      wn_ephemeron_set_key(of.domain, ephemeron, 0, key);
      wn_ephemeron_set_key(of.domain, ephemeron, 1, other);
      wn_ephemeron_set_data(of.domain, ephemeron, block_of(of.domain, 3));
      assert_true(wn_value_of(wn_ephemeron_get_key(of.domain, ephemeron, 0)) == wn_value_of(key));
    }
    assert_int_equal(wn_ephemeron_unset_key(of.domain, ephemeron, 0), WN_OK);
    wn_gc_full_major(of.domain);
    assert_int_equal(data_of(of.domain, ephemeron), 3);
    assert_int_equal(wn_ephemeron_unset_data(of.domain, ephemeron), WN_OK);
    assert_false(has_data(of.domain, ephemeron));
    assert_true(wn_ephemeron_check_key(of.domain, ephemeron, 1));
  }
  journal_close(&of);
}

static void an_ephemeron_that_is_dead_keeps_nothing(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref key = block_of(of.domain, 1), weak = wn_weak_new(of.domain, 1);
    {
      WN_SCOPE(of.domain);
      wn_ref data = block_of(of.domain, 2);
      set(of.domain, wn_ephemeron_new(of.domain, 1), key, data);
      wn_weak_set(of.domain, weak, 0, data);
    }
    wn_gc_full_major(of.domain);
    assert_false(wn_weak_check(of.domain, weak, 0));
  }
  journal_close(&of);
}

static void other_places_of_ephemerons_are_refused(void **state) { /* G54b */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref ephemeron = wn_ephemeron_new(of.domain, 1), value = block_of(of.domain, 1);
    assert_int_equal(wn_ephemeron_set_key(of.domain, ephemeron, 1, value), WN_EINVAL);
    assert_string_equal(wn_last_error(), "ephemeron set key: 1 places from 1 on, and there are 1");
    assert_int_equal(wn_ephemeron_unset_key(of.domain, ephemeron, 1), WN_EINVAL);
    assert_int_equal(wn_ephemeron_set_data(of.domain, value, value), WN_EINVAL);
    assert_true(wn_is_null(wn_ephemeron_get_data(of.domain, value)));
    assert_false(wn_ephemeron_check_data(of.domain, value));
  }
  journal_close(&of);
}

/* ---- chains ---- */

enum { CHAIN = TINY ? 300 : 5000 };

/* Each ephemeron's data are the next one's key. `forward`: the order in which they were made. The list
 * keeps the ephemerons. Returns the first key. */
static wn_ref make_chain(wn_domain *domain, wn_ref list, intptr_t length, bool forward) {
  wn_ref ends[2] = {block_of(domain, 0), wn_root(domain, wn_int(0))};
  wn_assign(ends[1], ends[0]);
  for (intptr_t i = 1; i <= length; i++) {
    WN_SCOPE(domain);
    wn_ref ephemeron = wn_ephemeron_new(domain, 1), block = block_of(domain, forward ? i : -i);
    if (forward)
      set(domain, ephemeron, ends[1], block);
    else
      set(domain, ephemeron, block, ends[0]);
    wn_assign(ends[forward], block);
    wn_assign_pair(domain, list, 0, ephemeron, list);
  }
  return ends[0];
}

static long count_data(wn_domain *domain, wn_ref list) {
  WN_SCOPE(domain);
  long count = 0;
  for (wn_ref at = wn_root(domain, wn_value_of(list)); !wn_is_int(wn_value_of(at));
       wn_assign_field(at, at, 1)) {
    WN_SCOPE(domain);
    count += has_data(domain, wn_get(domain, at, 0));
  }
  return count;
}

static void chains_live_and_die_with_their_first_key(void **state) { /* G49 */
  (void)state;
  for (int variant = 0; variant < 6; variant++) {
    struct journal of;
    wn_heap_options options = WN_HEAP_DEFAULTS;
    options.helper_threads = variant / 2; /* two kinds of order, with 0, 1 and 2 helpers */
    journal_open(&of, &options);
    {
      WN_SCOPE(of.domain);
      wn_ref list = wn_root(of.domain, wn_int(0));
      wn_ref first = make_chain(of.domain, list, CHAIN, variant % 2);
      wn_gc_full_major(of.domain);
      assert_int_equal(count_data(of.domain, list), CHAIN);
      wn_gc_full_major(of.domain);
      assert_int_equal(count_data(of.domain, list), CHAIN);
      wn_assign_int(first, 0);
      wn_gc_full_major(of.domain);
      assert_int_equal(count_data(of.domain, list), 0);
    }
    journal_close(&of);
  }
}

/* How often a cycle checks the conditions of the ephemerons of a chain. */
static size_t examined_by_a_cycle(intptr_t length, bool forward) {
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  const size_t *examined = &of.heap->collector->weak.ephemerons.examined;
  size_t count;
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0));
    make_chain(of.domain, list, length, forward);
    wn_gc_full_major(of.domain);
    size_t before = *examined;
    wn_gc_full_major(of.domain);
    count = *examined - before;
    assert_int_equal(count_data(of.domain, list), length);
  }
  journal_close(&of);
  return count;
}

static void work_on_a_chain_is_proportional_to_its_length_in_either_order(void **state) { /* G49 */
  (void)state;
  for (int forward = 0; forward < 2; forward++) {
    size_t single = examined_by_a_cycle(CHAIN, forward), twice = examined_by_a_cycle(2 * CHAIN, forward);
    assert_true(single >= CHAIN && single <= 4 * CHAIN);
    assert_true(10 * twice <= 23 * single);
  }
}

/* The ephemerons themselves are each other's data. */
static void ephemerons_may_be_the_data_of_ephemerons(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref key = block_of(of.domain, 1), outermost = wn_ephemeron_new(of.domain, 1),
           at = wn_root(of.domain, wn_int(0));
    wn_assign(at, outermost);
    for (int i = 0; i < 200; i++) {
      WN_SCOPE(of.domain);
      wn_ref inner = wn_ephemeron_new(of.domain, 1);
      set(of.domain, at, key, inner);
      wn_assign(at, inner);
    }
    wn_assign_int(at, 0);
    wn_gc_full_major(of.domain);
    long depth = 0;
    wn_assign(at, outermost);
    for (; has_data(of.domain, at); depth++) {
      WN_SCOPE(of.domain);
      wn_assign(at, wn_ephemeron_get_data(of.domain, at));
    }
    assert_int_equal(depth, 200);
    wn_assign_int(at, 0);
    wn_assign_int(key, 0);
    wn_gc_full_major(of.domain);
    assert_false(has_data(of.domain, outermost));
  }
  journal_close(&of);
}

/* ---- formulas ---- */

/* Block i of a formula is alive if it is one of the roots, or if for one of its ephemerons all keys
 * are alive: each ephemeron is an "and", and those with equal data are an "or". */
enum { BLOCKS = 60, ANDS = 150, KEYS_MOST = 4 };

struct formula {
  size_t keys[ANDS][KEYS_MOST], count[ANDS], data[ANDS];
  bool root[BLOCKS], alive[BLOCKS];
};

static size_t pick(uint64_t *random, size_t below) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(*random >> 33) % below;
}

static void make_formula(struct formula *formula, uint64_t *random) {
  for (size_t i = 0; i < BLOCKS; i++) formula->alive[i] = formula->root[i] = pick(random, 5) == 0;
  for (size_t a = 0; a < ANDS; a++) {
    formula->count[a] = 1 + pick(random, KEYS_MOST);
    formula->data[a] = pick(random, BLOCKS);
    for (size_t k = 0; k < formula->count[a]; k++) formula->keys[a][k] = pick(random, BLOCKS);
  }
}

static bool is_met(const struct formula *formula, size_t a) {
  for (size_t k = 0; k < formula->count[a]; k++)
    if (!formula->alive[formula->keys[a][k]]) return false;
  return true;
}

static void solve(struct formula *formula) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t a = 0; a < ANDS; a++) {
      if (formula->alive[formula->data[a]] || !is_met(formula, a)) continue;
      formula->alive[formula->data[a]] = changed = true;
    }
  }
}

static void random_formulas_have_their_solution(void **state) { /* G49 */
  (void)state;
  struct journal of;
  uint64_t random = 42;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 1;
  journal_open(&of, &options);
  for (int round = 0; round < (TINY ? 20 : 100); round++) {
    WN_SCOPE(of.domain);
    struct formula formula;
    make_formula(&formula, &random);
    solve(&formula);
    wn_ref blocks = wn_alloc(of.domain, BLOCKS, 0), ands = wn_alloc(of.domain, ANDS, 0),
           weak = wn_weak_new(of.domain, BLOCKS);
    for (size_t i = 0; i < BLOCKS; i++) {
      WN_SCOPE(of.domain);
      wn_set(of.domain, blocks, i, block_of(of.domain, (intptr_t)i));
      wn_weak_set(of.domain, weak, i, wn_get(of.domain, blocks, i));
    }
    for (size_t a = 0; a < ANDS; a++) {
      WN_SCOPE(of.domain);
      wn_ref ephemeron = wn_ephemeron_new(of.domain, formula.count[a]);
      for (size_t k = 0; k < formula.count[a]; k++)
        wn_ephemeron_set_key(of.domain, ephemeron, k, wn_get(of.domain, blocks, formula.keys[a][k]));
      wn_ephemeron_set_data(of.domain, ephemeron, wn_get(of.domain, blocks, formula.data[a]));
      wn_set(of.domain, ands, a, ephemeron);
    }
    for (size_t i = 0; i < BLOCKS; i++)
      if (!formula.root[i]) wn_set_int(of.domain, blocks, i, 0);
    for (size_t step = pick(&random, 6); step; step--) wn_gc_major_slice(of.domain, (long)pick(&random, 500));
    wn_gc_full_major(of.domain);
    for (size_t i = 0; i < BLOCKS; i++) assert_int_equal(wn_weak_check(of.domain, weak, i), formula.alive[i]);
    for (size_t a = 0; a < ANDS; a++) {
      WN_SCOPE(of.domain);
      assert_int_equal(has_data(of.domain, wn_get(of.domain, ands, a)), is_met(&formula, a));
    }
  }
  journal_close(&of);
}

/* ---- several domains ---- */

enum { DOMAINS = 4, PLACES = 64, STEPS = TINY ? 2000 : 20000 };

struct shared {
  wn_global *weak, *ephemerons;
  _Atomic(long) wrong;
};

struct user {
  struct shared *shared;
  uint64_t random;
};

/* A block of two fields whose sum is known. */
static wn_ref summed(wn_domain *domain, intptr_t n) {
  wn_ref block = wn_alloc(domain, 2, 1);
  wn_set_int(domain, block, 0, n);
  wn_set_int(domain, block, 1, 1000000 - n);
  return block;
}
static bool is_summed(wn_ref block) {
  return wn_is_null(block) || (wn_words(wn_value_of(block)) == 2 &&
                               wn_to_int(wn_field(block, 0)) + wn_to_int(wn_field(block, 1)) == 1000000);
}

static void use_them(wn_domain *domain, void *argument) {
  struct user *user = argument;
  struct shared *shared = user->shared;
  WN_SCOPE(domain);
  wn_ref kept = wn_root(domain, wn_int(0));
  for (long i = 0; i < STEPS; i++) {
    WN_SCOPE(domain);
    wn_ref weak = wn_global_get(domain, shared->weak), ephemerons = wn_global_get(domain, shared->ephemerons);
    size_t at = pick(&user->random, PLACES);
    wn_ref ephemeron = wn_get(domain, ephemerons, at), read;
    switch (pick(&user->random, 7)) {
    case 0:
      read = summed(domain, i);
      wn_weak_set(domain, weak, at, read);
      if (i % 3 == 0) wn_assign(kept, read);
      break;
    case 1: wn_ephemeron_set_data(domain, ephemeron, summed(domain, i)); break;
    case 2: wn_ephemeron_set_key(domain, ephemeron, 0, summed(domain, i)); break;
    case 3:
      if (!is_summed(wn_weak_get_copy(domain, weak, at))) shared->wrong++;
      break;
    case 4: wn_weak_blit(domain, weak, at / 2, weak, at, PLACES - at); break;
    case 5:
      if (!is_summed(wn_ephemeron_get_key(domain, ephemeron, 0))) shared->wrong++;
      if (!is_summed(wn_ephemeron_get_data(domain, ephemeron))) shared->wrong++;
      break;
    default:
      if (!is_summed(wn_weak_get(domain, weak, at))) shared->wrong++;
    }
    if (i % 1000 == 999) pick(&user->random, 2) ? wn_gc_minor(domain) : wn_gc_major(domain);
  }
}

static void domains_may_use_the_same_weak_blocks_at_once(void **state) { /* G53 */
  (void)state;
  struct journal of;
  struct shared shared = {.wrong = 0};
  struct user users[DOMAINS];
  wn_join *joins[DOMAINS];
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 1;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref ephemerons = wn_alloc(of.domain, PLACES, 0);
    for (size_t i = 0; i < PLACES; i++) {
      WN_SCOPE(of.domain);
      wn_set(of.domain, ephemerons, i, wn_ephemeron_new(of.domain, 1));
    }
    shared.ephemerons = wn_global_new(of.domain, ephemerons);
    shared.weak = wn_global_new(of.domain, wn_weak_new(of.domain, PLACES));
  }
  for (int i = 0; i < DOMAINS; i++) {
    users[i] = (struct user){&shared, (uint64_t)i + 1};
    joins[i] = spawn(of.domain, use_them, &users[i]);
  }
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  assert_int_equal(shared.wrong, 0);
  assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
  wn_global_free(of.domain, shared.weak);
  wn_global_free(of.domain, shared.ephemerons);
  wn_gc_full_major(of.domain);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(data_live_as_long_as_the_key),
      cmocka_unit_test(a_young_key_takes_the_data_with_it),
      cmocka_unit_test(data_that_lead_to_their_own_key_keep_nothing),
      cmocka_unit_test(every_key_that_is_set_counts_and_no_other),
      cmocka_unit_test(what_is_unset_counts_no_more),
      cmocka_unit_test(an_ephemeron_that_is_dead_keeps_nothing),
      cmocka_unit_test(other_places_of_ephemerons_are_refused),
      cmocka_unit_test(chains_live_and_die_with_their_first_key),
      one_thread_test(work_on_a_chain_is_proportional_to_its_length_in_either_order),
      cmocka_unit_test(ephemerons_may_be_the_data_of_ephemerons),
      cmocka_unit_test(random_formulas_have_their_solution),
      cmocka_unit_test(domains_may_use_the_same_weak_blocks_at_once),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
