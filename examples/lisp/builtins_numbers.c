/* Numbers: integers of 62 bits, which never become inexact by themselves, and floating-point
 * numbers. */
#include "builtins.h"

#include "output.h"
#include "printer.h"
#include "reader.h"
#include <math.h>
#include <string.h>

/* ---- calculation ---- */

static wn_value integer_result(struct vm *vm, char procedure, intptr_t a, intptr_t b) {
  intptr_t result = 0;
  bool over = procedure == '+'   ? __builtin_add_overflow(a, b, &result)
              : procedure == '-' ? __builtin_sub_overflow(a, b, &result)
                                 : __builtin_mul_overflow(a, b, &result);
  if (!over && fits_integer(result)) return make_integer(result);
  return vm_fail(vm, "%c: the result has more than 62 bits: (%c %ld %ld)", procedure, procedure, (long)a,
                 (long)b);
}

wn_value numbers_calculate(struct vm *vm, char procedure, wn_value a, wn_value b) {
  char name[2] = {procedure, 0};
  if (is_integer(a) && is_integer(b)) return integer_result(vm, procedure, integer_of(a), integer_of(b));
  if (!is_number(a)) return vm_fail_type(vm, name, "a number", a);
  if (!is_number(b)) return vm_fail_type(vm, name, "a number", b);
  double x = number_of(a), y = number_of(b);
  return make_float(vm, procedure == '+' ? x + y : procedure == '-' ? x - y : x * y);
}

bool numbers_compare(struct vm *vm, const char *procedure, wn_value a, wn_value b, int *order) {
  if (!is_number(a) || !is_number(b))
    return vm_fail_type(vm, procedure, "a number", is_number(a) ? b : a), false;
  if (is_integer(a) && is_integer(b)) {
    *order = ((intptr_t)a > (intptr_t)b) - ((intptr_t)a < (intptr_t)b);
    return true;
  }
  double x = number_of(a), y = number_of(b);
  *order = isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
  return true;
}

/* The result so far stands in the first argument's place, where collections find it. */
static wn_value calculate_all(struct vm *vm, wn_value *args, size_t count, char procedure, intptr_t neutral) {
  if (count == 0) return make_integer(neutral);
  if (count == 1) return numbers_calculate(vm, procedure, make_integer(neutral), args[0]);
  for (size_t i = 1; i < count; i++) {
    wn_value result = numbers_calculate(vm, procedure, args[0], args[i]);
    if (!result) return VM_FAILED;
    args[0] = result;
  }
  return args[0];
}

static wn_value add(struct vm *vm, wn_value *args, size_t count) {
  return calculate_all(vm, args, count, '+', 0);
}
static wn_value subtract(struct vm *vm, wn_value *args, size_t count) {
  return calculate_all(vm, args, count, '-', 0);
}
static wn_value multiply(struct vm *vm, wn_value *args, size_t count) {
  return calculate_all(vm, args, count, '*', 1);
}

static wn_value divide_two(struct vm *vm, wn_value a, wn_value b) {
  if (!is_number(a) || !is_number(b)) return vm_fail_type(vm, "/", "a number", is_number(a) ? b : a);
  if (is_integer(b) && integer_of(b) == 0) return vm_fail(vm, "/: division by zero");
  if (is_integer(a) && is_integer(b) && integer_of(a) % integer_of(b) == 0)
    return integer_result(vm, '*', integer_of(a) / integer_of(b), 1);
  return make_float(vm, number_of(a) / number_of(b));
}

static wn_value divide(struct vm *vm, wn_value *args, size_t count) {
  if (count == 1) return divide_two(vm, make_integer(1), args[0]);
  for (size_t i = 1; i < count; i++) {
    wn_value result = divide_two(vm, args[0], args[i]);
    if (!result) return VM_FAILED;
    args[0] = result;
  }
  return args[0];
}

static wn_value divide_integers(struct vm *vm, const wn_value *args, const char *procedure) {
  for (size_t i = 0; i < 2; i++)
    if (!is_integer(args[i])) return vm_fail_type(vm, procedure, "an integer", args[i]);
  intptr_t a = integer_of(args[0]), b = integer_of(args[1]);
  if (!b) return vm_fail(vm, "%s: division by zero", procedure);
  if (*procedure == 'q') return fits_integer(a / b) ? make_integer(a / b) : integer_result(vm, '*', a, b);
  intptr_t rest = a % b;
  if (*procedure == 'm' && rest && (rest < 0) != (b < 0)) rest += b;
  return make_integer(rest);
}

static wn_value quotient(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return divide_integers(vm, args, "quotient");
}
static wn_value rest(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return divide_integers(vm, args, "remainder");
}
static wn_value modulo(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return divide_integers(vm, args, "modulo");
}

/* ---- comparison ---- */

static wn_value compare_all(struct vm *vm, const wn_value *args, size_t count, const char *procedure,
                            unsigned accepted) {
  bool good = true;
  for (size_t i = 1; i < count; i++) {
    int order;
    if (!numbers_compare(vm, procedure, args[i - 1], args[i], &order)) return VM_FAILED;
    good = good && order != 2 && (accepted >> (order + 1) & 1);
  }
  return make_boolean(good);
}

/* Bits of what is accepted: below, equal, above. */
#define COMPARISON(function, name, accepted)                              \
  static wn_value function(struct vm *vm, wn_value *args, size_t count) { \
    return compare_all(vm, args, count, name, accepted);                  \
  }
COMPARISON(is_less, "<", 1)
COMPARISON(is_less_equal, "<=", 3)
COMPARISON(is_equal, "=", 2)
COMPARISON(is_greater, ">", 4)
COMPARISON(is_greater_equal, ">=", 6)

/* ---- kinds ---- */

static wn_value is_number_p(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return make_boolean(is_number(args[0]));
}
static wn_value is_integer_p(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return make_boolean(is_integer(args[0]) ||
                      (is_float(args[0]) && floor(float_of(args[0])) == float_of(args[0])));
}
static wn_value is_exact(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_number(args[0])) return vm_fail_type(vm, "exact?", "a number", args[0]);
  return make_boolean(is_integer(args[0]));
}
static wn_value is_odd(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_integer(args[0])) return vm_fail_type(vm, "odd?", "an integer", args[0]);
  return make_boolean(integer_of(args[0]) & 1);
}

/* ---- functions of floating-point numbers ---- */

static wn_value apply_function(struct vm *vm, const wn_value *args, const char *procedure,
                               double (*function)(double)) {
  if (!is_number(args[0])) return vm_fail_type(vm, procedure, "a number", args[0]);
  return make_float(vm, function(number_of(args[0])));
}

#define FUNCTION(name)                                                       \
  static wn_value real_##name(struct vm *vm, wn_value *args, size_t count) { \
    (void)count;                                                             \
    return apply_function(vm, args, #name, name);                            \
  }
FUNCTION(exp)
FUNCTION(log)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(atan)

/* Exact where that is possible. */
static wn_value square_root(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_number(args[0])) return vm_fail_type(vm, "sqrt", "a number", args[0]);
  double root = sqrt(number_of(args[0]));
  intptr_t whole = is_integer(args[0]) && integer_of(args[0]) >= 0 ? (intptr_t)root : -1;
  if (whole >= 0 && whole < (1L << 30) && whole * whole == integer_of(args[0])) return make_integer(whole);
  return make_float(vm, root);
}

static wn_value round_with(struct vm *vm, const wn_value *args, const char *procedure,
                           double (*function)(double)) {
  return is_integer(args[0]) ? args[0] : apply_function(vm, args, procedure, function);
}
#define ROUNDING(function, name, c_function)                              \
  static wn_value function(struct vm *vm, wn_value *args, size_t count) { \
    (void)count;                                                          \
    return round_with(vm, args, name, c_function);                        \
  }
ROUNDING(round_down, "floor", floor)
ROUNDING(round_up, "ceiling", ceil)
ROUNDING(round_even, "round", rint)
ROUNDING(round_to_zero, "truncate", trunc)

static wn_value to_exact(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (is_integer(args[0])) return args[0];
  if (!is_float(args[0])) return vm_fail_type(vm, "exact", "a number", args[0]);
  double number = float_of(args[0]);
  if (!(fabs(number) < 0x1p61)) return vm_fail_type(vm, "exact", "a number of at most 62 bits", args[0]);
  if (trunc(number) != number) return vm_fail_type(vm, "exact", "a whole number", args[0]);
  return make_integer((intptr_t)number);
}

static wn_value to_inexact(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_number(args[0])) return vm_fail_type(vm, "inexact", "a number", args[0]);
  return make_float(vm, number_of(args[0]));
}

/* ---- bits ---- */

static wn_value bits(struct vm *vm, const wn_value *args, const char *procedure) {
  for (size_t i = 0; i < 2; i++)
    if (!is_integer(args[i])) return vm_fail_type(vm, procedure, "an integer", args[i]);
  intptr_t a = integer_of(args[0]), b = integer_of(args[1]);
  return make_integer(procedure[8] == 'a' ? (a & b) : procedure[8] == 'o' ? (a | b) : (a ^ b));
}
static wn_value bits_and(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return bits(vm, args, "bitwise-and");
}
static wn_value bits_or(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return bits(vm, args, "bitwise-or");
}
static wn_value bits_xor(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return bits(vm, args, "bitwise-xor");
}

static wn_value shift(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  for (size_t i = 0; i < 2; i++)
    if (!is_integer(args[i])) return vm_fail_type(vm, "arithmetic-shift", "an integer", args[i]);
  intptr_t number = integer_of(args[0]), by = integer_of(args[1]);
  if (by < 0) return make_integer(number >> (by < -61 ? 61 : -by));
  if (by < 61) return integer_result(vm, '*', number, (intptr_t)1 << by);
  return number ? vm_fail(vm, "arithmetic-shift: the result has more than 62 bits") : args[0];
}

/* ---- text ---- */

static wn_value number_to_string(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  struct output text = {0};
  if (!is_number(args[0])) return vm_fail_type(vm, "number->string", "a number", args[0]);
  print_value(&text, args[0], false);
  wn_value string = text.failed ? vm_fail_memory(vm) : make_string(vm, text.data, text.used);
  output_destroy(&text);
  return string;
}

static wn_value string_to_number(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_string(args[0])) return vm_fail_type(vm, "string->number", "a string", args[0]);
  return read_number(vm, string_bytes(args[0]), string_length(args[0]));
}

const struct builtin builtins_numbers[] = {{"+", add, 0, -1},
                                           {"-", subtract, 1, -1},
                                           {"*", multiply, 0, -1},
                                           {"/", divide, 1, -1},
                                           {"quotient", quotient, 2, 2},
                                           {"remainder", rest, 2, 2},
                                           {"modulo", modulo, 2, 2},
                                           {"<", is_less, 1, -1},
                                           {"<=", is_less_equal, 1, -1},
                                           {"=", is_equal, 1, -1},
                                           {">", is_greater, 1, -1},
                                           {">=", is_greater_equal, 1, -1},
                                           {"number?", is_number_p, 1, 1},
                                           {"integer?", is_integer_p, 1, 1},
                                           {"exact?", is_exact, 1, 1},
                                           {"odd?", is_odd, 1, 1},
                                           {"exp", real_exp, 1, 1},
                                           {"log", real_log, 1, 1},
                                           {"sin", real_sin, 1, 1},
                                           {"cos", real_cos, 1, 1},
                                           {"atan", real_atan, 1, 1},
                                           {"sqrt", square_root, 1, 1},
                                           {"floor", round_down, 1, 1},
                                           {"ceiling", round_up, 1, 1},
                                           {"round", round_even, 1, 1},
                                           {"truncate", round_to_zero, 1, 1},
                                           {"exact", to_exact, 1, 1},
                                           {"inexact", to_inexact, 1, 1},
                                           {"bitwise-and", bits_and, 2, 2},
                                           {"bitwise-or", bits_or, 2, 2},
                                           {"bitwise-xor", bits_xor, 2, 2},
                                           {"arithmetic-shift", shift, 2, 2},
                                           {"number->string", number_to_string, 1, 1},
                                           {"string->number", string_to_number, 1, 1},
                                           {NULL, NULL, 0, 0}};
/* SPDX-License-Identifier: MIT */
