/* Each function asks the inner source. */
#include "sources/filtered.h"

#include "base/error.h"
#include <stdlib.h>

struct filtered {
  struct source source;
  struct source *inner;
  struct source_filter filter;
  struct trace_run run; /* the inner one's, with the filter's rate */
};

static struct filtered *of(const struct source *source) { return (struct filtered *)(uintptr_t)source; }
static struct source *inner(const struct source *source) { return of(source)->inner; }

static void close_filtered(struct source *source) {
  source_close(inner(source));
  free(source);
}

static bool next(struct source *source, struct trace_event *event) {
  const struct source_filter *filter = &of(source)->filter;
  while (source_next(inner(source), event))
    if (!filter->keeps || filter->keeps(event, filter->context)) return true;
  return false;
}

/* The inner source may learn the title and name of the run while its events are read. */
static const struct trace_run *run(const struct source *source) {
  struct filtered *filtered = of(source);
  filtered->run = *source_run(filtered->inner);
  filtered->run.rate = filtered->filter.rate;
  return &filtered->run;
}

static enum source_heap heap(const struct source *source) { return source_heap(inner(source)); }
static const struct trace_damage *damage(const struct source *source) { return source_damage(inner(source)); }
static uint32_t stack_count(const struct source *source) { return source_stack_count(inner(source)); }
static struct trace_node stack(const struct source *source, uint32_t number) {
  return source_stack(inner(source), number);
}
static uint32_t module_count(const struct source *source) { return source_module_count(inner(source)); }
static const struct trace_module *module(const struct source *source, uint32_t number) {
  return source_module(inner(source), number);
}
static bool place(const struct source *source, uint32_t number, uint64_t offset, struct trace_place *out) {
  return source_place(inner(source), number, offset, out);
}
static double position(const struct source *source) { return source_position(inner(source)); }
static uint32_t process_count(const struct source *source) { return source_process_count(inner(source)); }
static const struct source_process *process(const struct source *source, uint32_t index) {
  return source_process(inner(source), index);
}
static const struct source_limits *limits(const struct source *source) {
  return source_limits(inner(source));
}

static const struct source_format format = {.close = close_filtered,
                                            .next = next,
                                            .run = run,
                                            .heap = heap,
                                            .damage = damage,
                                            .stack_count = stack_count,
                                            .stack = stack,
                                            .module_count = module_count,
                                            .module = module,
                                            .place = place,
                                            .position = position,
                                            .process_count = process_count,
                                            .process = process,
                                            .limits = limits};

/* ---- shared ---- */

wn_status source_filtered(struct source *from, const struct source_filter *filter, struct source **source) {
  struct filtered *filtered = malloc(sizeof *filtered);
  if (!filtered) {
    source_close(from);
    return error_set(WN_ENOMEM, "not enough memory to read a part of the samples");
  }
  *filtered = (struct filtered){.source = {&format}, .inner = from, .filter = *filter};
  *source = &filtered->source;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
