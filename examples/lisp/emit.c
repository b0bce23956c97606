/* Instructions and constants of the function that is being generated. */
#include "emit.h"

#include <string.h>

enum { REGISTERS_MOST = 250, CONSTANTS_MOST = 60000 };

static void *enlarge(struct generator *g, void *old, size_t count, size_t each) {
  void *grown = compiler_allocate(g->c, 2 * count * each + 32 * each);
  if (count) memcpy(grown, old, count * each);
  return grown;
}

void emit_need_register(struct generator *g, unsigned number) {
  if (number >= REGISTERS_MOST)
    compiler_fail(g->c, "a function needs more than %d registers", REGISTERS_MOST);
  if (number >= g->registers) g->registers = number + 1;
}

size_t emit(struct generator *g, unsigned op, unsigned a, unsigned b, unsigned c, unsigned live) {
  if (g->count == g->capacity) {
    g->code = enlarge(g, g->code, g->count, sizeof *g->code);
    g->lines = enlarge(g, g->lines, g->count, sizeof *g->lines);
    g->capacity = 2 * g->count + 32;
  }
  g->code[g->count] = (struct instruction){(uint8_t)op, (uint8_t)live, (uint16_t)a, (uint16_t)b, (uint16_t)c};
  g->lines[g->count] = g->line;
  return g->count++;
}

unsigned emit_constant(struct generator *g, wn_ref value) {
  for (size_t i = 0; i < g->constant_count; i++)
    if (wn_value_of(g->constants[i]) == wn_value_of(value)) return (unsigned)(CODE_CONSTANTS + i);
  if (g->constant_count == g->constant_capacity) {
    g->constants = enlarge(g, g->constants, g->constant_count, sizeof *g->constants);
    g->constant_capacity = 2 * g->constant_count + 32;
  }
  if (g->constant_count == CONSTANTS_MOST) compiler_fail(g->c, "the function has too many constants");
  g->constants[g->constant_count] = value;
  return (unsigned)(CODE_CONSTANTS + g->constant_count++);
}

/* The distance is the jump's last operand. */
void emit_distance(struct generator *g, size_t at, size_t goal) {
  long distance = (long)goal - (long)at - 1;
  struct instruction *jump = &g->code[at];
  if (distance != (int16_t)distance) compiler_fail(g->c, "the function is too large");
  if (jump->op == OP_JUMP || jump->op == OP_LOOP)
    jump->a = (uint16_t)distance;
  else if (jump->op == OP_UNLESS || jump->op == OP_UNLESS_NOT || jump->op == OP_UNLESS_NULL ||
           jump->op == OP_UNLESS_PAIR)
    jump->b = (uint16_t)distance;
  else
    jump->c = (uint16_t)distance;
}

void emit_jump(struct generator *g, struct jump **jumps, size_t at) {
  struct jump *jump = compiler_allocate(g->c, sizeof *jump);
  *jump = (struct jump){at, *jumps};
  *jumps = jump;
}

void emit_landing(struct generator *g, const struct jump *jumps) {
  for (; jumps; jumps = jumps->next) emit_distance(g, jumps->at, g->count);
}

void emit_move(struct generator *g, unsigned to, unsigned from) {
  if (to != from) emit(g, OP_MOVE, to, from, 0, from + 1);
}

void emit_immediate(struct generator *g, unsigned to, wn_value value) {
  emit(g, OP_SMALL, to, (unsigned)value & 0xffff, 0, to);
}

/* ---- code ---- */

wn_ref emit_code(struct generator *g) {
  struct compiler *c = g->c;
  wn_domain *domain = c->vm->domain;
  struct body *body;
  wn_ref owner = compiler_checked(c, code_create_body(domain, g->count, &body));
  memcpy(body->instructions, g->code, g->count * sizeof *g->code);
  memcpy(body->lines, g->lines, g->count * sizeof *g->lines);
  wn_ref code = compiler_checked(c, wn_alloc(domain, CODE_CONSTANTS + g->constant_count, TAG_CODE));
  wn_set(domain, code, CODE_BODY, compiler_root(c, make_address(body)));
  wn_set(domain, code, CODE_OWNER, owner);
  wn_set(domain, code, CODE_NAME, g->function->name);
  wn_set(domain, code, CODE_FILE, c->file);
  for (size_t i = 0; i < g->constant_count; i++) wn_set(domain, code, CODE_CONSTANTS + i, g->constants[i]);
  return code;
}
/* SPDX-License-Identifier: MIT */
