/* Call frame information: what .eh_frame says about one instruction.
 *
 * Written after the DWARF 5 standard, section 6.4, and the Linux Standard Base's description of
 * .eh_frame and .eh_frame_hdr. Only modules whose .eh_frame_hdr holds the sorted table of 4-byte
 * pairs that all linkers write can be searched. Every read is checked against the module's range,
 * so that damaged tables give "unknown" and not a crash. */
#ifndef CALLSTACK_CFI_H
#define CALLSTACK_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF register numbers on x86-64; 16 is the return address. */
enum { CFI_RBP = 6, CFI_RSP = 7, CFI_RETURN = 16, CFI_REGISTERS = 17 };

enum cfi_how {
  CFI_SAME = 0, /* the caller's value is still in the register; also where the table has no rule */
  CFI_UNDEFINED,
  CFI_AT_OFFSET, /* saved at CFA + value */
  CFI_IS_OFFSET, /* is CFA + value */
  CFI_IN_REGISTER,
  /* Saved where an expression says: `value` is the offset of the expression's length from the
   * module's base. */
  CFI_AT_EXPRESSION,
  CFI_IS_EXPRESSION,
};

struct cfi_rule {
  int32_t value;
  uint8_t how; /* enum cfi_how */
};

struct cfi_row {
  struct cfi_rule rule[CFI_REGISTERS];
  /* CFA = register `cfa_register` + cfa.value, or the expression at cfa.value. */
  struct cfi_rule cfa;
  uint8_t cfa_register;
  /* The caller was interrupted by a signal: its address is that of an instruction not yet
   * executed. */
  bool signal;
};

/* A module as far as unwinding needs it. */
struct cfi_section {
  uintptr_t base, size, eh_frame_hdr;
};

/* Finds the row for the instruction at `pc`. False if there is none, or if the module's program for
 * it is more than this interpreter understands. */
bool cfi_find_row(const struct cfi_section *section, uintptr_t pc, struct cfi_row *row);

/* The function that has the instruction at `pc`, or the part of one. */
bool cfi_find_function(const struct cfi_section *section, uintptr_t pc, uintptr_t *begin, uintptr_t *end);

/* The values that expressions may use, and how they read memory. */
struct cfi_registers {
  uintptr_t value[CFI_REGISTERS];
  uint32_t known; /* one bit a register */
};
typedef bool cfi_read(void *context, uintptr_t address, uintptr_t *value);

/* Evaluates the expression whose length stands at `section->base + place`. If `first` is not NULL,
 * its value is pushed before. */
bool cfi_evaluate(const struct cfi_section *section, int32_t place, const struct cfi_registers *registers,
                  const uintptr_t *first, cfi_read *read, void *context, uintptr_t *result);

#endif
/* SPDX-License-Identifier: MIT */
