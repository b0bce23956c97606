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

/* Finds rows that surely changed in the direction of the verdict: those that may be code of the other run
 * too, so that their change may be none, or all others. */
static size_t find_rows(const struct regression *regression, const struct comparison *comparison, bool moved,
                        const struct compared *rows[REGRESSION_NAMED]) {
  size_t count = 0;
  for (size_t i = 0; i < comparison->sure_count && count < REGRESSION_NAMED; i++) {
    const struct compared *row = &comparison->rows[i];
    bool grew = row->bytes.difference.estimate > 0;
    if (grew == (regression->kind == REGRESSION_WORSE) && moved == (row->moved != NOT_MOVED))
      rows[count++] = row;
  }
  return count;
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

enum measure regression_measure(const struct regression *regression) {
  return regression->fact == FACT_TOTALS_allocated_bytes     ? MEASURE_ALLOCATED
         : regression->fact == FACT_TOTALS_live_at_end_bytes ? MEASURE_ALIVE
                                                             : MEASURE_HELD;
}

size_t regression_rows(const struct regression *regression, const struct comparison *comparison,
                       const struct compared *rows[REGRESSION_NAMED]) {
  return find_rows(regression, comparison, false, rows);
}

const char *regression_hint(const struct regression *regression, const struct comparison *comparison) {
  const struct compared *rows[REGRESSION_NAMED];
  bool hidden =
      !find_rows(regression, comparison, false, rows) && find_rows(regression, comparison, true, rows);
  return hidden ? "look for names with --search FOLDER: code without them is not matched" : "";
}

const char *regression_label(const struct facts *after, enum fact_name name) {
  bool at_end = name == FACT_TOTALS_held_bytes && after->report->at == AT_END;
  return at_end ? "Held at the end" : facts_label(after, name);
}

const char *regression_reason(const struct regression *regression, const struct pair *pair) {
  if (regression->kind != REGRESSION_UNKNOWN) return "";
  return pair_is_partial(pair) ? "a part of a run is missing in its trace"
                               : "the numbers are another profiler's estimates, without ranges";
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
