/* prctl, as the program sees it: by it a program forbids itself system calls (seccomp).
 *
 * CONFINED: recording makes system calls now and then, when the program allocates. Those that the
 * program's filter does not know would end the program, some time after it was installed, as chance
 * has it. So the filter is run here first, for each system call that recording can make. If
 * one of them would do harm, or if the program goes into the strict mode, which allows four calls
 * altogether, the recording ends before.
 *
 * Not seen: seccomp(2), which has no function in the C library, but libseccomp calls it. A program
 * without privileges first gives up new ones by prctl. From then on, and once there is a filter, the
 * allocator is not asked, so that its question needs no calls beyond those that are listed here. A
 * filter from before an exec: INHERITED of question.c. */
#include "preload/seccomp_calls.h"

#include "preload/cost.h"
#include "preload/process.h"
#include <elf.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

/* What recording calls after its start, the calls of libc's functions among them. */
static const int late_calls[] = {
    SYS_close,          SYS_fallocate,   SYS_futex,     SYS_getpid,   SYS_getrandom,  SYS_ioctl,
    SYS_madvise,        SYS_mmap,        SYS_mprotect,  SYS_munmap,   SYS_newfstatat, SYS_openat,
    SYS_prctl,          SYS_pread64,     SYS_prlimit64, SYS_pwrite64, SYS_read,       SYS_readlinkat,
    SYS_rt_sigprocmask, SYS_sigaltstack, SYS_write};

/* The machine of Berkeley's packet filters, as seccomp(2) uses it: a filter only jumps forwards, so
 * each run ends. */
struct machine {
  uint32_t accumulator, index, memory[BPF_MEMWORDS];
};

static uint32_t calculate(uint16_t operation, uint32_t a, uint32_t b) {
  switch (operation) {
  case BPF_ADD: return a + b;
  case BPF_SUB: return a - b;
  case BPF_MUL: return a * b;
  case BPF_DIV: return b ? a / b : 0;
  case BPF_AND: return a & b;
  case BPF_OR: return a | b;
  case BPF_XOR: return a ^ b;
  case BPF_LSH: return b < 32 ? a << b : 0;
  case BPF_RSH: return b < 32 ? a >> b : 0;
  case BPF_NEG: return -a;
  default: return 0;
  }
}

static bool seccomp_calls_compare(uint16_t operation, uint32_t a, uint32_t b) {
  return operation == BPF_JEQ   ? a == b
         : operation == BPF_JGT ? a > b
         : operation == BPF_JGE ? a >= b
                                : (a & b) != 0;
}

static uint32_t seccomp_calls_load(const struct machine *machine, const struct sock_filter *at,
                                   const struct seccomp_data *data) {
  uint32_t word = 0;
  switch (BPF_MODE(at->code)) {
  case BPF_IMM: return at->k;
  case BPF_LEN: return sizeof *data;
  case BPF_MEM: return machine->memory[at->k % BPF_MEMWORDS];
  default:
    if (at->k <= sizeof *data - sizeof word) memcpy(&word, (const char *)data + at->k, sizeof word);
    return word;
  }
}

/* What the filter returns; a filter that the kernel would refuse may return anything. */
static uint32_t seccomp_calls_run(const struct sock_fprog *filter, const struct seccomp_data *data) {
  struct machine machine = {0};
  for (uint32_t i = 0; i < filter->len; i++) {
    const struct sock_filter *at = &filter->filter[i];
    uint16_t operation = BPF_OP(at->code);
    uint32_t operand = BPF_SRC(at->code) == BPF_X ? machine.index : at->k;
    switch (BPF_CLASS(at->code)) {
    case BPF_LD: machine.accumulator = seccomp_calls_load(&machine, at, data); break;
    case BPF_LDX: machine.index = seccomp_calls_load(&machine, at, data); break;
    case BPF_ST: machine.memory[at->k % BPF_MEMWORDS] = machine.accumulator; break;
    case BPF_STX: machine.memory[at->k % BPF_MEMWORDS] = machine.index; break;
    case BPF_ALU: machine.accumulator = calculate(operation, machine.accumulator, operand); break;
    case BPF_JMP:
      if (operation == BPF_JA)
        i += at->k;
      else
        i += seccomp_calls_compare(operation, machine.accumulator, operand) ? at->jt : at->jf;
      break;
    case BPF_RET: return BPF_RVAL(at->code) == BPF_A ? machine.accumulator : at->k;
    default: /* BPF_MISC */
      if (BPF_MISCOP(at->code) == BPF_TAX)
        machine.index = machine.accumulator;
      else
        machine.accumulator = machine.index;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

static bool is_harmless(uint32_t result) {
  uint32_t action = result & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG || action == SECCOMP_RET_ERRNO;
}

/* ---- shared ---- */

bool seccomp_allows_recording(const struct sock_fprog *filter) {
  for (size_t i = 0; i < sizeof late_calls / sizeof *late_calls; i++) {
    struct seccomp_data data = {.nr = late_calls[i],
                                .arch = __ehdr_start.e_machine | __AUDIT_ARCH_64BIT | __AUDIT_ARCH_LE};
    if (!is_harmless(seccomp_calls_run(filter, &data))) return false;
  }
  return true;
}

/* ---- what the program calls ---- */

EXPORT int prctl(int option, ...) {
  va_list list;
  unsigned long arguments[4];
  va_start(list, option);
  for (int i = 0; i < 4; i++) arguments[i] = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS) process_may_be_filtered();
  if (option == PR_SET_SECCOMP || option == PR_SET_TSC)
    atomic_store_explicit(&cost_is_confined, true, memory_order_relaxed);
  if (option == PR_SET_SECCOMP) {
    const struct sock_fprog *filter = (const struct sock_fprog *)arguments[1];
    bool filters = arguments[0] == SECCOMP_MODE_FILTER;
    if (!filters || !filter || !seccomp_allows_recording(filter)) process_is_confined();
  }
  return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
/* SPDX-License-Identifier: MIT */
