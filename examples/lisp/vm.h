/* A virtual machine: the state of one domain's Lisp program. vm.c describes the design. */
#ifndef LISP_VM_H
#define LISP_VM_H

#include "code.h"
#include "output.h"
#include "value.h"

struct frame {
  const struct instruction *ip; /* where the caller goes on */
  wn_value *fp;                 /* the caller's registers */
};

/* A vm_run: the frames above `entry` are its own, and `native` is an address in the C stack frame
 * of the function that runs them. */
struct activation {
  const struct frame *entry;
  const void *native;
};

enum { VM_NESTING_MOST = 40 };

/* The values that a machine holds besides its stack. */
enum root {
  ROOT_ENVIRONMENT, /* a table: symbol to cell */
  ROOT_CONDITION,   /* what is being raised */
  ROOT_RESULT,      /* what an escape carries, and vm_run returns */
  ROOT_HANDLERS,    /* a list of procedures */
  ROOT_WINDS,       /* what dynamic-wind has entered */
  ROOT_NO_MEMORY,   /* the condition for exhausted memory, made in advance */
  ROOT_RAISE,       /* the library's procedure that finds a handler; NOTHING before there is one */
  ROOT_ESCAPES,     /* those that can be used, innermost first */
  ROOT_COUNT
};

struct lisp;

struct vm {
  wn_domain *domain;
  struct lisp *lisp;
  struct program *program;

  /* The state of the topmost function, stored at each safepoint. `top` is NULL if the instruction
   * itself says how many registers hold values. */
  const struct instruction *ip;
  wn_value *fp, *top;
  struct frame *frame; /* one behind the topmost */

  /* Reserved once; they never move. */
  wn_value *stack, *soft_limit, *stack_end;
  wn_value *stack_limit; /* soft_limit, or stack_end while an overflow is handled */
  struct frame *frames;

  wn_value roots[ROOT_COUNT];
  size_t arguments;                        /* how many a builtin leaves for VM_CALL */
  size_t escape_depth;                     /* the frame that VM_ESCAPE returns from */
  unsigned nesting;                        /* of vm_run */
  struct activation runs[VM_NESTING_MOST]; /* outermost first */
  bool reports;                            /* uncaught errors are printed on standard error */
  bool reported;                           /* this error has been printed */
  struct output out;
};

/* Results of a builtin that are not values. */
enum {
  VM_FAILED = 0,  /* the condition is in ROOT_CONDITION */
  VM_CALL = 2,    /* call args[-1] with the vm->arguments values after it */
  VM_ESCAPE = 4,  /* return ROOT_RESULT from the frame at vm->escape_depth */
  VM_UNCAUGHT = 6 /* no handler handles the condition */
};

/* VM_DIED: an error that no handler handled; the condition is in ROOT_RESULT. VM_LEFT: an escape to
 * a frame of an outer vm_run. */
enum vm_outcome { VM_DONE, VM_DIED, VM_LEFT };

typedef wn_value builtin_function(struct vm *vm, wn_value *args, size_t count);

/* Makes a machine for a domain; NULL, with a message on standard error, if memory is exhausted. */
struct vm *vm_create(struct lisp *lisp, wn_domain *domain);
void vm_destroy(struct vm *vm);

/* The heap's hook: visits the stack and the roots of the domain's machine. */
void vm_walk_roots(wn_domain *domain, wn_visit *visit, void *visitor, void *context);

/* The heap's hook: the frames of Lisp functions, for profiles. */
size_t vm_callstack(wn_domain *domain, wn_language_frame *frames, size_t most, void *context);

/* Calls a procedure with `arguments`. The result is in ROOT_RESULT. May collect. */
enum vm_outcome vm_run(struct vm *vm, wn_ref procedure, size_t count, const wn_ref *arguments);

/* Calls `each` for the frames of Lisp functions, innermost first, until it returns false. Name and
 * file are values, stale after the next collection. Does not allocate: may be called in an
 * allocation. */
struct lisp_frame {
  wn_value name; /* a symbol, or FALSE */
  wn_value file; /* a string */
  unsigned line;
};
void lisp_frames(const struct vm *vm, bool (*each)(const struct lisp_frame *frame, void *context),
                 void *context);

/* The end of the values on the stack. */
wn_value *vm_live_end(const struct vm *vm);

/* Whether `count` values fit above `args`; the condition is set if not. */
bool vm_has_room(struct vm *vm, const wn_value *args, size_t count);

/* Escapes from frames above this depth can be used no more. */
void vm_end_escapes(struct vm *vm, size_t depth);

/* Prints ROOT_CONDITION on standard error, if the machine reports and has not yet done so: file,
 * line, message, and the calls that led there. */
void vm_report(struct vm *vm);

/* ---- failing: all return VM_FAILED ---- */

__attribute__((format(printf, 2, 3))) wn_value vm_fail(struct vm *vm, const char *format, ...);
wn_value vm_fail_type(struct vm *vm, const char *procedure, const char *expected, wn_value got);
wn_value vm_fail_memory(struct vm *vm);

/* ---- allocation: values are not rooted, 0 (VM_FAILED) if memory is exhausted; may collect ---- */

wn_value make_block(struct vm *vm, size_t words, enum tag tag, wn_value fill);
wn_value make_string(struct vm *vm, const char *bytes, size_t length);
/* Bytes are for the caller to set. */
wn_value make_string_of_length(struct vm *vm, size_t length);
wn_value make_float(struct vm *vm, double number);
/* These root their arguments themselves. */
wn_value make_pair(struct vm *vm, wn_value first, wn_value second);
wn_value make_error(struct vm *vm, wn_value message, wn_value irritants);

#endif
/* SPDX-License-Identifier: MIT */
