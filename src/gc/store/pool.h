/* Pools: units of memory cut into blocks of one size class, for blocks of up to 256 words.
 *
 *   | struct pool | block | block | free run ...... | block | tail |
 *
 * Neighbouring free blocks form one run. The run's header has its length in words, and the next
 * word links the pool's runs. Runs are prefetched, since they may be short and far from each other:
 * a run of three words or more has the address of the next run but one, which is a hint and may be
 * 0. A fresh pool is one run. A domain allocates from a pool of its own (its *current* pool of the
 * class), by bumping through one run after another. The unused rest of a current run has no header;
 * pools_flush writes it.
 *
 * WHERE. A pool is current, or in exactly one list of its class: with free runs, full, or not yet
 * swept. The lists belong to the heap, so that a domain that ends leaves nothing behind. The lock
 * (rank POOLS) protects them. Only the thread that took a pool from a list uses that pool.
 *
 * Allocation takes pools with free runs, then unswept ones, which it sweeps, then new ones. Of the
 * unswept pools, those that had room before come first, then full ones in the order in which they
 * became full, since their blocks may have died. If few blocks died, a collection would sweep half
 * of the heap for one block, for milliseconds. So after FULL_MOST pools without room allocation
 * takes a new pool, and leaves the others to slices and helpers. */
#ifndef GC_STORE_POOL_H
#define GC_STORE_POOL_H

#include "gc/store/chunk.h"

enum {
  CLASSES = 45,
  CLASS_WORDS_MOST = 257,
  POOL_WORDS = UNIT_BYTES / 8,
  AHEAD_WORD = 2, /* of a run: the next but one */
  FULL_MOST = 4,
};

struct pool {
  struct pool *next;
  wn_value *free; /* the first run; NULL if none */
  struct chunk *chunk;
  uint32_t class;
  uint32_t swept; /* `pools.sweeps` when it was last swept, for gc_verify */
  /* Of evacuation.h. */
  uint32_t live; /* blocks */
  bool leaving, pinned;
  wn_value unused[3];
};
enum { POOL_HEADER_WORDS = sizeof(struct pool) / 8 };

struct pool_list {
  struct pool *first, *last;
  size_t count;
};

struct pools {
  struct lock lock;
  struct {
    struct pool_list open, full, unswept;
  } of[CLASSES];
  uint32_t sweeps; /* how many began; written while the world is stopped */
  /* Changed under the lock, read as hints without it. */
  _Atomic(size_t) unswept_count;
  _Atomic(size_t) sweeping; /* pools that threads are sweeping now */
  _Atomic(size_t) count;
};

/* The current pool of a class, and its current run. */
struct pool_run {
  wn_value *at, *end; /* the rest of the current run */
  struct pool *pool;  /* NULL if there is none */
};

extern const uint16_t class_words[CLASSES];           /* with headers, ascending */
extern uint8_t class_of_extent[CLASS_WORDS_MOST + 1]; /* constant after pools_prepare */

void pools_prepare(void);

struct store;

/* Refills an empty run of a class. False if there is no memory. `promoting`: a new pool may come
 * from the reserve. */
bool pools_refill(struct store *store, struct pool_run *run, unsigned class, bool promoting);

/* Takes memory for a block of `extent` words, header included, at most CLASS_WORDS_MOST. NULL if
 * there is no memory. */
static inline wn_value *pools_take(struct store *store, struct pool_run runs[CLASSES], size_t extent,
                                   bool promoting) {
  unsigned class = class_of_extent[extent];
  struct pool_run *run = &runs[class];
  if (__builtin_expect(run->at == run->end, 0) && !pools_refill(store, run, class, promoting)) return NULL;
  wn_value *at = run->at;
  run->at += class_words[class];
  unpoison(at, extent * sizeof *at);
  return at;
}

/* Gives all current pools of a domain back to the lists. */
void pools_flush(struct store *store, struct pool_run runs[CLASSES]);

/* Makes all pools unswept, in a time that does not depend on how many there are. The world is
 * stopped, and current pools are flushed. */
void pools_unsweep(struct store *store);

/* Sweeps one unswept pool. Returns how many words it has; 0 if no pool was unswept. */
size_t pools_sweep_one(struct store *store);

/* Calls `f` for each pool. The world is stopped, and current pools are flushed. */
void pools_each(struct store *store, void (*f)(struct pool *pool, void *context), void *context);

/* Takes the pools that are `leaving` out of their lists, so that no thread allocates from them. The
 * world is stopped, current pools are flushed, and all pools are swept. */
void pools_take_out(struct store *store);

/* Puts a pool that was taken out back into a list, with the memory of its moved blocks as free
 * runs. If it has no other blocks, its unit goes back to its chunk. */
void pools_put_back(struct store *store, struct pool *pool);

/* How many blocks a pool of the class has room for. */
static inline size_t pool_capacity(unsigned class) {
  return (POOL_WORDS - POOL_HEADER_WORDS) / class_words[class];
}

typedef void block_function(wn_value *at, void *context);

static inline wn_value *pool_first(struct pool *pool) { return (wn_value *)pool + POOL_HEADER_WORDS; }
static inline wn_value *pool_end(struct pool *pool) {
  return pool_first(pool) + pool_capacity(pool->class) * class_words[pool->class];
}

/* Calls `f` for the header of each block of a pool that is not current, moved ones included. */
static inline __attribute__((always_inline)) void pool_each_block(struct pool *pool, block_function *f,
                                                                  void *context) {
  size_t words = class_words[pool->class];
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    bool free = header_colour(*at) == COLOUR_FREE;
    if (!free) f(at, context);
    at += free ? header_extent(*at) : words;
  }
}

#endif
/* SPDX-License-Identifier: MIT */
