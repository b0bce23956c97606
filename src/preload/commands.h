/* What commands ask of the recorded process, by its control file (trace/control.h): another rate. */
#ifndef PRELOAD_COMMANDS_H
#define PRELOAD_COMMANDS_H

#include "trace/control.h"
#include <winnow/memprof.h>

struct recorder;

extern struct control process_control;

/* The process begins to record into the recorder's trace, at `rate`. Creates the control file, if
 * it can. `usual_rate`: that of a start that names none. */
void commands_begin(struct recorder *recorder, wn_profile *profile, double rate, double usual_rate);

/* Does what a command asks, if one does. Called wherever an allocation takes the slow path. */
void commands_obey(void);
void commands_look_at_time(void);
static inline void commands_look(void) {
  if (__builtin_expect(control_is_asked(&process_control), 0))
    commands_obey();
  else if (__builtin_expect(control_is_timed(&process_control), 0))
    commands_look_at_time();
}

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
