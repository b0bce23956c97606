/* Processors whose unwind information is not read here: conventional frame pointers. */
#include "callstack/unwind.h"

uint64_t rule_compute(const struct cfi_section *section, uintptr_t pc) {
  (void)section;
  (void)pc;
  return rule_make(RULE_GUESS, 0, 0);
}

enum step_result rule_step_special(struct walk *walk, const struct cfi_section *section) {
  (void)walk;
  (void)section;
  return STEP_LOST;
}

uintptr_t code_jump_target(uintptr_t at, uintptr_t end) {
  (void)at;
  (void)end;
  return 0;
}
/* SPDX-License-Identifier: MIT */
