/* Unwind information that is wrong ends the stack, where it is met for the first time and ever
 * after; nothing is read that it leads to beyond the stack. */
#include "support/test.h"

#include "callstack/capture.h"
#include <pthread.h>

typedef void leaf_function(void);

static struct callstacks *callstacks;
static const wn_callstack *captured;

static __attribute__((noinline)) void capture(void) {
  captured = callstack_keep(callstack_capture(callstacks, SIZE_MAX));
}

#ifdef __x86_64__

/* Each has `frame_pointer` in that register while it calls the leaf. The first says that its caller
 * is found by it, the second that its own frame is of 112 MiB, the third that the caller's frame
 * pointer was saved half a mebibyte further in. */
void lie_by_frame_pointer(leaf_function *leaf, uintptr_t frame_pointer);
void lie_by_size(leaf_function *leaf, uintptr_t frame_pointer);
void lie_by_saved(leaf_function *leaf, uintptr_t frame_pointer);

#define LIAR(name, lie)                                                               \
  "\t.type " name ", @function\n" name                                                \
  ":\n\t.cfi_startproc\n\tpush %rbp\n\tmov %rsi, %rbp\n\t.cfi_def_cfa %rsp, 16\n" lie \
  "\tcall *%rdi\n\tpop %rbp\n\t.cfi_def_cfa %rsp, 8\n\tret\n\t.cfi_endproc\n\t.size " name ", .-" name "\n"

__asm__("\t.text\n" LIAR("lie_by_frame_pointer", "\t.cfi_def_cfa %rbp, 16\n\t.cfi_offset %rbp, -16\n")
            LIAR("lie_by_size", "\t.cfi_def_cfa %rsp, 0x7000000\n")
                LIAR("lie_by_saved", "\t.cfi_offset %rbp, -524280\n"));

static void expect_an_end(void (*liar)(leaf_function *, uintptr_t), uintptr_t frame_pointer) {
  for (int round = 0; round < 3; round++) {
    uint64_t truncated = callstacks_counts(callstacks).truncated;
    liar(capture, frame_pointer);
    assert_int_equal(callstacks_counts(callstacks).truncated, truncated + 1);
    assert_int_equal(wn_callstack_depth(captured), 2);
  }
}

/* So that the stack is known to be there as far down. */
static __attribute__((noinline)) void capture_deep_down(void) {
  volatile char room[600 << 10];
  room[0] = 0;
  capture();
  (void)room[1];
}

/* In a thread of its own, of whose stack nothing is known yet. */
static void *meet_lies(void *unused) {
  volatile uintptr_t above[64] = {0};
  uintptr_t here = (uintptr_t)above;
  expect_an_end(lie_by_saved, here);
  expect_an_end(lie_by_size, here);
  capture_deep_down();
  expect_an_end(lie_by_saved, here);
  uintptr_t lies[] = {0,
                      8,
                      1,
                      UINTPTR_MAX - 7,
                      UINTPTR_MAX - 15,
                      here + 4,
                      here + 7,
                      here - 65536,
                      here - 4096,
                      UINT64_C(1) << 46,
                      UINT64_C(1) << 62,
                      here + (UINT64_C(1) << 30)};
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) expect_an_end(lie_by_frame_pointer, lies[i]);
  uintptr_t no_addresses[] = {UINT64_C(1) << 63, UINTPTR_MAX, (uintptr_t)meet_lies | UINT64_C(1) << 63};
  for (size_t i = 0; i < sizeof no_addresses / sizeof *no_addresses; i++) {
    above[1] = no_addresses[i]; /* where the return address is looked for */
    expect_an_end(lie_by_frame_pointer, here);
  }
  return unused;
}

static void wrong_unwind_information_ends_a_stack(void **state) {
  (void)state;
  pthread_t thread;
  callstacks = callstacks_create(&(struct callstacks_options){0});
  assert_int_equal(pthread_create(&thread, NULL, meet_lies, NULL), 0);
  pthread_join(thread, NULL);
  callstacks_destroy(callstacks);
}

#else

static void wrong_unwind_information_ends_a_stack(void **state) {
  (void)state;
  skip(); /* other processors follow frame pointers */
  capture();
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_unwind_information_ends_a_stack)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
