/* Tables of weak places and ephemerons as programs have them: numbers that exist once, results that
 * are remembered while they are wanted, on several domains; and finalisers that look into them. */
#include "gc/journal.h"

#include "base/check.h"
#include <winnow/weak.h>

static wn_heap_options with_text(const char *text) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = text;
  return options;
}

static size_t next_random(uint64_t *random, size_t below) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(*random >> 33) % below;
}

/* ---- a set of numbers ---- */

/* Wide blocks, so that cycles come before many numbers are dead. */
enum { PROBES = 32, WIDTH = 200 };

/* Places of blocks, and what numbers these have or had: a look at a block would keep it for a
 * cycle. */
struct set {
  wn_ref weak, numbers;
};

static struct set new_set(wn_domain *domain, size_t places) {
  return (struct set){wn_weak_new(domain, places), wn_alloc(domain, places, 0)};
}

/* The block of a number that the set has, or a new one, in the first empty one of a few places. A
 * null handle: these are full. */
static wn_ref number_in_set(wn_domain *domain, const struct set *set, intptr_t n) {
  size_t begin = (size_t)n * 2654435761u, free = SIZE_MAX;
  for (size_t i = 0; i < PROBES; i++) {
    size_t at = (begin + i) % wn_weak_length(set->weak);
    if (!wn_weak_check(domain, set->weak, at))
      free = free == SIZE_MAX ? at : free;
    else if (wn_field(set->numbers, at) == wn_int(n))
      return wn_weak_get(domain, set->weak, at);
  }
  wn_ref none = {NULL};
  if (free == SIZE_MAX) return none;
  wn_ref block = wn_alloc(domain, WIDTH, 3); /* may collect: the place is still empty */
  wn_set_int(domain, block, 0, n);
  wn_set_int(domain, set->numbers, free, n);
  assert_int_equal(wn_weak_set(domain, set->weak, free, block), WN_OK);
  return block;
}

static size_t count_full(wn_domain *domain, wn_ref set) {
  size_t full = 0;
  for (size_t i = 0; i < wn_weak_length(set); i++) full += wn_weak_check(domain, set, i);
  return full;
}

enum { SET = TINY ? 4096 : 16384, LIVE = SET / 64, NUMBERS = TINY ? 20000 : 100000 };

struct watch {
  wn_global *set;
  size_t most;
  int calls;
};

static void watch_set(wn_domain *domain, void *context) {
  struct watch *watch = context;
  WN_SCOPE(domain);
  size_t full = count_full(domain, wn_global_get(domain, watch->set));
  if (full > watch->most) watch->most = full;
  watch->calls++;
}

/* Many times as many numbers as the set has places. */
static void a_weak_set_has_each_number_once_and_stays_small(void **state) { /* G49 */
  (void)state;
  struct journal of;
  struct watch watch = {0};
  wn_gc_alarm *alarm;
  wn_heap_options options = with_text("minor_heap_size=4k");
  uint64_t random = 5;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    struct set set = new_set(of.domain, SET);
    wn_ref live = wn_alloc(of.domain, LIVE, 0);
    watch.set = wn_global_new(of.domain, set.weak);
    assert_int_equal(wn_gc_create_alarm(of.domain, watch_set, &watch, &alarm), WN_OK);
    for (long i = 0; i < NUMBERS; i++) {
      WN_SCOPE(of.domain);
      wn_ref block = number_in_set(of.domain, &set, (intptr_t)next_random(&random, SET * 20));
      assert_false(wn_is_null(block));
      assert_true(wn_value_of(number_in_set(of.domain, &set, number_of(block))) == wn_value_of(block));
      wn_set(of.domain, live, (size_t)i % LIVE, block);
      wn_poll(of.domain);
    }
    assert_true(watch.calls > 0);
    assert_in_range(watch.most, LIVE / 2, SET / 8);
    wn_assign_int(live, 0);
    wn_gc_full_major(of.domain);
    assert_int_equal(count_full(of.domain, set.weak), 0);
    wn_gc_delete_alarm(of.domain, alarm);
    wn_global_free(of.domain, watch.set);
  }
  journal_close(&of);
}

/* ---- remembered results ---- */

enum { MEMO = 1 << 15, FIRST_NUMBERS = TINY ? 40 : 600 };

static intptr_t after(intptr_t n) { return n % 2 ? 3 * n + 1 : n / 2; }

static intptr_t count_steps(intptr_t n) {
  intptr_t steps = 0;
  for (; n != 1; n = after(n)) steps++;
  return steps;
}

/* Numbers, each once, and beside each set of them the ephemerons of what is known of them. */
struct memo {
  struct set numbers;
  wn_ref known;
  long asked, remembered;
};

/* The steps from a number's block down to 1. What is remembered of it leads to the next number,
 * which is the key of what is remembered of that one. */
static intptr_t steps_of(wn_domain *domain, struct memo *memo, wn_ref number) {
  WN_SCOPE(domain);
  intptr_t n = number_of(number);
  if (n == 1) return 0;
  memo->asked++;
  wn_ref known = wn_get(domain, memo->known, (size_t)n % MEMO);
  if (!wn_is_int(wn_value_of(known))) {
    wn_ref key = wn_ephemeron_get_key(domain, known, 0), data = wn_ephemeron_get_data(domain, known);
    assert_int_equal(wn_is_null(key), wn_is_null(data));
    if (!wn_is_null(key) && wn_value_of(key) == wn_value_of(number)) {
      assert_int_equal(number_of(wn_get(domain, data, 0)), after(n));
      return memo->remembered++, wn_to_int(wn_field(data, 1));
    }
  } else {
    wn_ref ephemeron = wn_ephemeron_new(domain, 1);
    wn_set(domain, memo->known, (size_t)n % MEMO, ephemeron);
    wn_assign(known, ephemeron);
  }
  wn_ref next = number_in_set(domain, &memo->numbers, after(n));
  assert_false(wn_is_null(next));
  intptr_t steps = 1 + steps_of(domain, memo, next);
  wn_ref data = wn_pair(domain, 0, next, wn_root(domain, wn_int(steps)));
  wn_ephemeron_unset_data(domain, known); /* of another number of the same place */
  wn_ephemeron_set_key(domain, known, 0, number);
  wn_ephemeron_set_data(domain, known, data);
  return steps;
}

static void results_are_remembered_as_long_as_what_they_are_of(void **state) { /* G49 */
  (void)state;
  struct journal of;
  wn_heap_options options = with_text("minor_heap_size=4k");
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    struct memo memo = {new_set(of.domain, MEMO), wn_alloc(of.domain, MEMO, 0), 0, 0};
    wn_ref wanted = wn_alloc(of.domain, FIRST_NUMBERS, 0);
    for (intptr_t round = 0; round < 3; round++) /* the second finds what the first has left */
      for (intptr_t n = 1; n <= FIRST_NUMBERS; n++) {
        WN_SCOPE(of.domain);
        wn_ref number = number_in_set(of.domain, &memo.numbers, n);
        wn_set(of.domain, wanted, (size_t)n - 1, number);
        assert_int_equal(steps_of(of.domain, &memo, number), count_steps(n));
        if (n % 100 == 0) round ? wn_gc_major(of.domain) : wn_gc_minor(of.domain);
      }
    assert_true(memo.remembered > 2 * (FIRST_NUMBERS - 1));
    assert_true(memo.asked > memo.remembered);
    wn_assign_int(wanted, 0);
    wn_gc_full_major(of.domain);
    assert_int_equal(count_full(of.domain, memo.numbers.weak), 0);
    for (size_t i = 0; i < MEMO; i++) {
      WN_SCOPE(of.domain);
      wn_ref known = wn_get(of.domain, memo.known, i);
      if (!wn_is_int(wn_value_of(known))) assert_false(wn_ephemeron_check_data(of.domain, known));
    }
  }
  journal_close(&of);
}

/* ---- on several domains ---- */

enum { DOMAINS = 4, ROUNDS = TINY ? 5 : 20, EPHEMERONS = 50 };

/* Half of the keys stay. The data of every third ephemeron lead to its key. */
static void keep_half(wn_domain *domain, void *argument) {
  (void)argument;
  for (int round = 0; round < ROUNDS; round++) {
    WN_SCOPE(domain);
    wn_ref all = wn_alloc(domain, EPHEMERONS, 0), keys = wn_alloc(domain, EPHEMERONS, 0);
    for (size_t i = 0; i < EPHEMERONS; i++) {
      WN_SCOPE(domain);
      wn_ref ephemeron = wn_ephemeron_new(domain, 1), key = block_of(domain, (intptr_t)i);
      wn_ref number = block_of(domain, (intptr_t)i * 2);
      wn_ref data = wn_pair(domain, 0, number, i % 3 ? number : key);
      wn_ephemeron_set_key(domain, ephemeron, 0, key);
      wn_ephemeron_set_data(domain, ephemeron, data);
      wn_set(domain, all, i, ephemeron);
      if (i % 2) wn_set(domain, keys, i, key);
    }
    if (round % 2) wn_gc_minor(domain);
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
    for (size_t i = 0; i < EPHEMERONS; i++) {
      WN_SCOPE(domain);
      wn_ref data = wn_ephemeron_get_data(domain, wn_get(domain, all, i));
      assert_int_equal(wn_is_null(data), i % 2 == 0);
      if (i % 2) assert_int_equal(number_of(wn_get(domain, data, 0)), i * 2);
    }
  }
}

static void run_on_all(const char *text, wn_body *body) {
  struct journal of;
  wn_join *joins[DOMAINS];
  wn_heap_options options = with_text(text);
  journal_open(&of, &options);
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, body, NULL);
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  journal_close(&of);
}

static void each_domain_keeps_the_data_of_its_keys_and_no_other_while_all_collect(void **state) { /* G49 */
  (void)state;
  run_on_all("", keep_half);
  run_on_all("helpers=1,minor_heap_size=4k", keep_half);
}

enum { TWINS = 3, ARRAYS = TINY ? 50 : 300, STEPS = TINY ? 3000 : 10000 };

/* Weak arrays of one place, three of which always have the same value. */
struct lives {
  wn_ref weak[TWINS], values;
  long dropped[ARRAYS]; /* cycles that had ended when the value was dropped; -1: it lives */
};

static void renew(wn_domain *domain, struct lives *lives, size_t i) {
  WN_SCOPE(domain);
  wn_ref block = block_of(domain, (intptr_t)i);
  wn_set(domain, lives->values, i, block);
  for (int twin = 0; twin < TWINS; twin++) wn_weak_set(domain, lives->weak[twin], i, block);
  lives->dropped[i] = -1;
}

static void check_life(wn_domain *domain, const struct lives *lives, size_t i) {
  long ended = quick_stat(domain).major_collections; /* first: what follows is no safepoint */
  bool full = wn_weak_check(domain, lives->weak[0], i);
  for (int twin = 1; twin < TWINS; twin++)
    assert_int_equal(wn_weak_check(domain, lives->weak[twin], i), full);
  if (lives->dropped[i] < 0) {
    WN_SCOPE(domain);
    assert_true(full);
    assert_true(wn_value_of(wn_weak_get(domain, lives->weak[1], i)) == wn_field(lives->values, i));
  } else if (full) {
    assert_true(ended < lives->dropped[i] + 2);
  }
}

static void live_and_drop(wn_domain *domain, void *argument) {
  static _Thread_local struct lives lives;
  uint64_t random = wn_domain_number(domain);
  (void)argument;
  WN_SCOPE(domain);
  lives.values = wn_alloc(domain, ARRAYS, 0);
  for (int twin = 0; twin < TWINS; twin++) lives.weak[twin] = wn_weak_new(domain, ARRAYS);
  for (size_t i = 0; i < ARRAYS; i++) renew(domain, &lives, i);
  for (int step = 0; step < STEPS; step++) {
    size_t i = next_random(&random, ARRAYS);
    check_life(domain, &lives, i);
    if (lives.dropped[i] >= 0) {
      renew(domain, &lives, i);
    } else if (next_random(&random, 2)) {
      wn_set_int(domain, lives.values, i, 0);
      lives.dropped[i] = quick_stat(domain).major_collections;
    }
    allocate(domain, 5, 20);
    if (next_random(&random, 2000) == 0) wn_gc_major(domain);
  }
}

static void values_of_several_domains_live_while_held_and_two_cycles_at_most_after_that(void **state) {
  /* G50, G51 */
  (void)state;
  run_on_all("minor_heap_size=2k", live_and_drop);
  run_on_all("minor_heap_size=4k,space_overhead=20,helpers=1", live_and_drop);
}

/* ---- finalisers that look ---- */

struct looking {
  wn_global *ephemeron, *weak, *kept;
  int called;
  intptr_t data; /* that the ephemeron had; -1: none */
  bool in_weak;
};

static void look(wn_domain *domain, void *context) {
  struct looking *looking = context;
  WN_SCOPE(domain);
  wn_ref data = wn_ephemeron_get_data(domain, wn_global_get(domain, looking->ephemeron));
  looking->called++;
  looking->data = wn_is_null(data) ? -1 : number_of(data);
  looking->in_weak = wn_weak_check(domain, wn_global_get(domain, looking->weak), 0);
}

static void look_first(wn_domain *domain, wn_ref value, void *context) {
  (void)value;
  look(domain, context);
}

static void look_and_keep(wn_domain *domain, wn_ref value, void *context) {
  struct looking *looking = context;
  look(domain, context);
  wn_global_set(domain, looking->kept, value);
}

/* An ephemeron with a key that is dead at once, which is registered, and stands in a weak place. */
static void looking_open(struct journal *of, struct looking *looking, wn_finaliser *first, bool last,
                         bool old) {
  wn_domain *domain = of->domain;
  WN_SCOPE(domain);
  wn_ref ephemeron = wn_ephemeron_new(domain, 1), weak = wn_weak_new(domain, 1), key = block_of(domain, 1);
  *looking = (struct looking){.ephemeron = wn_global_new(domain, ephemeron),
                              .weak = wn_global_new(domain, weak),
                              .kept = wn_global_new(domain, wn_root(domain, wn_int(0)))};
  wn_ephemeron_set_key(domain, ephemeron, 0, key);
  wn_ephemeron_set_data(domain, ephemeron, block_of(domain, 2));
  wn_weak_set(domain, weak, 0, key);
  if (first) assert_int_equal(wn_gc_finalise(domain, first, looking, key), WN_OK);
  if (last) assert_int_equal(wn_gc_finalise_last(domain, look, looking, key), WN_OK);
  if (old) wn_gc_minor(domain);
}

static void looking_close(wn_domain *domain, struct looking *looking) {
  wn_global_free(domain, looking->ephemeron);
  wn_global_free(domain, looking->weak);
  wn_global_free(domain, looking->kept);
}

static void a_key_that_a_finaliser_gets_has_its_data_still(void **state) { /* G35 */
  (void)state;
  struct journal of;
  struct looking looking;
  journal_open(&of, NULL);
  for (int old = 0; old < 2; old++) {
    looking_open(&of, &looking, look_first, false, old);
    wn_gc_full_major(of.domain);
    assert_int_equal(looking.called, 1);
    assert_int_equal(looking.data, 2);
    assert_true(looking.in_weak);
    wn_gc_full_major(of.domain);
    look(of.domain, &looking);
    assert_int_equal(looking.data, -1);
    assert_false(looking.in_weak);
    looking_close(of.domain, &looking);
  }
  journal_close(&of);
}

static void a_last_finaliser_of_a_key_finds_neither_key_nor_data(void **state) { /* G36 */
  (void)state;
  struct journal of;
  struct looking looking;
  journal_open(&of, NULL);
  for (int old = 0; old < 2; old++) {
    looking_open(&of, &looking, NULL, true, old);
    wn_gc_full_major(of.domain);
    assert_int_equal(looking.called, 1);
    assert_int_equal(looking.data, -1);
    assert_false(looking.in_weak);
    looking_close(of.domain, &looking);
  }
  journal_close(&of);
}

static void a_key_that_is_brought_back_keeps_its_data_until_it_dies_again(void **state) { /* G49 */
  (void)state;
  struct journal of;
  struct looking looking;
  journal_open(&of, NULL);
  for (int old = 0; old < 2; old++) {
    looking_open(&of, &looking, look_and_keep, true, old);
    for (int i = 0; i < 3; i++) wn_gc_full_major(of.domain);
    assert_int_equal(looking.called, 1); /* the last one not yet */
    look(of.domain, &looking);
    assert_int_equal(looking.data, 2);
    assert_true(looking.in_weak);
    {
      WN_SCOPE(of.domain);
      wn_global_set(of.domain, looking.kept, wn_root(of.domain, wn_int(0)));
    }
    wn_gc_full_major(of.domain);
    assert_int_equal(looking.called, 3);
    assert_int_equal(looking.data, -1);
    assert_false(looking.in_weak);
    looking_close(of.domain, &looking);
  }
  journal_close(&of);
}

/* The data have a finaliser, and nothing but the ephemeron leads to them. */
static void data_die_with_their_key_and_are_finalised(void **state) { /* G49 */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  struct entry first = {&of, 1}, last = {&of, 2};
  {
    WN_SCOPE(of.domain);
    wn_ref ephemeron = wn_ephemeron_new(of.domain, 1), key = block_of(of.domain, 3);
    {
      WN_SCOPE(of.domain);
      wn_ref data = block_of(of.domain, 4);
      wn_ephemeron_set_key(of.domain, ephemeron, 0, key);
      wn_ephemeron_set_data(of.domain, ephemeron, data);
      register_first(&of, &first, data);
      register_last(&of, &last, data);
    }
    for (int i = 0; i < 3; i++) wn_gc_full_major(of.domain);
    assert_int_equal(of.count, 0);
    wn_assign_int(key, 0);
    wn_gc_full_major(of.domain);
    ASSERT_JOURNAL(&of, 1);
    assert_false(wn_ephemeron_check_data(of.domain, ephemeron));
    wn_gc_full_major(of.domain);
    ASSERT_JOURNAL(&of, 1, 2);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_weak_set_has_each_number_once_and_stays_small),
      cmocka_unit_test(results_are_remembered_as_long_as_what_they_are_of),
      cmocka_unit_test(each_domain_keeps_the_data_of_its_keys_and_no_other_while_all_collect),
      cmocka_unit_test(values_of_several_domains_live_while_held_and_two_cycles_at_most_after_that),
      cmocka_unit_test(a_key_that_a_finaliser_gets_has_its_data_still),
      cmocka_unit_test(a_last_finaliser_of_a_key_finds_neither_key_nor_data),
      cmocka_unit_test(a_key_that_is_brought_back_keeps_its_data_until_it_dies_again),
      cmocka_unit_test(data_die_with_their_key_and_are_finalised),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
