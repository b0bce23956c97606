/* Go runs C on the stack of the thread, and its own code on stacks of goroutines, elsewhere in
 * memory. runtime.asmcgocall changes from one to the other. It keeps the goroutine's g at
 * 48(SP), and at 40(SP) how far below the end of the goroutine's stack its own return address
 * is; g begins with the bounds of that stack. The frame pointer is the caller's still, since C
 * saves it.
 *
 * All this is what the instructions do that follow the call of C, so they are compared, and not
 * a version of Go:
 *
 *     mov 48(%rsp), %rdi     the g
 *     mov 8(%rdi), %rsi      the end of its stack
 *     sub 40(%rsp), %rsi
 *
 * Code of another shape ends the stack, as it does where the call was made on the thread's stack
 * (Go's `nosave`). Every word is read as by any walk: after asking whether it can be. */
#include "callstack/go.h"

enum { SAVED_G = 48, SAVED_DEPTH = 40, CODE_WORDS = 2, STACK_END = 8 };

#ifdef __x86_64__
/* The first 16 bytes behind the call, of which the last two belong to what follows. */
static bool is_return_of_asmcgocall(struct walk *walk) {
  static const uintptr_t code[CODE_WORDS] = {0x778b4830247c8b48, 0x2824742b4808},
                         mask[CODE_WORDS] = {~(uintptr_t)0, 0xffffffffffff};
  for (unsigned i = 0; i < CODE_WORDS; i++) {
    uintptr_t found;
    if (!walk_read(walk, walk->pc + i * sizeof found, &found) || (found & mask[i]) != code[i]) return false;
  }
  return true;
}
#else
static bool is_return_of_asmcgocall(struct walk *walk) {
  (void)walk;
  return false;
}
#endif

/* ---- shared ---- */

bool go_step(struct walk *walk) {
  uintptr_t g, depth, low, high, pc;
  if (!is_return_of_asmcgocall(walk) || !walk_read(walk, walk->sp + SAVED_G, &g) ||
      !walk_read(walk, walk->sp + SAVED_DEPTH, &depth) || !g || g % 8 || !walk_read(walk, g, &low) ||
      !walk_read(walk, g + STACK_END, &high))
    return false;
  if (low >= high || high % 8 || depth % 8 || depth < 16 || depth > high - low ||
      !walk_read(walk, high - depth, &pc) || !pc)
    return false;
  walk->pc = pc;
  walk_move(walk, high - depth + 8);
  return true;
}
/* SPDX-License-Identifier: MIT */
