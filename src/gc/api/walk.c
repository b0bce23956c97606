/* The walk of the heap for the program. */
#include "base/error.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/safepoint.h"
#include "gc/domains/stress.h"
#include "gc/events/hooks.h"

struct walk {
  const struct wn_heap *heap;
  wn_gc_visit *visit;
  void *context;
};

static void walk_visit_block(wn_value *at, void *context) {
  const struct walk *walk = context;
  wn_value header = *at;
  if (major_knows_dead(walk->heap, header)) return;
  wn_gc_block block = {(wn_value)(at + 1), header_words(header), header_tag(header), NULL, 0};
  if (block.tag == WN_TAG_CUSTOM) {
    const struct custom *custom = (const struct custom *)block.value;
    block.ops = custom->ops;
    block.outside = custom_external(custom);
  }
  walk->visit(&block, walk->context);
}

/* ---- public ---- */

/* The minor collection brings all blocks into the store. */
wn_status wn_gc_walk(wn_domain *domain, wn_gc_visit *visit, void *context) {
  wn_status status = caller_check(domain, "walk");
  if (status) return status;
  if (!visit) return error_set(WN_EINVAL, "walk: there is no function to call");
  if (hooks_running) return error_set(WN_ESTATE, "walk: it is called in a hook");
  struct wn_heap *heap = domain->heap;
  stress_world_stop(domain, STOP_REQUEST);
  major_collect_stopped(domain, COLLECT_MINOR);
  helpers_pause(heap);
  domains_flush_pools(heap);
  hooks_running++;
  store_each_block(&heap->store, walk_visit_block, &(struct walk){heap, visit, context});
  hooks_running--;
  helpers_resume(heap);
  world_release(domain);
  domain_reset_limit(domain);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
