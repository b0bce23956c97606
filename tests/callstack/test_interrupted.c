/* A signal handler that interrupts anything at any instruction and does the same finds and leaves
 * everything right. Here the processor itself interrupts: with its trap flag set it raises SIGTRAP
 * after each instruction, and the handler acts at the one whose turn it is. So what races between
 * threads only happen to meet is met in order. */
#include "support/test.h"

#include "base/check.h"
#include "callstack/capture.h"
#include "callstack/nodes.h"
#include "support/trap.h"
#include <signal.h>
#include <ucontext.h>

#ifdef HAS_TRAP

enum { POINTS = 30, POINTS_OF_CAPTURE = 20, NEVER = -1 };

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

/* Does it again and again, each time interrupted elsewhere: at each instruction, if there are not
 * too many. */
static void interrupted_everywhere(void (*begin)(void), void (*work)(void), void (*end)(void), long points) {
  begin();
  interrupted(work, 0);
  long all = traps, each = all / points + 1;
  end();
  for (long after = 1; after <= all; after += each) {
    begin();
    interrupted(work, after);
    end();
  }
}

/* ---- entering a node ---- */

enum { WANTED = 5 << LINK_FRAME_BITS, FULL = NODE_DIRECT + NODE_CHILDREN, LATER = 2, OTHERS = FULL + 8 };

static struct nodes nodes;
static struct node *parent, *entered, *entered_by_handler;
static uint32_t before, others_first, others_then; /* children: already there; entered by the handler */

/* Links alone do not tell these from what is wanted. */
static uint32_t other(uint32_t i) { return (100 + i) << LINK_FRAME_BITS; }

static void begin_nodes(void) {
  assert_true(nodes_create(&nodes, NODES_MOST, &nodes));
  parent = nodes_child(&nodes, nodes_at(&nodes, 0), 7);
  entered_by_handler = NULL;
  for (uint32_t i = 0; i < before; i++) assert_non_null(nodes_child(&nodes, parent, other(i)));
}

static void enter(void) { entered = nodes_child(&nodes, parent, WANTED); }

static void enter_in_handler(void) {
  for (uint32_t i = 0; i < others_first; i++) nodes_child(&nodes, parent, other(before + i));
  entered_by_handler = nodes_child(&nodes, parent, WANTED);
  for (uint32_t i = 0; i < others_then; i++) nodes_child(&nodes, parent, other(before + others_first + i));
}

/* Each child is there once, and can be found; so are those that come later, and take what was
 * prepared in vain. */
static void end_nodes(void) {
  uint32_t others = before + LATER + (entered_by_handler ? others_first + others_then : 0);
  const struct node *seen[OTHERS + 1] = {entered};
  assert_true(others <= OTHERS);
  if (entered_by_handler) assert_ptr_equal(entered, entered_by_handler);
  for (uint32_t i = 0; i < others; i++) {
    seen[i + 1] = nodes_child(&nodes, parent, other(i));
    for (uint32_t j = 0; j <= i; j++) assert_ptr_not_equal(seen[i + 1], seen[j]);
  }
  for (uint32_t i = 0; i <= others; i++) {
    assert_int_equal(seen[i]->frame, i ? other(i - 1) : WANTED);
    assert_int_equal(seen[i]->parent, parent->number);
    assert_ptr_equal(nodes_at(&nodes, seen[i]->number), seen[i]);
    assert_ptr_equal(nodes_child(&nodes, parent, seen[i]->frame), seen[i]);
  }
  assert_int_equal(nodes.used,
                   others + 2); /* with the parent; what was entered twice would be counted twice */
  nodes_destroy(&nodes);
}

static void a_child_that_a_signal_handler_enters_meanwhile_is_there_once(void **state) {
  (void)state;
  static const uint32_t present[] = {0, NODE_DIRECT - 1, NODE_DIRECT, FULL - 1, FULL};
  act = enter_in_handler;
  for (size_t i = 0; i < sizeof present / sizeof *present; i++)
    for (uint32_t first = 0; first <= NODE_DIRECT; first += NODE_DIRECT) {
      before = present[i];
      others_first = first;
      others_then = 2;
      interrupted_everywhere(begin_nodes, enter, end_nodes, POINTS);
    }
}

/* ---- capturing ---- */

enum { CAPTURES = 4 };

static struct callstacks *callstacks;
static const wn_callstack *captured, *captured_by_handler;

static __attribute__((noinline)) void capture(void) { captured = callstack_capture(callstacks, SIZE_MAX); }

static void capture_in_handler(void) { captured_by_handler = callstack_capture(callstacks, SIZE_MAX); }

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
  for (int i = 1; i < CAPTURES; i++) assert_ptr_equal(stack[i], stack[0]);
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
      cmocka_unit_test_setup(a_child_that_a_signal_handler_enters_meanwhile_is_there_once, install),
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
