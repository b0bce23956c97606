/* Stacks that begin like the thread's last one are right: random programs of functions that use the stack in different ways, with
 * signal handlers in between, compared with what the compiler's library finds. */
#include "base/check.h"
#include "base/random.h"
#include "callstack/capture.h"
#include "support/test.h"

#include <alloca.h>
#include <signal.h>
#include <string.h>
#include <unwind.h>

enum { DEEPEST = 60, FRAMES = 128, ROUNDS = TINY ? 1000 : 4000 };

static struct callstacks *callstacks;
static struct random choices;
static uint64_t compared;
static volatile uintptr_t kept;

static unsigned choose(unsigned below) { return (unsigned)(random_bits(&choices) % below); }

struct expected {
  uintptr_t pc[FRAMES];
  size_t count;
};

static _Unwind_Reason_Code expect(struct _Unwind_Context *context, void *argument) {
  struct expected *expected = argument;
  if (expected->count == FRAMES || !_Unwind_GetIP(context)) return _URC_END_OF_STACK;
  expected->pc[expected->count++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

/* The frames outside of this function are the same, as many as were asked for. */
static __attribute__((noinline)) void compare(void) {
  struct expected expected = {.count = 0};
  size_t limit = choose(8) ? FRAMES : 1 + choose(20);
  _Unwind_Backtrace(expect, &expected);
  const wn_callstack *captured = callstack_capture(callstacks, limit);
  size_t count = expected.count < limit ? expected.count : limit;
  assert_int_equal(wn_callstack_depth(captured), count);
  for (size_t i = 1; i < count; i++) { /* 1 more where an instruction was interrupted (pcs.h) */
    uintptr_t more = wn_callstack_frame(captured, i).pc - expected.pc[i];
    assert_true(more <= 1);
  }
  compared++;
}

typedef void step(unsigned depth);
static step plain, with_array, with_frame_pointer, with_many_registers;
static step *const steps[] = {plain, with_array, with_frame_pointer, with_many_registers};

/* Several places of each function call others, which return to each of them. */
static void go_on(unsigned depth) {
  if (!depth || !choose(12)) compare();
  if (depth) steps[choose(4)](depth - 1);
}

static __attribute__((noinline)) void plain(unsigned depth) {
  go_on(depth);
  if (!choose(3)) go_on(depth / 2);
  kept = depth;
}

static __attribute__((noinline)) void with_array(unsigned depth) {
  size_t size = 8 + 16 * choose(20);
  char *array = alloca(size);
  memset(array, (int)depth, size);
  go_on(depth);
  kept = (uintptr_t)array[size - 1];
}

static __attribute__((noinline)) void with_frame_pointer(unsigned depth) {
  kept = (uintptr_t)__builtin_frame_address(0); /* the function has one then */
  if (choose(2))
    go_on(depth);
  else
    steps[choose(4)](depth ? depth - 1 : 0);
  kept = depth;
}

static __attribute__((noinline)) void with_many_registers(unsigned depth) {
  uintptr_t a = choose(9), b = a * 3, c = b ^ depth, d = c + 5, e = d * a, f = e ^ b;
  go_on(depth);
  kept = a + b;
  if (!choose(4)) go_on(depth / 3);
  kept = c ^ d ^ e ^ f;
}

static void on_signal(int number) {
  (void)number;
  compare();
  plain(choose(4));
}

static void install(void) {
  static char stack[1 << 16];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  assert_int_equal(sigaltstack(&alternate, NULL), 0);
  assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
  action.sa_flags = 0;
  assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
}

static void stacks_that_begin_alike_are_told_apart_where_they_are_not(void **state) {
  (void)state;
  callstacks = callstacks_create(&(struct callstacks_options){0});
  random_seed(&choices, 1, 2, 3);
  install();
  for (int round = 0; round < ROUNDS; round++) {
    steps[choose(4)](choose(DEEPEST));
    if (!choose(8)) assert_int_equal(raise(choose(2) ? SIGUSR1 : SIGUSR2), 0);
  }
  assert_true(compared > ROUNDS);
  callstacks_destroy(callstacks);
}

static void each_context_has_stacks_of_its_own_in_turn(void **state) {
  (void)state;
  struct callstacks *contexts[] = {callstacks_create(&(struct callstacks_options){0}),
                                   callstacks_create(&(struct callstacks_options){0})};
  for (int round = 0; round < 100; round++) {
    callstacks = contexts[choose(2)];
    steps[choose(4)](choose(10));
  }
  for (int i = 0; i < 2; i++) callstacks_destroy(contexts[i]);
}

/* Tables that are full give the empty stack, and no stack is mistaken for another afterwards. */
static void a_full_table_spoils_no_later_stack(void **state) {
  (void)state;
  callstacks = callstacks_create(&(struct callstacks_options){.nodes_most = 1});
  for (int i = 0; i < 100; i++) kept = wn_callstack_depth(callstack_capture(callstacks, SIZE_MAX));
  struct callstacks *full = callstacks;
  callstacks = callstacks_create(&(struct callstacks_options){0});
  for (int round = 0; round < 100; round++) steps[choose(4)](choose(10));
  callstacks_destroy(full);
  callstacks_destroy(callstacks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stacks_that_begin_alike_are_told_apart_where_they_are_not),
      cmocka_unit_test(each_context_has_stacks_of_its_own_in_turn),
      cmocka_unit_test(a_full_table_spoils_no_later_stack),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
