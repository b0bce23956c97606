/* What does it cost to capture a stack? Nanoseconds a capture at several depths, of stacks met
 * before and of new ones, beside backtrace() of the C library; with a language's frames, as many as
 * there are native ones: each in one of those (both), or alone; and of stacks that differ from the
 * last one in up to so many inner frames, of few stacks or of many, as programs have them that work
 * on trees.
 *
 *   bench_capture */
#include "base/os.h"
#include "callstack/capture.h"
#include <execinfo.h>
#include <stdio.h>

enum { WARM = 200000, SLOW = 20000, FEW = 10, MANY = 16 };

static struct callstacks *callstacks;
static volatile uintptr_t kept;
static const void *native[128]; /* addresses in the frames of this program, innermost first */

static inline void use(const wn_callstack *callstack) {
  kept = (uintptr_t)callstack;
  callstack_release(callstack);
}

/* Of the whole stack, or of as many innermost frames, which are not remembered from one capture to
 * the next. */
static uint64_t time_captures(size_t depth) {
  uint64_t start = os_monotonic_ns();
  for (int i = 0; i < WARM; i++) use(callstack_capture(callstacks, depth));
  return os_monotonic_ns() - start;
}

/* Every second language frame is of a place of its own. */
static uint64_t time_language(size_t depth, bool alone) {
  wn_language_frame frames[64];
  for (size_t i = 0; i < depth; i++)
    frames[i] = (wn_language_frame){
        callstacks_place(callstacks,
                         &(struct callstack_place){.function = "f", .file = "file", .line = (unsigned)i / 2}),
        native[i]};
  const struct callstack_wish wish = {.depth = alone ? depth : 2 * depth,
                                      .language = frames,
                                      .language_count = depth,
                                      .language_only = alone};
  uint64_t start = 0;
  for (int round = 0; round < 2; round++) { /* the second one counts */
    start = os_monotonic_ns();
    for (int i = 0; i < WARM; i++) use(callstack_capture_with(callstacks, &wish));
  }
  return os_monotonic_ns() - start;
}

static uint64_t time_backtraces(size_t depth) {
  void *frames[128];
  uint64_t start = os_monotonic_ns();
  for (int i = 0; i < SLOW; i++) kept = (uintptr_t)backtrace(frames, (int)depth);
  return os_monotonic_ns() - start;
}

static void report(size_t depth) {
  uint64_t start = os_monotonic_ns();
  callstacks = callstacks_create(&(struct callstacks_options){0});
  uint64_t created = os_monotonic_ns();
  use(callstack_capture(callstacks, depth));
  uint64_t first = os_monotonic_ns();
  time_captures(SIZE_MAX);
  double warm = (double)time_captures(SIZE_MAX) / WARM, cut = (double)time_captures(depth) / WARM;
  time_backtraces(depth);
  double other = (double)time_backtraces(depth) / SLOW;
  printf("depth %2zu: %6.1f ns warm, %6.1f ns cut, %8.1f us the first, %6.1f us to create; backtrace() %8.1f "
         "ns\n",
         depth, warm, cut, (double)(first - created) / 1e3, (double)(created - start) / 1e3, other);
  double both = (double)time_language(depth, false) / WARM, alone = (double)time_language(depth, true) / WARM;
  printf("          %6.1f ns with as many frames of a language, %6.1f ns those alone\n", both, alone);
  callstacks_destroy(callstacks);
}

static bool leaf_captures;

/* Down a binary tree: each way has a stack of its own. */
static __attribute__((noinline)) void branch(uint32_t way, unsigned levels) {
  if (!levels) {
    if (leaf_captures) use(callstack_capture(callstacks, SIZE_MAX));
  } else if (way & 1) {
    branch(way >> 1, levels - 1);
    kept = 1;
  } else {
    branch(way >> 1, levels - 1);
    kept = 2;
  }
}

static uint64_t time_ways(unsigned levels, bool capture) {
  uint32_t random = 1;
  leaf_captures = capture;
  uint64_t start = os_monotonic_ns();
  for (int i = 0; i < WARM; i++) {
    random = random * 1664525 + 1013904223;
    branch(random >> (32 - levels), levels);
  }
  return os_monotonic_ns() - start;
}

/* Beyond what it takes to go there. */
static double cost_of_others(unsigned levels) {
  time_ways(levels, true);
  time_ways(levels, true); /* by now nearly all were met */
  uint64_t without = time_ways(levels, false), with = time_ways(levels, true);
  return ((double)with - (double)without) / WARM;
}

static void report_others(void) {
  callstacks = callstacks_create(&(struct callstacks_options){0});
  double few = cost_of_others(FEW), many = cost_of_others(MANY);
  printf("another, of 2^%d: %6.1f ns; of 2^%d: %6.1f ns\n", FEW, few, MANY, many);
  callstacks_destroy(callstacks);
}

/* Two functions in turn, so that the frames are not all the same. */
static void descend_even(size_t depth, size_t wanted);
static __attribute__((noinline)) void descend_odd(size_t depth, size_t wanted) {
  native[depth] = __builtin_frame_address(0);
  if (depth == 0)
    report(wanted);
  else
    descend_even(depth - 1, wanted);
  kept = depth;
}
static __attribute__((noinline)) void descend_even(size_t depth, size_t wanted) {
  native[depth] = __builtin_frame_address(0);
  if (depth == 0)
    report(wanted);
  else
    descend_odd(depth - 1, wanted);
  kept = depth + 1;
}

int main(void) {
  const size_t depths[] = {5, 20, 50};
  for (size_t i = 0; i < 3; i++)
    descend_odd(depths[i], depths[i]); /* and some frames more, of those around */
  report_others();
  return 0;
}
/* SPDX-License-Identifier: MIT */
