/* Decides whether a run is worse than the one before.
 *
 * A row of a comparison is listed as changed if its 95 % interval excludes 0: so are 5 of 100 rows
 * that did not change. A verdict takes more: the difference must exceed SURE times half of that
 * interval (3 standard errors), and be at least the share LEAST of what was before. The first fact
 * of regression_facts that changed so much decides, whatever the later ones did. */
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
                              at_moment[] = {FACT_TOTALS_held_bytes, FACT_TOTALS_live_at_end_bytes,
                                             FACT_TOTALS_allocated_bytes};
  return report->at == AT_PEAK ? at_peak : at_moment;
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
  static const char *const words[] = {[REGRESSION_UNKNOWN] = "not_known",
                                      [REGRESSION_NONE] = "no_change",
                                      [REGRESSION_WORSE] = "regression",
                                      [REGRESSION_BETTER] = "improved"};
  return words[kind];
}

const char *regression_title(enum regression_kind kind, bool exact) {
  static const char *const titles[] = {[REGRESSION_UNKNOWN] = "NOT KNOWN",
                                       [REGRESSION_NONE] = "NO CHANGE BEYOND NOISE",
                                       [REGRESSION_WORSE] = "REGRESSION",
                                       [REGRESSION_BETTER] = "IMPROVED"};
  return kind == REGRESSION_NONE && exact ? "NO CHANGE" : titles[kind];
}
/* SPDX-License-Identifier: MIT */
