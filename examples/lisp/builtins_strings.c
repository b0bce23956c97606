/* Strings, which do not change, and characters, which are bytes. */
#include "builtins.h"

#include <ctype.h>
#include <string.h>

static bool check_string(struct vm *vm, const char *procedure, wn_value value) {
  if (is_string(value)) return true;
  vm_fail_type(vm, procedure, "a string", value);
  return false;
}

static wn_value is_string_p(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return make_boolean(is_string(args[0]));
}

static wn_value string_length_p(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!check_string(vm, "string-length", args[0])) return VM_FAILED;
  return make_integer((intptr_t)string_length(args[0]));
}

static wn_value string_ref(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!check_string(vm, "string-ref", args[0])) return VM_FAILED;
  if (!is_integer(args[1])) return vm_fail_type(vm, "string-ref", "an index", args[1]);
  if ((uintptr_t)integer_of(args[1]) >= string_length(args[0]))
    return vm_fail(vm, "string-ref: the index %ld is not in a string of %zu characters",
                   (long)integer_of(args[1]), string_length(args[0]));
  return make_char((unsigned char)string_bytes(args[0])[integer_of(args[1])]);
}

/* The arguments are read again after the allocation, which may have moved them. */
static wn_value substring(struct vm *vm, wn_value *args, size_t count) {
  if (!check_string(vm, "substring", args[0])) return VM_FAILED;
  size_t length = string_length(args[0]);
  for (size_t i = 1; i < count; i++)
    if (!is_integer(args[i])) return vm_fail_type(vm, "substring", "an index", args[i]);
  uintptr_t from = (uintptr_t)integer_of(args[1]), to = count > 2 ? (uintptr_t)integer_of(args[2]) : length;
  if (from > to || to > length)
    return vm_fail(vm, "substring: %ld to %ld is not in a string of %zu characters", (long)from, (long)to,
                   length);
  wn_value made = make_string_of_length(vm, to - from);
  if (made) memcpy(string_bytes(made), string_bytes(args[0]) + from, to - from);
  return made;
}

static wn_value string_append(struct vm *vm, wn_value *args, size_t count) {
  size_t length = 0, at = 0;
  for (size_t i = 0; i < count; i++) {
    if (!check_string(vm, "string-append", args[i])) return VM_FAILED;
    length += string_length(args[i]);
  }
  wn_value made = make_string_of_length(vm, length);
  for (size_t i = 0; made && i < count; at += string_length(args[i++]))
    memcpy(string_bytes(made) + at, string_bytes(args[i]), string_length(args[i]));
  return made;
}

static wn_value make_string_p(struct vm *vm, wn_value *args, size_t count) {
  if (!is_integer(args[0]) || integer_of(args[0]) < 0 || integer_of(args[0]) > 1L << 32)
    return vm_fail_type(vm, "make-string", "a length", args[0]);
  if (count > 1 && !is_char(args[1])) return vm_fail_type(vm, "make-string", "a character", args[1]);
  size_t length = (size_t)integer_of(args[0]);
  wn_value made = make_string_of_length(vm, length);
  if (made) memset(string_bytes(made), count > 1 ? (int)char_of(args[1]) : ' ', length);
  return made;
}

/* ---- comparison ---- */

static int compare_bytes(wn_value a, wn_value b) {
  size_t one = string_length(a), two = string_length(b);
  int order = memcmp(string_bytes(a), string_bytes(b), one < two ? one : two);
  return order ? order : (one > two) - (one < two);
}

static wn_value compare(struct vm *vm, const wn_value *args, const char *procedure, bool less) {
  if (!check_string(vm, procedure, args[0]) || !check_string(vm, procedure, args[1])) return VM_FAILED;
  int order = compare_bytes(args[0], args[1]);
  return make_boolean(less ? order < 0 : !order);
}
static wn_value string_equal(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return compare(vm, args, "string=?", false);
}
static wn_value string_less(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return compare(vm, args, "string<?", true);
}

/* Where the second string begins in the first one, from an index on. */
static wn_value string_search(struct vm *vm, wn_value *args, size_t count) {
  if (!check_string(vm, "string-search", args[0]) || !check_string(vm, "string-search", args[1]))
    return VM_FAILED;
  if (count > 2 && !is_integer(args[2])) return vm_fail_type(vm, "string-search", "an index", args[2]);
  size_t from = count > 2 ? (size_t)integer_of(args[2]) : 0, length = string_length(args[0]);
  if (from > length) return FALSE;
  const char *begin = string_bytes(args[0]);
  const char *found = memmem(begin + from, length - from, string_bytes(args[1]), string_length(args[1]));
  return found ? make_integer(found - begin) : FALSE;
}

/* ---- lists ---- */

static wn_value string_to_list(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  wn_ref list = wn_root(vm->domain, NIL);
  (void)count;
  if (!check_string(vm, "string->list", args[0])) return VM_FAILED;
  for (size_t i = string_length(args[0]); i-- > 0;) {
    wn_value *pair = wn_bump(vm->domain, 2, TAG_PAIR);
    if (!pair) return vm_fail_memory(vm);
    pair[0] = make_char((unsigned char)string_bytes(args[0])[i]);
    pair[1] = wn_value_of(list);
    *list.slot = (wn_value)pair;
  }
  return wn_value_of(list);
}

static wn_value list_to_string(struct vm *vm, wn_value *args, size_t count) {
  size_t length = 0;
  (void)count;
  for (wn_value at = args[0]; at != NIL; at = cdr(at), length++)
    if (!is_pair(at) || !is_char(car(at)))
      return vm_fail_type(vm, "list->string", "a list of characters", args[0]);
  wn_value made = make_string_of_length(vm, length);
  char *byte = made ? string_bytes(made) : NULL;
  for (wn_value at = args[0]; made && at != NIL; at = cdr(at)) *byte++ = (char)char_of(car(at));
  return made;
}

static wn_value change_case(struct vm *vm, wn_value *args, const char *procedure, int (*change)(int)) {
  if (!check_string(vm, procedure, args[0])) return VM_FAILED;
  size_t length = string_length(args[0]);
  wn_value made = make_string_of_length(vm, length);
  for (size_t i = 0; made && i < length; i++)
    string_bytes(made)[i] = (char)change((unsigned char)string_bytes(args[0])[i]);
  return made;
}
static wn_value string_upcase(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return change_case(vm, args, "string-upcase", toupper);
}
static wn_value string_downcase(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return change_case(vm, args, "string-downcase", tolower);
}

/* ---- characters ---- */

static wn_value is_char_p(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return make_boolean(is_char(args[0]));
}

static wn_value char_to_integer(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_char(args[0])) return vm_fail_type(vm, "char->integer", "a character", args[0]);
  return make_integer((intptr_t)char_of(args[0]));
}
static wn_value integer_to_char(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_integer(args[0]) || (uintptr_t)integer_of(args[0]) > 255)
    return vm_fail_type(vm, "integer->char", "a number from 0 to 255", args[0]);
  return make_char((unsigned)integer_of(args[0]));
}

static wn_value classify(struct vm *vm, const wn_value *args, const char *procedure, int (*is)(int)) {
  if (!is_char(args[0])) return vm_fail_type(vm, procedure, "a character", args[0]);
  return make_boolean(is((int)char_of(args[0])) != 0);
}
#define CLASS(function, name, is)                                         \
  static wn_value function(struct vm *vm, wn_value *args, size_t count) { \
    (void)count;                                                          \
    return classify(vm, args, name, is);                                  \
  }
CLASS(is_alphabetic, "char-alphabetic?", isalpha)
CLASS(is_numeric, "char-numeric?", isdigit)
CLASS(is_whitespace, "char-whitespace?", isspace)

static wn_value char_upcase(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_char(args[0])) return vm_fail_type(vm, "char-upcase", "a character", args[0]);
  return make_char((unsigned)toupper((int)char_of(args[0])));
}
static wn_value char_downcase(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_char(args[0])) return vm_fail_type(vm, "char-downcase", "a character", args[0]);
  return make_char((unsigned)tolower((int)char_of(args[0])));
}

const struct builtin builtins_strings[] = {{"string?", is_string_p, 1, 1},
                                           {"string-length", string_length_p, 1, 1},
                                           {"string-ref", string_ref, 2, 2},
                                           {"substring", substring, 2, 3},
                                           {"string-append", string_append, 0, -1},
                                           {"make-string", make_string_p, 1, 2},
                                           {"string=?", string_equal, 2, 2},
                                           {"string<?", string_less, 2, 2},
                                           {"string-search", string_search, 2, 3},
                                           {"string->list", string_to_list, 1, 1},
                                           {"list->string", list_to_string, 1, 1},
                                           {"string-upcase", string_upcase, 1, 1},
                                           {"string-downcase", string_downcase, 1, 1},
                                           {"char?", is_char_p, 1, 1},
                                           {"char->integer", char_to_integer, 1, 1},
                                           {"integer->char", integer_to_char, 1, 1},
                                           {"char-alphabetic?", is_alphabetic, 1, 1},
                                           {"char-numeric?", is_numeric, 1, 1},
                                           {"char-whitespace?", is_whitespace, 1, 1},
                                           {"char-upcase", char_upcase, 1, 1},
                                           {"char-downcase", char_downcase, 1, 1},
                                           {NULL, NULL, 0, 0}};
/* SPDX-License-Identifier: MIT */
