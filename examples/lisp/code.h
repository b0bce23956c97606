/* Compiled functions: their instructions, with line and live registers of each.
 *
 * A function's registers are a stretch of the machine's stack. An instruction names up to three of
 * them, or holds small numbers in their place. The instructions live outside the collected heap, so
 * that the program counter never moves: a custom block of the heap owns them, and the code block,
 * which has the constants, points to it.
 *
 * Each instruction also says how many registers hold values when it runs; a collection needs that
 * for the topmost frame. The number is in the instruction, since a collection cannot look it up in
 * a block: blocks are being moved. */
#ifndef LISP_CODE_H
#define LISP_CODE_H

#include "value.h"
#include <stdatomic.h>

/* OP(name, operands): r a register, k a constant, f a captured value, n a small number, j a jump's
 * distance. */
#define INSTRUCTIONS(OP)                                                                          \
  OP(ENTER, "nnn") /* arguments, registers, whether more become a list */                         \
  OP(MOVE, "rr")                                                                                  \
  OP(SMALL, "rn") /* an immediate value */                                                        \
  OP(CONSTANT, "rk")                                                                              \
  OP(GLOBAL, "rk")                                                                                \
  OP(SET_GLOBAL, "rk")                                                                            \
  OP(DEFINE, "rk")                                                                                \
  OP(CAPTURED, "rf")                                                                              \
  OP(BOX, "r")     /* a box of the register's value takes its place */                            \
  OP(UNBOX, "rrk") /* the constant is the variable's name */                                      \
  OP(SET_BOX, "rr")                                                                               \
  OP(CHECK, "rk")    /* that the variable has a value; the constant is its name */                \
  OP(CLOSURE, "rkn") /* a function of n captured values, named by the next n instructions */      \
  OP(CAPTURE, "nr")  /* 0: a register, 1: a captured value */                                     \
  OP(PATCH, "rfr")   /* a closure's captured value */                                             \
  OP(CALL, "rn")     /* function, n arguments behind it; the result takes the function's place */ \
  OP(TAIL_CALL, "rn")                                                                             \
  OP(RETURN, "r")                                                                                 \
  OP(JUMP, "j")                                                                                   \
  OP(LOOP, "j") /* a jump back: a safepoint */                                                    \
  OP(UNLESS, "rj")                                                                                \
  OP(UNLESS_NOT, "rj")                                                                            \
  OP(UNLESS_LESS, "rrj")                                                                          \
  OP(UNLESS_LESS_EQUAL, "rrj")                                                                    \
  OP(UNLESS_EQUAL, "rrj")                                                                         \
  OP(UNLESS_LESS_SMALL, "rnj")                                                                    \
  OP(UNLESS_LESS_EQUAL_SMALL, "rnj")                                                              \
  OP(UNLESS_GREATER_SMALL, "rnj")                                                                 \
  OP(UNLESS_GREATER_EQUAL_SMALL, "rnj")                                                           \
  OP(UNLESS_EQUAL_SMALL, "rnj")                                                                   \
  OP(UNLESS_SAME, "rrj")                                                                          \
  OP(UNLESS_NULL, "rj")                                                                           \
  OP(UNLESS_PAIR, "rj")                                                                           \
  OP(ADD, "rrr")                                                                                  \
  OP(SUBTRACT, "rrr")                                                                             \
  OP(MULTIPLY, "rrr")                                                                             \
  OP(ADD_SMALL, "rrn")                                                                            \
  OP(CONS, "rrr")                                                                                 \
  OP(CAR, "rr")                                                                                   \
  OP(CDR, "rr")                                                                                   \
  OP(VECTOR_REF, "rrr")                                                                           \
  OP(VECTOR_SET, "rrr")

#define OP_NAME(name, operands) OP_##name,
enum { INSTRUCTIONS(OP_NAME) OP_COUNT };
#undef OP_NAME

struct instruction {
  uint8_t op, live;
  uint16_t a, b, c;
};

struct body {
  uint32_t count;
  uint32_t *lines; /* by instruction */
  /* The place of each instruction, for profiles; 0 if no profile has needed it yet. Any domain's
   * thread may set it, always to the same number. */
  _Atomic(wn_place) *places;
  struct instruction instructions[];
};

static inline struct body *body_of_code(wn_value code) { return address_of(field(code, CODE_BODY)); }
static inline struct body *body_of_closure(wn_value closure) { return body_of_code(field(closure, 0)); }

/* A custom block that owns a new body, for `count` instructions. Null if memory is exhausted. */
wn_ref code_create_body(wn_domain *domain, size_t count, struct body **body);

#endif
/* SPDX-License-Identifier: MIT */
