/* The region: this file has the slots for small blocks, runs.c the page runs for larger ones.
 *
 *   base                                   base + SLOT_AREA                              base + span
 *   | span | span | span | ...             | runs of pages ...                                |
 *
 * The slot area is cut into spans of 64 KiB, each for one size class. Spans are taken in order and
 * kept for ever. The record of a slot (its block, whether it is live, the next free slot) lies in a
 * side array and never in the block, so that a program that writes past a block's end does not
 * damage it.
 *
 * The free slots of a class form a lock-free stack. Its head is {tag, slot} and changes by
 * compare-and-swap. The tag grows with each change, so the exchange fails if the head was popped
 * and pushed again meanwhile (ABA). There is no lock, since a signal handler may free a block while
 * its thread allocates one, and fork may happen at any instant. Each span belongs to the stripe of
 * the thread that opened it, and each stripe has stacks of its own, so threads rarely meet at a
 * stack or share cache lines of blocks.
 *
 * ACCESSIBLE: the reserved addresses can neither be read nor written at first, and core dumps leave
 * them out. They are made accessible in steps, from the bottom of each area up, as blocks need
 * them, and stay accessible. Otherwise the data size in /proc and RLIMIT_DATA would count the whole
 * reserve, and gdb's gcore would write it.
 *
 * A thread that frees a slot exchanges its live mark, so that of two threads that free one block
 * the second finds out.
 */
#include "preload/region.h"

#include "base/check.h"
#include "base/metadata.h"
#include "base/stripe.h"
#include "preload/runs.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
  SPAN_SHIFT = 16,
  SPAN_BYTES = 1 << SPAN_SHIFT,
  STEP_SPANS = 16, /* made accessible at one time */
  SLOT_BITS = 12,  /* a span holds at most 4096 slots of 16 bytes */
  CLASSES = 36,
};

#define GIB          ((size_t)1 << 30)
#define SLOT_AREA    (TINY ? GIB : 64 * GIB)
#define SPANS        (SLOT_AREA >> SPAN_SHIFT)
#define LARGEST_SLOT REGION_LARGEST_SLOT

/* 16-byte steps up to 128, then four sizes a doubling up to 16 KiB: 12.5 % lost to rounding on
 * average. */
static const uint16_t class_bytes[CLASSES] = {16,   32,   48,   64,   80,   96,    112,   128,   160,
                                              192,  224,  256,  320,  384,  448,   512,   640,   768,
                                              896,  1024, 1280, 1536, 1792, 2048,  2560,  3072,  3584,
                                              4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384};

struct slot {
  struct sampled_block block; /* written by the block's owner */
  _Atomic(uint32_t) next;     /* id of the next free slot + 1; pairs with the class head */
  _Atomic(uint32_t) live;     /* 1 from allocation to release */
};

/* Set when the span is first used; constant afterwards. */
struct span {
  uint16_t class, stripe;
  uint32_t slots;
  struct slot slot[];
};

static uintptr_t area;                /* constant after region_reserve */
static _Atomic(struct span *) *spans; /* index: span number; NULL: not used yet; pairs with span_of */
static struct {
  _Alignas(STRIPE_BYTES) _Atomic(uint64_t) head[CLASSES]; /* tag << 32 | slot id + 1 */
} free_slots[STRIPES];
static _Atomic(size_t) spans_used;
static _Atomic(size_t) steps_made; /* how many steps are accessible, at least */

static size_t span_number(const void *address) { return ((uintptr_t)address - area) >> SPAN_SHIFT; }
static bool in_slot_area(const void *address) { return (uintptr_t)address - area < SLOT_AREA; }

static struct slot *slot_of_id(uint32_t id) {
  struct span *span = atomic_load_explicit(&spans[id >> SLOT_BITS], memory_order_acquire);
  return &span->slot[id & ((1u << SLOT_BITS) - 1)];
}

static void *address_of_id(uint32_t id, unsigned class) {
  uint32_t index = id & ((1u << SLOT_BITS) - 1);
  return (void *)(area + ((uintptr_t)(id >> SLOT_BITS) << SPAN_SHIFT) +
                  (uintptr_t)index * class_bytes[class]);
}

/* The span that an address lies in; NULL if that span was never used. */
static struct span *span_of(const void *address) {
  return atomic_load_explicit(&spans[span_number(address)], memory_order_acquire);
}

/* region_slot_of and region_id_of need a place whose `block` is not NULL. */
static struct slot *region_slot_of(struct sampled_place place) {
  return (struct slot *)((char *)place.block - offsetof(struct slot, block));
}
static uint32_t region_id_of(struct sampled_place place) {
  uint32_t index = (uint32_t)(region_slot_of(place) - span_of(place.address)->slot);
  return (uint32_t)(span_number(place.address) << SLOT_BITS) | index;
}

static struct sampled_block *slot_find(const void *address) {
  struct span *span = span_of(address);
  if (!span) return NULL;
  uint32_t offset = (uint32_t)((uintptr_t)address & (SPAN_BYTES - 1));
  uint32_t index = offset / class_bytes[span->class];
  if (index >= span->slots || index * class_bytes[span->class] != offset) return NULL;
  return &span->slot[index].block;
}

/* Pushes free slots of one span, which are linked already from `first` to `last`. */
static void region_push(uint32_t first, struct slot *last) {
  const struct span *span = atomic_load_explicit(&spans[first >> SLOT_BITS], memory_order_relaxed);
  _Atomic(uint64_t) *free = &free_slots[span->stripe].head[span->class];
  uint64_t head = atomic_load_explicit(free, memory_order_relaxed), changed;
  do {
    atomic_store_explicit(&last->next, (uint32_t)head, memory_order_relaxed);
    changed = ((head >> 32) + 1) << 32 | (first + 1);
  } while (!atomic_compare_exchange_weak_explicit(free, &head, changed, memory_order_release,
                                                  memory_order_relaxed));
}

/* Pops a free slot of a class and stripe: its id + 1, or 0 when there is none. */
static uint32_t region_pop(unsigned class, unsigned stripe) {
  _Atomic(uint64_t) *free = &free_slots[stripe].head[class];
  uint64_t head = atomic_load_explicit(free, memory_order_acquire);
  while ((uint32_t)head) {
    uint32_t next = atomic_load_explicit(&slot_of_id((uint32_t)head - 1)->next, memory_order_relaxed);
    uint64_t changed = ((head >> 32) + 1) << 32 | next;
    if (atomic_compare_exchange_weak_explicit(free, &head, changed, memory_order_acquire,
                                              memory_order_acquire))
      return (uint32_t)head;
  }
  return 0;
}

/* ACCESSIBLE. Several threads may make the same step accessible. */
static bool make_span_accessible(size_t number) {
  size_t step = number / STEP_SPANS, bytes = (size_t)STEP_SPANS << SPAN_SHIFT;
  if (step < atomic_load_explicit(&steps_made, memory_order_relaxed)) return true;
  if (!metadata_make_accessible((void *)(area + step * bytes), bytes)) return false;
  if (atomic_compare_exchange_strong_explicit(&steps_made, &step, step + 1, memory_order_relaxed,
                                              memory_order_relaxed))
    metadata_count_pages_in((void *)(area + step * bytes), bytes);
  return true;
}

/* Takes the next span and makes its memory accessible. */
static bool take_span(size_t *number) {
  *number = atomic_load_explicit(&spans_used, memory_order_relaxed);
  do
    if (*number >= SPANS || !make_span_accessible(*number)) return false;
  while (!atomic_compare_exchange_weak_explicit(&spans_used, number, *number + 1, memory_order_relaxed,
                                                memory_order_relaxed));
  return true;
}

/* Opens a new span and pushes its slots; the first slot will be popped first. False if no span is
 * left. */
static bool open_span(unsigned class, unsigned stripe) {
  uint32_t slots = SPAN_BYTES / class_bytes[class];
  struct span *span = metadata_map(sizeof *span + slots * sizeof *span->slot);
  if (!span) return false;
  size_t number;
  if (!take_span(&number)) {
    metadata_unmap(span, sizeof *span + slots * sizeof *span->slot);
    return false;
  }
  span->class = (uint16_t) class;
  span->stripe = (uint16_t)stripe;
  span->slots = slots;
  uint32_t first = (uint32_t)(number << SLOT_BITS);
  for (uint32_t i = 0; i + 1 < slots; i++)
    atomic_store_explicit(&span->slot[i].next, first + i + 2, memory_order_relaxed);
  atomic_store_explicit(&spans[number], span, memory_order_release);
  region_push(first, &span->slot[slots - 1]);
  return true;
}

/* The smallest class that holds `bytes` at a multiple of `alignment`; CLASSES if none does. Spans
 * are aligned to 64 KiB, so a slot is aligned to each power of two that divides its class's
 * size. */
static unsigned region_class_of(size_t bytes, size_t alignment) {
  if (bytes > LARGEST_SLOT || alignment > LARGEST_SLOT) return CLASSES;
  unsigned class = bytes <= 128 ? (unsigned)(bytes ? (bytes - 1) / 16 : 0) : 0;
  if (bytes > 128) {
    unsigned doubling = 63 - (unsigned)__builtin_clzll(bytes - 1); /* 2^doubling < bytes <= 2^(doubling+1) */
    class = 8 + (doubling - 7) * 4 + (unsigned)((bytes - 1 - ((size_t)1 << doubling)) >> (doubling - 2));
  }
  while (class < CLASSES && class_bytes[class] % alignment) class ++;
  return class;
}

static struct sampled_place slot_allocate(unsigned class) {
  unsigned stripe = stripe_of_thread();
  uint32_t taken;
  while (!(taken = region_pop(class, stripe)))
    if (!open_span(class, stripe)) return (struct sampled_place){0};
  struct slot *slot = slot_of_id(taken - 1);
  slot->block = (struct sampled_block){.bytes = 0};
  atomic_store_explicit(&slot->live, 1, memory_order_relaxed);
  return (struct sampled_place){address_of_id(taken - 1, class), &slot->block};
}

static bool slot_release(struct sampled_place place) {
  struct slot *slot = region_slot_of(place);
  if (!atomic_exchange_explicit(&slot->live, 0, memory_order_relaxed)) return false;
  region_push(region_id_of(place), slot);
  return true;
}

static bool address_space_is_limited(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* ---- shared ---- */

bool region_reserve(struct region_range *range) {
  if (address_space_is_limited()) return false;
  static const size_t run_areas[] = {1024 * GIB, 256 * GIB, 64 * GIB, 16 * GIB};
  for (size_t i = 0; i < sizeof run_areas / sizeof *run_areas; i++) {
    size_t span = SLOT_AREA + run_areas[i];
    char *reserved = metadata_reserve_addresses(span + GIB);
    if (!reserved) continue;
    area = ((uintptr_t)reserved + GIB - 1) & ~(GIB - 1);
    /* Huge pages would make a handful of sampled blocks cost megabytes. */
    madvise((void *)area, SLOT_AREA, MADV_NOHUGEPAGE);
    spans = metadata_reserve(SPANS * sizeof *spans);
    if (spans && runs_create(area + SLOT_AREA, run_areas[i])) {
      *range = (struct region_range){area, span};
      return true;
    }
    metadata_give_back(spans, SPANS * sizeof *spans);
    metadata_give_back(reserved, span + GIB);
  }
  return false;
}

struct sampled_place region_allocate(size_t bytes, size_t alignment, bool *zeroed) {
  unsigned class = region_class_of(bytes, alignment);
  if (class == CLASSES) return runs_allocate(bytes, alignment, zeroed);
  *zeroed = false;
  return slot_allocate(class);
}

struct sampled_place region_allocate_growing(size_t bytes) {
  bool zeroed;
  return bytes <= LARGEST_SLOT ? region_allocate(bytes, 16, &zeroed) : runs_allocate_growing(bytes);
}

struct sampled_block *region_find(const void *address) {
  return in_slot_area(address) ? slot_find(address) : runs_find(address);
}

bool region_is_live(struct sampled_place place) {
  if (!place.block) return false;
  if (!in_slot_area(place.address)) return runs_is_live(place);
  return atomic_load_explicit(&region_slot_of(place)->live, memory_order_relaxed);
}

size_t region_usable(struct sampled_place place) {
  if (!place.block) return 0;
  return in_slot_area(place.address) ? class_bytes[span_of(place.address)->class] : runs_usable(place);
}

bool region_resize(struct sampled_place place, size_t bytes) {
  if (!in_slot_area(place.address)) return runs_resize(place, bytes);
  size_t usable = region_usable(place);
  return bytes <= usable && bytes > usable / 2;
}

bool region_release(struct sampled_place place) {
  if (!place.block) return false;
  return in_slot_area(place.address) ? slot_release(place) : runs_release(place);
}
void region_give_back_idle(void) { runs_give_back_idle(); }
size_t region_confine(void) {
  return runs_confine() + (atomic_load_explicit(&spans_used, memory_order_relaxed) << SPAN_SHIFT);
}
void region_before_fork(void) { runs_before_fork(); }
void region_after_fork(void) { runs_after_fork(); }
/* SPDX-License-Identifier: MIT */
