/* The way from C back to a goroutine, by code of the shape of Go's runtime.asmcgocall. */
#include "support/test.h"

#include "callstack/capture.h"
#include <stdlib.h>

enum { FRAMES = 256, STACK = 65536, SAVED_DEPTH = 40, SAVED_G = 48 };

/* How Go's g begins. */
struct g {
  uintptr_t low, high;
};

static struct callstacks *callstacks;
static char stack[STACK] __attribute__((aligned(16)));
static uintptr_t *const saved_depth = (uintptr_t *)(void *)(stack + STACK - 64 + SAVED_DEPTH),
                        *const saved_g = (uintptr_t *)(void *)(stack + STACK - 64 + SAVED_G);
static struct g g;
static size_t depth_seen;
static uintptr_t outermost;

/* Calls a function on the stack that ends at `top`. No unwind information, as in Go's code. */
void asmcgocall(const struct g *g, void (*function)(void), char *top);
__asm__(".text\n.globl asmcgocall\n.type asmcgocall, @function\nasmcgocall:\n"
        "mov %rsp, %rcx\nmov %rdx, %rsp\nsub $64, %rsp\nmov %rdi, 48(%rsp)\n"
        "mov 8(%rdi), %rax\nsub %rcx, %rax\nmov %rax, 40(%rsp)\ncall *%rsi\n"
        "mov 48(%rsp), %rdi\nmov 8(%rdi), %rsi\nsub 40(%rsp), %rsi\nmov %rsi, %rsp\nret\n"
        ".size asmcgocall, . - asmcgocall\n");

static __attribute__((noinline)) void look(void) {
  const wn_callstack *captured = callstack_keep(callstack_capture(callstacks, FRAMES));
  depth_seen = wn_callstack_depth(captured);
  outermost = depth_seen ? wn_callstack_frame(captured, depth_seen - 1).pc : 0;
  callstack_release(captured);
}

static __attribute__((noinline)) void call_c(void (*function)(void)) {
  asmcgocall(&g, function, stack + STACK);
  __asm__ volatile("");
}

static int set_up(void **state) {
  (void)state;
  callstacks = callstacks_create(&(struct callstacks_options){.language = NULL});
  return callstacks ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  callstacks_destroy(callstacks);
  return 0;
}

static void begin(void) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15;
  g = (struct g){here - STACK, here + 256};
}

static void the_goroutines_callers_follow(void **state) {
  (void)state;
  begin();
  look();
  size_t direct = depth_seen;
  uintptr_t end = outermost;
  call_c(look);
  assert_int_equal(outermost, end);
  assert_int_equal(depth_seen, direct + 2);
}

/* What is on the stack is not believed. */
static void look_at(uintptr_t *word, uintptr_t value) {
  uintptr_t right = *word;
  *word = value;
  look();
  *word = right;
  assert_true(depth_seen >= 2 && depth_seen <= 4);
}

static void try_wrong_words(void) {
  static const struct g nowhere = {4096, 1u << 20};
  const struct g backwards = {g.high + 8, g.high};
  look_at(saved_g, 0);
  look_at(saved_g, 16);
  look_at(saved_g, (uintptr_t)&g + 1);
  look_at(saved_g, (uintptr_t)&backwards);
  look_at(saved_g, (uintptr_t)&nowhere);
  look_at(saved_g, UINTPTR_MAX - 7);
  look_at(saved_depth, 0);
  look_at(saved_depth, 8);
  look_at(saved_depth, *saved_depth + 4);
  look_at(saved_depth, g.high - g.low + 8);
  look_at(saved_depth, UINTPTR_MAX - 7);
}

static void wrong_words_end_the_stack(void **state) {
  (void)state;
  begin();
  call_c(try_wrong_words);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_goroutines_callers_follow),
                                     cmocka_unit_test(wrong_words_end_the_stack)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
/* SPDX-License-Identifier: MIT */
