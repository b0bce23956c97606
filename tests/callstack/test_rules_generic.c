/* What processors do whose unwind information is not read: they walk frame pointers. Linked with
 * rules_generic.c instead of this processor's own rules, and compiled with frame pointers. */
#include "support/test.h"

#include "callstack/capture.h"
#include <stdlib.h>
#include <unwind.h>

enum { FRAMES = 256, DEEP = 100 };

static struct callstacks *callstacks;
static const wn_callstack *captured;
static uintptr_t expected[FRAMES];
static size_t expected_count;

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *unused) {
  (void)unused;
  if (expected_count < FRAMES) expected[expected_count++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

static __attribute__((noinline)) int capture_here(void) {
  captured = callstack_keep(callstack_capture(callstacks, FRAMES));
  expected_count = 0;
  _Unwind_Backtrace(note, NULL);
  return (int)expected_count;
}

static __attribute__((noinline)) int recurse(int left) {
  volatile int here = left ? recurse(left - 1) : capture_here();
  return here;
}

static void frame_pointers_lead_outwards(void **state) {
  (void)state;
  recurse(DEEP);
  assert_true(wn_callstack_depth(captured) > DEEP + 2);
  for (size_t i = 1; i < DEEP + 2; i++) assert_int_equal(wn_callstack_frame(captured, i).pc, expected[i]);
}

static int compare(const void *a, const void *b) {
  (void)a, (void)b;
  capture_here();
  return 0;
}

/* The C library's code has none: what the walk finds is not sure, but it ends, and begins well. */
static void code_without_frame_pointers_does_no_harm(void **state) {
  (void)state;
  int numbers[2] = {2, 1};
  qsort(numbers, 2, sizeof *numbers, compare);
  assert_in_range(wn_callstack_depth(captured), 2, FRAMES);
  assert_int_equal(wn_callstack_frame(captured, 1).pc, expected[1]);
}

static void depth_is_kept(void **state) {
  (void)state;
  captured = callstack_keep(callstack_capture(callstacks, 1));
  assert_int_equal(wn_callstack_depth(captured), 1);
}

int main(void) {
  callstacks = callstacks_create(&(struct callstacks_options){0});
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frame_pointers_lead_outwards),
      cmocka_unit_test(code_without_frame_pointers_does_no_harm),
      cmocka_unit_test(depth_is_kept),
  };
  int failed = RUN_TESTS(tests);
  callstacks_destroy(callstacks);
  return failed;
}
/* SPDX-License-Identifier: MIT */
