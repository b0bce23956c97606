/* Winnow's own traces as a source: each function asks the trace reader (trace/reader.h). */
#include "sources/traces/winnow_trace.h"

#include "base/error.h"
#include "trace/chunk.h"
#include "trace/reader.h"
#include <stdlib.h>

struct winnow_trace {
  struct source source;
  struct trace_reader *reader;
};

static struct trace_reader *reader_of(const struct source *source) {
  return ((const struct winnow_trace *)source)->reader;
}

static void winnow_trace_close_trace(struct source *source) {
  trace_reader_close(reader_of(source));
  free(source);
}

static bool winnow_trace_next(struct source *source, struct trace_event *event) {
  return trace_reader_next(reader_of(source), event);
}

static const struct trace_run *winnow_trace_run(const struct source *source) {
  return trace_reader_run(reader_of(source));
}

static enum source_heap winnow_trace_heap(const struct source *source) {
  const struct trace_text *name = &winnow_trace_run(source)->heap;
  if (!name->length) return SOURCE_HEAP_UNKNOWN;
  return strcmp(name->bytes, "malloc") ? SOURCE_HEAP_COLLECTED : SOURCE_HEAP_MALLOC;
}

static const struct trace_damage *winnow_trace_damage(const struct source *source) {
  return trace_reader_damage(reader_of(source));
}

static uint32_t winnow_trace_stack_count(const struct source *source) {
  return trace_reader_nodes(reader_of(source));
}

static struct trace_node winnow_trace_stack(const struct source *source, uint32_t number) {
  return trace_reader_node(reader_of(source), number);
}

static uint32_t winnow_trace_module_count(const struct source *source) {
  return trace_reader_modules(reader_of(source));
}

static const struct trace_module *winnow_trace_module(const struct source *source, uint32_t number) {
  return trace_reader_module(reader_of(source), number);
}

static bool winnow_trace_place(const struct source *source, uint32_t module, uint64_t offset,
                               struct trace_place *out) {
  const struct trace_place *found = trace_reader_place(reader_of(source), module, offset);
  if (found) *out = *found;
  return found;
}

static bool winnow_trace_is_reused(struct source *source, const struct trace_node *node) {
  return stack_table_is_reused(trace_reader_table(reader_of(source)), node);
}

static bool winnow_trace_find_owner(struct source *source, uint32_t process, uint64_t time_ns,
                                    struct trace_node *node) {
  (void)process;
  stack_table_find_owner(trace_reader_table(reader_of(source)), node, time_ns);
  return true;
}

static uint32_t winnow_trace_add_node(struct source *source, struct trace_node node) {
  return stack_table_node(trace_reader_table(reader_of(source)), node);
}

static double winnow_trace_position(const struct source *source) {
  return trace_reader_position(reader_of(source));
}

static const struct source_format format = {.close = winnow_trace_close_trace,
                                            .next = winnow_trace_next,
                                            .run = winnow_trace_run,
                                            .heap = winnow_trace_heap,
                                            .damage = winnow_trace_damage,
                                            .stack_count = winnow_trace_stack_count,
                                            .stack = winnow_trace_stack,
                                            .module_count = winnow_trace_module_count,
                                            .module = winnow_trace_module,
                                            .place = winnow_trace_place,
                                            .is_reused = winnow_trace_is_reused,
                                            .find_owner = winnow_trace_find_owner,
                                            .add_node = winnow_trace_add_node,
                                            .position = winnow_trace_position};

/* ---- shared ---- */

bool winnow_trace_begins(const unsigned char *bytes, size_t count) {
  if (count >= sizeof chunk_magic && !memcmp(bytes, chunk_magic, sizeof chunk_magic)) return true;
  return count && !bytes[0] && !memcmp(bytes, bytes + 1, count - 1);
}

wn_status winnow_trace_open(const char *path, struct source **source) {
  struct trace_reader *reader;
  wn_status error = trace_reader_open(path, &reader);
  if (error) return error;
  struct winnow_trace *trace = malloc(sizeof *trace);
  if (!trace) {
    trace_reader_close(reader);
    return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
  }
  *trace = (struct winnow_trace){.source.format = &format, .reader = reader};
  *source = &trace->source;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
