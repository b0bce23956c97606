/* Opening and closing heaps. */
#include "gc/heap.h"

#include "base/error.h"
#include "base/metadata.h"
#include "base/os.h"
#include "gc/control.h"
#include "gc/custom.h"
#include "gc/domain.h"
#include "gc/gc_host.h"
#include "gc/gc_trace.h"
#include "gc/helpers.h"
#include "gc/major.h"
#include "gc/minor.h"
#include "gc/nursery.h"
#include "gc/verbose.h"
#include <string.h>

/* ---- what is open ---- */

static struct lock heaps_lock;
static wn_heap *heaps;

static void list(wn_heap *heap) {
  lock_acquire(&heaps_lock, LOCK_RANK_HEAPS);
  heap->next_open = heaps;
  heaps = heap;
  lock_release(&heaps_lock, LOCK_RANK_HEAPS);
}

static void unlist(const wn_heap *heap) {
  wn_heap **link = &heaps;
  lock_acquire(&heaps_lock, LOCK_RANK_HEAPS);
  while (*link != heap) link = &(*link)->next_open;
  *link = heap->next_open;
  lock_release(&heaps_lock, LOCK_RANK_HEAPS);
}

bool heap_is_open(const wn_heap *heap) {
  lock_acquire(&heaps_lock, LOCK_RANK_HEAPS);
  const wn_heap *open = heaps;
  while (open && open != heap) open = open->next_open;
  lock_release(&heaps_lock, LOCK_RANK_HEAPS);
  return open != NULL;
}

/* ---- closing ---- */

static void release_block(wn_value *at, void *context) {
  if (header_colour(*at) != COLOUR_FREE && header_tag(*at) == WN_TAG_CUSTOM)
    custom_release(context, (wn_value)(at + 1));
}

static void release_large(struct large *large, void *context) { release_block(&large->header, context); }

static void release_pool(struct pool *pool, void *context) {
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    release_block(at, context);
    at += header_colour(*at) == COLOUR_FREE ? header_extent(*at) : class_words[pool->class];
  }
}

static void destroy(wn_heap *heap) {
  trace_close_all(heap);
  host_close(heap);
  medium_destroy(heap);
  chunks_destroy(&heap->chunks);
  mark_destroy(heap);
  roots_destroy_globals(heap);
  finalisers_destroy(heap);
  nursery_release(heap);
  metadata_unmap(heap->minor_work, sizeof *heap->minor_work);
  metadata_unmap(heap, sizeof *heap);
}

/* ---- opening ---- */

static bool create_parts(wn_heap *heap) {
  pools_prepare();
  heap->minor_work = metadata_map(sizeof *heap->minor_work);
  return heap->minor_work && chunks_create(&heap->chunks) && medium_create(&heap->medium) &&
         nursery_reserve(heap);
}

static wn_status open_heap(const wn_heap_options *options, wn_heap **out) {
  wn_heap *heap = metadata_map(sizeof *heap);
  if (!heap) return error_set(WN_ENOMEM, "heap: no memory");
  host_open(heap);
  heap->seed = options->seed;
  heap->hooks = options->hooks;
  heap->frames = options->frames;
  if (options->language) strncpy(heap->language, options->language, sizeof heap->language - 1);
  heap->finalise_at_close = options->finalise_at_close;
  heap->processors = os_processors();
  heap->chunks.limit_bytes = SIZE_MAX;
  heap->chunks.events = &heap->events;
  alarms_open(heap);
  verbose_open(heap);
  atomic_store(&heap->marked, COLOUR_A);
  wn_status status = control_initialise(heap, options);
  if (!status && !create_parts(heap)) status = error_set(WN_ENOMEM, "heap: the address space is too small");
  if (!status) status = control_apply_first(heap);
  if (status) {
    destroy(heap);
    return status;
  }
  helpers_start(heap, heap->helper_threads);
  list(heap);
  *out = heap;
  return WN_OK;
}

/* ---- shared ---- */

void heap_swept(struct wn_heap *heap, size_t live_words) {
  atomic_fetch_add_explicit(&heap->swept_live, live_words, memory_order_relaxed);
}

bool heap_request_fails(struct wn_heap *heap) {
  return atomic_fetch_add_explicit(&heap->requests, 1, memory_order_relaxed) + 1 == heap->stress.fail_at;
}

wn_status wn_heap_open(const wn_heap_options *options, wn_heap **heap) {
  static const wn_heap_options defaults = WN_HEAP_DEFAULTS;
  if (!heap) return error_set(WN_EINVAL, "heap: there is no place for it");
  return open_heap(options ? options : &defaults, heap);
}

/* What is dead comes first: a collection finds it. */
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
  lock_acquire(&heap->world, LOCK_RANK_WORLD);
  unsigned domains = heap->domain_count;
  lock_release(&heap->world, LOCK_RANK_WORLD);
  if (domains) return error_set(WN_EBUSY, "heap close: %u domains are attached", domains);
  wn_status status = heap->finalise_at_close ? finalise_all(heap) : WN_OK;
  if (status) return status;
  unlist(heap);
  helpers_stop(heap);
  event_point(&heap->events, EVENT_HEAP_CLOSES, NULL);
  pools_each(heap, release_pool, heap);
  medium_each(heap, release_block, release_large, heap);
  destroy(heap);
  return WN_OK;
}

/* SPDX-License-Identifier: MIT */
