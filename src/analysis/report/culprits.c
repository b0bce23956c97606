/* Finds the functions that a verdict names: rules GROWTH and LATE of verdict.c.
 *
 * A growing program has more than one function that grows, as an interpreter that allocates hashes,
 * strings and their headers each in its own function. Which of them are SURE is chance where
 * several are near its bounds. So as soon as one is a culprit, the others are judged again:
 *   BESIDE: a function is a culprit beside others if it has CULPRIT_LEAST of the peak, it became
 *   more in at least half of the judged classes in which anything did, it has surely grown since
 *   the warm-up, and its last quarter is at least BESIDE_LAST of the mean quarter's, and surely
 *   BESIDE_LOW of it. Its old blocks stay or go as those of the culprits do. A vector that doubles
 *   is in few classes; a program that has to wait, as for memory at a limit, grows in few, too, but
 *   so do all of its functions. What is beside culprits changes neither the kind of the verdict nor
 *   whether there is one.
 * QUEUED: as in growth.c, and between the moments that it looks at, what the function holds never
 * fell by more than QUEUED_FALL of its growth. Only of the whole run, and of a process that lived for
 * half of the moments of the trace: of a shorter one too few moments tell.
 * ORDER: by how much each has surely grown since the warm-up of the stretch, which is the lower end
 * of the interval. */
#include "analysis/report/culprits.h"

#include "analysis/load/order.h"
#include "analysis/report/freed.h"
#include "base/error.h"
#include "base/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CALLER_SHARE = 0.9, LATE_LAST = 1, LATE_LOW = 0.5, LATE_RISEN = 0.75, BESIDE_LAST = 0.5,
                    BESIDE_LOW = 0.33, QUEUED_FALL = 0.25;

/* ---- functions and their callers ---- */

/* The label of the function that calls a node's: of itself, or of a part that the compiler made of
 * it, a function is no caller. */
static uint32_t culprits_caller_of(const struct call_tree *tree, uint32_t node) {
  uint32_t at = tree->nodes[node].parent;
  while (at && tree->nodes[at].label == tree->nodes[node].label) at = tree->nodes[at].parent;
  return tree->nodes[at].label;
}

static wn_status number_pairs(struct suspects *suspects) {
  const struct call_tree *tree = &suspects->table.tree;
  struct keyed *keyed = malloc(tree->node_count * sizeof *keyed);
  suspects->pair_of_node = malloc(tree->node_count * sizeof *suspects->pair_of_node);
  suspects->node_of_pair = malloc(tree->node_count * sizeof *suspects->node_of_pair);
  bool done = keyed && suspects->pair_of_node && suspects->node_of_pair;
  for (uint32_t i = 0; done && i < tree->node_count; i++) {
    uint64_t label = tree->nodes[i].label;
    keyed[i] = (struct keyed){label << 32 | culprits_caller_of(tree, i), i};
  }
  done = done && order_by_key(keyed, tree->node_count);
  for (size_t i = 0; done && i < tree->node_count; i++) {
    if (!i || keyed[i].key != keyed[i - 1].key) suspects->node_of_pair[suspects->pairs++] = keyed[i].item;
    suspects->pair_of_node[keyed[i].item] = (uint32_t)suspects->pairs - 1;
  }
  free(keyed);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the verdict");
}

static uint32_t label_of_pair(const struct suspects *suspects, size_t pair) {
  return suspects->table.tree.nodes[suspects->node_of_pair[pair]].label;
}

static uint32_t caller_of_pair(const struct suspects *suspects, size_t pair) {
  return culprits_caller_of(&suspects->table.tree, suspects->node_of_pair[pair]);
}

/* ---- culprits ---- */

/* A function, or a pair: a key of the tree's nodes. */
struct key {
  const struct suspects *suspects;
  const uint32_t *of_node; /* NULL: the key is a label */
  uint32_t key;
};

static bool is_of_key(const struct row *row, void *context) {
  const struct key *key = context;
  const struct call_tree *tree = &key->suspects->table.tree;
  uint32_t node = tree->node_of_row[row - key->suspects->report.samples->rows];
  return node != NO_NODE && (key->of_node ? key->of_node[node] : tree->nodes[node].label) == key->key;
}

static double judged_bytes(const struct growth *growth) {
  double bytes = 0;
  for (int i = WARM_UP; i < WARM_UP + JUDGED; i++) bytes += growth->alive[i];
  return bytes;
}

/* The first class that has its part; 0 where growth over the whole run has samples in the warm-up. Nothing
 * is concluded from the first class, in which tables are filled. */
static uint64_t since_of(const struct suspects *suspects, const struct growth *growth) {
  const struct report *report = &suspects->report;
  double part = judged_bytes(growth) / JUDGED;
  int class = 1;
  if (growth->queued) return 0;
  while (!suspects->late && class < WARM_UP)
    if (growth->alive[class ++] > 0) return 0;
  while (class < WARM_UP + QUARTER && growth->alive[class] < part / 2) class ++;
  return report->since_ns + (report->alive_ns - report->since_ns) / AGE_CLASSES * (uint64_t) class;
}

/* LATE: the most that it held before it began to grow. */
static double held_before(struct key *key, const struct growth *growth) {
  enum { MOMENTS = 128 };
  struct moment moments[MOMENTS];
  const struct report *report = &key->suspects->report;
  uint64_t class_ns = (report->alive_ns - report->since_ns) / AGE_CLASSES;
  double most = 0;
  timeline_curve(report->samples, is_of_key, key, moments, (struct moments_of){.count = MOMENTS});
  for (size_t i = 0; i < MOMENTS && moments[i].time_ns <= since_of(key->suspects, growth) + class_ns; i++)
    most = fmax(most, moments[i].live.bytes.total);
  return most;
}

/* LATE */
static bool grows_late(struct key *key, const struct growth *growth, double least) {
  double quarter = judged_bytes(growth) / QUARTERS;
  return growth->lately.estimate >= LATE_LAST * quarter && growth->lately.low >= LATE_LOW * quarter &&
         growth->bytes.estimate - held_before(key, growth) >= LATE_RISEN * least;
}

/* QUEUED */
static bool never_fell(struct key *key, const struct growth *growth) {
  enum { MOMENTS = 128, LEAST = MOMENTS / 2 };
  struct moment moments[MOMENTS];
  const struct report *report = &key->suspects->report;
  double most = 0, fall = 0;
  int lived = 0;
  timeline_curve(report->samples, is_of_key, key, moments, (struct moments_of){.count = MOMENTS});
  for (size_t i = 0; i < MOMENTS && moments[i].time_ns <= report->alive_ns; i++) {
    lived += moments[i].time_ns >= report->since_ns;
    most = fmax(most, moments[i].live.bytes.total);
    fall = fmax(fall, most - moments[i].live.bytes.total);
  }
  return lived >= LEAST && fall <= QUEUED_FALL * growth->net.estimate;
}

static bool culprits_is_culprit(struct key key, const struct growth *growth, double least, bool replaced) {
  if (growth->queued)
    return replaced && !key.suspects->late && growth->bytes.estimate >= least && never_fell(&key, growth);
  if (!growth->sure || growth->replaced != replaced || growth->bytes.estimate < least) return false;
  return !key.suspects->late || grows_late(&key, growth, least);
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

/* What calls main, or a script's main in its place, a reader knows; and a call in a function without a
 * name is called by nobody. */
static bool has_caller(const struct suspects *suspects, uint32_t number, uint32_t caller) {
  const struct label *labels = suspects->table.tree.labels;
  const struct strings *strings = suspects->report.names->strings;
  return caller && !labels[number].call &&
         strcmp(strings_text(strings, labels[number].function), "main") != 0 &&
         !text_begins(strings_text(strings, labels[caller].function), "__libc_start_");
}

static void add_suspect(struct verdict *verdict, struct key key, const struct growth *growth, uint32_t label,
                        uint32_t caller) {
  const struct suspects *suspects = key.suspects;
  const struct label *labels = suspects->table.tree.labels;
  struct culprit culprit = {.function = labels[label],
                            .caller =
                                has_caller(suspects, label, caller) ? labels[caller] : (struct label){0},
                            .bytes = growth->bytes,
                            .rate = growth->rate,
                            .grown = growth->net,
                            .since_ns = since_of(suspects, growth),
                            .process = suspects->report.process - 1, /* or NO_PROCESS */
                            .processes = 1};
  verdict->freed =
      (!verdict->culprits || verdict->freed) && freed_at_exit(&suspects->report, is_of_key, &key);
  culprit_add(verdict, &culprit);
}

/* Label 0 is that of stacks without frames, which name no culprit. */
static void add_culprits(struct verdict *verdict, const struct suspects *suspects, double least,
                         bool replaced) {
  for (uint32_t label = 1; label < suspects->table.tree.label_count; label++) {
    struct key key = {suspects, NULL, label};
    if (culprits_is_culprit(key, &suspects->functions[label], least, replaced))
      add_suspect(verdict, key, &suspects->functions[label], label, main_caller(suspects, label));
  }
  for (uint32_t pair = 0; pair < suspects->pairs; pair++) {
    uint32_t label = label_of_pair(suspects, pair);
    struct key key = {suspects, suspects->pair_of_node, pair};
    if (label && culprits_is_culprit(key, &suspects->paths[pair], least, replaced) &&
        !culprits_is_culprit((struct key){suspects, NULL, label}, &suspects->functions[label], least,
                             replaced))
      add_suspect(verdict, key, &suspects->paths[pair], label, caller_of_pair(suspects, pair));
  }
}

/* In how many judged classes it has become more. */
static int classes_of(const struct growth *growth) {
  int classes = 0;
  for (int i = WARM_UP; i < WARM_UP + JUDGED; i++) classes += growth->alive[i] > 0;
  return classes;
}

/* BESIDE */
static bool grows_beside(const struct suspects *suspects, const struct growth *growth, double least,
                         bool replaced) {
  double quarter = judged_bytes(growth) / QUARTERS;
  return growth->replaced == replaced && growth->bytes.estimate >= least &&
         2 * classes_of(growth) >= classes_of(&suspects->all) && growth->net.low > 0 &&
         growth->lately.estimate >= BESIDE_LAST * quarter && growth->lately.low > BESIDE_LOW * quarter;
}

static bool culprits_is_named(const struct verdict *verdict, const struct label *label) {
  for (size_t i = 0; i < verdict->culprits; i++)
    if (label_is_same(&verdict->culprit[i].function, label)) return true;
  return false;
}

static void add_those_beside(struct verdict *verdict, const struct suspects *suspects, double least) {
  for (uint32_t label = 1; label < suspects->table.tree.label_count; label++) {
    struct key key = {suspects, NULL, label};
    if (grows_beside(suspects, &suspects->functions[label], least, verdict->replaced) &&
        !culprits_is_named(verdict, &suspects->table.tree.labels[label]) &&
        (!verdict->freed || freed_at_exit(&suspects->report, is_of_key, &key)))
      add_suspect(verdict, key, &suspects->functions[label], label, main_caller(suspects, label));
  }
}

/* ---- shared ---- */

wn_status suspects_find(const struct report *report, struct suspects *suspects) {
  *suspects = (struct suspects){.report = *report};
  wn_status error =
      report_table(&suspects->report, MEASURE_ALLOCATED, BY_FUNCTION, TABLE_TREE_ONLY, &suspects->table);
  if (error) return error;
  error = number_pairs(suspects);
  suspects->functions = calloc(suspects->table.tree.label_count + 1, sizeof *suspects->functions);
  suspects->paths = calloc(suspects->pairs + 1, sizeof *suspects->paths);
  if (!error && (!suspects->functions || !suspects->paths))
    error = error_set(WN_ENOMEM, "not enough memory for the verdict");
  if (error) suspects_destroy(suspects);
  return error;
}

wn_status suspects_judge(struct suspects *suspects, const struct report *report, int stretch, double least) {
  uint64_t run_ns = report->alive_ns - report->since_ns;
  suspects->late = stretch > 0;
  suspects->report.since_ns = report->since_ns + run_ns / STRETCHES * (uint64_t)stretch;
  size_t labels = suspects->table.tree.label_count;
  uint32_t *one = calloc(suspects->table.tree.node_count + 1, sizeof *one);
  wn_status error =
      one ? table_order_resized(&suspects->table) : error_set(WN_ENOMEM, "not enough memory for the verdict");
  if (!error) error = table_growths(&suspects->table, NULL, labels, least / 2, suspects->functions);
  if (!error)
    error =
        table_growths(&suspects->table, suspects->pair_of_node, suspects->pairs, least / 2, suspects->paths);
  if (!error) error = table_growths(&suspects->table, one, 1, 0, &suspects->all);
  free(one);
  return error;
}

void suspects_destroy(struct suspects *suspects) {
  free(suspects->pair_of_node);
  free(suspects->node_of_pair);
  free(suspects->functions);
  free(suspects->paths);
  table_destroy(&suspects->table);
}

void culprit_add(struct verdict *verdict, const struct culprit *culprit) {
  size_t at = verdict->culprits < VERDICT_CULPRITS ? verdict->culprits++ : VERDICT_CULPRITS;
  for (; at && verdict->culprit[at - 1].grown.low < culprit->grown.low; at--)
    if (at < VERDICT_CULPRITS) verdict->culprit[at] = verdict->culprit[at - 1];
  if (at < VERDICT_CULPRITS) verdict->culprit[at] = *culprit;
}

void culprits_find(const struct suspects *suspects, double least, struct verdict *verdict) {
  add_culprits(verdict, suspects, least, false);
  verdict->replaced = !verdict->culprits;
  if (verdict->replaced) add_culprits(verdict, suspects, least, true);
  if (verdict->culprits)
    add_those_beside(verdict, suspects, least);
  else
    verdict->replaced = false;
}
/* SPDX-License-Identifier: MIT */
