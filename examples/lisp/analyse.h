/* The interface between the two files of the analysis: walking forms, and building the tree. */
#ifndef LISP_ANALYSE_H
#define LISP_ANALYSE_H

#include "compile.h"
#include <string.h>

/* ---- forms: handles of the compilation's scope ---- */

static inline wn_ref head_of(struct compiler *c, wn_ref pair) { return compiler_root(c, wn_field(pair, 0)); }
static inline wn_ref tail_of(struct compiler *c, wn_ref pair) { return compiler_root(c, wn_field(pair, 1)); }
static inline bool is_null(wn_ref form) { return wn_value_of(form) == NIL; }
static inline bool is_a_pair(wn_ref form) { return is_pair(wn_value_of(form)); }
static inline bool is_a_symbol(wn_ref form) { return is_symbol(wn_value_of(form)); }

/* The length of a proper list; -1 for other values. */
static inline long length_of(wn_ref list) {
  long length = 0;
  wn_value at = wn_value_of(list);
  for (; is_pair(at); at = cdr(at)) length++;
  return at == NIL ? length : -1;
}

static inline wn_ref nth(struct compiler *c, wn_ref list, unsigned n) {
  wn_value at = wn_value_of(list);
  while (n--) at = cdr(at);
  return compiler_root(c, car(at));
}

static inline wn_ref after(struct compiler *c, wn_ref list, unsigned n) {
  wn_value at = wn_value_of(list);
  while (n--) at = cdr(at);
  return compiler_root(c, at);
}

/* The line that the reader noted, or that of the enclosing form. */
static inline unsigned line_of(const struct compiler *c, wn_ref form) {
  return is_a_pair(form) && wn_words(wn_value_of(form)) > PAIR_LINE
             ? (unsigned)integer_of(wn_field(form, PAIR_LINE))
             : c->line;
}

static inline bool is_named(wn_ref form, const char *name) {
  return is_a_symbol(form) && !strcmp(string_bytes(wn_field(form, SYMBOL_NAME)), name);
}

/* Fails since `form` is wrong; `expected` shows the correct syntax. */
_Noreturn void form_fail(struct compiler *c, wn_ref form, const char *expected);
/* `most` -1: any length. */
void form_check_length(struct compiler *c, wn_ref form, long least, long most, const char *expected);

/* ---- the tree ---- */

static inline struct node *make_node(struct compiler *c, enum node_kind kind) {
  struct node *node = compiler_allocate(c, sizeof *node);
  *node = (struct node){.kind = kind, .line = c->line};
  return node;
}

static inline void add_child(struct node *parent, struct node *child) {
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
  parent->count++;
}

struct node *node_constant(struct compiler *c, wn_value value);
struct node *node_global(struct compiler *c, wn_ref symbol);
struct node *node_local(struct compiler *c, struct variable *variable);
struct node *node_initialise(struct compiler *c, struct variable *variable, struct node *value);

struct variable *variable_make(struct compiler *c, wn_ref name);
void variable_bind(struct compiler *c, struct variable *variable);
struct variable *variable_find(const struct compiler *c, wn_ref name);
/* Notes that the function being analysed uses the variable. */
void variable_use(struct compiler *c, struct variable *variable);

/* ---- analysis ---- */

struct node *analyse(struct compiler *c, wn_ref form);
/* A form whose value is needed: no jump leads out of it. */
struct node *analyse_value(struct compiler *c, wn_ref form);
/* Forms that may begin with definitions. */
struct node *analyse_body(struct compiler *c, wn_ref forms);
struct node *analyse_lambda(struct compiler *c, wn_ref name, wn_ref parameters, wn_ref body);
/* Adds all forms of a list: as values; or as a sequence, whose last form is in the position of the
 * whole sequence. */
void analyse_values(struct compiler *c, struct node *parent, wn_ref forms);
void analyse_sequence(struct compiler *c, struct node *parent, wn_ref forms);

/* The parts of a definition. */
wn_ref definition_name(struct compiler *c, wn_ref form);
struct node *definition_value(struct compiler *c, wn_ref form);

/* ---- special forms: special.c ---- */

typedef struct node *special_form(struct compiler *c, wn_ref form);
special_form special_define, special_lambda;
extern const struct special {
  const char *name;
  special_form *form;
} specials[]; /* ends with a row without a name */

#endif
/* SPDX-License-Identifier: MIT */
