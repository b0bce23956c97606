/* The state that all machines share: the heap, the symbols, and the library.
 *
 * A symbol is one block for the whole heap, so that eq? is a comparison of words, for as long as
 * something mentions it. A *program* is a
 * table of global variables: each file that is run has its own, and the domains that it spawns
 * share it. The library is the first program: it is loaded once, and sealed. A program that
 * mentions one of the library's names gets a cell of its own with the same value, so it may
 * redefine the name, and neither the library nor another program notices. The library's functions
 * and constants are immutable, and shared by all.
 *
 * One lock guards the symbol table and all tables of globals. Only the reader and the compiler use
 * these tables: compiled code has the addresses of cells. A thread waits for the lock in a blocking
 * section, so that the thread that holds the lock can collect meanwhile. */
#ifndef LISP_LISP_H
#define LISP_LISP_H

#include "vm.h"
#include <pthread.h>

struct lisp {
  wn_heap *heap;
  pthread_mutex_t lock;
  wn_global *symbols; /* a weak set, lisp.c; guarded by `lock` */
  wn_global *forms;   /* a list of the symbols of special forms, which are never gone */
  wn_global *library; /* a table; NULL while it is being loaded */
  wn_global *raise;   /* the library's; ROOT_RAISE of all machines */
};

/* Hooks of the heap, names.c. */
unsigned lisp_type_of(wn_value block, void *context);
const char *lisp_type_name(unsigned type, void *context);
const char *lisp_field_name(unsigned type, size_t i, void *context);
const char *lisp_describe(wn_value block, void *context);

struct task;

/* The state that the machines of one program share. */
struct program {
  pthread_mutex_t lock;
  struct task *tasks; /* spawned, and not yet joined */
};

/* False, with a message on standard error, if the heap cannot be opened or the library not loaded.
 * */
bool lisp_open(struct lisp *lisp, const wn_heap_options *options);
void lisp_close(struct lisp *lisp);

void lisp_lock(struct vm *vm);
void lisp_unlock(struct vm *vm);

/* Null if memory is exhausted. May collect. */
wn_ref symbol_intern(struct vm *vm, const char *name, size_t length);

/* The cell of a global variable, made if there is none. Null if memory is exhausted. May
 * collect. */
wn_ref global_cell(struct vm *vm, wn_ref symbol);

/* Gives the machine a new program, with no globals but the library's. False if memory is exhausted.
 * May collect. */
bool program_begin(struct vm *vm, struct program *program);
/* Waits for the tasks that the program did not join. */
void program_end(struct vm *vm);

#endif
/* SPDX-License-Identifier: MIT */
