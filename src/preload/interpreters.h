/* The interpreter of a language that this process runs, whose calls are on callstacks; and the code
 * that a runtime makes in it, whose names are. In a process of CPython or Perl no other is
 * named. */
#ifndef PRELOAD_INTERPRETERS_H
#define PRELOAD_INTERPRETERS_H

#include "languages/code_map.h"
#include "languages/perl.h"
#include "languages/python.h"
#include <stdbool.h>
#include <stddef.h>

enum { INTERPRETER_REASON_BYTES = 160 };

/* Looks for one; called once, when the loader has loaded the program's libraries. `*python` becomes
 * CPython, or NULL if it is not that. False: there is one whose calls cannot be read, and `reason`
 * says why; but not of a library that another program than perl has for its scripts. `tell`: as
 * that of a struct code_map. */
bool interpreters_find(struct callstacks *callstacks, const struct python **python,
                       void (*tell)(const struct callstack_place *), char reason[INTERPRETER_REASON_BYTES]);

/* Looks for CPython in the library whose code called us, without a lock; that must not be unloaded
 * meanwhile. `*python`: NULL if it is not there, or another interpreter was found before. Otherwise as
 * interpreters_find. */
bool interpreters_find_late(struct callstacks *callstacks, const void *caller, const struct python **python,
                            char reason[INTERPRETER_REASON_BYTES]);

/* Whether none has been found yet. */
bool interpreters_none(void);

/* Around dlclose. */
void interpreters_before_unloading(void);
void interpreters_after_unloading(void);

/* callstack_capture, with the interpreter's calls. `moved`: the old address of a block that realloc
 * is moving, or 0; what lay there is gone. */
const wn_callstack *interpreters_capture(struct callstacks *callstacks, size_t depth, uintptr_t moved);

/* The program has mapped a file as executable; it ends, or its recording does; it is a forked
 * child. */
void interpreters_mapped(int descriptor);
void interpreters_end(void);
void interpreters_fork_child(void);

#endif
/* SPDX-License-Identifier: MIT */
