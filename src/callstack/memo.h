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
  uint32_t saved; /* how far below the caller's stack pointer its frame pointer lies; 0: it is unchanged */
  bool uses_bp;   /* it is left by the frame pointer */
  bool needs_bp;  /* so is it, or a frame further out before the frame pointer is loaded */
};

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
  *trail_at(trail, trail->count++) = (struct memo_step){.pc = walk->pc,
                                                        .sp = walk->sp,
                                                        .bp = walk->bp,
                                                        .frame = frame,
                                                        .saved = (uint32_t)rule_frame_bytes(rule),
                                                        .uses_bp = rule_kind(rule) == RULE_FRAME_POINTER};
}

/* The frame pointer of a frame's caller, `outer`. */
static inline uintptr_t memo_bp(const struct memo_step *step, const struct memo_step *outer, uintptr_t bp) {
  return step->saved ? stack_word(outer->sp - step->saved) : bp;
}

/* Whether the walk stands at a step. */
static inline bool memo_stands(const struct memo_step *step, const struct walk *walk) {
  return step->sp == walk->sp && step->pc == walk->pc && (!step->needs_bp || step->bp == walk->bp);
}

/* The index of the frame at which the walk stands, below `left`; MEMO if it is not there. `left` is how many are left, since
 * stack pointers only grow. */
static inline uint32_t memo_find(const struct memo *memo, const struct walk *walk, uint32_t *left) {
  while (*left > memo->ends && memo->at[*left - 1].sp < walk->sp) --*left;
  if (*left <= memo->ends) return MEMO;
  return memo_stands(&memo->at[*left - 1], walk) ? *left - 1 : MEMO;
}

/* The outermost of the frames from `i` on, where the walk stands, whose callers but for its own are the same. Reads nothing
 * beyond what the walk may read. Where a frame pointer is needed and was not saved by the frame within, that needs it, too, so
 * that it was compared there. */
static inline uint32_t memo_follow(const struct memo *memo, const struct walk *walk, uint32_t i) {
  for (; i; i--) {
    const struct memo_step *step = &memo->at[i], *outer = step - 1;
    if (outer->sp > walk->high || stack_word(outer->sp - 8) != outer->pc) break;
    if (outer->needs_bp && step->saved && stack_word(outer->sp - step->saved) != outer->bp) break;
  }
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

static inline void memo_add(struct memo *memo, const struct memo_step *step, struct node *node) {
  struct memo_step *at = &memo->at[memo->count];
  *at = *step;
  at->needs_bp = at->uses_bp || (!at->saved && memo->count && at[-1].needs_bp);
  memo->node[memo->count++] = node;
}

#endif
/* SPDX-License-Identifier: MIT */
