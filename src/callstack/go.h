/* From the stack of a thread back to that of a goroutine, which called C through Go's
 * runtime.asmcgocall. */
#ifndef CALLSTACK_GO_H
#define CALLSTACK_GO_H

#include "callstack/unwind.h"

/* Moves the walk from a frame of runtime.asmcgocall to its caller. False, and the walk is where
 * it was: it is no such frame. */
bool go_step(struct walk *walk);

#endif
/* SPDX-License-Identifier: MIT */
