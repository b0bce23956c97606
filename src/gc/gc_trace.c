/* Traces: a profile whose tracker is the recorder's, and what the heap tells of itself. A trace is known by its profile; the
 * recorder goes when that is released, by whoever was the last to use it. By then the heap tells it nothing any more: each trace
 * is taken off the list before its profile is discarded, or the heap's engine closed. */
#include "gc/gc_trace.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/caller.h"
#include "gc/gc_host.h"
#include "gc/safepoint.h"
#include "gc/stats.h"
#include "record/recorder.h"
#include "record/requested.h"
#include <winnow/trace.h>

struct gc_trace {
  struct gc_trace *next; /* of the heap. LISTENING */
  struct recorder *recorder;
  _Atomic(uintptr_t) profile; /* its handle; 0 until it has begun */
};

/* ---- what is told ---- */

static void ask(void *context, struct recorder_heap *out) {
  struct wn_heap *heap = context;
  wn_gc_stat stat;
  stats_count(heap, &stat);
  *out = (struct recorder_heap){.minor_words = (uint64_t)stat.minor_words,
                                .promoted_words = (uint64_t)stat.promoted_words,
                                .direct_words = (uint64_t)(stat.major_words - stat.promoted_words),
                                .minor_collections = (uint64_t)stat.minor_collections,
                                .major_cycles = (uint64_t)stat.major_collections,
                                .heap_words = (uint64_t)stat.heap_words,
                                .live_words = atomic_load(&heap->live_words),
                                .domains = heap->domain_count};
}

/* The world is stopped. */
static void begin_telling(struct gc_trace *trace, struct wn_domain *leader) {
  struct wn_heap *heap = leader->heap;
  trace->next = heap->traces;
  heap->traces = trace;
  recorder_collection(trace->recorder, leader, RECORDER_NEITHER, 0, ask, heap);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    recorder_domain(trace->recorder, domain->number, true);
}

/* The world is stopped, or there is no domain any more. */
static void end_telling(struct gc_trace *trace, struct wn_heap *heap, struct wn_domain *leader) {
  struct gc_trace **link = &heap->traces;
  while (*link != trace) link = &(*link)->next;
  *link = trace->next;
  recorder_pauses_end(trace->recorder);
  recorder_collection(trace->recorder, leader, RECORDER_NEITHER, 0, ask, heap);
  metadata_unmap(trace, sizeof *trace);
}

static void end_telling_now(struct gc_trace *trace, struct wn_domain *domain) {
  while (!world_stop(domain)) {}
  end_telling(trace, domain->heap, domain);
  world_release(domain);
}

static struct gc_trace *trace_of(const struct wn_heap *heap, const wn_trace *handle) {
  struct gc_trace *trace = heap->traces;
  while (trace && atomic_load(&trace->profile) != (uintptr_t)handle) trace = trace->next;
  return trace;
}

/* ---- beginning ---- */

static uint32_t thread_number(wn_domain *domain) {
  return domain && domain->running ? (uint32_t)domain->running->profiled.sequence + 1 : 1;
}

static void released(void *context) {
  recorder_stop(context);
  recorder_close(context);
}

static wn_status check(wn_domain *domain, const char *path, const wn_memprof_options *options,
                       wn_trace **trace) {
  if (!path || !trace) return error_set(WN_EINVAL, "trace: an argument is NULL");
  wn_status status = caller_check(domain, "trace");
  if (status) return status;
  if (!(options->sampling_rate >= 0 && options->sampling_rate <= 1))
    return error_set(WN_EINVAL, "trace: the sampling rate is not from 0 to 1");
  if (wn_memprof_is_sampling(domain)) return error_set(WN_ESTATE, "trace: the domain is sampling already");
  return WN_OK;
}

static wn_status open_recorder(wn_domain *domain, const char *path, const wn_memprof_options *options,
                               struct recorder **recorder) {
  struct callstacks *callstacks = host_callstacks(domain->heap);
  if (!callstacks) return error_set(WN_ENOMEM, "trace: no memory for callstacks");
  size_t depth = options->callstack_size;
  struct recorder_options of = {.path = path,
                                .heap = "winnow",
                                .rate = options->sampling_rate,
                                .seed = options->seed,
                                .stack_depth = depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX,
                                .generations = true,
                                .callstacks = callstacks,
                                .thread = thread_number};
  return recorder_open(&of, recorder);
}

/* The heap is told of before anything is sampled: so each sample lies between two counts of the heap. */
static wn_status begin(struct gc_trace *made, struct wn_domain *domain, const wn_memprof_options *options,
                       wn_trace **trace) {
  wn_profile *profile;
  wn_tracker tracker = recorder_tracker(made->recorder);
  tracker.release = released;
  while (!world_stop(domain)) {}
  begin_telling(made, domain);
  world_release(domain);
  wn_status status = wn_memprof_start(domain, options, &tracker, &profile);
  if (status) {
    end_telling_now(made, domain);
    return status;
  }
  atomic_store(&made->profile, (uintptr_t)profile);
  *trace = (wn_trace *)profile;
  return WN_OK;
}

/* ---- shared ---- */

void trace_tell_collection(struct wn_domain *leader, enum collection kind, uint64_t began) {
  static const enum recorder_collection kinds[] = {
      [COLLECTION_MINOR] = RECORDER_MINOR, [COLLECTION_MAJOR] = RECORDER_MAJOR};
  uint64_t now = os_monotonic_ns();
  for (struct gc_trace *trace = leader->heap->traces; trace; trace = trace->next)
    recorder_collection(trace->recorder, leader, kinds[kind], now - began, ask, leader->heap);
}

void trace_tell_pause(struct wn_domain *domain, enum pause kind, uint64_t began) {
  static const enum recorder_pause kinds[] = {[PAUSE_MINOR] = RECORDER_PAUSE_MINOR,
                                              [PAUSE_SLICE] = RECORDER_PAUSE_SLICE,
                                              [PAUSE_STOP] = RECORDER_PAUSE_STOP};
  uint64_t now = os_monotonic_ns();
  for (struct gc_trace *trace = domain->heap->traces; trace; trace = trace->next)
    recorder_pause(trace->recorder, domain, domain->number, kinds[kind], now - began);
}

void trace_tell_domain(const struct wn_domain *domain, bool begins) {
  for (struct gc_trace *trace = domain->heap->traces; trace; trace = trace->next)
    recorder_domain(trace->recorder, domain->number, begins);
}

void trace_close_all(struct wn_heap *heap) {
  while (heap->traces) end_telling(heap->traces, heap, NULL);
}

/* ---- public ---- */

wn_status wn_trace_start(wn_domain *domain, const char *path, const wn_memprof_options *options,
                         wn_trace **trace) {
  struct recorder *recorder;
  const wn_memprof_options usual = recording_usual();
  if (!options) options = &usual;
  wn_status status = check(domain, path, options, trace);
  if (status) return status;
  struct gc_trace *made = metadata_map(sizeof *made);
  if (!made) return error_set(WN_ENOMEM, "trace: no memory");
  status = open_recorder(domain, path, options, &recorder);
  if (status) {
    metadata_unmap(made, sizeof *made);
    return status;
  }
  made->recorder = recorder;
  status = begin(made, domain, options, trace);
  if (status) recorder_close(recorder);
  return status;
}

wn_status wn_trace_if_requested(wn_domain *domain, wn_trace **trace) {
  const char *path;
  wn_memprof_options options;
  if (!domain || !trace) return error_set(WN_EINVAL, "trace: an argument is NULL");
  *trace = NULL;
  wn_status status = recording_requested(&path, &options);
  return status || !path ? status : wn_trace_start(domain, path, &options, trace);
}

wn_status wn_trace_stop(wn_domain *domain, wn_trace *trace) {
  if (!trace) return error_set(WN_EINVAL, "trace stop: the trace is NULL");
  wn_status status = caller_check(domain, "trace stop");
  if (status) return status;
  if (atomic_load(&domain->owner.profile) != (uintptr_t)trace)
    return error_set(WN_ESTATE, "trace stop: the domain takes no part in this trace");
  status = wn_memprof_stop(domain);
  if (status) return status;
  struct gc_trace *found = trace_of(domain->heap, trace);
  if (found) end_telling_now(found, domain);
  return wn_memprof_discard((wn_profile *)trace);
}
/* SPDX-License-Identifier: MIT */
