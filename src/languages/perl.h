/* Calls of Perl's subroutines, for callstacks.
 *
 * Perl keeps its contexts (of subroutines, blocks, evals) in an array, and starts another one,
 * which leads to the one before, where C code calls back: for sort, tied variables, destructors.
 * The place of a call is the name of the subroutine whose context is the next one outwards, and the
 * file and the line of the statement that runs there: PL_curcop, or of a caller what the context of
 * the subroutine that it called has kept. Code outside subroutines is "(main)", that of a string or
 * a file that is read while the program runs "(eval)", and while a file is compiled "(compiling)".
 *
 * All is read by plain loads in the thread itself; nothing of the interpreter is called. The loop
 * is Perl_runops_standard. A subroutine that C code calls has no operation to return to, and so
 * begins an activation; where Perl itself starts another one, as in eval and require, the inner
 * activation has the calls of both. perl_parse compiles the program outside the loop.
 *
 * FOLDED. Constant expressions are run while a file is compiled, within a copy of the interpreter's
 * statement of the compiler, which has its file and, as it has, no type.
 *
 * ENDED. A subroutine, a package or a statement that has ended may still be referred to for a
 * moment, while Perl leaves the contexts. So each has to have the type that it must have.
 *
 * ENDING. When Perl ends an interpreter, the thread's key goes on leading to it, also when its
 * memory is free. So the interpreter must name its loop, and not have begun to destroy its objects;
 * the calls of destructors that run then are missing.
 *
 * MOVING. While the array of contexts grows, the interpreter leads to the old one, which is free
 * when the growth is sampled. Then perl_is_moving tells to leave the calls out.
 *
 * LAYOUT. Perl does not tell where it keeps these. The offsets are those of 5.36 with threads, as
 * Debian 12 builds it; another version is refused. */
#pragma once

#include "callstack/capture.h"
#include <pthread.h>

struct perl {
  struct callstack_interpreter interpreter; /* first */
  struct callstacks *callstacks;
  const pthread_key_t *key; /* of the thread's interpreter */
};

enum perl_found { PERL_NONE, PERL_FOUND, PERL_REFUSED };
enum { PERL_REASON_BYTES = 160 };

/* Looks for an interpreter among the objects that the loader searches for symbols, and prepares
 * `perl` for captures with these callstacks. PERL_REFUSED: there is one whose calls cannot be read;
 * `reason` says why. Takes the loader's lock. */
enum perl_found perl_find(struct perl *perl, struct callstacks *callstacks, char reason[PERL_REASON_BYTES]);

/* Whether this block, which realloc has just given another address, is what the calls of this
 * thread are kept in. */
bool perl_is_moving(const struct perl *perl, uintptr_t block);
/* SPDX-License-Identifier: MIT */
