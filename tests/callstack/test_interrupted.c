/* A signal handler that interrupts anything at any instruction and does the same finds and leaves
 * everything right. Here the processor itself interrupts: with its trap flag set it raises SIGTRAP
 * after each instruction, and the handler acts at the one whose turn it is. So what races between
 * threads only happen to meet is met in order. */
#include "support/test.h"

#include "base/check.h"
#include "callstack/capture.h"
#include "support/trap.h"
#include <signal.h>
#include <ucontext.h>

#ifdef HAS_TRAP

enum { POINTS_OF_CAPTURE = 20, NEVER = -1 };

static volatile long traps, turn; /* since the work began; the one to act at */
static void (*volatile act)(void);

static void on_trap(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  if (++traps != turn) return;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
  act();
}

static int install(void **state) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  (void)state;
  return sigaction(SIGTRAP, &action, NULL);
}

/* Does the work, interrupted after so many instructions; 0: counts them; NEVER: neither. */
static __attribute__((noinline)) void interrupted(void (*work)(void), long after) {
  void (*const how)(void) =
      after == NEVER ? trap_no_more : trap_each_instruction; /* the work is called from one place */
  traps = 0;
  turn = after;
  how();
  work();
  trap_no_more();
}

/* ---- capturing ---- */

enum { CAPTURES = 4 };

static struct callstacks *callstacks;
static const wn_callstack *captured, *captured_by_handler;

static __attribute__((noinline)) void capture(void) {
  captured = callstack_keep(callstack_capture(callstacks, SIZE_MAX));
}

static void capture_in_handler(void) {
  captured_by_handler = callstack_keep(callstack_capture(callstacks, SIZE_MAX));
}

/* The second stack's frames, but for its innermost `but`, are the outermost of the first. */
static void expect_ending(const wn_callstack *stack, const wn_callstack *ending, size_t but) {
  size_t depth = wn_callstack_depth(stack), depth_of_ending = wn_callstack_depth(ending);
  assert_true(depth_of_ending > 3);
  assert_true(depth + but >= depth_of_ending);
  for (size_t i = 1; i <= depth_of_ending - but; i++)
    assert_int_equal(wn_callstack_frame(stack, depth - i).pc,
                     wn_callstack_frame(ending, depth_of_ending - i).pc);
}

/* Several times from one place, and one of them is interrupted. Returns the instructions that were
 * counted. */
static long capture_some(int interrupted_one, long after) {
  const wn_callstack *stack[CAPTURES];
  long plan[CAPTURES], counted[CAPTURES];
  callstacks = callstacks_create(&(struct callstacks_options){0});
  captured_by_handler = NULL;
  for (int i = 0; i < CAPTURES; i++) plan[i] = i == interrupted_one ? after : NEVER;
  for (volatile int i = 0; i < CAPTURES; i++) { /* volatile: else a compiler may make two places of it */
    interrupted(capture, plan[i]);
    stack[i] = captured;
    counted[i] = traps;
  }
  for (int i = 1; i < CAPTURES; i++) assert_true(wn_callstack_equal(stack[i], stack[0]));
  if (captured_by_handler)
    expect_ending(captured_by_handler, captured, 2); /* the work may have been left already */
  assert_int_equal(callstacks_counts(callstacks).full, 0);
  callstacks_destroy(callstacks);
  return counted[interrupted_one];
}

/* The first capture looks everything up, the second enters it in the memo, the third finds it
 * there. The first is left out: it takes a lock, and who interrupts that may not find a module. */
static void a_capture_that_is_interrupted_by_another_is_right_and_so_is_the_other(void **state) {
  (void)state;
  act = capture_in_handler;
  for (int one = 1; one < 3; one++) {
    long all = capture_some(one, 0), each = all / POINTS_OF_CAPTURE + 1;
    for (long after = 1; after <= all; after += each) capture_some(one, after);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_capture_that_is_interrupted_by_another_is_right_and_so_is_the_other, install),
  };
  return RUN_TESTS(tests);
}

#else

static void this_processor_or_build_is_not_known_to_interrupt_itself(void **state) {
  (void)state;
  skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(this_processor_or_build_is_not_known_to_interrupt_itself)};
  return RUN_TESTS(tests);
}

#endif
/* SPDX-License-Identifier: MIT */
