/* Memory of the table. */
#include "gc/marshal/seen.h"

#include "base/check.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_LOGARITHM = TINY ? 1 : 6, FIRST_LINES = TINY ? 1 : 16 };

static bool seen_make_groups(struct seen *seen, unsigned logarithm) {
  seen->groups = calloc((size_t)1 << logarithm, sizeof *seen->groups);
  seen->shift = 64 - logarithm;
  return seen->groups != NULL;
}

static size_t seen_capacity_of(const struct seen *seen) { return (SIZE_MAX >> seen->shift) + 1; }

/* Enters a group that is not in the table, which has room. */
static void seen_enter(struct seen *seen, uintptr_t group, size_t line) {
  struct seen_group *at = seen_home(seen, group);
  const struct seen_group *end = seen->groups + seen_capacity_of(seen);
  while (at->group)
    if (++at == end) at = seen->groups;
  *at = (struct seen_group){group, line};
}

static bool double_groups(struct seen *seen) {
  struct seen old = *seen;
  if (!seen_make_groups(seen, 64 - old.shift + 1)) {
    *seen = old;
    return false;
  }
  for (size_t i = 0; i < seen_capacity_of(&old); i++)
    if (old.groups[i].group) seen_enter(seen, old.groups[i].group, old.groups[i].line);
  free(old.groups);
  return true;
}

static bool double_lines(struct seen *seen) {
  size_t capacity = seen->line_capacity ? 2 * seen->line_capacity : FIRST_LINES;
  struct seen_line *grown = realloc(seen->lines, capacity * sizeof *grown);
  if (!grown) return false;
  seen->lines = grown;
  seen->line_capacity = capacity;
  return true;
}

/* ---- shared ---- */

bool seen_create(struct seen *seen) {
  *seen = (struct seen){.last_group = UINTPTR_MAX};
  return seen_make_groups(seen, FIRST_LOGARITHM);
}

void seen_destroy(struct seen *seen) {
  free(seen->groups);
  free(seen->lines);
}

bool seen_add_group(struct seen *seen, uintptr_t group) {
  if (2 * seen->line_count >= seen_capacity_of(seen) && !double_groups(seen)) return false;
  if (seen->line_count == seen->line_capacity && !double_lines(seen)) return false;
  memset(&seen->lines[seen->line_count], 0, sizeof *seen->lines);
  seen_enter(seen, group, seen->line_count);
  seen->last_group = group;
  seen->last_line = seen->line_count++;
  return true;
}
/* SPDX-License-Identifier: MIT */
