/* Instructions and constants of the function that is being generated. */
#ifndef LISP_EMIT_H
#define LISP_EMIT_H

#include "compile.h"

struct generator {
  struct compiler *c;
  struct function *function;
  struct instruction *code;
  uint32_t *lines;
  size_t count, capacity;
  wn_ref *constants;
  size_t constant_count, constant_capacity;
  unsigned registers; /* how many the function needs */
  unsigned line;
};

/* A list of jumps whose target is not known yet. */
struct jump {
  size_t at;
  struct jump *next;
};

/* Notes that the function needs this register. */
void emit_need_register(struct generator *g, unsigned number);

/* Adds an instruction at which `live` registers hold values. Returns its index. */
size_t emit(struct generator *g, unsigned op, unsigned a, unsigned b, unsigned c, unsigned live);
void emit_move(struct generator *g, unsigned to, unsigned from);
void emit_immediate(struct generator *g, unsigned to, wn_value value);

/* The index of a constant, for operands of instructions. */
unsigned emit_constant(struct generator *g, wn_ref value);

/* Makes the jump at index `at` go to index `goal`. Distances count from the instruction after the
 * jump. */
void emit_distance(struct generator *g, size_t at, size_t goal);
/* Adds a jump to a list. All jumps of a list get the same target (emit_landing). */
void emit_jump(struct generator *g, struct jump **jumps, size_t at);
void emit_landing(struct generator *g, const struct jump *jumps);

/* The code block with all instructions that were emitted. */
wn_ref emit_code(struct generator *g);

#endif
/* SPDX-License-Identifier: MIT */
