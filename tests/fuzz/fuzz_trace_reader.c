/* Any bytes as a trace: the reader must neither crash nor take memory out of proportion. */
#include "trace_file.h"

#include "trace/reader.h"

static void read_all(const char *path) {
  struct trace_reader *reader;
  if (trace_reader_open(path, &reader)) return;
  struct trace_event event;
  while (trace_reader_next(reader, &event)) {
    if (event.kind == TRACE_THREAD_NAME && event.thread_name.name.bytes[event.thread_name.name.length])
      abort();
    if (event.kind == TRACE_TYPE_NAME && event.type_name.name.bytes[event.type_name.name.length]) abort();
    if (event.kind == TRACE_SAMPLE && event.sample.stack > trace_reader_nodes(reader)) abort();
  }
  for (uint32_t i = 1; i <= trace_reader_nodes(reader); i++) {
    struct trace_node node = trace_reader_node(reader, i);
    if (node.parent >= i || node.module > trace_reader_modules(reader)) abort();
    const struct trace_place *place = trace_reader_place(reader, node.module, node.offset);
    if (place && (place->function.bytes[place->function.length] || place->file.bytes[place->file.length]))
      abort();
  }
  trace_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  const char *path = fuzz_file(bytes, count);
  if (path) read_all(path);
  return 0;
}
/* SPDX-License-Identifier: MIT */
