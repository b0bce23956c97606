/* The interpreter of a language that this process runs, whose calls are on callstacks. */
#ifndef PRELOAD_INTERPRETERS_H
#define PRELOAD_INTERPRETERS_H

#include "languages/python.h"
#include <stdbool.h>
#include <stddef.h>

enum { INTERPRETER_REASON_BYTES = 160 };

/* Looks for one; called once, when the loader has loaded the program's libraries. `*python`
 * becomes CPython, or NULL if it is not that. False: there is one whose calls cannot be read,
 * and `reason` says why. */
bool interpreters_find(struct callstacks *callstacks, const struct python **python,
                       char reason[INTERPRETER_REASON_BYTES]);

/* callstack_capture, with the interpreter's calls. */
const wn_callstack *interpreters_capture(struct callstacks *callstacks, size_t depth);

#endif
/* SPDX-License-Identifier: MIT */
