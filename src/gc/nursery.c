/* Minor heaps, and allocation where the fast path ends. */
#include "gc/nursery.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/caller.h"
#include "gc/debug.h"
#include "gc/gc_host.h"
#include "gc/helpers.h"
#include "gc/major.h"
#include "gc/safepoint.h"
#include <string.h>
#include <sys/mman.h>

/* A slot of 256 MiB lets a minor heap grow to 32 M words; less is tried where addresses are short. */
static const size_t slot_bytes[] = {(size_t)1 << 28, (size_t)1 << 26, (size_t)1 << 24, (size_t)1 << 22};
enum { ALIGNMENT = 1 << 21 };

bool nursery_reserve(struct wn_heap *heap) {
  for (unsigned i = 0; i < sizeof slot_bytes / sizeof *slot_bytes; i++) {
    size_t span = slot_bytes[i] * DOMAINS_MOST;
    char *reserved = metadata_reserve_addresses(span + ALIGNMENT);
    if (!reserved) continue;
    heap->young_slot_bytes = slot_bytes[i];
    heap->young_slot_shift = (unsigned)__builtin_ctzl(slot_bytes[i]);
    heap->young_base = ((uintptr_t)reserved + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    heap->young_span =
        span + sizeof(wn_value); /* a block without fields may begin where the last slot ends */
    heap->young_reserved = reserved;
    return true;
  }
  return false;
}

void nursery_release(struct wn_heap *heap) {
  if (heap->young_reserved)
    metadata_give_back(heap->young_reserved, heap->young_slot_bytes * DOMAINS_MOST + ALIGNMENT);
}

size_t nursery_words_most(const struct wn_heap *heap) { return heap->young_slot_bytes / 8; }

static size_t whole_pages(size_t bytes) { return (bytes + 4095) & ~(size_t)4095; }

static char *slot_of(const struct wn_domain *domain) {
  const struct wn_heap *heap = domain->heap;
  return (char *)heap->young_base + domain->index * heap->young_slot_bytes;
}

static size_t piece_bytes(const struct wn_domain *domain) {
  return domain->young_words / nursery_pieces(domain) * 8;
}

/* Gives memory to what is between `from` and the slot's end. */
static bool lower_floor(struct wn_domain *domain, char *from) {
  uintptr_t first = ((uintptr_t)from + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  char *end = domain->young_floor;
  if (!metadata_make_accessible(from, (size_t)(end - from))) return false;
  if (domain->heap->chunks.huge_pages && first < (uintptr_t)end)
    madvise((void *)first, ((uintptr_t)end - first) & ~(uintptr_t)(ALIGNMENT - 1),
            MADV_HUGEPAGE); /* may be refused */
  domain->young_floor = from;
  return true;
}

bool nursery_place(struct wn_domain *domain, size_t words) {
  char *end = slot_of(domain) + domain->heap->young_slot_bytes, *floor = end - whole_pages(words * 8);
  if (!domain->young_floor) domain->young_floor = end;
  if (floor < domain->young_floor && !lower_floor(domain, floor)) return false;
  if (domain->young_floor < floor)
    madvise(domain->young_floor, (size_t)(floor - domain->young_floor), MADV_DONTNEED);
  domain->young_floor = floor;
  domain->young_words = words;
  domain->stale = domain->stale_end = NULL; /* it is in use again, or gone back */
  domain->young_start = domain->young_end = end;
  domain_begin_young(domain, end);
  domain_reset_limit(domain);
  return true;
}

void nursery_shorten(struct wn_heap *heap, size_t copied) {
  size_t used = heap->young_used;
  if (!heap->young_most || used < heap->young_most / 2) return;
  if (copied < used - used / ALIVE_PART)
    heap->young_alive = 0;
  else if (heap->young_alive < ALIVE_COLLECTIONS)
    heap->young_alive++;
}

void nursery_begin(struct wn_heap *heap) {
  intptr_t left = 0;
  heap->young_most = 0;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    domain->young_start = domain->young_end;
    if (!domain->awake) continue;
    left += (intptr_t)((nursery_slices(domain) - 1) * piece_bytes(domain));
    heap->young_most += nursery_words(domain);
  }
  heap->young_budget = (size_t)left;
  atomic_store(&heap->young_left, left);
}

static bool has_memory(struct wn_domain *domain, const char *from) {
  size_t more = whole_pages(domain->young_words * 8), room = (size_t)(domain->young_floor - slot_of(domain));
  return from >= domain->young_floor ||
         lower_floor(domain, domain->young_floor - (more < room ? more : room));
}

/* BUDGET: takes the next piece. Where blocks move at each collection the minor heap may begin anywhere in its slot, so that there
 * is less below it. */
static bool take_piece(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  size_t piece = piece_bytes(domain), most = FOLD * domain->young_words * 8;
  bool first = domain->young_start == domain->young_end;
  size_t room = (size_t)(domain->young_start - slot_of(domain));
  char *from = domain->young_start - piece;
  if (room < piece || (size_t)(domain->young_end - from) > most) return false;
  if (!first && atomic_fetch_sub(&heap->young_left, (intptr_t)piece) < (intptr_t)piece) {
    atomic_fetch_add(&heap->young_left, (intptr_t)piece);
    return false;
  }
  if (!has_memory(domain, from)) {
    if (!first) atomic_fetch_add(&heap->young_left, (intptr_t)piece);
    return false;
  }
  domain->young_start = from;
  return true;
}

void nursery_move(struct wn_domain *domain, size_t used) {
  enum { PLACES = 8 };
  const struct wn_heap *heap = domain->heap;
  char *top = slot_of(domain) + heap->young_slot_bytes;
  size_t pages = whole_pages(domain->young_words * 8);
  char *end = domain->young_end - pages;
  if ((size_t)(top - end) + pages > PLACES * pages || (size_t)(top - end) + pages > heap->young_slot_bytes)
    end = top;
  domain->stale = domain->stale_end = NULL;
  if (end == domain->young_end) return;
  if (end - pages < domain->young_floor && !lower_floor(domain, end - pages)) return;
  domain->stale = domain->young_end - used * 8;
  domain->stale_end = domain->young_end;
  domain->young_start = domain->young_end = end;
  domain_begin_young(domain, end);
}

char *nursery_limit(const struct wn_domain *domain) {
  const struct wn_heap *heap = domain->heap;
  bool raised = atomic_load(&heap->starved) || heap_collects_by_stress(heap);
  return raised ? (char *)UINTPTR_MAX : nursery_end(domain);
}

/* The worst case: every domain has taken its first piece, and all of BUDGET was taken by whoever is or was there; all of it
 * survives, each block is rounded up, each pool has a tail, and each domain leaves a pool of each class unfinished. A block
 * without fields becomes twice as large: that is the most. */
void nursery_secure(struct wn_heap *heap) {
  size_t bytes = heap->young_budget, domains = 0;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    bytes += piece_bytes(domain);
    domains++;
  }
  size_t units = (TINY ? 3 * bytes : 2 * bytes + bytes / 256) / UNIT_BYTES + 1 + domains * CLASSES;
  atomic_store(&heap->starved, !chunks_secure(&heap->chunks, units));
}

wn_value *nursery_take(struct wn_domain *domain, size_t words, unsigned tag) {
  domain->face.young_ptr -= (words + 1) * 8;
  wn_value *at = (wn_value *)domain->face.young_ptr;
  *at = WN_HEADER(words, tag);
  if ((intptr_t)at < domain->sample_at) host_born_young(domain, (wn_value)(at + 1));
  return at + 1;
}

/* Memory is short: everything that can be collected is, then the program is asked. True if it is worth trying again. */
static bool make_memory(struct wn_domain *domain, size_t words, unsigned *tries) {
  const wn_heap_hooks *hooks = &domain->heap->hooks;
  unsigned try = (*tries)++;
  if (!try || (try == 1 && hooks->out_of_memory && hooks->out_of_memory(domain, words, hooks->context))) {
    major_full(domain, STOP_NO_MEMORY);
    return true;
  }
  error_set(WN_ENOMEM, "no memory for a block of %zu words", words);
  return false;
}

static bool is_stress_due(struct wn_domain *domain) {
  long every = domain->heap->stress.every;
  return every && ++domain->stress_count % every == 0;
}

static bool is_poll_stress_due(struct wn_domain *domain) {
  long polls = domain->heap->stress.polls;
  return polls && ++domain->poll_count % polls == 0;
}

/* The fast path ended for a sample and nothing else: all other reasons raise the limit above everything. */
static bool has_room_with_sample(const struct wn_domain *domain, size_t extent) {
  const char *limit = __atomic_load_n(&domain->face.young_limit, __ATOMIC_RELAXED);
  return limit == (const char *)domain->sample_at &&
         domain->face.young_ptr - extent * sizeof(wn_value) >= domain->young_start;
}

/* TOUCH AHEAD of chunk.h. Where no helper does it, it is a pause of this domain, which `may_pause`. */
static void touch_ahead(struct wn_domain *domain, bool may_pause) {
  struct wn_heap *heap = domain->heap;
  if (!chunks_are_cold(&heap->chunks) || helpers_touch(heap) || !may_pause) return;
  uint64_t began = event_clock(&heap->events, EVENT_PAUSE_BEGINS);
  domain_step_aside(domain);
  bool touched = chunks_touch(&heap->chunks);
  domain_step_back(domain);
  if (!touched) return;
  event_pause_begins(&heap->events, domain, PAUSE_TOUCH, began);
  event_pause_ends(&heap->events, domain, PAUSE_TOUCH, began);
}

/* Before the first piece of a minor heap there was a collection, and a slice would make its pause longer: so the second piece has
 * the slices of two, unless the first one was not left since the last slice. A small minor heap has one piece only. */
static void begin_piece(struct wn_domain *domain) {
  bool first = (size_t)(domain->young_end - domain->young_start) == piece_bytes(domain);
  unsigned shares = ++domain->shares;
  bool has_slice = !first || shares > 1 || nursery_pieces(domain) == 1;
  touch_ahead(domain, has_slice);
  if (!has_slice) return;
  domain->shares = 0;
  major_slice(domain, shares);
}

static __attribute__((noinline)) bool find_room(struct wn_domain *domain, size_t extent) {
  struct wn_heap *heap = domain->heap;
  unsigned tries = 0;
  bool stress = is_stress_due(domain);
  for (;;) {
    bool has_room = (size_t)(domain->face.young_ptr - domain->young_start) / 8 >= extent;
    if (world_is_stopping(heap)) {
      world_wait(domain);
    } else if (turn_is_asked_for(&domain->turn)) {
      domain_yield(domain);
    } else if (atomic_load(&heap->starved)) {
      if (!make_memory(domain, extent, &tries)) return false;
    } else if (has_room && !stress) {
      break;
    } else if (!stress && take_piece(domain)) {
      begin_piece(domain);
    } else {
      major_collect(domain, COLLECT_MINOR, stress ? STOP_STRESS : STOP_MINOR_HEAP);
      stress = false;
    }
  }
  domain_reset_limit(domain);
  return true;
}

static inline bool make_room(struct wn_domain *domain, size_t extent) {
  if (heap_fails_by_stress(domain->heap)) return error_set(WN_ENOMEM, "stress: this request fails"), false;
  return has_room_with_sample(domain, extent) || find_room(domain, extent);
}

bool nursery_make_room(struct wn_domain *domain, size_t extent) { return make_room(domain, extent); }

/* Small blocks that must be old (custom ones with much outside) come from pools. */
static wn_value *take_old(struct wn_domain *domain, size_t words, unsigned tag, bool *zeroed) {
  struct wn_heap *heap = domain->heap;
  wn_value header = header_make(words, tag, heap_live_colour(heap));
  if (words + 1 > CLASS_WORDS_MOST) return medium_allocate(heap, words + 1, header, zeroed);
  *zeroed = false;
  wn_value *at = pools_take(heap, domain->runs, words + 1, false);
  if (at) atomic_store_explicit((_Atomic(wn_value) *)at, header, memory_order_relaxed);
  return at;
}

wn_value *nursery_allocate_old(struct wn_domain *domain, size_t words, unsigned tag, const void *frame,
                               bool *zeroed) {
  struct wn_heap *heap = domain->heap;
  unsigned tries = 0;
  if (heap_fails_by_stress(heap)) return error_set(WN_ENOMEM, "stress: this request fails"), NULL;
  if (world_is_stopping(heap)) world_wait(domain);
  if (turn_is_asked_for(&domain->turn)) domain_yield(domain);
  if (is_stress_due(domain)) major_collect(domain, COLLECT_MINOR, STOP_STRESS);
  if (domain->direct_words > atomic_load(&heap->minor_words) / 2) {
    domain->direct_words = 0;
    major_collect_and_slice(domain, STOP_OLD_ALLOCATION);
  }
  wn_value *at;
  while (!(at = take_old(domain, words, tag, zeroed)))
    if (!make_memory(domain, words, &tries)) return NULL;
  domain->direct_words += words + 1;
  domain->major_words += (double)(words + 1);
  atomic_fetch_add_explicit(&heap->allocated, words + 1, memory_order_relaxed);
  domain->frame = frame;
  host_born_old(domain, (wn_value)(at + 1));
  return at + 1;
}

wn_value *nursery_allocate_slow(struct wn_domain *domain, size_t words, unsigned tag, const void *frame) {
  if (!make_room(domain, words + 1)) return NULL;
  domain->frame = frame;
  return nursery_take(domain, words, tag);
}

/* ---- public ---- */

OWN_FRAME wn_value *wn_bump_slow(wn_domain *domain, size_t words, unsigned tag) {
  if (!caller_may(domain, "bump")) return NULL;
  wn_value *fields = nursery_allocate_slow(domain, words, tag, __builtin_frame_address(0));
  FRAME_ENDS;
  return fields;
}

/* wn_int(0) in scanned fields, 0 in bytes. */
static void fill(wn_value *fields, size_t words, unsigned tag) {
  if (tag > WN_TAG_SCANNED_MAX)
    memset(fields, 0, words * 8);
  else
    for (size_t i = 0; i < words; i++) fields[i] = wn_int(0);
}

static wn_ref null_handle(void) { return (wn_ref){NULL}; }

static inline wn_value *allocate(wn_domain *domain, size_t words, unsigned tag, const void *frame) {
  if (words <= WN_MAX_YOUNG_WORDS) {
    wn_value *young = nursery_allocate(domain, words, tag, frame);
    if (young) fill(young, words, tag);
    return young;
  }
  bool zeroed;
  wn_value *old = nursery_allocate_old(domain, words, tag, frame, &zeroed);
  if (old && !(zeroed && tag > WN_TAG_SCANNED_MAX)) fill(old, words, tag);
  return old;
}

static bool is_tag(unsigned tag) { return tag <= WN_TAG_SCANNED_MAX || tag == WN_TAG_RAW; }

static inline wn_ref alloc(wn_domain *domain, size_t words, unsigned tag, const void *frame) {
  if (!caller_may(domain, "alloc")) return null_handle();
  if (words > WN_MAX_WORDS || !is_tag(tag)) {
    error_set(WN_EINVAL,
              words > WN_MAX_WORDS ? "alloc: more than WN_MAX_WORDS words" : "alloc: %u is no tag for blocks",
              tag);
    return null_handle();
  }
  wn_value *fields = allocate(domain, words, tag, frame);
  return fields ? wn_root(domain, (wn_value)fields) : null_handle();
}

OWN_FRAME wn_ref wn_alloc(wn_domain *domain, size_t words, unsigned tag) {
  DEBUG_DOMAIN(domain);
  wn_ref made = alloc(domain, words, tag, __builtin_frame_address(0));
  FRAME_ENDS;
  return made;
}

OWN_FRAME wn_ref wn_alloc_bytes(wn_domain *domain, size_t bytes) {
  DEBUG_DOMAIN(domain);
  size_t words = bytes ? bytes / 8 + (bytes % 8 != 0) : 1;
  wn_ref made = alloc(domain, words, WN_TAG_RAW, __builtin_frame_address(0));
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
  wn_value *mark = domain->face.top;
  if (!nursery_has_room(domain, extent)) {
    if (!nursery_make_room(domain, extent)) return WN_ENOMEM;
    domain->frame = __builtin_frame_address(0);
  }
  for (size_t i = 0; i < n; i++) {
    wn_value *fields = nursery_take(domain, shapes[i].words, shapes[i].tag);
    fill(fields, shapes[i].words, shapes[i].tag);
    blocks[i] = wn_root(domain, (wn_value)fields);
    if (wn_is_null(blocks[i])) {
      domain->face.top = mark;
      return WN_ELIMIT;
    }
  }
  return WN_OK;
}

void *wn_bytes(wn_ref raw) {
  if (CHECKS) debug_check_bytes(raw, __func__);
  if (wn_is_null(raw) || (*raw.slot & 1))
    return error_set(WN_EINVAL, "bytes: the handle is null, or of no block"), NULL;
  wn_value *fields = (wn_value *)*raw.slot;
  return wn_tag(*raw.slot) == WN_TAG_CUSTOM ? fields + CUSTOM_WORDS : fields;
}

void wn_poll_slow(wn_domain *domain) {
  if (!caller_may(domain, "poll")) return;
  if (world_is_stopping(domain->heap)) world_wait(domain);
  if (is_poll_stress_due(domain)) major_collect(domain, COLLECT_MINOR, STOP_STRESS);
  if (!nursery_has_room(domain, 0)) domain_reset_limit(domain); /* it was raised to bring us here */
  finalisers_run_due(domain);
  if (turn_is_asked_for(&domain->turn)) domain_yield(domain);
}
/* SPDX-License-Identifier: MIT */
