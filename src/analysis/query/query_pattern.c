/* Adds up how many atoms an expression has once all repetitions are copied. (Of those that fuzz_answers
 * found, one with 8,000 atoms took regcomp more than ten seconds.) */
#include "analysis/query/query_pattern.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 60, ATOMS_MOST = 2000 };

/* What has been read at one depth of parentheses. */
struct group {
  double atoms, last; /* all of them; those of the last item, which a repetition repeats */
};

struct scan {
  struct group groups[DEPTH_MOST];
  int depth;
};

static void query_pattern_add(struct scan *scan, double atoms) {
  struct group *group = &scan->groups[scan->depth];
  group->atoms += atoms;
  group->last = atoms;
}

static void repeat(struct scan *scan, double times) {
  struct group *group = &scan->groups[scan->depth];
  group->atoms += group->last * (times - 1) + 1;
  group->last *= times;
}

/* Behind a bracket expression, which begins at `at`. A ] stands for itself right at the begin. */
static const char *skip_bracket(const char *at) {
  at++;
  at += *at == '^';
  at += *at == ']';
  while (*at && *at != ']') {
    const char *close = *at == '[' && (at[1] == ':' || at[1] == '.' || at[1] == '=')
                            ? strstr(at + 2, (char[]){at[1], ']', 0})
                            : NULL;
    at = close ? close + 2 : at + 1;
  }
  return *at ? at + 1 : at;
}

/* Behind an interval {n,m}, which begins at `at`. A brace without a number stands for itself. */
static const char *take_interval(struct scan *scan, const char *at) {
  char *end;
  if (!isdigit((unsigned char)at[1]) && at[1] != ',') return query_pattern_add(scan, 1), at + 1;
  double times = 1;
  for (at++; *at && *at != '}'; at = *end && *end != '}' ? end + 1 : end)
    times = fmax(times, (double)strtoul(at, &end, 10));
  return repeat(scan, times + 1), *at ? at + 1 : at;
}

static bool open_group(struct scan *scan) {
  if (scan->depth + 1 == DEPTH_MOST) return false;
  scan->groups[++scan->depth] = (struct group){1, 1};
  return true;
}

static void close_group(struct scan *scan) {
  if (!scan->depth) return query_pattern_add(scan, 1);
  double atoms = scan->groups[scan->depth--].atoms;
  query_pattern_add(scan, atoms);
}

/* ---- shared ---- */

bool query_pattern_is_moderate(const char *at) {
  struct scan scan = {.groups = {{0, 1}}};
  while (*at) {
    switch (*at) {
    case '\\': at += at[1] ? 2 : 1, query_pattern_add(&scan, 1); break;
    case '[': at = skip_bracket(at), query_pattern_add(&scan, 1); break;
    case '{': at = take_interval(&scan, at); break;
    case '+': at++, repeat(&scan, 2); break;
    case '*':
    case '?': at++, repeat(&scan, 1); break;
    case ')': at++, close_group(&scan); break;
    case '(':
      if (!open_group(&scan)) return false;
      at++;
      break;
    default: at++, query_pattern_add(&scan, 1);
    }
    if (scan.groups[scan.depth].atoms > ATOMS_MOST) return false;
  }
  return true;
}
/* SPDX-License-Identifier: MIT */
