/* Finds the runtime by the files of the process, and weighs what was allocated without names. */
#include "cli/report/runtime.h"

#include "cli/runtimes.h"
#include <stdlib.h>

static const char *runtime_find(struct source *source) {
  const char *hint = NULL;
  for (uint32_t number = 1; number <= source_module_count(source) && !hint; number++)
    hint = runtime_of_file(source_module(source, number)->path.bytes);
  return hint;
}

/* V8's loop for functions that it has not compiled: which of them it runs, no address tells. */
static bool is_loop(const struct names *names, uint32_t node) {
  uint32_t loop;
  return names->count[node] && strings_find(names->strings, "Builtins_InterpreterEntryTrampoline", &loop) &&
         names->frame[names->first[node]].function == loop;
}

/* Whether code in no file, without a name, called for a twentieth of what was allocated. */
static bool lacks_names(const struct samples *samples, const struct names *names) {
  enum { PART = 20 };
  struct source *source = samples->source;
  uint32_t nodes = source_stack_count(source);
  struct trace_place place;
  double lacking = 0, all = 0;
  bool *lacks = calloc((size_t)nodes + 1, sizeof *lacks);
  for (uint32_t number = 1; lacks && number <= nodes; number++) {
    struct trace_node node = source_stack(source, number);
    lacks[number] = lacks[node.parent] || is_loop(names, number) ||
                    (!node.module && !trace_is_cut(&node) && !source_place(source, 0, node.offset, &place));
  }
  for (size_t i = 0; lacks && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    double bytes = (double)row_allocated(row) / row->probability;
    all += bytes;
    if (lacks[row->stack]) lacking += bytes;
  }
  free(lacks);
  return lacking > all / PART;
}

/* ---- shared ---- */

const char *runtime_hint(const struct view *view) {
  const struct samples *samples = view->report->samples;
  if (view->report->recording->wrappers.interpreters[INTERPRETER_JIT]) return NULL;
  const char *hint = runtime_find(samples->source);
  return hint && lacks_names(samples, view->report->names) ? hint : NULL;
}
/* SPDX-License-Identifier: MIT */
