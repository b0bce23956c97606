/* The compiler: forms become a tree (analyse.c), and the tree becomes code (generate.c).
 *
 * The tree is in C's memory and lives as long as the compilation of one form of a file. The values
 * in it, constants, names and cells, are handles of the compilation's scope. So the compiler uses
 * the heap's safe tier: a collection may happen at any point of it.
 *
 * Analysis finds out for each variable whether an inner function captures it, whether it is
 * assigned, and whether it is captured before it has its value. A captured variable is copied into
 * closures, unless it is assigned, or captured early: then it lives in a box, and the box is
 * copied. */
#ifndef LISP_COMPILE_H
#define LISP_COMPILE_H

#include "vm.h"
#include <setjmp.h>

enum node_kind {
  NODE_CONSTANT, /* value */
  NODE_LOCAL,    /* variable; `checked` if it may have no value yet */
  NODE_GLOBAL,   /* value: the cell */
  NODE_SET,      /* variable, first */
  NODE_SET_GLOBAL,
  NODE_DEFINE,
  NODE_IF,  /* three children */
  NODE_AND, /* children */
  NODE_OR,
  NODE_SEQUENCE,
  NODE_CALL,       /* children: the function comes first */
  NODE_LAMBDA,     /* function */
  NODE_LET,        /* variables, children: their values, then the body */
  NODE_SCOPE,      /* variables that the children initialise; the last child is the body */
  NODE_INITIALISE, /* variable, first; of a scope */
  NODE_FUNCTIONS,  /* children: NODE_INITIALISE with lambdas that may refer to each other */
  NODE_LOOP,       /* variable: the label; variables, children as in NODE_LET */
  NODE_AGAIN,      /* variable: the label; children: new values */
};

struct node {
  enum node_kind kind;
  unsigned line;
  bool checked;
  wn_ref value;
  struct variable *variable, *variables; /* those linked by `next` */
  struct function *function;
  struct node *first, *last; /* children */
  struct node *next;         /* of the same parent */
  size_t count;              /* of children */
};

struct variable {
  wn_ref name;
  struct function *owner;
  struct variable *next;
  bool captured, assigned;
  bool ready; /* analysis has passed its initialisation */
  bool early; /* captured before that */
  /* Of a label: */
  bool is_label, escapes; /* it is more than a place to jump to */
  unsigned barrier;       /* where a jump is possible */
  struct node *loop;
  /* Set by generation: */
  unsigned place; /* register, or a label's first instruction */
};

struct capture {
  struct variable *variable;
  struct capture *next;
};

struct function {
  struct function *parent;
  wn_ref name; /* a symbol or FALSE */
  unsigned line;
  struct variable *parameters;
  size_t required;
  bool has_rest;
  struct capture *captures, **captures_end;
  size_t capture_count;
  struct node *body;
};

struct binding {
  struct variable *variable;
  struct binding *outer;
};

struct compiler {
  struct vm *vm;
  wn_ref file;
  unsigned line;
  unsigned depth;
  unsigned bodies; /* that the form is in */
  struct function *function;
  struct binding *scope;
  unsigned barrier, barriers; /* changes wherever a value is wanted: nothing can jump out of there */
  struct piece *pieces;       /* memory */
  enum vm_outcome outcome;
  jmp_buf leave;
};

/* Compiles the form to a procedure without arguments. VM_DIED: the condition is in ROOT_CONDITION,
 * or it was raised in a macro and has been reported. VM_LEFT: a macro escaped. May collect. */
enum vm_outcome compile(struct vm *vm, wn_ref form, wn_ref file, unsigned line, wn_ref *procedure);

/* Gives the symbols of special forms their numbers. False if memory is exhausted. */
bool compile_prepare(struct vm *vm);

/* For analysis and generation. */
void *compiler_allocate(struct compiler *compiler, size_t bytes);
__attribute__((format(printf, 2, 3))) _Noreturn void compiler_fail(struct compiler *compiler,
                                                                   const char *format, ...);
wn_ref compiler_root(struct compiler *compiler, wn_value value);      /* 0: memory is exhausted */
wn_ref compiler_checked(struct compiler *compiler, wn_ref allocated); /* likewise null */
struct function *analyse_form(struct compiler *compiler, wn_ref form);
wn_ref generate_code(struct compiler *compiler, struct function *function);

static inline bool variable_is_boxed(const struct variable *variable) {
  return variable->captured && (variable->assigned || variable->early);
}

#endif
/* SPDX-License-Identifier: MIT */
