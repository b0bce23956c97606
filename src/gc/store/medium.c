/* Searching, allocating and sweeping medium and large blocks. */
#include "gc/store/medium.h"

#include "base/metadata.h"
#include "gc/store/store.h"
#include <string.h>

enum { NEXT = 1, PREVIOUS = 2 }; /* of a free run's words */

/* ---- bins ---- */

/* Eight bins to a doubling of the size in grains; bins of larger numbers hold larger runs. */
static unsigned medium_bin_of(size_t extent) {
  size_t grains = extent / MEDIUM_GRAIN;
  if (grains < 8) return (unsigned)grains;
  unsigned doubling = 63u - (unsigned)__builtin_clzll(grains);
  unsigned bin = 8 * (doubling - 2) + (unsigned)(grains >> (doubling - 3) & 7);
  return bin < MEDIUM_BINS ? bin : MEDIUM_BINS - 1;
}

static void bin_add(struct medium *medium, wn_value *run) {
  size_t extent = header_extent(*run);
  if (extent < MEDIUM_EXTENT_LEAST) return; /* a fragment */
  wn_value **head = &medium->bins[medium_bin_of(extent)];
  run[NEXT] = (wn_value)*head;
  run[PREVIOUS] = 0;
  if (*head) (*head)[PREVIOUS] = (wn_value)run;
  *head = run;
}

static void medium_bin_remove(struct medium *medium, wn_value *run) {
  size_t extent = header_extent(*run);
  if (extent < MEDIUM_EXTENT_LEAST) return;
  wn_value *next = (wn_value *)run[NEXT], *previous = (wn_value *)run[PREVIOUS];
  if (next) next[PREVIOUS] = (wn_value)previous;
  if (previous)
    previous[NEXT] = (wn_value)next;
  else
    medium->bins[medium_bin_of(extent)] = next;
}

static void medium_make_run(struct medium *medium, wn_value *at, size_t extent) {
  poison_run(at, extent);
  *at = header_make(extent - 1, 0, COLOUR_FREE);
  bin_add(medium, at);
}

/* The thread that allocates a block may still set TRACKED there. */
static wn_value header_in(const wn_value *at) {
  return atomic_load_explicit((_Atomic(wn_value) *)at, memory_order_relaxed);
}

static bool medium_is_free(const wn_value *at) { return header_colour(header_in(at)) == COLOUR_FREE; }

/* ---- chunks ---- */

/* Keeps the chunks in the order of their addresses. Chunks that move up stay swept or not; a new
 * chunk is swept. */
static void list_chunk(struct medium *medium, struct chunk *chunk) {
  size_t at = medium->count++;
  for (; at && medium->chunks[at - 1]->base > chunk->base; at--) medium->chunks[at] = medium->chunks[at - 1];
  medium->chunks[at] = chunk;
  chunk->swept = true;
}

static bool medium_add_chunk(struct store *store) {
  struct medium *medium = &store->medium;
  struct chunk *chunk = medium->count < medium->capacity ? chunks_take(&store->chunks) : NULL;
  if (!chunk) return false;
  list_chunk(medium, chunk);
  medium_make_run(medium, medium_first(chunk), CHUNK_WORDS);
  return true;
}

static size_t index_of(const struct medium *medium, const struct chunk *chunk) {
  size_t index = 0;
  while (medium->chunks[index] != chunk) index++;
  return index;
}

static void unlist_chunk(struct medium *medium, struct chunk *chunk) {
  size_t index = index_of(medium, chunk);
  memmove(&medium->chunks[index], &medium->chunks[index + 1],
          (--medium->count - index) * sizeof(struct chunk *));
  medium->next_at = NULL;
}

static void remove_chunk(struct store *store, struct chunk *chunk) {
  unlist_chunk(&store->medium, chunk);
  chunks_give(&store->chunks, chunk);
}

/* Whether one run takes all of the chunk. */
static bool medium_is_empty(const struct chunk *chunk) {
  return medium_is_free(medium_first(chunk)) && medium_extent_at(medium_first(chunk)) == CHUNK_WORDS;
}

/* ---- searching ---- */

static wn_value *best_fit(struct medium *medium, size_t extent) {
  for (unsigned bin = medium_bin_of(extent); bin < MEDIUM_BINS; bin++) {
    wn_value *best = NULL;
    int tried = 0;
    for (wn_value *run = medium->bins[bin]; run && tried < 64; run = (wn_value *)run[NEXT], tried++) {
      size_t found = header_extent(*run);
      if (found >= extent && (!best || found < header_extent(*best))) best = run;
    }
    if (best) return best;
  }
  return NULL;
}

/* The first run from `at` on in a chunk. */
static wn_value *medium_search_chunk(const struct chunk *chunk, wn_value *at, size_t extent) {
  for (; at < medium_end(chunk); at += medium_extent_at(at))
    if (medium_is_free(at) && header_extent(*at) >= extent) return at;
  return NULL;
}

static wn_value *first_fit(struct medium *medium, size_t extent) {
  wn_value *found = NULL;
  for (size_t i = 0; i < medium->count && !found; i++)
    found = medium_search_chunk(medium->chunks[i], medium_first(medium->chunks[i]), extent);
  return found;
}

static wn_value *next_fit(struct medium *medium, size_t extent) {
  size_t begin = medium->next_at && medium->next_fit < medium->count ? medium->next_fit : 0;
  for (size_t i = 0; i <= medium->count && medium->count; i++) {
    size_t index = (begin + i) % medium->count;
    struct chunk *chunk = medium->chunks[index];
    wn_value *from = i == 0 && medium->next_at ? medium->next_at : medium_first(chunk);
    wn_value *found = medium_search_chunk(chunk, from, extent);
    if (!found) continue;
    medium->next_fit = index;
    return found;
  }
  return NULL;
}

static wn_value *find_run(struct medium *medium, size_t extent) {
  switch (medium->policy) {
  case POLICY_NEXT_FIT: return next_fit(medium, extent);
  case POLICY_FIRST_FIT: return first_fit(medium, extent);
  case POLICY_BEST_FIT: return best_fit(medium, extent);
  }
  return NULL;
}

/* Cuts a block off the run's begin; the rest stays a run. */
static wn_value *medium_cut(struct medium *medium, wn_value *run, size_t extent, wn_value header) {
  size_t found = header_extent(*run);
  medium_bin_remove(medium, run);
  if (found > extent) medium_make_run(medium, run + extent, found - extent);
  unpoison(run, header_extent(header) * sizeof *run);
  atomic_store_explicit((_Atomic(wn_value) *)run, header, memory_order_release);
  if (medium->policy == POLICY_NEXT_FIT) medium->next_at = run;
  return run;
}

static wn_value *allocate_large(struct store *store, size_t extent, wn_value header, bool *zeroed) {
  struct medium *medium = &store->medium;
  size_t bytes = (sizeof(struct large) + extent * 8 + 4095) & ~(size_t)4095;
  struct large *large = chunks_map_large(&store->chunks, &bytes, header_is_scanned(header), zeroed);
  if (!large) return NULL;
  large->bytes = bytes;
  large->header = header;
  lock_acquire(&medium->lock, LOCK_RANK_MEDIUM);
  large->next = medium->large;
  medium->large = large;
  medium->large_count++;
  lock_release(&medium->lock, LOCK_RANK_MEDIUM);
  return &large->header;
}

/* ---- sweeping ---- */

/* Buries the chunk's dead blocks, without the lock, since user code runs there. A dead block stays in
 * its place meanwhile, because only this thread sweeps. */
static void bury_dead(struct store *store, struct chunk *chunk) {
  unsigned live = store_live_colour(store);
  for (wn_value *at = medium_first(chunk); at < medium_end(chunk); at += medium_extent_at(at)) {
    wn_value header = header_in(at);
    unsigned colour = header_colour(header);
    if (colour == COLOUR_FREE || colour == live || !store_has_burial(header)) continue;
    lock_release(&store->medium.lock, LOCK_RANK_MEDIUM);
    store_bury(store, at, header);
    lock_acquire(&store->medium.lock, LOCK_RANK_MEDIUM);
  }
}

/* `extent` words: a block's, rounded up. */
static void medium_free_block(wn_value *at, size_t extent) {
  unpoison(at, extent * sizeof *at);
  fill_stale(at, extent * sizeof *at);
}

/* Joins free blocks and runs that touch. Returns the live words. */
static size_t sweep_chunk(struct store *store, struct chunk *chunk) {
  struct medium *medium = &store->medium;
  unsigned live = store_live_colour(store);
  size_t live_words = 0;
  wn_value *free = NULL; /* the begin of the free words before `at`; NULL if there are none */
  wn_value *at = medium_first(chunk), *end = medium_end(chunk);
  while (at < end) {
    size_t extent = medium_extent_at(at);
    if (header_colour(header_in(at)) == live) {
      if (free) medium_make_run(medium, free, (size_t)(at - free));
      free = NULL;
      live_words += extent;
    } else {
      if (medium_is_free(at))
        medium_bin_remove(medium, at);
      else
        medium_free_block(at, extent);
      if (!free) free = at;
    }
    at += extent;
  }
  if (free) medium_make_run(medium, free, (size_t)(at - free));
  chunk->swept = true;
  medium->next_at = NULL; /* it may be inside a run now */
  return live_words;
}

static struct large *pop_large(struct medium *medium) {
  struct large *large = medium->unswept_large;
  if (!large) return NULL;
  medium->unswept_large = large->next;
  return large;
}

static size_t sweep_large(struct store *store, struct large *large) {
  struct medium *medium = &store->medium;
  size_t words = large->bytes / 8;
  wn_value header = header_in(&large->header);
  bool live = header_colour(header) == store_live_colour(store);
  if (!live) store_bury(store, &large->header, header);
  lock_acquire(&medium->lock, LOCK_RANK_MEDIUM);
  if (live) {
    large->next = medium->large;
    medium->large = large;
  } else {
    medium->large_count--;
  }
  lock_release(&medium->lock, LOCK_RANK_MEDIUM);
  if (!live) chunks_unmap_large(&store->chunks, large, large->bytes);
  store_swept(store, live ? words : 0);
  return live ? 1 : words / 64 + 1; /* the work of unmapping it, not its size */
}

static size_t sweep_next_chunk(struct store *store) {
  struct medium *medium = &store->medium;
  size_t index = 0;
  while (index < medium->count && medium->chunks[index]->swept) index++;
  if (index == medium->count) return 0;
  struct chunk *chunk = medium->chunks[index];
  bury_dead(store, chunk);
  size_t live = sweep_chunk(store, chunk);
  if (!live && medium_is_empty(chunk)) {
    medium_bin_remove(medium, medium_first(chunk));
    remove_chunk(store, chunk);
  }
  store_swept(store, live);
  return CHUNK_WORDS / 16; /* headers are far apart */
}

/* ---- shared ---- */

bool medium_create(struct medium *medium) {
  medium->capacity = TINY ? 1 << 12 : 1 << 20;
  medium->chunks = metadata_reserve_much(medium->capacity * sizeof *medium->chunks);
  if (!medium->chunks) {
    medium->capacity = 1 << 12;
    medium->chunks = metadata_reserve(medium->capacity * sizeof *medium->chunks);
  }
  medium->policy = POLICY_BEST_FIT;
  return medium->chunks != NULL;
}

void medium_set_policy(struct medium *medium, enum allocation_policy policy) {
  lock_acquire(&medium->lock, LOCK_RANK_MEDIUM);
  if (medium->policy != policy) medium->next_at = NULL; /* only next fit keeps it up to date */
  medium->policy = policy;
  lock_release(&medium->lock, LOCK_RANK_MEDIUM);
}

static void medium_destroy_list(struct store *store, struct large *large) {
  while (large) {
    struct large *next = large->next;
    chunks_unmap_large(&store->chunks, large, large->bytes);
    large = next;
  }
}

void medium_destroy(struct store *store) {
  struct medium *medium = &store->medium;
  medium_destroy_list(store, medium->large);
  medium_destroy_list(store, medium->unswept_large);
  metadata_give_back(medium->chunks, medium->capacity * sizeof *medium->chunks);
}

typedef wn_value *search(struct medium *medium, size_t extent);

static wn_value *medium_take(struct store *store, size_t extent, wn_value header, search *find,
                             size_t *new_chunks) {
  struct medium *medium = &store->medium;
  size_t rounded = medium_round(extent);
  wn_value *at = NULL;
  lock_acquire(&medium->lock, LOCK_RANK_MEDIUM);
  wn_value *run = find(medium, rounded);
  if (!run && *new_chunks && medium_add_chunk(store)) {
    --*new_chunks;
    run = find(medium, rounded);
  }
  if (run) at = medium_cut(medium, run, rounded, header);
  if (find != find_run) medium->next_at = NULL; /* `next_fit` is not the chunk of this run */
  lock_release(&medium->lock, LOCK_RANK_MEDIUM);
  return at;
}

wn_value *medium_allocate(struct store *store, size_t extent, wn_value header, bool *zeroed) {
  size_t new_chunks = SIZE_MAX;
  *zeroed = false;
  return extent > MEDIUM_EXTENT_MOST ? allocate_large(store, extent, header, zeroed)
                                     : medium_take(store, extent, header, find_run, &new_chunks);
}

wn_value *medium_take_copy(struct store *store, size_t extent, wn_value header, size_t *new_chunks) {
  return medium_take(store, extent, header, best_fit, new_chunks);
}

void medium_take_out(struct store *store, struct chunk *chunk) {
  struct medium *medium = &store->medium;
  lock_acquire(&medium->lock, LOCK_RANK_MEDIUM);
  for (wn_value *at = medium_first(chunk); at < medium_end(chunk); at += medium_extent_at(at))
    if (medium_is_free(at)) medium_bin_remove(medium, at);
  unlist_chunk(medium, chunk);
  lock_release(&medium->lock, LOCK_RANK_MEDIUM);
}

/* Joins free runs and moved blocks. True if the chunk has other blocks; false: it has no run in a
 * bin. */
static bool rejoin(struct medium *medium, struct chunk *chunk) {
  wn_value *free = NULL, *at = medium_first(chunk), *end = medium_end(chunk);
  while (at < end) {
    size_t extent = medium_extent_at(at);
    bool keeps = !medium_is_free(at) && !header_is_moved(*at);
    if (!keeps) medium_free_block(at, extent);
    if (!keeps && !free) free = at;
    if (keeps && free) medium_make_run(medium, free, (size_t)(at - free));
    if (keeps) free = NULL;
    at += extent;
  }
  if (free == medium_first(chunk)) return false;
  if (free) medium_make_run(medium, free, (size_t)(at - free));
  return true;
}

void medium_put_back(struct store *store, struct chunk *chunk) {
  struct medium *medium = &store->medium;
  lock_acquire(&medium->lock, LOCK_RANK_MEDIUM);
  bool keeps = rejoin(medium, chunk);
  if (keeps) list_chunk(medium, chunk);
  lock_release(&medium->lock, LOCK_RANK_MEDIUM);
  if (!keeps) chunks_give(&store->chunks, chunk);
}

void medium_unsweep(struct store *store) {
  struct medium *medium = &store->medium;
  lock_acquire(&medium->lock, LOCK_RANK_MEDIUM);
  ASSERT(!medium->unswept_large);
  for (size_t i = 0; i < medium->count; i++) medium->chunks[i]->swept = false;
  medium->unswept_large = medium->large;
  medium->large = NULL;
  atomic_store(&medium->unswept, medium->count + medium->large_count);
  lock_release(&medium->lock, LOCK_RANK_MEDIUM);
}

size_t medium_sweep_one(struct store *store) {
  struct medium *medium = &store->medium;
  if (!atomic_load_explicit(&medium->unswept, memory_order_relaxed)) return 0;
  size_t words = 0;
  lock_acquire(&medium->lock, LOCK_RANK_MEDIUM);
  if (atomic_load(&medium->sweeping)) { /* one thread at a time; the others have pools to sweep */
    lock_release(&medium->lock, LOCK_RANK_MEDIUM);
    return 0;
  }
  atomic_store(&medium->sweeping, 1);
  struct large *large = pop_large(medium);
  if (!large) words = sweep_next_chunk(store);
  lock_release(&medium->lock, LOCK_RANK_MEDIUM);
  if (large) words = sweep_large(store, large);
  if (words)
    atomic_fetch_sub(&medium->unswept, 1);
  else
    atomic_store(&medium->unswept, 0);
  atomic_store(&medium->sweeping, 0);
  return words;
}

void medium_each(struct store *store, void (*f)(wn_value *at, void *context),
                 void (*each_large)(struct large *large, void *context), void *context) {
  struct medium *medium = &store->medium;
  for (size_t i = 0; i < medium->count; i++)
    for (wn_value *at = medium_first(medium->chunks[i]); at < medium_end(medium->chunks[i]);) {
      size_t extent = medium_extent_at(at);
      f(at, context);
      at += extent;
    }
  for (struct large *large = medium->large; large; large = large->next) each_large(large, context);
  for (struct large *large = medium->unswept_large; large; large = large->next) each_large(large, context);
}
/* SPDX-License-Identifier: MIT */
