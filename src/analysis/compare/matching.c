/* Matches labels by merging the sorted labels of both trees, first with modules, then without. */
#include "analysis/compare/matching.h"

#include "analysis/compare/similar.h"
#include "analysis/report/report.h"
#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A label whose strings have the numbers that they have in `after`. */
struct candidate {
  struct label label;
  uint32_t number, match; /* number: of the label in its tree */
};

static int compare_numbers(uint32_t one, uint32_t other) { return one < other ? -1 : one > other; }

static int compare_code(const struct label *one, const struct label *other) {
  int order = compare_numbers(one->function, other->function);
  if (!order) order = compare_numbers(one->file, other->file);
  if (!order) order = compare_numbers(one->line, other->line);
  if (!order) order = compare_numbers(one->first_column, other->first_column);
  return order ? order : compare_numbers(one->last_column, other->last_column);
}

static int by_label(const void *a, const void *b) {
  const struct label *one = &((const struct candidate *)a)->label,
                     *other = &((const struct candidate *)b)->label;
  int order = compare_code(one, other);
  return order ? order : compare_numbers(one->module, other->module);
}

/* Processes of one name are matched in the order of their labels. */
static int by_label_in_order(const void *a, const void *b) {
  int order = by_label(a, b);
  return order
             ? order
             : compare_numbers(((const struct candidate *)a)->number, ((const struct candidate *)b)->number);
}

/* Matched candidates stand last, so that the others are one list. */
static int unmatched_by_code(const void *a, const void *b) {
  const struct candidate *one = a, *other = b;
  bool is_free = one->match == UNMATCHED;
  if (is_free != (other->match == UNMATCHED)) return is_free ? -1 : 1;
  return compare_code(&one->label, &other->label);
}

/* ---- strings ---- */

/* The numbers that the strings of `from` have in `to`; numbers that `to` does not have for the
 * others. NULL without memory. */
static uint32_t *matching_translate(const struct strings *from, const struct strings *to) {
  uint32_t *numbers = malloc(from->count * sizeof *numbers);
  for (uint32_t i = 0; numbers && i < from->count; i++) {
    if (from != to && !strings_find(to, strings_text(from, i), &numbers[i])) numbers[i] = to->count + i;
    if (from == to) numbers[i] = i;
  }
  return numbers;
}

/* The labels of a tree without the root's. `numbers` NULL: their strings keep their numbers. */
static struct candidate *candidates_of(const struct call_tree *tree, const uint32_t *numbers) {
  struct candidate *candidates = malloc(tree->label_count * sizeof *candidates);
  for (uint32_t i = 1; candidates && i < tree->label_count; i++) {
    struct label label = tree->labels[i];
    if (tree->grouping == BY_PROCESS || tree->grouping == BY_THREAD)
      label = (struct label){.function = label.module}; /* without number */
    if (numbers)
      label.function = numbers[label.function], label.module = numbers[label.module],
      label.file = numbers[label.file];
    candidates[i - 1] = (struct candidate){label, i, UNMATCHED};
  }
  return candidates;
}

/* ---- addresses ---- */

/* The text of a build, and the address in it: what follows the name of the file. */
static uint32_t intern_address(struct strings *keys, const char *build, const char *name) {
  char *key;
  const char *address = strrchr(name, '+') ? strrchr(name, '+') : name;
  if (asprintf(&key, "%s %s", build, address) < 0) return 0;
  uint32_t number = strings_intern(keys, key);
  free(key);
  return number;
}

/* Replaces the labels that are addresses by what makes them equal. `first`: no string of a name has
 * this number or a larger one. False: not enough memory. */
static bool key_addresses(const struct call_tree *tree, const struct names *names, uint32_t first,
                          struct strings *keys, struct candidate *candidates) {
  for (uint32_t i = 1; i < tree->label_count; i++) {
    uint32_t name = tree->labels[i].function, build = builds_of(&names->builds, name);
    if (!build) continue;
    uint32_t key =
        intern_address(keys, strings_text(names->strings, build), strings_text(names->strings, name));
    if (!key) return false;
    candidates[i - 1].label = (struct label){.function = first + key};
  }
  return true;
}

/* The addresses of two recordings; those of one recording are its names. False: not enough memory. */
static bool key_both(const struct call_tree *before, const struct names *before_names, struct candidate *had,
                     const struct call_tree *after, const struct names *after_names, struct candidate *has) {
  uint32_t first = before_names->strings->count + after_names->strings->count;
  if (before_names == after_names) return true;
  struct strings *keys = strings_create();
  bool done = keys && key_addresses(before, before_names, first, keys, had) &&
              key_addresses(after, after_names, first, keys, has);
  strings_free(keys);
  return done;
}

/* ---- matching ---- */

struct side {
  struct candidate *candidates;
  size_t count;
};

static void match(struct candidate *one, struct candidate *other) {
  one->match = other->number;
  other->match = one->number;
}

static void match_labels(struct side *before, struct side *after) {
  qsort(before->candidates, before->count, sizeof *before->candidates, by_label_in_order);
  qsort(after->candidates, after->count, sizeof *after->candidates, by_label_in_order);
  for (size_t i = 0, j = 0; i < before->count && j < after->count;) {
    struct candidate *one = &before->candidates[i], *other = &after->candidates[j];
    int order = by_label(one, other);
    if (!order) match(one, other);
    i += order <= 0;
    j += order >= 0;
  }
}

/* The end of the candidates from `at` on that are unmatched and have the same code. */
static size_t matching_run_end(const struct side *side, size_t at) {
  size_t end = at + 1;
  while (end < side->count && !unmatched_by_code(&side->candidates[at], &side->candidates[end])) end++;
  return end;
}

/* Labels that have nothing but a module have no code to be matched by. */
static bool matching_has_code(const struct candidate *candidate) {
  return candidate->label.function || candidate->label.file;
}

static void match_code(struct side *before, struct side *after) {
  qsort(before->candidates, before->count, sizeof *before->candidates, unmatched_by_code);
  qsort(after->candidates, after->count, sizeof *after->candidates, unmatched_by_code);
  for (size_t i = 0, j = 0; i < before->count && j < after->count;) {
    struct candidate *one = &before->candidates[i], *other = &after->candidates[j];
    if (one->match != UNMATCHED || other->match != UNMATCHED) break;
    int order = compare_code(&one->label, &other->label);
    size_t i_end = matching_run_end(before, i), j_end = matching_run_end(after, j);
    if (!order && i_end == i + 1 && j_end == j + 1 && matching_has_code(one)) match(one, other);
    if (order <= 0) i = i_end;
    if (order >= 0) j = j_end;
  }
}

static void matching_tell(const struct side *side, uint32_t *matches) {
  for (size_t i = 0; i < side->count; i++) matches[side->candidates[i].number] = side->candidates[i].match;
}

/* ---- shared ---- */

wn_status matching_make(const struct table *before, const struct table *after, struct matching *matching) {
  const struct names *before_names = before->report->names, *after_names = after->report->names;
  uint32_t *numbers = matching_translate(before_names->strings, after_names->strings);
  struct side had = {candidates_of(&before->tree, numbers), before->tree.label_count - 1},
              has = {candidates_of(&after->tree, NULL), after->tree.label_count - 1};
  *matching = (struct matching){calloc(before->tree.label_count, sizeof(uint32_t)),
                                calloc(after->tree.label_count, sizeof(uint32_t))};
  bool ready = numbers && had.candidates && has.candidates && matching->after_of && matching->before_of;
  ready = ready &&
          key_both(&before->tree, before_names, had.candidates, &after->tree, after_names, has.candidates);
  if (ready) {
    match_labels(&had, &has);
    match_code(&had, &has);
    matching_tell(&had, matching->after_of);
    matching_tell(&has, matching->before_of);
  }
  if (ready && matching_is_of_two_tools(before->report, after->report))
    ready = similar_match(&before->tree, before_names, &after->tree, after_names, matching);
  free(numbers);
  free(had.candidates);
  free(has.candidates);
  if (ready) return WN_OK;
  matching_destroy(matching);
  return error_set(WN_ENOMEM, "not enough memory for the comparison");
}

bool matching_is_of_two_tools(const struct report *before, const struct report *after) {
  const struct trace_text *one = &source_run(before->samples->source)->writer,
                          *other = &source_run(after->samples->source)->writer;
  return one->length != other->length || (one->length && memcmp(one->bytes, other->bytes, one->length));
}

void matching_destroy(struct matching *matching) {
  free(matching->after_of);
  free(matching->before_of);
  *matching = (struct matching){NULL, NULL};
}
/* SPDX-License-Identifier: MIT */
