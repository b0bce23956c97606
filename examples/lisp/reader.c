/* The reader.
 *
 * It is written with handles, the heap's safe tier: each function has a scope, and escapes its
 * result from it. Pairs that the reader makes have a third word, their line. */
#include "reader.h"

#include "lisp.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 1000 };

static const wn_ref nothing = {NULL};

__attribute__((format(printf, 3, 4))) static wn_ref wrong(struct reader *reader, unsigned line,
                                                          const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reader->message, sizeof reader->message, format, arguments);
  va_end(arguments);
  reader->wrong_line = line;
  return nothing;
}

static wn_ref checked(struct reader *reader, wn_ref made) {
  return wn_is_null(made) ? wrong(reader, reader->line, "memory is exhausted") : made;
}

static wn_ref root(struct reader *reader, wn_value value) {
  return value ? checked(reader, wn_root(reader->vm->domain, value)) : checked(reader, nothing);
}

/* ---- text ---- */

static void skip_block_comment(struct reader *reader) {
  while (reader->at < reader->end) {
    if (reader->at + 1 < reader->end && reader->at[0] == '|' && reader->at[1] == '#') {
      reader->at += 2;
      return;
    }
    reader->line += *reader->at++ == '\n';
  }
}

static void skip_space(struct reader *reader) {
  while (reader->at < reader->end) {
    if (isspace((unsigned char)*reader->at)) {
      reader->line += *reader->at++ == '\n';
    } else if (*reader->at == ';') {
      while (reader->at < reader->end && *reader->at != '\n') reader->at++;
    } else if (*reader->at == '#' && reader->at + 1 < reader->end && reader->at[1] == '|') {
      reader->at += 2;
      skip_block_comment(reader);
    } else {
      return;
    }
  }
}

static bool is_delimiter(char c) { return isspace((unsigned char)c) || (c && strchr("()\";'`,", c)); }

static size_t token_length(const struct reader *reader) {
  size_t length = 0;
  while (reader->at + length < reader->end && !is_delimiter(reader->at[length])) length++;
  return length;
}

/* ---- atoms ---- */

static wn_value read_float(struct vm *vm, const char *text, size_t length) {
  char copy[64], *end;
  if (length >= sizeof copy) return FALSE;
  memcpy(copy, text, length);
  copy[length] = 0;
  if (!strcmp(copy, "+inf.0") || !strcmp(copy, "-inf.0") || !strcmp(copy, "+nan.0"))
    copy[length - 2] = 0;
  else if (!strpbrk(copy, "0123456789") || strpbrk(copy, "xXnNiIpP"))
    return FALSE;
  double number = strtod(copy, &end);
  return *end ? FALSE : make_float(vm, number);
}

wn_value read_number(struct vm *vm, const char *text, size_t length) {
  size_t i = length && (*text == '-' || *text == '+');
  bool negative = length && *text == '-', fits = true;
  intptr_t number = 0;
  if (i == length) return FALSE;
  for (; i < length && isdigit((unsigned char)text[i]); i++)
    fits = fits && !__builtin_mul_overflow(number, (intptr_t)10, &number) &&
           !__builtin_add_overflow(number, (intptr_t)(text[i] - '0'), &number);
  if (i < length || !fits) return read_float(vm, text, length);
  number = negative ? -number : number;
  return fits_integer(number) ? make_integer(number) : read_float(vm, text, length);
}

static wn_ref read_char(struct reader *reader) {
  static const struct {
    const char *name;
    unsigned code;
  } names[] = {{"space", ' '}, {"newline", '\n'}, {"tab", '\t'}, {"return", '\r'}, {"null", 0}};
  reader->at += 2;
  size_t length = token_length(reader);
  if (!length && reader->at < reader->end) length = 1; /* a delimiter */
  const char *name = reader->at;
  reader->at += length;
  if (length == 1) return root(reader, make_char((unsigned char)*name));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i].name) == length && !memcmp(names[i].name, name, length))
      return root(reader, make_char(names[i].code));
  return wrong(reader, reader->line, "no such character: #\\%.*s", (int)(length < 20 ? length : 20), name);
}

static char unescaped(char c) { return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c; }

static wn_ref read_string(struct reader *reader) {
  unsigned line = reader->line;
  struct output text = {0};
  for (reader->at++; reader->at < reader->end && *reader->at != '"'; reader->at++) {
    char c = *reader->at;
    reader->line += c == '\n';
    if (c == '\\' && reader->at + 1 < reader->end) c = unescaped(*++reader->at);
    output_bytes(&text, &c, 1);
  }
  if (reader->at == reader->end) {
    output_destroy(&text);
    reader->incomplete = true;
    return wrong(reader, line, "a string has no end");
  }
  reader->at++;
  wn_value made = text.failed ? 0 : make_string(reader->vm, text.data ? text.data : "", text.used);
  output_destroy(&text);
  return root(reader, made);
}

static wn_ref read_token(struct reader *reader) {
  size_t length = token_length(reader);
  const char *text = reader->at;
  reader->at += length;
  if (length == 2 && text[0] == '#' && (text[1] == 't' || text[1] == 'f'))
    return root(reader, make_boolean(text[1] == 't'));
  if (*text == '#')
    return wrong(reader, reader->line, "what is %.*s?", (int)(length < 20 ? length : 20), text);
  wn_value number = read_number(reader->vm, text, length);
  if (number != FALSE) return root(reader, number);
  return checked(reader, symbol_intern(reader->vm, text, length));
}

/* ---- lists ---- */

static wn_ref read_datum(struct reader *reader);

static wn_ref pair_with_line(struct reader *reader, wn_ref first, unsigned line) {
  wn_value *pair = wn_bump(reader->vm->domain, 3, TAG_PAIR);
  if (!pair) return checked(reader, nothing);
  pair[0] = wn_value_of(first);
  pair[1] = NIL;
  pair[PAIR_LINE] = make_integer(line);
  return root(reader, (wn_value)pair);
}

/* True at the closing parenthesis, or at the end of the text. */
static bool is_at_close(struct reader *reader) {
  skip_space(reader);
  return reader->at == reader->end || *reader->at == ')';
}

static bool is_at_dot(const struct reader *reader) {
  return *reader->at == '.' && reader->at + 1 < reader->end && is_delimiter(reader->at[1]);
}

/* After a dot: reads the last cdr and the end of the list. */
static bool read_tail(struct reader *reader, wn_ref last) {
  reader->at++;
  skip_space(reader);
  wn_ref tail = read_datum(reader);
  if (wn_is_null(tail)) return false;
  wn_set(reader->vm->domain, last, 1, tail);
  if (!is_at_close(reader)) wrong(reader, reader->line, "one form, and no more, follows a dot");
  return is_at_close(reader);
}

static bool append_datum(struct reader *reader, wn_ref head, wn_ref last) {
  WN_SCOPE(reader->vm->domain);
  unsigned line = reader->line;
  wn_ref element = read_datum(reader);
  wn_ref pair = wn_is_null(element) ? element : pair_with_line(reader, element, line);
  if (wn_is_null(pair)) return false;
  if (wn_value_of(head) == NIL)
    wn_assign(head, pair);
  else
    wn_set(reader->vm->domain, last, 1, pair);
  wn_assign(last, pair);
  return true;
}

static wn_ref read_list(struct reader *reader) {
  WN_SCOPE(reader->vm->domain);
  unsigned line = reader->line;
  wn_ref head = root(reader, NIL), last = root(reader, NIL);
  reader->at++;
  while (!is_at_close(reader)) {
    bool dot = wn_value_of(head) != NIL && is_at_dot(reader);
    if (dot ? !read_tail(reader, last) : !append_datum(reader, head, last)) return nothing;
  }
  if (reader->at == reader->end) {
    reader->incomplete = true;
    return wrong(reader, line, "the parenthesis that opens here is not closed");
  }
  reader->at++;
  return wn_escape(&wn_here, head);
}

static wn_ref read_vector(struct reader *reader) {
  WN_SCOPE(reader->vm->domain);
  reader->at++;
  wn_ref list = read_list(reader);
  if (wn_is_null(list)) return list;
  size_t count = 0, i = 0;
  for (wn_value at = wn_value_of(list); is_pair(at); at = cdr(at)) count++;
  wn_value made = make_block(reader->vm, count, TAG_VECTOR, NIL);
  wn_ref vector = root(reader, made);
  if (wn_is_null(vector)) return vector;
  for (wn_value at = wn_value_of(list); is_pair(at); at = cdr(at), i++)
    wn_store(reader->vm->domain, wn_value_of(vector), i, car(at));
  return wn_escape(&wn_here, vector);
}

/* 'x and other prefixes. */
static wn_ref read_prefixed(struct reader *reader, const char *name, size_t length) {
  WN_SCOPE(reader->vm->domain);
  unsigned line = reader->line;
  reader->at += length;
  skip_space(reader);
  wn_ref symbol = checked(reader, symbol_intern(reader->vm, name, strlen(name)));
  wn_ref head = wn_is_null(symbol) ? symbol : pair_with_line(reader, symbol, line);
  wn_ref datum = wn_is_null(head) ? head : read_datum(reader);
  wn_ref second = wn_is_null(datum) ? datum : pair_with_line(reader, datum, line);
  if (wn_is_null(second)) return second;
  wn_set(reader->vm->domain, head, 1, second);
  return wn_escape(&wn_here, head);
}

static wn_ref read_what_follows(struct reader *reader) {
  char next = reader->at + 1 < reader->end ? reader->at[1] : 0;
  switch (*reader->at) {
  case '(': return read_list(reader);
  case ')': return wrong(reader, reader->line, "a parenthesis is closed that was not opened");
  case '"': return read_string(reader);
  case '\'': return read_prefixed(reader, "quote", 1);
  case '`': return read_prefixed(reader, "quasiquote", 1);
  case ',':
    return next == '@' ? read_prefixed(reader, "unquote-splicing", 2) : read_prefixed(reader, "unquote", 1);
  case '#':
    if (next == '(') return read_vector(reader);
    if (next == '\\') return read_char(reader);
    return read_token(reader);
  default: return read_token(reader);
  }
}

static wn_ref read_datum(struct reader *reader) {
  if (reader->at == reader->end) {
    reader->incomplete = true;
    return wrong(reader, reader->line, "the text ends in the middle of a form");
  }
  if (reader->depth == DEPTH_MOST) return wrong(reader, reader->line, "forms are nested too deeply");
  reader->depth++;
  wn_ref datum = read_what_follows(reader);
  reader->depth--;
  return datum;
}

/* ---- shared ---- */

enum reading read_form(struct reader *reader, wn_ref *form) {
  skip_space(reader);
  if (reader->at == reader->end) return READ_END;
  reader->depth = 0;
  reader->incomplete = false;
  *form = read_datum(reader);
  return wn_is_null(*form) ? READ_WRONG : READ_FORM;
}
/* SPDX-License-Identifier: MIT */
