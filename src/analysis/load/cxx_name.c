/* Finds the parts of a name by its brackets. */
#include "analysis/load/cxx_name.h"

#include "base/text.h"
#include <string.h>

static bool cxx_name_is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool opens(char c) { return strchr("<([{", c); }
static bool closes(const char *name, size_t at) {
  return strchr(")]}", name[at]) || (name[at] == '>' && at && name[at - 1] != '-');
}

/* Goes to the next character. Adds a bracket that opens to `depth`, and takes one that closes off. */
static size_t cxx_name_step(const char *name, size_t at, int *depth) {
  size_t whole = cxx_whole_bytes(name, at);
  if (whole) return at + whole;
  *depth += opens(name[at]);
  if (closes(name, at) && *depth) --*depth;
  return at + 1;
}

/* ---- parameters ---- */

/* What may follow parameters: " const", " &&" or " [clone .cold]". */
static bool is_qualifier(const char *text) {
  while (*text == ' ' || *text == '&') text++;
  for (const char *word = text; cxx_name_is_word(*word) || *word == ' ' || *word == '&'; word++)
    if (!word[1] || word[1] == '[') return true;
  return !*text || *text == '[';
}

/* Where the parameters open; `bytes`, the length of the name: it has none. */
static size_t find_parameters(const char *name, size_t bytes, size_t *end) {
  size_t open = bytes, begin = bytes;
  int depth = 0;
  for (size_t at = 0, next; at < bytes; at = next) {
    int before = depth;
    next = cxx_name_step(name, at, &depth);
    if (!before && depth && name[at] == '(') open = at;
    if (before && !depth && name[at] == ')' && open && open < bytes) begin = open, *end = next;
  }
  return begin < bytes && is_qualifier(name + *end) ? begin : bytes;
}

/* ---- scope and base ---- */

/* Whether a blank at `at` is within an operator's name, as in "operator new" and "operator bool". */
static bool is_in_operator(const char *name, size_t at) {
  static const char word[] = "operator";
  size_t bytes = sizeof word - 1;
  return at >= bytes && text_begins(name + at - bytes, word) &&
         (at == bytes || !cxx_name_is_word(name[at - bytes - 1]));
}

/* Finds where the scope begins, behind the type of the result, and where the base does. */
static void find_base(const char *name, size_t end, size_t *scope, size_t *base) {
  int depth = 0;
  *scope = *base = 0;
  for (size_t at = 0, next; at < end; at = next) {
    next = cxx_name_step(name, at, &depth);
    if (depth || next != at + 1) continue;
    if (name[at] == ' ' && next < end && name[next] != '<') {
      if (is_in_operator(name, at)) return;
      *scope = *base = next;
    } else if (name[at] == ':' && name[next] == ':' && next + 1 < end) {
      *base = ++next;
    }
  }
}

/* Where the base's own arguments open; `end`: it has none. */
static size_t find_arguments(const char *name, size_t base, size_t end) {
  int depth = 0;
  if (end == base || name[end - 1] != '>') return end;
  for (size_t at = base, next; at < end; at = next) {
    next = cxx_name_step(name, at, &depth);
    if (depth && at > base && name[at] == '<') return at;
  }
  return end;
}

/* ---- comparing ---- */

/* Where the next character stands that counts in a comparison of scopes: none in brackets, and not the
 * number of a lambda, "{lambda(int)#1}". */
static size_t skip_details(const struct cxx_part *scope, size_t at) {
  while (at < scope->bytes) {
    char c = scope->text[at];
    size_t whole = cxx_whole_bytes(scope->text, at);
    if (!whole && (c == '<' || c == '(')) {
      int depth = 0;
      do at = cxx_name_step(scope->text, at, &depth);
      while (depth && at < scope->bytes);
    } else if (c == '#') {
      while (at < scope->bytes && scope->text[at] != '}') at++;
    } else {
      break;
    }
  }
  return at;
}

static bool scopes_agree(const struct cxx_part *one, const struct cxx_part *other) {
  size_t i = skip_details(one, 0), j = skip_details(other, 0);
  while (i < one->bytes && j < other->bytes && one->text[i] == other->text[j]) {
    i = skip_details(one, i + 1);
    j = skip_details(other, j + 1);
  }
  return i >= one->bytes && j >= other->bytes;
}

static bool parts_agree(const struct cxx_part *one, const struct cxx_part *other) {
  return !one->bytes || !other->bytes ||
         (one->bytes == other->bytes && !memcmp(one->text, other->text, one->bytes));
}

/* ---- shared ---- */

size_t cxx_whole_bytes(const char *name, size_t at) {
  static const char *const operators[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>",
                                          "<=",  ">=",  "->",  "()",  "<",  ">"};
  static const char word[] = "operator", anonymous[] = "(anonymous namespace)";
  if (text_begins(name + at, anonymous)) return sizeof anonymous - 1;
  if (!text_begins(name + at, word) || (at && cxx_name_is_word(name[at - 1]))) return 0;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (text_begins(name + at + sizeof word - 1, operators[i])) return sizeof word - 1 + strlen(operators[i]);
  return 0;
}

size_t cxx_version_bytes(const char *text) {
  static const char *const versions[] = {"__cxx11::", "__1::", "__ndk1::", "__cxx1998::", "__debug::"};
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
    if (text_begins(text, versions[i])) return strlen(versions[i]);
  return 0;
}

void cxx_name_parse(const char *text, struct cxx_name *name) {
  size_t bytes = strlen(text), end = bytes, scope, base;
  size_t parameters = find_parameters(text, bytes, &end);
  find_base(text, parameters, &scope, &base);
  size_t arguments = find_arguments(text, base, parameters);
  *name = (struct cxx_name){.scope = {text + scope, base > scope + 2 ? base - scope - 2 : 0},
                            .base = {text + base, arguments - base},
                            .arguments = {text + arguments, parameters - arguments},
                            .parameters = {text + parameters, parameters < bytes ? end - parameters : 0}};
}

bool cxx_name_may_be(const struct cxx_name *one, const struct cxx_name *other) {
  return one->base.bytes && one->base.bytes == other->base.bytes && parts_agree(&one->base, &other->base) &&
         parts_agree(&one->arguments, &other->arguments) &&
         parts_agree(&one->parameters, &other->parameters) &&
         (!one->scope.bytes || !other->scope.bytes || scopes_agree(&one->scope, &other->scope));
}
/* SPDX-License-Identifier: MIT */
