/* Writes traces for other hosts (winnow/writer.h). A writer is a recorder, whose callbacks it calls
 * for the host's events, and a table of callstacks that have frames of the host's language only, no
 * native ones.
 *
 * The recorder asks its host for the number of a thread. Here a thread gets the next number, from 1
 * on, when it first reports an event. errno is kept by the functions that report events.
 */
#include "base/error.h"
#include "base/metadata.h"
#include "callstack/capture.h"
#include "record/recorder.h"
#include "record/requested.h"
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <winnow/writer.h>

enum { NAME_MOST = 60 };

struct wn_writer {
  /* Set by wn_writer_open; constant afterwards. */
  struct recorder *recorder;
  struct callstacks *callstacks;
  size_t depth;
  bool collected;
  char language[NAME_MOST + 1];
  /* Set by wn_writer_exits. */
  bool exits;
};

static _Atomic(uint32_t) threads;
static _Thread_local uint32_t own_number;

static uint32_t number_of_thread(wn_domain *unused) {
  (void)unused;
  if (!own_number) own_number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
  return own_number;
}

static wn_status writer_check(const char *path, const wn_writer_options *options, wn_writer **writer) {
  if (!path || !options || !writer || !options->heap)
    return error_set(WN_EINVAL, "wn_writer_open: a NULL argument");
  if (!(options->sampling.sampling_rate >= 0 && options->sampling.sampling_rate <= 1))
    return error_set(WN_EINVAL, "wn_writer_open: the sampling rate must be from 0 to 1");
  return WN_OK;
}

static wn_status writer_open_recorder(struct wn_writer *writer, const char *path,
                                      const wn_writer_options *options) {
  size_t depth = options->sampling.callstack_size;
  struct recorder_options of = {
      .path = path,
      .heap = options->heap,
      .context = options->context,
      .rate = options->sampling.sampling_rate,
      .seed = options->sampling.seed,
      .stack_depth = (uint32_t)(depth < CALLSTACK_DEPTH_MOST ? depth : CALLSTACK_DEPTH_MOST),
      .generations = writer->collected,
      .callstacks = writer->callstacks,
      .thread = number_of_thread,
  };
  writer->depth = of.stack_depth;
  return recorder_open(&of, &writer->recorder);
}

/* Fills in the callstack, which the caller releases, and members that the host left 0. */
static wn_allocation writer_complete(const struct wn_writer *writer, const wn_allocation *allocation,
                                     const wn_place *places, size_t count) {
  wn_allocation whole = *allocation;
  whole.callstack = callstack_of_places(writer->callstacks, places, count, writer->depth);
  if (!whole.bytes) whole.bytes = whole.size * sizeof(uintptr_t);
  if (!whole.trials) whole.trials = whole.size + 1;
  if (!whole.n_samples) whole.n_samples = 1;
  return whole;
}

static void *writer_metadata_of(uint64_t block) { return (void *)(uintptr_t)block; }

static void tell_heap(void *context, struct recorder_heap *out) {
  const wn_writer_heap *heap = context;
  *out = (struct recorder_heap){.minor_words = heap->minor_words,
                                .promoted_words = heap->promoted_words,
                                .direct_words = heap->direct_words,
                                .minor_collections = heap->minor_collections,
                                .major_cycles = heap->major_cycles,
                                .heap_words = heap->heap_words,
                                .live_words = heap->live_words,
                                .domains = heap->domains};
}

/* ---- public ---- */

wn_status wn_writer_open(const char *path, const wn_writer_options *options, wn_writer **result) {
  wn_status error = writer_check(path, options, result);
  if (error) return error;
  struct wn_writer *writer = metadata_map(sizeof *writer);
  if (!writer) return error_set(WN_ENOMEM, "wn_writer_open: no memory");
  strncpy(writer->language, options->language ? options->language : "language", NAME_MOST);
  writer->collected = strcmp(options->heap, "malloc") != 0;
  writer->callstacks = callstacks_create(&(struct callstacks_options){.language = writer->language});
  if (!writer->callstacks) {
    error = error_set(WN_ENOMEM, "wn_writer_open: no memory for callstacks");
    goto unmap;
  }
  error = writer_open_recorder(writer, path, options);
  if (error) goto destroy_callstacks;
  *result = writer;
  return WN_OK;

destroy_callstacks:
  callstacks_destroy(writer->callstacks);
unmap:
  metadata_unmap(writer, sizeof *writer);
  return error;
}

wn_status wn_writer_open_if_requested(wn_writer_options *options, wn_writer **writer) {
  const char *path;
  if (!options || !writer) return error_set(WN_EINVAL, "wn_writer_open_if_requested: a NULL argument");
  *writer = NULL;
  wn_status error = recording_requested(&path, &options->sampling);
  return error || !path ? error : wn_writer_open(path, options, writer);
}

void wn_writer_exits(wn_writer *writer, int status) {
  if (writer->exits) return;
  writer->exits = true;
  recorder_exit(writer->recorder, status);
}

void wn_writer_close(wn_writer *writer) {
  if (!writer) return;
  if (!writer->exits) recorder_stop(writer->recorder);
  recorder_close(writer->recorder);
  callstacks_destroy(writer->callstacks);
  metadata_unmap(writer, sizeof *writer);
}

wn_place wn_writer_place(wn_writer *writer, const wn_place_text *place) {
  return callstacks_place(writer->callstacks, &(struct callstack_place){.function = place->function,
                                                                        .file = place->file,
                                                                        .line = place->line,
                                                                        .first_column = place->first_column,
                                                                        .last_column = place->last_column});
}

uint64_t wn_writer_alloc(wn_writer *writer, const wn_allocation *allocation, const wn_place *places,
                         size_t count, wn_writer_area area) {
  int saved = errno;
  wn_allocation whole = writer_complete(writer, allocation, places, count);
  wn_tracker tracker = recorder_tracker(writer->recorder);
  void *metadata =
      (area == WN_WRITER_MAJOR ? tracker.alloc_major : tracker.alloc_minor)(NULL, &whole, tracker.context);
  callstack_release(whole.callstack);
  errno = saved;
  return (uint64_t)(uintptr_t)metadata;
}

void wn_writer_promote(wn_writer *writer, uint64_t block) {
  int saved = errno;
  wn_tracker tracker = recorder_tracker(writer->recorder);
  if (block) tracker.promote(NULL, writer_metadata_of(block), tracker.context);
  errno = saved;
}

void wn_writer_resize(wn_writer *writer, uint64_t block, const wn_allocation *allocation,
                      const wn_place *places, size_t count) {
  int saved = errno;
  if (!block) return;
  wn_allocation whole = writer_complete(writer, allocation, places, count);
  wn_tracker tracker = recorder_tracker(writer->recorder);
  tracker.resize(NULL, writer_metadata_of(block), &whole, tracker.context);
  callstack_release(whole.callstack);
  errno = saved;
}

void wn_writer_free(wn_writer *writer, uint64_t block) {
  int saved = errno;
  wn_tracker tracker = recorder_tracker(writer->recorder);
  if (block) tracker.dealloc_major(NULL, writer_metadata_of(block), tracker.context);
  errno = saved;
}

void wn_writer_collection(wn_writer *writer, wn_writer_collected collected, uint64_t ns,
                          const wn_writer_heap *heap) {
  enum recorder_collection kind = collected == WN_WRITER_COLLECTED_MINOR   ? RECORDER_MINOR
                                  : collected == WN_WRITER_COLLECTED_MAJOR ? RECORDER_MAJOR
                                                                           : RECORDER_NEITHER;
  recorder_collection(writer->recorder, NULL, kind, ns, tell_heap, (void *)heap);
}
/* SPDX-License-Identifier: MIT */
