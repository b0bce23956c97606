/* Stacks on which a Python program runs, as a Python programmer sees them.
 *
 * A frame of Python is a place in the module "[python]". The interpreter is the file "python3.12" or
 * "libpython3.12.so". If the native frame that runs a frame of Python, its direct caller, is in another
 * file, that is a program linked with the interpreter, whose functions are then known by their names:
 * "Py..." and "_Py...". Extension modules and C libraries are not the interpreter.
 *
 * HIDDEN. Where a frame of Python stands further out, or further in on some stack, an interpreter's
 * function is a wrapper of what it allocates, and call paths leave it out; not the program's `main`. So
 * are Python's own functions that import a module, below the line that imports it, as in a traceback.
 * Stacks of the interpreter's start stay as they are beyond the functions that also run the program. */
#ifndef ANALYSIS_INTERPRETER_H
#define ANALYSIS_INTERPRETER_H

#include "analysis/load/names.h"

/* The string that is the module of frames of Python; 0: no frame is one. */
uint32_t interpreter_module(const struct names *names);

/* Sets `wrapper` and `between` in the frames. *found: there is one. WN_ENOMEM. */
wn_status interpreter_mark(const struct samples *samples, struct names *names, bool *found);

/* Sets `home` in Python's frames: as much of the end of the path as no other file of the program has.
 * `nodes`: of the trace. WN_ENOMEM. */
wn_status interpreter_set_homes(struct names *names, uint32_t nodes);

#endif
/* SPDX-License-Identifier: MIT */
