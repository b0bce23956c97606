/* Traces: a profile whose tracker is the recorder's, and a listener (events.h) that gives the
 * recorder the heap's collections, pauses and domains.
 *
 * A handle of a trace is that of its profile. The last user of the profile releases it, which
 * closes the recorder. The trace's listener is removed before its profile is discarded, or the
 * heap's engine is closed. */
#include "gc/api/trace.h"

#include "base/error.h"
#include "base/metadata.h"
#include "base/words.h"
#include "gc/api/stats.h"
#include "gc/collect/collector.h"
#include "gc/collect/listeners.h"
#include "gc/domains/caller.h"
#include "gc/domains/host.h"
#include "gc/domains/stress.h"
#include "gc/events/hooks.h"
#include "record/recorder.h"
#include "record/requested.h"
#include <winnow/trace.h>

struct heap_trace {
  struct listener listener;
  struct heap_trace *next; /* of the heap's traces, LISTENING of events.h */
  struct recorder *recorder;
  const wn_heap_hooks *hooks; /* of the heap */
  _Atomic(uintptr_t) profile; /* its handle; 0 until it has begun */
  uint64_t lost;              /* samples that the trace tells as lost; the world is stopped */
};

/* ---- what the recorder is given ---- */

static void describe_heap(void *context, struct recorder_heap *out) {
  struct wn_heap *heap = context;
  wn_gc_stat stat;
  stats_count(heap, &stat);
  *out = (struct recorder_heap){.minor_words = (uint64_t)stat.minor_words,
                                .promoted_words = (uint64_t)stat.promoted_words,
                                .direct_words = (uint64_t)(stat.major_words - stat.promoted_words),
                                .minor_collections = (uint64_t)stat.minor_collections,
                                .major_cycles = (uint64_t)stat.major_collections,
                                .heap_words = (uint64_t)stat.heap_words,
                                .live_words = atomic_load(&heap->collector->pace.live_words),
                                .domains = heap->domain_count};
}

/* The world is stopped, or there is no domain any more. */
static void record_lost(struct heap_trace *trace) {
  uint64_t lost = memprof_lost((const wn_profile *)atomic_load(&trace->profile));
  if (lost > trace->lost) recorder_lost(trace->recorder, lost - trace->lost);
  if (lost > trace->lost) trace->lost = lost;
}

static void record_pause(struct recorder *recorder, const struct event *event) {
  static const enum recorder_pause kinds[] = {[PAUSE_COLLECTION] = RECORDER_PAUSE_MINOR,
                                              [PAUSE_SLICE] = RECORDER_PAUSE_SLICE,
                                              [PAUSE_TOUCH] = RECORDER_PAUSE_SLICE,
                                              [PAUSE_STOP] = RECORDER_PAUSE_STOP};
  recorder_pause(recorder, event->domain, event->domain->number, kinds[event->pause],
                 event->ns - event->began_ns);
}

/* Of all blocks at once, so that their records need no time of their own. */
struct telling {
  const struct heap_trace *trace;
  uint64_t ns;
};

static void tell_type(void *context, void *metadata, unsigned type) {
  const struct telling *telling = context;
  const wn_heap_hooks *hooks = telling->trace->hooks;
  const struct recorder_type told = {metadata, type, telling->ns};
  recorder_type(telling->trace->recorder, &told, hooks->type_name, hooks->context);
}

/* TYPES of host.h. A child of a fork asks no more, and a trace without a profile has no blocks. */
static void record_types(const struct heap_trace *trace, struct wn_heap *heap) {
  const wn_profile *profile = (const wn_profile *)atomic_load(&trace->profile);
  if (!profile || !recorder_is_ours(trace->recorder)) return;
  struct telling telling = {trace, os_monotonic_ns()};
  host_ask_types(heap, profile, tell_type, &telling);
}

static void trace_hear(struct listener *listener, const struct event *event) {
  struct recorder *recorder = ((struct heap_trace *)listener)->recorder;
  struct wn_domain *domain = event->domain;
  uint64_t ns = event->ns - event->began_ns;
  switch (event->kind) {
  case EVENT_PAUSE_ENDS: record_pause(recorder, event); break;
  case EVENT_MINOR_BEGINS: record_types((const struct heap_trace *)listener, domain->heap); break;
  case EVENT_MINOR_ENDS:
    record_lost((struct heap_trace *)listener);
    recorder_collection(recorder, domain, RECORDER_MINOR, ns, describe_heap, domain->heap);
    break;
  case EVENT_CYCLE_ENDS:
    recorder_collection(recorder, domain, RECORDER_MAJOR, ns, describe_heap, domain->heap);
    break;
  case EVENT_DOMAIN_BEGINS: recorder_domain(recorder, domain->number, true); break;
  case EVENT_DOMAIN_ENDS: recorder_domain(recorder, domain->number, false); break;
  default: break;
  }
}

static uint64_t wants(const struct heap_trace *trace) {
  return event_bit(EVENT_PAUSE_ENDS) | event_bit(EVENT_MINOR_ENDS) | event_bit(EVENT_CYCLE_ENDS) |
         event_bit(EVENT_DOMAIN_BEGINS) | event_bit(EVENT_DOMAIN_ENDS) |
         (trace->hooks->type_of ? event_bit(EVENT_MINOR_BEGINS) : 0);
}

/* The world is stopped. */
static void begin_listening(struct heap_trace *trace, struct wn_domain *leader) {
  struct wn_heap *heap = leader->heap;
  trace->next = heap->traces;
  heap->traces = trace;
  trace->listener.hear = trace_hear;
  trace->listener.wants = wants(trace);
  listeners_add(heap, &trace->listener);
  recorder_collection(trace->recorder, leader, RECORDER_NEITHER, 0, describe_heap, heap);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    recorder_domain(trace->recorder, domain->number, true);
}

/* The world is stopped, or there is no domain any more. */
static void end_listening(struct heap_trace *trace, struct wn_heap *heap, struct wn_domain *leader) {
  struct heap_trace **link = &heap->traces;
  while (*link != trace) link = &(*link)->next;
  *link = trace->next;
  listeners_remove(heap, &trace->listener);
  record_types(trace, heap);
  record_lost(trace);
  recorder_pauses_end(trace->recorder);
  recorder_collection(trace->recorder, leader, RECORDER_NEITHER, 0, describe_heap, heap);
  metadata_unmap(trace, sizeof *trace);
}

static void end_listening_now(struct heap_trace *trace, struct wn_domain *domain) {
  stress_world_stop(domain, STOP_LISTENERS);
  end_listening(trace, domain->heap, domain);
  world_release(domain);
}

static struct heap_trace *trace_of(const struct wn_heap *heap, const wn_trace *handle) {
  struct heap_trace *trace = heap->traces;
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

static wn_status trace_check(wn_domain *domain, const char *path, const wn_memprof_options *options,
                             wn_trace **trace) {
  if (!path || !trace) return error_set(WN_EINVAL, "trace: an argument is NULL");
  wn_status status = caller_check(domain, "trace");
  if (status) return status;
  if (!rate_is_valid(options->sampling_rate))
    return error_set(WN_EINVAL, "trace: the sampling rate is neither 0 nor from 1e-9 to 1");
  if (wn_memprof_is_sampling(domain)) return error_set(WN_ESTATE, "trace: the domain is sampling already");
  return WN_OK;
}

static const char *name_of_tag(unsigned tag, void *context) {
  const wn_heap_hooks *hooks = context;
  hooks_running++;
  const char *name = hooks->type_name(tag, hooks->context);
  hooks_running--;
  return name;
}

static wn_status trace_open_recorder(wn_domain *domain, const char *path, const wn_memprof_options *options,
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
                                .types = domain->heap->hooks.type_of ? RECORDER_TYPES_OF_LANGUAGE
                                                                     : RECORDER_TYPES_OF_TAGS,
                                .tag_name = domain->heap->hooks.type_name ? name_of_tag : NULL,
                                .tag_context = &domain->heap->hooks,
                                .callstacks = callstacks,
                                .thread = thread_number};
  return recorder_open(&of, recorder);
}

/* The trace has a count of the heap before anything is sampled, so that each sample is between two
 * counts. */
static wn_status trace_begin(struct heap_trace *made, struct wn_domain *domain,
                             const wn_memprof_options *options, wn_trace **trace) {
  wn_profile *profile;
  wn_tracker tracker = recorder_tracker(made->recorder);
  tracker.release = released;
  stress_world_stop(domain, STOP_LISTENERS);
  begin_listening(made, domain);
  world_release(domain);
  wn_status status = memprof_start_immediate(&domain->running->profiled, options, &tracker, &profile);
  if (status) {
    end_listening_now(made, domain);
    return status;
  }
  atomic_store(&made->profile, (uintptr_t)profile);
  *trace = (wn_trace *)profile;
  return WN_OK;
}

/* ---- shared ---- */

const char *trace_last(const struct wn_heap *heap, const wn_profile **profile) {
  const struct heap_trace *trace = heap->traces;
  if (!trace) return NULL;
  *profile = (const wn_profile *)atomic_load(&trace->profile);
  return recorder_path(trace->recorder);
}

void trace_close_all(struct wn_heap *heap) {
  while (heap->traces) end_listening(heap->traces, heap, NULL);
}

/* A trace that has not begun yet has no profile. */
void trace_forget_all(struct wn_heap *heap) {
  for (struct heap_trace *trace = heap->traces; trace; trace = trace->next) recorder_forget(trace->recorder);
  while (heap->traces) {
    wn_profile *profile = (wn_profile *)atomic_load(&heap->traces->profile);
    end_listening(heap->traces, heap, NULL);
    if (profile) memprof_forget(profile);
  }
}

/* ---- public ---- */

wn_status wn_trace_start(wn_domain *domain, const char *path, const wn_memprof_options *options,
                         wn_trace **trace) {
  struct recorder *recorder;
  const wn_memprof_options usual = recording_usual();
  if (!options) options = &usual;
  wn_status status = trace_check(domain, path, options, trace);
  if (status) return status;
  struct heap_trace *made = metadata_map(sizeof *made);
  if (!made) return error_set(WN_ENOMEM, "trace: no memory");
  status = trace_open_recorder(domain, path, options, &recorder);
  if (status) {
    metadata_unmap(made, sizeof *made);
    return status;
  }
  made->recorder = recorder;
  made->hooks = &domain->heap->hooks;
  status = trace_begin(made, domain, options, trace);
  if (status) recorder_close(recorder);
  return status;
}

wn_status wn_trace_if_requested(wn_domain *domain, wn_trace **trace) {
  const char *path;
  wn_memprof_options options = recording_usual();
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
  struct heap_trace *found = trace_of(domain->heap, trace);
  if (found) end_listening_now(found, domain);
  return wn_memprof_discard((wn_profile *)trace);
}
/* SPDX-License-Identifier: MIT */
