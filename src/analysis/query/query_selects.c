/* Evaluates the tree of a query for rows.
 *
 * query_bind evaluates the conditions on names once for every string, and from that for every node
 * of the trace's stacks: a node matches if one of its frames matches or its caller's node does. A
 * row then needs one look-up of its stack's node. */
#include "analysis/query/query_tree.h"

#include "analysis/load/cxx_plain.h"
#include "analysis/load/namesakes.h"
#include "analysis/load/timeline.h"
#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 8192 };

/* ---- names ---- */

static bool text_matches(const struct condition *condition, const char *text) {
  if (relation_is_search(condition->relation)) return regexec(&condition->pattern, text, 0, NULL, 0) == 0;
  return !strcmp(condition->text, text);
}

/* A function is found by the name that tables show, too, and one of one name with others by its
 * name alone. */
static bool text_of_frame_matches(const struct condition *condition, const struct names *names,
                                  const struct frame *frame, uint32_t text) {
  struct namesake_parts parts;
  const char *name = strings_text(names->strings, text);
  char plain[NAME_MOST];
  if (text_matches(condition, name)) return true;
  if (text != frame->function) return false;
  if (cxx_name_plain(name, plain, sizeof plain) && text_matches(condition, plain)) return true;
  if (!namesake_split(name, strings_text(names->strings, frame->file), &parts)) return false;
  char *alone = strndup(name, (size_t)parts.name_length);
  bool matches = alone && text_matches(condition, alone);
  free(alone);
  return matches;
}

/* Which frames match. Each string is compared once, since a regular expression is slow. */
static bool *match_frames(const struct condition *condition, const struct names *names, size_t frame_count) {
  enum { UNKNOWN, NO, YES };
  bool *matches = calloc(frame_count + 1, sizeof *matches);
  uint8_t *known = calloc((size_t)names->strings->count + 1, sizeof *known);
  for (size_t i = 0; known && matches && i < frame_count; i++) {
    uint32_t text = condition->field->text(&names->frame[i]);
    if (known[text] == UNKNOWN)
      known[text] = text_of_frame_matches(condition, names, &names->frame[i], text) ? YES : NO;
    matches[i] = known[text] == YES;
  }
  if (!known) free(matches), matches = NULL;
  free(known);
  return matches;
}

static bool bind_names(struct condition *condition, const struct query *query, const struct names *names,
                       const bool *frames) {
  condition->matches = calloc((size_t)query->node_count + 1, sizeof *condition->matches);
  if (!condition->matches) return false;
  for (uint32_t node = 1; node <= query->node_count; node++) {
    uint32_t parent = source_stack(query->samples->source, node).parent;
    bool matches = parent < node && condition->matches[parent];
    for (uint32_t i = 0; i < names->count[node] && !matches; i++) matches = frames[names->first[node] + i];
    condition->matches[node] = matches;
  }
  return true;
}

/* The number of frames of all nodes. */
static size_t count_frames(const struct query *query, const struct names *names) {
  size_t count = 0;
  for (uint32_t node = 1; node <= query->node_count; node++)
    if (names->first[node] + names->count[node] > count) count = names->first[node] + names->count[node];
  return count;
}

static bool add_hidden(struct query *query, const bool *frames, size_t count) {
  if (!query->hidden) query->hidden = calloc(count + 1, sizeof *query->hidden);
  for (size_t i = 0; query->hidden && i < count; i++) query->hidden[i] = query->hidden[i] || frames[i];
  return query->hidden;
}

static bool bind_frames(struct condition *condition, struct query *query, const struct names *names) {
  size_t count = count_frames(query, names);
  bool *frames = match_frames(condition, names, count), bound;
  if (!frames) return false;
  if (condition->field->type == HIDDEN)
    bound = add_hidden(query, frames, count);
  else
    bound = bind_names(condition, query, names, frames);
  if (condition == query->from)
    query->begins = frames;
  else
    free(frames);
  return bound;
}

static bool is_on_frames(enum type type) { return type == FRAME_TEXT || type == HIDDEN || type == FROM; }

/* Each process is compared once, by its number, its name, and both as in a table. */
static bool bind_processes(struct condition *condition, const struct samples *samples,
                           const struct names *names) {
  condition->matches = calloc((size_t)samples->process_count + 1, sizeof *condition->matches);
  for (uint32_t i = 0; condition->matches && i < samples->process_count; i++) {
    const struct process *process = &samples->processes[i];
    char number[16];
    snprintf(number, sizeof number, "%u", process->pid);
    condition->matches[i] = text_matches(condition, number) || text_matches(condition, process->name) ||
                            text_matches(condition, names_of_process(names, i));
  }
  return condition->matches;
}

/* Likewise by its host or release. */
static bool bind_origins(struct condition *condition, const struct names *names) {
  condition->matches = calloc((size_t)names->process_count + 1, sizeof *condition->matches);
  for (uint32_t i = 0; condition->matches && i < names->process_count; i++)
    condition->matches[i] =
        text_matches(condition, strings_text(names->strings, condition->field->origin(&names->processes[i])));
  return condition->matches;
}

/* Likewise each thread. */
static bool bind_threads(struct condition *condition, const struct samples *samples,
                         const struct names *names) {
  condition->matches = calloc((size_t)names->thread_count + 1, sizeof *condition->matches);
  for (uint32_t i = 0; condition->matches && i < names->thread_count; i++) {
    char buffer[32], number[16];
    snprintf(number, sizeof number, "%u", samples_thread_number(samples, names->thread[i]));
    condition->matches[i + 1] =
        text_matches(condition, number) ||
        text_matches(condition, samples_thread_name(samples, names->thread[i], buffer)) ||
        text_matches(condition, strings_text(names->strings, names->threads[2 * i]));
  }
  return condition->matches;
}

/* A block without a type matches no name. */
static bool bind_types(struct condition *condition, const struct names *names) {
  condition->matches = calloc((size_t)names->type_count + 1, sizeof *condition->matches);
  for (uint32_t i = 1; condition->matches && i <= names->type_count; i++)
    condition->matches[i] = text_matches(condition, strings_text(names->strings, names->types[i]));
  return condition->matches;
}

static bool query_selects_bind(struct condition *condition, struct query *query, const struct names *names) {
  if (!condition) return true;
  if (condition->field && condition->field->type == PROCESS)
    return bind_processes(condition, query->samples, names);
  if (condition->field && condition->field->type == ORIGIN) return bind_origins(condition, names);
  if (condition->field && condition->field->type == THREAD_NAME)
    return bind_threads(condition, query->samples, names);
  if (condition->field && condition->field->type == TYPE_NAME) return bind_types(condition, names);
  if (condition->field && is_on_frames(condition->field->type)) return bind_frames(condition, query, names);
  return query_selects_bind(condition->left, query, names) &&
         query_selects_bind(condition->right, query, names);
}

/* As for a moment that `at` names: what was live after the end is not known. */
static wn_status query_selects_check_live(const struct condition *condition, uint64_t end_ns) {
  if (!condition) return WN_OK;
  if (condition->field && condition->field->type == LIVE_AT && condition->number > (double)end_ns)
    return error_set(WN_EINVAL, "live %.40s: that is after the end of the trace", condition->text);
  wn_status error = query_selects_check_live(condition->left, end_ns);
  return error ? error : query_selects_check_live(condition->right, end_ns);
}

/* Of totals (sources/source.h) code alone is recorded. */
static bool query_selects_is_recorded(const struct field *field, const struct samples *samples) {
  const struct source_limits *limits = source_limits(samples->source);
  if (field->type == TYPE_NAME) return samples->types != NULL;
  if (limits->totals) return is_on_frames(field->type) || field->type == MOMENT;
  if (field->type == THREAD_NAME) return !limits->no_threads;
  return !limits->no_lives || !field->needs_lives;
}

static wn_status check_recorded(const struct condition *condition, const struct samples *samples) {
  if (!condition) return WN_OK;
  if (condition->field && !query_selects_is_recorded(condition->field, samples))
    return error_set(WN_EINVAL, "'%s': such a file does not tell this of its blocks", condition->field->name);
  wn_status error = check_recorded(condition->left, samples);
  return error ? error : check_recorded(condition->right, samples);
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
  case MOMENT:
  case HIDDEN: return true;
  case LIVE_AT: return row_is_live_at(row, (uint64_t)condition->number) != negated;
  case FROM:
  case FRAME_TEXT: return condition->matches[row->stack <= query->node_count ? row->stack : 0] != negated;
  case THREAD_NAME: return condition->matches[names_thread_place(query->names, row->thread)] != negated;
  case TYPE_NAME: return condition->matches[samples_type(query->samples, row)] != negated;
  case ORIGIN:
  case PROCESS: return condition->matches[process_of(query->samples, row->thread)] != negated;
  case BYTES:
  case TIME:
  case CHOICE:
    return compares(condition->field->number(query->samples, row), condition->relation, condition->number);
  }
  return false;
}

static bool query_selects_selects(const struct condition *condition, const struct query *query,
                                  const struct row *row) {
  switch (condition->kind) {
  case OR:
    return query_selects_selects(condition->left, query, row) ||
           query_selects_selects(condition->right, query, row);
  case AND:
    return query_selects_selects(condition->left, query, row) &&
           query_selects_selects(condition->right, query, row);
  case NOT: return !query_selects_selects(condition->left, query, row);
  case FIELD: return field_takes(condition, query, row);
  }
  return false;
}

enum takes { TAKES_NONE, TAKES_SOME, TAKES_ALL };

/* What a condition takes of a process, as far as the process alone decides. */
static enum takes takes_of_process(const struct condition *condition, uint32_t process) {
  enum takes left, right;
  enum type type;
  switch (condition->kind) {
  case OR:
  case AND:
    left = takes_of_process(condition->left, process), right = takes_of_process(condition->right, process);
    return (left < right) == (condition->kind == OR) ? right : left;
  case NOT: return TAKES_ALL - takes_of_process(condition->left, process);
  case FIELD: break;
  }
  type = condition->field->type;
  if (type == MOMENT || type == HIDDEN) return TAKES_ALL;
  if (type != PROCESS && type != ORIGIN) return TAKES_SOME;
  bool negated = condition->relation == NOT_EQUAL || condition->relation == NOT_MATCHES;
  return condition->matches[process] != negated ? TAKES_ALL : TAKES_NONE;
}

/* A lower bound of a field, over all blocks that a condition takes; 0: there is no better one. */
static double query_selects_least_of(const struct condition *condition, const char *field) {
  double left, right;
  switch (condition->kind) {
  case OR:
  case AND:
    left = query_selects_least_of(condition->left, field),
    right = query_selects_least_of(condition->right, field);
    return (left < right) == (condition->kind == OR) ? left : right;
  case NOT: return 0;
  case FIELD: break;
  }
  bool has_least =
      condition->relation == EQUAL || condition->relation == MORE || condition->relation == AT_LEAST;
  return has_least && !strcmp(condition->field->name, field) ? condition->number : 0;
}

/* A condition without the settings that select no rows; NULL: nothing is left. */
static const struct condition *selecting(const struct condition *condition) {
  while (condition && condition->kind == AND) {
    const struct condition *left = selecting(condition->left), *right = selecting(condition->right);
    if (left && right) return condition;
    condition = left ? left : right;
  }
  bool neutral = condition && condition->kind == FIELD &&
                 (condition->field->type == MOMENT || condition->field->type == HIDDEN);
  return neutral ? NULL : condition;
}

static bool same_rows(const struct condition *one, const struct condition *other) {
  one = selecting(one);
  other = selecting(other);
  if (!one || !other) return one == other;
  if (one->kind != other->kind) return false;
  if (one->kind == FIELD)
    return one->field == other->field && one->relation == other->relation && !strcmp(one->text, other->text);
  return same_rows(one->left, other->left) && same_rows(one->right, other->right);
}

/* ---- shared ---- */

wn_status query_bind(struct query *query, const struct samples *samples, const struct names *names) {
  query->samples = samples;
  query->names = names;
  query->node_count = source_stack_count(samples->source);
  wn_status error = check_recorded(query->root, samples);
  if (!error) error = query_selects_check_live(query->root, samples->end_ns);
  if (error) return error;
  if (!query_selects_bind(query->root, query, names))
    return error_set(WN_ENOMEM, "not enough memory for the query");
  return WN_OK;
}

bool query_selects(const struct query *query, const struct row *row) {
  return query_selects_selects(query->root, query, row);
}

bool query_may_select(const struct query *query, uint32_t process) {
  return !query || takes_of_process(query->root, process) != TAKES_NONE;
}

bool query_selects_all(const struct query *query) { return !query || !selecting(query->root); }

bool query_same_rows(const struct query *one, const struct query *other) {
  return same_rows(one ? one->root : NULL, other ? other->root : NULL);
}

const char *query_moment(const struct query *query, enum when *when, uint64_t *ns) {
  if (!query->moment) return NULL;
  *when = query->moment->when;
  *ns = (uint64_t)query->moment->number;
  return query->moment->text;
}

uint64_t query_born_from(const struct query *query) {
  double least = query_selects_least_of(query->root, "born");
  return least < (double)query->samples->end_ns ? (uint64_t)least : query->samples->end_ns;
}

double query_least_size(const struct query *query) {
  return query ? query_selects_least_of(query->root, "size") : 0;
}

struct stack_view query_view(const struct query *query) {
  return (struct stack_view){
      .hidden = query->hidden, .begins = query->begins, .begun = query->from ? query->from->matches : NULL};
}
/* SPDX-License-Identifier: MIT */
