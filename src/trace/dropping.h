/* Keeps the disk space of a trace below a bound: the writer takes the oldest chunks out of the
 * file, by punching holes, before the file gets more space.
 *
 * - Exact: a thread first adds what it asks for to `growing`, then compares the file's disk space
 *   and `growing` with the bound. The space of another thread is in one of the two, or that thread
 *   compares later.
 * - Only sealed chunks go (LEFT of stream.h). A bit for each of them, in a ring of bits by sequence
 *   number, is set after the seal. The thread that clears a bit punches the hole, so no two threads
 *   punch one, and no lock could be lost with a thread that never comes back. The seal is read from
 *   the file before: a bit alone proves nothing.
 * - What another process has taken over is a hole already: it is passed over.
 * - BOUNDED WORK. One call looks at some chunks and words of the ring at most, and the next one goes
 *   on there: a malloc of the program waits for it. While there is room each call passes over two
 *   holes, so few are left when a chunk must go. If that is not enough, there is no room.
 * - OLDEST. Of the chunks that are looked at none before `oldest` has its bit set. A thread that
 *   seals a chunk sets the bit, then lowers `oldest` to it. A thread that raises `oldest` then looks
 *   once more at the bits that it passed, and lowers it again. One of the two therefore sees the
 *   other.
 * - Never chunk 0, which has the RUN record: its bit is never set.
 * - Only the newest chunks are looked at, half as many as the ring has bits and at least eight
 *   times those of the bound. A chunk that was written for longer than all of those stays in the
 *   file. The other half keeps a thread that was delayed from taking the bit of a new chunk for
 *   that of an old one.
 * - NO WAIT. A thread that finds no chunk to drop has no room, even if other threads are about to
 *   make some. For each thread that is taking a chunk up to three count: the one that its stream
 *   still has, its `growing`, and its new space or the chunk that it is dropping. So the bound
 *   needs room for chunk 0, a chunk of each stream, and two for each thread that takes one.
 * - The descriptor is compared with the file just before a hole is punched, since the program may
 *   close it (chunk_file.h).
 *
 * Any thread, signal handlers too; no lock, and nothing is allocated after disk_bound_create. */
#ifndef TRACE_DROPPING_H
#define TRACE_DROPPING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { DROPPED_MOST = 16 };

/* Chunks with records that are gone, until a stream writes that: as a DROPPED record tells of them.
 */
struct dropped_chunk {
  uint64_t sequence, from_ns, until_ns, since_ns, number, count;
};
struct dropped_chunks {
  unsigned count;
  struct dropped_chunk of[DROPPED_MOST];
};

struct disk_bound {
  /* Set by disk_bound_create; constant afterwards. */
  uint64_t most_bytes; /* 0: there is no bound, and nothing happens */
  dev_t device;
  ino_t inode;
  const _Atomic(uint64_t) *next; /* the number of the chunk that will be taken next */
  uint64_t window;               /* bits of the ring, a power of two */
  _Atomic(uint64_t) *sealed;
  _Atomic(uint64_t) oldest; /* OLDEST */
  /* False once the file system refused to punch a hole; tests set it. */
  _Atomic(bool) can_punch;
  /* When the first record was written of all that was dropped: later DROPPED records say it again,
   * since those before are dropped too. */
  _Atomic(uint64_t) since_ns;
  /* How many chunks with records were dropped, and when the last one was begun and sealed. */
  _Atomic(uint64_t) dropped, begun_ns, sealed_ns;
  /* Bytes that threads are asking the file system for. */
  _Atomic(uint64_t) growing;
};

/* `next` becomes the number of the chunk that will be taken next. False if there is no memory. */
bool disk_bound_create(struct disk_bound *bound, uint64_t most_bytes, const _Atomic(uint64_t) *next,
                       dev_t device, ino_t inode);
void disk_bound_destroy(struct disk_bound *bound);

/* The chunk is sealed, and may be dropped from now on. */
void disk_bound_note_sealed(struct disk_bound *bound, uint64_t sequence);

/* Before the file gets `bytes` more: drops the oldest chunks until there is room, and adds them to
 * `dropped`, as long as that has room. False with errno: there is no room. True: the caller calls
 * disk_bound_has_grown, once the file has got the bytes or has not. `dropped` NULL: nothing is
 * dropped. */
bool disk_bound_make_room(struct disk_bound *bound, int descriptor, uint64_t bytes,
                          struct dropped_chunks *dropped);
void disk_bound_has_grown(struct disk_bound *bound, uint64_t bytes);

/* Gives the space of a chunk back to which nothing was written, or will be. */
void disk_bound_give_back(struct disk_bound *bound, int descriptor, uint64_t sequence);

#endif
/* SPDX-License-Identifier: MIT */
