/* Evacuating, updating, and the workers. */
#include "gc/collect/compact.h"

#include "gc/collect/collector.h"
#include "gc/collect/visitors.h"
#include "gc/domains/backoff.h"
#include "gc/domains/debug.h"
#include "gc/domains/safepoint.h"
#include <sched.h>
#include <string.h>

enum {
  NEVER = 1000000, /* max_overhead */
  LIMIT_OVERHEAD = 6,
  WASTE_PART = 10, /* WASTE */
  WASTE_CYCLES = 2,
  FIELDS_AHEAD = 16,
  /* WORKERS: what there must be for each worker besides the leader: words that move, or chunks. */
  WORDS_PER_WORKER = TINY ? 1 : 4 * CLASSES * POOL_WORDS,
  CHUNKS_PER_WORKER = TINY ? 1 : 8,
};

static struct compaction *compaction_of(const struct wn_domain *domain) {
  return &domain->heap->collector->compaction;
}

/* ---- EVACUATE ---- */

/* Copies a block to `to`. */
static size_t move_block(wn_value *at, wn_value *to, wn_value header) {
  size_t extent = header_extent(header);
  memcpy(to, at, extent * sizeof *at);
  atomic_store_explicit((_Atomic(wn_value) *)at, (wn_value)(to + 1) | MOVED, memory_order_relaxed);
  return extent;
}

static bool may_move(const struct wn_heap *heap, const wn_value *at) {
  return !pins_has(heap, (wn_value)(at + 1));
}

static size_t evacuate_pool(struct wn_domain *domain, struct pool *pool) {
  struct wn_heap *heap = domain->heap;
  size_t moved = 0, words = class_words[pool->class];
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    wn_value header = *at;
    if (header_colour(header) == COLOUR_FREE) {
      at += header_extent(header);
      continue;
    }
    if (may_move(heap, at)) {
      wn_value *to = pools_take(&heap->store, domain->runs, header_extent(header), false);
      if (!to) break;
      moved += move_block(at, to, header);
    }
    at += words;
  }
  return moved;
}

static size_t evacuate_chunk(struct wn_domain *domain, const struct chunk *chunk) {
  struct wn_heap *heap = domain->heap;
  size_t moved = 0, *new_chunks = &compaction_of(domain)->evacuation.new_chunks;
  for (wn_value *at = medium_first(chunk), *next; at < medium_end(chunk); at = next) {
    wn_value header = *at;
    next = at + medium_extent(header);
    if (header_colour(header) == COLOUR_FREE || !may_move(heap, at)) continue;
    wn_value *to = medium_take_copy(&heap->store, header_extent(header), header, new_chunks);
    if (to) moved += move_block(at, to, header);
  }
  return moved;
}

/* This and `update` return how many tasks the thread did. */
static size_t evacuate(struct wn_domain *domain) {
  struct compaction *of = compaction_of(domain);
  const struct evacuation *evacuation = &of->evacuation;
  size_t moved = 0, tasks = 0;
  for (;; tasks++) {
    size_t task = atomic_fetch_add_explicit(&of->next, 1, memory_order_relaxed);
    if (task < evacuation->chunk_count)
      moved += evacuate_chunk(domain, evacuation->chunks[task]);
    else if (task - evacuation->chunk_count < evacuation->pool_count)
      moved += evacuate_pool(domain, evacuation->pools[task - evacuation->chunk_count]);
    else
      break;
  }
  atomic_fetch_add(&of->moved_words, moved);
  return tasks;
}

/* ---- UPDATE ---- */

/* The last fields that lead to a chunk which blocks have left: the headers that these fields lead
 * to are on their way from memory. */
struct updater {
  const struct evacuation *evacuation;
  wn_value *ring[FIELDS_AHEAD];
  unsigned at;
};

static inline void compact_follow(wn_value *field) {
  wn_value header = header_of(*field);
  if (header_is_moved(header)) *field = header_moved_to(header);
}

static inline void update_field(struct updater *updater, wn_value *field) {
  wn_value value = *field;
  if (value & 1 || !evacuation_concerns(updater->evacuation, value)) return;
  __builtin_prefetch((const wn_value *)value - 1);
  wn_value **place = &updater->ring[updater->at++ % FIELDS_AHEAD];
  if (*place) compact_follow(*place);
  *place = field;
}

static void drain(struct updater *updater) {
  for (unsigned i = 0; i < FIELDS_AHEAD; i++)
    if (updater->ring[i]) compact_follow(updater->ring[i]);
}

/* A weak block's EMPTY is no value that may have moved. */
static inline void update_block(wn_value *at, void *updater) {
  wn_value header = *at;
  if (header_is_moved(header)) return;
  size_t words = header_tag(header) == WN_TAG_WEAK ? header_words(header) : block_scanned(header, at + 1);
  for (size_t i = 1; i <= words; i++) update_field(updater, at + i);
}

static void update_medium(struct updater *updater, const struct chunk *chunk) {
  for (wn_value *at = medium_first(chunk); at < medium_end(chunk); at += medium_extent_at(at))
    if (header_colour(*at) != COLOUR_FREE) update_block(at, updater);
}

static void update_chunk(struct updater *updater, const struct chunk *chunk) {
  if (chunk->use == CHUNK_MEDIUM) update_medium(updater, chunk);
  if (chunk->use != CHUNK_POOLS) return;
  for (unsigned unit = 0; unit < CHUNK_UNITS; unit++)
    if (chunk->used >> unit & 1)
      pool_each_block((struct pool *)(chunk->base + (size_t)unit * UNIT_BYTES), update_block, updater);
}

static void update_large(struct updater *updater, const struct medium *medium) {
  for (struct large *large = medium->large; large; large = large->next) update_block(&large->header, updater);
}

/* The first task is all large blocks. */
static size_t update(struct wn_domain *domain) {
  struct compaction *of = compaction_of(domain);
  const struct store *store = &domain->heap->store;
  struct updater updater = {.evacuation = &of->evacuation};
  size_t tasks = 0;
  for (;; tasks++) {
    size_t task = atomic_fetch_add_explicit(&of->next, 1, memory_order_relaxed);
    if (task > store->chunks.count) break;
    if (task)
      update_chunk(&updater, &store->chunks.table[task - 1]);
    else
      update_large(&updater, &store->medium);
  }
  drain(&updater);
  return tasks;
}

static void update_place(void *visitor, wn_value *place) {
  const struct evacuation *evacuation = visitor;
  if (!(*place & 1) && evacuation_concerns(evacuation, *place)) compact_follow(place);
}

/* ---- WORKERS ---- */

static size_t compact_work(struct wn_domain *domain, enum compaction_step step) {
  return step == STEP_EVACUATE ? evacuate(domain) : update(domain);
}

static void do_step(struct wn_domain *leader, enum compaction_step step) {
  struct wn_heap *heap = leader->heap;
  struct compaction *of = compaction_of(leader);
  bool shares = of->workers && atomic_load_explicit(&heap->awake, memory_order_relaxed) > 1;
  of->step = step;
  atomic_store(&of->next, 0);
  if (shares) {
    atomic_store(&of->open, true);
    world_share_collection(heap);
  }
  compact_work(leader, step);
  if (!shares) return;
  atomic_store(&of->open, false);
  world_unshare_collection(heap);
  while (atomic_load(&of->active)) sched_yield();
}

void compact_lose_workers(struct wn_heap *heap) { atomic_store(&heap->collector->compaction.active, 0); }

void compact_join(struct wn_domain *domain) {
  struct compaction *of = compaction_of(domain);
  if (!atomic_load(&of->open)) return;
  unsigned others = atomic_fetch_add(&of->active, 1);
  DEBUG_STEP(domain->heap);
  if (atomic_load(&of->open) && others < of->workers)
    atomic_fetch_add(&of->shared_tasks[of->step], compact_work(domain, of->step));
  DEBUG_STEP(domain->heap);
  atomic_fetch_sub(&of->active, 1);
}

/* ---- a compaction ---- */

static void move_all(struct wn_heap *heap, struct wn_domain *leader) {
  struct compaction *of = compaction_of(leader);
  of->workers = (unsigned)((of->evacuation.pool_words + of->evacuation.chunk_words) / WORDS_PER_WORKER);
  do_step(leader, STEP_EVACUATE);
  domains_flush_pools(heap);
  of->workers = (unsigned)(heap->store.chunks.used_count / CHUNKS_PER_WORKER);
  do_step(leader, STEP_UPDATE);
  visitors_each(heap, false, update_place, &of->evacuation);
  identities_rehash(heap);
  evacuation_end(&heap->store, &of->evacuation);
}

static size_t overhead_words(const struct wn_heap *heap) {
  size_t used = atomic_load(&heap->store.chunks.used_bytes) / 8;
  size_t live = atomic_load(&heap->collector->pace.live_words);
  return used > live ? used - live : 0;
}

static void keep_pinned(void *store, wn_value *block) { evacuation_keep(store, *block); }

/* ---- shared ---- */

bool compact_is_due(struct wn_heap *heap, size_t allowance) {
  struct compaction *of = &heap->collector->compaction;
  long most = heap->control.max_overhead;
  size_t overhead = overhead_words(heap);
  if (overhead < of->overhead_left) of->overhead_left = overhead;
  double gain = (double)(overhead - of->overhead_left);
  double percent = (double)atomic_load(&heap->collector->pace.live_words) / 100;
  bool wastes = gain >= (double)allowance + (double)most / WASTE_PART * percent;
  of->wasteful_cycles = wastes ? of->wasteful_cycles + 1 : 0;
  if (most >= NEVER) return false;
  if (most > LIMIT_OVERHEAD && limit_wants_compaction(heap)) most = LIMIT_OVERHEAD;
  return !most || gain >= (double)most * percent || of->wasteful_cycles >= WASTE_CYCLES;
}

void compact(struct wn_heap *heap, struct wn_domain *leader, bool requested) {
  struct compaction *of = &heap->collector->compaction;
  uint64_t began = event_compaction_begins(&heap->events);
  ASSERT(heap_phase(heap) == PHASE_IDLE && visitors_have_all(heap));
  helpers_pause(heap);
  domains_flush_pools(heap);
  atomic_store(&of->moved_words, 0);
  for (unsigned step = 0; step < STEPS_SHARED; step++) atomic_store(&of->shared_tasks[step], 0);
  pins_each(heap, keep_pinned, &heap->store);
  bool moves = evacuation_begin(&heap->store, &of->evacuation, heap->stress.move_all);
  if (moves) move_all(heap, leader);
  size_t given_back = moves || requested ? chunks_trim(&heap->store.chunks, 0) : 0;
  of->overhead_left = overhead_words(heap);
  helpers_resume(heap);
  if (!moves && !requested) return;
  atomic_fetch_add(&heap->compactions, 1);
  event_compaction(&heap->events, leader, began, atomic_load(&of->moved_words), given_back,
                   atomic_load(&heap->store.chunks.mapped_bytes));
}
/* SPDX-License-Identifier: MIT */
