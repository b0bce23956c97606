/* The table of an engine of a collected heap: the entries of old blocks, and of memory outside, by
 * address.
 *
 * A collection must find the entries of the blocks that died, and must not look at the others, of
 * which there may be millions. So the sweep asks the table about dead blocks alone, and a live
 * tracked block costs its entry and a bucket.
 *
 * An entry stands in the table from the moment when its block became old. An entry of memory
 * `outside` of a block stands there from its birth on. It is LINKED meanwhile. Several entries can
 * have one address: of a block and its memory outside, or of several profiles.
 *
 * The table has shards, each with a lock. A shard is a linear hash table: the bucket i of n >= 2^k
 * is split in two when bucket i + 2^k is added, one bucket for each entry beyond as many. So no
 * addition is slow, and none fails: without memory for more buckets, chains become longer.
 *
 * ZOMBIES. No entry that is no longer tracked stays in the table. A thread that puts an entry there
 * and one that stops tracking it may meet. All exchanges of the entry's word are in one order:
 *
 *   puts it there:                                stops tracking it:
 *   1. stores the address;                        1. makes it a zombie, by an exchange, and stays its
 *   2. takes the lock of the address's shard;        claimant (RUNNING), so that it is not freed;
 *   3. sets LINKED, by an exchange, and gives     2. reads the address, takes the lock of its shard,
 *      up if the entry is a zombie;                  and unlinks the entry if it stands there;
 *   4. links it into its chain.                   3. gives the entry up.
 *
 * If the zombie is made first, step 3 sees it. Otherwise the other thread reads the new address,
 * and finds the entry. An entry that is on its way, taken out and not put there yet, is found by
 * none, so whichever thread has taken it out clears LINKED. tests/models/table.pml explores it.
 *
 * REUSE. The sweep takes the entries of a dead block out before the block's memory can be used
 * again: so an address leads to entries of one block. */
#ifndef MEMPROF_TRACKED_H
#define MEMPROF_TRACKED_H

#include "base/lock.h"
#include "base/stripe.h"
#include "memprof/owner.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  TRACKED_SHARDS = TINY ? 2 : 16,
  BUCKETS_FIRST = TINY ? 1 : 64,
  BUCKET_CHUNKS = 32,
  NEWS_LISTS = TINY ? 1 : 4,
};

/* Entries that are QUEUED, through `pending_next`, for owners that other threads have. They are in
 * lists by the numbers of their owners, so that mostly a list is one owner's, and a stop of the
 * world need not look at each entry. */
struct tracked_news {
  struct entry_list list;
  uint64_t owner; /* the owner of all of them; 0: of several */
};

/* The lock (rank TRACKED) protects all of it. */
struct tracked_shard {
  _Alignas(STRIPE_BYTES) struct lock lock;
  size_t count;                                 /* entries in the chains */
  size_t added;                                 /* buckets beyond `first` */
  struct memprof_entry *first[BUCKETS_FIRST];   /* chains, through `next` */
  struct memprof_entry **chunks[BUCKET_CHUNKS]; /* chunk c has the buckets from BUCKETS_FIRST << c on */
  struct tracked_news news[NEWS_LISTS];
};

struct tracked_table {
  struct tracked_shard shards[TRACKED_SHARDS];
  _Atomic(bool) has_news; /* a hint that is read without a lock */
};

/* Puts an entry into the table. False: it is a zombie (ZOMBIES), and the caller clears LINKED. */
bool tracked_insert(struct tracked_table *table, struct memprof_entry *entry);

/* Takes an entry out that cannot be freed meanwhile. False if it does not stand in the table. */
bool tracked_remove(struct tracked_table *table, struct memprof_entry *entry);

/* Takes all entries of an address out, to the end of `list`, through `next`. */
void tracked_take(struct tracked_table *table, uintptr_t address, struct entry_list *list);

/* Moves the news of all shards to lists by the numbers of their owners. */
void tracked_take_news(struct tracked_table *table, struct tracked_news news[NEWS_LISTS]);

/* Takes the lock of the shard of an address, until tracked_unlock. The first entry of the chain
 * that has all entries of the address, and others, is at `*link`. */
struct tracked_shard *tracked_lock(struct tracked_table *table, uintptr_t address,
                                   struct memprof_entry ***link);
void tracked_unlock(struct tracked_shard *shard);

/* Puts an entry that is QUEUED to the news of a locked shard, since another thread has its owner. */
void tracked_post(struct tracked_table *table, struct tracked_shard *shard, struct memprof_entry *entry);

/* Unlinks the entry to which a link of a locked shard leads. */
struct memprof_entry *tracked_unlink(struct tracked_shard *shard, struct memprof_entry **link);

/* Visits the addresses of all entries in the table. Takes those out whose addresses `visit` changed,
 * to the end of `moved`, with the new address. */
void tracked_visit(struct tracked_table *table, void (*visit)(void *visitor, uintptr_t *address),
                   void *visitor, struct entry_list *moved);

/* Calls `each` for all entries in the table. No thread is inside the engine. */
void tracked_each(struct tracked_table *table, void (*each)(void *context, struct memprof_entry *entry),
                  void *context);

size_t tracked_mapped_bytes(const struct tracked_table *table);

/* Unmaps the buckets. */
void tracked_unmap(struct tracked_table *table);

/* Checks the table, at a moment when no thread is inside the engine. Returns how many entries are
 * in it. */
size_t tracked_verify(const struct tracked_table *table);

#endif
/* SPDX-License-Identifier: MIT */
