/* The tree becomes code.
 *
 * produce(node, top) leaves the node's value in the register `top`, and uses registers from there
 * on; all below hold values. So at each instruction it is known which registers hold values, as
 * many as the instruction's `live` says: `top`, and the operands that were produced above it. A
 * variable's register is the one where its value was produced. */
#include "emit.h"

#include "builtins.h"
#include <string.h>

enum { UNCHANGED = 0 };

static void produce(struct generator *g, const struct node *node, unsigned top);
static void produce_last(struct generator *g, const struct node *node, unsigned top);
static void test(struct generator *g, const struct node *node, unsigned top, struct jump **fails);

/* ---- variables ---- */

static bool is_own(const struct generator *g, const struct variable *variable) {
  return variable->owner == g->function;
}

static unsigned capture_number(const struct generator *g, const struct variable *variable) {
  unsigned number = 1;
  for (const struct capture *at = g->function->captures; at->variable != variable; at = at->next) number++;
  return number;
}

/* The register that holds the variable's value or its box. */
static unsigned place_of(struct generator *g, const struct variable *variable, unsigned top) {
  if (is_own(g, variable)) return variable->place;
  emit_need_register(g, top);
  emit(g, OP_CAPTURED, top, capture_number(g, variable), 0, top);
  return top;
}

static void produce_local(struct generator *g, const struct node *node, unsigned top) {
  const struct variable *variable = node->variable;
  unsigned place = place_of(g, variable, top);
  if (variable_is_boxed(variable)) {
    emit(g, OP_UNBOX, top, place, emit_constant(g, variable->name), place == top ? top + 1 : top);
    return;
  }
  if (node->checked && is_own(g, variable))
    emit(g, OP_CHECK, place, emit_constant(g, variable->name), 0, top);
  emit_move(g, top, place);
}

static bool is_in_register(const struct generator *g, const struct node *node) {
  return node->kind == NODE_LOCAL && is_own(g, node->variable) && !variable_is_boxed(node->variable) &&
         !node->checked;
}

/* Where the node's value is: in the variable's own register, if it is one, else in `top`. */
static unsigned operand(struct generator *g, const struct node *node, unsigned top) {
  if (is_in_register(g, node)) return node->variable->place;
  produce(g, node, top);
  return top;
}

static void box_where_needed(struct generator *g, const struct variable *variables, unsigned live) {
  for (; variables; variables = variables->next)
    if (variable_is_boxed(variables)) emit(g, OP_BOX, variables->place, 0, 0, live);
}

/* ---- instructions for functions of the library ---- */

static const struct primitive {
  const char *name;
  unsigned arguments;
  unsigned op, small; /* `small`: where the second operand is a small number; UNCHANGED: there is none */
  bool swapped;
} values[] = {{"+", 2, OP_ADD, OP_ADD_SMALL, false},
              {"-", 2, OP_SUBTRACT, OP_ADD_SMALL, false},
              {"*", 2, OP_MULTIPLY, UNCHANGED, false},
              {"cons", 2, OP_CONS, UNCHANGED, false},
              {"%cons", 2, OP_CONS, UNCHANGED, false},
              {"car", 1, OP_CAR, UNCHANGED, false},
              {"cdr", 1, OP_CDR, UNCHANGED, false},
              {"vector-ref", 2, OP_VECTOR_REF, UNCHANGED, false},
              {NULL, 0, 0, 0, false}},
  tests[] = {{"<", 2, OP_UNLESS_LESS, OP_UNLESS_LESS_SMALL, false},
             {"<=", 2, OP_UNLESS_LESS_EQUAL, OP_UNLESS_LESS_EQUAL_SMALL, false},
             {">", 2, OP_UNLESS_LESS, OP_UNLESS_GREATER_SMALL, true},
             {">=", 2, OP_UNLESS_LESS_EQUAL, OP_UNLESS_GREATER_EQUAL_SMALL, true},
             {"=", 2, OP_UNLESS_EQUAL, OP_UNLESS_EQUAL_SMALL, false},
             {"eq?", 2, OP_UNLESS_SAME, UNCHANGED, false},
             {"null?", 1, OP_UNLESS_NULL, UNCHANGED, false},
             {"pair?", 1, OP_UNLESS_PAIR, UNCHANGED, false},
             {"not", 1, OP_UNLESS_NOT, UNCHANGED, false},
             {NULL, 0, 0, 0, false}};

/* A program that redefines a name gets a call. */
static const struct primitive *primitive_of(const struct node *node, const struct primitive *among) {
  if (node->kind != NODE_CALL || node->first->kind != NODE_GLOBAL) return NULL;
  wn_value function = wn_field(node->first->value, CELL_VALUE);
  if (!has_tag(function, TAG_BUILTIN)) return NULL;
  for (; among->name; among++)
    if (among->arguments == node->count - 1 && !strcmp(among->name, builtin_of(function)->name)) return among;
  return NULL;
}

static bool small_constant(const struct node *node, intptr_t *number) {
  if (node->kind != NODE_CONSTANT || !is_integer(wn_value_of(node->value))) return false;
  *number = integer_of(wn_value_of(node->value));
  return *number > -30000 && *number < 30000;
}

/* Leaves the value in `target`, which may be a variable's register. */
static void produce_primitive(struct generator *g, const struct node *node, const struct primitive *primitive,
                              unsigned top, unsigned target) {
  const struct node *first = node->first->next, *second = first->next;
  intptr_t number;
  unsigned one, two;
  if (primitive->op == OP_ADD && small_constant(first, &number)) {
    const struct node *swap = first;
    first = second;
    second = swap;
  }
  one = operand(g, first, top);
  if (primitive->arguments == 1) {
    g->line = node->line;
    emit(g, primitive->op, target, one, 0, top + (one == top));
    return;
  }
  if (primitive->small != UNCHANGED && small_constant(second, &number)) {
    g->line = node->line;
    number = primitive->op == OP_SUBTRACT ? -number : number;
    emit(g, OP_ADD_SMALL, target, one, (unsigned)number & 0xffff, top + (one == top));
    return;
  }
  unsigned above = top + (one == top);
  two = operand(g, second, above);
  g->line = node->line;
  emit(g, primitive->op, target, one, two, above + (two == above));
}

static void test_primitive(struct generator *g, const struct node *node, const struct primitive *primitive,
                           unsigned top, struct jump **fails) {
  const struct node *first = node->first->next, *second = first->next;
  intptr_t number;
  unsigned one = operand(g, first, top), two, above = top + (one == top);
  if (primitive->arguments == 1) {
    emit_jump(g, fails, emit(g, primitive->op, one, 0, 0, above));
    return;
  }
  if (primitive->small != UNCHANGED && small_constant(second, &number)) {
    g->line = node->line;
    emit_jump(g, fails, emit(g, primitive->small, one, (unsigned)number & 0xffff, 0, above));
    return;
  }
  two = operand(g, second, above);
  above += two == above;
  g->line = node->line;
  size_t at = primitive->swapped ? emit(g, primitive->op, two, one, 0, above)
                                 : emit(g, primitive->op, one, two, 0, above);
  emit_jump(g, fails, at);
}

/* ---- tests ---- */

static bool is_test(const struct node *node) { return primitive_of(node, tests) != NULL; }

static void test_or(struct generator *g, const struct node *node, unsigned top, struct jump **fails) {
  struct jump *successes = NULL;
  for (const struct node *child = node->first; child; child = child->next) {
    struct jump *next = NULL;
    if (!child->next) {
      test(g, child, top, fails);
    } else {
      test(g, child, top, &next);
      emit_jump(g, &successes, emit(g, OP_JUMP, 0, 0, 0, top));
      emit_landing(g, next);
    }
  }
  emit_landing(g, successes);
}

/* Tests a value: falls through if it is true, else jumps to the target of `fails`. */
static void test(struct generator *g, const struct node *node, unsigned top, struct jump **fails) {
  const struct primitive *primitive = primitive_of(node, tests);
  if (primitive && primitive->op == OP_UNLESS_NOT && is_test(node->first->next)) {
    struct jump *inner = NULL;
    test(g, node->first->next, top, &inner);
    emit_jump(g, fails, emit(g, OP_JUMP, 0, 0, 0, top));
    emit_landing(g, inner);
  } else if (primitive) {
    test_primitive(g, node, primitive, top, fails);
  } else if (node->kind == NODE_AND) {
    for (const struct node *child = node->first; child; child = child->next) test(g, child, top, fails);
  } else if (node->kind == NODE_OR) {
    test_or(g, node, top, fails);
  } else if (node->kind == NODE_CONSTANT) {
    if (wn_value_of(node->value) == FALSE) emit_jump(g, fails, emit(g, OP_JUMP, 0, 0, 0, top));
  } else {
    unsigned at = operand(g, node, top);
    emit_jump(g, fails, emit(g, OP_UNLESS, at, 0, 0, top + (at == top)));
  }
}

static void produce_truth(struct generator *g, const struct node *node, unsigned top) {
  struct jump *fails = NULL;
  test(g, node, top, &fails);
  emit_immediate(g, top, TRUE);
  size_t end = emit(g, OP_JUMP, 0, 0, 0, top + 1);
  emit_landing(g, fails);
  emit_immediate(g, top, FALSE);
  emit_distance(g, end, g->count);
}

/* ---- functions ---- */

static void emit_closure(struct generator *g, const struct function *function, unsigned to, unsigned top) {
  unsigned code = emit_constant(g, generate_code(g->c, (struct function *)function));
  emit(g, OP_CLOSURE, to, code, (unsigned)function->capture_count, top);
  for (const struct capture *at = function->captures; at; at = at->next)
    if (is_own(g, at->variable))
      emit(g, OP_CAPTURE, 0, at->variable->place, 0, top);
    else
      emit(g, OP_CAPTURE, 1, capture_number(g, at->variable), 0, top);
}

static void produce_call(struct generator *g, const struct node *node, unsigned top, unsigned op) {
  unsigned at = top;
  for (const struct node *child = node->first; child; child = child->next) produce(g, child, at++);
  g->line = node->line;
  emit(g, op, top, (unsigned)node->count - 1, 0, at);
}

static void set_variable(struct generator *g, const struct variable *variable, unsigned from) {
  if (variable_is_boxed(variable))
    emit(g, OP_SET_BOX, place_of(g, variable, from + 1), from, 0, from + 2);
  else
    emit_move(g, variable->place, from);
}

/* Values are copied into closures when the closures are made. Stores those that did not exist yet
 * afterwards. */
static void patch_captures(struct generator *g, const struct node *of, unsigned top) {
  unsigned number = 1;
  for (const struct capture *at = of->first->function->captures; at; at = at->next, number++) {
    const struct node *mate = of;
    while (mate && mate->variable != at->variable) mate = mate->next;
    if (mate && !variable_is_boxed(at->variable))
      emit(g, OP_PATCH, of->variable->place, number, mate->variable->place, top);
  }
}

static void initialise_functions(struct generator *g, const struct node *run, unsigned top) {
  for (const struct node *at = run->first; at; at = at->next) {
    bool boxed = variable_is_boxed(at->variable);
    emit_need_register(g, top + 1);
    emit_closure(g, at->first->function, boxed ? top : at->variable->place, top);
    if (boxed) emit(g, OP_SET_BOX, at->variable->place, top, 0, top + 1);
  }
  for (const struct node *at = run->first; at; at = at->next)
    if (!variable_is_boxed(at->variable)) patch_captures(g, at, top);
}

/* A function in a box cannot be patched. If there is one, all captured functions get boxes. */
static void decide_boxes(const struct node *scope) {
  for (const struct node *run = scope->first; run; run = run->next) {
    bool boxed = false;
    if (run->kind != NODE_FUNCTIONS) continue;
    for (const struct node *at = run->first; at; at = at->next) boxed |= variable_is_boxed(at->variable);
    for (const struct node *at = run->first; at; at = at->next) at->variable->early |= boxed;
  }
}

/* ---- scopes: each returns the first register behind the variables ---- */

static unsigned begin_scope(struct generator *g, const struct node *scope, unsigned top) {
  decide_boxes(scope);
  for (struct variable *at = scope->variables; at; at = at->next, top++) {
    emit_need_register(g, top);
    at->place = top;
    emit_immediate(g, top, UNASSIGNED);
    if (variable_is_boxed(at)) emit(g, OP_BOX, top, 0, 0, top + 1);
  }
  for (const struct node *at = scope->first; at->next; at = at->next) {
    g->line = at->line;
    if (at->kind == NODE_FUNCTIONS) {
      initialise_functions(g, at, top);
      continue;
    }
    produce(g, at->kind == NODE_INITIALISE ? at->first : at, top);
    if (at->kind == NODE_INITIALISE) set_variable(g, at->variable, top);
  }
  return top;
}

/* Of NODE_LET and NODE_LOOP. */
static unsigned begin_let(struct generator *g, const struct node *let, unsigned top) {
  const struct node *value = let->first;
  for (struct variable *at = let->variables; at; at = at->next, value = value->next) {
    at->place = top;
    produce(g, value, top++);
  }
  box_where_needed(g, let->variables, top);
  if (let->kind == NODE_LOOP) let->variable->place = (unsigned)g->count;
  return top;
}

/* The loop's variables get their new values all at once; the last one is computed in its own
 * register if possible. */
static void produce_again(struct generator *g, const struct node *node, unsigned top) {
  const struct node *loop = node->variable->loop;
  const struct variable *variable = loop->variables;
  unsigned at = top;
  for (const struct node *value = node->first; value; value = value->next, at++) {
    const struct primitive *primitive = primitive_of(value, values);
    bool same = is_in_register(g, value) && value->variable == variable;
    bool direct = !value->next && primitive;
    if (direct)
      produce_primitive(g, value, primitive, at, variable->place);
    else if (!same)
      produce(g, value, at);
    else
      emit_immediate(g, at, NIL); /* a place that holds a value: it is not looked at */
    variable = variable->next;
  }
  at = top;
  variable = loop->variables;
  for (const struct node *value = node->first; value; value = value->next, variable = variable->next, at++) {
    bool same = is_in_register(g, value) && value->variable == variable;
    if (!same && (value->next || !primitive_of(value, values))) emit_move(g, variable->place, at);
  }
  unsigned live = loop->variables ? 0 : top;
  for (variable = loop->variables; variable; variable = variable->next) live = variable->place + 1;
  box_where_needed(g, loop->variables, live);
  emit_distance(g, emit(g, OP_LOOP, 0, 0, 0, live), node->variable->place);
}

static unsigned begin_bindings(struct generator *g, const struct node *node, unsigned top) {
  return node->kind == NODE_SCOPE ? begin_scope(g, node, top) : begin_let(g, node, top);
}

/* ---- values ---- */

static void produce_constant(struct generator *g, const struct node *node, unsigned top) {
  wn_value value = wn_value_of(node->value);
  if ((value & 1) && (intptr_t)value == (int16_t)value)
    emit_immediate(g, top, value);
  else
    emit(g, OP_CONSTANT, top, emit_constant(g, node->value), 0, top);
}

static void produce_set(struct generator *g, const struct node *node, unsigned top) {
  produce(g, node->first, top);
  g->line = node->line;
  emit_need_register(g, top + 1);
  if (node->kind == NODE_SET)
    set_variable(g, node->variable, top);
  else
    emit(g, node->kind == NODE_DEFINE ? OP_DEFINE : OP_SET_GLOBAL, top, emit_constant(g, node->value), 0,
         top + 1);
  emit_immediate(g, top, NOTHING);
}

static void produce_if(struct generator *g, const struct node *node, unsigned top) {
  struct jump *fails = NULL;
  test(g, node->first, top, &fails);
  produce(g, node->first->next, top);
  size_t end = emit(g, OP_JUMP, 0, 0, 0, top + 1);
  emit_landing(g, fails);
  produce(g, node->last, top);
  emit_distance(g, end, g->count);
}

static void produce_and(struct generator *g, const struct node *node, unsigned top) {
  struct jump *fails = NULL;
  for (const struct node *child = node->first; child->next; child = child->next) test(g, child, top, &fails);
  produce(g, node->last, top);
  size_t end = emit(g, OP_JUMP, 0, 0, 0, top + 1);
  emit_landing(g, fails);
  emit_immediate(g, top, FALSE);
  emit_distance(g, end, g->count);
}

static void produce_or(struct generator *g, const struct node *node, unsigned top) {
  struct jump *successes = NULL;
  for (const struct node *child = node->first; child; child = child->next) {
    produce(g, child, top);
    if (child->next) emit_jump(g, &successes, emit(g, OP_UNLESS_NOT, top, 0, 0, top + 1));
  }
  emit_landing(g, successes);
}

static void produce(struct generator *g, const struct node *node, unsigned top) {
  const struct primitive *primitive = primitive_of(node, values);
  emit_need_register(g, top + 1);
  g->line = node->line;
  switch (node->kind) {
  case NODE_CONSTANT: produce_constant(g, node, top); break;
  case NODE_LOCAL: produce_local(g, node, top); break;
  case NODE_GLOBAL: emit(g, OP_GLOBAL, top, emit_constant(g, node->value), 0, top); break;
  case NODE_SET:
  case NODE_SET_GLOBAL:
  case NODE_DEFINE: produce_set(g, node, top); break;
  case NODE_IF: produce_if(g, node, top); break;
  case NODE_AND: produce_and(g, node, top); break;
  case NODE_OR: produce_or(g, node, top); break;
  case NODE_SEQUENCE:
    for (const struct node *child = node->first; child; child = child->next) produce(g, child, top);
    break;
  case NODE_CALL:
    if (primitive)
      produce_primitive(g, node, primitive, top, top);
    else if (is_test(node))
      produce_truth(g, node, top);
    else
      produce_call(g, node, top, OP_CALL);
    break;
  case NODE_LAMBDA: emit_closure(g, node->function, top, top); break;
  case NODE_LET:
  case NODE_SCOPE:
  case NODE_LOOP: {
    unsigned above = begin_bindings(g, node, top);
    produce(g, node->last, above);
    emit_move(g, top, above);
    break;
  }
  case NODE_AGAIN: produce_again(g, node, top); break;
  case NODE_INITIALISE:
  case NODE_FUNCTIONS: __builtin_unreachable(); /* of scopes only */
  }
}

/* ---- the function's value ---- */

static void produce_last_if(struct generator *g, const struct node *node, unsigned top) {
  struct jump *fails = NULL;
  test(g, node->first, top, &fails);
  produce_last(g, node->first->next, top);
  emit_landing(g, fails);
  produce_last(g, node->last, top);
}

static void produce_last_and(struct generator *g, const struct node *node, unsigned top) {
  struct jump *fails = NULL;
  for (const struct node *child = node->first; child->next; child = child->next) test(g, child, top, &fails);
  produce_last(g, node->last, top);
  emit_landing(g, fails);
  emit_immediate(g, top, FALSE);
  emit(g, OP_RETURN, top, 0, 0, top + 1);
}

static void produce_last_or(struct generator *g, const struct node *node, unsigned top) {
  for (const struct node *child = node->first; child->next; child = child->next) {
    struct jump *success = NULL;
    produce(g, child, top);
    emit_jump(g, &success, emit(g, OP_UNLESS, top, 0, 0, top + 1));
    emit(g, OP_RETURN, top, 0, 0, top + 1);
    emit_landing(g, success);
  }
  produce_last(g, node->last, top);
}

/* A tail call removes its caller's frame, and so its line from a backtrace. Therefore calls at the
 * outermost level, and of functions that never return, are no tail calls. */
static bool keeps_frame(const struct generator *g, const struct node *call) {
  if (!g->function->parent) return true;
  if (call->first->kind != NODE_GLOBAL) return false;
  const char *name = string_bytes(field(wn_field(call->first->value, CELL_NAME), SYMBOL_NAME));
  return !strcmp(name, "error") || !strcmp(name, "raise");
}

/* Produces the value and returns it from the function. */
static void produce_last(struct generator *g, const struct node *node, unsigned top) {
  emit_need_register(g, top + 1);
  g->line = node->line;
  switch (node->kind) {
  case NODE_IF: produce_last_if(g, node, top); return;
  case NODE_AND: produce_last_and(g, node, top); return;
  case NODE_OR: produce_last_or(g, node, top); return;
  case NODE_SEQUENCE:
    for (const struct node *child = node->first; child->next; child = child->next) produce(g, child, top);
    produce_last(g, node->last, top);
    return;
  case NODE_LET:
  case NODE_SCOPE:
  case NODE_LOOP: produce_last(g, node->last, begin_bindings(g, node, top)); return;
  case NODE_AGAIN: produce_again(g, node, top); return;
  case NODE_CALL:
    if (primitive_of(node, values) || is_test(node) || keeps_frame(g, node)) break;
    produce_call(g, node, top, OP_TAIL_CALL);
    emit(g, OP_RETURN, top, 0, 0, top + 1);
    return;
  default: break;
  }
  unsigned at = operand(g, node, top);
  emit(g, OP_RETURN, at, 0, 0, top + (at == top));
}

/* ---- code ---- */

static void generate_function(struct generator *g) {
  const struct function *function = g->function;
  unsigned count = 0;
  size_t enter = emit(g, OP_ENTER, (unsigned)function->required, 0, function->has_rest, 0);
  for (struct variable *at = function->parameters; at; at = at->next) at->place = count++;
  box_where_needed(g, function->parameters, count);
  produce_last(g, function->body, count);
  emit_need_register(g, count + 1);
  g->code[enter].b = (uint16_t)(g->registers + 1);
  g->code[enter].live = (uint8_t)count;
}

wn_ref generate_code(struct compiler *compiler, struct function *function) {
  struct generator generator = {.c = compiler, .function = function, .line = function->line};
  generate_function(&generator);
  return emit_code(&generator);
}
/* SPDX-License-Identifier: MIT */
