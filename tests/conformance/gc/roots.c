/* Roots: global ones, and those of a language's own stack. */
#include "gc/journal.h"

#include "base/check.h"

enum { ROOTS = TINY ? 64 : 1024, STEPS = TINY ? 500 : 10000, DOMAINS = 4 };

/* ---- global roots at random ---- */

/* Global roots of one domain, and the numbers that their values hold. */
struct table {
  wn_global *globals[ROOTS];
  intptr_t numbers[ROOTS];
  uint64_t random;
  wn_ref old; /* a block with each number, old from the first collection on */
};

static size_t next_random(struct table *table, size_t below) {
  table->random = table->random * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(table->random >> 33) % below;
}

/* An integer, a young block, or an old one: all say their number. */
static wn_ref any_value(wn_domain *domain, struct table *table, intptr_t number) {
  switch (next_random(table, 3)) {
  case 0: return wn_root(domain, wn_int(number));
  case 1: return block_of(domain, number);
  default: return wn_get(domain, table->old, (size_t)number % ROOTS);
  }
}

static intptr_t number_in(wn_ref value) {
  return wn_is_int(wn_value_of(value)) ? wn_to_int(wn_value_of(value)) : number_of(value);
}

static void check_root(wn_domain *domain, struct table *table, size_t i) {
  WN_SCOPE(domain);
  assert_int_equal(number_in(wn_global_get(domain, table->globals[i])), table->numbers[i]);
}

static void change_root(wn_domain *domain, struct table *table, size_t i) {
  WN_SCOPE(domain);
  table->numbers[i] = (intptr_t)next_random(table, ROOTS);
  wn_ref value = any_value(domain, table, table->numbers[i]);
  if (next_random(table, 4)) {
    wn_global_set(domain, table->globals[i], value);
  } else {
    wn_global_free(domain, table->globals[i]);
    table->globals[i] = wn_global_new(domain, value);
    assert_non_null(table->globals[i]);
  }
}

static void collect_sometimes(wn_domain *domain, struct table *table) {
  switch (next_random(table, 200)) {
  case 0: wn_gc_full_major(domain); break;
  case 1: wn_gc_compact(domain); break;
  case 2: wn_gc_major_slice(domain, 1000); break;
  case 3:
  case 4:
  case 5:
  case 6: wn_gc_minor(domain); break;
  default: break;
  }
}

static void fill_table(wn_domain *domain, struct table *table) {
  table->old = wn_alloc(domain, ROOTS, 0);
  for (size_t i = 0; i < ROOTS; i++) {
    WN_SCOPE(domain);
    wn_set(domain, table->old, i, block_of(domain, (intptr_t)i));
  }
  for (size_t i = 0; i < ROOTS; i++) {
    WN_SCOPE(domain);
    table->numbers[i] = (intptr_t)i;
    table->globals[i] = wn_global_new(domain, any_value(domain, table, (intptr_t)i));
    assert_non_null(table->globals[i]);
  }
}

static void change_at_random(wn_domain *domain, uint64_t seed) {
  static _Thread_local struct table table;
  WN_SCOPE(domain);
  table = (struct table){.random = seed};
  fill_table(domain, &table);
  for (int step = 0; step < STEPS; step++) {
    check_root(domain, &table, next_random(&table, ROOTS));
    change_root(domain, &table, next_random(&table, ROOTS));
    collect_sometimes(domain, &table);
  }
  for (size_t i = 0; i < ROOTS; i++) {
    check_root(domain, &table, i);
    wn_global_free(domain, table.globals[i]);
  }
}

static void a_global_root_keeps_integers_young_and_old_blocks_by_turns(void **state) { /* G54c */
  (void)state;
  struct journal of;
  journal_open(&of, NULL);
  change_at_random(of.domain, 1);
  wn_gc_full_major(of.domain);
  wn_gc_stat stat = read_stat(of.domain);
  assert_int_equal(stat.live_blocks, 0);
  journal_close(&of);
}

/* ---- several domains ---- */

static void change_in_a_domain(wn_domain *domain, void *argument) {
  change_at_random(domain, *(const uint64_t *)argument);
}

static void several_domains_make_change_and_free_global_roots_at_once(void **state) { /* G54d */
  (void)state;
  struct journal of;
  wn_join *joins[DOMAINS];
  uint64_t seeds[DOMAINS];
  journal_open(&of, NULL);
  for (int i = 0; i < DOMAINS; i++) {
    seeds[i] = (uint64_t)i + 10;
    joins[i] = spawn(of.domain, change_in_a_domain, &seeds[i]);
  }
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  journal_close(&of);
}

static void own_a_root_for_a_moment(wn_domain *domain, void *argument) {
  (void)argument;
  WN_SCOPE(domain);
  wn_global *global = wn_global_new(domain, make_list(domain, 20, 3));
  wn_gc_minor(domain);
  assert_int_equal(length_of(domain, wn_global_get(domain, global)), 20);
  wn_global_free(domain, global);
}

static void global_roots_stay_while_domains_come_and_go(void **state) { /* G54d */
  (void)state;
  struct journal of;
  uint64_t seed = 99;
  journal_open(&of, NULL);
  wn_join *steady = spawn(of.domain, change_in_a_domain, &seed);
  for (int i = 0; i < (TINY ? 20 : 100); i++) {
    wn_join *joins[DOMAINS];
    for (int j = 0; j < DOMAINS; j++) joins[j] = spawn(of.domain, own_a_root_for_a_moment, NULL);
    for (int j = 0; j < DOMAINS; j++) join_wait(of.domain, joins[j]);
  }
  join_wait(of.domain, steady);
  journal_close(&of);
}

struct exchange {
  wn_global *shared;
  _Atomic(int) step;
};

static void answer(wn_domain *domain, void *argument) {
  struct exchange *exchange = argument;
  WN_SCOPE(domain);
  wait_for_step(domain, &exchange->step, 1);
  assert_int_equal(number_of(wn_global_get(domain, exchange->shared)), 41);
  wn_global_set(domain, exchange->shared, block_of(domain, 42));
  atomic_store(&exchange->step, 2);
}

static void what_a_domain_puts_into_a_global_root_others_find_there(void **state) { /* G54d */
  (void)state;
  struct journal of;
  struct exchange exchange = {0};
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    exchange.shared = wn_global_new(of.domain, wn_root(of.domain, wn_int(0)));
    wn_join *join = spawn(of.domain, answer, &exchange);
    wn_global_set(of.domain, exchange.shared, block_of(of.domain, 41));
    atomic_store(&exchange.step, 1);
    wait_for_step(of.domain, &exchange.step, 2);
    wn_gc_minor(of.domain);
    assert_int_equal(number_of(wn_global_get(of.domain, exchange.shared)), 42);
    join_wait(of.domain, join);
    wn_gc_full_major(of.domain);
    assert_int_equal(number_of(wn_global_get(of.domain, exchange.shared)), 42);
    wn_global_free(of.domain, exchange.shared);
  }
  journal_close(&of);
}

/* ---- a language's own roots ---- */

/* What a language may have: words that it writes as it likes. */
struct stack {
  wn_value words[ROOTS];
  size_t height;
};

static void walk_stack(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  struct stack *stack = context;
  (void)domain;
  for (size_t i = 0; i < stack->height; i++) visit(visitor, &stack->words[i]);
}

static void push(wn_domain *domain, struct stack *stack, intptr_t number) {
  WN_SCOPE(domain);
  wn_value value = number % 5 ? wn_value_of(block_of(domain, number)) : wn_int(number);
  stack->words[stack->height++] = value;
}

static void roots_that_a_hook_walks_may_be_written_freely(void **state) { /* G54c */
  (void)state;
  static struct stack stack;
  struct journal of;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  stack.height = 0;
  options.hooks.walk_roots = walk_stack;
  options.hooks.context = &stack;
  journal_open(&of, &options);
  for (int round = 0; round < 20; round++) {
    for (intptr_t i = 0; i < ROOTS; i++) push(of.domain, &stack, i);
    allocate(of.domain, 1000, 5);
    if (round % 3 == 0) wn_gc_minor(of.domain);
    if (round % 3 == 1) wn_gc_full_major(of.domain);
    while (stack.height) {
      WN_SCOPE(of.domain);
      stack.height--;
      assert_int_equal(number_in(wn_root(of.domain, stack.words[stack.height])), (intptr_t)stack.height);
    }
  }
  wn_gc_full_major(of.domain);
  wn_gc_stat stat = read_stat(of.domain);
  assert_int_equal(stat.live_blocks, 0);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_global_root_keeps_integers_young_and_old_blocks_by_turns),
      cmocka_unit_test(several_domains_make_change_and_free_global_roots_at_once),
      cmocka_unit_test(global_roots_stay_while_domains_come_and_go),
      cmocka_unit_test(what_a_domain_puts_into_a_global_root_others_find_there),
      cmocka_unit_test(roots_that_a_hook_walks_may_be_written_freely),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
