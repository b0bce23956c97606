/* The processor's trap flag: while it is set, the processor raises SIGTRAP after each instruction.
 * For x86-64 alone; and not where ThreadSanitizer keeps signals for later: its own instructions
 * would be interrupted without end. */
#ifndef TESTS_SUPPORT_TRAP_H
#define TESTS_SUPPORT_TRAP_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRAP_IS_KEPT
#endif
#endif

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(TRAP_IS_KEPT)
#define HAS_TRAP

enum { TRAP_FLAG = 0x100 };

void trap_each_instruction(void);
void trap_no_more(void);
__asm__(/* with unwind information: signals come here, too */
        "\t.text\n\t.type trap_each_instruction, @function\ntrap_each_instruction:\n\t.cfi_startproc\n"
        "\tpushfq\n\t.cfi_adjust_cfa_offset 8\n\torq $0x100, (%rsp)\n\tpopfq\n\t.cfi_adjust_cfa_offset -8\n"
        "\tret\n\t.cfi_endproc\n\t.size trap_each_instruction, .-trap_each_instruction\n"
        "\t.type trap_no_more, @function\ntrap_no_more:\n\t.cfi_startproc\n"
        "\tpushfq\n\t.cfi_adjust_cfa_offset 8\n\tandq $~0x100, (%rsp)\n\tpopfq\n\t.cfi_adjust_cfa_offset -8\n"
        "\tret\n\t.cfi_endproc\n\t.size trap_no_more, .-trap_no_more\n");

#endif

#endif
/* SPDX-License-Identifier: MIT */
