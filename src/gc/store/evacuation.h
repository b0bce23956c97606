/* Evacuation: which pools, and which chunks of medium blocks, a compaction empties.
 *
 * Memory goes back to the system by chunks, so a plan chooses chunks that are to become empty.
 * Their blocks move into the free memory of the chunks that stay, or, where that is not enough,
 * into new ones.
 *
 * POOLS. Each size class needs as many pools as its live blocks fill. Chunks are looked at by how
 * many live words they have, the fullest first. A chunk stays if nearly all of its units are pools
 * that their classes still need; only its other pools are emptied. Of the remaining chunks all
 * pools are. So what stays is little more than what is needed, and the blocks that stay are those
 * of the fullest chunks.
 *
 * MEDIUM. As many chunks stay as the live words fill, and all chunks that are nearly full. The
 * others together get one new chunk less than they are, so that at least one goes.
 *
 * GAIN. If no chunk would go, nothing moves. With `all`, each pool and chunk is emptied all the
 * same, but for blocks that must stay: for tests of what holds addresses.
 *
 * STAYS. Pools and chunks of medium blocks with a block that must stay are not emptied. Where they
 * are, chunks stay first of all: so other blocks move to them.
 *
 * PARTLY. Where the caller moves some blocks only, as where there is no memory for a copy, the pool
 * or chunk stays, with the memory of the others as free runs.
 *
 * FILTER. A byte for each CHUNK_BYTES of addresses, from the first to the last chunk that blocks
 * leave: whether blocks leave that chunk. So a value that cannot have moved is known without a look
 * at its header.
 *
 * The world is stopped, helper threads are paused, the phase is IDLE, and current pools are
 * flushed, from evacuation_begin to evacuation_end. */
#ifndef GC_STORE_EVACUATION_H
#define GC_STORE_EVACUATION_H

#include "gc/store/store.h"

struct evacuation {
  struct pool **pools;   /* to be emptied, those of the emptiest chunks first */
  struct chunk **chunks; /* of medium blocks, likewise */
  size_t pool_count, chunk_count;
  size_t pool_words, chunk_words; /* live, in these */
  size_t new_chunks;              /* that medium blocks may still take; under the lock MEDIUM */
  /* FILTER */
  uintptr_t filter_base;
  size_t filter_chunks;
  uint8_t *filter;
  /* The memory of the arrays: of as many entries as there are pools, and chunks. */
  size_t pools_most, chunks_most;
};

/* STAYS. Called before evacuation_begin for each block that must stay, large ones, too. */
void evacuation_keep(struct store *store, wn_value block);

/* Plans, and takes what is to be emptied away from allocation. False if nothing is to be gained, or
 * there is no memory for the plan. */
bool evacuation_begin(struct store *store, struct evacuation *evacuation, bool all);

/* Gives back the memory of blocks that have moved. No value leads to them any more. */
void evacuation_end(struct store *store, struct evacuation *evacuation);

/* FILTER. False for values that are no old block, too. */
static inline bool evacuation_concerns(const struct evacuation *evacuation, wn_value value) {
  size_t chunk = (value - evacuation->filter_base) / CHUNK_BYTES;
  return chunk < evacuation->filter_chunks && evacuation->filter[chunk];
}

#endif
/* SPDX-License-Identifier: MIT */
