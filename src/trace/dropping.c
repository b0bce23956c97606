/* Keeps the disk space of a trace below a bound. */
#include "trace/dropping.h"

#include "base/metadata.h"
#include "base/os.h"
#include "trace/chunk.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  RING_LEAST = 2048,
  RING_CHUNKS = 16,
  INTERRUPTIONS = 100,
  /* BOUNDED WORK: what one call looks at, of words of the ring and of chunks, to drop a chunk; and of
   * chunks while there is room. */
  WORDS_MOST = 1024,
  CHUNKS_MOST = 256,
  PASSED_MOST = 2,
  /* What the file system may add for its own list of where the file has holes: two blocks. */
  OWN_BYTES = 8192,
  BLOCK_BYTES = 512 /* of st_blocks */
};

/* Whether the descriptor is that of our file; how much disk space that has then. */
static bool dropping_look(const struct disk_bound *bound, int descriptor, uint64_t *bytes) {
  struct stat found;
  if (fstat(descriptor, &found) || found.st_dev != bound->device || found.st_ino != bound->inode)
    return false;
  *bytes = (uint64_t)found.st_blocks * BLOCK_BYTES;
  return true;
}

/* ---- the ring of bits ---- */

static _Atomic(uint64_t) *word_of(const struct disk_bound *bound, uint64_t sequence) {
  return &bound->sealed[sequence % bound->window / 64];
}

/* The first chunk that is looked at. */
static uint64_t first_of(const struct disk_bound *bound) {
  uint64_t next = atomic_load_explicit(bound->next, memory_order_relaxed);
  return next > bound->window / 2 ? next - bound->window / 2 : 0;
}

static bool clear_bit(struct disk_bound *bound, uint64_t sequence) {
  uint64_t bit = UINT64_C(1) << sequence % 64;
  return atomic_fetch_and_explicit(word_of(bound, sequence), ~bit, memory_order_relaxed) & bit;
}

/* The first chunk from `sequence` on whose bit is set; `end` or more: none. */
static uint64_t find_bit(const struct disk_bound *bound, uint64_t sequence, uint64_t end) {
  while (sequence < end) {
    uint64_t word = atomic_load_explicit(word_of(bound, sequence), memory_order_seq_cst) >> sequence % 64;
    if (word) return sequence + (uint64_t)__builtin_ctzll(word);
    sequence += 64 - sequence % 64;
  }
  return end;
}

/* OLDEST */
static void lower_oldest(struct disk_bound *bound, uint64_t sequence) {
  uint64_t seen = atomic_load_explicit(&bound->oldest, memory_order_seq_cst);
  while (sequence < seen &&
         !atomic_compare_exchange_weak_explicit(&bound->oldest, &seen, sequence, memory_order_seq_cst,
                                                memory_order_seq_cst)) {}
}

/* The oldest chunk whose bit is set. False: there is none among those that one call looks at. */
static bool find_oldest(struct disk_bound *bound, uint64_t *oldest) {
  uint64_t seen = atomic_load_explicit(&bound->oldest, memory_order_seq_cst), first = first_of(bound);
  uint64_t next = atomic_load_explicit(bound->next, memory_order_relaxed), from = seen > first ? seen : first;
  uint64_t end = next - from < WORDS_MOST * 64 || next < from ? next : from + WORDS_MOST * 64;
  uint64_t found = find_bit(bound, from, end);
  if (found > seen && atomic_compare_exchange_strong_explicit(&bound->oldest, &seen, found,
                                                              memory_order_seq_cst, memory_order_seq_cst)) {
    uint64_t late = find_bit(bound, from, found); /* OLDEST */
    if (late < found) lower_oldest(bound, found = late);
  }
  *oldest = found;
  return found < end;
}

/* ---- one chunk ---- */

static bool dropping_punch(struct disk_bound *bound, int descriptor, uint64_t sequence) {
  uint64_t unused;
  for (int i = 0; i < INTERRUPTIONS; i++) {
    if (!dropping_look(bound, descriptor, &unused)) return false;
    if (!syscall(SYS_fallocate, descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                 sequence * CHUNK_BYTES, (uint64_t)CHUNK_BYTES))
      return true;
    if (errno != EINTR) break;
  }
  if (errno == EOPNOTSUPP || errno == ENOSYS)
    atomic_store_explicit(&bound->can_punch, false, memory_order_relaxed);
  return false;
}

/* Reads of a chunk what is to be told of it. False if it is not sealed, or a hole. */
static bool read_sealed(int descriptor, uint64_t sequence, struct dropped_chunk *chunk, bool *has_records) {
  struct chunk_header header;
  unsigned char seal[SEAL_BYTES];
  uint64_t offset = sequence * CHUNK_BYTES;
  if (os_read_at(descriptor, &header, sizeof header, offset) < sizeof header) return false;
  uint32_t used = (uint32_t)atomic_load_explicit(&header.commit, memory_order_relaxed);
  if (header.sequence != sequence || used < SEAL_BYTES || used > CHUNK_BYTES - sizeof header) return false;
  offset += sizeof header + used - SEAL_BYTES;
  if (os_read_at(descriptor, seal, sizeof seal, offset) < sizeof seal) return false;
  *chunk = (struct dropped_chunk){.sequence = sequence, .from_ns = header.base_time};
  *has_records = used > SEAL_BYTES;
  return chunk_seal_get(seal, &chunk->until_ns);
}

/* Where there is no room the last entry tells of this chunk too. */
static void dropping_note(struct disk_bound *bound, struct dropped_chunks *dropped,
                          struct dropped_chunk *chunk) {
  chunk->number = atomic_fetch_add_explicit(&bound->dropped, 1, memory_order_relaxed);
  chunk->count = 1;
  atomic_store_explicit(&bound->begun_ns, chunk->from_ns, memory_order_relaxed);
  atomic_store_explicit(&bound->sealed_ns, chunk->until_ns, memory_order_relaxed);
  if (dropped->count < DROPPED_MOST) {
    dropped->of[dropped->count++] = *chunk;
    return;
  }
  struct dropped_chunk *last = &dropped->of[DROPPED_MOST - 1];
  last->count = chunk->number - last->number + 1;
  last->since_ns = chunk->since_ns;
  if (chunk->from_ns < last->from_ns) last->from_ns = chunk->from_ns;
  if (chunk->until_ns > last->until_ns) last->until_ns = chunk->until_ns;
}

/* Whether a next one may be tried; *gone: this one is dropped. */
static bool dropping_drop(struct disk_bound *bound, int descriptor, uint64_t sequence,
                          struct dropped_chunks *dropped, bool *gone) {
  struct dropped_chunk chunk;
  bool has_records, sealed = read_sealed(descriptor, sequence, &chunk, &has_records);
  if (sequence < first_of(bound) || !clear_bit(bound, sequence) || !sealed) return true;
  if (!dropping_punch(bound, descriptor, sequence)) return false;
  chunk.since_ns = atomic_load_explicit(&bound->since_ns, memory_order_relaxed);
  if (chunk.from_ns < chunk.since_ns) {
    chunk.since_ns = chunk.from_ns;
    atomic_store_explicit(&bound->since_ns, chunk.since_ns, memory_order_relaxed);
  }
  if (has_records) dropping_note(bound, dropped, &chunk);
  *gone = true;
  return true;
}

/* Chunks that are holes already have their bits cleared on the way. A search that finds none is repeated
 * if a chunk was taken meanwhile: other threads may have dropped all chunks that the search looked at, and
 * sealed others. */
static bool drop_oldest(struct disk_bound *bound, int descriptor, struct dropped_chunks *dropped) {
  bool gone = false;
  for (int i = 0; i < CHUNKS_MOST && !gone; i++) {
    uint64_t sequence, next = atomic_load_explicit(bound->next, memory_order_relaxed);
    bool found = find_oldest(bound, &sequence);
    if (!found && atomic_load_explicit(bound->next, memory_order_relaxed) == next) return false;
    if (found && !dropping_drop(bound, descriptor, sequence, dropped, &gone)) return false;
  }
  return gone;
}

/* Clears bits of holes, so that few are left when a chunk must go. */
static void pass_holes(struct disk_bound *bound, int descriptor) {
  struct dropped_chunk chunk;
  bool has_records;
  uint64_t sequence;
  for (int i = 0; i < PASSED_MOST && find_oldest(bound, &sequence); i++) {
    if (read_sealed(descriptor, sequence, &chunk, &has_records) || sequence < first_of(bound)) return;
    clear_bit(bound, sequence);
  }
}

/* ---- shared ---- */

bool disk_bound_create(struct disk_bound *bound, uint64_t most_bytes, const _Atomic(uint64_t) *next,
                       dev_t device, ino_t inode) {
  *bound = (struct disk_bound){.most_bytes = most_bytes,
                               .next = next,
                               .device = device,
                               .inode = inode,
                               .can_punch = true,
                               .since_ns = UINT64_MAX};
  if (!most_bytes) return true;
  for (bound->window = RING_LEAST; bound->window / RING_CHUNKS < most_bytes / CHUNK_BYTES;)
    bound->window *= 2;
  bound->sealed = metadata_reserve(bound->window / 8);
  return bound->sealed;
}

void disk_bound_destroy(struct disk_bound *bound) {
  if (bound->sealed) metadata_give_back((void *)bound->sealed, bound->window / 8);
}

void disk_bound_note_sealed(struct disk_bound *bound, uint64_t sequence) {
  if (!bound->most_bytes || !sequence) return;
  /* Pairs with the load in find_bit: the seal is in the file before. */
  atomic_fetch_or_explicit(word_of(bound, sequence), UINT64_C(1) << sequence % 64, memory_order_seq_cst);
  lower_oldest(bound, sequence);
}

bool disk_bound_make_room(struct disk_bound *bound, int descriptor, uint64_t bytes,
                          struct dropped_chunks *dropped) {
  if (!bound->most_bytes) return true;
  uint64_t disk_bytes,
      growing = atomic_fetch_add_explicit(&bound->growing, bytes, memory_order_seq_cst) + bytes;
  while (dropping_look(bound, descriptor, &disk_bytes)) {
    if (disk_bytes + growing + OWN_BYTES <= bound->most_bytes) {
      if (dropped) pass_holes(bound, descriptor);
      return true;
    }
    if (!dropped || !atomic_load_explicit(&bound->can_punch, memory_order_relaxed) ||
        !drop_oldest(bound, descriptor, dropped))
      break;
    growing = atomic_load_explicit(&bound->growing, memory_order_seq_cst);
  }
  disk_bound_has_grown(bound, bytes);
  errno = ENOBUFS;
  return false;
}

void disk_bound_has_grown(struct disk_bound *bound, uint64_t bytes) {
  if (bound->most_bytes) atomic_fetch_sub_explicit(&bound->growing, bytes, memory_order_seq_cst);
}

void disk_bound_give_back(struct disk_bound *bound, int descriptor, uint64_t sequence) {
  if (bound->most_bytes) dropping_punch(bound, descriptor, sequence);
}
/* SPDX-License-Identifier: MIT */
