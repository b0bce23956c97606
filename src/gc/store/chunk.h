/* Chunks: the 2 MiB pieces in which the major heap gets memory from the operating system.
 *
 * A chunk is cut into units for pools (pool.h), or is used as a whole for medium blocks (medium.h).
 * Descriptors are apart from the chunks, in a table that only grows. The descriptor of a chunk that
 * was unmapped is used again. The lock (rank CHUNKS) protects all of this.
 *
 * RESERVE. A minor collection must not run out of memory in its middle. So after each collection
 * chunks_secure makes the free units cover the most that the next collection can promote. If it
 * cannot, no domain may fill a minor heap.
 *
 * TOUCH AHEAD. The first touch of a huge page can take milliseconds, and a minor collection may
 * need two. In a large heap half of the reserve is therefore touched beforehand, a chunk at a time.
 * A helper does that, or if no helper has a processor, the thread that does a slice. The touching
 * thread holds no lock and can be delayed for long. Meanwhile the chunk counts as touched: any
 * thread may take it, since to touch a page does not change what other threads write to it. Such a
 * chunk is not unmapped, since its addresses could become another mapping's.
 *
 * ROTATION. In a heap that looks for stale addresses the chunk that has been empty for the longest
 * time is used next, and none is unmapped: an address is not soon that of another block.
 *
 * IDLE. The first touch of a page costs more than most programs do with it. So the mapping of a
 * large block that died is kept for the next block that it fits and that is at most an eighth
 * smaller. Idle mappings count as mapped, not as used.
 *   - None is larger than IDLE_LARGEST: a program may touch little of such a block, while all of a
 *     mapping that is used again must be cleared.
 *   - There are about `idle_most` bytes of them: the allowance of the last cycle (PACE of
 *     major.h), or IDLE_LEAST if that is more. A cycle frees two or three large blocks at once.
 *   - When a cycle ends, what no block needed since the cycle before is excess, and so is what is
 *     beyond `idle_most`, or with what is used beyond the heap's limit (limit.h). The excess goes
 *     back, the oldest first: IDLE_STEP, or one mapping more, at each collection, since it unmaps in
 *     a stopped world.
 *   - Before anything else is mapped, as many bytes of them go back: they make no heap larger.
 * In a heap with ROTATION there are none. */
#ifndef GC_STORE_CHUNK_H
#define GC_STORE_CHUNK_H

#include "base/check.h"
#include "base/lock.h"
#include "gc/events/events.h"
#include "gc/store/layout.h"

enum {
  CHUNK_BYTES = TINY ? 1 << 16 : 1 << 21,
  UNIT_BYTES = TINY ? 1 << 12 : 1 << 16,
  CHUNK_UNITS = CHUNK_BYTES / UNIT_BYTES,
  CHUNK_WORDS = CHUNK_BYTES / 8,
};

/* IDLE */
enum {
  IDLE_MOST = TINY ? 4 : 1024,
  IDLE_STEP = 4 * CHUNK_BYTES,
  IDLE_LARGEST = 16 * CHUNK_BYTES + 4096, /* a page is for the head */
  IDLE_LEAST = 2 * IDLE_LARGEST,
};

enum chunk_use { CHUNK_ABSENT, CHUNK_EMPTY, CHUNK_POOLS, CHUNK_MEDIUM };

struct chunk {
  char *base; /* a multiple of CHUNK_BYTES; NULL if absent */
  enum chunk_use use;
  uint32_t used;           /* a bit for each unit that is a pool */
  struct chunk *next_free; /* of its list: with free units, empty, fresh or absent */
  bool listed;             /* in `with_units` */
  bool advised;            /* the system was asked for huge pages */
  bool touching;           /* TOUCH AHEAD: a thread touches it; it stays mapped until that ends */
  bool pinned;             /* evacuation.h: a block in it must stay */
  bool hidden;             /* evacuation.h: no new pool may be in it; not in `with_units` */
  /* Of medium.h, under its lock. */
  bool swept;
  size_t free_words;
};

struct idle {
  char *at;
  size_t bytes;
};

struct chunks {
  struct lock lock;
  struct chunk *table; /* reserved addresses */
  size_t capacity, count;
  struct chunk *with_units, *empty, *fresh, *absent; /* fresh: empty and never touched */
  size_t fresh_count;
  size_t free_units;           /* units of empty chunks are counted too */
  size_t reserve;              /* units that only promotion may take */
  size_t least_free;           /* the least that free_units was since chunks_decay */
  _Atomic(bool) cold;          /* TOUCH AHEAD: there may be a chunk to touch */
  struct idle idle[IDLE_MOST]; /* IDLE: the oldest first */
  size_t idle_count, idle_bytes;
  size_t least_idle;            /* the least that idle_bytes was since chunks_decay */
  size_t idle_most;             /* bytes */
  size_t excess_idle;           /* bytes that are still to go back */
  struct outgoing *outgoing;    /* mappings to be unmapped when the lock is released */
  size_t used_count;            /* neither absent nor empty */
  size_t limit_bytes;           /* of chunks and large blocks together; SIZE_MAX: none */
  _Atomic(size_t) mapped_bytes; /* chunks, large blocks and idle mappings */
  _Atomic(size_t) used_bytes;   /* chunks that are not empty, and large blocks: the heap's size */
  _Atomic(size_t) top_bytes;    /* the most that used_bytes was */
  long increment;               /* major_heap_increment */
  /* Set before the first use; constant afterwards. */
  bool huge_pages;             /* the system is asked for them */
  bool rotates;                /* ROTATION */
  const struct events *events; /* of the heap */
};

bool chunks_create(struct chunks *chunks);
void chunks_destroy(struct chunks *chunks);

/* Maps `words` words in advance. False if the system has no more. */
bool chunks_prepare(struct chunks *chunks, size_t words);

void chunks_set_increment(struct chunks *chunks, long increment);

/* Takes a unit for a pool, and stores its chunk in `*of`. The unit's memory may have any contents.
 * NULL if there is no memory. `promoting`: the unit may come from the reserve. */
char *chunks_take_unit(struct chunks *chunks, bool promoting, struct chunk **of);
void chunks_give_unit(struct chunks *chunks, struct chunk *chunk, char *unit);

/* While a chunk of pools is hidden, no unit of it is taken, but units can be given back. */
void chunks_hide(struct chunks *chunks, struct chunk *chunk);
void chunks_show(struct chunks *chunks, struct chunk *chunk);

/* Takes an empty chunk for medium blocks, not out of the reserve. */
struct chunk *chunks_take(struct chunks *chunks);
void chunks_give(struct chunks *chunks, struct chunk *chunk);

/* RESERVE. Keeps at least `units` units free from now on. False if it cannot. IDLE: a step of the
 * excess goes back. */
bool chunks_secure(struct chunks *chunks, size_t units);

/* TOUCH AHEAD: touches a chunk. False if there is nothing to touch. Any thread may call it. */
bool chunks_touch(struct chunks *chunks);
static inline bool chunks_are_cold(const struct chunks *chunks) {
  return atomic_load_explicit(&chunks->cold, memory_order_relaxed);
}

/* The bytes of chunks that were touched, of large blocks and of idle mappings. */
size_t chunks_touched(struct chunks *chunks);

/* In the child of a fork: no thread touches memory any more. */
void chunks_lose_threads(struct chunks *chunks);

/* Unmaps empty chunks, except the reserve and `keep` more units, and idle mappings. Returns how many
 * bytes it unmapped. */
size_t chunks_trim(struct chunks *chunks, size_t keep);

/* The same at the end of a cycle, for chunks and idle mappings that no thread needed since the last
 * call. `keep` units more than the reserve will be needed soon; they are
 * the allowance of IDLE. At most `room` bytes of mappings may stay idle. */
void chunks_decay(struct chunks *chunks, size_t keep, size_t room);

/* The next chunks_decay keeps no chunk because it was needed: the heap was larger then. */
void chunks_forget_need(struct chunks *chunks);

/* Returns memory for one large block, of at least `*bytes` bytes, and stores how many it has; NULL
 * if there is none. `filled`: the caller will touch all of it at once, so that huge pages waste
 * nothing. `*zeroed` becomes true if its bytes are zero; if not, they may have any value. */
void *chunks_map_large(struct chunks *chunks, size_t *bytes, bool filled, bool *zeroed);
/* Gives it back, or keeps it (IDLE). */
void chunks_unmap_large(struct chunks *chunks, void *mapping, size_t bytes);

#endif
/* SPDX-License-Identifier: MIT */
