/* Walking a stack from the innermost frame outwards, with no frame pointers needed, and never into
 * memory that is not there.
 *
 * A walk knows a range of the stack that can be read, [low, high). It begins as the range that
 * earlier walks of the same thread found (one word of thread-local memory, so that signal handlers
 * see a whole range), and grows page by page, at the cost of one system call a page, the first time
 * a walk goes there. A right rule never leads out of the live part of the stack, so the range
 * protects from wrong rules: code without unwind information, damaged tables, registers that are no
 * frame pointers. A step by RULE_GUESS asks the kernel again for each page above the page of the
 * stack pointer, since wrong addresses lead there. A quick rule's saved frame pointer must lie
 * within its frame. The call frame address must grow with every step, except out of a signal
 * handler, which may run on a stack of its own. */
#ifndef CALLSTACK_UNWIND_H
#define CALLSTACK_UNWIND_H

#include "callstack/cfi.h"
#include "callstack/modules.h"
#include "callstack/pcs.h"

struct walk {
  /* The frame that the walk has reached: the address to look up (pcs.h), the stack pointer, the
   * frame pointer. */
  uintptr_t pc, sp, bp;
  uintptr_t low, high;
  bool interrupted; /* it has passed a frame that a signal interrupted */
  /* All registers that a step by RULE_SPECIAL found; valid while the walk is at the stack pointer
   * registers_sp. */
  uintptr_t registers_sp;
  struct cfi_registers registers;
};

/* The part of this thread's stack that can be read: the number of its first page, shifted left by
 * STACK_COUNT_BITS, and how many pages it has. It is one word, so that a signal handler that walks
 * in between leaves a whole range behind. It is only a cache: any readable range is right. */
enum { STACK_PAGE = 4096, STACK_PAGE_BITS = 12, STACK_COUNT_BITS = 19 };
extern _Thread_local _Atomic(uint64_t) walk_known_stack;

/* Called where the stack pointer is outside of the known range: extends the range down to it, or
 * begins another range at its page. */
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

/* Moves the walk to a stack pointer that may be on another stack. */
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
  walk->interrupted = false;
  walk_move(walk, sp);
}

/* Stores the walk's range for the thread's next walk. */
void walk_end(const struct walk *walk);

/* Makes sure that 8 bytes at an address of the stack can be read; may grow the range. */
bool walk_reach(struct walk *walk, uintptr_t address);

/* Reads a word anywhere. */
bool walk_read(void *walk, uintptr_t address, uintptr_t *value);

/* The slot of `pc` in the table of code addresses, entered with its rule if it is new; NULL if the
 * table is full. The rule is 0 if it cannot be found now (MODULE_BUSY). */
struct slot *walk_lookup(struct modules *modules, uintptr_t pc, uint32_t *id, uint64_t *rule);

/* The red zone: how many bytes below its stack pointer an interrupted function that calls no other
 * may have saved registers. */
enum { FRAME_BELOW = 128 };

/* What a step found. */
enum step_result { STEP_CALLER, STEP_END, STEP_LOST };

/* Steps by a rule that is not quick. */
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

/* ---- for each processor: rules_x86_64.c or rules_generic.c, chosen by CMake ---- */

/* The rule for the instruction before pc, without the module's number. */
uint64_t rule_compute(const struct cfi_section *section, uintptr_t pc);

/* Steps by RULE_SPECIAL. */
enum step_result rule_step_special(struct walk *walk, const struct cfi_section *section);

/* Where the instruction at `at`, in code that ends at `end`, jumps to, if that is a constant that has 4
 * bytes; 0: it is no such jump, or this processor's jumps are not known. */
uintptr_t code_jump_target(uintptr_t at, uintptr_t end);

#endif
/* SPDX-License-Identifier: MIT */
