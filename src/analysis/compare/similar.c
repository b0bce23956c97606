/* Compares the labels that have the same base of a name. */
#include "analysis/compare/similar.h"

#include "analysis/load/cxx_name.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

/* A label that is not matched. */
struct loose {
  uint32_t number; /* of the label in its tree */
  uint32_t line;
  struct cxx_name name;  /* of the function; without one all is empty */
  struct cxx_part file;  /* the last part of the path */
  uint32_t count, other; /* how many labels of the other side are similar, and the last of them */
};

struct side {
  struct loose *labels;
  size_t count;
};

static struct cxx_part similar_last_part(const char *path) {
  const char *text = path_name(path);
  return (struct cxx_part){text, strlen(text)};
}

static int compare_parts(const struct cxx_part *one, const struct cxx_part *other) {
  size_t least = one->bytes < other->bytes ? one->bytes : other->bytes;
  int order = least ? memcmp(one->text, other->text, least) : 0;
  return order ? order : (one->bytes > other->bytes) - (one->bytes < other->bytes);
}

/* What similar labels have in common: the base of the name, or, where labels are files, the file. */
static int compare_keys(const struct loose *one, const struct loose *other) {
  int order = compare_parts(&one->name.base, &other->name.base);
  return order || one->name.base.bytes ? order : compare_parts(&one->file, &other->file);
}

static int by_key(const void *a, const void *b) { return compare_keys(a, b); }

static bool are_similar(const struct loose *one, const struct loose *other) {
  bool files = !one->file.bytes || !other->file.bytes || !compare_parts(&one->file, &other->file);
  return files && one->line == other->line &&
         (!one->name.base.bytes || cxx_name_may_be(&one->name, &other->name));
}

/* The labels without a match that have a function, but no address, or a file. */
static bool similar_collect(const struct call_tree *tree, const struct names *names, const uint32_t *matches,
                            struct side *side) {
  side->labels = malloc(tree->label_count * sizeof *side->labels);
  for (uint32_t i = 1; side->labels && i < tree->label_count; i++) {
    const struct label *label = &tree->labels[i];
    if (matches[i] != UNMATCHED || builds_of(&names->builds, label->function) ||
        (!label->function && !label->file))
      continue;
    struct loose *loose = &side->labels[side->count++];
    *loose = (struct loose){.number = i, .line = label->line};
    if (label->function) cxx_name_parse(strings_text(names->strings, label->function), &loose->name);
    if (label->file) loose->file = similar_last_part(strings_text(names->strings, label->file));
  }
  if (side->labels) qsort(side->labels, side->count, sizeof *side->labels, by_key);
  return side->labels;
}

static size_t similar_run_end(const struct side *side, size_t at) {
  size_t end = at + 1;
  while (end < side->count && !compare_keys(&side->labels[at], &side->labels[end])) end++;
  return end;
}

static void compare_runs(struct loose *had, size_t had_count, struct loose *has, size_t has_count) {
  for (size_t i = 0; i < had_count; i++)
    for (size_t j = 0; j < has_count; j++) {
      if (!are_similar(&had[i], &has[j])) continue;
      had[i].count++, had[i].other = (uint32_t)j;
      has[j].count++;
    }
}

static void match_runs(struct loose *had, size_t had_count, struct loose *has, size_t has_count,
                       struct matching *matching) {
  compare_runs(had, had_count, has, has_count);
  for (size_t i = 0; i < had_count; i++) {
    if (had[i].count != 1 || has[had[i].other].count != 1) continue;
    matching->after_of[had[i].number] = has[had[i].other].number;
    matching->before_of[has[had[i].other].number] = had[i].number;
  }
}

/* ---- shared ---- */

bool similar_match(const struct call_tree *before, const struct names *before_names,
                   const struct call_tree *after, const struct names *after_names,
                   struct matching *matching) {
  struct side had = {NULL, 0}, has = {NULL, 0};
  bool ready = similar_collect(before, before_names, matching->after_of, &had) &&
               similar_collect(after, after_names, matching->before_of, &has);
  for (size_t i = 0, j = 0; ready && i < had.count && j < has.count;) {
    int order = compare_keys(&had.labels[i], &has.labels[j]);
    size_t i_end = similar_run_end(&had, i), j_end = similar_run_end(&has, j);
    if (!order) match_runs(had.labels + i, i_end - i, has.labels + j, j_end - j, matching);
    if (order <= 0) i = i_end;
    if (order >= 0) j = j_end;
  }
  free(had.labels);
  free(has.labels);
  return ready;
}
/* SPDX-License-Identifier: MIT */
