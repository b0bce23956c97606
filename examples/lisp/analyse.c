/* Forms become a tree: variables, functions and bodies, calls, and macros. */
#include "analyse.h"

#include "lisp.h"
#include "printer.h"

enum { DEPTH_MOST = 700, CAPTURES_MOST = 200, PARAMETERS_MOST = 200 };

/* ---- forms ---- */

_Noreturn void form_fail(struct compiler *c, wn_ref form, const char *expected) {
  struct output text = {0};
  char got[64] = "";
  print_short(&text, wn_value_of(form), 50);
  if (!text.failed) memcpy(got, text.data, text.used < sizeof got ? text.used : sizeof got - 1);
  output_destroy(&text);
  compiler_fail(c, "expected %s, got %s", expected, got);
}

void form_check_length(struct compiler *c, wn_ref form, long least, long most, const char *expected) {
  long length = length_of(form);
  if (length < least || (most >= 0 && length > most)) form_fail(c, form, expected);
}

/* ---- nodes ---- */

struct node *node_constant(struct compiler *c, wn_value value) {
  struct node *node = make_node(c, NODE_CONSTANT);
  node->value = compiler_root(c, value);
  return node;
}

struct node *node_global(struct compiler *c, wn_ref symbol) {
  struct node *node = make_node(c, NODE_GLOBAL);
  node->value = compiler_checked(c, global_cell(c->vm, symbol));
  return node;
}

struct node *node_local(struct compiler *c, struct variable *variable) {
  struct node *node = make_node(c, NODE_LOCAL);
  node->variable = variable;
  return node;
}

struct node *analyse_value(struct compiler *c, wn_ref form) {
  unsigned barrier = c->barrier;
  c->barrier = ++c->barriers;
  struct node *node = analyse(c, form);
  c->barrier = barrier;
  return node;
}

void analyse_values(struct compiler *c, struct node *parent, wn_ref forms) {
  for (wn_ref at = forms; is_a_pair(at); at = tail_of(c, at))
    add_child(parent, analyse_value(c, head_of(c, at)));
}

void analyse_sequence(struct compiler *c, struct node *parent, wn_ref forms) {
  for (wn_ref at = forms, rest; is_a_pair(at); at = rest) {
    rest = tail_of(c, at);
    wn_ref form = head_of(c, at);
    add_child(parent, is_null(rest) ? analyse(c, form) : analyse_value(c, form));
  }
}

/* ---- variables ---- */

struct variable *variable_make(struct compiler *c, wn_ref name) {
  if (!is_a_symbol(name)) form_fail(c, name, "the name of a variable");
  struct variable *variable = compiler_allocate(c, sizeof *variable);
  *variable = (struct variable){.name = name, .owner = c->function};
  return variable;
}

void variable_bind(struct compiler *c, struct variable *variable) {
  struct binding *binding = compiler_allocate(c, sizeof *binding);
  *binding = (struct binding){variable, c->scope};
  c->scope = binding;
}

struct variable *variable_find(const struct compiler *c, wn_ref name) {
  for (const struct binding *binding = c->scope; binding; binding = binding->outer)
    if (wn_value_of(binding->variable->name) == wn_value_of(name)) return binding->variable;
  return NULL;
}

static void capture(struct compiler *c, struct function *function, struct variable *variable) {
  for (const struct capture *known = function->captures; known; known = known->next)
    if (known->variable == variable) return;
  struct capture *made = compiler_allocate(c, sizeof *made);
  *made = (struct capture){variable, NULL};
  *function->captures_end = made;
  function->captures_end = &made->next;
  if (++function->capture_count > CAPTURES_MOST)
    compiler_fail(c, "a function uses too many variables of outer ones");
}

/* All functions between the one that owns the variable and the one that uses it hold a copy. */
void variable_use(struct compiler *c, struct variable *variable) {
  if (variable->is_label) variable->escapes = true;
  for (struct function *at = c->function; at != variable->owner; at = at->parent) {
    capture(c, at, variable);
    variable->captured = true;
    if (!variable->ready) variable->early = true;
  }
}

static struct node *reference(struct compiler *c, wn_ref name) {
  struct variable *variable = variable_find(c, name);
  if (!variable) return node_global(c, name);
  struct node *node = make_node(c, NODE_LOCAL);
  node->variable = variable;
  node->checked = !variable->ready;
  node->value = name;
  variable_use(c, variable);
  return node;
}

/* ---- lambda, bodies ---- */

/* The special form that begins here: its number in `specials`, from 1; 0 if it is none. */
static intptr_t form_number(const struct compiler *c, wn_ref form) {
  if (!is_a_pair(form) || !is_symbol(car(wn_value_of(form)))) return 0;
  intptr_t number = integer_of(field(car(wn_value_of(form)), SYMBOL_FORM));
  if (!number) return 0;
  for (const struct binding *binding = c->scope; binding; binding = binding->outer)
    if (wn_value_of(binding->variable->name) == car(wn_value_of(form))) return 0;
  return number;
}

static bool begins_with(const struct compiler *c, wn_ref form, special_form *special) {
  intptr_t number = form_number(c, form);
  return number && specials[number - 1].form == special;
}

wn_ref definition_name(struct compiler *c, wn_ref form) {
  form_check_length(c, form, 2, -1, "(define name value) or (define (name parameter ...) body ...)");
  wn_ref target = nth(c, form, 1);
  while (is_a_pair(target)) target = head_of(c, target);
  return target;
}

/* The value of a definition. (define ((f a) b) ...) is curried. */
struct node *definition_value(struct compiler *c, wn_ref form) {
  wn_ref target = nth(c, form, 1);
  if (!is_a_pair(target)) {
    form_check_length(c, form, 2, 3, "(define name value)");
    if (length_of(form) == 2) return node_constant(c, NOTHING);
    wn_ref value = nth(c, form, 2);
    if (begins_with(c, value, special_lambda)) {
      form_check_length(c, value, 3, -1, "(lambda (parameter ...) body ...)");
      return analyse_lambda(c, target, nth(c, value, 1), after(c, value, 2));
    }
    return analyse_value(c, value);
  }
  form_check_length(c, form, 3, -1, "(define (name parameter ...) body ...)");
  if (is_a_pair(head_of(c, target))) compiler_fail(c, "expected the name of a function");
  return analyse_lambda(c, head_of(c, target), tail_of(c, target), after(c, form, 2));
}

static bool defines_function(struct compiler *c, wn_ref form) {
  return is_a_pair(nth(c, form, 1)) ||
         (length_of(form) == 3 && begins_with(c, nth(c, form, 2), special_lambda));
}

struct node *node_initialise(struct compiler *c, struct variable *variable, struct node *value) {
  struct node *node = make_node(c, NODE_INITIALISE);
  node->variable = variable;
  add_child(node, value);
  return node;
}

/* Adds definitions of functions that follow each other. Returns the forms after them. */
static wn_ref add_functions(struct compiler *c, struct node *scope, wn_ref forms) {
  struct node *run = make_node(c, NODE_FUNCTIONS);
  wn_ref at = forms;
  for (; is_a_pair(at); at = tail_of(c, at)) {
    wn_ref form = head_of(c, at);
    if (!begins_with(c, form, special_define) || !defines_function(c, form)) break;
    variable_find(c, definition_name(c, form))->ready = true;
  }
  for (wn_ref of = forms; wn_value_of(of) != wn_value_of(at); of = tail_of(c, of)) {
    wn_ref form = head_of(c, of);
    c->line = line_of(c, form);
    add_child(run, node_initialise(c, variable_find(c, definition_name(c, form)), definition_value(c, form)));
  }
  add_child(scope, run);
  return at;
}

static void add_definition(struct compiler *c, struct node *scope, wn_ref form) {
  struct variable *variable = variable_find(c, definition_name(c, form));
  c->line = line_of(c, form);
  add_child(scope, node_initialise(c, variable, definition_value(c, form)));
  variable->ready = true;
}

static bool declare_definitions(struct compiler *c, struct node *scope, wn_ref forms) {
  for (wn_ref at = forms; is_a_pair(at); at = tail_of(c, at)) {
    wn_ref form = head_of(c, at);
    if (!begins_with(c, form, special_define)) continue;
    struct variable *variable = variable_make(c, definition_name(c, form));
    variable->next = scope->variables;
    scope->variables = variable;
  }
  for (struct variable *at = scope->variables; at; at = at->next) variable_bind(c, at);
  return scope->variables != NULL;
}

struct node *analyse_body(struct compiler *c, wn_ref forms) {
  struct binding *outer = c->scope;
  struct node *body = make_node(c, NODE_SEQUENCE);
  if (length_of(forms) < 1) form_fail(c, forms, "a body");
  c->bodies++;
  if (declare_definitions(c, body, forms)) body->kind = NODE_SCOPE;
  for (wn_ref at = forms; is_a_pair(at);) {
    wn_ref form = head_of(c, at), rest = tail_of(c, at);
    bool defines = body->variables && begins_with(c, form, special_define);
    if (defines && defines_function(c, form)) {
      rest = add_functions(c, body, at);
    } else if (defines) {
      add_definition(c, body, form);
    } else {
      add_child(body, is_null(rest) ? analyse(c, form) : analyse_value(c, form));
    }
    if (defines && is_null(rest)) add_child(body, node_constant(c, NOTHING));
    at = rest;
  }
  c->bodies--;
  c->scope = outer;
  return body;
}

static void add_parameters(struct compiler *c, struct function *function, wn_ref parameters) {
  struct variable **end = &function->parameters;
  wn_ref at = parameters;
  for (; !is_null(at); at = tail_of(c, at)) {
    bool rest = !is_a_pair(at);
    struct variable *variable = variable_make(c, rest ? at : head_of(c, at));
    variable->ready = true;
    variable_bind(c, variable);
    *end = variable;
    end = &variable->next;
    function->has_rest = rest;
    if (rest) break;
    function->required++;
  }
  if (function->required > PARAMETERS_MOST) compiler_fail(c, "a function has too many parameters");
}

static struct function *begin_function(struct compiler *c, wn_ref name) {
  struct function *function = compiler_allocate(c, sizeof *function);
  *function = (struct function){.parent = c->function, .name = name, .line = c->line};
  function->captures_end = &function->captures;
  c->function = function;
  c->barrier = ++c->barriers;
  return function;
}

struct node *analyse_lambda(struct compiler *c, wn_ref name, wn_ref parameters, wn_ref body) {
  struct node *node = make_node(c, NODE_LAMBDA);
  struct binding *scope = c->scope;
  unsigned barrier = c->barrier;
  node->function = begin_function(c, name);
  add_parameters(c, node->function, parameters);
  node->function->body = analyse_body(c, body);
  c->function = node->function->parent;
  c->scope = scope;
  c->barrier = barrier;
  return node;
}

/* ---- calls and macros ---- */

/* The label, if the form calls a loop's name in tail position. */
static struct variable *label_of_jump(const struct compiler *c, wn_ref form) {
  if (!is_symbol(wn_field(form, 0))) return NULL;
  for (const struct binding *binding = c->scope; binding; binding = binding->outer) {
    struct variable *variable = binding->variable;
    if (wn_value_of(variable->name) != wn_field(form, 0)) continue;
    bool jumps = variable->is_label && variable->owner == c->function && variable->barrier == c->barrier &&
                 length_of(form) == (long)variable->loop->count + 1;
    return jumps ? variable : NULL;
  }
  return NULL;
}

static struct node *analyse_call(struct compiler *c, wn_ref form) {
  struct variable *label = label_of_jump(c, form);
  struct node *call = make_node(c, label ? NODE_AGAIN : NODE_CALL);
  call->variable = label;
  if (length_of(form) < 0) form_fail(c, form, "a list");
  analyse_values(c, call, label ? tail_of(c, form) : form);
  return call;
}

/* The procedure of the macro that the form calls, or null. */
static wn_ref macro_of(struct compiler *c, wn_ref form) {
  static const wn_ref none = {NULL};
  if (!is_symbol(wn_field(form, 0))) return none;
  wn_ref name = head_of(c, form);
  if (variable_find(c, name)) return none;
  wn_value value = wn_field(compiler_checked(c, global_cell(c->vm, name)), CELL_VALUE);
  return has_tag(value, TAG_MACRO) ? compiler_root(c, field(value, 0)) : none;
}

/* The result of the macro's procedure for the form's other elements. */
static wn_ref expand(struct compiler *c, wn_ref procedure, wn_ref form) {
  long count = length_of(form) - 1;
  if (count < 0 || count > PARAMETERS_MOST) form_fail(c, form, "a list");
  wn_ref *arguments = compiler_allocate(c, (size_t)(count + 1) * sizeof *arguments);
  wn_ref at = tail_of(c, form);
  for (long i = 0; i < count; i++, at = tail_of(c, at)) arguments[i] = head_of(c, at);
  c->outcome = vm_run(c->vm, procedure, (size_t)count, arguments);
  if (c->outcome != VM_DONE) longjmp(c->leave, 1);
  return compiler_root(c, c->vm->roots[ROOT_RESULT]);
}

static struct node *analyse_pair(struct compiler *c, wn_ref form) {
  intptr_t number = form_number(c, form);
  unsigned line = c->line;
  c->line = line_of(c, form);
  if (c->depth++ == DEPTH_MOST) compiler_fail(c, "forms are nested too deeply");
  wn_ref macro = number ? (wn_ref){NULL} : macro_of(c, form);
  struct node *node = number              ? specials[number - 1].form(c, form)
                      : wn_is_null(macro) ? analyse_call(c, form)
                                          : analyse(c, expand(c, macro, form));
  c->depth--;
  c->line = line;
  return node;
}

struct node *analyse(struct compiler *c, wn_ref form) {
  if (is_a_pair(form)) return analyse_pair(c, form);
  if (is_a_symbol(form)) return reference(c, form);
  if (is_null(form)) compiler_fail(c, "() is no form: an empty list is written '()");
  return node_constant(c, wn_value_of(form));
}

/* ---- shared ---- */

struct function *analyse_form(struct compiler *c, wn_ref form) {
  struct function *function = begin_function(c, compiler_root(c, FALSE));
  function->body = analyse(c, form);
  return function;
}
/* SPDX-License-Identifier: MIT */
