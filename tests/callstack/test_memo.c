/* Stacks that begin like the thread's last one are right: random programs of functions that use the
 * stack in different ways, with signal handlers in between, compared with what the compiler's
 * library finds. */
#include "base/check.h"
#include "base/random.h"
#include "callstack/capture.h"
#include "support/test.h"

#include <alloca.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
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
  const wn_callstack *captured = callstack_keep(callstack_capture(callstacks, limit));
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
  callstacks = callstacks_create(&(struct callstacks_options){.kept_most = 1});
  for (int i = 0; i < 100; i++)
    kept = wn_callstack_depth(callstack_keep(callstack_capture(callstacks, SIZE_MAX)));
  struct callstacks *full = callstacks;
  callstacks = callstacks_create(&(struct callstacks_options){0});
  for (int round = 0; round < 100; round++) steps[choose(4)](choose(10));
  callstacks_destroy(full);
  callstacks_destroy(callstacks);
}

static const wn_callstack *volatile interrupted[2];
static volatile sig_atomic_t interruptions;

static void on_interruption(int number) {
  (void)number;
  interrupted[interruptions++] = callstack_keep(callstack_capture(callstacks, SIZE_MAX));
}

static bool is_in(const wn_callstack *callstack, uintptr_t pc) {
  for (size_t i = 0; i < wn_callstack_depth(callstack); i++) {
    uintptr_t more = wn_callstack_frame(callstack, i).pc - pc;
    if (more <= 1) return true; /* as above */
  }
  return false;
}

/* Interrupts itself at two places of one frame. Where a caller's return address would lie, below
 * the stack pointer, is the address of the first, as pcs.h has it: so a memo that took the
 * interrupted frame for a caller would find it unchanged. */
static __attribute__((noinline)) void interrupt_twice(uintptr_t place[2]) {
#ifdef __x86_64__
  long process = getpid(), thread = gettid();
  __asm__ volatile("leaq 1f+1(%%rip), %%r10\n\tmovq %%r10, -8(%%rsp)\n\tmovl %[call], %%eax\n\tsyscall\n"
                   "1:\tmovl %[call], %%eax\n\tsyscall\n"
                   "2:\tleaq 1b(%%rip), %[first]\n\tleaq 2b(%%rip), %[second]"
                   : [first] "=&r"(place[0]), [second] "=&r"(place[1])
                   : [call] "i"(SYS_tgkill), "D"(process), "S"(thread), "d"((long)SIGUSR2)
                   : "rax", "rcx", "r10", "r11", "memory", "cc");
#else
  place[0] = place[1] = 0;
#endif
}

static void a_frame_that_was_interrupted_elsewhere_is_another(void **state) {
  (void)state;
  uintptr_t place[2];
  struct sigaction action = {.sa_handler = on_interruption}, before;
  callstacks = callstacks_create(&(struct callstacks_options){0});
  assert_int_equal(sigaction(SIGUSR2, &action, &before), 0);
  for (int round = 0; round < 2; round++) { /* what meets a module for the first time is not remembered */
    interruptions = 0;
    interrupt_twice(place);
    if (!place[0]) break; /* not on this processor */
    assert_int_equal(interruptions, 2);
  }
  sigaction(SIGUSR2, &before, NULL);
  for (int i = 0; i < interruptions; i++) {
    assert_true(is_in(interrupted[i], place[i]));
    assert_false(is_in(interrupted[i], place[1 - i]));
  }
  callstacks_destroy(callstacks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stacks_that_begin_alike_are_told_apart_where_they_are_not),
      cmocka_unit_test(each_context_has_stacks_of_its_own_in_turn),
      cmocka_unit_test(a_full_table_spoils_no_later_stack),
      cmocka_unit_test(a_frame_that_was_interrupted_elsewhere_is_another),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
