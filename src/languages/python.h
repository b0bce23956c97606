/* Calls of CPython's functions, for callstacks.
 *
 * The calls of a thread are a chain of frames that its state leads to. A capture follows the chain
 * by plain loads, in the thread itself: until the interpreter ends, nothing else changes the chain,
 * whose objects the calls keep alive, whether the thread holds the interpreter's lock or not.
 * Nothing is written and no reference is counted; the only functions of the interpreter that are
 * called are PyGILState_GetThisThreadState and Py_IsFinalizing, which take no lock and no memory. A
 * frame is valid whenever malloc is called, but not at every instruction: so a stack that begins in
 * a signal handler has no such calls (callstack_interpreter).
 *
 * ENDING. When the interpreter ends, it frees the states, frames and code of threads that go on
 * without its lock. It says before that it is ending. So each pointer that a load gives is used
 * only if the interpreter was not ending after the load.
 *
 * JOINING. The loop is _PyEval_EvalFrameDefault, with the part that the compiler has put elsewhere: in
 * Debian's 3.14 nearly all of it. Up to 3.10 each call has an activation of its own;
 * from 3.11 on one activation runs several, and the first of them is marked.
 *
 * NAMES. Each call becomes a place: the function's qualified name, its file and the line. The
 * address of a code object says nothing, since the next object may lie there. So the place is
 * looked up by a hash of what is read of the object: its texts, the table of lines and the call's
 * position. A text is read only from an object of the type that it must have.
 *
 * SUBINTERPRETERS. Up to 3.11 the thread's state is the main interpreter's, so the calls of
 * another one are missing. */
#pragma once

#include "callstack/capture.h"
#include "languages/exports.h"
#include "languages/python_layout.h"

struct python {
  struct callstack_interpreter interpreter; /* first */
  struct callstacks *callstacks;
  struct python_layout layout;
  struct exports exports; /* of the library that has it; none: it is among those that the loader searches */
  void *(*thread_state)(void);
  int (*is_ending)(void);
  uintptr_t code_type, str_type, bytes_type;
};

enum python_found { PYTHON_NONE, PYTHON_FOUND, PYTHON_REFUSED };
enum { PYTHON_REASON_BYTES = 160 };

/* Looks for an interpreter among what a library exports, or, if `exports` is NULL, among the objects
 * that the loader searches for symbols, which takes the loader's lock; and prepares `python` for
 * captures with these callstacks. PYTHON_REFUSED: there is one whose calls cannot be read; `reason` says
 * why. */
enum python_found python_find(struct python *python, struct callstacks *callstacks,
                              const struct exports *exports, char reason[PYTHON_REASON_BYTES]);

/* What the interpreter exports; NULL: nothing of that name. */
void *python_symbol(const struct python *python, const char *name);
/* SPDX-License-Identifier: MIT */
