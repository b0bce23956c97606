/* The plan of an evacuation, and its end. */
#include "gc/store/evacuation.h"

#include "base/metadata.h"

enum {
  /* A chunk is nearly full, or nearly all of its units are needed, from so many eighths on. */
  STAYS_FROM = 7,
  EIGHTHS = 8,
  DENSITIES = 65,
};

/* A chunk whose future is to be decided. */
struct candidate {
  struct chunk *chunk;
  size_t live_words;
};

/* What a plan is made from. */
struct plan {
  struct store *store;
  struct evacuation *evacuation;
  bool all;
  struct candidate *candidates, *sorted;
  size_t count, most;
  size_t need[CLASSES]; /* live blocks; then pools that no chunk that stays has yet */
};

/* ---- candidates ---- */

/* STAYS: such a chunk ranks as a full one. */
static unsigned density_of(const struct candidate *candidate) {
  if (candidate->chunk->pinned) return DENSITIES - 1;
  return (unsigned)(candidate->live_words * (DENSITIES - 1) / CHUNK_WORDS);
}

/* The fullest first; those of about the same density by address. */
static void sort_candidates(struct plan *plan) {
  size_t begins[DENSITIES + 1] = {0};
  for (size_t i = 0; i < plan->count; i++) begins[DENSITIES - density_of(&plan->candidates[i])]++;
  for (unsigned i = 1; i <= DENSITIES; i++) begins[i] += begins[i - 1];
  for (size_t i = 0; i < plan->count; i++)
    plan->sorted[begins[DENSITIES - 1 - density_of(&plan->candidates[i])]++] = plan->candidates[i];
}

/* ---- pools ---- */

static struct pool *pool_of(const struct chunk *chunk, unsigned unit) {
  return chunk->used >> unit & 1 ? (struct pool *)(chunk->base + (size_t)unit * UNIT_BYTES) : NULL;
}

static void count_live(struct pool *pool) {
  size_t free = 0;
  for (const wn_value *run = pool->free; run; run = (const wn_value *)run[1]) free += header_extent(*run);
  pool->live = (uint32_t)(pool_capacity(pool->class) - free / class_words[pool->class]);
  pool->leaving = false;
}

static void add_pool_chunk(struct plan *plan, struct chunk *chunk) {
  size_t live_words = 0;
  for (unsigned unit = 0; unit < CHUNK_UNITS; unit++) {
    struct pool *pool = pool_of(chunk, unit);
    if (!pool) continue;
    count_live(pool);
    plan->need[pool->class] += pool->live;
    live_words += (size_t)pool->live * class_words[pool->class];
  }
  plan->candidates[plan->count++] = (struct candidate){chunk, live_words};
}

static void evacuation_leave(struct plan *plan, struct pool *pool) {
  struct evacuation *evacuation = plan->evacuation;
  pool->leaving = true;
  evacuation->pools[evacuation->pool_count++] = pool;
  evacuation->pool_words += (size_t)pool->live * class_words[pool->class];
}

/* Takes the pools of a chunk that their classes need, and those that must stay, out of the need.
 * Returns these as bits. */
static uint32_t take_needed(struct plan *plan, const struct chunk *chunk) {
  uint32_t needed = 0;
  for (unsigned unit = 0; unit < CHUNK_UNITS; unit++) {
    struct pool *pool = pool_of(chunk, unit);
    if (!pool || (!plan->need[pool->class] && !pool->pinned)) continue;
    if (plan->need[pool->class]) plan->need[pool->class]--;
    needed |= 1u << unit;
  }
  return needed;
}

static void give_back_needed(struct plan *plan, const struct chunk *chunk, uint32_t needed) {
  for (unsigned unit = 0; unit < CHUNK_UNITS; unit++)
    if (needed >> unit & 1) plan->need[pool_of(chunk, unit)->class]++;
}

/* The units of a chunk that stay; 0 if the chunk does not. */
static uint32_t units_that_stay(struct plan *plan, const struct chunk *chunk) {
  if (plan->all) return 0;
  uint32_t needed = take_needed(plan, chunk);
  if (chunk->pinned) return needed;
  if (__builtin_popcount(needed) * EIGHTHS >= STAYS_FROM * CHUNK_UNITS) return needed;
  give_back_needed(plan, chunk, needed);
  return 0;
}

/* POOLS. Decides about each chunk. Returns how many are to become empty, less those that are to be
 * taken for it. */
static long choose_pools(struct plan *plan) {
  long leaving = 0, units = 0;
  for (unsigned class = 0; class < CLASSES; class ++)
    plan->need[class] = (plan->need[class] + pool_capacity(class) - 1) / pool_capacity(class);
  sort_candidates(plan);
  for (size_t i = 0; i < plan->count; i++) {
    struct chunk *chunk = plan->sorted[i].chunk;
    uint32_t stay = units_that_stay(plan, chunk);
    chunk->hidden = !stay;
    leaving += !stay;
    if (stay) units -= CHUNK_UNITS - __builtin_popcount(chunk->used);
    for (unsigned unit = 0; unit < CHUNK_UNITS; unit++) {
      struct pool *pool = pool_of(chunk, unit);
      if (pool) pool->leaving = !(stay >> unit & 1);
    }
  }
  for (unsigned class = 0; class < CLASSES; class ++) units += (long)plan->need[class];
  return leaving - (units > 0 ? (units + CHUNK_UNITS - 1) / CHUNK_UNITS : 0);
}

/* Lists the pools that leave, from the emptiest chunk on, and takes them out; or, if nothing is
 * gained, lets all stay. */
static void settle_pools(struct plan *plan, bool gains) {
  for (size_t i = plan->count; i--;) {
    struct chunk *chunk = plan->sorted[i].chunk;
    bool hides = gains && chunk->hidden;
    chunk->hidden = false;
    if (hides) chunks_hide(&plan->store->chunks, chunk);
    for (unsigned unit = 0; unit < CHUNK_UNITS; unit++) {
      struct pool *pool = pool_of(chunk, unit);
      if (!pool || !pool->leaving) continue;
      if (gains)
        evacuation_leave(plan, pool);
      else
        pool->leaving = false;
    }
  }
  if (gains) pools_take_out(plan->store);
}

static void plan_pools(struct plan *plan) {
  const struct chunks *chunks = &plan->store->chunks;
  plan->count = 0;
  for (size_t i = 0; i < chunks->count; i++)
    if (chunks->table[i].use == CHUNK_POOLS) add_pool_chunk(plan, &chunks->table[i]);
  settle_pools(plan, choose_pools(plan) > 0 || plan->all);
}

/* ---- medium blocks ---- */

static size_t live_words_of(const struct chunk *chunk) {
  size_t live = 0;
  for (const wn_value *at = medium_first(chunk); at < medium_end(chunk); at += medium_extent_at(at))
    if (header_colour(*at) != COLOUR_FREE) live += medium_extent_at(at);
  return live;
}

/* MEDIUM. */
static bool evacuation_stays(const struct plan *plan, const struct candidate *candidate, size_t rank,
                             size_t needed) {
  if (plan->all) return false;
  return candidate->chunk->pinned || rank < needed ||
         candidate->live_words * EIGHTHS >= (size_t)STAYS_FROM * CHUNK_WORDS;
}

static void plan_medium(struct plan *plan) {
  struct evacuation *evacuation = plan->evacuation;
  const struct medium *medium = &plan->store->medium;
  size_t live = 0;
  plan->count = 0;
  for (size_t i = 0; i < medium->count; i++) {
    struct candidate candidate = {medium->chunks[i], live_words_of(medium->chunks[i])};
    plan->candidates[plan->count++] = candidate;
    live += candidate.live_words;
  }
  sort_candidates(plan);
  size_t needed = (live + CHUNK_WORDS - 1) / CHUNK_WORDS;
  for (size_t i = plan->count; i--;) {
    if (evacuation_stays(plan, &plan->sorted[i], i, needed)) continue;
    evacuation->chunks[evacuation->chunk_count++] = plan->sorted[i].chunk;
    evacuation->chunk_words += plan->sorted[i].live_words;
    medium_take_out(plan->store, plan->sorted[i].chunk);
  }
  evacuation->new_chunks = evacuation->chunk_count - (evacuation->chunk_count && !plan->all);
}

/* ---- FILTER ---- */

static bool evacuation_is_left(const struct evacuation *evacuation) {
  return evacuation->pool_count || evacuation->chunk_count;
}

static void evacuation_widen(uintptr_t range[2], const struct chunk *chunk) {
  uintptr_t base = (uintptr_t)chunk->base;
  if (base < range[0]) range[0] = base;
  if (base + CHUNK_BYTES > range[1]) range[1] = base + CHUNK_BYTES;
}

static void evacuation_note(struct evacuation *evacuation, const struct chunk *chunk) {
  evacuation->filter[((uintptr_t)chunk->base - evacuation->filter_base) / CHUNK_BYTES] = 1;
}

static bool make_filter(struct evacuation *evacuation) {
  uintptr_t range[2] = {UINTPTR_MAX, 0};
  for (size_t i = 0; i < evacuation->pool_count; i++) evacuation_widen(range, evacuation->pools[i]->chunk);
  for (size_t i = 0; i < evacuation->chunk_count; i++) evacuation_widen(range, evacuation->chunks[i]);
  evacuation->filter_base = range[0];
  evacuation->filter_chunks = (range[1] - range[0]) / CHUNK_BYTES;
  evacuation->filter = metadata_reserve(evacuation->filter_chunks);
  if (!evacuation->filter) return false;
  for (size_t i = 0; i < evacuation->pool_count; i++)
    evacuation_note(evacuation, evacuation->pools[i]->chunk);
  for (size_t i = 0; i < evacuation->chunk_count; i++) evacuation_note(evacuation, evacuation->chunks[i]);
  return true;
}

/* ---- STAYS ---- */

static void forget_kept(struct store *store) {
  for (size_t i = 0; i < store->chunks.count; i++) {
    struct chunk *chunk = &store->chunks.table[i];
    if (!chunk->pinned) continue;
    chunk->pinned = false;
    for (unsigned unit = 0; unit < CHUNK_UNITS && chunk->use == CHUNK_POOLS; unit++)
      if (pool_of(chunk, unit)) pool_of(chunk, unit)->pinned = false;
  }
}

/* ---- shared ---- */

void evacuation_keep(struct store *store, wn_value block) {
  char *base = (char *)((block - sizeof(wn_value)) & ~(uintptr_t)(CHUNK_BYTES - 1));
  struct chunk *chunk = store->chunks.table, *end = chunk + store->chunks.count;
  while (chunk < end && chunk->base != base) chunk++;
  if (chunk == end) return; /* a large block */
  chunk->pinned = true;
  if (chunk->use != CHUNK_POOLS) return;
  unsigned unit = (unsigned)((block - sizeof(wn_value) - (uintptr_t)base) / UNIT_BYTES);
  pool_of(chunk, unit)->pinned = true;
}

bool evacuation_begin(struct store *store, struct evacuation *evacuation, bool all) {
  struct chunks *chunks = &store->chunks;
  size_t pools = atomic_load(&store->pools.count) + 1;
  *evacuation = (struct evacuation){.pools_most = pools, .chunks_most = store->medium.count + 1};
  struct plan plan = {.store = store, .evacuation = evacuation, .all = all, .most = chunks->count + 1};
  evacuation->pools = metadata_map(pools * sizeof *evacuation->pools);
  evacuation->chunks = metadata_map(evacuation->chunks_most * sizeof *evacuation->chunks);
  plan.candidates = metadata_map(2 * plan.most * sizeof *plan.candidates);
  bool planned = evacuation->pools && evacuation->chunks && plan.candidates;
  if (planned) {
    plan.sorted = plan.candidates + plan.most;
    plan_pools(&plan);
    plan_medium(&plan);
    planned = evacuation_is_left(evacuation) && make_filter(evacuation);
  }
  metadata_unmap(plan.candidates, 2 * plan.most * sizeof *plan.candidates);
  forget_kept(store);
  if (!planned) evacuation_end(store, evacuation);
  return planned;
}

void evacuation_end(struct store *store, struct evacuation *evacuation) {
  for (size_t i = 0; i < evacuation->pool_count; i++) pools_put_back(store, evacuation->pools[i]);
  for (size_t i = 0; i < evacuation->chunk_count; i++) medium_put_back(store, evacuation->chunks[i]);
  for (size_t i = 0; i < store->chunks.count; i++)
    if (store->chunks.table[i].hidden) chunks_show(&store->chunks, &store->chunks.table[i]);
  metadata_unmap(evacuation->pools, evacuation->pools_most * sizeof *evacuation->pools);
  metadata_unmap(evacuation->chunks, evacuation->chunks_most * sizeof *evacuation->chunks);
  metadata_give_back(evacuation->filter, evacuation->filter_chunks);
  *evacuation = (struct evacuation){0};
}
/* SPDX-License-Identifier: MIT */
