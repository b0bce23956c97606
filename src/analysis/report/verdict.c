/* The rules of the verdicts, in the order in which they are tried. Where the numbers do not decide, there
 * is no verdict: a wrong one costs its reader a day.
 *
 * What a report cannot know has no verdict: a trace with missing records, a profile of totals, a
 * query, and what has no sample.
 *
 * GROWTH. The blocks that are alive at the end are judged twice, by the function that allocated them and
 * by that function together with its caller: a helper that everybody calls may leak for one caller alone.
 * A function is a culprit if its growth is sure (SURE in growth.c) and it has CULPRIT_LEAST of the peak.
 * Of a function and its callers, the pair is named only where the function as a whole is no culprit.
 * Beside a culprit there can be others whose growth is less sure: BESIDE in culprits.c.
 *   LEAK: the program frees, in general (freed.h), not all culprits at its exit, and it is not BEGUN.
 * Culprits whose old blocks stay (REPLACED in growth.c) come first. If there are none, those whose old blocks go,
 * too, are GROWING: a cache that replaces its entries and is not full yet does the same. So is a queue that
 * grows though each of its blocks goes (QUEUED).
 *   GROWING: it does not. A program that reads its input into a table looks the same as one that
 * leaks. So does one that keeps its data until it frees all of it as it ends: it has lost none.
 *
 * BEGUN: a process that ran for less than LEAK_RUN_NS. It reads its input and fills its caches for the first
 * time, so all that it keeps has only grown, and what it frees in between does not tell that apart. Nor does
 * memory run out in that time. Growth of it is GROWING.
 * The end is CLOSING (recording.h): a program that closes down frees its leaks, too.
 *
 * LATE. If nothing grew over the whole run, the same is asked of its last three quarters, and of
 * its last half. A program that began its last phase looks the same as one that began to leak, so
 * growth since the half is GROWING, and it takes more: the last quarter of the stretch has at least
 * LATE_LAST of a mean quarter, surely LATE_LOW of it, and what the function holds is more by
 * LATE_RISEN of CULPRIT_LEAST than it ever held before it began to grow. What is filled and emptied
 * again and again has held as much before. Later growth has no verdict.
 *
 * LEVEL promises that a leak of CULPRIT_LEAST of the peak that began in the first three quarters of
 * the run would have been seen. If it began as a stretch did, it adds a quarter of that in the last
 * quarter of the stretch, NET of it since the warm-up, and what it added between the two, MIDDLE of
 * it, is alive at the end. If it began later, but in the first half of the stretch, it adds at
 * least LEVEL_SLACK of each. So for the run, its last half and its last quarter, each function and
 * pair that is alive with half of CULPRIT_LEAST must surely have less of one of the three, where a loss of as
 * much is not less, since it hides what was added; and all blocks together may not seem to have grown by
 * CULPRIT_LEAST in the last quarter of the run. Or hardly anything is alive at all. A process that was
 * killed for memory, or probably was, has no LEVEL: it stood still in its last moments, while the system
 * looked for memory.
 *
 * SEVERAL processes are judged one by one by GROWTH and LATE, each from its start to its end: those
 * that have a part of what all held, and did not live for a small part of the time of the longest.
 * Culprits that are the same function are added up, and have CULPRIT_LEAST of the peak of all
 * together. Resident memory is that of all. No other verdict is tried.
 *
 * BRIEF: LEVEL, and the peak is BRIEF_PART of what was allocated, of which BRIEF_SHARE lived briefly.
 *
 * FEW: the interval of the peak is wider than FEW_WIDTH of it to a side.
 *
 * KEPT, UNWRITTEN and MAPPED are of resident memory, where it was measured and has at least BIG bytes.
 *   MAPPED: half of it is the program's own mappings, and they are twice what malloc's blocks can be.
 *   UNWRITTEN: what was held at the peak is at least twice the most that was ever resident, which the kernel
 * has counted: blocks that are written after the last measurement are not taken for unwritten ones.
 *   KEPT: there is no leak, and malloc has told at the end that half of it is free, and had it free for
 * all of the last quarter of the run: what was held at any moment of that and is not held at the end
 * does not count. The program may only be closing down, more slowly than CLOSING allows for; or it works
 * in batches, each of which uses again what the one before left.
 * The first two are tried before all others: what leaks in malloc is then not what makes the program large.
 * What GROWTH, LATE and LEVEL say of the blocks stands beside each of the three (`blocks`).
 *
 * tests/analysis/test_verdict.c plants answers in made-up programs and prints how often each verdict is
 * right, wrong or not there. */
#include "analysis/report/verdict.h"

#include "analysis/load/memory_limit.h"
#include "analysis/report/culprits.h"
#include "analysis/report/freed.h"
#include "analysis/report/resident.h"
#include <math.h>
#include <stdlib.h>

static const double CULPRIT_LEAST = 0.1, BRIEF_PART = 0.01, BRIEF_SHARE = 0.9, FEW_WIDTH = 0.4, BIG = 4e6,
                    LEVEL_WITHIN = 0.1, LEVEL_SLACK = 0.8, MIDDLE = (double)(JUDGED - QUARTER) / AGE_CLASSES,
                    NET = (double)(AGE_CLASSES - WARM_UP) / AGE_CLASSES;

static const uint64_t LEAK_RUN_NS = 1000000000;

/* The latest stretch that tells a leak, and growth; and the one of which LEVEL asks nothing. */
enum { LEAK_LATEST = 1, GROWING_LATEST = 2, LEVEL_SKIPS = 1 };

/* SEVERAL: at least this part of what all held, so at most so many processes; and of the longest's
 * time. */
enum { PROCESSES_MOST = 32, PROCESS_LIVES = 10 };

static const struct {
  const char *word, *title;
} kinds[VERDICT_KINDS] = {
#define VERDICT_KIND(NAME, word, title, what) {word, title},
    VERDICTS(VERDICT_KIND)
#undef VERDICT_KIND
};

/* ---- level ---- */

/* Whether a leak may have added so much to a change; or what went hides it. */
static bool may_have_added(const struct estimate *change, double bytes) {
  return change->high >= bytes || change->estimate <= -bytes;
}

static bool may_hide_a_leak(const struct growth *growth, double leak) {
  double least = LEVEL_SLACK * leak;
  return growth->bytes.estimate >= leak / 2 && growth->middle.high >= least * MIDDLE &&
         may_have_added(&growth->lately, least / QUARTERS) && may_have_added(&growth->net, least * NET);
}

/* Whether a leak that began with the stretch, or in its first half, would be seen. */
static bool is_level(const struct suspects *suspects, double leak) {
  if (!suspects->late && suspects->all.lately.estimate >= leak) return false;
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
  timeline_curve(report->samples, report_selects, (void *)report, moments,
                 (struct moments_of){.count = MOMENTS});
  size_t last = MOMENTS - 1;
  while (last && moments[last].time_ns > report->alive_ns) last--;
  double end = moments[last].live.bytes.total;
  while (last && fabs(moments[last - 1].live.bytes.total - end) <= LEVEL_WITHIN * peak) last--;
  return moments[last].time_ns;
}

/* ---- the others ---- */

static bool verdict_is_brief(const struct report *report, double peak) {
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

/* KEPT: how much more was held in the quarter of the run before a moment than these bytes at it. */
static double freed_lately(const struct report *report, uint64_t time_ns, double bytes) {
  enum { MOMENTS = 512 };
  struct moment moments[MOMENTS];
  uint64_t quarter_ns = (report->alive_ns - report->since_ns) / 4;
  double most = bytes;
  timeline_curve(report->samples, report_selects, (void *)report, moments,
                 (struct moments_of){.count = MOMENTS});
  for (size_t i = 0; i < MOMENTS && moments[i].time_ns <= time_ns; i++)
    if (moments[i].time_ns + quarter_ns >= time_ns) most = fmax(most, moments[i].live.bytes.total);
  return most - bytes;
}

static bool verdict_is_kept(const struct report *report, struct verdict *verdict) {
  struct resident resident = resident_at_end(report);
  if (!resident.measured || (double)resident.rss_bytes < BIG || report->samples->collected) return false;
  struct resident_parts parts = resident_parts(report, &resident);
  if (!parts.answered) return false;
  verdict->bytes = parts.part[PART_FREE].low + parts.part[PART_UNWRITTEN].estimate;
  verdict->time_ns = resident.time_ns;
  verdict->whole = (double)resident.rss_bytes;
  double least = 0.5 * (double)resident.rss_bytes,
         lately = freed_lately(report, resident.time_ns, parts.held.bytes.total);
  return verdict->bytes >= least && verdict->bytes - lately >= least;
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
  verdict->bytes = verdict->whole = 0, verdict->time_ns = 0;
  return false;
}

static bool can_be_judged(const struct report *report) {
  const struct source_limits *limits = source_limits(report->samples->source);
  return !report->query && !report->recording->without_ranges && !limits->totals && !limits->no_lives &&
         report_has_rate(report) && report_is_awake(report);
}

/* Finds culprits, and if there are none, whether it is sure that there are none. */
static wn_status judge_growth(const struct report *report, double peak, struct verdict *verdict,
                              bool *is_sure) {
  struct suspects suspects;
  double least = CULPRIT_LEAST * peak;
  wn_status error = suspects_find(report, &suspects);
  if (error) return error;
  *is_sure = true;
  for (int stretch = 0; !error && stretch < STRETCHES && !verdict->culprits; stretch++) {
    if (stretch > GROWING_LATEST && !*is_sure) break;
    error = suspects_judge(&suspects, report, stretch, least);
    if (!error && !stretch) verdict->net = suspects.all.net;
    if (!error && stretch <= GROWING_LATEST) culprits_find(&suspects, least, verdict);
    if (!error && stretch != LEVEL_SKIPS) *is_sure = *is_sure && is_level(&suspects, least);
    if (!verdict->culprits) continue;
    verdict->begun = report->alive_ns - report->since_ns < LEAK_RUN_NS;
    bool leaks = stretch <= LEAK_LATEST && !verdict->begun && !verdict->replaced && !verdict->freed &&
                 freed_in_general(&suspects.report);
    verdict->kind = leaks ? VERDICT_LEAK : VERDICT_GROWING;
  }
  verdict->time_ns = verdict->culprits ? verdict->culprit[0].since_ns : 0;
  suspects_destroy(&suspects);
  return error;
}

static wn_status judge_one(const struct report *report, const struct estimate *peak,
                           struct verdict *verdict) {
  double leak = CULPRIT_LEAST * peak->estimate;
  bool is_sure;
  wn_status error = judge_growth(report, peak->estimate, verdict, &is_sure);
  if (error || verdict->culprits) return error;
  bool is_few = is_unknown(peak);
  is_sure = !is_few && !memory_ran_out(report->samples) &&
            (is_sure || report_bytes(report, &report->alive).high < leak);
  if (judge_by(verdict_is_kept, VERDICT_KEPT, report, verdict)) {
    if (is_sure) verdict->blocks = VERDICT_LEVEL;
    return WN_OK;
  }
  *verdict = (struct verdict){.kind = VERDICT_UNDECIDED, .net = verdict->net};
  if (is_few) {
    verdict->kind = VERDICT_FEW;
  } else if (is_sure) {
    verdict->kind = verdict_is_brief(report, peak->estimate) ? VERDICT_BRIEF : VERDICT_LEVEL;
    verdict->time_ns = level_since(report, peak->estimate);
  }
  return WN_OK;
}

/* ---- several processes ---- */

/* SEVERAL. What a process held at the peak of all, or left. */
static double *held_by_process(const struct report *report) {
  const struct samples *samples = report->samples;
  double *held = calloc(samples->process_count, sizeof *held);
  for (size_t i = 0; held && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (row->probability > 0 && (row_is_left(row) || row_is_live_at(row, report->peak.median_ns)))
      held[process_of(samples, row->thread)] += (double)row->size / row->probability;
  }
  return held;
}

static uint64_t lived_ns(const struct process *process) { return process->last_ns - process->begin_ns; }

/* The processes that are judged. Without memory none. */
static size_t choose_processes(const struct report *report, uint32_t chosen[PROCESSES_MOST]) {
  const struct samples *samples = report->samples;
  double *held = held_by_process(report), all = 0;
  uint64_t longest_ns = 0;
  size_t count = 0;
  for (uint32_t i = 0; held && i < samples->process_count; i++) {
    all += held[i];
    if (lived_ns(&samples->processes[i]) > longest_ns) longest_ns = lived_ns(&samples->processes[i]);
  }
  for (uint32_t i = 0; held && i < samples->process_count && count < PROCESSES_MOST; i++)
    if (held[i] > all / PROCESSES_MOST && lived_ns(&samples->processes[i]) >= longest_ns / PROCESS_LIVES)
      chosen[count++] = i;
  free(held);
  return count;
}

static wn_status judge_process(const struct report *report, uint32_t process, struct verdict *verdict) {
  struct report one;
  bool is_sure;
  wn_status error = report_ask(report->recording, &(struct question){.process = process + 1}, &one);
  if (error) return error;
  if (one.peak.live.bytes.samples && one.alive_ns > one.since_ns)
    error = judge_growth(&one, one.peak.live.bytes.total, verdict, &is_sure);
  report_destroy(&one);
  return error;
}

static void add_estimate(struct estimate *sum, const struct estimate *part) {
  sum->estimate += part->estimate, sum->low += part->low, sum->high += part->high;
  sum->samples += part->samples;
}

static bool verdict_is_same(const struct culprit *one, const struct culprit *other) {
  return one->function.function == other->function.function &&
         one->function.module == other->function.module && one->caller.function == other->caller.function;
}

/* Adds up the culprits of one kind that are the same in several processes. */
static void verdict_add_up(const struct verdict *found, size_t count, enum verdict_kind kind, double least,
                           struct verdict *verdict) {
  struct culprit sums[PROCESSES_MOST * VERDICT_CULPRITS];
  size_t functions = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; found[i].kind == kind && j < found[i].culprits; j++) {
      const struct culprit *culprit = &found[i].culprit[j];
      size_t at = 0;
      while (at < functions && !verdict_is_same(&sums[at], culprit)) at++;
      if (at == functions) {
        sums[functions++] = *culprit;
        continue;
      }
      add_estimate(&sums[at].bytes, &culprit->bytes);
      add_estimate(&sums[at].rate, &culprit->rate);
      add_estimate(&sums[at].grown, &culprit->grown);
      sums[at].processes++;
    }
  for (size_t i = 0; i < functions; i++)
    if (sums[i].bytes.estimate >= least) culprit_add(verdict, &sums[i]);
  if (verdict->culprits) verdict->kind = kind;
  for (size_t i = 0; i < count; i++) {
    verdict->begun = verdict->begun || (found[i].kind == kind && found[i].begun);
    verdict->replaced = verdict->replaced || (found[i].kind == kind && found[i].replaced);
    verdict->freed = verdict->freed || (found[i].kind == kind && found[i].freed);
  }
}

static wn_status judge_processes(const struct report *report, struct verdict *verdict) {
  uint32_t chosen[PROCESSES_MOST];
  struct verdict found[PROCESSES_MOST] = {{.kind = VERDICT_NONE}};
  size_t count = choose_processes(report, chosen);
  double least = CULPRIT_LEAST * report->peak.live.bytes.total;
  wn_status error = WN_OK;
  for (size_t i = 0; !error && i < count; i++) error = judge_process(report, chosen[i], &found[i]);
  if (error) return error;
  verdict_add_up(found, count, VERDICT_LEAK, least, verdict);
  if (!verdict->culprits) verdict_add_up(found, count, VERDICT_GROWING, least, verdict);
  if (!verdict->culprits) verdict->kind = VERDICT_UNDECIDED;
  verdict->time_ns = verdict->culprits ? verdict->culprit[0].since_ns : 0;
  return WN_OK;
}

/* ---- shared ---- */

const char *verdict_word(enum verdict_kind kind) { return kinds[kind].word; }
const char *verdict_title(enum verdict_kind kind) { return kinds[kind].title; }

wn_status verdict_find(const struct report *report, struct verdict *verdict) {
  struct verdict memory = {.kind = VERDICT_NONE};
  struct estimate peak = report_bytes(report, &report->peak.live);
  wn_status error = WN_OK;
  *verdict = (struct verdict){.kind = VERDICT_NONE};
  if (!can_be_judged(report)) return WN_OK;
  bool is_other = judge_by(is_mapped, VERDICT_MAPPED, report, &memory) ||
                  judge_by(is_unwritten, VERDICT_UNWRITTEN, report, &memory);
  if (report->samples->process_count > 1)
    error = judge_processes(report, verdict);
  else if (peak.samples)
    error = judge_one(report, &peak, verdict);
  else if (!judge_by(verdict_is_kept, VERDICT_KEPT, report, verdict) && report->recording->rate < 1)
    verdict->kind = VERDICT_FEW;
  if (error || !is_other) return error;
  bool is_level = verdict->kind == VERDICT_LEVEL || verdict->kind == VERDICT_BRIEF;
  verdict->blocks = is_level ? VERDICT_LEVEL : verdict->culprits ? verdict->kind : verdict->blocks;
  verdict->kind = memory.kind;
  verdict->bytes = memory.bytes;
  verdict->time_ns = memory.time_ns;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
