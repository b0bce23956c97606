/* x86-64: makes rules of call frame information, and steps where a rule of one word cannot say how.
 *
 * A rule of one word cannot describe these frames: signal frames, where every register comes from
 * the context that the kernel saved; frames of functions that realigned their stack; procedure
 * linkage stubs; and frames of more than half a mebibyte. For these the unwind information is read
 * again each time. */
#include "callstack/unwind.h"

#include <string.h>

static bool is_compact_cfa(const struct cfi_row *row) {
  return row->cfa.how == CFI_IS_OFFSET && (row->cfa_register == CFI_RSP || row->cfa_register == CFI_RBP) &&
         row->cfa.value > 0 && row->cfa.value % 8 == 0 && row->cfa.value / 8 <= RULE_CFA_WORDS_MOST;
}

/* How many words below the CFA the frame pointer is saved. 0 if it is not saved, -1 if it is saved
 * in another way. */
static int32_t compact_frame(const struct cfi_row *row) {
  const struct cfi_rule *rule = &row->rule[CFI_RBP];
  if (rule->how == CFI_SAME || rule->how == CFI_UNDEFINED) return 0;
  if (rule->how != CFI_AT_OFFSET || rule->value >= 0 || rule->value % 8 != 0) return -1;
  return -(rule->value / 8) <= RULE_FRAME_WORDS_MOST ? -(rule->value / 8) : -1;
}

static bool find_cfa(struct walk *walk, const struct cfi_section *section, const struct cfi_row *row,
                     uintptr_t *cfa) {
  const struct cfi_registers *registers = &walk->registers;
  if (row->cfa.how == CFI_IS_EXPRESSION)
    return cfi_evaluate(section, row->cfa.value, registers, NULL, walk_read, walk, cfa);
  if (row->cfa.how != CFI_IS_OFFSET || !(registers->known >> row->cfa_register & 1)) return false;
  *cfa = registers->value[row->cfa_register] + (uintptr_t)(intptr_t)row->cfa.value;
  return true;
}

/* Finds the caller's value of one register. False if the value is lost. */
static bool find_register(struct walk *walk, const struct cfi_section *section, const struct cfi_row *row,
                          unsigned number, uintptr_t cfa, uintptr_t *value) {
  const struct cfi_rule *rule = &row->rule[number];
  const struct cfi_registers *registers = &walk->registers;
  uintptr_t at_offset = cfa + (uintptr_t)(intptr_t)rule->value;
  uintptr_t place;
  switch ((enum cfi_how)rule->how) {
  case CFI_SAME:
    *value = number == CFI_RSP ? cfa : registers->value[number];
    return number == CFI_RSP || registers->known >> number & 1;
  case CFI_UNDEFINED: return false;
  case CFI_AT_OFFSET: return walk_read(walk, at_offset, value);
  case CFI_IS_OFFSET: *value = at_offset; return true;
  case CFI_IN_REGISTER:
    if (rule->value >= CFI_REGISTERS || !(registers->known >> rule->value & 1)) return false;
    *value = registers->value[rule->value];
    return true;
  case CFI_AT_EXPRESSION:
    return cfi_evaluate(section, rule->value, registers, &cfa, walk_read, walk, &place) &&
           walk_read(walk, place, value);
  case CFI_IS_EXPRESSION: return cfi_evaluate(section, rule->value, registers, &cfa, walk_read, walk, value);
  }
  return false;
}

/* Before the first special step only three registers are known. */
static void fill_registers(struct walk *walk) {
  if (walk->registers_sp != walk->sp)
    walk->registers.known = 1u << CFI_RBP | 1u << CFI_RSP | 1u << CFI_RETURN;
  walk->registers.value[CFI_RBP] = walk->bp;
  walk->registers.value[CFI_RSP] = walk->sp;
  walk->registers.value[CFI_RETURN] = walk->pc - 1;
}

/* ---- shared ---- */

uint64_t rule_compute(const struct cfi_section *section, uintptr_t pc) {
  struct cfi_row row;
  if (!cfi_find_row(section, pc - 1, &row)) return rule_make(RULE_GUESS, 0, 0);
  const struct cfi_rule *caller = &row.rule[CFI_RETURN];
  if (caller->how == CFI_UNDEFINED) return rule_make(RULE_END, 0, 0);
  int32_t frame = compact_frame(&row);
  bool plain =
      !row.signal && caller->how == CFI_AT_OFFSET && caller->value == -8 && row.rule[CFI_RSP].how == CFI_SAME;
  if (!plain || frame < 0 || !is_compact_cfa(&row)) return rule_make(RULE_SPECIAL, 0, 0);
  return rule_make(row.cfa_register == CFI_RSP ? RULE_STACK : RULE_FRAME_POINTER, (uint64_t)row.cfa.value / 8,
                   (uint64_t)frame);
}

enum step_result rule_step_special(struct walk *walk, const struct cfi_section *section) {
  struct cfi_row row;
  struct cfi_registers caller = {.known = 0};
  uintptr_t cfa;
  fill_registers(walk);
  if (!cfi_find_row(section, walk->pc - 1, &row) || !find_cfa(walk, section, &row, &cfa)) return STEP_LOST;
  if (!row.signal && (cfa <= walk->sp || !walk_reach(walk, cfa - 8))) return STEP_LOST;
  for (unsigned number = 0; number < CFI_REGISTERS; number++)
    if (find_register(walk, section, &row, number, cfa, &caller.value[number])) caller.known |= 1u << number;
  if (!(caller.known >> CFI_RETURN & 1) || !(caller.known >> CFI_RSP & 1)) return STEP_LOST;

  walk->registers = caller;
  walk->bp = caller.value[CFI_RBP];
  walk->pc = caller.value[CFI_RETURN];
  if (walk->pc == 0) return STEP_END;
  if (row.signal) {
    walk->interrupted = true;
    walk->pc++;
    walk_move(walk, caller.value[CFI_RSP]);
  } else {
    walk->sp = caller.value[CFI_RSP];
  }
  walk->registers_sp = walk->sp;
  return STEP_CALLER;
}

uintptr_t code_jump_target(uintptr_t at, uintptr_t end) {
  const unsigned char *byte = (const unsigned char *)at;
  int32_t distance;
  if (end - at < 1 + sizeof distance) return 0;
  bool depends = byte[0] == 0x0f && byte[1] >> 4 == 8;
  if ((byte[0] != 0xe9 && !depends) || end - at < 1u + depends + sizeof distance) return 0;
  memcpy(&distance, byte + 1 + depends, sizeof distance);
  return at + 1 + depends + sizeof distance + (uintptr_t)(intptr_t)distance;
}
/* SPDX-License-Identifier: MIT */
