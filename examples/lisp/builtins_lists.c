/* Pairs, lists, vectors, symbols, and equality. */
#include "builtins.h"

#include "lisp.h"
#include <stdio.h>
#include <string.h>

#define PREDICATE(function, condition)                                    \
  static wn_value function(struct vm *vm, wn_value *args, size_t count) { \
    (void)vm, (void)count;                                                \
    return make_boolean(condition);                                       \
  }
PREDICATE(is_pair_p, is_pair(args[0]))
PREDICATE(is_null_p, args[0] == NIL)
PREDICATE(is_symbol_p, is_symbol(args[0]))
PREDICATE(is_vector_p, is_vector(args[0]))
PREDICATE(is_boolean_p, args[0] == TRUE || args[0] == FALSE)
PREDICATE(is_not, args[0] == FALSE)
PREDICATE(is_same, args[0] == args[1])
PREDICATE(is_equivalent, args[0] == args[1] || (is_float(args[0]) && is_float(args[1]) &&
                                                float_of(args[0]) == float_of(args[1])))
PREDICATE(is_equal, values_are_equal(args[0], args[1]))

/* ---- pairs ---- */

static wn_value cons(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  wn_value *pair = wn_bump(vm->domain, 2, TAG_PAIR);
  if (!pair) return vm_fail_memory(vm);
  pair[0] = args[0];
  pair[1] = args[1];
  return (wn_value)pair;
}

static wn_value first(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return is_pair(args[0]) ? car(args[0]) : vm_fail_type(vm, "car", "a pair", args[0]);
}
static wn_value second(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return is_pair(args[0]) ? cdr(args[0]) : vm_fail_type(vm, "cdr", "a pair", args[0]);
}

static wn_value set_first(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_pair(args[0])) return vm_fail_type(vm, "set-car!", "a pair", args[0]);
  wn_store(vm->domain, args[0], 0, args[1]);
  return NOTHING;
}
static wn_value set_second(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_pair(args[0])) return vm_fail_type(vm, "set-cdr!", "a pair", args[0]);
  wn_store(vm->domain, args[0], 1, args[1]);
  return NOTHING;
}

/* ---- lists ---- */

/* A list of the arguments that ends in `*tail`, which is a root: the list grows there. */
static wn_value list_before(struct vm *vm, wn_value *args, size_t count, wn_value *tail) {
  for (size_t i = count; i-- > 0;) {
    wn_value *pair = wn_bump(vm->domain, 2, TAG_PAIR);
    if (!pair) return vm_fail_memory(vm);
    pair[0] = args[i];
    pair[1] = *tail;
    *tail = (wn_value)pair;
  }
  return *tail;
}

static wn_value list(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  wn_ref tail = wn_root(vm->domain, NIL);
  return list_before(vm, args, count, tail.slot);
}

static wn_value list_star(struct vm *vm, wn_value *args, size_t count) {
  return list_before(vm, args, count - 1, &args[count - 1]);
}

/* Circular lists are not lists. */
static wn_value is_list(struct vm *vm, wn_value *args, size_t count) {
  wn_value hare = args[0], tortoise = args[0];
  (void)vm, (void)count;
  for (; is_pair(hare); tortoise = cdr(tortoise)) {
    hare = cdr(hare);
    if (!is_pair(hare)) break;
    hare = cdr(hare);
    if (hare == cdr(tortoise)) return FALSE;
  }
  return make_boolean(hare == NIL);
}

static wn_value length(struct vm *vm, wn_value *args, size_t count) {
  intptr_t n = 0;
  if (is_list(vm, args, count) == FALSE) return vm_fail_type(vm, "length", "a list", args[0]);
  for (wn_value at = args[0]; is_pair(at); at = cdr(at)) n++;
  return make_integer(n);
}

static wn_value reverse(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  wn_ref reversed = wn_root(vm->domain, NIL);
  (void)count;
  for (; is_pair(args[0]); args[0] = cdr(args[0])) {
    wn_value *pair = wn_bump(vm->domain, 2, TAG_PAIR);
    if (!pair) return vm_fail_memory(vm);
    pair[0] = car(args[0]);
    pair[1] = wn_value_of(reversed);
    *reversed.slot = (wn_value)pair;
  }
  return args[0] == NIL ? wn_value_of(reversed) : vm_fail_type(vm, "reverse", "a list", args[0]);
}

/* A copy of the first list that ends in the second. */
static wn_value append_two(struct vm *vm, wn_value *a, const wn_value *b) {
  WN_SCOPE(vm->domain);
  wn_ref head = wn_root(vm->domain, NIL), last = wn_root(vm->domain, NIL);
  for (; is_pair(*a); *a = cdr(*a)) {
    wn_value *pair = wn_bump(vm->domain, 2, TAG_PAIR);
    if (!pair) return vm_fail_memory(vm);
    pair[0] = car(*a);
    pair[1] = *b;
    if (wn_value_of(head) == NIL)
      *head.slot = (wn_value)pair;
    else
      wn_store(vm->domain, wn_value_of(last), 1, (wn_value)pair);
    *last.slot = (wn_value)pair;
  }
  if (*a != NIL) return vm_fail_type(vm, "append", "a list", *a);
  return wn_value_of(head) == NIL ? *b : wn_value_of(head);
}

static wn_value append(struct vm *vm, wn_value *args, size_t count) {
  if (!count) return NIL;
  for (size_t i = count - 1; i-- > 0;) {
    wn_value joined = append_two(vm, &args[i], &args[i + 1]);
    if (!joined) return VM_FAILED;
    args[i] = joined;
  }
  return args[0];
}

static wn_value tail(struct vm *vm, wn_value *args, const char *procedure) {
  if (!is_integer(args[1]) || integer_of(args[1]) < 0)
    return vm_fail_type(vm, procedure, "an index", args[1]);
  wn_value at = args[0];
  for (intptr_t i = integer_of(args[1]); i > 0; i--) {
    if (!is_pair(at))
      return vm_fail(vm, "%s: the list has only %ld elements", procedure, (long)(integer_of(args[1]) - i));
    at = cdr(at);
  }
  return at;
}

static wn_value list_tail(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return tail(vm, args, "list-tail");
}
static wn_value list_ref(struct vm *vm, wn_value *args, size_t count) {
  wn_value at = tail(vm, args, "list-ref");
  (void)count;
  if (!at) return VM_FAILED;
  return is_pair(at) ? car(at)
                     : vm_fail(vm, "list-ref: the list has only %ld elements", (long)integer_of(args[1]));
}

/* ---- searching ---- */

static bool is_key(wn_value a, wn_value b, bool deep) { return a == b || (deep && values_are_equal(a, b)); }

static wn_value find_member(const wn_value *args, bool deep) {
  wn_value at = args[1];
  while (is_pair(at) && !is_key(args[0], car(at), deep)) at = cdr(at);
  return is_pair(at) ? at : FALSE;
}
static wn_value memq(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return find_member(args, false);
}
static wn_value member(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return find_member(args, true);
}

static wn_value find_association(struct vm *vm, const wn_value *args, const char *procedure, bool deep) {
  for (wn_value at = args[1]; is_pair(at); at = cdr(at)) {
    if (!is_pair(car(at))) return vm_fail_type(vm, procedure, "a list of pairs", car(at));
    if (is_key(args[0], car(car(at)), deep)) return car(at);
  }
  return FALSE;
}
static wn_value assq(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return find_association(vm, args, "assq", false);
}
static wn_value assoc(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return find_association(vm, args, "assoc", true);
}

/* ---- vectors ---- */

enum { VECTOR_MOST = 1 << 28 };

static wn_value make_vector(struct vm *vm, wn_value *args, size_t count) {
  if (!is_integer(args[0]) || integer_of(args[0]) < 0 || integer_of(args[0]) > VECTOR_MOST)
    return vm_fail_type(vm, "make-vector", "a length", args[0]);
  return make_block(vm, (size_t)integer_of(args[0]), TAG_VECTOR, count > 1 ? args[1] : make_integer(0));
}

static wn_value vector(struct vm *vm, wn_value *args, size_t count) {
  wn_value made = make_block(vm, count, TAG_VECTOR, NIL);
  for (size_t i = 0; made && i < count; i++) wn_store(vm->domain, made, i, args[i]);
  return made;
}

static wn_value vector_length(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_vector(args[0])) return vm_fail_type(vm, "vector-length", "a vector", args[0]);
  return make_integer((intptr_t)wn_words(args[0]));
}

static bool check_element(struct vm *vm, const wn_value *args, const char *procedure) {
  if (!is_vector(args[0])) return vm_fail_type(vm, procedure, "a vector", args[0]), false;
  if (!is_integer(args[1])) return vm_fail_type(vm, procedure, "an index", args[1]), false;
  if ((uintptr_t)integer_of(args[1]) < wn_words(args[0])) return true;
  vm_fail(vm, "%s: the index %ld is not in a vector of %zu elements", procedure, (long)integer_of(args[1]),
          wn_words(args[0]));
  return false;
}

static wn_value vector_ref(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!check_element(vm, args, "vector-ref")) return VM_FAILED;
  return field(args[0], (size_t)integer_of(args[1]));
}

static wn_value vector_set(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!check_element(vm, args, "vector-set!")) return VM_FAILED;
  wn_store(vm->domain, args[0], (size_t)integer_of(args[1]), args[2]);
  return NOTHING;
}

static wn_value vector_to_list(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  wn_ref list = wn_root(vm->domain, NIL);
  (void)count;
  if (!is_vector(args[0])) return vm_fail_type(vm, "vector->list", "a vector", args[0]);
  for (size_t i = wn_words(args[0]); i-- > 0;) {
    wn_value *pair = wn_bump(vm->domain, 2, TAG_PAIR);
    if (!pair) return vm_fail_memory(vm);
    pair[0] = field(args[0], i);
    pair[1] = wn_value_of(list);
    *list.slot = (wn_value)pair;
  }
  return wn_value_of(list);
}

static wn_value list_to_vector(struct vm *vm, wn_value *args, size_t count) {
  wn_value counted = length(vm, args, count);
  if (!counted) return VM_FAILED;
  wn_value made = make_block(vm, (size_t)integer_of(counted), TAG_VECTOR, NIL);
  wn_value at = args[0];
  for (size_t i = 0; made && is_pair(at); i++, at = cdr(at)) wn_store(vm->domain, made, i, car(at));
  return made;
}

/* ---- symbols ---- */

static wn_value to_string(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return is_symbol(args[0]) ? field(args[0], SYMBOL_NAME)
                            : vm_fail_type(vm, "symbol->string", "a symbol", args[0]);
}

/* The bytes are copied to memory that does not move. */
static wn_value to_symbol(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  struct output name = {0};
  (void)count;
  if (!is_string(args[0])) return vm_fail_type(vm, "string->symbol", "a string", args[0]);
  output_bytes(&name, string_bytes(args[0]), string_length(args[0]));
  wn_ref symbol = symbol_intern(vm, name.data ? name.data : "", name.used);
  bool failed = name.failed || wn_is_null(symbol);
  output_destroy(&name);
  return failed ? vm_fail_memory(vm) : wn_value_of(symbol);
}

/* A symbol that is in no table, so that no symbol that is read is the same. */
static wn_value gensym(struct vm *vm, wn_value *args, size_t count) {
  static unsigned long number;
  char name[40];
  WN_SCOPE(vm->domain);
  (void)args, (void)count;
  snprintf(name, sizeof name, "g%lu", __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED));
  wn_value text = make_string(vm, name, strlen(name));
  wn_ref string = text ? wn_root(vm->domain, text) : (wn_ref){NULL};
  wn_value *symbol = text ? wn_bump(vm->domain, SYMBOL_WORDS, TAG_SYMBOL) : NULL;
  if (!symbol) return vm_fail_memory(vm);
  symbol[SYMBOL_NAME] = wn_value_of(string);
  symbol[SYMBOL_HASH] = make_integer((intptr_t)(value_hash(wn_value_of(string)) >> 4));
  symbol[SYMBOL_FORM] = make_integer(0);
  return (wn_value)symbol;
}

const struct builtin builtins_lists[] = {{"pair?", is_pair_p, 1, 1},
                                         {"null?", is_null_p, 1, 1},
                                         {"symbol?", is_symbol_p, 1, 1},
                                         {"vector?", is_vector_p, 1, 1},
                                         {"boolean?", is_boolean_p, 1, 1},
                                         {"not", is_not, 1, 1},
                                         {"eq?", is_same, 2, 2},
                                         {"eqv?", is_equivalent, 2, 2},
                                         {"equal?", is_equal, 2, 2},
                                         {"cons", cons, 2, 2},
                                         {"%cons", cons, 2, 2},
                                         {"car", first, 1, 1},
                                         {"cdr", second, 1, 1},
                                         {"set-car!", set_first, 2, 2},
                                         {"set-cdr!", set_second, 2, 2},
                                         {"list", list, 0, -1},
                                         {"list*", list_star, 1, -1},
                                         {"length", length, 1, 1},
                                         {"list?", is_list, 1, 1},
                                         {"reverse", reverse, 1, 1},
                                         {"append", append, 0, -1},
                                         {"%append", append, 0, -1},
                                         {"list-tail", list_tail, 2, 2},
                                         {"list-ref", list_ref, 2, 2},
                                         {"memq", memq, 2, 2},
                                         {"member", member, 2, 2},
                                         {"assq", assq, 2, 2},
                                         {"assoc", assoc, 2, 2},
                                         {"make-vector", make_vector, 1, 2},
                                         {"vector", vector, 0, -1},
                                         {"vector-length", vector_length, 1, 1},
                                         {"vector-ref", vector_ref, 2, 2},
                                         {"vector-set!", vector_set, 3, 3},
                                         {"vector->list", vector_to_list, 1, 1},
                                         {"list->vector", list_to_vector, 1, 1},
                                         {"symbol->string", to_string, 1, 1},
                                         {"string->symbol", to_symbol, 1, 1},
                                         {"gensym", gensym, 0, 0},
                                         {NULL, NULL, 0, 0}};
/* SPDX-License-Identifier: MIT */
