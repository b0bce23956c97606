/* Shortens C++ and Rust names by leaving out what tells least: what cxx_plain.h leaves out,
 * wherever there is room; then template arguments from the inside out, then parameters, then the
 * return type, then namespaces and classes from the outside in, as long as a function's name remains.
 *
 * Brackets are found in one pass. The characters of an operator's name (operator<, <<=, <=>, ->,
 * >>, () and so on) and of "(anonymous namespace)" are not brackets. Brackets without a partner, as
 * in a damaged name, stay as they are. The contents of a bracket are marked as hidden; the contents
 * of an outer bracket include inner ones that are already hidden. A bracket at the start of a name,
 * as in Rust's <Type as Trait>::method, contains the type: the trait and the bracket are left out.
 *
 * Two rows of a table whose names come out the same are shortened once more, each with the words that begin
 * or contain the first difference to each of the others (`kept`). Whatever the order of the names, two of
 * them have the same such words up to their own difference, and then not.
 *
 * A place after a name, " (file:line)" or " (module+0x12)", is kept: only the name is shortened. If
 * the column is too narrow for that, the start of the file is left out too.
 */
#include "cli/report/report_name.h"

#include "analysis/load/cxx_name.h"
#include "analysis/load/cxx_plain.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/text.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_MOST = 4096, BRACKETS_MOST = 512, PLACE_MOST = 200, NAME_LEAST = 6, QUALIFIED_LEAST = 12 };

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

static void report_name_parse(struct parsed *parsed) {
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
static struct bracket *report_name_choose(struct parsed *parsed, char kind) {
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

static const struct bracket *opened_at(const struct parsed *parsed, size_t at) {
  for (size_t i = 0; i < parsed->count; i++)
    if (parsed->brackets[i].open == at && parsed->brackets[i].close) return &parsed->brackets[i];
  return NULL;
}

static bool report_name_is_of_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The next "::" outside brackets, if what follows still says which function it is, and nothing before it has
 * to stay; 0 otherwise. */
static size_t next_qualifier(const struct parsed *parsed, const bool *kept) {
  static const char call[] =
      "operator"; /* says nothing without its class, as {lambda#1} without its function */
  size_t whole;
  for (size_t at = parsed->begin; at + 2 < parsed->length; at += whole) {
    const struct bracket *bracket = opened_at(parsed, at);
    const char *rest = parsed->name + at;
    whole = bracket ? bracket->close + 1 - at : cxx_whole_bytes(parsed->name, at);
    if (!whole) whole = 1;
    if (kept && memchr(kept + at, 1, whole)) return 0;
    if (at == parsed->begin || !text_begins(rest, "::")) continue;
    bool is_call = text_begins(rest + 2, call) && !report_name_is_of_word(rest[1 + sizeof call]);
    return rest[2] == '{' || is_call ? 0 : at;
  }
  return 0;
}

/* Writes the name with "…" for each run of bytes whose `hidden` is true, and for left out qualifiers. */
static void report_name_write_name(const struct parsed *parsed, const bool *hidden, char *buffer,
                                   size_t size) {
  bool qualified = parsed->begin && parsed->name[parsed->begin] == ':';
  size_t length = qualified ? (size_t)snprintf(buffer, size, "…") : 0;
  for (size_t at = parsed->begin; at < parsed->length && length + 4 < size; at++) {
    if (!hidden[at])
      buffer[length++] = parsed->name[at];
    else if (!hidden[at - 1]) /* the first byte of a name is never inside a bracket */
      length += (size_t)snprintf(buffer + length, size - length, "…");
  }
  buffer[length] = 0;
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
static void report_name_cut(char *text, size_t columns) {
  strcpy(text + text_that_fits(text, strlen(text), columns ? columns - 1 : 0), "…");
}

/* Type::method for <Type as Trait>::method or <Type>::method; otherwise the name itself. */
static const char *without_trait(char buffer[LENGTH_MOST], const char *name) {
  struct parsed parsed = {.name = name, .length = strnlen(name, LENGTH_MOST)};
  report_name_parse(&parsed);
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

/* Leaves out parts until the name fits; false if it never does. `kept`: bytes that stay, or NULL. */
static bool abbreviate(char *buffer, size_t size, const char *name, size_t columns, const bool *kept) {
  char plain[LENGTH_MOST];
  if (!kept && text_columns(name) > columns) name = without_trait(plain, name);
  struct parsed parsed = {.name = name, .length = strnlen(name, LENGTH_MOST)};
  bool hidden[LENGTH_MOST] = {false};
  report_name_parse(&parsed);
  for (;;) {
    report_name_write_name(&parsed, hidden, buffer, size);
    if (text_columns(buffer) <= columns) return true;
    struct bracket *next = report_name_choose(&parsed, '<');
    if (!next) next = choose_parameters(&parsed);
    if (!next && !kept && !parsed.begin && (parsed.begin = skip_type(&parsed))) continue;
    size_t qualifier = !next && columns >= QUALIFIED_LEAST ? next_qualifier(&parsed, kept) : 0;
    if (qualifier) {
      parsed.begin = qualifier;
      continue;
    }
    if (!next) return false;
    hide(&parsed, next);
    for (size_t at = next->open + 1; at < next->close; at++) hidden[at] = !kept || !kept[at];
  }
}

/* The line ":12)", with columns ":12:5-30)", or the offset "+0x12)" at the end of a name; NULL if there
 * is none. */
static const char *line_in(const char *name) {
  size_t end = strlen(name), at;
  if (!end || name[end - 1] != ')') return NULL;
  const char *plus = strrchr(name, '+');
  if (plus && text_begins(plus, "+0x") && plus[3 + strspn(plus + 3, "0123456789abcdef")] == ')') return plus;
  for (at = end - 1; at && strchr("0123456789:-", name[at - 1]); at--) continue;
  const char *line = strchr(name + at, ':');
  return line && line[1] >= '0' && line[1] <= '9' ? line : NULL;
}

/* The position of the place at the end of a name; the end of the name if there is none. */
static size_t report_name_place_in(const char *name) {
  const char *line = line_in(name);
  size_t length = strlen(name), at = line ? (size_t)(line - name) : 0;
  while (at > 1 && !text_begins(name + at - 1, " (")) at--;
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

/* Cuts a name, and puts the words that stay behind it, if there is room for them. */
static void cut_before_words(char *text, size_t size, const char *name, const bool *kept, size_t columns) {
  char words[PLACE_MOST] = "";
  size_t length = 0, end = strnlen(name, LENGTH_MOST - 1);
  for (size_t at = 0; kept && at < end && length + 8 < sizeof words; at++) {
    if (!kept[at]) continue;
    if (!at || !kept[at - 1]) length += (size_t)snprintf(words + length, sizeof words - length, "…");
    words[length++] = name[at];
    words[length] = 0;
  }
  size_t wide = text_columns(words);
  bool fits = wide && wide + 1 < columns && strlen(text) + length < size;
  if (!fits) {
    report_name_cut(text, columns);
    return;
  }
  strcpy(text + text_that_fits(text, strlen(text), columns - wide), words);
}

/* False if the name had to be cut. */
static bool fit(char *buffer, size_t size, const char *name, size_t columns, const bool *kept) {
  char plain[LENGTH_MOST], function[LENGTH_MOST], place[PLACE_MOST + 8] = "";
  if (!kept && cxx_name_plain(name, plain, sizeof plain)) name = plain;
  size_t length = report_name_place_in(name);
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
  bool whole = abbreviate(buffer, size - strlen(place), name, room, kept);
  if (!whole) cut_before_words(buffer, size - strlen(place), name, kept, room);
  strcat(buffer, place);
  return whole;
}

enum { BEHIND_MOST = 512, TEXT_MOST = LENGTH_MOST + 2 * BEHIND_MOST };

/* A suffix and the module. */
static void write_behind(char behind[BEHIND_MOST], const char *suffix, const char *module) {
  bool bracketed = *module == '['; /* not a file: [vdso], [Lisp] */
  const char *before = !*module ? "" : bracketed ? "  " : "  [";
  snprintf(behind, BEHIND_MOST, "%.100s%s%.300s%s", suffix, before, module, *module && !bracketed ? "]" : "");
}

static void fit_behind(char *buffer, size_t size, const char *name, const char *suffix, const char *module,
                       size_t columns, const bool *kept) {
  char behind[BEHIND_MOST];
  write_behind(behind, suffix, module);
  size_t taken = text_columns(behind), least = text_columns(suffix);
  size_t room = size > sizeof behind ? size - sizeof behind : 0;
  bool whole = taken < columns && fit(buffer, room, name, columns - taken, kept);
  if (!whole) fit(buffer, room, name, columns > least ? columns - least : 1, kept);
  strcat(buffer, whole ? behind : suffix);
}

/* ---- rows of a table ---- */

enum { WORD_BEFORE = 8, WORD_BEHIND = 16 };

static bool is_inside_character(const char *text, size_t at) {
  return ((unsigned char)text[at] & 0xc0) == 0x80;
}

/* Marks the word that has the first difference of a name to another one. Its begin depends on what both
 * have in common alone. */
static void keep_difference(const char *name, const char *other, bool kept[LENGTH_MOST]) {
  size_t at = 0, length = strnlen(name, LENGTH_MOST - 1);
  while (at < length && name[at] == other[at]) at++;
  if (at == length && !other[at]) return; /* the same name */
  while (at && is_inside_character(name, at)) at--;
  size_t begin = at, end = at < length ? at + 1 : at;
  while (begin && at - begin < WORD_BEFORE && report_name_is_of_word(name[begin - 1])) begin--;
  while (begin && is_inside_character(name, begin)) begin--;
  bool word = at < length && report_name_is_of_word(name[at]);
  while (end < length && (is_inside_character(name, end) ||
                          (word && end - at < WORD_BEHIND && report_name_is_of_word(name[end]))))
    end++;
  memset(kept + begin, 1, end - begin);
}

static int by_text(const void *a, const void *b) {
  const struct fitted_row *left = *(struct fitted_row *const *)a, *right = *(struct fitted_row *const *)b;
  int order = strcmp(left->text, right->text);
  return order ? order : (left > right) - (left < right);
}

static void row_free(struct fitted_row *row) {
  free(row->name);
  free(row->suffix);
  free(row->module);
  free(row->text);
}

static bool set_text(struct fitted_row *row, const char *text) {
  free(row->text);
  return (row->text = strdup(text)) != NULL;
}

/* Shortens a name that comes out as others do. Of equal names in several modules these are the difference. */
static bool fit_apart(struct fitted_row *row, struct fitted_row *const *equals, size_t count, char *text,
                      size_t columns) {
  bool kept[LENGTH_MOST] = {false}, other_module = false;
  char behind[BEHIND_MOST];
  for (size_t i = 0; i < count; i++) {
    keep_difference(row->name, equals[i]->name, kept);
    other_module =
        other_module || (!strcmp(row->name, equals[i]->name) && strcmp(row->module, equals[i]->module) != 0);
  }
  write_behind(behind, row->suffix, row->module);
  bool stays = other_module && text_columns(behind) + NAME_LEAST <= columns;
  fit_behind(text, TEXT_MOST, row->name, stays ? behind : row->suffix, stays ? "" : row->module, columns,
             kept);
  return set_text(row, text);
}

/* The last resort: a number in the place of the end of the text. */
static bool number_row(struct fitted_row *row, size_t number, char *text, size_t columns) {
  char mark[32];
  int length = snprintf(mark, sizeof mark, "#%zu", number);
  snprintf(text, TEXT_MOST - sizeof mark, "%s", row->text);
  size_t room = columns > (size_t)length ? columns - (size_t)length : 0;
  if (text_columns(text) > room) report_name_cut(text, room);
  strcat(text, mark);
  return set_text(row, text);
}

/* Calls for each run of rows that have one text; the first of a run keeps its text if they are numbered. */
static bool report_name_tell_apart(struct fitted_row **order, size_t count, bool by_number, char *text,
                                   size_t columns) {
  qsort(order, count, sizeof *order, by_text);
  for (size_t first = 0, end; first < count; first = end) {
    bool done = true;
    for (end = first + 1; end < count && !strcmp(order[end]->text, order[first]->text);) end++;
    for (size_t i = end; done && end - first > 1 && i-- > first;)
      done = !by_number ? fit_apart(order[i], order + first, end - first, text, columns)
                        : i == first || number_row(order[i], i - first + 1, text, columns);
    if (!done) return false;
  }
  return true;
}

/* ---- shared ---- */

const char *name_fit(char *buffer, size_t size, const char *name, size_t columns) {
  fit(buffer, size, name, columns, NULL);
  return buffer;
}

const char *name_fit_paragraph(char *buffer, size_t size, const char *name, size_t columns, int indent) {
  size_t line = (size_t)(text_width() - indent) - 1;
  return name_fit(buffer, size, name, columns < line ? columns : line);
}

const char *name_fit_module(char *buffer, size_t size, const char *name, const char *suffix,
                            const char *module, size_t columns) {
  fit_behind(buffer, size, name, suffix, module, columns, NULL);
  return buffer;
}

wn_status name_rows_add(struct fitted_rows *rows, const char *name, const char *suffix, const char *module) {
  struct fitted_row row = {.name = strdup(name), .suffix = strdup(suffix), .module = strdup(module)};
  if (row.name && row.suffix && row.module && ARRAY_ADD(rows->row, rows->count, rows->capacity, row))
    return WN_OK;
  row_free(&row);
  return error_set(WN_ENOMEM, "not enough memory for the names");
}

wn_status name_rows_fit(struct fitted_rows *rows, size_t columns, bool numbered) {
  char text[TEXT_MOST];
  struct fitted_row **order = malloc((rows->count + 1) * sizeof *order);
  bool done = order != NULL;
  for (size_t i = 0; done && i < rows->count; i++) {
    struct fitted_row *row = order[i] = &rows->row[i];
    name_fit_module(text, sizeof text, row->name, row->suffix, row->module, columns);
    done = set_text(row, text);
  }
  done = done && report_name_tell_apart(order, rows->count, false, text, columns) &&
         (!numbered || report_name_tell_apart(order, rows->count, true, text, columns));
  free(order);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the names");
}

void name_rows_free(struct fitted_rows *rows) {
  for (size_t i = 0; i < rows->count; i++) row_free(&rows->row[i]);
  free(rows->row);
  *rows = (struct fitted_rows){.row = NULL};
}
/* SPDX-License-Identifier: MIT */
