/* Walking a stack from the innermost frame outwards, with no frame pointers needed, and never into
 * memory that is not there.
 *
 * A walk knows a range of the stack that can be read, [low, high). It begins at what earlier walks
 * of the same thread found out (one word of thread-local memory, so that signal handlers see a
 * whole one), and grows page by page, at the cost of one system call a page, the first time a walk
 * goes there. A right rule never leaves the live part of the stack, so what the range protects from
 * is wrong rules: code without unwind information, damaged tables, frame pointers that are none. A
 * guess trusts no page above the one it stands in, since that is where wrong addresses lead: it
 * asks for each again. What a frame saved lies in the frame. The call frame address must grow with
 * every step, but for a step out of a signal handler, which may run on a stack of its own. */
#ifndef CALLSTACK_UNWIND_H
#define CALLSTACK_UNWIND_H

#include "callstack/cfi.h"
#include "callstack/modules.h"
#include "callstack/pcs.h"

struct walk {
  /* The frame reached: the address to look up (see pcs.h), its stack pointer, its frame pointer. */
  uintptr_t pc, sp, bp;
  uintptr_t low, high;
  /* Every register, after a step through a signal frame; valid while the walk stands at
   * registers_sp. */
  uintptr_t registers_sp;
  struct cfi_registers registers;
};

/* What can be read of this thread's stack: the first page's number above STACK_COUNT_BITS, then the
 * number of pages. One word, so that a signal handler that walks in between leaves a whole range
 * behind. A cache of facts, not state. */
enum { STACK_PAGE = 4096, STACK_PAGE_BITS = 12, STACK_COUNT_BITS = 19 };
extern _Thread_local _Atomic(uint64_t) walk_known_stack;

/* The stack pointer is outside of that range: makes another. */
void walk_beyond(struct walk *walk);

static inline uintptr_t known_low(uint64_t known) {
  return (uintptr_t)(known >> STACK_COUNT_BITS) << STACK_PAGE_BITS;
}
static inline uintptr_t known_bytes(uint64_t known) {
  return (uintptr_t)(known & ((1u << STACK_COUNT_BITS) - 1)) << STACK_PAGE_BITS;
}

/* Whether [from, to) can be read, as far as earlier walks found out; from <= to. */
static inline bool walk_knows(uintptr_t from, uintptr_t to) {
  uint64_t known = atomic_load_explicit(&walk_known_stack, memory_order_relaxed);
  return from >= known_low(known) && to - known_low(known) <= known_bytes(known);
}

/* The walk goes on at a stack pointer that may be on another stack. */
static inline void walk_move(struct walk *walk, uintptr_t sp) {
  uint64_t known = atomic_load_explicit(&walk_known_stack, memory_order_relaxed);
  walk->low = known_low(known);
  walk->high = walk->low + known_bytes(known);
  walk->sp = sp;
  if (__builtin_expect(sp < walk->low || sp >= walk->high, 0)) walk_beyond(walk);
}

static inline void walk_begin(struct walk *walk, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  walk->pc = pc;
  walk->bp = bp;
  walk->registers_sp = 0;
  walk_move(walk, sp);
}

/* Leaves what was learnt about the stack to the thread's next walk. */
void walk_end(const struct walk *walk);

/* Makes sure that 8 bytes at an address of the stack can be read; may grow the range. */
bool walk_reach(struct walk *walk, uintptr_t address);

/* Reads a word anywhere. */
bool walk_read(void *walk, uintptr_t address, uintptr_t *value);

/* The slot of pc in the cache, entered with its rule if it is new; NULL if the cache is full. The
 * rule is 0 if it could not be found out now. */
struct slot *walk_lookup(struct modules *modules, uintptr_t pc, uint32_t *id, uint64_t *rule);

/* How far below its stack pointer a frame may have saved anything: it was interrupted in a function
 * that calls nothing. */
enum { FRAME_BELOW = 128 };

/* What a step found. */
enum step_result { STEP_CALLER, STEP_END, STEP_LOST };

/* Steps by a rule that is not one of the two quick ones. */
enum step_result walk_step_slow(struct walk *walk, struct modules *modules, uint64_t rule);

/* The stack belongs to other code that a sanitizer may have marked; reading it is the point. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static inline uintptr_t
stack_word(uintptr_t address) {
  return *(const uintptr_t *)address;
}

/* Steps to the caller: pc, sp and bp become the caller's. */
static inline enum step_result walk_step(struct walk *walk, struct modules *modules, uint64_t rule) {
  if (__builtin_expect(!rule_is_quick(rule), 0)) return walk_step_slow(walk, modules, rule);
  uintptr_t cfa = rule_cfa(rule, walk->sp, walk->bp);
  uintptr_t saved = cfa - rule_frame_bytes(rule);
  if (__builtin_expect(cfa <= walk->sp || cfa & 7, 0)) return STEP_LOST;
  if (__builtin_expect(saved < walk->low || saved < walk->sp - FRAME_BELOW, 0)) return STEP_LOST;
  if (__builtin_expect(cfa > walk->high, 0) && !walk_reach(walk, cfa - 8)) return STEP_LOST;
  walk->pc = stack_word(cfa - 8);
  if (saved != cfa) walk->bp = stack_word(saved);
  walk->sp = cfa;
  return walk->pc ? STEP_CALLER : STEP_END;
}

/* ---- what a processor knows: rules_x86_64.c or rules_generic.c, chosen by CMake ---- */

/* The rule for the instruction before pc, without the module's number. */
uint64_t rule_compute(const struct cfi_section *section, uintptr_t pc);

/* Steps by RULE_SPECIAL. */
enum step_result rule_step_special(struct walk *walk, const struct cfi_section *section);

#endif
/* SPDX-License-Identifier: MIT */
