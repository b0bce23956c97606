/* The outer part of a thread's last stack: the next stack mostly ends in the same frames, and to see that they are the same
 * costs two comparisons a frame.
 *
 * How to leave a frame by one of the two quick rules (pcs.h) follows from its address, its stack pointer and its frame pointer;
 * where that leads depends on no more than two words of the stack: the return address and the frame pointer saved. So if a walk
 * stands where a remembered walk stood, with the same three registers, and these two words are what they were, then the caller
 * is the same, and so on outwards. If all are, the stack's node is known too. If one is not, the walk goes on from there.
 * Where no frame further out is left by the frame pointer before it is loaded from the stack anew, it does not matter what it
 * is: compilers use that register for other things (`needs_bp`).
 *
 * `at` is in order from the outermost frame inwards. Where the walk ended because a return address was 0, that end is `at[0]`,
 * with node 0. Only walks that came to an end are remembered, and of those what is outside of the last step by a slower
 * rule; of a walk through many new frames the outermost, the others at its next times.
 *
 * A context has a few memos, which its threads take in turn; one that is in use, by a thread or by what a signal handler
 * interrupted, is done without. Threads that share a memo only forget each other's stacks. */
#ifndef CALLSTACK_MEMO_H
#define CALLSTACK_MEMO_H

#include "callstack/nodes.h"
#include "callstack/unwind.h"

enum { MEMO = 64, TRAIL = 32, MEMOS = 64 };

/* A frame as a walk reached it. */
struct memo_step {
  uintptr_t pc, sp, bp;
  uint32_t frame; /* its number in pcs.h */
  uint32_t way;   /* how it is left, by a rule's middle bits (rule_way), and STEP_NEEDS_BP */
};

/* It is left by the frame pointer, or a frame further out is before the frame pointer is loaded. */
#define STEP_NEEDS_BP (UINT32_C(1) << 31)

struct memo {
  _Atomic(bool) busy;   /* who sets it has the rest */
  uint32_t changes;     /* of the modules, when it was made */
  uint32_t count, ends; /* `ends`: 1 if at[0] is an end, else 0 */
  struct memo_step at[MEMO];
  struct node *node[MEMO];
};

/* The outermost steps of a walk so far: a ring. */
struct trail {
  uint32_t count; /* since the last step by a slower rule */
  struct memo_step at[TRAIL];
};

static inline struct memo_step *trail_at(struct trail *trail, uint32_t i) { return &trail->at[i % TRAIL]; }

/* The walk is about to leave a frame. */
static inline void trail_note(struct trail *trail, const struct walk *walk, uint32_t frame, uint64_t rule) {
  if (rule_kind(rule) == RULE_GUESS || rule_kind(rule) == RULE_SPECIAL) {
    trail->count = 0;
    return;
  }
  *trail_at(trail, trail->count++) = (struct memo_step){
      .pc = walk->pc, .sp = walk->sp, .bp = walk->bp, .frame = frame, .way = rule_way(rule)};
}

/* How far below the caller's stack pointer its frame pointer lies; 0: it is unchanged. */
static inline uintptr_t step_saved(const struct memo_step *step) { return way_frame_bytes(step->way); }

/* The frame pointer of a frame's caller, `outer`. */
static inline uintptr_t memo_bp(const struct memo_step *step, const struct memo_step *outer, uintptr_t bp) {
  return step_saved(step) ? stack_word(outer->sp - step_saved(step)) : bp;
}

/* Whether a walk that stands here stands at a step. */
static inline bool memo_stands(const struct memo_step *step, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  return step->sp == sp && step->pc == pc && (!(step->way & STEP_NEEDS_BP) || step->bp == bp);
}

/* Whether the caller of a frame at which the walk stands is what it was; not for the outermost step. Reads nothing beyond the
 * caller's stack pointer, nor below the frame (FRAME_BELOW). Where a frame pointer is needed and was not saved by the frame within,
 * that needs it, too, so that it was compared there. */
static inline bool memo_calls(const struct memo_step *step) {
  const struct memo_step *outer = step - 1;
  if (stack_word(outer->sp - 8) != outer->pc) return false;
  if (!(outer->way & STEP_NEEDS_BP) || !step_saved(step)) return true;
  return stack_word(outer->sp - step_saved(step)) == outer->bp;
}
static inline bool memo_goes_on(const struct memo_step *step, uintptr_t high) {
  return step[-1].sp <= high && memo_calls(step);
}

/* Whether all callers of the innermost frame are what they were; for a walk that stands there, and knows that all of the stack
 * that the memo is of can be read. */
static inline bool memo_is_same(const struct memo *memo) {
  const struct memo_step *step = &memo->at[memo->count - 1];
  while (step > memo->at && memo_calls(step)) step--;
  return step == memo->at;
}

/* The outermost of the frames from `i` on, where the walk stands, whose callers but for its own are the same. */
static inline uint32_t memo_follow(const struct memo *memo, uintptr_t high, uint32_t i) {
  while (i && memo_goes_on(&memo->at[i], high)) i--;
  return i;
}

/* Forgets all but the `kept` outermost steps; if none is kept, a walk came to its end where `walk` stands. */
static inline void memo_cut(struct memo *memo, const struct walk *walk, uint32_t kept, struct node *root) {
  memo->count = kept;
  if (kept) return;
  memo->ends = !walk->pc;
  memo->count = memo->ends;
  memo->at[0] = (struct memo_step){.sp = walk->sp, .bp = walk->bp};
  memo->node[0] = root;
}

/* The next step inwards. Whether it needs the frame pointer follows from the one that was added before. */
static inline void memo_add(struct memo *memo, const struct memo_step *step, struct node *node) {
  struct memo_step *at = &memo->at[memo->count];
  uint32_t way = step->way & ~STEP_NEEDS_BP;
  if (way_kind(way) == RULE_FRAME_POINTER)
    way |= STEP_NEEDS_BP;
  else if (!way_frame_bytes(way) && memo->count)
    way |= at[-1].way & STEP_NEEDS_BP;
  *at = *step;
  at->way = way;
  memo->node[memo->count++] = node;
}

#endif
/* SPDX-License-Identifier: MIT */
