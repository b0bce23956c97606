/* The functions in whose scopes handles were made, as paths name them. */
#define WN_DEBUG 1
#include "support/test.h"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <winnow/gc.h>
#include <winnow/snapshot.h>

enum { CELL = 5, SLOTS = 64 };

static wn_heap *heap;
static wn_domain *domain;
static char holder[200];

static void tell(void *context, const wn_path_step *step) {
  (void)context;
  if (!*holder)
    snprintf(holder, sizeof holder, "%s%s%s", step->type, step->name ? " " : "",
             step->name ? step->name : "");
}

/* What holds the block that a handle's block leads to; the handle here does not count. */
static const char *holder_of(wn_ref of) {
  WN_SCOPE(domain);
  *holder = 0;
  assert_int_equal(wn_block_path(domain, wn_root(domain, wn_field(of, 0)), tell, NULL), WN_OK);
  return holder;
}

static wn_ref make_cell(void) {
  WN_SCOPE(domain);
  wn_ref cell = wn_alloc(domain, 1, CELL);
  wn_set(domain, cell, 0, wn_alloc(domain, 1, CELL));
  return wn_escape(&wn_here, cell);
}

static void ignore(wn_domain *of, void *context) { (void)of, (void)context; }

static void open_heap(void) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.stack_limit = SLOTS;
  options.hooks.out_of_handles = ignore;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
}

static void close_heap(void) {
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

static wn_ref inner(wn_ref outer) {
  WN_SCOPE(domain);
  wn_ref own = make_cell(), kept = make_cell();
  assert_string_equal(holder_of(own), "handle in inner");
  if (!wn_is_null(outer))
    assert_string_equal(holder_of(outer), "handle in a_handle_is_named_by_the_scope_that_it_is_in");
  return wn_escape(&wn_here, kept);
}

static void a_handle_is_named_by_the_scope_that_it_is_in(void **state) {
  (void)state;
  open_heap();
  {
    WN_SCOPE(domain);
    wn_ref escaped = inner((wn_ref){NULL}); /* which begins where this scope does */
    assert_string_equal(holder_of(escaped), "handle in a_handle_is_named_by_the_scope_that_it_is_in");
    for (int i = 0; i < 9; i++) wn_root(domain, wn_int(i % 3 * 12345678901)); /* no names */
    wn_ref after = inner(escaped);
    assert_string_equal(holder_of(after), "handle in a_handle_is_named_by_the_scope_that_it_is_in");
  }
  close_heap();
}

static jmp_buf back;
static void jump(void) {
  WN_SCOPE(domain);
  assert_string_equal(holder_of(make_cell()), "handle in jump");
  longjmp(back, 1);
}

static void a_jump_takes_names_away(void **state) {
  (void)state;
  open_heap();
  wn_scope outer = wn_scope_enter(domain);
  for (volatile int i = 0; i < 3 * SLOTS; i++) {
    wn_scope scope = wn_scope_enter(domain);
    if (!setjmp(back)) jump();
    wn_scope_leave(&scope);
    if (i % SLOTS == 0) assert_string_equal(holder_of(make_cell()), "handle in a_jump_takes_names_away");
  }
  wn_scope_leave(&outer);
  close_heap();
}

static bool in_scope, looked;
static void run_thread(wn_domain *of, void *argument) {
  (void)argument;
  assert_string_equal(holder_of(make_cell()), "handle"); /* outside any scope */
  WN_SCOPE(of);
  assert_string_equal(holder_of(make_cell()), "handle in run_thread");
  in_scope = true;
  while (!looked) wn_thread_yield(of);
}

static void each_thread_has_its_own(void **state) {
  (void)state;
  open_heap();
  wn_ref outside = make_cell();
  wn_join *thread;
  assert_int_equal(wn_thread_spawn(domain, run_thread, NULL, &thread), WN_OK);
  while (!in_scope) wn_thread_yield(domain);
  assert_string_equal(holder_of(outside), "handle");
  {
    WN_SCOPE(domain);
    assert_string_equal(holder_of(make_cell()), "handle in each_thread_has_its_own");
  }
  looked = true;
  assert_int_equal(wn_join_wait(domain, thread), WN_OK);
  close_heap();
}

static void a_scope_leaves_the_last_slot_for_a_handle(void **state) {
  (void)state;
  open_heap();
  {
    WN_SCOPE(domain);
    for (int i = 2; i < SLOTS - 1; i++) wn_root(domain, wn_int(i));
    {
      WN_SCOPE(domain);
      assert_false(wn_is_null(wn_root(domain, wn_int(1))));
      assert_true(wn_is_null(wn_root(domain, wn_int(1))));
    }
  }
  close_heap();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_handle_is_named_by_the_scope_that_it_is_in),
      cmocka_unit_test(a_jump_takes_names_away),
      cmocka_unit_test(each_thread_has_its_own),
      cmocka_unit_test(a_scope_leaves_the_last_slot_for_a_handle),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
