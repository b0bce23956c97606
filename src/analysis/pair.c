/* Asks both questions of a comparison. */
#include "analysis/pair.h"

/* What is before is scaled to the length of what is after, or to the bytes that it allocated. */
static struct estimate scale_of(const struct pair *pair) {
  double before = (double)pair->before.samples->end_ns, after = (double)pair->after.samples->end_ns;
  struct estimate none = {0}, had = report_bytes(&pair->before, &pair->before.allocated),
                  has = report_bytes(&pair->after, &pair->after.allocated);
  if (pair->scaling == PER_SECOND && before > 0 && after > 0)
    return (struct estimate){.estimate = after / before, .low = after / before, .high = after / before};
  if (pair->scaling == PER_ALLOCATION && had.samples && has.samples) return ratio_of(&has, &had);
  return none;
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
  if (!error) pair->scale = scale_of(pair);
  return error;
}

wn_status pair_of_moments(const struct recording *recording, const char *where, uint64_t before_ns,
                          uint64_t after_ns, struct pair *pair) {
  struct question
      before = {.where = where, .at = AT_TIME, .at_ns = before_ns, .apart = true, .apart_ns = after_ns},
      after = {.where = where, .at = AT_TIME, .at_ns = after_ns, .apart = true, .apart_ns = before_ns};
  *pair = (struct pair){.moments = true};
  return ask_both(recording, &before, recording, &after, pair);
}

void pair_destroy(struct pair *pair) {
  report_destroy(&pair->before);
  report_destroy(&pair->after);
}

bool pair_is_partial(const struct pair *pair) {
  return pair->before.recording->partial || pair->after.recording->partial;
}

wn_status pair_compare(const struct pair *pair, enum measure measure, enum grouping grouping,
                       enum extent extent, struct compared_tables *tables) {
  struct comparison_options options = {extent, pair->scale};
  return compared_tables_make(&pair->before, &pair->after, measure, grouping, &options, tables);
}
/* SPDX-License-Identifier: MIT */
