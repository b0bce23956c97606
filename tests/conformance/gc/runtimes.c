/* What the heap has for those who make a language: a pointer for each domain, raw stores, words of
 * their own. */
#include "gc/journal.h"

#include <sched.h>

/* ---- data of a domain ---- */

enum { STACK = 200 };

/* A domain's own stack: blocks that nothing else holds. */
struct stack {
  wn_value words[STACK];
  size_t height;
  _Atomic(int) *pushed, *end;
};

static void walk_stack_of(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  struct stack *stack = wn_domain_data(domain);
  ++*(_Atomic(int) *)context;
  for (size_t i = 0; stack && i < stack->height; i++) visit(visitor, &stack->words[i]);
}

static void push_all(wn_domain *domain) {
  struct stack *stack = wn_domain_data(domain);
  for (intptr_t i = 0; i < STACK; i++) {
    WN_SCOPE(domain);
    wn_ref block = block_of(domain, i + (intptr_t)wn_domain_number(domain));
    stack->words[stack->height++] = wn_value_of(block);
  }
}

static void pop_all(wn_domain *domain) {
  struct stack *stack = wn_domain_data(domain);
  while (stack->height--)
    assert_int_equal(wn_to_int(wn_field_of(stack->words[stack->height], 0)),
                     stack->height + wn_domain_number(domain));
}

static void have_a_stack(wn_domain *domain, void *argument) {
  struct stack stack = *(struct stack *)argument;
  assert_null(wn_domain_data(domain));
  wn_domain_set_data(domain, &stack);
  push_all(domain);
  wn_blocking_begin(domain);
  atomic_fetch_add(stack.pushed, 1);
  while (!atomic_load(stack.end)) sched_yield();
  wn_blocking_end(domain);
  pop_all(domain);
  wn_domain_set_data(domain, NULL);
}

static void a_hook_finds_the_stack_of_each_domain_through_its_data(void **state) { /* H10 */
  (void)state;
  enum { DOMAINS = 3 };
  struct journal of;
  wn_join *joins[DOMAINS];
  _Atomic(int) walks = 0, pushed = 0, end = 0;
  struct stack argument = {.pushed = &pushed, .end = &end}, mine = {0};
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.walk_roots = walk_stack_of;
  options.hooks.context = &walks;
  journal_open(&of, &options);
  assert_int_equal(wn_gc_minor(of.domain), WN_OK); /* with no data */
  wn_domain_set_data(of.domain, &mine);
  assert_ptr_equal(wn_domain_data(of.domain), &mine);
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, have_a_stack, &argument);
  push_all(of.domain);
  wait_for_step(of.domain, &pushed, DOMAINS);
  int before = walks;
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  assert_true(walks >= before + 1 + DOMAINS);
  allocate(of.domain, 1000, 5);
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  allocate(of.domain, 1000, 5);
  atomic_store(&end, 1);
  pop_all(of.domain);
  wn_domain_set_data(of.domain, NULL);
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  journal_close(&of);
}

/* ---- raw stores ---- */

enum { FIELDS = 50 };

static wn_value young_block(wn_domain *domain, intptr_t n) {
  wn_value *fields = wn_bump(domain, 1, 3);
  assert_non_null(fields);
  fields[0] = wn_int(n);
  return (wn_value)fields;
}

/* `block` gets new blocks in all fields, one by one, with collections in between. */
static void store_all(wn_domain *domain, wn_ref block, intptr_t first) {
  for (size_t i = 0; i < FIELDS; i++) {
    wn_value value = young_block(domain, first + (intptr_t)i);
    wn_store(domain, wn_value_of(block), i, value);
    if (i % 7 == 0) assert_int_equal(wn_gc_minor(domain), WN_OK);
    if (i % 11 == 0) wn_gc_major_slice(domain, 100);
  }
}

static void check_all(wn_domain *domain, wn_ref block, intptr_t first) {
  WN_SCOPE(domain);
  for (size_t i = 0; i < FIELDS; i++)
    assert_int_equal(number_of(wn_get(domain, block, i)), first + (intptr_t)i);
}

static void a_raw_store_is_seen_by_collections(void **state) { /* H11 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref block = wn_alloc(of.domain, FIELDS, 1);
    for (intptr_t round = 0; round < 20; round++) {
      store_all(of.domain, block, round * 1000);
      assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
      check_all(of.domain, block, round * 1000);
    }
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    check_all(of.domain, block, 19 * 1000);
    assert_int_equal(read_stat(of.domain).live_blocks, 1 + FIELDS);
  }
  journal_close(&of);
}

/* What is overwritten while marking goes on was reachable when the cycle began. */
static void a_raw_store_over_the_last_reference_loses_nothing_that_is_moved_elsewhere(void **state) {
  /* H11 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref from = wn_alloc(of.domain, FIELDS, 1), to = wn_alloc(of.domain, FIELDS, 1);
    store_all(of.domain, from, 1);
    for (int round = 0; round < 30; round++) {
      wn_gc_major_slice(of.domain, 20 + round);
      for (size_t i = 0; i < FIELDS; i++) {
        wn_store(of.domain, wn_value_of(to), i, wn_field(from, i));
        wn_store(of.domain, wn_value_of(from), i, wn_int(0));
        if (i % 5 == 0) wn_gc_major_slice(of.domain, 3);
      }
      assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
      check_all(of.domain, to, 1);
      wn_value before = wn_value_of(from);
      wn_assign(from, to);
      *to.slot = before;
    }
  }
  journal_close(&of);
}

/* ---- words of the language's own ---- */

static void odd_words_are_left_alone_whatever_they_mean(void **state) { /* H12 */
  (void)state;
  static int outside;
  const wn_value words[] = {3, 7, (wn_value)&outside | 1, ~(wn_value)0, (wn_value)1 << 63 | 1};
  enum { WORDS = sizeof words / sizeof *words };
  struct journal of;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref block = wn_alloc(of.domain, WORDS, 1), handles[WORDS];
    for (size_t i = 0; i < WORDS; i++) {
      wn_store(of.domain, wn_value_of(block), i, words[i]);
      handles[i] = wn_root(of.domain, words[i]);
    }
    wn_value young = wn_value_of(block) | 1; /* even the address of a block, once it is odd */
    wn_ref address = wn_root(of.domain, young);
    for (int i = 0; i < 3; i++) assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    for (size_t i = 0; i < WORDS; i++) {
      assert_true(wn_field(block, i) == words[i]);
      assert_true(wn_value_of(handles[i]) == words[i]);
    }
    assert_true(wn_value_of(address) == young);
  }
  journal_close(&of);
}

/* ---- finding what is not saved at polls ---- */

static void polls_collect_where_that_is_asked_for(void **state) { /* H14 */
  (void)state;
  struct journal of;
  wn_heap_options options = without_helpers();
  for (int every = 1; every <= 3; every++) {
    char text[] = "polls=0";
    text[sizeof text - 2] = (char)('0' + every);
    options.text = text;
    journal_open(&of, &options);
    wn_ref list = make_list(of.domain, 10, 3);
    long before = quick_stat(of.domain).minor_collections;
    for (int i = 0; i < 60; i++) {
      wn_poll(of.domain);
      assert_int_equal(length_of(of.domain, list), 10);
    }
    assert_int_equal(quick_stat(of.domain).minor_collections, before + 60 / every);
    journal_close(&of);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hook_finds_the_stack_of_each_domain_through_its_data),
      cmocka_unit_test(a_raw_store_is_seen_by_collections),
      cmocka_unit_test(a_raw_store_over_the_last_reference_loses_nothing_that_is_moved_elsewhere),
      cmocka_unit_test(odd_words_are_left_alone_whatever_they_mean),
      cmocka_unit_test(polls_collect_where_that_is_asked_for),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
