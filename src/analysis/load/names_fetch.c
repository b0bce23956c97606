/* Which modules' debug files are worth fetching: those of SHARE_LEAST of what reports show. */
#include "analysis/load/names_fetch.h"

#include <stdlib.h>

/* SHARE: of a module the largest of three shares: of the bytes that were allocated, of those that
 * were left at the end, and of bytes times the time that they lived, which is what was held on
 * average. Each sampled block counts its size divided by its probability, and a mapping its size,
 * for each module that has a frame in its callstack. */
#define SHARE_LEAST 0.005
enum { WEIGHTS = 3 };

struct weight_of {
  double of[WEIGHTS];
};

static void names_fetch_add_row(const struct samples *samples, const struct row *row,
                                struct weight_of *nodes) {
  uint32_t count = source_stack_count(samples->source);
  if (!row->stack || row->stack > count || !(row->probability > 0)) return;
  uint64_t end_ns = row->end_ns < samples->end_ns ? row->end_ns : samples->end_ns;
  double bytes = (double)row->size / row->probability;
  struct weight_of *weight = &nodes[row->stack];
  if (row->call) weight->of[0] += bytes;
  if (row_is_left(row)) weight->of[1] += bytes;
  if (end_ns > row->begin_ns) weight->of[2] += bytes * (double)(end_ns - row->begin_ns);
}

static void add_weight(struct weight_of *sum, const struct weight_of *weight) {
  for (size_t i = 0; i < WEIGHTS; i++) sum->of[i] += weight->of[i];
}

/* Adds up by module; [0]: all. `last`: by module, the last stack that was added. */
static void names_fetch_add_stacks(const struct source *source, const struct weight_of *nodes,
                                   struct weight_of *modules, uint32_t *last) {
  uint32_t nodes_count = source_stack_count(source), modules_count = source_module_count(source);
  for (uint32_t stack = 1; stack <= nodes_count; stack++) {
    const struct weight_of *weight = &nodes[stack];
    if (weight->of[0] + weight->of[1] + weight->of[2] <= 0) continue;
    add_weight(&modules[0], weight);
    for (uint32_t node = stack, parent; node; node = parent) {
      struct trace_node found = source_stack(source, node);
      parent = found.parent < node ? found.parent : 0;
      if (!found.module || found.module > modules_count || last[found.module] == stack) continue;
      last[found.module] = stack;
      add_weight(&modules[found.module], weight);
    }
  }
}

static bool is_worth(const struct weight_of *module, const struct weight_of *all) {
  bool worth = false;
  for (size_t i = 0; i < WEIGHTS; i++)
    worth |= module->of[i] > 0 && module->of[i] >= SHARE_LEAST * all->of[i];
  return worth;
}

struct shown {
  names_progress *progress;
  void *context;
};

static void names_fetch_show(double done, void *context) {
  const struct shown *shown = context;
  shown->progress("Fetching debug files (Ctrl-C: go on without)", done, shown->context);
}

static char *fetch(const struct source *source, struct symbols *symbols, const struct weight_of *weights,
                   struct shown *shown) {
  uint32_t modules = source_module_count(source);
  struct symbol_module *wanted = calloc((size_t)modules + 1, sizeof *wanted);
  size_t count = 0;
  for (uint32_t number = 1; wanted && number <= modules; number++) {
    const struct trace_module *module = source_module(source, number);
    if (module->path.length && !trace_is_language(module) && is_worth(&weights[number], &weights[0]))
      wanted[count++] = names_module(module);
  }
  char *said = symbols_fetch(symbols, wanted, count, shown->progress ? names_fetch_show : NULL, shown);
  free(wanted);
  return said;
}

/* ---- shared ---- */

char *names_fetch(const struct samples *samples, struct symbols *symbols, names_progress *progress,
                  void *context) {
  struct shown shown = {progress, context};
  const struct source *source = samples->source;
  uint32_t modules = source_module_count(source);
  struct weight_of *nodes = calloc((size_t)source_stack_count(source) + 1, sizeof *nodes);
  struct weight_of *weights = calloc((size_t)modules + 1, sizeof *weights);
  uint32_t *last = calloc((size_t)modules + 1, sizeof *last);
  char *said = NULL;
  if (nodes && weights && last) {
    for (size_t i = 0; i < samples->row_count; i++) names_fetch_add_row(samples, &samples->rows[i], nodes);
    for (size_t i = 0; i < samples->mapped.count; i++)
      names_fetch_add_row(samples, &samples->mapped.rows[i], nodes);
    names_fetch_add_stacks(source, nodes, weights, last);
    said = fetch(source, symbols, weights, &shown);
  }
  free(nodes);
  free(weights);
  free(last);
  return said;
}
/* SPDX-License-Identifier: MIT */
