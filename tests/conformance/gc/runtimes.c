/* What the heap has for those who make a language: a pointer for each domain, raw stores, words of their own. */
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

static void a_hook_finds_the_stack_of_each_domain_through_its_data(void **state) {
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hook_finds_the_stack_of_each_domain_through_its_data),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
