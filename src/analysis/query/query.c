/* Parses queries by recursive descent into a tree of conditions (query_tree.h).
 *
 *   query  = term { "or" term }
 *   term   = factor { "and" factor }
 *   factor = "not" factor | "(" query ")" | field relation value
 *
 * The fields are one table, query_fields.h. The type of a field determines its relations and values.
 *
 * A wrong query is WN_EINVAL, and the message tells the column and what was expected there.
 *
 * SETTING: the conditions `at`, `hide` and `from` say how the selected blocks are shown. They apply
 * to the whole query, so they stand at its top, connected by `and`: under `or` or `not` they would
 * have no meaning.
 */
#include "analysis/query/query_tree.h"

#include "analysis/query/query_pattern.h"
#include "base/error.h"
#include "base/text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of enum relation. The parser tries the longer ones first. */
static const char *const relations[] = {"=", "!=", "~", "!~", "<", "<=", ">", ">="};

struct parser {
  const char *text, *at;
  const char *relation_at, *value_at; /* of the comparison that is being parsed */
  int depth;                          /* of nested factors */
};

/* More levels than a user writes, and few enough for the C stack. */
enum { DEPTH_MOST = 200 };

static struct condition *parse_or(struct parser *parser);

static void skip_space(struct parser *parser) {
  while (isspace((unsigned char)*parser->at)) parser->at++;
}

/* Operators of other languages, and what a query has instead. Longer ones first. */
static const char *const foreign_operators[][2] = {
    {"&&", "and"},  {"||", "or"},   {"AND", "and"}, {"And", "and"}, {"OR", "or"}, {"Or", "or"},
    {"NOT", "not"}, {"Not", "not"}, {"<>", "!="},   {"=~", "~"},    {"==", "="},  {"=>", ">="},
    {"=<", "<="},   {"&", "and"},   {"|", "or"},    {"!", "not"}};

/* Fails with what was expected at a place of the query, what stands there, and a hint if that is an
 * operator of another language. */
static wn_status fail_at(const struct parser *parser, const char *at, const char *wanted) {
  char hint[32] = "";
  for (size_t i = 0; i < sizeof foreign_operators / sizeof *foreign_operators && !*hint; i++)
    if (text_begins(at, foreign_operators[i][0]))
      snprintf(hint, sizeof hint, " (here '%s' is '%s')", foreign_operators[i][0], foreign_operators[i][1]);
  return error_set(WN_EINVAL, "query, column %td: expected %s%s%.20s%s", at - parser->text + 1, wanted,
                   *at ? ", found: " : ", found the end", at, hint);
}

static wn_status query_fail(const struct parser *parser, const char *wanted) {
  return fail_at(parser, parser->at, wanted);
}

static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool take_word(struct parser *parser, const char *word) {
  skip_space(parser);
  size_t length = strlen(word);
  if (strncmp(parser->at, word, length) || word_char(parser->at[length])) return false;
  parser->at += length;
  return true;
}

static void condition_free(struct condition *condition) {
  if (!condition) return;
  condition_free(condition->left);
  condition_free(condition->right);
  if (condition->has_pattern) regfree(&condition->pattern);
  free(condition->text);
  free(condition->matches);
  free(condition);
}

static struct condition *query_make(enum kind kind, struct condition *left, struct condition *right) {
  struct condition *condition = calloc(1, sizeof *condition);
  if (!condition) {
    condition_free(left);
    condition_free(right);
    error_set(WN_ENOMEM, "not enough memory for the query");
    return NULL;
  }
  condition->kind = kind;
  condition->left = left;
  condition->right = right;
  return condition;
}

static const struct field *query_take_field(struct parser *parser) {
  for (const struct field *field = query_fields; field->name; field++)
    if (take_word(parser, field->name) || (field->synonym && take_word(parser, field->synonym))) return field;
  return NULL;
}

static bool take_relation(struct parser *parser, enum relation *relation) {
  static const char *const foreign[] = {"==", "=~", "=>", "=<", "<>"};
  skip_space(parser);
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    if (!strncmp(parser->at, foreign[i], 2)) return false;
  parser->relation_at = parser->at;
  for (size_t length = 2; length >= 1; length--)
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
      if (strlen(relations[i]) == length && !strncmp(parser->at, relations[i], length)) {
        parser->at += length;
        *relation = (enum relation)i;
        return true;
      }
  return false;
}

/* Takes the rest of a quoted string. Two quotes in it stand for one. */
static char *take_quoted(struct parser *parser, char quote) {
  const char *begin = parser->at, *at = begin + 1;
  char *text = malloc(strlen(begin)), *out = text;
  for (; text && *at && (*at != quote || at[1] == quote); at++) {
    *out++ = *at;
    at += *at == quote;
  }
  if (text && *at) return *out = 0, parser->at = at + 1, text;
  free(text);
  return query_fail(parser, quote == '"' ? "a closing \"" : "a closing '"), NULL;
}

/* Takes a quoted string, or everything up to a blank or a parenthesis. If there is none, returns
 * NULL and sets the error. */
static char *take_value(struct parser *parser) {
  skip_space(parser);
  const char *begin = parser->at, *end;
  parser->value_at = begin;
  if (*begin == '"' || *begin == '\'') return take_quoted(parser, *begin);
  end = begin + strcspn(begin, " \t\n()");
  if (end == begin) return query_fail(parser, "a value"), NULL;
  parser->at = end;
  return strndup(begin, (size_t)(end - begin));
}

static bool set_name(struct parser *parser, struct condition *condition) {
  bool setting = field_is_setting(condition->field);
  if (setting && condition->relation != EQUAL && condition->relation != MATCHES)
    return fail_at(parser, parser->relation_at, "= or ~ before a function"), false;
  if (condition->relation > NOT_MATCHES)
    return fail_at(parser, parser->relation_at, "= != ~ or !~ before a name"), false;
  if (!relation_is_search(condition->relation)) return true;
  if (!query_pattern_is_moderate(condition->text)) {
    error_set(WN_EINVAL, "query, column %td: this regular expression repeats too much",
              parser->value_at - parser->text + 1);
    return false;
  }
  int error = regcomp(&condition->pattern, condition->text, REG_EXTENDED | REG_NOSUB);
  if (error) {
    char reason[128];
    regerror(error, &condition->pattern, reason, sizeof reason);
    error_set(WN_EINVAL, "query, column %td: this regular expression is not valid: %s",
              parser->value_at - parser->text + 1, reason);
    return false;
  }
  condition->has_pattern = true;
  return true;
}

static bool set_number(struct parser *parser, struct condition *condition) {
  if (relation_is_search(condition->relation))
    return fail_at(parser, parser->relation_at, "= != < <= > or >= before a number"), false;
  bool size = condition->field->type == BYTES;
  if (size ? query_bytes(condition->text, &condition->number)
           : query_time(condition->text, &condition->number))
    return true;
  return fail_at(parser, parser->value_at,
                 size ? "a size, such as 10K" : "a time with its unit, such as 10ms"),
         false;
}

static bool set_choice(struct parser *parser, struct condition *condition) {
  char choices[64], wanted[96];
  field_choices(condition->field, choices);
  if (condition->relation > NOT_EQUAL) {
    snprintf(wanted, sizeof wanted, "= or != before %s", choices);
    return fail_at(parser, parser->relation_at, wanted), false;
  }
  for (int i = 0; condition->field->choices[i]; i++)
    if (*condition->text && !strcmp(condition->text, condition->field->choices[i]))
      return condition->number = i, true;
  return fail_at(parser, parser->value_at, choices), false;
}

static bool set_live_at(struct parser *parser, struct condition *condition) {
  if (condition->relation > NOT_EQUAL)
    return fail_at(parser, parser->relation_at, "= or != before a time"), false;
  return set_number(parser, condition);
}

static bool set_moment(struct parser *parser, struct condition *condition) {
  if (condition->relation != EQUAL) return fail_at(parser, parser->relation_at, "= before a moment"), false;
  condition->when = !strcmp(condition->text, "peak")  ? AT_PEAK
                    : !strcmp(condition->text, "end") ? AT_END
                                                      : AT_TIME;
  if (condition->when != AT_TIME) return true;
  if (query_time(condition->text, &condition->number) && condition->number < 1e18) return true;
  return fail_at(parser, parser->value_at, "peak, end, or a time with its unit, such as 1.5s"), false;
}

static bool set_value(struct parser *parser, struct condition *condition) {
  switch (condition->field->type) {
  case FRAME_TEXT:
  case THREAD_NAME:
  case TYPE_NAME:
  case PROCESS:
  case ORIGIN:
  case HIDDEN:
  case FROM: return set_name(parser, condition);
  case BYTES:
  case TIME: return set_number(parser, condition);
  case CHOICE: return set_choice(parser, condition);
  case LIVE_AT: return set_live_at(parser, condition);
  case MOMENT: return set_moment(parser, condition);
  }
  return false;
}

static void fail_no_field(struct parser *parser) {
  char names[320] = "";
  for (const struct field *field = query_fields; field->name; field++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s, ", field->name);
  snprintf(names + strlen(names) - 2, sizeof names - strlen(names) + 2, ", not or (");
  query_fail(parser, names);
}

static struct condition *parse_comparison(struct parser *parser) {
  enum relation relation;
  skip_space(parser);
  const char *at = parser->at;
  const struct field *field = query_take_field(parser);
  if (!field) return fail_no_field(parser), NULL;
  if (!take_relation(parser, &relation)) return query_fail(parser, "one of = != ~ !~ < <= > >="), NULL;
  char *text = take_value(parser);
  if (!text) return NULL;
  struct condition *condition = query_make(FIELD, NULL, NULL);
  if (!condition) return free(text), NULL;
  condition->at = at;
  condition->field = field;
  condition->relation = relation;
  condition->text = text;
  if (set_value(parser, condition)) return condition;
  condition_free(condition);
  return NULL;
}

static struct condition *parse_group(struct parser *parser) {
  parser->at++;
  struct condition *inner = parse_or(parser);
  skip_space(parser);
  if (inner && *parser->at != ')') {
    condition_free(inner);
    return query_fail(parser, "and, or, or )"), NULL;
  }
  if (inner) parser->at++;
  return inner;
}

static struct condition *parse_factor(struct parser *parser) {
  struct condition *factor;
  if (++parser->depth > DEPTH_MOST) return query_fail(parser, "fewer nested conditions"), NULL;
  skip_space(parser);
  if (take_word(parser, "not")) {
    struct condition *inner = parse_factor(parser);
    factor = inner ? query_make(NOT, inner, NULL) : NULL;
  } else {
    factor = *parser->at == '(' ? parse_group(parser) : parse_comparison(parser);
  }
  parser->depth--;
  return factor;
}

static struct condition *parse_chain(struct parser *parser, const char *word, enum kind kind,
                                     struct condition *(*part)(struct parser *)) {
  struct condition *left = part(parser);
  while (left && take_word(parser, word)) {
    struct condition *right = part(parser);
    if (!right) {
      condition_free(left);
      return NULL;
    }
    left = query_make(kind, left, right);
  }
  return left;
}

static struct condition *parse_and(struct parser *parser) {
  return parse_chain(parser, "and", AND, parse_factor);
}
static struct condition *parse_or(struct parser *parser) { return parse_chain(parser, "or", OR, parse_and); }

/* SETTING: collects the settings of a query. False: one stands where it has no meaning, or a second
 * time. */
static bool collect_settings(struct query *query, const struct parser *parser,
                             const struct condition *condition, bool top) {
  if (!condition) return true;
  if (condition->kind != FIELD) {
    top = top && condition->kind == AND;
    return collect_settings(query, parser, condition->left, top) &&
           collect_settings(query, parser, condition->right, top);
  }
  if (!field_is_setting(condition->field)) return true;
  if (!top)
    return fail_at(parser, condition->at, "at, hide and from only at the top, connected by and"), false;
  enum type type = condition->field->type;
  if ((type == MOMENT && query->moment) || (type == FROM && query->from))
    return fail_at(parser, condition->at, type == MOMENT ? "only one at" : "only one from"), false;
  if (type == MOMENT) query->moment = condition;
  if (type == FROM) query->from = condition;
  query->hides = query->hides || type == HIDDEN;
  return true;
}

/* ---- shared ---- */

wn_status query_parse(const char *text, struct query **result) {
  struct parser parser = {.text = text, .at = text};
  struct condition *root = parse_or(&parser);
  if (!root) return WN_EINVAL;
  skip_space(&parser);
  if (*parser.at) {
    condition_free(root);
    return query_fail(&parser, "and, or, or the end");
  }
  struct query *query = calloc(1, sizeof *query);
  if (!query) {
    condition_free(root);
    return error_set(WN_ENOMEM, "not enough memory for the query");
  }
  query->root = root;
  if (collect_settings(query, &parser, root, true)) return *result = query, WN_OK;
  query_free(query);
  return WN_EINVAL;
}

void query_free(struct query *query) {
  if (!query) return;
  free(query->hidden);
  free(query->begins);
  condition_free(query->root);
  free(query);
}

/* SPDX-License-Identifier: MIT */
