/* Decides whether a run is worse than the one before.
 *
 * A row of a comparison is listed as changed if its 95 % interval excludes 0; of what did not change, 5
 * of 100 are. A verdict takes more: the difference must exceed SURE times the half of that interval (3
 * standard errors), and LEAST of what was before. */
#include "analysis/compare/regression.h"

#include <math.h>

static const double SURE = 1.5, LEAST = 0.02;

/* 1: more, -1: less, 0: neither for sure. */
static int direction_of(const struct change *bytes) {
  const struct estimate *difference = &bytes->difference;
  double size = fabs(difference->estimate),
         half = fmax(difference->high - difference->estimate, difference->estimate - difference->low);
  if (size <= SURE * half || size < LEAST * bytes->before.estimate) return 0;
  return difference->estimate > 0 ? 1 : -1;
}

/* ---- shared ---- */

const enum fact_name *regression_facts(const struct report *report) {
  static const enum fact_name at_peak[] = {FACT_TOTALS_peak_bytes, FACT_TOTALS_live_at_end_bytes,
                                           FACT_TOTALS_allocated_bytes},
                              then[] = {FACT_TOTALS_held_bytes, FACT_TOTALS_live_at_end_bytes,
                                        FACT_TOTALS_allocated_bytes};
  return report->at == AT_PEAK ? at_peak : then;
}

bool pair_is_exact(const struct pair *pair) {
  return pair->before.recording->rate >= 1 && pair->after.recording->rate >= 1;
}

struct regression regression_find(const struct pair *pair, const struct facts *before,
                                  const struct facts *after) {
  struct regression found = {.kind = REGRESSION_UNKNOWN};
  const enum fact_name *facts = regression_facts(&pair->before);
  if (pair->moments || pair_is_without_ranges(pair)) return found;
  for (int i = 0; i < REGRESSION_FACTS; i++) {
    struct change change;
    if (!facts_change(before, after, facts[i], &pair->scale, &change)) continue;
    int direction = direction_of(&change);
    found.kind = REGRESSION_NONE;
    if (direction)
      return (struct regression){direction > 0 ? REGRESSION_WORSE : REGRESSION_BETTER, facts[i], change};
  }
  return found;
}

const char *regression_word(enum regression_kind kind) {
  static const char *const words[] = {"not_known", "no_change", "regression", "improved"};
  return words[kind];
}

const char *regression_title(enum regression_kind kind, bool exact) {
  static const char *const titles[] = {"NOT KNOWN", "NO CHANGE BEYOND NOISE", "REGRESSION", "IMPROVED"};
  return kind == REGRESSION_NONE && exact ? "NO CHANGE" : titles[kind];
}
/* SPDX-License-Identifier: MIT */
