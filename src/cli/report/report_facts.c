/* Prints facts as tables: a heading for each group, a line for each fact. What has no number in a
 * recording, and a zero that is no news, has no line. */
#include "cli/report/report_facts.h"

#include "cli/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 36, NUMBER = 12, RANGE = 20, SAMPLES = 12 };

/* ---- words ---- */

const char *fact_text(char buffer[FACT_TEXT_MOST], const struct facts *facts, enum fact_name name,
                      double number) {
  char bytes[FACT_TEXT_MOST];
  if (number < 0) {
    snprintf(buffer, FACT_TEXT_MOST, "-%.60s", fact_text(bytes, facts, name, -number));
    return buffer;
  }
  switch (fact_unit(name)) {
  case UNIT_BYTES: return text_bytes(buffer, number);
  case UNIT_WORDS: return text_bytes(buffer, number * facts->report->samples->word_bytes);
  case UNIT_BYTES_PER_SECOND:
    snprintf(buffer, FACT_TEXT_MOST, "%.60s/s", text_bytes(bytes, number));
    return buffer;
  case UNIT_COUNT:
  case UNIT_YES: return text_count(buffer, number);
  case UNIT_SHARE: return text_share(buffer, number);
  case UNIT_DURATION:
  case UNIT_MOMENT: return text_time(buffer, (uint64_t)fmax(number, 0));
  case UNIT_NUMBER: break;
  }
  snprintf(buffer, FACT_TEXT_MOST, "%g", number);
  return buffer;
}

const char *fact_change_text(char buffer[FACT_TEXT_MOST], const struct facts *facts, enum fact_name name,
                             double difference) {
  char size[FACT_TEXT_MOST], none[FACT_TEXT_MOST];
  fact_text(size, facts, name, fabs(difference));
  bool is_none = !strcmp(size, fact_text(none, facts, name, 0));
  snprintf(buffer, FACT_TEXT_MOST, "%s%.60s", is_none ? "" : difference < 0 ? "-" : "+", size);
  return buffer;
}

/* The ends of an interval, with the unit once if both have it: "60.9–70.1 MB"; empty for an exact number. */
static const char *range_text(char buffer[2 * FACT_TEXT_MOST], const struct facts *facts, enum fact_name name,
                              const struct estimate *value) {
  char low[FACT_TEXT_MOST], high[FACT_TEXT_MOST];
  *buffer = 0;
  if (value->high - value->low <= 1e-9 * fabs(value->estimate)) return buffer;
  fact_text(low, facts, name, value->low);
  fact_text(high, facts, name, value->high);
  if (!strcmp(low, high)) return buffer;
  const char *unit = strrchr(low, ' '), *other = strrchr(high, ' ');
  if (unit && other && !strcmp(unit, other)) low[unit - low] = 0;
  snprintf(buffer, 2 * FACT_TEXT_MOST, "%.60s–%.60s", low, high);
  return buffer;
}

/* ---- lines ---- */

/* Of moments and sums that say the same as others in this recording. */
static bool report_facts_repeats(const struct facts *facts, enum fact_name name) {
  const struct report *report = facts->report;
  if (name >= FACT_TOTALS_held_bytes && name <= FACT_TOTALS_held_at_ns) return report->at == AT_PEAK;
  if (name >= FACT_TOTALS_alive_bytes && name <= FACT_TOTALS_alive_at_ns)
    return report->alive_ns >= report->samples->end_ns || report->samples->process_count > 1;
  if (name == FACT_HEAP_first_ns || name == FACT_HEAP_last_ns)
    return heap_life_is_whole(&report->samples->life, report->samples->end_ns);
  if (name == FACT_TRACE_kept) return facts_number(facts, name) >= 1;
  return name == FACT_TOTALS_external_bytes && !facts->fact[name].value.samples;
}

bool fact_is_shown(const struct facts *facts, enum fact_name name) {
  const struct fact *fact = &facts->fact[name];
  bool is_zero = fact->kind == FACT_EXACT && fact->value.estimate == 0;
  if (!facts_have(facts, name) || !*facts_label(facts, name) || report_facts_repeats(facts, name))
    return false;
  if (name == FACT_TRACE_rate) return true;
  if (fact_unit(name) == UNIT_SHARE && fact->kind == FACT_ESTIMATE && !fact->value.samples) return false;
  if (fact_unit(name) == UNIT_MOMENT && !report_is_timed(facts->report)) return false;
  return !is_zero || (fact_group(name) == FACTS_TOTALS && name != FACT_TOTALS_peak_rss_bytes);
}

static bool has_samples_column(void) { return LABEL + NUMBER + 2 + RANGE + SAMPLES <= text_width(); }

/* Prints the title of a group before its first fact, and behind the first title the columns. */
static void print_heading(int *group, enum fact_name name, const char *columns) {
  bool first = *group < 0;
  if (*group == (int)fact_group(name)) return;
  *group = (int)fact_group(name);
  putchar('\n');
  text_style(stdout, STYLE_BOLD);
  text_pad(stdout, fact_group_title(fact_group(name)), first ? LABEL : 1);
  text_style(stdout, STYLE_DIM);
  puts(first ? columns : "");
  text_style(stdout, STYLE_PLAIN);
}

static void report_facts_print_fact(const struct facts *facts, enum fact_name name) {
  const struct fact *fact = &facts->fact[name];
  const struct estimate *value = &fact->value;
  char number[FACT_TEXT_MOST + 2] = "", range[2 * FACT_TEXT_MOST], samples[32];
  bool is_bound = fact->kind == FACT_ESTIMATE && !value->samples && value->high > 0;
  if (is_bound) strcpy(number, "< ");
  if (fact->kind != FACT_RANGE || value->low == value->high)
    fact_text(number + strlen(number), facts, name, is_bound ? value->high : value->estimate);
  fputs("  ", stdout);
  text_pad(stdout, facts_label(facts, name), LABEL - 2);
  text_pad(stdout, number, -NUMBER);
  range_text(range, facts, name, value);
  if (*range && !is_bound) {
    bool counted = value->samples && has_samples_column();
    fputs("  ", stdout);
    text_pad(stdout, range, counted ? RANGE : 1);
    if (counted) text_pad(stdout, text_count(samples, (double)value->samples), -SAMPLES);
  }
  putchar('\n');
}

static void report_facts_print_change(const struct facts *before, const struct facts *after,
                                      enum fact_name name, const struct change *change) {
  char text[FACT_TEXT_MOST];
  bool sure = difference_is_sure(&change->difference);
  fputs("  ", stdout);
  text_pad(stdout, facts_label(after, name), LABEL - 2);
  text_pad(stdout, fact_text(text, before, name, change->before.estimate), -NUMBER);
  text_pad(stdout, fact_text(text, after, name, change->after.estimate), -NUMBER - 1);
  if (!sure) text_style(stdout, STYLE_DIM);
  text_pad(stdout, fact_change_text(text, after, name, change->difference.estimate), 1 - NUMBER);
  print_percent(change, sure);
  text_style(stdout, STYLE_PLAIN);
  putchar('\n');
}

/* ---- shared ---- */

void print_percent(const struct change *change, bool sure) {
  double percent =
      change->before.estimate > 0 ? 100 * change->difference.estimate / change->before.estimate : 0;
  if (sure && fabs(percent) >= 0.5) printf("  %+.0f %%", percent);
}

void report_print_facts(const struct facts *facts) {
  int group = -1;
  for (int name = 0; name < FACTS; name++) {
    if (!fact_is_shown(facts, (enum fact_name)name)) continue;
    print_heading(&group, (enum fact_name)name,
                  facts->report->recording->rate >= 1 ? "      number"
                  : has_samples_column()              ? "      number  95 % range               samples"
                                                      : "      number  95 % range");
    report_facts_print_fact(facts, (enum fact_name)name);
  }
}

void diff_print_facts(const struct facts *before, const struct facts *after, const struct estimate *scale) {
  struct change change;
  int group = -1;
  for (int name = 0; name < FACTS; name++) {
    enum fact_name which = (enum fact_name)name;
    if (!(fact_is_shown(before, which) || fact_is_shown(after, which)) ||
        !facts_change(before, after, which, scale, &change))
      continue;
    print_heading(&group, which, "      before        after     change");
    report_facts_print_change(before, after, which, &change);
  }
}
/* SPDX-License-Identifier: MIT */
