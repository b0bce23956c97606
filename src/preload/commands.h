/* How the recorded process samples: as commands ask by its control file (trace/control.h), and as its
 * budget allows (budget.h). */
#ifndef PRELOAD_COMMANDS_H
#define PRELOAD_COMMANDS_H

#include "preload/budget.h"
#include "trace/control.h"
#include <winnow/memprof.h>

struct recorder;

extern struct control process_control;
extern _Atomic(bool) commands_have_budget;

/* The process begins to record into the recorder's trace, and samples as `first` says. Creates the
 * control file; false: it cannot. `usual`: of a start that says nothing else. `bounded`: so is the
 * trace (MEMORY of budget.h). */
bool commands_begin(struct recorder *recorder, wn_profile *profile, const struct control_sampling *first,
                    const struct control_sampling *usual, bool bounded);

/* Does what a command asks, if one does, and what the budget demands. Called wherever an allocation
 * takes the slow path. */
void commands_look_if_due(void);
static inline void commands_look(void) {
  if (control_is_open(&process_control) || atomic_load_explicit(&commands_have_budget, memory_order_relaxed))
    commands_look_if_due();
}

/* A filter of system calls holds for the process, or may. */
void commands_may_be_filtered(void);

/* Stores the counts that `winnow status` shows. commands_beat does so now and then, if no
 * measurement of memory does: called at the ends of pieces of a count. */
void commands_publish(void);
void commands_beat(void);

/* commands_end: the process ends; async-signal-safe. commands_forget: in a forked child, which is
 * `alone`, or where no system call may be made. */
void commands_end(void);
void commands_forget(bool alone);

#endif
/* SPDX-License-Identifier: MIT */
