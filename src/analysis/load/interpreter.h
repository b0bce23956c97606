/* Stacks on which a Python program runs, or code that a runtime made, as its programmer sees them.
 *
 * A frame of Python is a place in the module "[python]". The interpreter is the file "python3.12"
 * or "libpython3.12.so". If the native frame that runs a frame of Python, its direct caller, is in
 * another file, that is a program linked with the interpreter, whose functions are then known by
 * their names: "Py..." and "_Py...". Perl's frames are in "[perl]", and its interpreter is "perl"
 * or "libperl.so.5.36".
 *
 * A function that a runtime made (languages/code_map.h) is a place in the module "[jit]"; without a
 * file or arguments in its name it is the runtime's own, as are those of Node's and Java's
 * libraries, and code at a bare address. The runtimes are files of known names.
 *
 * EXTENSIONS. In a program that Python itself runs, all native functions that a frame of Python
 * calls count as the interpreter's: a programmer of Python reads the line that called json.loads,
 * not the line of _json.c. So do those between it and a frame of Python, such as what runs another
 * interpreter of the process. In a program with the interpreter in it, extension modules, C libraries
 * and the program's own functions do not: its programmer reads C.
 *
 * HIDDEN. Where a frame of the language stands further out, or further in on some stack, an
 * interpreter's function is a wrapper of what it allocates, and call paths leave it out; not the
 * `main` of a program in Python, which may do more than run it. So are the functions of Python's
 * standard library, below the line of the program that calls them or imports their module: its
 * programmer can change that line alone. Stacks of the interpreter's start, and of a program that is
 * part of the library (python3 -m http.server), stay as they are beyond the functions that also run
 * the program, but for functions without a name where Python itself runs the program. */
#pragma once

#include "analysis/load/names.h"

enum interpreter { INTERPRETER_PYTHON, INTERPRETER_PERL, INTERPRETER_JIT, INTERPRETERS };

/* Whether a string is the module of a language's frames. */
bool interpreter_is_language(const struct names *names, uint32_t module);

/* Sets `wrapper` and `between` in the frames. found: some of each. WN_ENOMEM. */
wn_status interpreter_mark(const struct samples *samples, struct names *names, bool found[INTERPRETERS]);

/* Sets `home` in a language's frames: as much of the end of the path as no other file of the
 * program has, and of a file of a package its folder too. `nodes`: of the trace. WN_ENOMEM. */
wn_status interpreter_set_homes(struct names *names, uint32_t nodes);
/* SPDX-License-Identifier: MIT */
