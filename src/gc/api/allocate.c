/* Allocation where the fast path ends, and safepoints. */
#include "gc/api/allocate.h"

#include "base/error.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/host.h"
#include "gc/domains/safepoint.h"
#include "gc/domains/shortage.h"
#include "gc/domains/stress.h"
#include <string.h>

wn_value *allocate_cut(struct wn_domain *domain, size_t words, unsigned tag, wn_alloc_source source) {
  domain->context.young_ptr -= (words + 1) * 8;
  wn_value *at = (wn_value *)domain->context.young_ptr;
  *at = WN_HEADER(words, tag);
  if ((intptr_t)at < domain->sample_at) host_born_young(domain, (wn_value)(at + 1), source);
  return at + 1;
}

bool allocate_make_memory(struct wn_domain *domain, size_t words, unsigned *tries) {
  unsigned try = (*tries)++;
  if (try && (try > 1 || !shortage_of_memory(domain, words, "no memory for a block"))) return false;
  major_full(domain, STOP_NO_MEMORY);
  return true;
}

/* The fast path ended for a sample alone: for all other reasons the limit is above everything. */
static bool has_room_with_sample(const struct wn_domain *domain, size_t extent) {
  const char *limit = __atomic_load_n(&domain->context.young_limit, __ATOMIC_RELAXED);
  return limit == (const char *)domain->sample_at &&
         domain->context.young_ptr - extent * sizeof(wn_value) >= domain->young_start;
}

/* TOUCH AHEAD of chunk.h. Unless a helper does it, it is a pause of this domain, which is done only
 * if it `may_pause`. */
static void allocate_touch_ahead(struct wn_domain *domain, bool may_pause) {
  struct wn_heap *heap = domain->heap;
  if (!chunks_are_cold(&heap->store.chunks) || helpers_touch(heap) || !may_pause) return;
  uint64_t began = event_clock(&heap->events, EVENT_PAUSE_BEGINS);
  domain_suspend(domain);
  bool touched = chunks_touch(&heap->store.chunks);
  domain_resume(domain);
  if (!touched) return;
  event_pause_begins(&heap->events, domain, PAUSE_TOUCH, began);
  event_pause_ends(&heap->events, domain, PAUSE_TOUCH, began);
}

/* A collection has just come before the first piece of a minor heap, and a slice would make its
 * pause longer. So the second piece does the slices of two, unless the domain has stayed in its
 * first piece since its last slice. A small minor heap has only one piece. */
static void begin_piece(struct wn_domain *domain) {
  bool first = (size_t)(domain->young_end - domain->young_start) == nursery_piece_bytes(domain);
  unsigned owed = ++domain->slices_owed;
  bool has_slice = !first || owed > 1 || nursery_pieces(domain) == 1;
  allocate_touch_ahead(domain, has_slice);
  if (!has_slice) return;
  domain->slices_owed = 0;
  major_slice(domain, owed);
}

static __attribute__((noinline)) bool allocate_find_room(struct wn_domain *domain, size_t extent) {
  struct wn_heap *heap = domain->heap;
  unsigned tries = 0;
  stress_point(domain, STRESS_ALLOCATION);
  for (;;) {
    bool has_room = (size_t)(domain->context.young_ptr - domain->young_start) / 8 >= extent;
    if (world_is_stopping(heap)) {
      world_wait(domain);
    } else if (turn_must_yield(&domain->turn)) {
      domain_yield(domain);
    } else if (atomic_load(&heap->starved)) {
      if (!allocate_make_memory(domain, extent, &tries)) return false;
    } else if (has_room) {
      break;
    } else if (nursery_take_piece(domain)) {
      begin_piece(domain);
    } else {
      major_collect(domain, COLLECT_MINOR, STOP_MINOR_HEAP);
    }
  }
  domain_reset_limit(domain);
  return true;
}

/* The stress mode fail_at. */
static bool is_made_to_fail(struct wn_domain *domain, size_t words) {
  struct wn_heap *heap = domain->heap;
  if (!heap->stress.fail_at) return false;
  long request = atomic_fetch_add_explicit(&heap->requests, 1, memory_order_relaxed) + 1;
  return request == heap->stress.fail_at && !shortage_of_memory(domain, words, "stress: this request fails");
}

static inline bool allocate_make_room(struct wn_domain *domain, size_t extent) {
  host_run_waiting(domain);
  if (is_made_to_fail(domain, extent)) return false;
  return has_room_with_sample(domain, extent) || allocate_find_room(domain, extent);
}

bool allocate_room(struct wn_domain *domain, size_t extent) { return allocate_make_room(domain, extent); }

/* Small blocks that must be old, which are custom blocks with many external bytes and what
 * wn_marshal_read makes of large messages, come from pools. */
wn_value *allocate_take(struct wn_domain *domain, size_t words, unsigned tag, bool *zeroed) {
  struct wn_heap *heap = domain->heap;
  wn_value header = header_make(words, tag, heap_live_colour(heap));
  if (words + 1 > CLASS_WORDS_MOST) return medium_allocate(&heap->store, words + 1, header, zeroed);
  *zeroed = false;
  wn_value *at = pools_take(&heap->store, domain->runs, words + 1, false);
  if (at) atomic_store_explicit((_Atomic(wn_value) *)at, header, memory_order_relaxed);
  return at;
}

/* The words that the domain allocated in the major heap before the last collection are in the debt
 * that this has computed. Half a minor heap of them is worth the slices of a whole one. */
static void pay_earlier(struct wn_domain *domain) {
  size_t most = nursery_slices(domain), worth = atomic_load(&domain->heap->minor_words) / 2 / most + 1;
  size_t pieces = domain->unpaid_words / worth;
  if (!pieces) return;
  domain->unpaid_words %= worth;
  major_slice(domain, (unsigned)(pieces < most ? pieces : most));
}

/* The slices for words that the domain has allocated in the major heap. If those since the last
 * collection are many, they are first put into the debt. */
static void pay_slices(struct wn_domain *domain) {
  if (domain->direct_words > atomic_load(&domain->heap->minor_words) / 2) {
    domain->direct_words = domain->unpaid_words = 0;
    major_pay(domain, STOP_OLD_ALLOCATION);
  } else {
    pay_earlier(domain);
  }
}

bool allocate_begin_old(struct wn_domain *domain, size_t words) {
  struct wn_heap *heap = domain->heap;
  host_run_waiting(domain);
  if (is_made_to_fail(domain, words)) return false;
  if (world_is_stopping(heap)) world_wait(domain);
  if (turn_must_yield(&domain->turn)) domain_yield(domain);
  stress_point(domain, STRESS_ALLOCATION);
  pay_slices(domain);
  return true;
}

static void count_old(struct wn_domain *domain, size_t words) {
  domain->direct_words += words;
  atomic_fetch_add_explicit(&domain->heap->collector->pace.allocated, words, memory_order_relaxed);
}

/* The memory of a block that is old from its birth on, counted and not sampled yet. */
static wn_value *take_old(struct wn_domain *domain, size_t words, unsigned tag, const void *frame,
                          bool *zeroed) {
  unsigned tries = 0;
  wn_value *at;
  if (!allocate_begin_old(domain, words)) return NULL;
  while (!(at = allocate_take(domain, words, tag, zeroed)))
    if (!allocate_make_memory(domain, words, &tries)) return NULL;
  count_old(domain, words + 1);
  domain->major_words += (double)(words + 1);
  domain->frame = frame;
  return at;
}

void allocate_pay_old(struct wn_domain *domain, size_t words) {
  domain->major_words += (double)words;
  while (words) {
    size_t most = atomic_load(&domain->heap->minor_words) / 2 + 1, some = words < most ? words : most;
    count_old(domain, some);
    words -= some;
    pay_slices(domain);
  }
}

wn_value *allocate_old(struct wn_domain *domain, size_t words, unsigned tag, const void *frame,
                       bool *zeroed) {
  wn_value *at = take_old(domain, words, tag, frame, zeroed);
  if (at) host_born_old(domain, (wn_value)(at + 1));
  return at ? at + 1 : NULL;
}

wn_value *allocate_old_custom(struct wn_domain *domain, size_t words, const wn_custom_ops *ops,
                              const void *frame) {
  bool zeroed;
  wn_value *at = take_old(domain, words, WN_TAG_CUSTOM, frame, &zeroed);
  domain->custom = ops;
  if (at) host_born_old(domain, (wn_value)(at + 1));
  return at ? at + 1 : NULL;
}

wn_value *allocate_young_slow(struct wn_domain *domain, size_t words, unsigned tag, const void *frame) {
  if (!allocate_make_room(domain, words + 1)) return NULL;
  domain->frame = frame;
  return allocate_cut(domain, words, tag, WN_SOURCE_NORMAL);
}

/* A block whose fields its caller sets by plain stores: an old block enters the remembered set as a
 * whole, since what is stored may be young. */
static wn_value *allocate_unset(struct wn_domain *domain, size_t words, unsigned tag, const void *frame) {
  bool zeroed;
  if (words <= WN_MAX_YOUNG_WORDS) return allocate_young_slow(domain, words, tag, frame);
  if (words > WN_MAX_WORDS) return error_set(WN_EINVAL, "bump: more than WN_MAX_WORDS words"), NULL;
  wn_value *fields = allocate_old(domain, words, tag, frame, &zeroed);
  if (fields && tag <= WN_TAG_SCANNED_MAX) remembered_add_block(&domain->remembered, fields);
  return fields;
}

/* ---- public ---- */

OWN_FRAME wn_value *wn_bump_slow(wn_domain *domain, size_t words, unsigned tag) {
  if (!caller_may(domain, "bump")) return NULL;
  wn_value *fields = allocate_unset(domain, words, tag, __builtin_frame_address(0));
  FRAME_ENDS;
  return fields;
}

/* wn_int(0) in scanned fields, 0 in bytes. */
static void allocate_fill(wn_value *fields, size_t words, unsigned tag) {
  if (tag > WN_TAG_SCANNED_MAX)
    memset(fields, 0, words * 8);
  else
    for (size_t i = 0; i < words; i++) fields[i] = wn_int(0);
}

static wn_ref null_handle(void) { return (wn_ref){NULL}; }

static inline wn_value *allocate_allocate(wn_domain *domain, size_t words, unsigned tag, const void *frame) {
  if (words <= WN_MAX_YOUNG_WORDS) {
    wn_value *young = allocate_young(domain, words, tag, frame);
    if (young) allocate_fill(young, words, tag);
    return young;
  }
  bool zeroed;
  wn_value *old = allocate_old(domain, words, tag, frame, &zeroed);
  if (old && !(zeroed && tag > WN_TAG_SCANNED_MAX)) allocate_fill(old, words, tag);
  return old;
}

static bool is_tag(unsigned tag) {
  return (tag <= WN_TAG_SCANNED_MAX && tag != WN_TAG_MIXED) ||
         (tag >= WN_TAG_RAW && tag <= WN_TAG_DOUBLE_ARRAY);
}

wn_ref allocate_block(wn_domain *domain, size_t words, unsigned tag, const void *frame) {
  if (!caller_may(domain, "alloc")) return null_handle();
  if (words > WN_MAX_WORDS || !is_tag(tag)) {
    error_set(WN_EINVAL,
              words > WN_MAX_WORDS ? "alloc: more than WN_MAX_WORDS words" : "alloc: %u is no tag for blocks",
              tag);
    return null_handle();
  }
  wn_value *fields = allocate_allocate(domain, words, tag, frame);
  return fields ? wn_root(domain, (wn_value)fields) : null_handle();
}

OWN_FRAME wn_ref wn_alloc(wn_domain *domain, size_t words, unsigned tag) {
  DEBUG_DOMAIN(domain);
  wn_ref made = allocate_block(domain, words, tag, __builtin_frame_address(0));
  FRAME_ENDS;
  return made;
}

OWN_FRAME wn_ref wn_alloc_bytes(wn_domain *domain, size_t bytes) {
  DEBUG_DOMAIN(domain);
  size_t words = bytes ? bytes / 8 + (bytes % 8 != 0) : 1;
  wn_ref made = allocate_block(domain, words, WN_TAG_RAW, __builtin_frame_address(0));
  FRAME_ENDS;
  return made;
}

wn_ref allocate_mixed(wn_domain *domain, size_t values, size_t bytes, const void *frame) {
  size_t byte_words = bytes / 8 + (bytes % 8 != 0);
  if (!caller_may(domain, "alloc mixed")) return null_handle();
  if (values >= WN_MAX_WORDS || byte_words > WN_MAX_WORDS - 1 - values) {
    error_set(WN_EINVAL, "alloc mixed: more than WN_MAX_WORDS words");
    return null_handle();
  }
  wn_value *fields = allocate_allocate(domain, 1 + values + byte_words, WN_TAG_MIXED, frame);
  if (!fields) return null_handle();
  fields[0] = wn_int((intptr_t)values);
  memset(fields + 1 + values, 0, byte_words * 8);
  return wn_root(domain, (wn_value)fields);
}

OWN_FRAME wn_ref wn_alloc_mixed(wn_domain *domain, size_t values, size_t bytes) {
  DEBUG_DOMAIN(domain);
  wn_ref made = allocate_mixed(domain, values, bytes, __builtin_frame_address(0));
  FRAME_ENDS;
  return made;
}

static size_t group_extent(size_t n, const wn_shape *shapes) {
  size_t extent = 0;
  for (size_t i = 0; i < n; i++) {
    if (shapes[i].words > WN_MAX_YOUNG_WORDS || !is_tag(shapes[i].tag)) return SIZE_MAX;
    extent += shapes[i].words + 1;
    if (extent > WN_MAX_YOUNG_WORDS) return SIZE_MAX;
  }
  return extent;
}

OWN_FRAME wn_status wn_alloc_group(wn_domain *domain, size_t n, const wn_shape *shapes, wn_ref *blocks) {
  wn_status status = caller_check(domain, "alloc group");
  if (status) return status;
  if (n && (!shapes || !blocks)) return error_set(WN_EINVAL, "alloc group: an argument is NULL");
  size_t extent = group_extent(n, shapes);
  if (extent == SIZE_MAX)
    return error_set(WN_EINVAL, "alloc group: more than %zu words in all, or a tag that is none for blocks",
                     WN_MAX_YOUNG_WORDS);
  if (!extent) return WN_OK;
  wn_value *mark = domain->context.top;
  if (!allocate_has_room(domain, extent)) {
    if (!allocate_room(domain, extent)) return WN_ENOMEM;
    domain->frame = __builtin_frame_address(0);
  }
  for (size_t i = 0; i < n; i++) {
    wn_value *fields = allocate_cut(domain, shapes[i].words, shapes[i].tag, WN_SOURCE_NORMAL);
    allocate_fill(fields, shapes[i].words, shapes[i].tag);
    blocks[i] = wn_root(domain, (wn_value)fields);
    if (wn_is_null(blocks[i])) {
      domain->context.top = mark;
      return WN_ELIMIT;
    }
  }
  return WN_OK;
}

void *wn_bytes(wn_ref raw) {
  if (CHECKS) debug_check_bytes(raw, __func__);
  if (wn_is_null(raw) || (*raw.slot & 1))
    return error_set(WN_EINVAL, "bytes: the handle is null, or of no block"), NULL;
  return wn_bytes_of(*raw.slot);
}

void wn_poll_slow(wn_domain *domain) {
  if (!caller_may(domain, "poll")) return;
  if (world_is_stopping(domain->heap)) world_wait(domain);
  stress_point(domain, STRESS_POLL);
  if (!allocate_has_room(domain, 0)) domain_reset_limit(domain); /* it was raised for this poll */
  finalisers_run_pending(domain);
  if (turn_must_yield(&domain->turn)) domain_yield(domain);
}

void wn_thread_yield(wn_domain *domain) {
  DEBUG_DOMAIN(domain);
  if (caller_check(domain, "yield")) return;
  wn_poll_slow(domain);
  if (turn_has_waiters(&domain->turn)) domain_yield(domain);
}

/* ---- the raw tier ---- */

/* Verification finds the fields that the caller does not fill. */
OWN_FRAME wn_value *wn_bump_checked(wn_domain *domain, size_t words, unsigned tag) {
  debug_check_domain(domain, "wn_bump");
  if (!words) debug_complain("wn_bump", "blocks of the raw tier have 1 to WN_MAX_WORDS words");
  if (!is_tag(tag) && tag != WN_TAG_MIXED) debug_complain("wn_bump", "the tag is none for blocks");
  wn_value *fields = allocate_unset(domain, words, tag, __builtin_frame_address(0));
  for (size_t i = 0; fields && i < words; i++) fields[i] = POISON_FIELD;
  return fields;
}
/* SPDX-License-Identifier: MIT */
