/* Decides whether a run is worse than the one before.
 *
 * A row of a comparison is listed as changed if its 95 % interval excludes 0: so are 5 of 100 rows
 * that did not change. A verdict takes more: the difference must exceed SURE times half of that
 * interval (3 standard errors), and be at least the share LEAST of what was before. The first fact
 * of regression_facts that changed so much decides, whatever the later ones did.
 *
 * Where means of a host are compared, hosts mostly differ in all their functions together, as their load does. So
 * what surely changed in functions decides too, summed up: what moved from one function to another is none. */
#include "analysis/compare/regression.h"

#include <math.h>
#include <string.h>

static const double SURE = 1.5, LEAST = 0.02, NAMED_LEAST = 0.1;

/* 1: more, -1: less, 0: neither for sure. */
static int direction_of(const struct change *bytes) {
  const struct estimate *difference = &bytes->difference;
  double size = fabs(difference->estimate),
         half = fmax(difference->high - difference->estimate, difference->estimate - difference->low);
  if (size <= SURE * half || size < LEAST * bytes->before.estimate) return 0;
  return difference->estimate > 0 ? 1 : -1;
}

/* Finds rows that surely changed in the direction of the verdict: those that may be code of the other run
 * too, so that their change may be none, or all others. Behind the largest, those with NAMED_LEAST of the
 * change of the verdict. */
static size_t find_rows(const struct regression *regression, const struct comparison *comparison, bool moved,
                        const struct compared *rows[REGRESSION_NAMED]) {
  size_t count = 0;
  for (size_t i = 0; i < comparison->sure_count && count < REGRESSION_NAMED; i++) {
    const struct compared *row = &comparison->rows[i];
    bool grew = row->bytes.difference.estimate > 0;
    if (count &&
        fabs(row->bytes.difference.estimate) < NAMED_LEAST * fabs(regression->change.difference.estimate))
      continue;
    if (grew == (regression->kind == REGRESSION_WORSE) && moved == (row->moved != NOT_MOVED))
      rows[count++] = row;
  }
  return count;
}

/* ---- hosts ---- */

/* The change of those functions that surely changed, and have not moved perhaps. Their errors may all be that
 * of the hosts' load, so they add up. */
static struct change change_of_sure(const struct comparison *comparison) {
  struct change all = {.before = comparison->bytes.before, .after = comparison->bytes.after};
  for (size_t i = 0; i < comparison->sure_count; i++) {
    const struct estimate *difference = &comparison->rows[i].bytes.difference;
    if (comparison->rows[i].moved != NOT_MOVED) continue;
    all.difference.estimate += difference->estimate;
    all.difference.low += difference->low;
    all.difference.high += difference->high;
  }
  return all;
}

static void set_mean(struct facts *facts, const struct facts *sums, enum fact_name bytes,
                     const struct estimate *mean, const struct estimate *blocks) {
  if (facts_have(sums, bytes)) facts->fact[bytes] = (struct fact){FACT_ESTIMATE, *mean};
  if (facts_have(sums, bytes)) facts->fact[bytes + 1] = (struct fact){FACT_ESTIMATE, *blocks};
}

/* Replaces the facts by means of a host, those that decide, in the order of their weight. *functions: what the
 * first has changed in functions. */
static wn_status regression_set_means(const struct pair *pair, struct facts *before, struct facts *after,
                                      struct change *functions) {
  const enum fact_name *decide = regression_facts(&pair->before);
  struct facts had = *before, has = *after;
  memset(before->fact, 0, sizeof before->fact);
  memset(after->fact, 0, sizeof after->fact);
  for (int i = 0; i < REGRESSION_FACTS; i++) {
    struct compared_tables tables;
    const struct comparison *comparison = &tables.comparison;
    enum measure measure = regression_measure(&(struct regression){.fact = decide[i]});
    wn_status error = pair_compare(pair, measure, BY_FUNCTION, EXTENT_SELF, &tables);
    if (error) return error;
    set_mean(before, &had, decide[i], &comparison->bytes.before, &comparison->blocks.before);
    set_mean(after, &has, decide[i], &comparison->bytes.after, &comparison->blocks.after);
    if (i == 0) *functions = change_of_sure(comparison);
    compared_tables_destroy(&tables);
  }
  return WN_OK;
}

static struct regression regression_judge(const struct pair *pair, const struct facts *before,
                                          const struct facts *after, const struct change *functions) {
  struct regression found = {.kind = REGRESSION_UNKNOWN};
  const enum fact_name *facts = regression_facts(&pair->before);
  if (pair->moments || pair_is_without_ranges(pair)) return found;
  for (int i = 0; i < REGRESSION_FACTS; i++) {
    struct change change;
    if (!facts_change(before, after, facts[i], &pair->scale, &change)) continue;
    int direction = direction_of(&change);
    bool by_functions = !direction && i == 0 && direction_of(functions);
    if (by_functions) change = *functions, direction = direction_of(functions);
    found.kind = REGRESSION_NONE;
    if (direction)
      return (struct regression){direction > 0 ? REGRESSION_WORSE : REGRESSION_BETTER, facts[i], change,
                                 by_functions};
  }
  return found;
}

/* ---- shared ---- */

const enum fact_name *regression_facts(const struct report *report) {
  static const enum fact_name at_peak[] = {FACT_TOTALS_peak_bytes, FACT_TOTALS_live_at_end_bytes,
                                           FACT_TOTALS_allocated_bytes},
                              at_moment[] = {FACT_TOTALS_held_bytes, FACT_TOTALS_live_at_end_bytes,
                                             FACT_TOTALS_allocated_bytes};
  return report->at == AT_PEAK ? at_peak : at_moment;
}

wn_status regression_find(const struct pair *pair, struct facts *before, struct facts *after,
                          struct regression *verdict) {
  struct change functions = {0};
  wn_status error = facts_find(&pair->before, before);
  if (!error) error = facts_find(&pair->after, after);
  if (!error && pair->hosts[0]) error = regression_set_means(pair, before, after, &functions);
  if (!error) *verdict = regression_judge(pair, before, after, &functions);
  return error;
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

const char *regression_by(const struct regression *regression) {
  return regression->functions ? " by functions that changed" : "";
}

const char *regression_reason(const struct regression *regression, const struct pair *pair) {
  if (regression->kind != REGRESSION_UNKNOWN) return "";
  return pair_is_of_few_hosts(pair) ? "hosts are too few to tell a change from hosts that differ"
         : pair_is_partial(pair)    ? "a part of a run is missing in its trace"
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
