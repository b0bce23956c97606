/* Parses queries by recursive descent into a tree of conditions, and evaluates the tree for rows.
 *
 *   query  = term { "or" term }
 *   term   = factor { "and" factor }
 *   factor = "not" factor | "(" query ")" | field relation value
 *
 * The fields are one table, below. The type of a field determines its relations and values.
 *
 * query_bind evaluates the conditions on names once for every node of the trace's stacks: a node
 * matches if one of its frames matches or its caller's node does. A row then needs one look-up of
 * its stack's node. A wrong query is WN_EINVAL, and the message tells the column and what was
 * expected there.
 */
#include "analysis/query.h"

#include "base/error.h"
#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { OR, AND, NOT, FIELD };

/* How values of a field are written and compared. */
enum type {
  FRAME_TEXT,  /* of any frame of the stack: = and != compare whole names, ~ and !~ search */
  THREAD_NAME, /* of the thread, in the same way, or its number */
  BYTES,
  TIME,  /* a moment, from the start of the run; or a duration */
  CHOICE /* = and != with one of a few words */
};

/* ---- fields ---- */

static uint64_t end_of(const struct samples *samples, const struct row *row) {
  return row->died_ns == STILL_ALIVE ? samples->end_ns : row->died_ns;
}

static uint32_t text_of_function(const struct frame *frame) { return frame->function; }
static uint32_t text_of_file(const struct frame *frame) { return frame->file; }
static uint32_t text_of_module(const struct frame *frame) { return frame->module; }

static double number_of_size(const struct samples *samples, const struct row *row) {
  (void)samples;
  return (double)row->size;
}
static double number_of_life(const struct samples *samples, const struct row *row) {
  return (double)(end_of(samples, row) - row->born_ns);
}
static double number_of_life_bytes(const struct samples *samples, const struct row *row) {
  return samples->word_bytes * row->life_words;
}
static double number_of_birth(const struct samples *samples, const struct row *row) {
  (void)samples;
  return (double)row->born_ns;
}
static double number_of_death(const struct samples *samples, const struct row *row) {
  (void)samples;
  return row->died_ns == STILL_ALIVE ? 1e300 : (double)row->died_ns; /* later than any time */
}
static double is_dead(const struct samples *samples, const struct row *row) {
  (void)samples;
  return row->died_ns != STILL_ALIVE;
}
static double is_not_promoted(const struct samples *samples, const struct row *row) {
  (void)samples;
  return row->promoted_ns == NEVER;
}
static double number_of_area(const struct samples *samples, const struct row *row) {
  (void)samples;
  return row->area;
}

/* A new field needs a row here, a function, and a row in docs/queries.md. */
static const struct field {
  const char *name, *synonym;
  enum type type;
  uint32_t (*text)(const struct frame *frame);
  double (*number)(const struct samples *samples, const struct row *row);
  const char *choices[5]; /* CHOICE: the word for each number; a number with "" has no word */
} fields[] = {
    {"fn", "function", FRAME_TEXT, .text = text_of_function},
    {"file", NULL, FRAME_TEXT, .text = text_of_file},
    {"module", NULL, FRAME_TEXT, .text = text_of_module},
    {"thread", NULL, THREAD_NAME, .text = NULL},
    {"size", NULL, BYTES, .number = number_of_size},
    {"life", NULL, TIME, .number = number_of_life},
    {"life_bytes", NULL, BYTES, .number = number_of_life_bytes},
    {"born", "time", TIME, .number = number_of_birth},
    {"died", NULL, TIME, .number = number_of_death},
    {"alive", NULL, CHOICE, .number = is_dead, .choices = {"yes", "no"}},
    {"area", NULL, CHOICE, .number = number_of_area,
     .choices =
         {[AREA_NONE] = "", [AREA_MINOR] = "minor", [AREA_MAJOR] = "major", [AREA_OUTSIDE] = "outside"}},
    {"promoted", NULL, CHOICE, .number = is_not_promoted, .choices = {"yes", "no"}},
};
enum { FIELDS = sizeof fields / sizeof *fields };

enum relation { EQUAL, NOT_EQUAL, MATCHES, NOT_MATCHES, LESS, AT_MOST, MORE, AT_LEAST };

/* In the order of enum relation. The parser tries the longer ones first. */
static const char *const relations[] = {"=", "!=", "~", "!~", "<", "<=", ">", ">="};

struct condition {
  enum kind kind;
  struct condition *left, *right;
  const struct field *field;
  enum relation relation;
  char *text;      /* the value as the user wrote it */
  double number;   /* BYTES, TIME, CHOICE */
  regex_t pattern; /* FRAME_TEXT, THREAD_NAME with ~ or !~ */
  bool has_pattern;
  bool *nodes; /* FRAME_TEXT: which of the trace's nodes match */
};

struct query {
  struct condition *root;
  const struct samples *samples;
  uint32_t node_count;
};

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
    if (!strncmp(at, foreign_operators[i][0], strlen(foreign_operators[i][0])))
      snprintf(hint, sizeof hint, " (here '%s' is '%s')", foreign_operators[i][0], foreign_operators[i][1]);
  return error_set(WN_EINVAL, "query, column %td: expected %s%s%.20s%s", at - parser->text + 1, wanted,
                   *at ? ", found: " : ", found the end", at, hint);
}

static wn_status fail(const struct parser *parser, const char *wanted) {
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
  free(condition->nodes);
  free(condition);
}

static struct condition *make(enum kind kind, struct condition *left, struct condition *right) {
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

static const struct field *take_field(struct parser *parser) {
  for (size_t i = 0; i < FIELDS; i++)
    if (take_word(parser, fields[i].name) || (fields[i].synonym && take_word(parser, fields[i].synonym)))
      return &fields[i];
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

/* Takes a quoted string, or everything up to a blank or a parenthesis. If there is none, returns
 * NULL and sets the error. */
static char *take_value(struct parser *parser) {
  skip_space(parser);
  const char *begin = parser->at, *end;
  parser->value_at = begin;
  if (*begin == '"' || *begin == '\'') {
    end = strchr(begin + 1, *begin);
    if (!end) return fail(parser, *begin == '"' ? "a closing \"" : "a closing '"), NULL;
    parser->at = end + 1;
    return strndup(begin + 1, (size_t)(end - begin - 1));
  }
  end = begin + strcspn(begin, " \t\n()");
  if (end == begin) return fail(parser, "a value"), NULL;
  parser->at = end;
  return strndup(begin, (size_t)(end - begin));
}

static bool is_search(enum relation relation) { return relation == MATCHES || relation == NOT_MATCHES; }

static bool set_name(struct parser *parser, struct condition *condition) {
  if (condition->relation > NOT_MATCHES)
    return fail_at(parser, parser->relation_at, "= != ~ or !~ before a name"), false;
  if (!is_search(condition->relation)) return true;
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
  if (is_search(condition->relation))
    return fail_at(parser, parser->relation_at, "= != < <= > or >= before a number"), false;
  bool size = condition->field->type == BYTES;
  if (size ? query_bytes(condition->text, &condition->number)
           : query_time(condition->text, &condition->number))
    return true;
  return fail_at(parser, parser->value_at,
                 size ? "a size, such as 10K" : "a time with its unit, such as 10ms"),
         false;
}

/* The words of a field, as in "minor, major or outside". */
static const char *choices_as_text(char buffer[64], const struct field *field) {
  *buffer = 0;
  for (size_t i = 0; field->choices[i]; i++) {
    const char *choice = field->choices[i], *next = field->choices[i + 1];
    if (!*choice) continue;
    snprintf(buffer + strlen(buffer), 64 - strlen(buffer), "%s%s",
             !*buffer ? ""
             : next   ? ", "
                      : " or ",
             choice);
  }
  return buffer;
}

static bool set_choice(struct parser *parser, struct condition *condition) {
  char choices[64], wanted[96];
  choices_as_text(choices, condition->field);
  if (condition->relation > NOT_EQUAL) {
    snprintf(wanted, sizeof wanted, "= or != before %s", choices);
    return fail_at(parser, parser->relation_at, wanted), false;
  }
  for (int i = 0; condition->field->choices[i]; i++)
    if (*condition->text && !strcmp(condition->text, condition->field->choices[i]))
      return condition->number = i, true;
  return fail_at(parser, parser->value_at, choices), false;
}

static bool set_value(struct parser *parser, struct condition *condition) {
  switch (condition->field->type) {
  case FRAME_TEXT:
  case THREAD_NAME: return set_name(parser, condition);
  case BYTES:
  case TIME: return set_number(parser, condition);
  case CHOICE: return set_choice(parser, condition);
  }
  return false;
}

static void fail_no_field(struct parser *parser) {
  char names[256] = "";
  for (size_t i = 0; i < FIELDS; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s, ", fields[i].name);
  snprintf(names + strlen(names) - 2, sizeof names - strlen(names) + 2, ", not or (");
  fail(parser, names);
}

static struct condition *parse_comparison(struct parser *parser) {
  enum relation relation;
  const struct field *field = take_field(parser);
  if (!field) return fail_no_field(parser), NULL;
  if (!take_relation(parser, &relation)) return fail(parser, "one of = != ~ !~ < <= > >="), NULL;
  char *text = take_value(parser);
  if (!text) return NULL;
  struct condition *condition = make(FIELD, NULL, NULL);
  if (!condition) return free(text), NULL;
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
    return fail(parser, "and, or, or )"), NULL;
  }
  if (inner) parser->at++;
  return inner;
}

static struct condition *parse_factor(struct parser *parser) {
  struct condition *factor;
  if (++parser->depth > DEPTH_MOST) return fail(parser, "fewer nested conditions"), NULL;
  skip_space(parser);
  if (take_word(parser, "not")) {
    struct condition *inner = parse_factor(parser);
    factor = inner ? make(NOT, inner, NULL) : NULL;
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
    left = make(kind, left, right);
  }
  return left;
}

static struct condition *parse_and(struct parser *parser) {
  return parse_chain(parser, "and", AND, parse_factor);
}
static struct condition *parse_or(struct parser *parser) { return parse_chain(parser, "or", OR, parse_and); }

static bool text_matches(const struct condition *condition, const char *text) {
  if (is_search(condition->relation)) return regexec(&condition->pattern, text, 0, NULL, 0) == 0;
  return !strcmp(condition->text, text);
}

static bool frame_matches(const struct condition *condition, const struct names *names,
                          const struct frame *frame) {
  return text_matches(condition, strings_text(names->strings, condition->field->text(frame)));
}

static bool bind_names(struct condition *condition, const struct query *query, const struct names *names) {
  condition->nodes = calloc((size_t)query->node_count + 1, sizeof *condition->nodes);
  if (!condition->nodes) return false;
  for (uint32_t node = 1; node <= query->node_count; node++) {
    uint32_t parent = source_stack(query->samples->source, node).parent;
    bool matches = parent < node && condition->nodes[parent];
    struct frames frames = names_of(names, node);
    for (size_t i = 0; i < frames.count && !matches; i++)
      matches = frame_matches(condition, names, &frames.frame[i]);
    condition->nodes[node] = matches;
  }
  return true;
}

static bool bind(struct condition *condition, const struct query *query, const struct names *names) {
  if (!condition) return true;
  if (condition->field && condition->field->type == FRAME_TEXT) return bind_names(condition, query, names);
  return bind(condition->left, query, names) && bind(condition->right, query, names);
}

static bool thread_matches(const struct condition *condition, const struct query *query, uint32_t thread) {
  char buffer[32], number[16];
  snprintf(number, sizeof number, "%u", thread);
  return text_matches(condition, number) ||
         text_matches(condition, samples_thread_name(query->samples, thread, buffer));
}

static bool compares(double left, enum relation relation, double right) {
  switch (relation) {
  case EQUAL: return left == right;
  case NOT_EQUAL: return left != right;
  case LESS: return left < right;
  case AT_MOST: return left <= right;
  case MORE: return left > right;
  case AT_LEAST: return left >= right;
  default: return false;
  }
}

static bool field_takes(const struct condition *condition, const struct query *query, const struct row *row) {
  bool negated = condition->relation == NOT_EQUAL || condition->relation == NOT_MATCHES;
  switch (condition->field->type) {
  case FRAME_TEXT: return condition->nodes[row->stack <= query->node_count ? row->stack : 0] != negated;
  case THREAD_NAME: return thread_matches(condition, query, row->thread) != negated;
  default:
    return compares(condition->field->number(query->samples, row), condition->relation, condition->number);
  }
}

static bool takes(const struct condition *condition, const struct query *query, const struct row *row) {
  switch (condition->kind) {
  case OR: return takes(condition->left, query, row) || takes(condition->right, query, row);
  case AND: return takes(condition->left, query, row) && takes(condition->right, query, row);
  case NOT: return !takes(condition->left, query, row);
  case FIELD: return field_takes(condition, query, row);
  }
  return false;
}

struct unit {
  const char *name;
  double factor;
};

static bool number_with_unit(const char *text, const struct unit *units, size_t count, double *number) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || !(value >= 0)) return false;
  for (size_t i = 0; i < count; i++)
    if (!strcasecmp(end, units[i].name)) return *number = value * units[i].factor, true;
  return false;
}

/* ---- shared ---- */

wn_status query_parse(const char *text, struct query **result) {
  struct parser parser = {.text = text, .at = text};
  struct condition *root = parse_or(&parser);
  if (!root) return WN_EINVAL;
  skip_space(&parser);
  if (*parser.at) {
    condition_free(root);
    return fail(&parser, "and, or, or the end");
  }
  struct query *query = calloc(1, sizeof *query);
  if (!query) {
    condition_free(root);
    return error_set(WN_ENOMEM, "not enough memory for the query");
  }
  query->root = root;
  *result = query;
  return WN_OK;
}

wn_status query_bind(struct query *query, const struct samples *samples, const struct names *names) {
  query->samples = samples;
  query->node_count = source_stack_count(samples->source);
  if (!bind(query->root, query, names)) return error_set(WN_ENOMEM, "not enough memory for the query");
  return WN_OK;
}

bool query_takes(const struct query *query, const struct row *row) { return takes(query->root, query, row); }

void query_free(struct query *query) {
  if (!query) return;
  condition_free(query->root);
  free(query);
}

bool query_bytes(const char *text, double *bytes) {
  static const struct unit units[] = {
      {"", 1},        {"B", 1},        {"K", 1e3},     {"KB", 1e3},     {"M", 1e6},     {"MB", 1e6},
      {"G", 1e9},     {"GB", 1e9},     {"T", 1e12},    {"TB", 1e12},    {"Ki", 0x1p10}, {"KiB", 0x1p10},
      {"Mi", 0x1p20}, {"MiB", 0x1p20}, {"Gi", 0x1p30}, {"GiB", 0x1p30}, {"Ti", 0x1p40}, {"TiB", 0x1p40}};
  return number_with_unit(text, units, sizeof units / sizeof *units, bytes);
}

bool query_time(const char *text, double *ns) {
  static const struct unit units[] = {{"s", 1e9},  {"ms", 1e6},   {"us", 1e3},   {"ns", 1},
                                      {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"", 0}};
  bool bare = !text[strspn(text, "0123456789.")];
  if (!number_with_unit(text, units, sizeof units / sizeof *units, ns)) return false;
  return !bare || strtod(text, NULL) == 0; /* only 0 needs no unit */
}
/* SPDX-License-Identifier: MIT */
