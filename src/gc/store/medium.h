/* Medium blocks, above 256 words and up to half a chunk, and large blocks, each in a mapping of its
 * own.
 *
 * A chunk of medium blocks is a row of blocks and free runs, each with a header, so that a walk
 * finds all of them. In a swept chunk two free runs are never neighbours. Extents are multiples of
 * MEDIUM_GRAIN words, so that no run is too small for a link. If the rest of a run is too small for
 * any medium block, it stays a free run, and counts as a fragment.
 *
 * BINS. Runs of at least the least medium size are linked, both ways, in bins by size, eight bins
 * to a doubling. The allocation policy says how a run is searched for. Best fit takes the smallest
 * run of the first bin whose runs are all large enough. First fit takes the run at the lowest
 * address. Next fit goes on where the last search ended.
 *
 * A large block is in a mapping behind a `struct large`, which links it. When it dies the mapping may
 * stay for another large block (IDLE of chunk.h).
 *
 * The lock (rank MEDIUM) protects all of this except the colours of blocks. */
#ifndef GC_STORE_MEDIUM_H
#define GC_STORE_MEDIUM_H

#include "gc/store/pool.h"

enum {
  MEDIUM_GRAIN = 16,
  MEDIUM_EXTENT_LEAST = (CLASS_WORDS_MOST + MEDIUM_GRAIN) / MEDIUM_GRAIN * MEDIUM_GRAIN,
  MEDIUM_EXTENT_MOST = CHUNK_WORDS / 2,
  MEDIUM_BINS = 96,
};

enum allocation_policy { POLICY_NEXT_FIT, POLICY_FIRST_FIT, POLICY_BEST_FIT };

struct large {
  struct large *next;
  size_t bytes; /* of the mapping */
  wn_value unused[5];
  wn_value header; /* the block's fields follow */
};

struct medium {
  struct lock lock;
  wn_value *bins[MEDIUM_BINS];
  struct chunk **chunks; /* of medium blocks, by address; reserved addresses */
  size_t count, capacity;
  size_t next_fit; /* chunk and place where the last search ended */
  wn_value *next_at;
  enum allocation_policy policy;
  struct large *large, *unswept_large;
  _Atomic(size_t) unswept; /* chunks and large blocks */
  _Atomic(size_t) sweeping;
  size_t large_count;
};

struct store;

bool medium_create(struct medium *medium);
void medium_destroy(struct store *store);

void medium_set_policy(struct medium *medium, enum allocation_policy policy);

/* Takes memory for a block of `extent` words, header included, and writes the header in the live
 * colour. NULL if there is no memory. If `*zeroed` becomes true, the block's fields are zero
 * bytes. */
wn_value *medium_allocate(struct store *store, size_t extent, wn_value header, bool *zeroed);

/* The same for a copy of a block that is not large. Takes the best fit, whatever the policy, and at
 * most `*new_chunks` new chunks, which it subtracts. */
wn_value *medium_take_copy(struct store *store, size_t extent, wn_value header, size_t *new_chunks);

/* Takes a chunk of medium blocks, which is swept, away: no thread allocates there. It can still be
 * walked. */
void medium_take_out(struct store *store, struct chunk *chunk);

/* Brings it back, with the memory of its moved blocks as free runs; an empty one goes back to the
 * other chunks. */
void medium_put_back(struct store *store, struct chunk *chunk);

/* Makes all chunks and large blocks unswept. The world is stopped. */
void medium_unsweep(struct store *store);

/* Sweeps a chunk or a large block. Returns how many words of work that was; 0 if none was
 * unswept. */
size_t medium_sweep_one(struct store *store);

/* Calls `f` for each block and free run, and `large` for each large block. The world is stopped. */
void medium_each(struct store *store, void (*f)(wn_value *at, void *context),
                 void (*large)(struct large *large, void *context), void *context);

static inline size_t medium_round(size_t extent) {
  return (extent + MEDIUM_GRAIN - 1) & ~(size_t)(MEDIUM_GRAIN - 1);
}
/* Words that a block or a free run takes in a medium chunk. */
static inline size_t medium_extent(wn_value header) { return medium_round(header_extent(header)); }

/* The row of a chunk: begins at medium_first, ends at medium_end, and has the next block or run
 * medium_extent_at words behind each. */
static inline wn_value *medium_first(const struct chunk *chunk) { return (wn_value *)chunk->base; }
static inline wn_value *medium_end(const struct chunk *chunk) {
  return (wn_value *)chunk->base + CHUNK_WORDS;
}
static inline size_t medium_extent_at(const wn_value *at) {
  wn_value header = atomic_load_explicit((_Atomic(wn_value) *)at, memory_order_relaxed);
  return medium_extent(header_is_moved(header) ? header_of(header_moved_to(header)) : header);
}

#endif
/* SPDX-License-Identifier: MIT */
