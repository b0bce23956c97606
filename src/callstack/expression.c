/* DWARF expressions, as far as call frame information uses them: a stack machine (DWARF 5, section
 * 2.5). */
#include "callstack/bytes.h"
#include "callstack/cfi.h"

enum { STACK_MOST = 16, STEPS_MOST = 256 };

enum {
  OP_ADDRESS = 0x03,
  OP_DEREF = 0x06,
  OP_CONST_1U = 0x08,
  OP_CONST_1S,
  OP_CONST_2U,
  OP_CONST_2S,
  OP_CONST_4U,
  OP_CONST_4S,
  OP_CONST_8U,
  OP_CONST_8S,
  OP_CONST_ULEB,
  OP_CONST_SLEB,
  OP_DUP,
  OP_DROP,
  OP_OVER,
  OP_PICK,
  OP_SWAP,
  OP_ROTATE,
  OP_ABS = 0x19,
  OP_AND,
  OP_DIVIDE,
  OP_MINUS,
  OP_MODULO,
  OP_MULTIPLY,
  OP_NEGATE,
  OP_NOT,
  OP_OR,
  OP_PLUS,
  OP_PLUS_ULEB,
  OP_SHIFT_LEFT,
  OP_SHIFT_RIGHT,
  OP_SHIFT_RIGHT_SIGNED,
  OP_XOR,
  OP_BRANCH,
  OP_EQUAL,
  OP_AT_LEAST,
  OP_GREATER,
  OP_AT_MOST,
  OP_LESS,
  OP_NOT_EQUAL,
  OP_SKIP,
  OP_LITERAL_0 = 0x30,
  OP_LITERAL_31 = 0x4f,
  OP_REGISTER_0 = 0x70,
  OP_REGISTER_31 = 0x8f,
  OP_REGISTER_ANY = 0x92,
  OP_NOP = 0x96,
};

struct evaluation {
  uintptr_t stack[STACK_MOST];
  unsigned depth;
  bool bad;
  const struct cfi_registers *registers;
  cfi_read *read;
  void *context;
};

static void expression_push(struct evaluation *evaluation, uintptr_t value) {
  if (evaluation->depth == STACK_MOST)
    evaluation->bad = true;
  else
    evaluation->stack[evaluation->depth++] = value;
}

static uintptr_t expression_pop(struct evaluation *evaluation) {
  if (evaluation->depth) return evaluation->stack[--evaluation->depth];
  evaluation->bad = true;
  return 0;
}

static void pick(struct evaluation *evaluation, unsigned index) {
  if (index >= evaluation->depth)
    evaluation->bad = true;
  else
    expression_push(evaluation, evaluation->stack[evaluation->depth - 1 - index]);
}

static void push_register(struct evaluation *evaluation, uint64_t number, int64_t offset) {
  if (number >= CFI_REGISTERS || !(evaluation->registers->known >> number & 1))
    evaluation->bad = true;
  else
    expression_push(evaluation, evaluation->registers->value[number] + (uintptr_t)offset);
}

static void dereference(struct evaluation *evaluation) {
  uintptr_t value = 0;
  if (!evaluation->read(evaluation->context, expression_pop(evaluation), &value)) evaluation->bad = true;
  expression_push(evaluation, value);
}

static void swap_or_rotate(struct evaluation *evaluation, bool rotate) {
  uintptr_t first = expression_pop(evaluation), second = expression_pop(evaluation),
            third = rotate ? expression_pop(evaluation) : 0;
  expression_push(evaluation, first);
  if (rotate) expression_push(evaluation, third);
  expression_push(evaluation, second);
}

static uintptr_t shift_right_signed(uintptr_t value, uintptr_t count) {
  uintptr_t sign = (intptr_t)value < 0 ? ~(uintptr_t)0 : 0;
  return count > 63 ? sign : count ? value >> count | sign << (64 - count) : value;
}

static uintptr_t divide(intptr_t left, intptr_t right) {
  return right == 0 ? 0 : right == -1 ? 0 - (uintptr_t)left : (uintptr_t)(left / right);
}

/* Operations on the two topmost values. */
static void binary(struct evaluation *evaluation, uint8_t op) {
  uintptr_t right = expression_pop(evaluation), left = expression_pop(evaluation);
  intptr_t a = (intptr_t)left, b = (intptr_t)right;
  switch (op) {
  case OP_AND: expression_push(evaluation, left & right); break;
  case OP_DIVIDE: expression_push(evaluation, divide(a, b)); break;
  case OP_MINUS: expression_push(evaluation, left - right); break;
  case OP_MODULO: expression_push(evaluation, right ? left % right : 0); break;
  case OP_MULTIPLY: expression_push(evaluation, left * right); break;
  case OP_OR: expression_push(evaluation, left | right); break;
  case OP_PLUS: expression_push(evaluation, left + right); break;
  case OP_SHIFT_LEFT: expression_push(evaluation, right > 63 ? 0 : left << right); break;
  case OP_SHIFT_RIGHT: expression_push(evaluation, right > 63 ? 0 : left >> right); break;
  case OP_SHIFT_RIGHT_SIGNED: expression_push(evaluation, shift_right_signed(left, right)); break;
  case OP_XOR: expression_push(evaluation, left ^ right); break;
  case OP_EQUAL: expression_push(evaluation, a == b); break;
  case OP_AT_LEAST: expression_push(evaluation, a >= b); break;
  case OP_GREATER: expression_push(evaluation, a > b); break;
  case OP_AT_MOST: expression_push(evaluation, a <= b); break;
  case OP_LESS: expression_push(evaluation, a < b); break;
  case OP_NOT_EQUAL: expression_push(evaluation, a != b); break;
  default: evaluation->bad = true;
  }
}

static bool constant(struct evaluation *evaluation, uint8_t op, struct bytes_cursor *program) {
  switch (op) {
  case OP_ADDRESS:
  case OP_CONST_8U:
  case OP_CONST_8S: expression_push(evaluation, bytes_u64(program)); return true;
  case OP_CONST_1U: expression_push(evaluation, bytes_u8(program)); return true;
  case OP_CONST_1S: expression_push(evaluation, (uintptr_t)(int8_t)bytes_u8(program)); return true;
  case OP_CONST_2U: expression_push(evaluation, bytes_u16(program)); return true;
  case OP_CONST_2S: expression_push(evaluation, (uintptr_t)(int16_t)bytes_u16(program)); return true;
  case OP_CONST_4U: expression_push(evaluation, bytes_u32(program)); return true;
  case OP_CONST_4S: expression_push(evaluation, (uintptr_t)(int32_t)bytes_u32(program)); return true;
  case OP_CONST_ULEB: expression_push(evaluation, bytes_uleb(program)); return true;
  case OP_CONST_SLEB: expression_push(evaluation, (uintptr_t)bytes_sleb(program)); return true;
  default: return false;
  }
}

static void jump(struct evaluation *evaluation, struct bytes_cursor *program, const unsigned char *begin,
                 bool taken) {
  int16_t distance = (int16_t)bytes_u16(program);
  if (!taken) return;
  if (distance < begin - program->at || distance > program->end - program->at)
    evaluation->bad = true;
  else
    program->at += distance;
}

static void expression_step(struct evaluation *evaluation, struct bytes_cursor *program,
                            const unsigned char *begin) {
  uint8_t op = bytes_u8(program);
  if (constant(evaluation, op, program)) return;
  if (op >= OP_LITERAL_0 && op <= OP_LITERAL_31)
    return expression_push(evaluation, (uintptr_t)op - OP_LITERAL_0);
  if (op >= OP_REGISTER_0 && op <= OP_REGISTER_31)
    return push_register(evaluation, (uint64_t)op - OP_REGISTER_0, bytes_sleb(program));
  uintptr_t top;
  switch (op) {
  case OP_DEREF: dereference(evaluation); break;
  case OP_DUP: pick(evaluation, 0); break;
  case OP_DROP: expression_pop(evaluation); break;
  case OP_OVER: pick(evaluation, 1); break;
  case OP_PICK: pick(evaluation, bytes_u8(program)); break;
  case OP_SWAP: swap_or_rotate(evaluation, false); break;
  case OP_ROTATE: swap_or_rotate(evaluation, true); break;
  case OP_ABS:
    top = expression_pop(evaluation);
    expression_push(evaluation, (intptr_t)top < 0 ? 0 - top : top);
    break;
  case OP_NEGATE: expression_push(evaluation, 0 - expression_pop(evaluation)); break;
  case OP_NOT: expression_push(evaluation, ~expression_pop(evaluation)); break;
  case OP_PLUS_ULEB: expression_push(evaluation, expression_pop(evaluation) + bytes_uleb(program)); break;
  case OP_BRANCH: jump(evaluation, program, begin, expression_pop(evaluation) != 0); break;
  case OP_SKIP: jump(evaluation, program, begin, true); break;
  case OP_NOP: break;
  case OP_REGISTER_ANY: {
    uint64_t number = bytes_uleb(program);
    push_register(evaluation, number, bytes_sleb(program));
    break;
  }
  default: binary(evaluation, op);
  }
}

/* ---- shared ---- */

bool cfi_evaluate(const struct cfi_section *section, int32_t place, const struct cfi_registers *registers,
                  const uintptr_t *first, cfi_read *read, void *context, uintptr_t *result) {
  struct bytes_cursor program = {.at = (const unsigned char *)section->base + place,
                                 .end = (const unsigned char *)section->base + section->size};
  uint64_t length = bytes_uleb(&program);
  if (length > (size_t)(program.end - program.at)) return false;
  program.end = program.at + length;
  struct evaluation evaluation = {.registers = registers, .read = read, .context = context};
  if (first) expression_push(&evaluation, *first);
  const unsigned char *begin = program.at;
  for (unsigned steps = 0; program.at < program.end; steps++) {
    expression_step(&evaluation, &program, begin);
    if (evaluation.bad || program.bad || steps == STEPS_MOST) return false;
  }
  *result = expression_pop(&evaluation);
  return !evaluation.bad;
}
/* SPDX-License-Identifier: MIT */
