/* Finds the facts of a report: one line for each, in the order of the list. */
#include "analysis/compare/facts.h"

#include "analysis/load/mapped.h"
#include "analysis/load/memory_limit.h"
#include "analysis/load/rates.h"
#include <math.h>
#include <string.h>

static const struct {
  const char *name, *label;
  enum fact_group group;
  enum fact_unit unit;
} list[FACTS] = {
#define FACT_ROW(GROUP, name, unit, label) {#name, label, FACTS_##GROUP, UNIT_##unit},
    REPORT_FACTS(FACT_ROW)
#undef FACT_ROW
};

static const struct {
  const char *name, *title;
} groups[FACT_GROUP_COUNT] = {
#define FACT_GROUP(NAME, name, title) {name, title},
    FACT_GROUPS(FACT_GROUP)
#undef FACT_GROUP
};

/* ---- kinds ---- */

static void exact(struct facts *facts, enum fact_name name, double number) {
  facts->fact[name] =
      (struct fact){FACT_EXACT, {.estimate = number, .low = number, .high = number, .seen = number}};
}

static void facts_count(struct facts *facts, enum fact_name name, uint64_t number) {
  exact(facts, name, (double)number);
}

/* A number that applies and may not be known. */
static void facts_known(struct facts *facts, enum fact_name name, double number, bool is_known) {
  if (is_known)
    exact(facts, name, number);
  else
    facts->fact[name] = (struct fact){.kind = FACT_UNKNOWN};
}

static void estimate(struct facts *facts, enum fact_name name, struct estimate value) {
  facts->fact[name] = (struct fact){FACT_ESTIMATE, value};
}

static void range(struct facts *facts, enum fact_name name, double low, double high, uint64_t samples) {
  facts->fact[name] =
      (struct fact){FACT_RANGE, {.estimate = (low + high) / 2, .low = low, .high = high, .samples = samples}};
}

/* ---- totals ---- */

static void add_sums(struct facts *facts, enum fact_name bytes, enum fact_name blocks,
                     const struct sums *sums) {
  estimate(facts, bytes, report_bytes(facts->report, sums));
  if (!source_limits(facts->report->samples->source)->no_blocks)
    estimate(facts, blocks, report_blocks(facts->report, sums));
}

/* Processes that ended at several times have no such bound. */
static void bound_by_peak(struct facts *facts, enum fact_name name) {
  struct estimate *value = &facts->fact[name].value;
  if (facts->report->samples->process_count < 2 && facts->fact[FACT_TOTALS_peak_bytes].kind == FACT_ESTIMATE)
    *value = report_within_peak(facts->report, *value);
}

static void add_brief(struct facts *facts) {
  const struct report *report = facts->report;
  if (source_limits(report->samples->source)->no_lives) return;
  estimate(facts, FACT_TOTALS_brief_bytes, report_bytes(report, &report->brief));
  estimate(facts, FACT_TOTALS_brief_share, report_share(report, &report->brief, &report->allocated));
  facts_count(facts, FACT_TOTALS_brief_ns, report->brief_ns);
}

/* What a file of totals tells, and every trace. */
static void facts_add_totals(struct facts *facts) {
  const struct report *report = facts->report;
  const struct source_limits *limits = source_limits(report->samples->source);
  if (!limits->no_total)
    add_sums(facts, FACT_TOTALS_allocated_bytes, FACT_TOTALS_allocated_blocks, &report->allocated);
  if (!limits->no_peak) add_sums(facts, FACT_TOTALS_peak_bytes, FACT_TOTALS_peak_blocks, &report->peak.live);
  if (!limits->no_end)
    add_sums(facts, FACT_TOTALS_live_at_end_bytes, FACT_TOTALS_live_at_end_blocks, &report->live_at_end);
  bound_by_peak(facts, FACT_TOTALS_live_at_end_bytes);
}

/* Of what was held: blocks for Python's objects, and all others. If every small object is sampled, there
 * are no arenas. */
static void add_python(struct facts *facts) {
  struct sums sums[2] = {{.bytes = {0}}};
  const struct samples *samples = facts->report->samples;
  bool found = mapped_has_arenas(samples);
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    struct share share;
    found = found || row->source == TRACE_SOURCE_PYTHON;
    if (!report_counts(facts->report, MEASURE_HELD, row, &share)) continue;
    struct sum *sum = &sums[row->source == TRACE_SOURCE_PYTHON].bytes;
    if (share.weight.factor > 0)
      sum_add_weighted(sum, share.bytes, &share.weight);
    else
      sum_add(sum, share.bytes, row->probability);
  }
  if (!found) return;
  estimate(facts, FACT_TOTALS_held_python_bytes, report_bytes(facts->report, &sums[true]));
  estimate(facts, FACT_TOTALS_held_native_bytes, report_bytes(facts->report, &sums[false]));
}

/* What takes times to tell. */
static void add_course(struct facts *facts) {
  const struct report *report = facts->report;
  struct estimate rate = report_per_second(report, &facts->fact[FACT_TOTALS_allocated_bytes].value);
  if (report_has_rate(report) || !report->samples->end_ns)
    estimate(facts, FACT_TOTALS_allocated_bytes_per_second, rate);
  if (report->samples->collected)
    estimate(facts, FACT_TOTALS_external_bytes, report_bytes(report, &report->generations.external));
  facts_count(facts, FACT_TOTALS_peak_at_ns, report->peak.median_ns);
  add_sums(facts, FACT_TOTALS_held_bytes, FACT_TOTALS_held_blocks, &report->asked.live);
  facts_count(facts, FACT_TOTALS_held_at_ns, report->asked.time_ns);
  add_python(facts);
  add_sums(facts, FACT_TOTALS_alive_bytes, FACT_TOTALS_alive_blocks, &report->alive);
  bound_by_peak(facts, FACT_TOTALS_alive_bytes);
  facts_count(facts, FACT_TOTALS_alive_at_ns, report->alive_ns);
  add_brief(facts);
}

/* ---- resident memory ---- */

/* Takes what is not resident off a part: not more than there is. */
static void take_unwritten(struct estimate *part, double *unwritten) {
  double less = fmin(part->estimate, *unwritten);
  *unwritten -= less;
  part->estimate -= less;
  part->low = fmax(part->low - less, 0);
  part->high -= less;
}

/* Each part without what was never written of it: of blocks first, and then of what is kept free. */
static void add_parts(struct facts *facts) {
  double unwritten = -facts->parts.part[PART_UNWRITTEN].estimate;
  facts_known(facts, FACT_RESIDENT_unwritten_bytes, unwritten, unwritten > 0);
  for (int i = 0; i < PART_UNWRITTEN; i++) {
    struct estimate bytes = facts->parts.part[i];
    enum fact_name name = (enum fact_name)(FACT_PARTS_blocks + i);
    if (i == PART_BLOCKS || i == PART_FREE) take_unwritten(&bytes, &unwritten);
    if (bytes.estimate == 0 && bytes.high <= 0) continue;
    estimate(facts, name, bytes);
    if (bytes.low == bytes.high) facts->fact[name].kind = FACT_EXACT;
  }
}

static void add_group(struct facts *facts) {
  struct memory_limit group = memory_limit_of(facts->report->samples);
  if (!facts->report->samples->group_count) return;
  facts_count(facts, FACT_RESIDENT_limit_bytes, group.limit);
  facts_count(facts, FACT_RESIDENT_high_bytes, group.high);
  facts_count(facts, FACT_RESIDENT_pressure_ns, group.pressure_us * 1000);
  facts_count(facts, FACT_RESIDENT_kills, group.kills);
}

/* There are no parts where records are missing, nor at a moment that is not that of the most. */
static void facts_add_resident(struct facts *facts) {
  const struct resident *resident = &facts->resident;
  bool partial = facts->report->recording->partial;
  facts_count(facts, FACT_TOTALS_peak_rss_bytes, resident->most_bytes);
  facts_count(facts, FACT_RESIDENT_at_ns, resident->time_ns);
  facts_count(facts, FACT_RESIDENT_rss_bytes, resident->rss_bytes);
  facts_count(facts, FACT_RESIDENT_most_bytes, resident->most_bytes);
  facts_count(facts, FACT_RESIDENT_counted, resident->counted);
  facts_count(facts, FACT_RESIDENT_explained, resident->explained && !partial);
  add_group(facts);
  facts_known(facts, FACT_RESIDENT_asked_ns, (double)facts->parts.answered_ns, facts->parts.answered);
  exact(facts, FACT_RESIDENT_mapped_bytes, resident->mapped_bytes);
  facts_known(facts, FACT_RESIDENT_mapped_private_bytes, resident->mapped_private, resident->measured);
  facts_known(facts, FACT_RESIDENT_mapped_file_bytes, resident->mapped_files, resident->measured);
  bool missed = facts->report->at == AT_PEAK && resident->counted && !resident->explained;
  if (!partial && !missed && resident->rss_bytes) add_parts(facts);
}

/* ---- a collected heap ---- */

static void add_shares(struct facts *facts) {
  const struct report *report = facts->report;
  const struct generations *all = &report->generations;
  struct sums births = generations_births(all);
  estimate(facts, FACT_SURVIVAL_minor_share, report_share(report, &all->minor, &births));
  estimate(facts, FACT_SURVIVAL_major_share, report_share(report, &all->major, &births));
  estimate(facts, FACT_SURVIVAL_promoted_share, report_promoted_share(report, all));
  estimate(facts, FACT_SURVIVAL_dead_next_share, report_dead_share(report, all));
}

static void add_counts(struct facts *facts) {
  const struct heap_life *life = &facts->report->samples->life;
  struct trace_collection total = heap_life_total(life), largest = heap_life_largest(life);
  facts_count(facts, FACT_HEAP_first_ns, life->collections[0].time_ns);
  facts_count(facts, FACT_HEAP_last_ns, total.time_ns);
  facts_count(facts, FACT_HEAP_minor_words, total.minor_words);
  facts_count(facts, FACT_HEAP_promoted_words, total.promoted_words);
  facts_count(facts, FACT_HEAP_direct_words, total.direct_words);
  facts_count(facts, FACT_HEAP_minor_collections, total.minor_collections);
  facts_count(facts, FACT_HEAP_major_cycles, total.major_cycles);
  facts_count(facts, FACT_HEAP_live_words, total.live_words);
  facts_count(facts, FACT_HEAP_peak_heap_words, largest.heap_words);
  facts_count(facts, FACT_HEAP_peak_at_ns, largest.time_ns);
  facts_count(facts, FACT_HEAP_domains_begun, life->domains_begun);
  facts_count(facts, FACT_HEAP_domains_most, life->domains_most);
}

static void add_pauses(struct facts *facts) {
  const struct heap_life *life = &facts->report->samples->life;
  double paused = heap_life_paused_ns(life);
  facts_count(facts, FACT_PAUSES_count, heap_life_pauses(life));
  exact(facts, FACT_PAUSES_total_ns, paused);
  facts_known(facts, FACT_PAUSES_share, paused / life->domain_ns,
              life->domain_ns >= paused && life->domain_ns > 0);
  for (int kind = 0; kind < TRACE_PAUSES; kind++) {
    facts_count(facts, (enum fact_name)(FACT_PAUSES_minor_count + 2 * kind), life->paused[kind].count);
    facts_count(facts, (enum fact_name)(FACT_PAUSES_minor_ns + 2 * kind), life->paused[kind].total_ns);
  }
  if (!life->longest.ns) return; /* no pause was so long that it has a record */
  facts_count(facts, FACT_PAUSES_median_ns, heap_life_pause_at(life, 0.5));
  facts_count(facts, FACT_PAUSES_below_99_ns, heap_life_pause_at(life, 0.99));
  facts_count(facts, FACT_PAUSES_longest_ns, life->longest.ns);
  facts_count(facts, FACT_PAUSES_longest_at_ns, life->longest.time_ns);
}

static wn_status add_what_if(struct facts *facts) {
  struct what_if what_if;
  wn_status error = report_what_if(facts->report, &what_if);
  if (error || !what_if.samples) return error;
  exact(facts, FACT_WHAT_IF_interval_words, what_if.minor_words);
  facts_count(facts, FACT_WHAT_IF_samples, what_if.samples);
  for (int i = 0; i < WHAT_IF_SIZES; i++)
    range(facts, (enum fact_name)(FACT_WHAT_IF_kept_half + i), what_if.sizes[i].low, what_if.sizes[i].high,
          what_if.samples);
  return WN_OK;
}

static void add_cost(struct facts *facts, const struct samples *samples) {
  uint64_t cost, processor;
  samples_cost(samples, &cost, &processor);
  if (!processor) return;
  facts_count(facts, FACT_TRACE_cost_ns, cost);
  exact(facts, FACT_TRACE_cost_share, (double)cost / (double)processor);
}

/* ---- shared ---- */

void facts_of_trace(const struct samples *samples, struct facts *facts) {
  const struct trace_damage *damage = source_damage(samples->source);
  uint64_t calls = 0;
  for (size_t i = 0; i < samples->row_count; i++) calls += samples->rows[i].call;
  if (!source_limits(samples->source)->totals) {
    exact(facts, FACT_TRACE_rate, samples_typical_rate(samples));
    facts_count(facts, FACT_TRACE_rate_changes, samples->rate_change_count);
    facts_count(facts, FACT_TRACE_asleep_ns, asleep_ns(samples));
    exact(facts, FACT_TRACE_asleep_share, samples->asleep_share);
    add_cost(facts, samples);
    facts_count(facts, FACT_TRACE_samples, samples->sampled_blocks);
    facts_count(facts, FACT_TRACE_growths,
                calls > samples->sampled_blocks ? calls - samples->sampled_blocks : 0);
  }
  facts_count(facts, FACT_TRACE_stacks_cut, samples->cut);
  facts_count(facts, FACT_TRACE_stacks_lost, damage->stacks_lost);
  facts_count(facts, FACT_TRACE_lost, damage->records_lost);
  facts_count(facts, FACT_TRACE_damaged_chunks, damage->chunks_damaged);
  facts_count(facts, FACT_TRACE_damaged_bytes, damage->bytes_skipped);
  facts_count(facts, FACT_TRACE_times_raised, damage->times_raised);
  facts_count(facts, FACT_TRACE_unmatched, samples->unmatched);
}

wn_status facts_find(const struct report *report, struct facts *facts) {
  const struct samples *samples = report->samples;
  memset(facts, 0, sizeof *facts);
  facts->report = report;
  facts_of_trace(samples, facts);
  exact(facts, FACT_TRACE_kept, report->recording->kept);
  facts_add_totals(facts);
  if (source_limits(samples->source)->totals) return WN_OK;
  facts->resident = report_resident(report);
  facts->parts = resident_parts(report, &facts->resident);
  add_course(facts);
  facts_add_resident(facts);
  if (samples->collected) add_shares(facts);
  if (!heap_life_is_recorded(&samples->life)) return WN_OK;
  add_counts(facts);
  add_pauses(facts);
  return add_what_if(facts);
}

const char *fact_json_name(enum fact_name name) { return list[name].name; }
enum fact_unit fact_unit(enum fact_name name) { return list[name].unit; }
enum fact_group fact_group(enum fact_name name) { return list[name].group; }
const char *fact_group_name(enum fact_group group) { return groups[group].name; }
const char *fact_group_title(enum fact_group group) { return groups[group].title; }

const char *facts_label(const struct facts *facts, enum fact_name name) {
  const struct samples *samples = facts->report->samples;
  bool collected = samples->collected;
  if (name == FACT_PARTS_rest && !collected && !facts->parts.answered) return "malloc's own and data";
  if (name == FACT_TOTALS_allocated_blocks && source_limits(samples->source)->totals)
    return "Allocated blocks";
  static const char *const longest[TRACE_PAUSES] = {
      "Longest, a minor collection", "Longest, of marking or sweeping", "Longest, a wait for a domain"};
  if (!collected) return list[name].label;
  if (name == FACT_PAUSES_longest_ns) return longest[samples->life.longest.kind];
  switch (name) {
  case FACT_TOTALS_allocated_blocks: return "Allocated blocks";
  case FACT_TOTALS_live_at_end_bytes: return "Not found dead";
  case FACT_TOTALS_live_at_end_blocks: return "Blocks not found dead";
  case FACT_PARTS_blocks: return "collected heap's blocks";
  default: return list[name].label;
  }
}

/* Whether a fact is twice as large in a run that does the same for twice as long. */
static bool adds_up(enum fact_name name) {
  switch (name) {
  case FACT_TOTALS_allocated_bytes:
  case FACT_TOTALS_allocated_blocks:
  case FACT_TOTALS_external_bytes:
  case FACT_TOTALS_brief_bytes:
  case FACT_HEAP_minor_words:
  case FACT_HEAP_direct_words:
  case FACT_HEAP_promoted_words:
  case FACT_HEAP_minor_collections:
  case FACT_HEAP_major_cycles:
  case FACT_PAUSES_count:
  case FACT_PAUSES_total_ns:
  case FACT_PAUSES_minor_count:
  case FACT_PAUSES_minor_ns:
  case FACT_PAUSES_slice_count:
  case FACT_PAUSES_slice_ns:
  case FACT_PAUSES_stop_count:
  case FACT_PAUSES_stop_ns: return true;
  default: return false;
  }
}

/* Counts of a part of a run, as of a program that was killed, are not those of another whole one. */
static bool is_comparable(const struct facts *facts, enum fact_name name) {
  enum fact_group group = list[name].group;
  const struct samples *samples = facts->report->samples;
  return (group != FACTS_HEAP && group != FACTS_PAUSES) ||
         heap_life_is_whole(&samples->life, samples->end_ns);
}

bool facts_change(const struct facts *before, const struct facts *after, enum fact_name name,
                  const struct estimate *scale, struct change *change) {
  const struct fact *had = &before->fact[name], *has = &after->fact[name];
  if (had->kind <= FACT_UNKNOWN || has->kind <= FACT_UNKNOWN || list[name].unit == UNIT_MOMENT ||
      !is_comparable(before, name) || !is_comparable(after, name))
    return false;
  const struct estimate once = {0};
  *change = change_of(had->value, has->value, adds_up(name) ? scale : &once);
  return true;
}
/* SPDX-License-Identifier: MIT */
