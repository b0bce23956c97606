/* The printer: values to text. */
#include "printer.h"

#include "builtins.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 2000 };

struct printer {
  struct output *out;
  bool written;
  size_t end; /* printing stops when the output has this length */
};

static void print(const struct printer *printer, wn_value value, unsigned depth);

static bool is_full(const struct printer *printer) {
  return printer->out->used >= printer->end || printer->out->failed;
}

/* ---- atoms ---- */

static const struct {
  const char *name;
  unsigned code;
} char_names[] = {{"space", ' '}, {"newline", '\n'}, {"tab", '\t'}, {"return", '\r'}, {"null", 0}};

static void print_char(const struct printer *printer, unsigned code) {
  char byte = (char)code;
  if (!printer->written) {
    output_bytes(printer->out, &byte, 1);
    return;
  }
  output_text(printer->out, "#\\");
  for (size_t i = 0; i < sizeof char_names / sizeof *char_names; i++)
    if (char_names[i].code == code) {
      output_text(printer->out, char_names[i].name);
      return;
    }
  output_bytes(printer->out, &byte, 1);
}

static void print_string(const struct printer *printer, wn_value string) {
  const char *bytes = string_bytes(string);
  size_t length = string_length(string);
  if (!printer->written) {
    output_bytes(printer->out, bytes, length);
    return;
  }
  output_text(printer->out, "\"");
  for (size_t i = 0; i < length && !is_full(printer); i++) {
    const char *escaped = bytes[i] == '\n'   ? "\\n"
                          : bytes[i] == '\t' ? "\\t"
                          : bytes[i] == '"'  ? "\\\""
                          : bytes[i] == '\\' ? "\\\\"
                                             : NULL;
    if (escaped)
      output_text(printer->out, escaped);
    else
      output_bytes(printer->out, bytes + i, 1);
  }
  output_text(printer->out, "\"");
}

/* The shortest text that reads as the same number, and does not look like an integer. */
static void print_float(struct output *out, double number) {
  char text[40];
  if (isnan(number) || isinf(number)) {
    output_text(out, isnan(number) ? "+nan.0" : number > 0 ? "+inf.0" : "-inf.0");
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, NULL) == number) break;
  }
  output_text(out, text);
  if (!strpbrk(text, ".e")) output_text(out, ".0");
}

static void print_immediate(const struct printer *printer, wn_value value) {
  static const char *const constants[] = {"()", "#f", "#t", "#<nothing>", "#<unassigned>", "#<eof>"};
  if (is_integer(value))
    output_format(printer->out, "%ld", (long)integer_of(value));
  else if (is_char(value))
    print_char(printer, char_of(value));
  else
    output_text(printer->out, constants[value >> 4]);
}

/* ---- compound values ---- */

/* 'x for (quote x), and so on. */
static const char *abbreviation(wn_value pair) {
  static const char *const names[][2] = {
      {"quote", "'"}, {"quasiquote", "`"}, {"unquote", ","}, {"unquote-splicing", ",@"}};
  if (!is_symbol(car(pair)) || !is_pair(cdr(pair)) || cdr(cdr(pair)) != NIL) return NULL;
  const char *name = string_bytes(field(car(pair), SYMBOL_NAME));
  for (size_t i = 0; i < 4; i++)
    if (!strcmp(name, names[i][0])) return names[i][1];
  return NULL;
}

/* Circular lists end where the hare meets the tortoise. */
static void print_list(const struct printer *printer, wn_value pair, unsigned depth) {
  const char *short_form = abbreviation(pair);
  wn_value tortoise = pair;
  if (short_form) {
    output_text(printer->out, short_form);
    print(printer, car(cdr(pair)), depth);
    return;
  }
  output_text(printer->out, "(");
  print(printer, car(pair), depth);
  wn_value rest = cdr(pair);
  for (size_t i = 1; is_pair(rest) && !is_full(printer); i++) {
    output_text(printer->out, " ");
    if (rest == tortoise) {
      output_text(printer->out, "...)");
      return;
    }
    print(printer, car(rest), depth);
    rest = cdr(rest);
    if (i % 2 == 0) tortoise = cdr(tortoise);
  }
  if (rest != NIL && !is_full(printer)) {
    output_text(printer->out, " . ");
    print(printer, rest, depth);
  }
  output_text(printer->out, ")");
}

static void print_vector(const struct printer *printer, wn_value vector, unsigned depth) {
  output_text(printer->out, "#(");
  for (size_t i = 0; i < wn_words(vector) && !is_full(printer); i++) {
    if (i) output_text(printer->out, " ");
    print(printer, field(vector, i), depth);
  }
  output_text(printer->out, ")");
}

static void print_error(const struct printer *printer, wn_value error, unsigned depth) {
  struct printer plain = {printer->out, false, printer->end};
  output_text(printer->out, "#<error ");
  print(&plain, field(error, ERROR_MESSAGE), depth);
  output_text(printer->out, ">");
}

static void print_named(const struct printer *printer, const char *kind, wn_value name) {
  output_format(printer->out, "#<%s", kind);
  if (is_symbol(name)) {
    output_text(printer->out, " ");
    print(printer, name, 0);
  }
  output_text(printer->out, ">");
}

static void print_block(const struct printer *printer, wn_value value, unsigned depth) {
  static const char *const kinds[] = {[TAG_CODE] = "code",   [TAG_CELL] = "variable", [TAG_BOX] = "box",
                                      [TAG_MACRO] = "macro", [TAG_TABLE] = "table",   [TAG_ENTRY] = "entry",
                                      [TAG_ATOM] = "atom",   [TAG_ESCAPE] = "escape", [TAG_TASK] = "task"};
  unsigned tag = wn_tag(value);
  switch (tag) {
  case TAG_PAIR: print_list(printer, value, depth); break;
  case TAG_VECTOR: print_vector(printer, value, depth); break;
  case TAG_SYMBOL: output_text(printer->out, string_bytes(field(value, SYMBOL_NAME))); break;
  case TAG_CLOSURE: print_named(printer, "procedure", field(field(value, 0), CODE_NAME)); break;
  case TAG_ERROR: print_error(printer, value, depth); break;
  case TAG_BUILTIN: output_format(printer->out, "#<procedure %s>", builtin_of(value)->name); break;
  case WN_TAG_CUSTOM: output_text(printer->out, "#<port>"); break;
  case WN_TAG_RAW:
    if (is_float(value))
      print_float(printer->out, float_of(value));
    else
      print_string(printer, value);
    break;
  default: print_named(printer, kinds[tag], FALSE);
  }
}

static void print(const struct printer *printer, wn_value value, unsigned depth) {
  if (is_full(printer)) return;
  if (depth == DEPTH_MOST)
    output_text(printer->out, "...");
  else if (is_block(value))
    print_block(printer, value, depth + 1);
  else
    print_immediate(printer, value);
}

/* ---- shared ---- */

void print_value(struct output *output, wn_value value, bool written) {
  struct printer printer = {output, written, (size_t)1 << 40};
  print(&printer, value, 0);
}

void print_short(struct output *output, wn_value value, size_t most) {
  struct printer printer = {output, true, output->used + most};
  print(&printer, value, 0);
  if (output->used <= printer.end) return;
  output->used = printer.end;
  output_text(output, "...");
}
/* SPDX-License-Identifier: MIT */
