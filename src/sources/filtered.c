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

static struct filtered *filtered_of(const struct source *source) {
  return (struct filtered *)(uintptr_t)source;
}
static struct source *inner(const struct source *source) { return filtered_of(source)->inner; }

static void close_filtered(struct source *source) {
  source_close(inner(source));
  free(source);
}

static bool filtered_next(struct source *source, struct trace_event *event) {
  const struct source_filter *filter = &filtered_of(source)->filter;
  while (source_next(inner(source), event))
    if (!filter->keeps || filter->keeps(event, filter->context)) return true;
  return false;
}

/* The inner source may learn the title and name of the run while its events are read. */
static const struct trace_run *filtered_run(const struct source *source) {
  struct filtered *filtered = filtered_of(source);
  filtered->run = *source_run(filtered->inner);
  filtered->run.rate = filtered->filter.rate;
  return &filtered->run;
}

static enum source_heap filtered_heap(const struct source *source) { return source_heap(inner(source)); }
static const struct trace_damage *filtered_damage(const struct source *source) {
  return source_damage(inner(source));
}
static uint32_t filtered_stack_count(const struct source *source) {
  return source_stack_count(inner(source));
}
static struct trace_node filtered_stack(const struct source *source, uint32_t number) {
  return source_stack(inner(source), number);
}
static uint32_t filtered_module_count(const struct source *source) {
  return source_module_count(inner(source));
}
static const struct trace_module *filtered_module(const struct source *source, uint32_t number) {
  return source_module(inner(source), number);
}
static bool filtered_place(const struct source *source, uint32_t number, uint64_t offset,
                           struct trace_place *out) {
  return source_place(inner(source), number, offset, out);
}
static double filtered_position(const struct source *source) { return source_position(inner(source)); }
static uint32_t filtered_process_count(const struct source *source) {
  return source_process_count(inner(source));
}
static const struct source_process *filtered_process(const struct source *source, uint32_t index) {
  return source_process(inner(source), index);
}
static const struct source_limits *filtered_limits(const struct source *source) {
  return source_limits(inner(source));
}

static const struct source_format format = {.close = close_filtered,
                                            .next = filtered_next,
                                            .run = filtered_run,
                                            .heap = filtered_heap,
                                            .damage = filtered_damage,
                                            .stack_count = filtered_stack_count,
                                            .stack = filtered_stack,
                                            .module_count = filtered_module_count,
                                            .module = filtered_module,
                                            .place = filtered_place,
                                            .position = filtered_position,
                                            .process_count = filtered_process_count,
                                            .process = filtered_process,
                                            .limits = filtered_limits};

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
