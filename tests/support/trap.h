/* The processor's trap flag: while it is set, the processor raises SIGTRAP after each instruction. For x86-64 alone. */
#ifndef TESTS_SUPPORT_TRAP_H
#define TESTS_SUPPORT_TRAP_H

enum { TRAP_FLAG = 0x100 };

void trap_each_instruction(void);
void trap_no_more(void);
__asm__(
    "\t.text\n\t.type trap_each_instruction, @function\ntrap_each_instruction:\n"
    "\tpushfq\n\torq $0x100, (%rsp)\n\tpopfq\n\tret\n\t.size trap_each_instruction, .-trap_each_instruction\n"
    "\t.type trap_no_more, @function\ntrap_no_more:\n"
    "\tpushfq\n\tandq $~0x100, (%rsp)\n\tpopfq\n\tret\n\t.size trap_no_more, .-trap_no_more\n");

#endif
/* SPDX-License-Identifier: MIT */
