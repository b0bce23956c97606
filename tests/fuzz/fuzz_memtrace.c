/* Any bytes as a Memtrace file: the reader must neither crash nor take memory out of proportion. What
 * begins otherwise gets a first packet that describes a run, so that the fuzzer need not find it; the
 * packets of the input are those of its process if they say so. */
#include "bound.h"

#include "sources/memtrace_codes.h"
#include "sources/traces/memtrace_trace.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_all(const char *path) {
  struct source *source;
  struct trace_event event;
  struct trace_place place;
  if (memtrace_trace_open(path, &source)) return;
  uint64_t last_ns = 0;
  while (source_next(source, &event)) {
    if (event.at.time_ns < last_ns) abort();
    last_ns = event.at.time_ns;
    if (event.kind == TRACE_SAMPLE && event.sample.stack > source_stack_count(source)) abort();
  }
  for (uint32_t i = 1; i <= source_stack_count(source); i++) {
    struct trace_node node = source_stack(source, i);
    if (node.parent >= i || node.module > source_module_count(source)) abort();
    if (node.module && !source_place(source, node.module, node.offset, &place)) abort();
  }
  source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static int descriptor = -1;
  static char path[64];
  struct memtrace_writer writer;
  if (descriptor < 0) descriptor = memfd_create("memtrace", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  codes_begin(&writer, 1 + count % 3, 0.01, 1700000000000000);
  size_t first = memtrace_trace_begins(bytes, count) ? 0 : writer.file.count;
  if (ftruncate(descriptor, 0) || pwrite(descriptor, writer.file.bytes, first, 0) != (ssize_t)first ||
      pwrite(descriptor, bytes, count, (off_t)first) != (ssize_t)count)
    abort();
  memtrace_writer_end(&writer);
  read_all(path);
  return 0;
}
/* SPDX-License-Identifier: MIT */
