/* Pools: refilling a domain's run, lists, sweeping. */
#include "gc/store/pool.h"

#include "gc/store/store.h"
#include <pthread.h>
#include <string.h>

/* Exact up to 16 words, then steps that lose at most an eighth. */
const uint16_t class_words[CLASSES] = {1,  2,  3,  4,  5,  6,  7,   8,   9,   10,  11,  12,  13,  14,  15,
                                       16, 18, 20, 22, 24, 26, 28,  30,  33,  36,  39,  43,  47,  51,  56,
                                       62, 68, 75, 82, 90, 99, 108, 119, 131, 145, 160, 176, 196, 223, 257};
uint8_t class_of_extent[CLASS_WORDS_MOST + 1];

static void fill_classes(void) {
  unsigned class = 1; /* a block must have room for a link: never one word */
  for (size_t extent = 0; extent <= CLASS_WORDS_MOST; extent++) {
    if (extent > class_words[class]) class ++;
    class_of_extent[extent] = (uint8_t) class;
  }
}

/* Several threads may open heaps at once. */
void pools_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill_classes);
}

static void list_push(struct pool_list *list, struct pool *pool) {
  pool->next = list->first;
  if (!list->first) list->last = pool;
  list->first = pool;
  list->count++;
}

static void list_append(struct pool_list *list, struct pool *pool) {
  pool->next = NULL;
  if (list->first)
    list->last->next = pool;
  else
    list->first = pool;
  list->last = pool;
  list->count++;
}

static struct pool *list_pop(struct pool_list *list) {
  struct pool *pool = list->first;
  if (!pool) return NULL;
  list->first = pool->next;
  list->count--;
  return pool;
}

/* Moves all of a list to another, whatever its length. */
static void list_move(struct pool_list *from, struct pool_list *to) {
  if (!from->first) return;
  from->last->next = to->first;
  if (!to->first) to->last = from->last;
  to->first = from->first;
  to->count += from->count;
  *from = (struct pool_list){0};
}

static void pool_make_run(wn_value *at, size_t words, wn_value *next) {
  poison_run(at, words);
  at[0] = header_make(words - 1, 0, COLOUR_FREE);
  at[1] = (wn_value)next;
  if (words > AHEAD_WORD) at[AHEAD_WORD] = 0;
}

static struct pool *new_pool(struct store *store, unsigned class, bool promoting) {
  struct chunk *chunk;
  struct pool *pool = (struct pool *)chunks_take_unit(&store->chunks, promoting, &chunk);
  if (!pool) return NULL;
  unpoison(pool, sizeof *pool);
  memset(pool, 0, sizeof *pool);
  pool->class = class;
  pool->chunk = chunk;
  pool->swept = store->pools.sweeps;
  pool->free = pool_first(pool);
  pool_make_run(pool->free, (size_t)(pool_end(pool) - pool->free), NULL);
  atomic_fetch_add(&store->pools.count, 1);
  return pool;
}

/* ---- sweeping ---- */

/* The free runs of a pool that is being swept. */
struct sweep {
  wn_value *run;      /* the free words before the current place; NULL: none */
  wn_value *ended[2]; /* the last runs; the later one first */
  wn_value **link;
  size_t live_words;
};

static void add_free(struct sweep *sweep, wn_value *at) {
  if (sweep->run) return;
  sweep->run = at;
  *sweep->link = at;
}

static void pool_end_run(struct sweep *sweep, wn_value *at) {
  if (!sweep->run) return;
  wn_value *ahead = sweep->ended[1];
  pool_make_run(sweep->run, (size_t)(at - sweep->run), NULL);
  sweep->link = (wn_value **)&sweep->run[1];
  if (ahead && header_extent(*ahead) > AHEAD_WORD) ahead[AHEAD_WORD] = (wn_value)sweep->run;
  sweep->ended[1] = sweep->ended[0];
  sweep->ended[0] = sweep->run;
  sweep->run = NULL;
}

/* Words of the block's place, which may have more than the block. */
static void pool_free_block(wn_value *at, size_t words) {
  unpoison(at, words * sizeof *at);
  fill_stale(at, words * sizeof *at);
}

/* The pool is the caller's alone. */
static void sweep_pool(struct store *store, struct pool *pool) {
  unsigned live = store_live_colour(store);
  size_t words = class_words[pool->class];
  struct sweep sweep = {.link = &pool->free};
  pool->free = NULL;
  pool->swept = store->pools.sweeps;
  wn_value *end = pool_end(pool);
  for (wn_value *at = pool_first(pool); at < end;) {
    wn_value header = atomic_load_explicit((_Atomic(wn_value) *)at, memory_order_relaxed);
    unsigned colour = header_colour(header);
    if (colour == COLOUR_FREE) {
      add_free(&sweep, at);
      at += header_extent(header);
      continue;
    }
    if (colour == live) {
      pool_end_run(&sweep, at);
      sweep.live_words += words;
    } else {
      store_bury(store, at, header);
      pool_free_block(at, words);
      add_free(&sweep, at);
    }
    at += words;
  }
  pool_end_run(&sweep, end);
  store_swept(store, sweep.live_words);
}

static bool pool_is_empty(struct pool *pool) {
  return pool->free == pool_first(pool) && pool->free + header_extent(*pool->free) == pool_end(pool);
}

static struct pool *pop_unswept(struct store *store, unsigned class) {
  struct pools *pools = &store->pools;
  struct pool *pool = list_pop(&pools->of[class].unswept);
  if (!pool) return NULL;
  atomic_fetch_add(&pools->sweeping, 1);
  atomic_fetch_sub(&pools->unswept_count, 1);
  return pool;
}

/* Puts a pool that is not empty into its list. */
static void retire(struct store *store, struct pool *pool) {
  struct pools *pools = &store->pools;
  lock_acquire(&pools->lock, LOCK_RANK_POOLS);
  if (pool->free)
    list_push(&pools->of[pool->class].open, pool);
  else
    list_append(&pools->of[pool->class].full, pool);
  lock_release(&pools->lock, LOCK_RANK_POOLS);
}

/* Puts a swept pool into its list; an empty one goes back to its chunk. */
static void pool_settle(struct store *store, struct pool *pool) {
  struct pools *pools = &store->pools;
  if (pool_is_empty(pool)) {
    struct chunk *chunk = pool->chunk;
    atomic_fetch_sub(&pools->count, 1);
    unpoison(pool, UNIT_BYTES);
    fill_stale(pool, UNIT_BYTES);
    poison(pool, UNIT_BYTES);
    chunks_give_unit(&store->chunks, chunk, (char *)pool);
  } else {
    retire(store, pool);
  }
  atomic_fetch_sub(&pools->sweeping, 1);
}

/* ---- refilling ---- */

static bool next_run(struct pool_run *run) {
  wn_value *at = run->pool->free;
  if (!at) return false;
  size_t words = header_extent(*at);
  run->pool->free = (wn_value *)at[1];
  if (words > AHEAD_WORD) __builtin_prefetch((void *)at[AHEAD_WORD], 1);
  run->at = at;
  run->end = at + words;
  return true;
}

/* A pool with free runs, swept if need be. NULL if there is none, or if `most` were swept for it
 * and had no room. */
static struct pool *find_open(struct store *store, unsigned class, size_t most) {
  struct pools *pools = &store->pools;
  for (size_t full = 0; full < most; full++) {
    lock_acquire(&pools->lock, LOCK_RANK_POOLS);
    struct pool *pool = list_pop(&pools->of[class].open), *unswept = NULL;
    if (!pool) unswept = pop_unswept(store, class);
    lock_release(&pools->lock, LOCK_RANK_POOLS);
    if (pool || !unswept) return pool;
    sweep_pool(store, unswept);
    if (unswept->free) {
      atomic_fetch_sub(&pools->sweeping, 1);
      return unswept;
    }
    pool_settle(store, unswept);
  }
  return NULL;
}

/* ---- shared ---- */

bool pools_refill(struct store *store, struct pool_run *run, unsigned class, bool promoting) {
  if (run->pool && next_run(run)) return true;
  if (run->pool) retire(store, run->pool);
  run->at = run->end = NULL;
  run->pool = find_open(store, class, FULL_MOST);
  if (!run->pool) run->pool = new_pool(store, class, promoting);
  if (!run->pool) run->pool = find_open(store, class, SIZE_MAX);
  return run->pool && next_run(run);
}

void pools_flush(struct store *store, struct pool_run runs[CLASSES]) {
  for (unsigned class = 0; class < CLASSES; class ++) {
    struct pool_run *run = &runs[class];
    if (!run->pool) continue;
    if (run->at < run->end) {
      pool_make_run(run->at, (size_t)(run->end - run->at), run->pool->free);
      run->pool->free = run->at;
    }
    retire(store, run->pool);
    *run = (struct pool_run){0};
  }
}

void pools_unsweep(struct store *store) {
  struct pools *pools = &store->pools;
  size_t count = 0;
  lock_acquire(&pools->lock, LOCK_RANK_POOLS);
  pools->sweeps++;
  for (unsigned class = 0; class < CLASSES; class ++) {
    struct pool_list *unswept = &pools->of[class].unswept;
    list_move(&pools->of[class].full, unswept);
    list_move(&pools->of[class].open, unswept);
    count += unswept->count;
  }
  atomic_store(&pools->unswept_count, count);
  lock_release(&pools->lock, LOCK_RANK_POOLS);
}

size_t pools_sweep_one(struct store *store) {
  struct pools *pools = &store->pools;
  if (!atomic_load_explicit(&pools->unswept_count, memory_order_relaxed)) return 0;
  struct pool *pool = NULL;
  lock_acquire(&pools->lock, LOCK_RANK_POOLS);
  for (unsigned class = 0; class < CLASSES && !pool; class ++) pool = pop_unswept(store, class);
  lock_release(&pools->lock, LOCK_RANK_POOLS);
  if (!pool) return 0;
  sweep_pool(store, pool);
  pool_settle(store, pool);
  return POOL_WORDS;
}

static void take_out_of(struct pool_list *list) {
  struct pool_list kept = {0};
  for (struct pool *pool; (pool = list_pop(list));)
    if (!pool->leaving) list_append(&kept, pool);
  *list = kept;
}

void pools_take_out(struct store *store) {
  struct pools *pools = &store->pools;
  lock_acquire(&pools->lock, LOCK_RANK_POOLS);
  for (unsigned class = 0; class < CLASSES; class ++) {
    ASSERT(!pools->of[class].unswept.first);
    take_out_of(&pools->of[class].open);
    take_out_of(&pools->of[class].full);
  }
  lock_release(&pools->lock, LOCK_RANK_POOLS);
}

/* Where checks are on, addresses of blocks that have moved are found soon. */
void pools_put_back(struct store *store, struct pool *pool) {
  size_t words = class_words[pool->class];
  pool->leaving = false;
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    bool moved = header_is_moved(*at);
    size_t extent = header_colour(*at) == COLOUR_FREE ? header_extent(*at) : words;
    if (moved) pool_free_block(at, words);
    if (moved) *at = header_make(words - 1, 0, COLOUR_FREE);
    at += extent;
  }
  atomic_fetch_add(&store->pools.sweeping, 1);
  sweep_pool(store, pool);
  pool_settle(store, pool);
}

void pools_each(struct store *store, void (*f)(struct pool *pool, void *context), void *context) {
  for (size_t i = 0; i < store->chunks.count; i++) {
    struct chunk *chunk = &store->chunks.table[i];
    if (chunk->use != CHUNK_POOLS) continue;
    for (unsigned unit = 0; unit < CHUNK_UNITS; unit++)
      if (chunk->used >> unit & 1) f((struct pool *)(chunk->base + (size_t)unit * UNIT_BYTES), context);
  }
}
/* SPDX-License-Identifier: MIT */
