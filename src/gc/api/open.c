/* Opening and closing heaps. */
#include "gc/api/open.h"

#include "base/error.h"
#include "base/metadata.h"
#include "base/os.h"
#include "gc/api/attach.h"
#include "gc/api/control.h"
#include "gc/api/fork.h"
#include "gc/api/listen.h"
#include "gc/api/metrics.h"
#include "gc/api/trace.h"
#include "gc/api/verbose.h"
#include "gc/collect/collector.h"
#include "gc/collect/ending.h"
#include "gc/collect/nursery.h"
#include "gc/domains/host.h"
#include "gc/domains/process.h"
#include "gc/domains/thread.h"
#include <stdlib.h>
#include <string.h>

struct whole_heap {
  struct wn_heap heap;
  struct collector collector;
};

/* ---- open heaps ---- */

/* Protected by the lock of process.h. */
static wn_heap *heaps;

static void open_list(wn_heap *heap) {
  process_acquire();
  heap->next_open = heaps;
  heaps = heap;
  process_release();
}

static void open_unlist(const wn_heap *heap) {
  wn_heap **link = &heaps;
  process_acquire();
  while (*link != heap) link = &(*link)->next_open;
  *link = heap->next_open;
  process_release();
}

struct wn_heap *heaps_open(void) {
  return heaps;
}

bool heap_is_open(const wn_heap *heap) {
  process_acquire();
  const wn_heap *open = heaps;
  while (open && open != heap) open = open->next_open;
  process_release();
  return open != NULL;
}

/* ---- closing ---- */

static void forget_marshal_kinds(wn_heap *heap) {
  for (struct marshal_kind *kind = atomic_load(&heap->marshal_kinds); kind;) {
    struct marshal_kind *next = kind->next;
    free(kind);
    kind = next;
  }
}

static void open_destroy(wn_heap *heap) {
  ending_bury(heap);
  trace_close_all(heap);
  metrics_close(heap);
  listen_close_all(heap);
  host_close(heap);
  store_destroy(&heap->store);
  mark_destroy(heap);
  globals_destroy(heap);
  pins_destroy(heap);
  identities_destroy(heap);
  weak_destroy(heap);
  finalisers_destroy(heap);
  nursery_release(heap);
  forget_marshal_kinds(heap);
  metadata_unmap(heap, sizeof(struct whole_heap));
}

/* ---- opening ---- */

static bool create_parts(wn_heap *heap) {
  return store_create(&heap->store, &heap->events) && nursery_reserve(heap);
}

static wn_status open_heap(const wn_heap_options *options, wn_heap **out) {
  struct whole_heap *whole = metadata_map(sizeof *whole);
  if (!whole) return error_set(WN_ENOMEM, "heap: no memory");
  wn_heap *heap = &whole->heap;
  heap->collector = &whole->collector;
  host_open(heap);
  heap->seed = options->seed;
  heap->hooks = options->hooks;
  heap->frames = options->frames;
  if (options->language) strncpy(heap->language, options->language, sizeof heap->language - 1);
  heap->finalise_at_close = options->finalise_at_close;
  heap->processors = os_processors();
  major_open(heap);
  alarms_open(heap);
  verbose_open(heap);
  wn_status status = control_initialise(heap, options);
  if (!status && !create_parts(heap))
    status = error_set(WN_ENOMEM, "heap: the address space (ulimit -v) is too small");
  if (!status) status = control_apply_first(heap);
  if (status) {
    open_destroy(heap);
    return status;
  }
  fork_prepare();
  helpers_start(heap, heap->helper_threads);
  open_list(heap);
  *out = heap;
  return WN_OK;
}

/* ---- public ---- */

wn_status wn_heap_open(const wn_heap_options *options, wn_heap **heap) {
  static const wn_heap_options defaults = WN_HEAP_DEFAULTS;
  if (!heap) return error_set(WN_EINVAL, "heap: there is no place for it");
  return open_heap(options ? options : &defaults, heap);
}

/* The finalisers of dead values run first: a collection finds these. */
static wn_status finalise_all(wn_heap *heap) {
  wn_domain *domain;
  wn_status status = wn_domain_attach(heap, &domain);
  if (status) return status;
  major_full(domain, STOP_REQUEST);
  finalisers_run_all(domain);
  return wn_domain_detach(domain);
}

wn_status wn_heap_close(wn_heap *heap) {
  if (!heap) return error_set(WN_EINVAL, "heap: it is NULL");
  if (!heap_is_open(heap)) return error_set(WN_EINVAL, "heap close: it is no heap, or was closed before");
  if (!thread_in_heap(heap)) domain_end_lost(heap);
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  unsigned domains = heap->domain_count;
  lock_release(&heap->world, LOCK_RANK_WORLD);
  if (domains) return error_set(WN_EBUSY, "heap close: %u domains are attached", domains);
  wn_status status = heap->finalise_at_close ? finalise_all(heap) : WN_OK;
  if (status) return status;
  open_unlist(heap);
  helpers_stop(heap);
  event_point(&heap->events, EVENT_HEAP_CLOSES, NULL);
  store_release_customs(&heap->store);
  open_destroy(heap);
  return WN_OK;
}

/* SPDX-License-Identifier: MIT */
