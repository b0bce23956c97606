/* Metrics: the counting, and its begin and end. metrics_text.c writes what was counted.
 *
 * Threads count with atomics. The leader of a stop reads all counts: then no thread counts, since
 * pauses are told by running domains and the rest by leaders, so the counts are those of one
 * moment. */
#include "gc/api/metrics.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/api/listen.h"
#include "gc/api/stats.h"
#include "gc/collect/helpers.h"
#include "gc/collect/listeners.h"
#include "gc/domains/stress.h"

struct metrics {
  struct wn_gc_listener listener;
  struct metrics_counts counts;
};

static const uint64_t KINDS = WN_GC_EVENT(WN_GC_PAUSE_ENDS) | WN_GC_EVENT(WN_GC_STOP_ENDS) |
                              WN_GC_EVENT(WN_GC_MINOR_ENDS) | WN_GC_EVENT(WN_GC_CYCLE_ENDS);

static void metrics_count(const wn_gc_event *event, void *context) {
  struct metrics_counts *counts = context;
  uint64_t ns = event->ns - event->began_ns;
  switch (event->kind) {
  case WN_GC_PAUSE_ENDS: histogram_add(&counts->pauses[event->cause - PAUSE_CAUSE_FIRST], ns); break;
  case WN_GC_STOP_ENDS:
    histogram_add(&counts->stops[event->cause - STOP_CAUSE_FIRST], ns);
    histogram_add(&counts->delays, event->stopped_ns - event->began_ns);
    break;
  case WN_GC_MINOR_ENDS: histogram_add(&counts->minors, ns); break;
  case WN_GC_CYCLE_ENDS: histogram_add(&counts->cycles, ns); break;
  default: break;
  }
}

/* The world is stopped. */
static void copy_counts(const struct metrics_counts *from, struct metrics_counts *to) {
  for (unsigned i = 0; i < PAUSE_CAUSES; i++) histogram_copy(&from->pauses[i], &to->pauses[i]);
  for (unsigned i = 0; i < STOP_CAUSES; i++) histogram_copy(&from->stops[i], &to->stops[i]);
  histogram_copy(&from->delays, &to->delays);
  histogram_copy(&from->minors, &to->minors);
  histogram_copy(&from->cycles, &to->cycles);
}

/* The world is stopped. False: nothing is counted. */
static bool metrics_look(struct wn_heap *heap, struct metrics_moment *moment) {
  if (!heap->metrics) return false;
  copy_counts(&heap->metrics->counts, &moment->counts);
  stats_count(heap, &moment->stat);
  moment->mapped_bytes = atomic_load(&heap->store.chunks.mapped_bytes);
  moment->domains = heap->domain_count;
  return true;
}

/* The world is stopped, or no domain is left. */
static void metrics_end(struct wn_heap *heap) {
  struct metrics *metrics = heap->metrics;
  heap->metrics = NULL;
  listeners_remove(heap, &metrics->listener.listener);
  metadata_unmap(metrics, sizeof *metrics);
}

/* ---- shared ---- */

void metrics_close(struct wn_heap *heap) {
  if (heap->metrics) metrics_end(heap);
}

/* ---- public ---- */

wn_status wn_gc_metrics_begin(wn_domain *domain) {
  wn_status status = listen_check(domain, "metrics begin");
  if (status) return status;
  struct wn_heap *heap = domain->heap;
  struct metrics *made = metadata_map(sizeof *made);
  if (!made) return error_set(WN_ENOMEM, "metrics begin: no memory");
  made->listener.kinds = KINDS;
  made->listener.hear = metrics_count;
  made->listener.context = &made->counts;
  stress_world_stop(domain, STOP_LISTENERS);
  bool counts = heap->metrics != NULL;
  if (!counts) {
    heap->metrics = made;
    listen_add(heap, &made->listener);
  }
  world_release(domain);
  if (!counts) return WN_OK;
  metadata_unmap(made, sizeof *made);
  return error_set(WN_ESTATE, "metrics begin: they have begun already");
}

wn_status wn_gc_metrics(wn_domain *domain, FILE *out) {
  struct metrics_moment moment;
  wn_status status = listen_check(domain, "metrics");
  if (status) return status;
  if (!out) return error_set(WN_EINVAL, "metrics: there is no file");
  stress_world_stop(domain, STOP_STATISTICS);
  helpers_pause(domain->heap);
  bool counts = metrics_look(domain->heap, &moment);
  helpers_resume(domain->heap);
  world_release(domain);
  if (!counts) return error_set(WN_ESTATE, "metrics: they have not begun");
  metrics_write(&moment, out);
  return fflush(out) || ferror(out) ? error_set(WN_EIO, "metrics: the file cannot be written") : WN_OK;
}

wn_status wn_gc_metrics_end(wn_domain *domain) {
  wn_status status = listen_check(domain, "metrics end");
  if (status) return status;
  stress_world_stop(domain, STOP_LISTENERS);
  bool counts = domain->heap->metrics != NULL;
  if (counts) metrics_end(domain->heap);
  world_release(domain);
  return counts ? WN_OK : error_set(WN_ESTATE, "metrics end: they have not begun");
}
/* SPDX-License-Identifier: MIT */
