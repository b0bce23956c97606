/* The mark loop, and work packets. */
#include "gc/collect/mark.h"

#include "base/metadata.h"
#include "gc/collect/collector.h"
#include <string.h>

enum {
  STACK_ENTRIES = TINY ? 64 : 1 << 22, /* of 16 bytes; unused addresses cost nothing */
  STACK_LEAST = 1 << 12,
  PIECE = TINY ? 4 : 1024, /* fields of a span that are scanned before the rest is put back */
  SHARE_INTERVAL = TINY ? 8 : 1024,
  GLANCE = TINY ? 2 : 8, /* the largest small block, in fields: its header and they fill a line or two */
};

/* SHARED: a part of a mark stack on its way from one marker to another. */
struct mark_packet {
  struct mark_packet *next;
  size_t count;
  struct span spans[PACKET_SPANS];
};

/* ---- the stack ---- */

static struct span *reserve_stack(const struct wn_heap *heap, size_t *entries) {
  struct span *stack = NULL;
  *entries = STACK_ENTRIES;
  if (!heap->stress.mark_most) stack = metadata_reserve_much(*entries * sizeof *stack);
  return stack ? stack : metadata_reserve((*entries = STACK_LEAST) * sizeof *stack);
}

/* RESERVE. False if the marker's stack can be no larger. Never false for a marker without one. */
static bool grow_stack(struct wn_heap *heap, struct marker *marker) {
  size_t entries;
  if (marker->capacity > PACKET_SPANS) return false;
  struct span *stack = reserve_stack(heap, &entries);
  if (stack) {
    memcpy(stack, marker->reserve, marker->count * sizeof *stack);
    event_table_grows(&heap->events, "a mark stack", entries);
  } else if (!marker->capacity) {
    stack = marker->reserve;
    entries = PACKET_SPANS;
  } else {
    return false;
  }
  marker->stack = stack;
  marker->capacity = entries;
  return true;
}

static void mark_push(struct wn_heap *heap, struct marker *marker, wn_value *at, wn_value *end) {
  size_t most = heap->stress.mark_most ? heap->stress.mark_most : marker->capacity;
  if (__builtin_expect(marker->count >= most || marker->count == marker->capacity, 0)) {
    if (!grow_stack(heap, marker)) {
      atomic_store(&heap->collector->marking.overflowed, true);
      return;
    }
  }
  marker->stack[marker->count++] = (struct span){at, end};
}

/* ---- the loop ---- */

static inline bool mark_is_old_block(const struct wn_heap *heap, wn_value value) {
  return !(value & 1) && value - heap->young_base >= heap->young_span;
}

/* Whether the fields of a block must be scanned. The first fields of a block arrive in the cache
 * with its header, and its span would be popped when they may have left again. So a small block is
 * looked at here, when it is marked: most are leaves and need no span. */
static inline bool may_lead_on(const struct wn_heap *heap, wn_value *fields, size_t words) {
  if (words > GLANCE) return true;
  for (size_t i = 0; i < words; i++)
    if (mark_is_old_block(heap, field_load(fields + i))) return true;
  return false;
}

/* `watching` is a constant where this is inlined: it costs the usual loop nothing. */
static inline __attribute__((always_inline)) void visit(struct wn_heap *heap, struct marker *marker,
                                                        wn_value block, unsigned white, bool watching) {
  wn_value header = header_of(block), *fields = (wn_value *)block;
  if (header_colour(header) != white) return;
  atomic_store_explicit(header_at(block), header ^ COLOUR_BITS, memory_order_relaxed);
  size_t words = header_words(header), scanned = block_scanned(header, fields);
  bool pushed = scanned && may_lead_on(heap, fields, scanned);
  marker->words += pushed ? 1 : words + 1; /* the fields of a span count when they are scanned */
  if (pushed) mark_push(heap, marker, fields, fields + scanned);
  if (watching) ephemerons_marked(heap, marker, block);
}

static inline unsigned ring_count(const struct marker *marker) { return marker->ring_end - marker->ring_at; }

static inline wn_value ring_pop(struct marker *marker) { return marker->ring[marker->ring_at++ % RING]; }

static inline __attribute__((always_inline)) void ring_push(struct wn_heap *heap, struct marker *marker,
                                                            wn_value block, unsigned white, bool watching) {
  __builtin_prefetch(header_at(block), 1);
  __builtin_prefetch((wn_value *)block + 1); /* small blocks may begin at the end of a line */
  if (ring_count(marker) == RING) visit(heap, marker, ring_pop(marker), white, watching);
  marker->ring[marker->ring_end++ % RING] = block;
}

static inline __attribute__((always_inline)) void scan(struct wn_heap *heap, struct marker *marker,
                                                       unsigned white, bool watching) {
  struct span span = marker->stack[--marker->count];
  wn_value *end = span.end;
  if (end - span.at > PIECE) {
    end = span.at + PIECE;
    marker->stack[marker->count++] = (struct span){end, span.end};
  }
  marker->words += (size_t)(end - span.at);
  for (wn_value *at = span.at; at < end; at++) {
    wn_value child = field_load(at);
    if (mark_is_old_block(heap, child)) ring_push(heap, marker, child, white, watching);
  }
}

/* ---- sharing ---- */

static struct mark_packet *new_packet(struct marking *marking) {
  struct mark_packet *packet = marking->spare;
  if (packet) marking->spare = packet->next;
  return packet ? packet : metadata_map(sizeof *packet);
}

/* Fills the gap that `given` spans leave at `first`, where `rest` spans follow, with as many spans
 * from the top of the stack. The spans between are not moved down, since a stack can be long. The
 * order of a stack only says which spans lead to the most blocks: the next packet has newer spans
 * than it would have had. */
static void mark_close_gap(struct span *first, size_t given, size_t rest) {
  size_t moved = rest < given ? rest : given;
  memcpy(first, first + given + rest - moved, moved * sizeof *first);
}

/* Moves the `count` spans that begin at `from`, at most PACKET_SPANS, to a packet. False if there
 * is no memory for a packet. */
static bool mark_give(struct wn_heap *heap, struct marker *marker, size_t from, size_t count) {
  struct marking *marking = &heap->collector->marking;
  lock_acquire(&marking->lock, LOCK_RANK_MARK);
  struct mark_packet *packet = new_packet(marking);
  if (packet) {
    struct span *first = marker->stack + from;
    packet->count = count < PACKET_SPANS ? count : PACKET_SPANS;
    marker->count -= packet->count;
    memcpy(packet->spans, first, packet->count * sizeof *first);
    mark_close_gap(first, packet->count, marker->count - from);
    packet->next = marking->packets;
    marking->packets = packet;
    atomic_fetch_add(&marking->packet_count, 1);
  }
  lock_release(&marking->lock, LOCK_RANK_MARK);
  if (!packet) return false;
  struct helpers *helpers = &heap->collector->helpers;
  if (atomic_load(&helpers->reclaimers)) helpers_tell(heap); /* pairs with helpers_await */
  if (atomic_load(&helpers->sleeping)) helpers_wake(heap);   /* pairs with sleep_until_work */
  return true;
}

/* Takes a packet, and moves its spans to an empty stack. */
static bool take_mark(struct wn_heap *heap, struct marker *marker, bool first) {
  struct marking *marking = &heap->collector->marking;
  if (!atomic_load_explicit(&marking->packet_count, memory_order_relaxed)) return false;
  if (!marker->capacity) grow_stack(heap, marker);
  lock_acquire(&marking->lock, LOCK_RANK_MARK);
  bool may = !marker->is_helper || !atomic_load(&heap->collector->helpers.reclaimers);
  struct mark_packet *packet = may ? marking->packets : NULL;
  if (packet) {
    if (first) atomic_fetch_add(&heap->collector->helpers.busy, 1);
    marking->packets = packet->next;
    for (size_t i = 0; i < packet->count; i++) marker->stack[marker->count++] = packet->spans[i];
    packet->next = marking->spare;
    marking->spare = packet;
    atomic_fetch_sub(&marking->packet_count, 1);
  }
  lock_release(&marking->lock, LOCK_RANK_MARK);
  return packet != NULL;
}

static void mark_share(struct wn_heap *heap, struct marker *marker) {
  struct marking *marking = &heap->collector->marking;
  marker->share_at = marker->words + SHARE_INTERVAL;
  if (marker->count < 2 || atomic_load_explicit(&marking->packet_count, memory_order_relaxed)) return;
  if (!atomic_load_explicit(&heap->collector->helpers.sleeping, memory_order_relaxed) &&
      !atomic_load_explicit(&marking->hungry, memory_order_relaxed))
    return;
  atomic_store_explicit(&marking->hungry, false, memory_order_relaxed);
  mark_give(heap, marker, 0, marker->count / 2);
}

static inline __attribute__((always_inline)) size_t mark_loop(struct wn_heap *heap, struct marker *marker,
                                                              size_t words, bool watching) {
  unsigned white = heap_live_colour(heap) ^ COLOUR_BITS;
  size_t before = marker->words;
  while (marker->words - before < words) {
    if (ring_count(marker) > WATERLINE || (ring_count(marker) && !marker->count)) {
      visit(heap, marker, ring_pop(marker), white, watching);
    } else if (marker->count) {
      scan(heap, marker, white, watching);
      if (marker->words >= marker->share_at) mark_share(heap, marker);
    } else if (!take_mark(heap, marker, false)) {
      if (mark_has_others(heap))
        atomic_store_explicit(&heap->collector->marking.hungry, true, memory_order_relaxed);
      break;
    }
  }
  return marker->words - before;
}

/* A round of ephemeron.h. */
static __attribute__((noinline)) size_t mark_watching(struct wn_heap *heap, struct marker *marker,
                                                      size_t words) {
  return mark_loop(heap, marker, words, true);
}

/* ---- shared ---- */

bool mark_has_others(const struct wn_heap *heap) {
  return heap->collector->helpers.count || atomic_load_explicit(&heap->awake, memory_order_relaxed) > 1;
}

void mark_value(struct wn_heap *heap, struct marker *marker, wn_value value) {
  if (mark_is_old_block(heap, value)) visit(heap, marker, value, heap_live_colour(heap) ^ COLOUR_BITS, false);
}

size_t mark_some(struct wn_heap *heap, struct marker *marker, size_t words) {
  bool watching = atomic_load_explicit(&heap->collector->weak.ephemerons.watching, memory_order_acquire);
  return watching ? mark_watching(heap, marker, words) : mark_loop(heap, marker, words, false);
}

bool mark_take(struct wn_heap *heap, struct marker *marker) { return take_mark(heap, marker, false); }
bool mark_take_first(struct wn_heap *heap, struct marker *marker) { return take_mark(heap, marker, true); }

bool mark_is_empty(const struct marker *marker) { return !marker->count && !ring_count(marker); }

void mark_give_all(struct wn_heap *heap, struct marker *marker) {
  unsigned white = heap_live_colour(heap) ^ COLOUR_BITS;
  while (ring_count(marker)) visit(heap, marker, ring_pop(marker), white, false);
  while (marker->count) { /* from the top, so that nothing is moved down */
    size_t count = marker->count < PACKET_SPANS ? marker->count : PACKET_SPANS;
    if (!mark_give(heap, marker, marker->count - count, count)) break;
  }
  if (marker->count) {
    atomic_store(&heap->collector->marking.overflowed, true);
    marker->count = 0;
  }
}

void marker_destroy(struct marker *marker) {
  if (marker->stack != marker->reserve)
    metadata_give_back(marker->stack, marker->capacity * sizeof *marker->stack);
  *marker = (struct marker){0};
}

/* ---- OVERFLOW ---- */

struct again {
  struct wn_heap *heap;
  struct marker *marker;
};

/* Marks the children of a marked block, and the blocks that they lead to, as far as the stack holds
 * them. */
static void again_block(wn_value *at, void *context) {
  struct again *again = context;
  wn_value header = *at;
  if (header_colour(header) != heap_live_colour(again->heap)) return;
  for (size_t i = 1; i <= block_scanned(header, at + 1); i++)
    mark_value(again->heap, again->marker, field_load(at + i));
  mark_some(again->heap, again->marker, SIZE_MAX);
}

void mark_again(struct wn_heap *heap, struct marker *marker) {
  struct again again = {heap, marker};
  do {
    atomic_store(&heap->collector->marking.overflowed, false);
    store_each_block(&heap->store, again_block, &again);
  } while (atomic_load(&heap->collector->marking.overflowed));
}

static void mark_destroy_list(struct mark_packet *packet) {
  while (packet) {
    struct mark_packet *next = packet->next;
    metadata_unmap(packet, sizeof *packet);
    packet = next;
  }
}

void mark_destroy(struct wn_heap *heap) {
  mark_destroy_list(heap->collector->marking.packets);
  mark_destroy_list(heap->collector->marking.spare);
}
/* SPDX-License-Identifier: MIT */
