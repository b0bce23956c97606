/* Asks both questions of a comparison. */
#include "analysis/compare/pair.h"

#include "analysis/report/origins.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What is before is scaled to the length of what is after, or to the bytes that it allocated. */
static struct estimate pair_scale_of(const struct pair *pair) {
  double before = (double)pair->before.samples->end_ns, after = (double)pair->after.samples->end_ns;
  struct estimate none = {0}, had = report_bytes(&pair->before, &pair->before.allocated),
                  has = report_bytes(&pair->after, &pair->after.allocated);
  if (pair->scaling == PER_SECOND && before > 0 && after > 0)
    return (struct estimate){.estimate = after / before, .low = after / before, .high = after / before};
  if (pair->scaling == PER_ALLOCATION && had.samples && has.samples) return ratio_of(&has, &had);
  return none;
}

/* PER_EITHER. */
static void pair_find_hosts(struct pair *pair) {
  size_t before = origins_count_hosts(&pair->before), after = origins_count_hosts(&pair->after);
  bool many = before >= HOSTS_LEAST && after >= HOSTS_LEAST;
  bool of_hosts = pair->scaling == PER_HOST || (pair->scaling == PER_EITHER && (many || before != after));
  if (!of_hosts || !before || !after) return;
  pair->hosts[0] = before, pair->hosts[1] = after;
  pair->running[0] = origins_count_running(&pair->before);
  pair->running[1] = origins_count_running(&pair->after);
}

static bool is_few(const uint64_t hosts[2]) { return hosts[0] < HOSTS_LEAST || hosts[1] < HOSTS_LEAST; }

/* A block that was resized between the two moments has one row for each of them. Whether a row is one of
 * these: the row is held at one moment only, and its block may be held at both. A block that was sampled
 * for the first time as it grew may have been there before. */
static bool is_resized(const struct samples *samples, const struct row *row, uint64_t before_ns,
                       uint64_t after_ns) {
  struct span span = row_span(samples, row);
  bool had = span_has(&span, before_ns), has = span_has(&span, after_ns);
  if (had == has) return false;
  if (had) return row_died_ns(samples, row) > after_ns;
  return row->born_ns <= before_ns || (row->first && growth_at_birth(&samples->grown, row) > 0);
}

static bool are_resized(const struct report *report, uint64_t before_ns, uint64_t after_ns) {
  const struct samples *samples = report->samples;
  for (size_t i = 0; i < samples->row_count; i++)
    if (is_resized(samples, &samples->rows[i], before_ns, after_ns) &&
        report_selects(&samples->rows[i], (void *)report))
      return true;
  return false;
}

static wn_status ask_both(const struct recording *before_run, const struct question *before,
                          const struct recording *after_run, const struct question *after,
                          struct pair *pair) {
  wn_status error = report_ask(before_run, before, &pair->before);
  if (error) return error;
  error = report_ask(after_run, after, &pair->after);
  if (error) report_destroy(&pair->before);
  return error;
}

/* ---- shared ---- */

wn_status pair_of_runs(const struct recording *before_run, const struct question *before,
                       const struct recording *after_run, const struct question *after, enum scaling scaling,
                       struct pair *pair) {
  uint64_t had_ns = before_run->samples->end_ns, has_ns = after_run->samples->end_ns;
  struct question had = *before, has = *after;
  had.lives_by_ns = has.lives_by_ns = had_ns < has_ns ? had_ns : has_ns;
  *pair = (struct pair){.scaling = scaling};
  wn_status error = ask_both(before_run, &had, after_run, &has, pair);
  if (!error) pair->scale = pair_scale_of(pair), pair_find_hosts(pair);
  return error;
}

wn_status pair_of_moments(const struct recording *recording, const char *where, uint64_t before_ns,
                          uint64_t after_ns, struct pair *pair) {
  struct question
      before = {.where = where, .at = AT_TIME, .at_ns = before_ns, .apart = true, .apart_ns = after_ns},
      after = {.where = where, .at = AT_TIME, .at_ns = after_ns, .apart = true, .apart_ns = before_ns};
  *pair = (struct pair){.moments = true};
  wn_status error = ask_both(recording, &before, recording, &after, pair);
  if (!error) pair->resized = are_resized(&pair->before, before_ns, after_ns);
  return error;
}

void pair_destroy(struct pair *pair) {
  report_destroy(&pair->before);
  report_destroy(&pair->after);
}

static bool slept(const struct report *report) { return report->samples->asleep_share > 0; }

bool pair_is_partial(const struct pair *pair) {
  return pair->before.recording->partial || pair->after.recording->partial || slept(&pair->before) ||
         slept(&pair->after);
}

uint64_t pair_hosts(const struct pair *pair, int side, enum measure measure) {
  if (measure != MEASURE_HELD) return pair->hosts[side];
  return pair->hosts[side] && !pair->running[side] ? 1 : pair->running[side];
}

bool pair_is_of_few_hosts(const struct pair *pair) {
  return pair->hosts[0] && (is_few(pair->hosts) || is_few(pair->running));
}

const char *pair_say_hosts(const struct pair *pair, char text[HOSTS_SAID_MOST]) {
  int length = snprintf(text, HOSTS_SAID_MOST,
                        "Numbers are means of a host, over %" PRIu64 " before and %" PRIu64
                        " after; ranges count that hosts differ.",
                        pair->hosts[0], pair->hosts[1]);
  if (memcmp(pair->hosts, pair->running, sizeof pair->hosts) != 0)
    snprintf(text + length, HOSTS_SAID_MOST - (size_t)length,
             " What was held is of the %" PRIu64 " and %" PRIu64 " that ran at that moment.",
             pair->running[0], pair->running[1]);
  return pair->hosts[0] ? text : "";
}

bool pair_is_exact(const struct pair *pair) {
  return !pair->hosts[0] && pair->before.recording->rate >= 1 && pair->after.recording->rate >= 1;
}

bool pair_is_without_ranges(const struct pair *pair) {
  return pair->before.recording->without_ranges || pair->after.recording->without_ranges ||
         slept(&pair->before) || slept(&pair->after) || pair_is_of_few_hosts(pair);
}

struct estimate pair_scale(const struct pair *pair, enum measure measure) {
  bool adds_up = measure == MEASURE_ALLOCATED || measure == MEASURE_CHURN || measure == MEASURE_PROMOTED;
  if (!pair->hosts[0]) return adds_up ? pair->scale : (struct estimate){0};
  double hosts = (double)pair_hosts(pair, 1, measure) / (double)pair_hosts(pair, 0, measure);
  return (struct estimate){.estimate = hosts, .low = hosts, .high = hosts};
}

bool pair_rows_are_sums(const struct pair *pair, enum grouping grouping) {
  return !pair->hosts[0] || grouping == BY_PROCESS || grouping == BY_HOST || grouping == BY_THREAD;
}

wn_status pair_compare(const struct pair *pair, enum measure measure, enum grouping grouping,
                       enum extent extent, struct compared_tables *tables) {
  struct comparison_options options = {.extent = extent};
  if (!pair->hosts[0]) options.scale = pair_scale(pair, measure);
  if (!pair_rows_are_sums(pair, grouping))
    for (int i = 0; i < 2; i++) options.hosts[i] = pair_hosts(pair, i, measure);
  return compared_tables_make(&pair->before, &pair->after, measure, grouping, &options, tables);
}
/* SPDX-License-Identifier: MIT */
