/* A signal at each instruction: what races only happen to meet is met in order.
 *
 * The processor itself interrupts: with its trap flag set it raises SIGTRAP after each
 * instruction. Each time a child is forked, in which the handler acts, the work goes on to its
 * end, and what came of it is checked; the parent goes on to the next one. AddressSanitizer adds
 * many instructions that change nothing of the program's, and its fork is slow: there, one of
 * NOT_INTERRUPTED + 1 is interrupted. */
#ifndef TESTS_SUPPORT_INTERRUPTED_H
#define TESTS_SUPPORT_INTERRUPTED_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* What came of it. */
struct interruptions {
  long points, wrong; /* instructions; those at which the work, interrupted there, did not end well */
  long first_wrong;
};

#include "support/trap.h"

#ifdef HAS_TRAP

enum { CAN_INTERRUPT = true };
#ifdef __SANITIZE_ADDRESS__
enum { NOT_INTERRUPTED = 12 };
#else
enum { NOT_INTERRUPTED = 0 };
#endif

static struct {
  void (*act)(void);
  bool acted; /* in a child */
  struct interruptions found;
} interruption;

static void await(pid_t child) {
  struct interruptions *found = &interruption.found;
  int status;
  if (waitpid(child, &status, 0) == child && !status) return;
  if (!found->wrong++) found->first_wrong = found->points;
}

static void on_trap(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  if (interruption.found.points++ % (NOT_INTERRUPTED + 1)) return;
  pid_t child = (pid_t)syscall(SYS_fork); /* without the handlers of fork */
  if (child) return await(child);
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
  interruption.acted = true;
  interruption.act();
}

/* From one to the other each instruction is interrupted by `act`; then the child asks whether all
 * is well. */
static inline void interrupted_begin(void (*act)(void)) {
  const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  interruption.act = act;
  interruption.found = (struct interruptions){0};
  if (!sigaction(SIGTRAP, &action, NULL)) trap_each_instruction();
}
static inline struct interruptions interrupted_end(bool (*is_well)(void)) {
  trap_no_more();
  if (interruption.acted) _exit(is_well() ? EXIT_SUCCESS : EXIT_FAILURE);
  return interruption.found;
}

#else

enum { CAN_INTERRUPT = false };

static inline void interrupted_begin(void (*act)(void)) { (void)act; }
static inline struct interruptions interrupted_end(bool (*is_well)(void)) {
  return (void)is_well, (struct interruptions){0};
}

#endif

/* Does the work in between. */
static inline struct interruptions interrupted(void (*work)(void), void (*act)(void), bool (*is_well)(void)) {
  interrupted_begin(act);
  work();
  return interrupted_end(is_well);
}

#endif
/* SPDX-License-Identifier: MIT */
