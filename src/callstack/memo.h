/* The outer part of a thread's last stack. The next stack mostly ends in the same frames, and two
 * comparisons a frame show that they are the same.
 *
 * A quick rule (pcs.h) unwinds a frame from three registers: its code address, its stack pointer
 * and its frame pointer. The caller's registers then depend on two words of the stack at most: the
 * return address and the saved frame pointer. So a walk that has the three registers of a
 * remembered step, and finds these two words unchanged, goes on to the same caller; and so on
 * outwards. If all callers are the same, so is the stack. At the first caller that differs, the
 * walk unwinds again by rules. The frame pointer is compared only where the walk needs its value
 * (STEP_NEEDS_BP): elsewhere compilers use the register for other things, and it may differ
 * although the callers are the same.
 *
 * `at` is in order from the outermost frame inwards. If the walk ended at a return address of 0,
 * that end is `at[0]`, and no frame. Only walks that came to an end are remembered. Of such a walk,
 * the memo gets the frames that lie further out than the last step by a slower rule. If more than
 * TRAIL of them are new, the memo gets the outermost TRAIL; later walks add the frames further in.
 *
 * The memo has the last stack itself too (stack.h): the frames of the steps in `at`, and the frames
 * further in. It is in use until that stack is released.
 *
 * A context has a few memos, which its threads take in turn. A walk that finds its memo in use, by
 * another thread or by the walk that a signal handler interrupted, uses no memo. Threads that share
 * a memo only replace each other's stacks. */
#ifndef CALLSTACK_MEMO_H
#define CALLSTACK_MEMO_H

#include "callstack/stack.h"
#include "callstack/unwind.h"

enum { MEMO = 64, TRAIL = 32, MEMOS = 64 };

/* A frame as a walk reached it. */
struct memo_step {
  uintptr_t pc, sp, bp;
  uint32_t frame;   /* its number in pcs.h */
  uint32_t restore; /* rule_restore of its rule, and STEP_NEEDS_BP */
};

/* The walk needs the frame pointer's value at this frame: the frame is unwound by the frame
 * pointer, or the frame leaves the frame pointer unchanged and the walk needs it at the caller. */
#define STEP_NEEDS_BP (UINT32_C(1) << 31)

struct memo {
  struct wn_callstack stack; /* the last one, in `frame`; first, so that a stack leads to its memo */
  _Atomic(bool) busy;        /* the thread that sets it may use the rest */
  uint32_t changes;          /* `changes` of the modules when the memo was made */
  uint32_t count, ends;      /* `ends`: 1 if at[0] is an end, else 0 */
  struct memo_step at[MEMO];
  uint32_t frame[CALLSTACK_FRAMES_MOST];
};

/* How many of the stack's outermost frames belong to the first `steps` steps. */
static inline uint32_t memo_frames(const struct memo *memo, uint32_t steps) {
  return steps ? steps - memo->ends : 0;
}

/* The outermost steps of a walk so far: a ring. */
struct trail {
  uint32_t count; /* since the last step by a slower rule */
  struct memo_step at[TRAIL];
};

static inline struct memo_step *trail_at(struct trail *trail, uint32_t i) { return &trail->at[i % TRAIL]; }

/* Notes a step. The walk is about to leave the frame `frame` by `rule`. */
static inline void trail_note(struct trail *trail, const struct walk *walk, uint32_t frame, uint64_t rule) {
  if (rule_kind(rule) == RULE_GUESS || rule_kind(rule) == RULE_SPECIAL) {
    trail->count = 0;
    return;
  }
  *trail_at(trail, trail->count++) = (struct memo_step){
      .pc = walk->pc, .sp = walk->sp, .bp = walk->bp, .frame = frame, .restore = rule_restore(rule)};
}

/* How far below the caller's stack pointer its frame pointer is saved; 0: it is unchanged. */
static inline uintptr_t step_saved(const struct memo_step *step) {
  return restore_frame_bytes(step->restore);
}

/* The frame pointer of a frame's caller, `outer`. */
static inline uintptr_t memo_bp(const struct memo_step *step, const struct memo_step *outer, uintptr_t bp) {
  return step_saved(step) ? stack_word(outer->sp - step_saved(step)) : bp;
}

/* Whether a walk with these registers is at a step. */
static inline bool memo_stands(const struct memo_step *step, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  return step->sp == sp && step->pc == pc && (!(step->restore & STEP_NEEDS_BP) || step->bp == bp);
}

/* Whether the caller of a step is the same as before. The walk is at the step, which is not the
 * outermost one. Reads nothing beyond the caller's stack pointer, nor below the frame
 * (FRAME_BELOW). If the walk needs the frame pointer at the caller, and this frame did not save it,
 * then the walk needs it at this frame too, and has compared it already. */
static inline bool memo_calls(const struct memo_step *step) {
  const struct memo_step *outer = step - 1;
  if (stack_word(outer->sp - 8) != outer->pc) return false;
  if (!(outer->restore & STEP_NEEDS_BP) || !step_saved(step)) return true;
  return stack_word(outer->sp - step_saved(step)) == outer->bp;
}
static inline bool memo_goes_on(const struct memo_step *step, uintptr_t high) {
  return step[-1].sp <= high && memo_calls(step);
}

/* Whether all callers of the innermost step are the same as before. The walk is at that step, and
 * the memo's part of the stack can be read. */
static inline bool memo_is_same(const struct memo *memo) {
  const struct memo_step *step = &memo->at[memo->count - 1];
  while (step > memo->at && memo_calls(step)) step--;
  return step == memo->at;
}

/* The walk is at step `i`. Follows the callers outwards as long as they are the same as before.
 * Returns the last step reached. */
static inline uint32_t memo_follow(const struct memo *memo, uintptr_t high, uint32_t i) {
  while (i && memo_goes_on(&memo->at[i], high)) i--;
  return i;
}

/* Forgets all but the `kept` outermost steps. If none is kept, the memo gets the end of `walk` as
 * its first step if the walk ended at a return address of 0; else the memo becomes empty. */
static inline void memo_cut(struct memo *memo, const struct walk *walk, uint32_t kept) {
  memo->count = kept;
  if (kept) return;
  memo->ends = !walk->pc;
  memo->count = memo->ends;
  memo->at[0] = (struct memo_step){.sp = walk->sp, .bp = walk->bp};
}

/* Adds the next step inwards. Whether it needs the frame pointer follows from its rule and from the
 * step added before it, its caller. */
static inline void memo_add(struct memo *memo, const struct memo_step *step) {
  struct memo_step *at = &memo->at[memo->count];
  uint32_t restore = step->restore & ~STEP_NEEDS_BP;
  if (restore_kind(restore) == RULE_FRAME_POINTER)
    restore |= STEP_NEEDS_BP;
  else if (!restore_frame_bytes(restore) && memo->count)
    restore |= at[-1].restore & STEP_NEEDS_BP;
  *at = *step;
  at->restore = restore;
  memo->count++;
}

#endif
/* SPDX-License-Identifier: MIT */
