/* Shortens C++ and Rust names by leaving out what tells least: template arguments from the inside
 * out, then parameters, then the return type.
 *
 * Brackets are found in one pass. The characters of an operator's name (operator<, <<=, <=>, ->,
 * >>, () and so on) and of "(anonymous namespace)" are not brackets. Brackets without a partner, as
 * in a damaged name, stay as they are. The contents of a bracket are marked as hidden; the contents
 * of an outer bracket include inner ones that are already hidden. A bracket at the start of a name,
 * as in Rust's <Type as Trait>::method, contains the type: the trait and the bracket are left out.
 *
 * A place after a name, " (file:line)" or " (module+0x12)", is kept: only the name is shortened. If
 * the column is too narrow for that, the start of the file is left out too.
 */
#include "cli/report_name.h"

#include "analysis/load/cxx_name.h"
#include "cli/text.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_MOST = 4096, BRACKETS_MOST = 512, PLACE_MOST = 200, NAME_LEAST = 6 };

struct bracket {
  size_t open, close; /* positions of the two characters; close 0: no partner */
  int depth;
  bool hidden; /* its contents, or those of a bracket around it, are left out */
};

struct parsed {
  const char *name;
  size_t length;
  size_t begin; /* the part before this is left out */
  struct bracket brackets[BRACKETS_MOST];
  size_t count;
};

static bool starts(const char *text, const char *beginning) {
  return !strncmp(text, beginning, strlen(beginning));
}

static char partner(char open) { return open == '<' ? '>' : ')'; }

/* Closes the innermost open bracket of this kind. A `)` also ends brackets `<` that were opened
 * since; they have no partner. A `>` that does not match the innermost open bracket is a
 * comparison. */
static void close_bracket(struct parsed *parsed, size_t open[BRACKETS_MOST], size_t *depth, size_t at) {
  for (size_t i = *depth; i-- > 0;) {
    struct bracket *bracket = &parsed->brackets[open[i]];
    if (partner(parsed->name[bracket->open]) != parsed->name[at]) {
      if (parsed->name[at] == '>') return;
      continue;
    }
    bracket->close = at;
    *depth = i;
    return;
  }
}

static void parse(struct parsed *parsed) {
  size_t open[BRACKETS_MOST], depth = 0, skipped;
  const char *name = parsed->name;
  for (size_t at = 0; at < parsed->length; at += skipped ? skipped : 1) {
    if ((skipped = cxx_whole_bytes(name, at))) continue;
    bool arrow = name[at] == '>' && at && name[at - 1] == '-';
    if ((name[at] == '<' || name[at] == '(') && parsed->count < BRACKETS_MOST) {
      open[depth] = parsed->count;
      parsed->brackets[parsed->count++] = (struct bracket){.open = at, .depth = (int)depth};
      depth++;
    } else if ((name[at] == '>' && !arrow) || name[at] == ')') {
      close_bracket(parsed, open, &depth, at);
    }
  }
}

/* Whether leaving out a bracket's contents makes the name shorter. A parenthesis at the start or
 * after a blank does not enclose parameters, but perhaps the name. */
static bool worth(const struct parsed *parsed, const struct bracket *bracket, char kind) {
  bool behind_name = kind == '<' || (bracket->open && parsed->name[bracket->open - 1] != ' ');
  return parsed->name[bracket->open] == kind && behind_name && bracket->close > bracket->open + 2 &&
         !bracket->hidden;
}

/* The next bracket to empty: the deepest, and of these the longest. NULL: there is none. */
static struct bracket *choose(struct parsed *parsed, char kind) {
  struct bracket *best = NULL;
  for (size_t i = 0; i < parsed->count; i++) {
    struct bracket *bracket = &parsed->brackets[i];
    if (!worth(parsed, bracket, kind)) continue;
    bool longer = best && bracket->close - bracket->open > best->close - best->open;
    if (!best || bracket->depth > best->depth || (bracket->depth == best->depth && longer)) best = bracket;
  }
  return best;
}

/* The next parameter list to empty: the outermost, which contains the others. */
static struct bracket *choose_parameters(struct parsed *parsed) {
  for (size_t i = 0; i < parsed->count; i++)
    if (worth(parsed, &parsed->brackets[i], '(')) return &parsed->brackets[i];
  return NULL;
}

static void hide(struct parsed *parsed, struct bracket *chosen) {
  for (size_t i = 0; i < parsed->count; i++) {
    struct bracket *bracket = &parsed->brackets[i];
    if (bracket->open >= chosen->open && bracket->open < chosen->close) bracket->hidden = true;
  }
}

/* Writes the name with "…" for each run of bytes whose `hidden` is true. */
static void write_name(const struct parsed *parsed, const bool *hidden, char *buffer, size_t size) {
  size_t length = 0;
  for (size_t at = parsed->begin; at < parsed->length && length + 4 < size; at++) {
    if (!hidden[at])
      buffer[length++] = parsed->name[at];
    else if (!hidden[at - 1]) /* the first byte of a name is never inside a bracket */
      length += (size_t)snprintf(buffer + length, size - length, "…");
  }
  buffer[length] = 0;
}

static const struct bracket *opened_at(const struct parsed *parsed, size_t at) {
  for (size_t i = 0; i < parsed->count; i++)
    if (parsed->brackets[i].open == at && parsed->brackets[i].close) return &parsed->brackets[i];
  return NULL;
}

/* The position of the function's own name, after the return type with which the names of templates
 * begin. */
static size_t skip_type(const struct parsed *parsed) {
  static const char word[] = "operator"; /* the next word belongs to the name: operator int */
  const size_t length = sizeof word - 1;
  size_t begin = 0, whole;
  for (size_t at = 0; at < parsed->length; at += whole ? whole : 1) {
    const struct bracket *bracket = opened_at(parsed, at);
    whole = bracket ? bracket->close + 1 - at : cxx_whole_bytes(parsed->name, at);
    if (bracket && parsed->name[at] == '(') return at > begin ? begin : 0;
    bool conversion = at >= length && !strncmp(parsed->name + at - length, word, length);
    if (parsed->name[at] == ' ' && conversion) return begin;
    if (parsed->name[at] == ' ') begin = at + 1;
  }
  return 0; /* not a function with parameters */
}

/* Cuts a text that is wider than `columns`. */
static void cut(char *text, size_t columns) {
  strcpy(text + text_that_fits(text, strlen(text), columns ? columns - 1 : 0), "…");
}

/* Type::method for <Type as Trait>::method or <Type>::method; otherwise the name itself. */
static const char *without_trait(char buffer[LENGTH_MOST], const char *name) {
  struct parsed parsed = {.name = name, .length = strnlen(name, LENGTH_MOST)};
  parse(&parsed);
  const struct bracket *type = *name == '<' ? opened_at(&parsed, 0) : NULL;
  if (!type || parsed.length == LENGTH_MOST) return name;
  size_t end = type->close;
  for (size_t at = 1; at < type->close && end == type->close; at++) {
    const struct bracket *inner = opened_at(&parsed, at);
    if (inner) at = inner->close;
    if (!strncmp(name + at, " as ", 4)) end = at;
  }
  snprintf(buffer, LENGTH_MOST, "%.*s%s", (int)(end - 1), name + 1, name + type->close + 1);
  return buffer;
}

/* Empties brackets until the name fits; false if it never does. */
static bool abbreviate(char *buffer, size_t size, const char *name, size_t columns) {
  char plain[LENGTH_MOST];
  if (text_columns(name) > columns) name = without_trait(plain, name);
  struct parsed parsed = {.name = name, .length = strnlen(name, LENGTH_MOST)};
  bool hidden[LENGTH_MOST] = {false};
  parse(&parsed);
  for (;;) {
    write_name(&parsed, hidden, buffer, size);
    if (text_columns(buffer) <= columns) return true;
    struct bracket *next = choose(&parsed, '<');
    if (!next) next = choose_parameters(&parsed);
    if (!next && !parsed.begin && (parsed.begin = skip_type(&parsed))) continue;
    if (!next) return false;
    hide(&parsed, next);
    memset(hidden + next->open + 1, 1, next->close - next->open - 1);
  }
}

/* The line ":12)", with columns ":12:5-30)", or the offset "+0x12)" at the end of a name; NULL if there
 * is none. */
static const char *line_in(const char *name) {
  size_t end = strlen(name), at;
  if (!end || name[end - 1] != ')') return NULL;
  const char *plus = strrchr(name, '+');
  if (plus && starts(plus, "+0x") && plus[3 + strspn(plus + 3, "0123456789abcdef")] == ')') return plus;
  for (at = end - 1; at && strchr("0123456789:-", name[at - 1]); at--) continue;
  const char *line = strchr(name + at, ':');
  return line && line[1] >= '0' && line[1] <= '9' ? line : NULL;
}

/* The position of the place at the end of a name; the end of the name if there is none. */
static size_t place_in(const char *name) {
  const char *line = line_in(name);
  size_t length = strlen(name), at = line ? (size_t)(line - name) : 0;
  while (at > 1 && !starts(name + at - 1, " (")) at--;
  return at > 1 && length - at < PLACE_MOST ? at - 1 : length;
}

/* Leaves out as much of the start of the file as necessary; false if that is not enough. */
static bool shorten_place(char shortened[PLACE_MOST + 8], const char *place, size_t columns) {
  const char *line = line_in(place), *from = place + 2;
  snprintf(shortened, PLACE_MOST + 8, "%s", place);
  while (text_columns(shortened) > columns && from < line) {
    do from++;
    while (((unsigned char)*from & 0xc0) == 0x80);
    snprintf(shortened, PLACE_MOST + 8, " (…%s", from);
  }
  return text_columns(shortened) <= columns;
}

/* False if the name had to be cut. */
static bool fit(char *buffer, size_t size, const char *name, size_t columns) {
  char function[LENGTH_MOST], place[PLACE_MOST + 8] = "";
  size_t length = place_in(name);
  if (length < sizeof function && name[length] && size > PLACE_MOST + 32) {
    snprintf(function, sizeof function, "%.*s", (int)length, name);
    size_t all = text_columns(function), least = all < NAME_LEAST ? all : NAME_LEAST;
    bool fits = columns > least && shorten_place(place, name + length, columns - least);
    if (!fits) fits = columns > 2 && shorten_place(place, name + length, columns - 2);
    if (fits)
      name = function;
    else
      *place = 0;
  }
  size_t room = columns - text_columns(place);
  bool whole = abbreviate(buffer, size - strlen(place), name, room);
  if (!whole) cut(buffer, room);
  strcat(buffer, place);
  return whole;
}

/* ---- shared ---- */

const char *name_fit(char *buffer, size_t size, const char *name, size_t columns) {
  fit(buffer, size, name, columns);
  return buffer;
}

const char *name_fit_paragraph(char *buffer, size_t size, const char *name, size_t columns, int indent) {
  size_t line = (size_t)(text_width() - indent) - 1;
  return name_fit(buffer, size, name, columns < line ? columns : line);
}

const char *name_fit_module(char *buffer, size_t size, const char *name, const char *suffix,
                            const char *module, size_t columns) {
  char behind[512];
  bool bracketed = *module == '['; /* not a file: [vdso], [Lisp] */
  const char *before = !*module ? "" : bracketed ? "  " : "  [";
  const char *after = *module && !bracketed ? "]" : "";
  snprintf(behind, sizeof behind, "%.100s%s%.300s%s", suffix, before, module, after);
  size_t taken = text_columns(behind), least = text_columns(suffix);
  size_t room = size > sizeof behind ? size - sizeof behind : 0;
  bool whole = taken < columns && fit(buffer, room, name, columns - taken);
  if (!whole) name_fit(buffer, room, name, columns > least ? columns - least : 1);
  strcat(buffer, whole ? behind : suffix);
  return buffer;
}
/* SPDX-License-Identifier: MIT */
