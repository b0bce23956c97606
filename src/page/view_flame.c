/* The view `flame`: the boxes of a flame graph, in pre-order. */
#include "base/array.h"
#include "base/error.h"
#include "page/flame.h"
#include "page/labels.h"
#include "page/views.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A branch whose total is less than this share of what is shown is merged with its siblings. */
static const double least_share = 1.0 / 4096;

/* A branch passes on to a child that has so much of what the chain of both began with. */
static const double passed_share = 0.95;

enum { SEPARATOR = 0x1f };

/* A branch whose box is written, and whose children are being written. */
struct open_box {
  uint32_t box;
  size_t next, end; /* its children that are not yet written: flame->branches */
  struct flame_mark mark;
};

/* What the first branch of a chain has: viewer/src/flame/chains.ts. */
struct chain {
  bool begun;
  double bytes, blocks;
};

struct writing {
  struct flame flame;
  struct labels labels;
  const struct report *report;
  const struct pair *pair; /* of a comparison, or NULL */
  struct estimate scale;   /* pair_scale */
  struct answer *answer;
  size_t next, label, bytes, low, high, self, blocks, samples, merged; /* columns */
  size_t before, after, change;                                        /* of a comparison */
  struct open_box *open;
  size_t depth, open_capacity;
};

static void view_flame_add_columns(struct writing *writing) {
  writing->next = answer_integers(writing->answer, "next");
  writing->label = answer_integers(writing->answer, "label");
  writing->bytes = answer_numbers(writing->answer, "bytes");
  writing->low = answer_numbers(writing->answer, "low");
  writing->high = answer_numbers(writing->answer, "high");
  writing->self = answer_numbers(writing->answer, "self");
  writing->blocks = answer_numbers(writing->answer, "blocks");
  writing->samples = answer_integers(writing->answer, "samples");
  writing->merged = answer_integers(writing->answer, "merged");
  if (!writing->pair) return;
  writing->before = answer_numbers(writing->answer, "before");
  writing->after = answer_numbers(writing->answer, "after");
  writing->change = answer_numbers(writing->answer, "change");
}

/* What the box has: bytes, or, of a comparison, the change. */
static struct estimate view_flame_write_estimate(struct writing *writing, const struct branch *branch) {
  struct answer *answer = writing->answer;
  struct estimate bytes = report_bytes(writing->report, &branch->total.after);
  if (writing->pair) {
    struct estimate before = report_bytes(&writing->pair->before, &branch->total.before);
    struct change change = change_of(before, bytes, &writing->scale);
    answer_number(answer, writing->before, change.before.estimate);
    answer_number(answer, writing->after, change.after.estimate);
    answer_number(answer, writing->change, change.difference.estimate);
    return change.difference;
  }
  return bytes;
}

static double view_flame_blocks_of(const struct writing *writing, const struct branch *branch) {
  return branch->total.after.blocks.total + writing->flame.scale * branch->total.before.blocks.total;
}

static uint32_t write_box(struct writing *writing, const struct branch *branch) {
  struct answer *answer = writing->answer;
  uint32_t box = (uint32_t)answer->columns[writing->next].count;
  bool labelled = branch->label && branch->label != MERGED;
  answer_integer(answer, writing->next, box + 1);
  answer_integer(answer, writing->label,
                 labelled ? labels_number(&writing->labels, branch->label) : NO_LABEL);
  struct estimate estimate = view_flame_write_estimate(writing, branch);
  answer_number(answer, writing->bytes, branch->size);
  answer_number(answer, writing->low, estimate.low);
  answer_number(answer, writing->high, estimate.high);
  answer_number(answer, writing->self, flame_size(&writing->flame, &branch->self));
  answer_number(answer, writing->blocks, view_flame_blocks_of(writing, branch));
  answer_integer(answer, writing->samples, (uint32_t)estimate.samples);
  answer_integer(answer, writing->merged, branch->merged);
  return box;
}

static bool view_flame_push(struct writing *writing, struct open_box box) {
  return ARRAY_ADD(writing->open, writing->depth, writing->open_capacity, box);
}

/* Finds the children of a branch, and writes its box. */
static wn_status open_branch(struct writing *writing, struct branch *branch) {
  struct open_box box = {.mark = flame_open(&writing->flame)};
  if (branch->label != MERGED) {
    wn_status error = flame_children(&writing->flame, branch);
    if (error) return error;
  }
  box.box = write_box(writing, branch);
  box.next = box.mark.branches;
  box.end = writing->flame.branch_count;
  return view_flame_push(writing, box) ? WN_OK
                                       : error_set(WN_ENOMEM, "not enough memory for the flame graph");
}

static void close_branch(struct writing *writing) {
  struct open_box *box = &writing->open[--writing->depth];
  uint32_t count = (uint32_t)writing->answer->columns[writing->next].count;
  answer_set_integer(writing->answer, writing->next, box->box, count);
  flame_close(&writing->flame, box->mark);
}

static wn_status write_boxes(struct writing *writing, struct branch *root) {
  wn_status error = open_branch(writing, root);
  while (writing->depth && !error) {
    struct open_box *box = &writing->open[writing->depth - 1];
    if (box->next == box->end) {
      close_branch(writing);
      continue;
    }
    struct branch child = writing->flame.branches[box->next++];
    error = open_branch(writing, &child);
  }
  return error;
}

/* The child of a branch with this text; the largest one if several functions have the name. */
static const struct branch *child_named(struct writing *writing, size_t first, const char *text,
                                        size_t length) {
  char name[LABEL_TEXT_MOST];
  for (size_t i = first; i < writing->flame.branch_count; i++) {
    labels_text(&writing->labels, writing->flame.branches[i].label, name);
    if (strlen(name) == length && !memcmp(name, text, length)) return &writing->flame.branches[i];
  }
  return NULL;
}

static void begin_chain(const struct writing *writing, struct chain *chain, const struct branch *branch) {
  if (!chain->begun) *chain = (struct chain){true, branch->size, view_flame_blocks_of(writing, branch)};
}

/* Whether a branch passes on to `child`: it has nothing itself, and that child has nearly all of what
 * the chain began with. Else the chain ends. */
static bool passes(const struct writing *writing, struct chain *chain, const struct branch *branch,
                   const struct branch *child) {
  const struct sums *after = &branch->self.after, *before = &branch->self.before;
  begin_chain(writing, chain, branch);
  chain->begun = !after->bytes.samples && !before->bytes.samples &&
                 flame_size(&writing->flame, &branch->self) <= 0 && child->size > 0 &&
                 child->size >= passed_share * chain->bytes &&
                 view_flame_blocks_of(writing, child) >= passed_share * chain->blocks;
  return chain->begun;
}

static void write_chain(struct writing *writing, struct chain *chain, const struct branch *root) {
  size_t column = answer_numbers(writing->answer, "chain");
  begin_chain(writing, chain, root);
  answer_number(writing->answer, column, chain->bytes);
  answer_number(writing->answer, column, chain->blocks);
}

/* Descends along a path of texts, and writes the member `trail`, the column `passing`, which has a number
 * for each label but the last, and the column `chain`. The one function, if it is the first label, is in no
 * chain. Ends where the path leads nowhere, as it may under another query. */
static wn_status descend(struct writing *writing, const char *focus, struct branch *branch) {
  struct json *json = &writing->answer->json;
  wn_status error = WN_OK;
  size_t passing = answer_integers(writing->answer, "passing"), depth = 0;
  size_t of_one = writing->flame.chosen ? 1 : 0;
  struct chain chain = {0};
  json_begin(json, "trail", '[');
  while (focus && *focus && !error) {
    size_t length = strcspn(focus, (const char[]){SEPARATOR, 0});
    struct flame_mark mark = flame_open(&writing->flame);
    error = flame_children(&writing->flame, branch);
    const struct branch *child = error ? NULL : child_named(writing, mark.branches, focus, length);
    if (!child) break;
    if (depth++)
      answer_integer(writing->answer, passing, depth - 1 > of_one && passes(writing, &chain, branch, child));
    *branch = *child;
    json_integer(json, NULL, labels_number(&writing->labels, branch->label));
    focus += length + (focus[length] == SEPARATOR);
  }
  json_end(json, ']');
  write_chain(writing, &chain, branch);
  return error;
}

static wn_status write_flame(struct writing *writing, const struct request *request) {
  struct branch root;
  wn_status error = flame_root(&writing->flame, &root);
  if (!error) error = descend(writing, request->focus, &root);
  if (error) return error;
  writing->flame.least = root.size * least_share;
  view_flame_add_columns(writing);
  error = write_boxes(writing, &root);
  bool calls = request->measure == MEASURE_ALLOCATED || request->measure == MEASURE_CHURN;
  json_string(&writing->answer->json, "unit", calls ? "calls" : "bytes");
  struct estimate blocks = report_blocks(writing->report, &root.total.after);
  if (!writing->pair) json_estimate(&writing->answer->json, "blocks", &blocks);
  labels_write(&writing->labels, &writing->answer->json);
  return error;
}

/* Answers with the graph of a tree, which is that of `joined`, unless that is NULL. */
static wn_status draw(struct writing *writing, const struct call_tree *tree, const struct merged_tree *joined,
                      const struct request *request) {
  bool *chosen = NULL;
  double scale = joined && writing->scale.estimate > 0 ? writing->scale.estimate : 1;
  wn_status error = labels_create(&writing->labels, tree, writing->report->names);
  if (!error && joined) labels_join(&writing->labels, joined, writing->pair->before.names);
  if (!error && request->of) error = views_choose(&writing->labels, request->of, &chosen);
  if (!error) error = flame_create(&writing->flame, tree, request->direction, chosen);
  if (!error && joined) flame_compare(&writing->flame, joined, scale);
  writing->flame.whole = request->whole_stacks;
  if (!error) error = write_flame(writing, request);
  flame_destroy(&writing->flame);
  labels_destroy(&writing->labels);
  free(writing->open);
  free(chosen);
  return error;
}

/* A branch of a comparison of hosts has a sum: it is as uncertain as the hosts differ in what all have. */
static wn_status widen_scale(const struct pair *pair, const struct table *before, const struct table *after,
                             struct estimate *scale) {
  struct comparison_options options = {
      .hosts = {pair_hosts(pair, 0, before->measure), pair_hosts(pair, 1, after->measure)}};
  struct comparison comparison;
  wn_status error = pair->hosts[0] ? comparison_make(before, after, &options, &comparison) : WN_OK;
  if (error || !pair->hosts[0]) return error;
  const struct estimate *had = &comparison.bytes.before, *has = &comparison.bytes.after;
  double side = 0;
  if (had->estimate > 0) side = (had->high - had->low) / (2 * had->estimate);
  if (has->estimate > 0) side = hypot(side, (has->high - has->low) / (2 * has->estimate));
  scale->low *= fmax(1 - side, 0);
  scale->high *= 1 + side;
  comparison_destroy(&comparison);
  return WN_OK;
}

/* ---- shared ---- */

wn_status views_choose(const struct labels *labels, const char *text, bool **chosen) {
  char name[LABEL_TEXT_MOST];
  *chosen = calloc(labels->tree->label_count + 1, sizeof **chosen);
  if (!*chosen) return error_set(WN_ENOMEM, "not enough memory for the flame graph");
  for (uint32_t label = 1; label < labels->tree->label_count; label++) {
    labels_text(labels, label, name);
    (*chosen)[label] = !strcmp(name, text);
  }
  return WN_OK;
}

wn_status view_flame(struct answers *answers, const struct request *request, struct answer *answer) {
  struct writing writing = {.report = &answers->report, .answer = answer};
  struct table *table;
  wn_status error =
      views_table(answers, request->measure, request->grouping, views_flame_details(request), &table);
  return error ? error : draw(&writing, &table->tree, NULL, request);
}

wn_status view_compared_flame(struct answers *answers, const struct request *request, struct answer *answer) {
  const struct pair *pair = &answers->pair;
  struct writing writing = {
      .report = &pair->after, .pair = pair, .scale = pair_scale(pair, request->measure), .answer = answer};
  unsigned details = request->fold ? TABLE_FOLDED : TABLE_SUMS;
  struct table before = {0}, after = {0};
  struct merged_tree joined = {0};
  wn_status error = report_table(&pair->before, request->measure, request->grouping, details, &before);
  if (!error) error = report_table(&pair->after, request->measure, request->grouping, details, &after);
  if (!error) error = widen_scale(pair, &before, &after, &writing.scale);
  if (!error) error = merged_tree_make(&before, &after, &joined);
  if (!error) error = draw(&writing, &joined.tree, &joined, request);
  merged_tree_destroy(&joined);
  table_destroy(&after);
  table_destroy(&before);
  return error;
}
/* SPDX-License-Identifier: MIT */
