/* The samples of a snapshot. */
#include "gc/snapshot/samples.h"

#include "gc/api/trace.h"
#include "gc/domains/heap.h"
#include "record/recorder.h"

/* A block without a number is one of which the trace could not record the birth. */
static void write_sample(void *context, const struct memprof_tracked *tracked) {
  uint64_t number = recorder_block_of(tracked->metadata);
  if (number) snapshot_sample(context, tracked->address, number);
}

void samples_write(struct wn_heap *heap, struct snapshot_writer *writer) {
  const wn_profile *profile;
  const char *path = trace_last(heap, &profile);
  if (!path) return;
  snapshot_trace(writer, path);
  memprof_tell_old(&heap->engine, profile, write_sample, writer);
}
/* SPDX-License-Identifier: MIT */
