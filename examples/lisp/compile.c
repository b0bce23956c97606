/* One compilation: its memory, its scope of handles, and its failures. */
#include "compile.h"

#include "analyse.h"
#include "lisp.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winnow/snapshot.h>

enum { PIECE_BYTES = 8192 };

struct piece {
  struct piece *next;
  size_t used, bytes;
  _Alignas(16) char data[];
};

void *compiler_allocate(struct compiler *c, size_t bytes) {
  bytes = (bytes + 15) & ~(size_t)15;
  if (!c->pieces || c->pieces->bytes - c->pieces->used < bytes) {
    size_t size = bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
    struct piece *piece = malloc(sizeof *piece + size);
    if (!piece) compiler_root(c, 0);
    *piece = (struct piece){.next = c->pieces, .bytes = size};
    c->pieces = piece;
  }
  void *at = c->pieces->data + c->pieces->used;
  c->pieces->used += bytes;
  return at;
}

static void free_pieces(struct compiler *c) {
  while (c->pieces) {
    struct piece *next = c->pieces->next;
    free(c->pieces);
    c->pieces = next;
  }
}

void compiler_fail(struct compiler *c, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  vm_fail(c->vm, "%s:%u: %s", string_bytes(wn_value_of(c->file)), c->line, text);
  c->outcome = VM_DIED;
  longjmp(c->leave, 1);
}

wn_ref compiler_checked(struct compiler *c, wn_ref allocated) {
  if (!wn_is_null(allocated)) return allocated;
  vm_fail_memory(c->vm);
  c->outcome = VM_DIED;
  longjmp(c->leave, 1);
}

wn_ref compiler_root(struct compiler *c, wn_value value) {
  return compiler_checked(c, value ? wn_root(c->vm->domain, value) : (wn_ref){NULL});
}

/* The code's closure has no captured values. */
static wn_value compile_form(struct compiler *c, wn_ref form) {
  wn_ref code = generate_code(c, analyse_form(c, form));
  return make_block(c->vm, 1, TAG_CLOSURE, wn_value_of(code));
}

/* Leaves by longjmp: the scope is left by hand, as the heap asks for. */
enum vm_outcome compile(struct vm *vm, wn_ref form, wn_ref file, unsigned line, wn_ref *procedure) {
  struct compiler compiler = {.vm = vm, .file = file, .line = line, .outcome = VM_DONE};
  wn_scope scope = wn_scope_enter(vm->domain);
  volatile wn_value closure = 0;
  if (!setjmp(compiler.leave)) closure = compile_form(&compiler, form);
  free_pieces(&compiler);
  wn_scope_leave(&scope);
  if (compiler.outcome != VM_DONE) return compiler.outcome;
  if (closure) *procedure = wn_root(vm->domain, closure);
  return closure ? VM_DONE : VM_DIED;
}

bool compile_prepare(struct vm *vm) {
  WN_SCOPE(vm->domain);
  wn_ref forms = wn_root(vm->domain, NIL);
  for (size_t i = 0; specials[i].name; i++) {
    wn_ref symbol = symbol_intern(vm, specials[i].name, strlen(specials[i].name));
    if (wn_is_null(symbol)) return false;
    wn_set(vm->domain, symbol, SYMBOL_FORM, wn_root(vm->domain, make_integer((intptr_t)i + 1)));
    if (!wn_assign_pair(vm->domain, forms, TAG_PAIR, symbol, forms)) return false;
  }
  vm->lisp->forms = wn_global_new_named(vm->domain, forms, "special forms");
  return vm->lisp->forms != NULL;
}
/* SPDX-License-Identifier: MIT */
