/* The tables of builtins, and functions that several builtins use: equality and hashing. */
#include "builtins.h"

#include "lisp.h"
#include <string.h>

static const struct builtin *const tables[] = {builtins_numbers, builtins_lists,   builtins_strings,
                                               builtins_tables,  builtins_control, builtins_ports,
                                               builtins_tasks};
enum { TABLES = sizeof tables / sizeof *tables, NESTING_MOST = 2000 };

/* A builtin's number is its table's index times ROWS, plus its row. */
enum { ROWS = 256 };

const struct builtin *builtin_at(size_t i) { return &tables[i / ROWS][i % ROWS]; }

static bool define(struct vm *vm, size_t number) {
  WN_SCOPE(vm->domain);
  const char *name = builtin_at(number)->name;
  wn_ref symbol = symbol_intern(vm, name, strlen(name));
  wn_ref cell = wn_is_null(symbol) ? symbol : global_cell(vm, symbol);
  wn_value block = wn_is_null(cell) ? 0 : make_block(vm, 1, TAG_BUILTIN, make_integer((intptr_t)number));
  if (!block) return false;
  wn_store(vm->domain, wn_value_of(cell), CELL_VALUE, block);
  return true;
}

bool builtins_define(struct vm *vm) {
  for (size_t i = 0; i < TABLES; i++)
    for (size_t row = 0; tables[i][row].name; row++)
      if (!define(vm, i * ROWS + row)) return false;
  return true;
}

/* ---- equality ---- */

static bool strings_are_equal(wn_value a, wn_value b) {
  return string_length(a) == string_length(b) && !memcmp(string_bytes(a), string_bytes(b), string_length(a));
}

static bool are_equal(wn_value a, wn_value b, unsigned depth);

static bool vectors_are_equal(wn_value a, wn_value b, unsigned depth) {
  if (wn_words(a) != wn_words(b)) return false;
  for (size_t i = 0; i < wn_words(a); i++)
    if (!are_equal(field(a, i), field(b, i), depth)) return false;
  return true;
}

/* Values that are nested more deeply than C's stack allows are not equal. */
static bool are_equal(wn_value a, wn_value b, unsigned depth) {
  for (; is_pair(a) && is_pair(b); a = cdr(a), b = cdr(b)) {
    if (a == b) return true;
    if (depth > NESTING_MOST || !are_equal(car(a), car(b), depth + 1)) return false;
  }
  if (a == b) return true;
  if (is_float(a) && is_float(b)) return float_of(a) == float_of(b);
  if (is_string(a) && is_string(b)) return strings_are_equal(a, b);
  return is_vector(a) && is_vector(b) && depth <= NESTING_MOST && vectors_are_equal(a, b, depth + 1);
}

bool values_are_equal(wn_value a, wn_value b) { return are_equal(a, b, 0); }

/* ---- hashing ---- */

static size_t mix(size_t hash, size_t more) {
  hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

static size_t hash_string(wn_value string) {
  size_t hash = 17;
  for (size_t i = 0; i < string_length(string); i++) hash = mix(hash, (unsigned char)string_bytes(string)[i]);
  return hash;
}

static size_t hash_of(wn_value v, unsigned depth) {
  size_t hash = 1;
  if (!is_block(v)) return mix(2, v);
  switch (wn_tag(v)) {
  case TAG_SYMBOL: return mix(3, field(v, SYMBOL_HASH));
  case TAG_PAIR:
    for (unsigned i = 0; is_pair(v) && i < 8 && depth < 4; v = cdr(v), i++)
      hash = mix(hash, hash_of(car(v), depth + 1));
    return hash;
  case TAG_VECTOR:
    for (size_t i = 0; i < wn_words(v) && i < 8 && depth < 4; i++)
      hash = mix(hash, hash_of(field(v, i), depth + 1));
    return hash;
  case WN_TAG_RAW: return is_float(v) ? mix(4, *(const wn_value *)v) : hash_string(v);
  default: return mix(5, wn_tag(v)); /* blocks move: their addresses say nothing */
  }
}

size_t value_hash(wn_value v) { return hash_of(v, 0) >> 2; }
/* SPDX-License-Identifier: MIT */
