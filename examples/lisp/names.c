/* The names of Lisp's types, fields and variables, for heap snapshots and traces. Nothing here
 * allocates. */
#include "lisp.h"

enum { TYPE_FLOAT = 300, TYPE_STRING };

unsigned lisp_type_of(wn_value block, void *context) {
  (void)context;
  return is_float(block) ? TYPE_FLOAT : is_string(block) ? TYPE_STRING : wn_tag(block);
}

const char *lisp_type_name(unsigned type, void *context) {
  static const char *const names[] = {
      [TAG_PAIR] = "pair",     [TAG_VECTOR] = "vector", [TAG_SYMBOL] = "symbol", [TAG_CLOSURE] = "closure",
      [TAG_CODE] = "code",     [TAG_CELL] = "variable", [TAG_BOX] = "box",       [TAG_BUILTIN] = "builtin",
      [TAG_MACRO] = "macro",   [TAG_TABLE] = "table",   [TAG_ENTRY] = "entry",   [TAG_ERROR] = "error",
      [TAG_ESCAPE] = "escape", [TAG_ATOM] = "atom",     [TAG_TASK] = "task",
  };
  (void)context;
  if (type == TYPE_FLOAT) return "float";
  if (type == TYPE_STRING) return "string";
  return type < sizeof names / sizeof *names ? names[type] : NULL;
}

const char *lisp_field_name(unsigned type, size_t i, void *context) {
  static const char *const fields[][4] = {
      [TAG_PAIR] = {"car", "cdr", "line"}, [TAG_CELL] = {"value", "name"},         [TAG_BOX] = {"value"},
      [TAG_TABLE] = {"buckets", "count"},  [TAG_ENTRY] = {"key", "value", "next"}, [TAG_ATOM] = {"value"},
  };
  (void)context;
  return type < sizeof fields / sizeof *fields && i < 4 ? fields[type][i] : NULL;
}

static const char *name_of(wn_value symbol) {
  return is_symbol(symbol) ? string_bytes(field(symbol, SYMBOL_NAME)) : NULL;
}

/* Variables and procedures by their names. */
const char *lisp_describe(wn_value block, void *context) {
  (void)context;
  switch (wn_tag(block)) {
  case TAG_CELL: return name_of(field(block, CELL_NAME));
  case TAG_CLOSURE: return name_of(field(field(block, 0), CODE_NAME));
  case TAG_CODE: return name_of(field(block, CODE_NAME));
  default: return NULL;
  }
}
/* SPDX-License-Identifier: MIT */
