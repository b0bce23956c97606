/* A file for the viewer of DHAT (dh_view.html of Valgrind): for each stack what it allocated, how
 * long that lived, what it held at most, at one moment, and at the end.
 *
 * The moment that DHAT calls t-gmax is that of the export. What a stack held at most is the
 * largest value of its estimate over the run, or more if it held more at the moment or at the
 * end; as the maximum of an estimate it is too large where it rests on few samples. The life of
 * a call goes on until its block is freed, or the trace ends. */
#include "export/formats.h"

#include "base/error.h"
#include "base/text.h"
#include "export/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lives {
  double life_us;                 /* of all calls together */
  double now_bytes, now_blocks;   /* while the run is gone through */
  double most_bytes, most_blocks; /* when `now_bytes` was largest */
};

struct dhat {
  struct json json;
  const struct export *export;
  struct export_stacks stacks;
  struct lives *lives;              /* index: node of the paths */
  double *end;                      /* room for estimates of all nodes */
  uint64_t *end_bytes, *end_blocks; /* index: node; in whole numbers */
};

/* ---- lives ---- */

static uint32_t dhat_owner_of(const struct dhat *dhat, const struct row *row) {
  return stack_values_owner(&dhat->stacks.paths, row);
}

static void change_held(struct lives *lives, const struct row *row, double sign) {
  lives->now_bytes += sign * (double)row->size / row->probability;
  lives->now_blocks += sign / row->probability;
  if (lives->now_bytes <= lives->most_bytes) return;
  lives->most_bytes = lives->now_bytes;
  lives->most_blocks = lives->now_blocks;
}

/* Goes through the run from step to step. */
static void dhat_find_most(struct dhat *dhat) {
  const struct report *report = dhat->export->report;
  const struct samples *samples = report->samples;
  for (size_t i = 0; i < samples->step_count; i++) {
    const struct row *row = &samples->rows[samples->steps[i] / 2];
    if (row->probability > 0 && report_selects(row, (void *)report))
      change_held(&dhat->lives[dhat_owner_of(dhat, row)], row, samples->steps[i] % 2 ? -1 : 1);
  }
}

static void add_lives(struct dhat *dhat) {
  const struct report *report = dhat->export->report;
  const struct samples *samples = report->samples;
  struct share share;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!report_counts(report, MEASURE_ALLOCATED, row, &share)) continue;
    uint64_t died = row_died_ns(samples, row);
    double life = died > row->begin_ns ? (double)(died - row->begin_ns) / 1e3 : 0;
    dhat->lives[dhat_owner_of(dhat, row)].life_us += share.blocks * share_weight(&share, row) * life;
  }
}

/* Sums what was live at the end. */
static bool find_end(struct dhat *dhat, bool bytes, uint64_t *values) {
  const struct report *report = dhat->export->report;
  const struct samples *samples = report->samples;
  size_t nodes = dhat->stacks.paths.node_count;
  memset(dhat->end, 0, nodes * sizeof *dhat->end);
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (row->probability > 0 && row_is_live_at(row, samples->end_ns) && report_selects(row, (void *)report))
      dhat->end[dhat_owner_of(dhat, row)] += (bytes ? (double)row->size : 1) / row->probability;
  }
  return stack_values_round(dhat->end, nodes, values);
}

static wn_status follow_lives(struct dhat *dhat) {
  size_t nodes = dhat->stacks.paths.node_count;
  dhat->lives = calloc(nodes, sizeof *dhat->lives);
  dhat->end = calloc(nodes, sizeof *dhat->end);
  dhat->end_bytes = calloc(nodes, sizeof *dhat->end_bytes);
  dhat->end_blocks = calloc(nodes, sizeof *dhat->end_blocks);
  if (!dhat->lives || !dhat->end || !dhat->end_bytes || !dhat->end_blocks ||
      !find_end(dhat, true, dhat->end_bytes) || !find_end(dhat, false, dhat->end_blocks))
    return error_set(WN_ENOMEM, "not enough memory for the lives");
  add_lives(dhat);
  dhat_find_most(dhat);
  return WN_OK;
}

/* ---- writing ---- */

static uint64_t dhat_most_of(double estimate, uint64_t asked, uint64_t end) {
  uint64_t most = (uint64_t)llround(fmax(estimate, 0));
  if (most < asked) most = asked;
  return most < end ? end : most;
}

/* Bytes without a block would be a damaged file; an estimate of less than half of a block is 0. */
static uint64_t blocks_of(uint64_t bytes, uint64_t blocks) { return bytes && !blocks ? 1 : blocks; }

static void dhat_write_stack(struct dhat *dhat, uint32_t node) {
  struct json *json = &dhat->json;
  const uint64_t *value = dhat->stacks.values[node].value;
  const struct lives *lives = &dhat->lives[node];
  uint64_t end_bytes = dhat->end_bytes[node], end_blocks = blocks_of(end_bytes, dhat->end_blocks[node]),
           held_blocks = blocks_of(value[QUANTITY_HELD_BYTES], value[QUANTITY_HELD_BLOCKS]);
  json_begin(json, NULL, '{');
  json_integer(json, "tb", value[QUANTITY_ALLOCATED_BYTES]);
  json_integer(json, "tbk", blocks_of(value[QUANTITY_ALLOCATED_BYTES], value[QUANTITY_ALLOCATED_BLOCKS]));
  json_integer(json, "tl", (uint64_t)llround(lives->life_us));
  json_integer(json, "mb", dhat_most_of(lives->most_bytes, value[QUANTITY_HELD_BYTES], end_bytes));
  json_integer(json, "mbk", dhat_most_of(lives->most_blocks, held_blocks, end_blocks));
  json_integer(json, "gb", value[QUANTITY_HELD_BYTES]);
  json_integer(json, "gbk", held_blocks);
  json_integer(json, "eb", end_bytes);
  json_integer(json, "ebk", end_blocks);
  json_begin(json, "fs", '[');
  size_t depth = export_stacks_path(&dhat->stacks, node);
  for (size_t i = 0; i < depth; i++)
    json_integer(json, NULL, dhat->stacks.frame_of[dhat->stacks.paths.nodes[dhat->stacks.path[i]].label] + 1);
  json_end(json, ']');
  json_end(json, '}');
}

static void dhat_write_stacks(struct dhat *dhat) {
  json_begin(&dhat->json, "pps", '[');
  for (size_t i = 0; i < dhat->stacks.paths.node_count; i++) {
    uint32_t node = dhat->stacks.order[i];
    if (stack_values_any(&dhat->stacks.values[node])) dhat_write_stack(dhat, node);
  }
  json_end(&dhat->json, ']');
}

static bool tells_module(const char *name, const char *module) {
  return !strcmp(name, module) || text_begins_with_address(name, module);
}

/* Writes the frames behind DHAT's root, as "name (in module)" unless the name tells the module. */
static void dhat_write_frames(struct dhat *dhat) {
  const struct names *names = dhat->export->report->names;
  const struct export_stacks *stacks = &dhat->stacks;
  char name[STACK_LABEL_MOST], frame[2 * STACK_LABEL_MOST];
  json_begin(&dhat->json, "ftbl", '[');
  json_string(&dhat->json, NULL, "[root]");
  for (size_t i = 0; i < stacks->frame_count; i++) {
    const char *module = strings_text(names->strings, stacks->paths.labels[stacks->frames[i]].module);
    export_stacks_label(stacks, stacks->frames[i], name);
    if (*module && !tells_module(name, module))
      snprintf(frame, sizeof frame, "%s (in %.2000s)", name, module);
    else
      snprintf(frame, sizeof frame, "%s", name);
    json_string(&dhat->json, NULL, frame);
  }
  json_end(&dhat->json, ']');
}

static void dhat_write_all(struct dhat *dhat) {
  const struct report *report = dhat->export->report;
  struct json *json = &dhat->json;
  char command[EXPORT_COMMAND_MOST];
  export_command(report, command);
  json_begin(json, NULL, '{');
  json_integer(json, "dhatFileVersion", 2);
  json_string(json, "mode", "heap");
  json_string(json, "verb", "Allocated");
  json_bool(json, "bklt", true);   /* lives are known */
  json_bool(json, "bkacc", false); /* accesses are not */
  json_string(json, "tu", "us");
  json_string(json, "Mtu", "s");
  json_integer(json, "tuth", report->brief_ns / 1000); /* shorter lives are short */
  json_string(json, "cmd", command);
  json_integer(json, "pid", source_run(report->samples->source)->pid);
  json_integer(json, "te", report->samples->end_ns / 1000);
  json_integer(json, "tg", report->asked.time_ns / 1000);
  dhat_write_stacks(dhat);
  dhat_write_frames(dhat);
  json_end(json, '}');
}

/* ---- shared ---- */

wn_status export_dhat(FILE *out, const struct export *export) {
  struct dhat dhat = {.json = {.out = out, .compact = true}, .export = export};
  wn_status error = export_stacks_create(export->report, export->grouping, &dhat.stacks);
  if (error) return error;
  error = follow_lives(&dhat);
  if (!error) dhat_write_all(&dhat);
  free(dhat.lives);
  free(dhat.end);
  free(dhat.end_bytes);
  free(dhat.end_blocks);
  export_stacks_destroy(&dhat.stacks);
  return error;
}
/* SPDX-License-Identifier: MIT */
