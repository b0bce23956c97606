/* Placing minor heaps, and dividing them into pieces. */
#include "gc/collect/nursery.h"

#include "base/metadata.h"
#include <sys/mman.h>

/* A slot of 256 MiB lets a minor heap grow to 32 M words; less is tried where addresses are
 * short. */
static const size_t slot_bytes[] = {(size_t)1 << 28, (size_t)1 << 26, (size_t)1 << 24, (size_t)1 << 22};
enum { SIZES = sizeof slot_bytes / sizeof *slot_bytes, ALIGNMENT = 1 << 21, ADDRESSES_PART = 4 };

static bool reserve_slots(struct wn_heap *heap, size_t slot, size_t most) {
  size_t span = slot * heap->domains_most;
  char *reserved = span <= most ? metadata_reserve_addresses(span + ALIGNMENT) : NULL;
  if (!reserved) return false;
  heap->young_slot_bytes = slot;
  heap->young_slot_shift = (unsigned)__builtin_ctzl(slot);
  heap->young_base = ((uintptr_t)reserved + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  heap->young_span = span + sizeof(wn_value); /* a block without fields may begin where the last slot ends */
  heap->young_reserved = reserved;
  return true;
}

/* The rest of a limited address space is for what the heap and the program map. */
bool nursery_reserve(struct wn_heap *heap) {
  size_t most = metadata_addresses() / ADDRESSES_PART, wanted = (size_t)heap->control.minor_heap_size * 8;
  unsigned least = SIZES - 1;
  while (least && slot_bytes[least] < wanted) least--;
  for (unsigned i = 0; i < least; i++)
    if (reserve_slots(heap, slot_bytes[i], most)) return true;
  for (; heap->domains_most > 1; heap->domains_most /= 2)
    if (reserve_slots(heap, slot_bytes[least], most)) return true;
  return reserve_slots(heap, slot_bytes[least], SIZE_MAX);
}

void nursery_release(struct wn_heap *heap) {
  if (heap->young_reserved)
    metadata_give_back(heap->young_reserved, heap->young_slot_bytes * heap->domains_most + ALIGNMENT);
}

size_t nursery_words_most(const struct wn_heap *heap) { return heap->young_slot_bytes / 8; }

static size_t nursery_whole_pages(size_t bytes) { return (bytes + 4095) & ~(size_t)4095; }

static char *nursery_slot_of(const struct wn_domain *domain) {
  const struct wn_heap *heap = domain->heap;
  return (char *)heap->young_base + domain->index * heap->young_slot_bytes;
}

size_t nursery_piece_bytes(const struct wn_domain *domain) {
  return domain->young_words / nursery_pieces(domain) * 8;
}

/* Gives memory to the addresses between `from` and the slot's end. */
static bool lower_floor(struct wn_domain *domain, char *from) {
  uintptr_t first = ((uintptr_t)from + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  char *end = domain->young_floor;
  if (!metadata_make_accessible(from, (size_t)(end - from))) return false;
  if (domain->heap->store.chunks.huge_pages && first < (uintptr_t)end)
    madvise((void *)first, ((uintptr_t)end - first) & ~(uintptr_t)(ALIGNMENT - 1),
            MADV_HUGEPAGE); /* may be refused */
  poison(from, (size_t)(end - from));
  domain->young_floor = from;
  return true;
}

bool nursery_place(struct wn_domain *domain, size_t words) {
  char *end = nursery_slot_of(domain) + domain->heap->young_slot_bytes,
       *floor = end - nursery_whole_pages(words * 8);
  if (!domain->young_floor) domain->young_floor = end;
  if (floor < domain->young_floor && !lower_floor(domain, floor)) return false;
  if (domain->young_floor < floor) {
    unpoison(domain->young_floor, (size_t)(floor - domain->young_floor));
    madvise(domain->young_floor, (size_t)(floor - domain->young_floor), MADV_DONTNEED);
  }
  domain->young_floor = floor;
  domain->young_words = words;
  domain->stale = domain->stale_end = NULL; /* its memory is in use again, or has gone back */
  domain->young_start = domain->young_end = end;
  domain_begin_young(domain, end);
  domain_reset_limit(domain);
  return true;
}

void nursery_leave(const struct wn_domain *domain) {
  char *end = nursery_slot_of(domain) + domain->heap->young_slot_bytes;
  if (domain->young_floor) unpoison(domain->young_floor, (size_t)(end - domain->young_floor));
}

/* POISONED: the blocks of the pieces have moved. */
static void poison_pieces(const struct wn_domain *domain) {
  poison(domain->young_start, (size_t)(domain->young_end - domain->young_start));
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
    poison_pieces(domain);
    domain->young_start = domain->young_end;
    if (!domain->awake) continue;
    left += (intptr_t)((nursery_slices(domain) - 1) * nursery_piece_bytes(domain));
    heap->young_most += nursery_words(domain);
  }
  heap->young_budget = (size_t)left;
  atomic_store(&heap->young_left, left);
}

static bool has_memory(struct wn_domain *domain, const char *from) {
  size_t more = nursery_whole_pages(domain->young_words * 8),
         room = (size_t)(domain->young_floor - nursery_slot_of(domain));
  return from >= domain->young_floor ||
         lower_floor(domain, domain->young_floor - (more < room ? more : room));
}

/* Where blocks move at each collection (nursery_move) the minor heap can begin anywhere in its
 * slot, so that there is less room below it. */
bool nursery_take_piece(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  size_t piece = nursery_piece_bytes(domain), most = MOST_SIZES * domain->young_words * 8;
  bool first = domain->young_start == domain->young_end;
  size_t room = (size_t)(domain->young_start - nursery_slot_of(domain));
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
  unpoison(from, piece);
  domain->young_start = from;
  return true;
}

void nursery_move(struct wn_domain *domain, size_t used) {
  enum { PLACES = 8 };
  const struct wn_heap *heap = domain->heap;
  char *top = nursery_slot_of(domain) + heap->young_slot_bytes;
  size_t pages = nursery_whole_pages(domain->young_words * 8);
  char *end = domain->young_end - pages;
  if ((size_t)(top - end) + pages > PLACES * pages || (size_t)(top - end) + pages > heap->young_slot_bytes)
    end = top;
  domain->stale = domain->stale_end = NULL;
  if (end == domain->young_end) return;
  if (end - pages < domain->young_floor && !lower_floor(domain, end - pages)) return;
  domain->stale = domain->young_end - used * 8;
  domain->stale_end = domain->young_end;
  poison_pieces(domain);
  domain->young_start = domain->young_end = end;
  domain_begin_young(domain, end);
}

/* The worst case: every domain has taken its first piece, and all of BUDGET was taken by domains
 * that are or were there. All of it survives, each block is rounded up, each pool has a tail, and
 * each domain leaves a pool of each class unfinished. A block without fields becomes twice as
 * large, and no block grows by more. */
void nursery_secure(struct wn_heap *heap) {
  size_t bytes = heap->young_budget, domains = 0;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    bytes += nursery_piece_bytes(domain);
    domains++;
  }
  size_t units = (TINY ? 3 * bytes : 2 * bytes + bytes / 256) / UNIT_BYTES + 1 + domains * CLASSES;
  atomic_store(&heap->starved, !chunks_secure(&heap->store.chunks, units));
}
/* SPDX-License-Identifier: MIT */
