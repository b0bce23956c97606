/* The cache of code addresses: for each one met on a stack, its module and how to find its caller.
 *
 * The key is a return address; the rule that is cached holds for the instruction before it, key -
 * 1. An interrupted instruction is entered as its address + 1, so that a reader of any key may
 * subtract 1. The index of a slot is the number of its frame on stacks (stack.h).
 *
 * When a module is unloaded, its addresses become dead: they get the flag PC_DEAD in the key, so
 * that no search finds them while another module may lie at the same place. If the same module
 * comes back, the flag is cleared. Addresses in no module become dead for good when a module is
 * mapped over them.
 *
 * The value is a rule: how to find the caller. CFA and frame count words of 8 bytes:
 *
 *    63      35 34         19 18  16 15      0
 *   +----------+-------------+------+---------+
 *   | CFA      | frame       | kind | module  |   CFA: the stack pointer after return. The return address is at
 *   +----------+-------------+------+---------+   CFA - 8, and the caller's frame pointer at CFA - 8 * frame
 *                                                 (0: it is unchanged). */
#ifndef CALLSTACK_PCS_H
#define CALLSTACK_PCS_H

#include "callstack/levels.h"

#define PC_DEAD (UINT64_C(1) << 63)

enum rule_kind {
  RULE_UNKNOWN = 0,   /* not computed yet */
  RULE_STACK,         /* CFA = stack pointer + 8 * CFA words */
  RULE_FRAME_POINTER, /* CFA = frame pointer + 8 * CFA words */
  RULE_GUESS,         /* no unwind information: try a conventional frame pointer, with checks */
  RULE_SPECIAL,       /* the unwind information must be read again each time */
  RULE_END,           /* has no caller */
};

enum { RULE_CFA_WORDS_MOST = (1 << 28) - 1, RULE_FRAME_WORDS_MOST = 65535 };

static inline uint64_t rule_make(enum rule_kind kind, uint64_t cfa_words, uint64_t frame_words) {
  return cfa_words << 35 | frame_words << 19 | (uint64_t)kind << 16;
}
static inline uint32_t rule_module(uint64_t rule) { return (uint32_t)(rule & 0xffff); }
static inline enum rule_kind rule_kind(uint64_t rule) { return (enum rule_kind)(rule >> 16 & 7); }
static inline uintptr_t rule_frame_bytes(uint64_t rule) { return (uintptr_t)(rule >> 19 & 0xffff) * 8; }
/* The part of a rule that says how the caller's frame pointer is restored: kind and frame, without
 * the CFA. */
static inline uint32_t rule_restore(uint64_t rule) { return (uint32_t)(rule >> 16) & 0x7ffff; }
static inline enum rule_kind restore_kind(uint32_t restore) { return (enum rule_kind)(restore & 7); }
static inline uintptr_t restore_frame_bytes(uint32_t restore) {
  return (uintptr_t)(restore >> 3 & 0xffff) * 8;
}
static inline uintptr_t rule_cfa_bytes(uint64_t rule) { return (uintptr_t)(rule >> 35) * 8; }

/* A quick rule is RULE_STACK or RULE_FRAME_POINTER; rule_cfa computes the CFA by it. */
static inline bool rule_is_quick(uint64_t rule) {
  return rule_kind(rule) == RULE_STACK || rule_kind(rule) == RULE_FRAME_POINTER;
}
static inline uintptr_t rule_cfa(uint64_t rule, uintptr_t sp, uintptr_t bp) {
  return (rule_kind(rule) == RULE_STACK ? sp : bp) + rule_cfa_bytes(rule);
}

/* Make all addresses of a module dead, or live again. The caller holds the modules' lock. */
void pcs_kill(struct levels *pcs, uint32_t module);
void pcs_revive(struct levels *pcs, uint32_t module);

/* Makes addresses in [begin, end) that belong to no module dead. The caller holds the modules'
 * lock. */
void pcs_kill_unowned(struct levels *pcs, uintptr_t begin, uintptr_t end);

#endif
/* SPDX-License-Identifier: MIT */
