/* The rules of the verdicts, in the order in which they are tried. Where the numbers do not decide, there
 * is no verdict: a wrong one costs its reader a day.
 *
 * What a report cannot know has no verdict: a trace with missing records, a profile of totals, several
 * processes (their ends are not one), a query, and what has no sample.
 *
 * GROWTH. The blocks that are alive at the end are judged twice, by the function that allocated them and
 * by that function together with its caller: a helper that everybody calls may leak for one caller alone.
 * A function is a culprit if its growth is sure (SURE in growth.c) and it has CULPRIT_LEAST of the peak.
 * Of a function and its callers, the pair is named only where the function as a whole is no culprit.
 *   LEAK: the program frees, in general: LEAK_FREES times what is alive at the end.
 *   GROWING: it does not. A program that reads its input into a table looks the same as one that leaks.
 *
 * LEVEL promises that a leak of CULPRIT_LEAST of the peak, over the whole run, would have been seen. Such
 * a leak adds a quarter of that in the last quarter of the run, and what it added between the warm-up and
 * the last quarter, MIDDLE of it, is alive at the end. Each function and pair that is alive with half of
 * CULPRIT_LEAST must surely have less of one of the two; and all blocks together may not seem to have
 * grown by CULPRIT_LEAST in the last quarter. Or hardly anything is alive at all.
 *
 * BRIEF: LEVEL, and the peak is BRIEF_PART of what was allocated, of which BRIEF_SHARE lived briefly.
 *
 * FEW: the interval of the peak is wider than FEW_WIDTH of it to a side.
 *
 * KEPT, UNWRITTEN and MAPPED are of resident memory, where it was measured and has at least BIG bytes.
 *   MAPPED: half of it is the program's own mappings, and they are twice what malloc's blocks can be.
 *   UNWRITTEN: what was held at the peak is at least twice the most that was ever resident, which the kernel
 * has counted: blocks that are written after the last measurement are not taken for unwritten ones.
 *   KEPT: there is no leak, and at the end malloc has told that half of it is free. If half of that was
 * still held in the last quarter of the run, the program may only be closing down, more slowly than
 * CLOSING allows for: then there is no verdict.
 * The first two are tried before all others: what leaks in malloc is then not what makes the program large.
 *
 * tests/analysis/test_verdict.c plants answers in made-up programs and prints how often each verdict is
 * right, wrong or not there. */
#include "analysis/verdict.h"

#include "analysis/order.h"
#include "analysis/resident.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>

static const double CULPRIT_LEAST = 0.1, LEAK_FREES = 3, BRIEF_PART = 0.01, BRIEF_SHARE = 0.9,
                    FEW_WIDTH = 0.4, BIG = 4e6, CALLER_SHARE = 0.9, LEVEL_WITHIN = 0.1,
                    MIDDLE = (double)(JUDGED - QUARTER) / AGE_CLASSES;

static const struct {
  const char *word, *title;
} kinds[VERDICT_KINDS] = {
#define VERDICT_KIND(NAME, word, title, what) {word, title},
    VERDICTS(VERDICT_KIND)
#undef VERDICT_KIND
};

static bool was_freed(const struct row *row, void *context) {
  const struct report *report = context;
  return row->last && row->died_ns <= report->alive_ns;
}

/* Whether the program frees in general: LEAK. Growth by realloc does not count, which allocates the
 * whole block anew. */
static bool frees(const struct report *report) {
  struct sum freed = {0};
  for (size_t i = 0; i < report->samples->row_count; i++) {
    const struct row *row = &report->samples->rows[i];
    if (row->probability > 0 && was_freed(row, (void *)report))
      sum_add(&freed, (double)row->size, row->probability);
  }
  return freed.total >= LEAK_FREES * report->alive.bytes.total;
}

/* ---- functions and their callers ---- */

/* The functions, and the functions with their callers, that a table of what is alive has. */
struct suspects {
  struct table table;
  uint32_t *pair_of_node; /* numbers the pairs of a function and its caller */
  uint32_t *node_of_pair; /* a node of each pair */
  size_t pairs;
  struct growth *functions, *paths; /* by label, by pair */
  struct growth all;
};

static wn_status number_pairs(struct suspects *suspects) {
  const struct call_tree *tree = &suspects->table.tree;
  struct keyed *keyed = malloc(tree->node_count * sizeof *keyed);
  suspects->pair_of_node = malloc(tree->node_count * sizeof *suspects->pair_of_node);
  suspects->node_of_pair = malloc(tree->node_count * sizeof *suspects->node_of_pair);
  bool done = keyed && suspects->pair_of_node && suspects->node_of_pair;
  for (uint32_t i = 0; done && i < tree->node_count; i++) {
    uint64_t caller = tree->nodes[tree->nodes[i].parent].label;
    keyed[i] = (struct keyed){(uint64_t)tree->nodes[i].label << 32 | caller, i};
  }
  done = done && order_by_key(keyed, tree->node_count);
  for (size_t i = 0; done && i < tree->node_count; i++) {
    if (!i || keyed[i].key != keyed[i - 1].key) suspects->node_of_pair[suspects->pairs++] = keyed[i].item;
    suspects->pair_of_node[keyed[i].item] = (uint32_t)suspects->pairs - 1;
  }
  free(keyed);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the verdict");
}

static wn_status judge(struct suspects *suspects) {
  size_t labels = suspects->table.tree.label_count;
  uint32_t *one = calloc(suspects->table.tree.node_count, sizeof *one);
  suspects->functions = calloc(labels + 1, sizeof *suspects->functions);
  suspects->paths = calloc(suspects->pairs + 1, sizeof *suspects->paths);
  wn_status error = one && suspects->functions && suspects->paths
                        ? WN_OK
                        : error_set(WN_ENOMEM, "not enough memory for the verdict");
  if (!error) error = table_growths(&suspects->table, NULL, labels, suspects->functions);
  if (!error)
    error = table_growths(&suspects->table, suspects->pair_of_node, suspects->pairs, suspects->paths);
  if (!error) error = table_growths(&suspects->table, one, 1, &suspects->all);
  free(one);
  return error;
}

static void suspects_destroy(struct suspects *suspects) {
  free(suspects->pair_of_node);
  free(suspects->node_of_pair);
  free(suspects->functions);
  free(suspects->paths);
  table_destroy(&suspects->table);
}

static wn_status suspects_find(const struct report *report, struct suspects *suspects) {
  *suspects = (struct suspects){.pairs = 0};
  wn_status error =
      report_table(report, MEASURE_ALIVE, BY_FUNCTION, TABLE_GROWTH | TABLE_TREE_ONLY, &suspects->table);
  if (error) return error;
  error = number_pairs(suspects);
  if (!error) error = judge(suspects);
  if (error) suspects_destroy(suspects);
  return error;
}

static uint32_t label_of_pair(const struct suspects *suspects, size_t pair) {
  return suspects->table.tree.nodes[suspects->node_of_pair[pair]].label;
}

static uint32_t caller_of_pair(const struct suspects *suspects, size_t pair) {
  const struct tree_node *nodes = suspects->table.tree.nodes;
  return nodes[nodes[suspects->node_of_pair[pair]].parent].label;
}

/* ---- culprits ---- */

static bool is_culprit(const struct growth *growth, double peak) {
  return growth->sure && growth->bytes.estimate >= CULPRIT_LEAST * peak;
}

static void add_culprit(struct verdict *verdict, const struct culprit *culprit) {
  size_t at = verdict->culprits < VERDICT_CULPRITS ? verdict->culprits++ : VERDICT_CULPRITS;
  for (; at && verdict->culprit[at - 1].rate.estimate < culprit->rate.estimate; at--)
    if (at < VERDICT_CULPRITS) verdict->culprit[at] = verdict->culprit[at - 1];
  if (at < VERDICT_CULPRITS) verdict->culprit[at] = *culprit;
}

/* The caller of nearly all that a function holds; 0 if there is none. */
static uint32_t main_caller(const struct suspects *suspects, uint32_t label) {
  double whole = suspects->functions[label].bytes.estimate;
  for (size_t pair = 0; pair < suspects->pairs; pair++)
    if (label_of_pair(suspects, pair) == label &&
        suspects->paths[pair].bytes.estimate >= CALLER_SHARE * whole)
      return caller_of_pair(suspects, pair);
  return 0;
}

static void add_suspect(struct verdict *verdict, const struct suspects *suspects, const struct growth *growth,
                        uint32_t label, uint32_t caller) {
  const struct label *labels = suspects->table.tree.labels;
  struct culprit culprit = {labels[label], caller ? labels[caller] : (struct label){0}, growth->bytes,
                            growth->rate};
  add_culprit(verdict, &culprit);
}

/* Label 0 is that of stacks without frames, which name no culprit. */
static void find_culprits(struct verdict *verdict, const struct suspects *suspects, double peak) {
  for (uint32_t label = 1; label < suspects->table.tree.label_count; label++)
    if (is_culprit(&suspects->functions[label], peak))
      add_suspect(verdict, suspects, &suspects->functions[label], label, main_caller(suspects, label));
  for (size_t pair = 0; pair < suspects->pairs; pair++) {
    uint32_t label = label_of_pair(suspects, pair);
    if (label && is_culprit(&suspects->paths[pair], peak) && !is_culprit(&suspects->functions[label], peak))
      add_suspect(verdict, suspects, &suspects->paths[pair], label, caller_of_pair(suspects, pair));
  }
}

/* ---- level ---- */

static bool may_hide_a_leak(const struct growth *growth, double leak) {
  return growth->bytes.estimate >= leak / 2 && growth->lately.high >= leak / 4 &&
         growth->middle.high >= leak * MIDDLE;
}

static bool is_level(const struct report *report, const struct suspects *suspects, double peak) {
  double leak = CULPRIT_LEAST * peak;
  if (report_bytes(report, &report->alive).high < leak) return true;
  if (suspects->all.lately.estimate >= leak) return false;
  for (uint32_t label = 0; label < suspects->table.tree.label_count; label++)
    if (may_hide_a_leak(&suspects->functions[label], leak)) return false;
  for (size_t pair = 0; pair < suspects->pairs; pair++)
    if (may_hide_a_leak(&suspects->paths[pair], leak)) return false;
  return true;
}

/* Since when what is held is within LEVEL_WITHIN of the peak of what it is at the end. */
static uint64_t level_since(const struct report *report, double peak) {
  enum { MOMENTS = 128 };
  struct moment moments[MOMENTS];
  timeline_curve(report->samples, report_takes, (void *)report, moments, MOMENTS);
  size_t last = MOMENTS - 1;
  while (last && moments[last].time_ns > report->alive_ns) last--;
  double end = moments[last].live.bytes.total;
  while (last && fabs(moments[last - 1].live.bytes.total - end) <= LEVEL_WITHIN * peak) last--;
  return moments[last].time_ns;
}

/* ---- the others ---- */

static bool is_brief(const struct report *report, double peak) {
  struct estimate brief = report_share(report, &report->brief, &report->allocated);
  return peak <= BRIEF_PART * report->allocated.bytes.total && brief.low >= BRIEF_SHARE;
}

static bool is_unknown(const struct estimate *peak) {
  double wide = fmax(peak->high - peak->estimate, peak->estimate - peak->low);
  return wide > FEW_WIDTH * peak->estimate;
}

/* The report's own moment, or the end. */
static struct resident resident_at_end(const struct report *report) {
  struct report end = *report;
  end.at = AT_END;
  end.asked.time_ns = report->alive_ns;
  return report_resident(&end);
}

static bool is_kept(const struct report *report, struct verdict *verdict) {
  struct resident resident = resident_at_end(report);
  if (!resident.measured || (double)resident.rss_bytes < BIG || report->samples->collected) return false;
  struct resident_parts parts = resident_parts(report, &resident);
  if (!parts.told) return false;
  verdict->bytes = parts.part[PART_FREE].low + parts.part[PART_UNWRITTEN].estimate;
  verdict->time_ns = resident.time_ns;
  return verdict->bytes >= 0.5 * (double)resident.rss_bytes;
}

/* Whether half of so many bytes were still held as the last quarter of the run began. */
static bool freed_lately(const struct report *report, double bytes) {
  enum { MOMENTS = 128 };
  struct moment moments[MOMENTS];
  timeline_curve(report->samples, report_takes, (void *)report, moments, MOMENTS);
  return moments[MOMENTS - MOMENTS / 4].live.bytes.total >= 0.5 * bytes;
}

static bool is_unwritten(const struct report *report, struct verdict *verdict) {
  struct resident resident = report_resident(report);
  double held = report_bytes(report, &report->peak.live).low;
  verdict->bytes = fmax(held - (double)resident.most_bytes, 0);
  verdict->time_ns = report->peak.median_ns;
  return resident.counted && verdict->bytes >= BIG && verdict->bytes >= 0.5 * held;
}

static bool is_mapped(const struct report *report, struct verdict *verdict) {
  struct resident resident = report_resident(report);
  if (!resident.measured || (double)resident.rss_bytes < BIG) return false;
  struct sums held = resident_parts(report, &resident).held;
  verdict->bytes = resident.mapped_private + resident.mapped_files;
  verdict->time_ns = resident.time_ns;
  return verdict->bytes >= 0.5 * (double)resident.rss_bytes &&
         verdict->bytes >= 2 * report_bytes(report, &held).high;
}

static bool judge_by(bool (*is)(const struct report *report, struct verdict *verdict), enum verdict_kind kind,
                     const struct report *report, struct verdict *verdict) {
  if (is(report, verdict)) return verdict->kind = kind, true;
  verdict->bytes = 0, verdict->time_ns = 0;
  return false;
}

static bool can_be_judged(const struct report *report) {
  const struct source_limits *limits = source_limits(report->samples->source);
  return !report->query && !report->recording->without_ranges && report->samples->process_count < 2 &&
         !limits->totals && !limits->no_lives && report_has_rate(report);
}

static wn_status judge_growth(const struct report *report, const struct estimate *peak,
                              struct verdict *verdict) {
  struct suspects suspects;
  wn_status error = suspects_find(report, &suspects);
  if (error) return error;
  find_culprits(verdict, &suspects, peak->estimate);
  if (verdict->culprits) {
    verdict->kind = frees(report) ? VERDICT_LEAK : VERDICT_GROWING;
  } else if (judge_by(is_kept, VERDICT_KEPT, report, verdict)) {
    if (freed_lately(report, verdict->bytes)) *verdict = (struct verdict){.kind = VERDICT_NONE};
  } else if (is_unknown(peak)) {
    verdict->kind = VERDICT_FEW;
  } else if (is_level(report, &suspects, peak->estimate)) {
    verdict->kind = is_brief(report, peak->estimate) ? VERDICT_BRIEF : VERDICT_LEVEL;
    verdict->time_ns = level_since(report, peak->estimate);
  }
  suspects_destroy(&suspects);
  return WN_OK;
}

/* ---- shared ---- */

const char *verdict_word(enum verdict_kind kind) { return kinds[kind].word; }
const char *verdict_title(enum verdict_kind kind) { return kinds[kind].title; }

wn_status verdict_find(const struct report *report, struct verdict *verdict) {
  *verdict = (struct verdict){.kind = VERDICT_NONE};
  if (!can_be_judged(report)) return WN_OK;
  struct estimate peak = report_bytes(report, &report->peak.live);
  if (judge_by(is_mapped, VERDICT_MAPPED, report, verdict) ||
      judge_by(is_unwritten, VERDICT_UNWRITTEN, report, verdict))
    return WN_OK;
  if (peak.samples) return judge_growth(report, &peak, verdict);
  if (!judge_by(is_kept, VERDICT_KEPT, report, verdict) && report->recording->rate < 1)
    verdict->kind = VERDICT_FEW;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
