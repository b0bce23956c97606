/* Sums rows by the stack that owns them, and rounds the sums to whole numbers. */
#include "export/stacks.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>

/* ---- whole numbers ---- */

/* What rounding down took from an owner's value. */
struct remainder {
  double part;
  size_t owner;
};

static int stacks_largest_first(const void *a, const void *b) {
  const struct remainder *left = a, *right = b;
  if (left->part != right->part) return left->part < right->part ? 1 : -1;
  return left->owner < right->owner ? -1 : left->owner > right->owner;
}

static bool round_all(struct stack_values *values, size_t owners) {
  double *estimates = malloc(owners * sizeof *estimates);
  uint64_t *whole = malloc(owners * sizeof *whole);
  bool done = estimates && whole;
  for (int quantity = 0; quantity < QUANTITIES && done; quantity++) {
    for (size_t i = 0; i < owners; i++) estimates[i] = values[i].estimate[quantity];
    done = stack_values_round(estimates, owners, whole);
    for (size_t i = 0; done && i < owners; i++) values[i].value[quantity] = whole[i];
  }
  free(estimates);
  free(whole);
  return done;
}

/* ---- sums ---- */

static void stacks_add_row(const struct report *report, enum measure measure, const struct row *row,
                           struct stack_values *values) {
  struct share share;
  if (!report_counts(report, measure, row, &share)) return;
  double weight = share_weight(&share, row);
  for (int i = 0; i < QUANTITIES; i++)
    if (quantity_kinds[i].measure == measure)
      values->estimate[i] += weight * (quantity_kinds[i].bytes ? share.bytes : share.blocks);
  values->samples[measure] += share.weight.factor > 0 ? share.weight.sample : 1;
}

/* ---- order and frames ---- */

/* Makes `path`, and fills in `order`. Relies on parents standing before their children: first the
 * sizes of all subtrees are known, then the place of each node in the subtree of its parent. */
static bool put_in_order(struct export_stacks *stacks) {
  const struct path_node *nodes = stacks->paths.nodes;
  size_t count = stacks->paths.node_count;
  uint32_t *size = malloc(count * sizeof *size), *next = malloc(count * sizeof *next);
  stacks->order = malloc(count * sizeof *stacks->order);
  stacks->path = malloc(count * sizeof *stacks->path);
  bool done = size && next && stacks->order && stacks->path;
  for (size_t i = 0; done && i < count; i++) size[i] = 1;
  for (size_t i = count; done && i-- > 1;) size[nodes[i].parent] += size[i];
  for (size_t i = 0; done && i < count; i++) {
    uint32_t place = i ? next[nodes[i].parent] : 0;
    if (i) next[nodes[i].parent] += size[i];
    next[i] = place + 1;
    stacks->order[place] = (uint32_t)i;
  }
  free(size);
  free(next);
  return done;
}

/* Lists the labels of the nodes that stacks with blocks have. */
static bool list_frames(struct export_stacks *stacks) {
  const struct path_node *nodes = stacks->paths.nodes;
  bool *needed = calloc(stacks->paths.node_count, sizeof *needed),
       *listed = calloc(stacks->paths.label_count, sizeof *listed);
  stacks->frames = malloc(stacks->paths.label_count * sizeof *stacks->frames);
  stacks->frame_of = calloc(stacks->paths.label_count, sizeof *stacks->frame_of);
  bool done = needed && listed && stacks->frames && stacks->frame_of;
  for (size_t i = stacks->paths.node_count; done && i-- > 0;) {
    needed[i] = needed[i] || stack_values_any(&stacks->values[i]);
    if (needed[i] && nodes[i].parent) needed[nodes[i].parent] = true; /* whose number is smaller */
  }
  for (size_t i = 0; done && i < stacks->paths.node_count; i++) {
    uint32_t node = stacks->order[i], label = nodes[node].label;
    if (!needed[node] || listed[label]) continue;
    listed[label] = true;
    stacks->frame_of[label] = (uint32_t)stacks->frame_count;
    stacks->frames[stacks->frame_count++] = label;
  }
  free(needed);
  free(listed);
  return done;
}

/* ---- shared ---- */

wn_status stacks_no_memory(void) { return error_set(WN_ENOMEM, "not enough memory for the profile"); }

const struct quantity_kind quantity_kinds[QUANTITIES] = {
#define EXPORT_QUANTITY(NAME, word, measure, bytes, type, unit, title) \
  [QUANTITY_##NAME] = {word, MEASURE_##measure, bytes, type, unit, title},
    EXPORT_QUANTITIES(EXPORT_QUANTITY)
#undef EXPORT_QUANTITY
};

wn_status stack_values_since(const struct report *report, const struct call_paths *paths, size_t owners,
                             uint64_t since_ns, struct stack_values **values) {
  const struct samples *samples = report->samples;
  *values = calloc(owners, sizeof **values);
  if (!*values) return stacks_no_memory();
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    uint32_t owner = stack_values_owner(paths, row);
    if (row->begin_ns >= since_ns) stacks_add_row(report, MEASURE_ALLOCATED, row, &(*values)[owner]);
    stacks_add_row(report, MEASURE_HELD, row, &(*values)[owner]);
  }
  return WN_OK;
}

wn_status stack_values_sum(const struct report *report, const struct call_paths *paths, size_t owners,
                           struct stack_values **values) {
  wn_status error = stack_values_since(report, paths, owners, 0, values);
  if (error || round_all(*values, owners)) return error;
  free(*values);
  *values = NULL;
  return stacks_no_memory();
}

bool stack_values_round(const double *estimates, size_t count, uint64_t *values) {
  struct remainder *remainders = malloc(count * sizeof *remainders);
  double total = 0;
  uint64_t sum = 0;
  if (!remainders) return false;
  for (size_t i = 0; i < count; i++) {
    values[i] = (uint64_t)estimates[i];
    remainders[i] = (struct remainder){estimates[i] - (double)values[i], i};
    total += estimates[i];
    sum += values[i];
  }
  uint64_t wanted = (uint64_t)llround(total), missing = wanted > sum ? wanted - sum : 0;
  if (missing) qsort(remainders, count, sizeof *remainders, stacks_largest_first);
  for (size_t i = 0; i < missing && i < count; i++) values[remainders[i].owner]++;
  free(remainders);
  return true;
}

bool stack_values_any(const struct stack_values *values) {
  for (int i = 0; i < QUANTITIES; i++)
    if (values->value[i]) return true;
  return values->samples[MEASURE_ALLOCATED] || values->samples[MEASURE_HELD];
}

wn_status export_stacks_create(const struct report *report, enum grouping grouping,
                               struct export_stacks *stacks) {
  struct stack_view view = report->query ? query_view(report->query) : (struct stack_view){0};
  *stacks = (struct export_stacks){.report = report};
  wn_status error = call_paths_create(report->samples, report->names, grouping, &view, &stacks->paths);
  if (!error) error = stack_values_sum(report, &stacks->paths, stacks->paths.node_count, &stacks->values);
  if (!error && !(put_in_order(stacks) && list_frames(stacks))) error = stacks_no_memory();
  if (error) export_stacks_destroy(stacks);
  return error;
}

void export_stacks_destroy(struct export_stacks *stacks) {
  call_paths_destroy(&stacks->paths);
  free(stacks->values);
  free(stacks->order);
  free(stacks->frames);
  free(stacks->frame_of);
  free(stacks->path);
  *stacks = (struct export_stacks){.values = NULL};
}

size_t export_stacks_path(struct export_stacks *stacks, uint32_t node) {
  size_t depth = 0;
  do stacks->path[depth++] = node;
  while ((node = stacks->paths.nodes[node].parent));
  return depth;
}

void export_stacks_label(const struct export_stacks *stacks, uint32_t label, char text[STACK_LABEL_MOST]) {
  label_text(stacks->paths.labels, label, stacks->paths.grouping, stacks->report->names, text,
             STACK_LABEL_MOST);
}
/* SPDX-License-Identifier: MIT */
