/* Parameters. */
#include "gc/control.h"

#include "base/error.h"
#include "gc/domain.h"
#include "gc/major.h"
#include "gc/nursery.h"
#include "gc/safepoint.h"
#include <stdlib.h>
#include <string.h>

static const wn_gc_control defaults = {
    .minor_heap_size = MINOR_WORDS_FIRST,
    .major_heap_increment = 15,
    .space_overhead = 120,
    .max_overhead = 500,
    .stack_limit = 1 << 20,
    .allocation_policy = POLICY_BEST_FIT,
    .window_size = 1,
    .custom_major_ratio = 44,
    .custom_minor_ratio = 100,
    .custom_minor_max_size = 70000,
};

wn_status control_initialise(struct wn_heap *heap, const wn_heap_options *options) {
  heap->control = defaults;
  if (options->parameters.minor_heap_size)
    heap->control.minor_heap_size = options->parameters.minor_heap_size;
  if (options->parameters.space_overhead) heap->control.space_overhead = options->parameters.space_overhead;
  if (options->soft_limit_bytes) heap->soft_limit_bytes = options->soft_limit_bytes;
  atomic_store(&heap->minor_words, (size_t)heap->control.minor_heap_size);
  heap->chunks.increment = heap->control.major_heap_increment;
  const char *text = getenv("WINNOW_PARAMS");
  if (text && strstr(text, "verify")) heap->stress.verify = true;
  if (text && strstr(text, "every=")) heap->stress.every = atol(strstr(text, "every=") + 6);
  if (text && strstr(text, "delays")) heap->stress.delays = true;
  return WN_OK;
}

wn_status control_apply_first(struct wn_heap *heap) {
  heap->medium.policy = (enum allocation_policy)heap->control.allocation_policy;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
