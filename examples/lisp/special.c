/* The special forms. */
#include "analyse.h"

#include "lisp.h"
#include <string.h>

/* ---- simple forms ---- */

static struct node *special_quote(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 2, 2, "(quote datum)");
  return node_constant(c, wn_value_of(nth(c, form, 1)));
}

static struct node *special_if(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 3, 4, "(if test then else)");
  struct node *node = make_node(c, NODE_IF);
  add_child(node, analyse_value(c, nth(c, form, 1)));
  add_child(node, analyse(c, nth(c, form, 2)));
  add_child(node, length_of(form) == 4 ? analyse(c, nth(c, form, 3)) : node_constant(c, NOTHING));
  return node;
}

struct node *special_lambda(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 3, -1, "(lambda (parameter ...) body ...)");
  return analyse_lambda(c, compiler_root(c, FALSE), nth(c, form, 1), after(c, form, 2));
}

/* Only for the outermost level: bodies process their own definitions. */
struct node *special_define(struct compiler *c, wn_ref form) {
  wn_ref name = definition_name(c, form);
  if (c->bodies) compiler_fail(c, "a definition must stand directly in a body");
  if (!is_a_symbol(name)) form_fail(c, name, "the name of a variable");
  struct node *node = make_node(c, NODE_DEFINE);
  node->value = compiler_checked(c, global_cell(c->vm, name));
  add_child(node, definition_value(c, form));
  return node;
}

static struct node *special_set(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 3, 3, "(set! name value)");
  wn_ref name = nth(c, form, 1);
  if (!is_a_symbol(name)) form_fail(c, name, "the name of a variable");
  struct variable *variable = variable_find(c, name);
  struct node *node = make_node(c, variable ? NODE_SET : NODE_SET_GLOBAL);
  add_child(node, analyse_value(c, nth(c, form, 2)));
  if (variable) {
    variable->assigned = true;
    variable_use(c, variable);
    node->variable = variable;
  } else {
    node->value = compiler_checked(c, global_cell(c->vm, name));
  }
  return node;
}

static struct node *special_begin(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 1, -1, "(begin form ...)");
  struct node *node = make_node(c, NODE_SEQUENCE);
  analyse_sequence(c, node, tail_of(c, form));
  if (!node->count) return node_constant(c, NOTHING);
  return node;
}

static struct node *either_of(struct compiler *c, wn_ref form, enum node_kind kind, wn_value empty) {
  form_check_length(c, form, 1, -1, "forms");
  struct node *node = make_node(c, kind);
  analyse_sequence(c, node, tail_of(c, form));
  return node->count ? node : node_constant(c, empty);
}

static struct node *special_and(struct compiler *c, wn_ref form) {
  return either_of(c, form, NODE_AND, TRUE);
}
static struct node *special_or(struct compiler *c, wn_ref form) { return either_of(c, form, NODE_OR, FALSE); }

static struct node *when(struct compiler *c, wn_ref form, bool sense) {
  form_check_length(c, form, 3, -1, sense ? "(when test form ...)" : "(unless test form ...)");
  struct node *node = make_node(c, NODE_IF), *forms = make_node(c, NODE_SEQUENCE);
  add_child(node, analyse_value(c, nth(c, form, 1)));
  analyse_sequence(c, forms, after(c, form, 2));
  struct node *nothing = node_constant(c, NOTHING);
  add_child(node, sense ? forms : nothing);
  add_child(node, sense ? nothing : forms);
  return node;
}

static struct node *special_when(struct compiler *c, wn_ref form) { return when(c, form, true); }
static struct node *special_unless(struct compiler *c, wn_ref form) { return when(c, form, false); }

/* (test => function): the test's value is bound to a name that no program can write. */
static struct node *clause_with_arrow(struct compiler *c, wn_ref clause, wn_ref rest);
static struct node *clauses(struct compiler *c, wn_ref at) {
  if (is_null(at)) return node_constant(c, NOTHING);
  wn_ref clause = head_of(c, at), rest = tail_of(c, at);
  c->line = line_of(c, clause);
  if (length_of(clause) < 1) form_fail(c, clause, "a clause (test form ...)");
  if (length_of(clause) == 3 && is_named(nth(c, clause, 1), "=>")) return clause_with_arrow(c, clause, rest);
  bool last = is_named(head_of(c, clause), "else");
  if (last && !is_null(rest)) compiler_fail(c, "else must come last");
  struct node *forms = make_node(c, NODE_SEQUENCE);
  if (last || length_of(clause) > 1) {
    struct node *node = make_node(c, NODE_IF);
    add_child(node, last ? node_constant(c, TRUE) : analyse_value(c, head_of(c, clause)));
    analyse_sequence(c, forms, tail_of(c, clause));
    add_child(node, forms->count ? forms : node_constant(c, NOTHING));
    add_child(node, clauses(c, rest));
    return node;
  }
  struct node *either = make_node(c, NODE_OR);
  add_child(either, analyse_value(c, head_of(c, clause)));
  add_child(either, clauses(c, rest));
  return either;
}

static struct node *clause_with_arrow(struct compiler *c, wn_ref clause, wn_ref rest) {
  struct node *let = make_node(c, NODE_LET), *node = make_node(c, NODE_IF), *call = make_node(c, NODE_CALL);
  let->variables = variable_make(c, compiler_checked(c, symbol_intern(c->vm, " ", 1)));
  let->variables->ready = true;
  add_child(let, analyse_value(c, head_of(c, clause)));
  add_child(node, node_local(c, let->variables));
  add_child(call, analyse_value(c, nth(c, clause, 2)));
  add_child(call, node_local(c, let->variables));
  add_child(node, call);
  add_child(node, clauses(c, rest));
  add_child(let, node);
  return let;
}

static struct node *special_cond(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 1, -1, "(cond (test form ...) ...)");
  return clauses(c, tail_of(c, form));
}

/* ---- let ---- */

static void check_bindings(struct compiler *c, wn_ref bindings) {
  if (length_of(bindings) < 0) form_fail(c, bindings, "((name value) ...)");
  for (wn_ref at = bindings; is_a_pair(at); at = tail_of(c, at))
    if (length_of(head_of(c, at)) != 2) form_fail(c, head_of(c, at), "(name value)");
}

/* Adds the values, in which the variables are not visible, and then binds the variables. */
static void add_bindings(struct compiler *c, struct node *let, wn_ref bindings) {
  struct variable **end = &let->variables;
  check_bindings(c, bindings);
  for (wn_ref at = bindings; is_a_pair(at); at = tail_of(c, at)) {
    wn_ref binding = head_of(c, at);
    add_child(let, analyse_value(c, nth(c, binding, 1)));
    *end = variable_make(c, head_of(c, binding));
    (*end)->ready = true;
    end = &(*end)->next;
  }
  for (struct variable *variable = let->variables; variable; variable = variable->next)
    variable_bind(c, variable);
}

/* If a loop's name is only called in tail position, the calls become jumps. Returns NULL if that is
 * not so. */
static struct node *try_loop(struct compiler *c, wn_ref name, wn_ref bindings, wn_ref body) {
  struct binding *outer = c->scope;
  struct node *loop = make_node(c, NODE_LOOP);
  struct variable *label = loop->variable = variable_make(c, name);
  *label =
      (struct variable){.name = name, .owner = c->function, .is_label = true, .ready = true, .loop = loop};
  label->barrier = c->barrier;
  check_bindings(c, bindings);
  struct binding *with_label = compiler_allocate(c, sizeof *with_label);
  add_bindings(c, loop, bindings);
  /* The label is outside the variables, and the values do not see it. */
  struct binding **innermost_outer = &c->scope;
  while (*innermost_outer != outer) innermost_outer = &(*innermost_outer)->outer;
  *with_label = (struct binding){label, outer};
  *innermost_outer = with_label;
  add_child(loop, analyse_body(c, body));
  c->scope = outer;
  return label->escapes ? NULL : loop;
}

/* The function's parameters are the bindings' names, as a list of its own. */
static wn_ref names_of(struct compiler *c, wn_ref bindings) {
  if (is_null(bindings)) return bindings;
  wn_ref rest = names_of(c, tail_of(c, bindings));
  return compiler_checked(c, wn_pair(c->vm->domain, TAG_PAIR, nth(c, nth(c, bindings, 0), 0), rest));
}

static struct node *named_function(struct compiler *c, wn_ref name, wn_ref bindings, wn_ref body) {
  struct binding *outer = c->scope;
  struct node *scope = make_node(c, NODE_SCOPE), *run = make_node(c, NODE_FUNCTIONS);
  struct node *call = make_node(c, NODE_CALL);
  struct variable *variable = scope->variables = variable_make(c, name);
  variable->ready = true;
  add_child(call, node_local(c, variable));
  for (wn_ref at = bindings; is_a_pair(at); at = tail_of(c, at))
    add_child(call, analyse_value(c, nth(c, nth(c, at, 0), 1)));
  variable_bind(c, variable);
  add_child(run, node_initialise(c, variable, analyse_lambda(c, name, names_of(c, bindings), body)));
  add_child(scope, run);
  add_child(scope, call);
  c->scope = outer;
  return scope;
}

static struct node *special_let(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 3, -1, "(let ((name value) ...) body ...)");
  wn_ref second = nth(c, form, 1);
  if (is_a_symbol(second)) {
    form_check_length(c, form, 4, -1, "(let name ((name value) ...) body ...)");
    wn_ref bindings = nth(c, form, 2), body = after(c, form, 3);
    struct node *loop = try_loop(c, second, bindings, body);
    return loop ? loop : named_function(c, second, bindings, body);
  }
  struct binding *outer = c->scope;
  struct node *let = make_node(c, NODE_LET);
  add_bindings(c, let, second);
  add_child(let, analyse_body(c, after(c, form, 2)));
  c->scope = outer;
  return let;
}

static struct node *let_star(struct compiler *c, wn_ref bindings, wn_ref body) {
  if (is_null(bindings)) return analyse_body(c, body);
  struct binding *outer = c->scope;
  struct node *let = make_node(c, NODE_LET);
  let->variables = variable_make(c, nth(c, nth(c, bindings, 0), 0));
  add_child(let, analyse_value(c, nth(c, nth(c, bindings, 0), 1)));
  let->variables->ready = true;
  variable_bind(c, let->variables);
  add_child(let, let_star(c, tail_of(c, bindings), body));
  c->scope = outer;
  return let;
}

static struct node *special_let_star(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 3, -1, "(let* ((name value) ...) body ...)");
  check_bindings(c, nth(c, form, 1));
  return let_star(c, nth(c, form, 1), after(c, form, 2));
}

/* (letrec ((name value) ...) body ...) is a body that begins with definitions. */
static wn_ref body_of_letrec(struct compiler *c, wn_ref bindings, wn_ref body) {
  if (is_null(bindings)) return body;
  wn_domain *domain = c->vm->domain;
  wn_ref symbol = compiler_checked(c, symbol_intern(c->vm, "define", 6));
  wn_ref rest = body_of_letrec(c, tail_of(c, bindings), body);
  wn_ref definition = compiler_checked(c, wn_pair(domain, TAG_PAIR, symbol, head_of(c, bindings)));
  return compiler_checked(c, wn_pair(domain, TAG_PAIR, definition, rest));
}

static struct node *special_letrec(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 3, 500, "(letrec ((name value) ...) body ...)");
  check_bindings(c, nth(c, form, 1));
  struct node *let = make_node(c, NODE_SEQUENCE);
  add_child(let, analyse_body(c, body_of_letrec(c, nth(c, form, 1), after(c, form, 2))));
  return let;
}

/* ---- quasiquote ---- */

static struct node *call_global(struct compiler *c, const char *name, struct node *one, struct node *two) {
  struct node *call = make_node(c, NODE_CALL);
  add_child(call, node_global(c, compiler_checked(c, symbol_intern(c->vm, name, strlen(name)))));
  add_child(call, one);
  if (two) add_child(call, two);
  return call;
}

static bool is_unquote(struct compiler *c, wn_ref form, const char *name) {
  return is_a_pair(form) && is_named(head_of(c, form), name) && length_of(form) == 2;
}

static struct node *quasi(struct compiler *c, wn_ref form, unsigned level);

/* `(a . b) where nothing in it is evaluated is a constant. */
static struct node *quasi_pair(struct compiler *c, wn_ref form, struct node *first, struct node *rest) {
  bool constant = first->kind == NODE_CONSTANT && rest->kind == NODE_CONSTANT &&
                  wn_value_of(first->value) == wn_field(form, 0) &&
                  wn_value_of(rest->value) == wn_field(form, 1);
  return constant ? node_constant(c, wn_value_of(form)) : call_global(c, "%cons", first, rest);
}

static struct node *quasi_list(struct compiler *c, wn_ref form, unsigned level) {
  wn_ref head = head_of(c, form), tail = tail_of(c, form);
  if (level == 1 && is_unquote(c, form, "unquote")) return analyse_value(c, nth(c, form, 1));
  if (level == 1 && is_unquote(c, head, "unquote-splicing"))
    return call_global(c, "%append", analyse_value(c, nth(c, head, 1)), quasi(c, tail, level));
  unsigned inner = is_unquote(c, form, "quasiquote")                                           ? level + 1
                   : is_unquote(c, form, "unquote") || is_unquote(c, form, "unquote-splicing") ? level - 1
                                                                                               : level;
  struct node *first = quasi(c, head, level);
  return quasi_pair(c, form, first, quasi(c, tail, inner));
}

static struct node *quasi(struct compiler *c, wn_ref form, unsigned level) {
  if (c->depth++ > 3000) compiler_fail(c, "forms are nested too deeply");
  struct node *node = is_a_pair(form) ? quasi_list(c, form, level) : node_constant(c, wn_value_of(form));
  c->depth--;
  return node;
}

static struct node *special_quasiquote(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 2, 2, "(quasiquote form)");
  return quasi(c, nth(c, form, 1), 1);
}

/* ---- macros ---- */

/* The procedure is made at once, since the forms that follow in the file may use the macro. */
static struct node *special_define_macro(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 3, -1, "(define-macro (name parameter ...) body ...)");
  if (c->bodies) compiler_fail(c, "a macro must be defined at the outermost level");
  if (!is_a_pair(nth(c, form, 1))) form_fail(c, form, "(define-macro (name parameter ...) body ...)");
  wn_domain *domain = c->vm->domain;
  wn_ref name = head_of(c, nth(c, form, 1)), parameters = tail_of(c, nth(c, form, 1)), lambda, maker;
  if (!is_a_symbol(name)) form_fail(c, name, "the name of a macro");
  wn_ref cell = compiler_checked(c, global_cell(c->vm, name));
  wn_ref symbol = compiler_checked(c, symbol_intern(c->vm, "lambda", 6));
  lambda = compiler_checked(c, wn_pair(domain, TAG_PAIR, parameters, after(c, form, 2)));
  lambda = compiler_checked(c, wn_pair(domain, TAG_PAIR, symbol, lambda));
  c->outcome = compile(c->vm, lambda, c->file, c->line, &maker);
  if (c->outcome == VM_DONE) c->outcome = vm_run(c->vm, maker, 0, NULL);
  if (c->outcome != VM_DONE) longjmp(c->leave, 1);
  wn_ref macro = compiler_root(c, make_block(c->vm, 1, TAG_MACRO, c->vm->roots[ROOT_RESULT]));
  wn_set(domain, cell, CELL_VALUE, macro);
  return node_constant(c, NOTHING);
}

/* ---- shared ---- */

const struct special specials[] = {{"quote", special_quote},
                                   {"quasiquote", special_quasiquote},
                                   {"lambda", special_lambda},
                                   {"define", special_define},
                                   {"define-macro", special_define_macro},
                                   {"set!", special_set},
                                   {"if", special_if},
                                   {"begin", special_begin},
                                   {"and", special_and},
                                   {"or", special_or},
                                   {"when", special_when},
                                   {"unless", special_unless},
                                   {"cond", special_cond},
                                   {"let", special_let},
                                   {"let*", special_let_star},
                                   {"letrec", special_letrec},
                                   {"letrec*", special_letrec},
                                   {NULL, NULL}};
/* SPDX-License-Identifier: MIT */
