/* Chunks: mapped several at a time, cut into units, unmapped when they are empty; and the mappings
 * of large blocks. */
#include "gc/store/chunk.h"

#include "base/metadata.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_FROM = 2, TOUCH_FROM = 8 }; /* chunks in use */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static const uint32_t ALL_UNITS = (uint32_t)((UINT64_C(1) << CHUNK_UNITS) - 1);

static void count_used(struct chunks *chunks, size_t bytes) {
  size_t used = atomic_fetch_add(&chunks->used_bytes, bytes) + bytes;
  size_t top = atomic_load(&chunks->top_bytes);
  while (used > top && !atomic_compare_exchange_weak(&chunks->top_bytes, &top, used)) {}
}

static void count_unused(struct chunks *chunks, size_t bytes) {
  atomic_fetch_sub(&chunks->used_bytes, bytes);
}

/* Counts bytes as mapped, if the limit allows. */
static bool may_map(struct chunks *chunks, size_t bytes) {
  size_t before = atomic_fetch_add(&chunks->mapped_bytes, bytes);
  if (bytes <= chunks->limit_bytes && before <= chunks->limit_bytes - bytes) return true;
  atomic_fetch_sub(&chunks->mapped_bytes, bytes);
  return false;
}

/* ---- mappings that go back ----
 *
 * To unmap a large block can take longer than a pause may. So that happens without the lock, for
 * which a stopped world may wait; until then such mappings are linked by their first bytes. */

struct outgoing {
  struct outgoing *next;
  size_t bytes;
};

static void count_unmapped(struct chunks *chunks, size_t bytes) {
  size_t mapped = atomic_fetch_sub(&chunks->mapped_bytes, bytes) - bytes;
  event_size(chunks->events, EVENT_HEAP_SHRINKS, NULL, bytes, mapped);
}

static void send_back(struct chunks *chunks, char *mapping, size_t bytes) {
  unpoison(mapping, bytes);
  struct outgoing *outgoing = (struct outgoing *)(void *)mapping;
  *outgoing = (struct outgoing){chunks->outgoing, bytes};
  chunks->outgoing = outgoing;
  count_unmapped(chunks, bytes);
}

static struct outgoing *take_outgoing(struct chunks *chunks) {
  struct outgoing *list = chunks->outgoing;
  chunks->outgoing = NULL;
  return list;
}

/* False if there was none. */
static bool unmap_all(struct outgoing *list) {
  bool any = list;
  for (struct outgoing *next; list; list = next) {
    next = list->next;
    metadata_unmap(list, list->bytes);
  }
  return any;
}

static void chunk_acquire(struct chunks *chunks) { lock_acquire(&chunks->lock, LOCK_RANK_CHUNKS); }

static void chunk_release(struct chunks *chunks) {
  struct outgoing *list = take_outgoing(chunks);
  lock_release(&chunks->lock, LOCK_RANK_CHUNKS);
  unmap_all(list);
}

/* ---- IDLE ---- */

static void remove_idle(struct chunks *chunks, size_t from, size_t count, size_t bytes) {
  struct idle *at = &chunks->idle[from];
  chunks->idle_count -= count;
  memmove(at, at + count, (chunks->idle_count - from) * sizeof *at);
  chunks->idle_bytes -= bytes;
  if (chunks->idle_bytes < chunks->least_idle) chunks->least_idle = chunks->idle_bytes;
  if (chunks->idle_bytes < chunks->excess_idle) chunks->excess_idle = chunks->idle_bytes;
}

/* Sends the oldest idle mappings back: at least `bytes` bytes, or all. Returns how many. */
static size_t send_idle_back(struct chunks *chunks, size_t bytes) {
  size_t count = 0, sum = 0;
  for (; count < chunks->idle_count && sum < bytes; sum += chunks->idle[count++].bytes)
    send_back(chunks, chunks->idle[count].at, chunks->idle[count].bytes);
  remove_idle(chunks, 0, count, sum);
  return sum;
}

static bool may_idle(const struct chunks *chunks, size_t bytes) {
  return bytes <= IDLE_LARGEST && !chunks->rotates;
}

static void add_idle(struct chunks *chunks, char *mapping, size_t bytes) {
  if (chunks->idle_bytes > chunks->idle_most - bytes) send_idle_back(chunks, bytes);
  if (chunks->idle_count == IDLE_MOST) send_idle_back(chunks, 1);
  fill_stale(mapping, bytes);
  poison(mapping, bytes);
  chunks->idle[chunks->idle_count++] = (struct idle){mapping, bytes};
  chunks->idle_bytes += bytes;
}

/* The smallest that fits, and of these the newest; NULL if there is none. */
static char *take_idle(struct chunks *chunks, size_t *bytes) {
  size_t least = *bytes + *bytes / 8 + 1, best = IDLE_MOST;
  for (size_t i = chunks->idle_count; i-- && least != *bytes;) {
    size_t found = chunks->idle[i].bytes;
    if (found < *bytes || found >= least) continue;
    least = found;
    best = i;
  }
  if (best == IDLE_MOST) return NULL;
  char *mapping = chunks->idle[best].at;
  remove_idle(chunks, best, 1, least);
  unpoison(mapping, least);
  *bytes = least;
  return mapping;
}

static void send_excess_back(struct chunks *chunks) {
  size_t excess = chunks->excess_idle;
  if (!excess) return;
  size_t sent = send_idle_back(chunks, excess < IDLE_STEP ? excess : IDLE_STEP);
  size_t left = excess > sent ? excess - sent : 0;
  if (left < chunks->excess_idle) chunks->excess_idle = left;
}

static void decay_idle(struct chunks *chunks, size_t allowance, size_t room) {
  chunks->idle_most = allowance > IDLE_LEAST ? allowance : IDLE_LEAST;
  size_t most = chunks->idle_most < room ? chunks->idle_most : room;
  size_t beyond = chunks->idle_bytes > most ? chunks->idle_bytes - most : 0;
  chunks->excess_idle = beyond > chunks->least_idle ? beyond : chunks->least_idle;
  send_excess_back(chunks);
  chunks->least_idle = chunks->idle_bytes;
}

/* As metadata_map, which is tried again when all that goes back is unmapped. */
static void *map_counted(struct chunks *chunks, size_t bytes, void *map(size_t bytes)) {
  void *mapping = NULL;
  send_idle_back(chunks, bytes);
  do {
    if (!may_map(chunks, bytes)) continue;
    mapping = map(bytes);
    if (!mapping) atomic_fetch_sub(&chunks->mapped_bytes, bytes);
  } while (!mapping && (send_idle_back(chunks, SIZE_MAX), unmap_all(take_outgoing(chunks))));
  if (mapping) event_size(chunks->events, EVENT_HEAP_GROWS, NULL, bytes, atomic_load(&chunks->mapped_bytes));
  return mapping;
}

/* Pages at a multiple of CHUNK_BYTES: maps more, and unmaps the edges. */
static void *map_aligned(size_t bytes) {
  char *mapped = metadata_map(bytes + CHUNK_BYTES);
  if (!mapped) return NULL;
  char *base = (char *)(((uintptr_t)mapped + CHUNK_BYTES - 1) & ~(uintptr_t)(CHUNK_BYTES - 1));
  size_t before = (size_t)(base - mapped);
  if (before) metadata_unmap(mapped, before);
  if (before < CHUNK_BYTES) metadata_unmap(base + bytes, CHUNK_BYTES - before);
  return base;
}

static void chunk_put(struct chunk **list, struct chunk *chunk) {
  chunk->next_free = *list;
  *list = chunk;
}

static struct chunk *chunk_take_first(struct chunk **list) {
  struct chunk *chunk = *list;
  if (chunk) *list = chunk->next_free;
  return chunk;
}

static void count_empty(struct chunks *chunks, struct chunk *chunk) {
  chunk->use = CHUNK_EMPTY;
  chunk->used = 0;
  chunks->free_units += CHUNK_UNITS;
}

static void add_empty(struct chunks *chunks, struct chunk *chunk) {
  struct chunk **link = &chunks->empty;
  while (chunks->rotates && *link) link = &(*link)->next_free;
  chunk_put(link, chunk);
  count_empty(chunks, chunk);
}

static void add_fresh(struct chunks *chunks, struct chunk *chunk) {
  chunk_put(&chunks->fresh, chunk);
  count_empty(chunks, chunk);
  chunks->fresh_count++;
}

static struct chunk *chunk_take_fresh(struct chunks *chunks) {
  struct chunk *chunk = chunk_take_first(&chunks->fresh);
  if (chunk) chunks->fresh_count--;
  return chunk;
}

static struct chunk *take_absent(struct chunks *chunks) {
  struct chunk *chunk = chunk_take_first(&chunks->absent);
  if (chunk) return chunk;
  return chunks->count < chunks->capacity ? &chunks->table[chunks->count++] : NULL;
}

static void count_taken(struct chunks *chunks, size_t units) {
  chunks->free_units -= units;
  if (chunks->free_units < chunks->least_free) chunks->least_free = chunks->free_units;
}

/* A touched one first. */
static struct chunk *chunk_remove_empty(struct chunks *chunks) {
  struct chunk *chunk = chunks->rotates ? chunk_take_fresh(chunks) : NULL;
  if (!chunk) chunk = chunk_take_first(&chunks->empty);
  if (!chunk) chunk = chunk_take_fresh(chunks);
  if (chunk) chunks->free_units -= CHUNK_UNITS;
  return chunk;
}

/* One that can be unmapped: a touched one last. */
static struct chunk *remove_unneeded(struct chunks *chunks) {
  struct chunk *chunk = chunk_take_fresh(chunks), **link = &chunks->empty;
  while (!chunk && *link && (*link)->touching) link = &(*link)->next_free; /* TOUCH AHEAD */
  if (!chunk) chunk = chunk_take_first(link);
  if (chunk) chunks->free_units -= CHUNK_UNITS;
  return chunk;
}

static void make_absent(struct chunks *chunks, struct chunk *chunk) {
  chunk->base = NULL;
  chunk->use = CHUNK_ABSENT;
  chunk_put(&chunks->absent, chunk);
}

/* Maps `count` chunks as one piece. */
static bool map_chunks(struct chunks *chunks, size_t count) {
  size_t bytes = count * CHUNK_BYTES;
  char *base = map_counted(chunks, bytes, map_aligned);
  for (size_t i = 0; base && i < count; i++) {
    struct chunk *chunk = take_absent(chunks);
    if (!chunk) {
      metadata_unmap(base + i * CHUNK_BYTES, bytes - i * CHUNK_BYTES);
      count_unmapped(chunks, bytes - i * CHUNK_BYTES);
      return i != 0;
    }
    chunk->base = base + i * CHUNK_BYTES;
    chunk->advised = false;
    add_fresh(chunks, chunk);
  }
  return base != NULL;
}

/* Maps what the increment says, at least `least` chunks; only these where there is no memory for
 * more. */
static bool chunk_grow(struct chunks *chunks, size_t least) {
  size_t words = (size_t)chunks->increment;
  if (chunks->increment <= 1000) words = atomic_load(&chunks->used_bytes) / 800 * (size_t)chunks->increment;
  size_t count = words / CHUNK_WORDS;
  if (count < 2) count = TINY ? 1 : 2;
  if (count < least) count = least;
  return map_chunks(chunks, count) || (count > least && map_chunks(chunks, least));
}

/* True if `units` can be taken beside the reserve. */
static bool can_spare(struct chunks *chunks, size_t units) {
  return chunks->free_units >= chunks->reserve + units || chunk_grow(chunks, 1);
}

/* Before the first touch. Huge pages make large heaps faster, and small ones larger. The system may
 * refuse. */
static void advise(struct chunks *chunks, struct chunk *chunk) {
  if (chunk->advised || !chunks->huge_pages || chunks->used_count < HUGE_FROM) return;
  int saved = errno;
  madvise(chunk->base, CHUNK_BYTES, MADV_HUGEPAGE);
  errno = saved;
  chunk->advised = true;
}

static struct chunk *take_empty(struct chunks *chunks, enum chunk_use use) {
  struct chunk *chunk = chunk_remove_empty(chunks);
  if (!chunk && chunk_grow(chunks, 1)) chunk = chunk_remove_empty(chunks);
  if (!chunk) return NULL;
  advise(chunks, chunk);
  chunk->use = use;
  chunks->used_count++;
  count_used(chunks, CHUNK_BYTES);
  return chunk;
}

static void release_chunk(struct chunks *chunks, struct chunk *chunk) {
  poison(chunk->base, CHUNK_BYTES);
  chunks->used_count--;
  count_unused(chunks, CHUNK_BYTES);
  add_empty(chunks, chunk);
}

static void list_units(struct chunks *chunks, struct chunk *chunk) {
  if (chunk->listed || chunk->hidden) return;
  chunk->listed = true;
  chunk->next_free = chunks->with_units;
  chunks->with_units = chunk;
}

static void unlist_units(struct chunks *chunks, struct chunk *chunk) {
  if (!chunk->listed) return;
  struct chunk **link = &chunks->with_units;
  while (*link != chunk) link = &(*link)->next_free;
  *link = chunk->next_free;
  chunk->listed = false;
}

static bool is_cold(const struct chunks *chunks) {
  size_t touched = chunks->free_units - chunks->fresh_count * CHUNK_UNITS;
  return chunks->fresh_count && touched < chunks->reserve / 2 && chunks->used_count >= TOUCH_FROM;
}

/* TOUCH AHEAD: the chunk counts as touched at once. */
static struct chunk *begin_touch(struct chunks *chunks) {
  struct chunk *chunk = NULL;
  chunk_acquire(chunks);
  if (is_cold(chunks) && (chunk = chunk_take_fresh(chunks))) {
    advise(chunks, chunk);
    chunk_put(&chunks->empty, chunk);
    chunk->touching = true;
  }
  atomic_store_explicit(&chunks->cold, is_cold(chunks), memory_order_relaxed);
  chunk_release(chunks);
  return chunk;
}

static void end_touch(struct chunks *chunks, struct chunk *chunk) {
  chunk_acquire(chunks);
  chunk->touching = false;
  chunk_release(chunks);
}

/* ---- shared ---- */

bool chunks_create(struct chunks *chunks) {
  chunks->capacity = TINY ? 1 << 14 : 1 << 20;
  chunks->table = metadata_reserve_much(chunks->capacity * sizeof *chunks->table);
  chunks->idle_most = IDLE_LEAST;
  if (!chunks->table) {
    chunks->capacity = 1 << 12;
    chunks->table = metadata_reserve(chunks->capacity * sizeof *chunks->table);
  }
  return chunks->table != NULL;
}

void chunks_destroy(struct chunks *chunks) {
  send_idle_back(chunks, SIZE_MAX);
  unmap_all(take_outgoing(chunks));
  for (size_t i = 0; i < chunks->count; i++) {
    if (!chunks->table[i].base) continue;
    unpoison(chunks->table[i].base, CHUNK_BYTES);
    metadata_unmap(chunks->table[i].base, CHUNK_BYTES);
  }
  metadata_give_back(chunks->table, chunks->capacity * sizeof *chunks->table);
}

bool chunks_prepare(struct chunks *chunks, size_t words) {
  chunk_acquire(chunks);
  bool mapped = map_chunks(chunks, words / CHUNK_WORDS + (words % CHUNK_WORDS != 0));
  chunk_release(chunks);
  return mapped;
}

void chunks_set_increment(struct chunks *chunks, long increment) {
  chunk_acquire(chunks);
  chunks->increment = increment;
  chunk_release(chunks);
}

char *chunks_take_unit(struct chunks *chunks, bool promoting, struct chunk **of) {
  char *unit = NULL;
  chunk_acquire(chunks);
  struct chunk *chunk = NULL;
  if (promoting || can_spare(chunks, 1)) chunk = chunks->with_units;
  if (!chunk && (promoting || can_spare(chunks, 1)) && (chunk = take_empty(chunks, CHUNK_POOLS))) {
    chunks->free_units += CHUNK_UNITS;
    list_units(chunks, chunk);
  }
  if (chunk) {
    unsigned index = (unsigned)__builtin_ctz(~chunk->used);
    chunk->used |= 1u << index;
    count_taken(chunks, 1);
    if (chunk->used == ALL_UNITS) unlist_units(chunks, chunk);
    unit = chunk->base + (size_t)index * UNIT_BYTES;
  }
  chunk_release(chunks);
  *of = chunk;
  return unit;
}

void chunks_give_unit(struct chunks *chunks, struct chunk *chunk, char *unit) {
  chunk_acquire(chunks);
  chunk->used &= ~(1u << (unsigned)((size_t)(unit - chunk->base) / UNIT_BYTES));
  chunks->free_units++;
  list_units(chunks, chunk);
  if (!chunk->used) {
    unlist_units(chunks, chunk);
    chunks->free_units -= CHUNK_UNITS;
    release_chunk(chunks, chunk);
  }
  chunk_release(chunks);
}

void chunks_hide(struct chunks *chunks, struct chunk *chunk) {
  chunk_acquire(chunks);
  unlist_units(chunks, chunk);
  chunk->hidden = true;
  chunk_release(chunks);
}

void chunks_show(struct chunks *chunks, struct chunk *chunk) {
  chunk_acquire(chunks);
  chunk->hidden = false;
  if (chunk->use == CHUNK_POOLS && chunk->used != ALL_UNITS) list_units(chunks, chunk);
  chunk_release(chunks);
}

struct chunk *chunks_take(struct chunks *chunks) {
  chunk_acquire(chunks);
  struct chunk *chunk = can_spare(chunks, CHUNK_UNITS) ? take_empty(chunks, CHUNK_MEDIUM) : NULL;
  if (chunk) count_taken(chunks, 0); /* take_empty took its units */
  chunk_release(chunks);
  return chunk;
}

void chunks_give(struct chunks *chunks, struct chunk *chunk) {
  chunk_acquire(chunks);
  release_chunk(chunks, chunk);
  chunk_release(chunks);
}

bool chunks_secure(struct chunks *chunks, size_t units) {
  chunk_acquire(chunks);
  bool secure = chunks->free_units >= units;
  if (!secure) {
    size_t missing = units - chunks->free_units;
    secure = chunk_grow(chunks, (missing + CHUNK_UNITS - 1) / CHUNK_UNITS) && chunks->free_units >= units;
  }
  if (secure) chunks->reserve = units;
  atomic_store_explicit(&chunks->cold, chunks->huge_pages && is_cold(chunks), memory_order_relaxed);
  send_excess_back(chunks);
  chunk_release(chunks);
  return secure;
}

bool chunks_touch(struct chunks *chunks) {
  int saved = errno;
  struct chunk *chunk = begin_touch(chunks);
  if (!chunk) return false;
  madvise(chunk->base, CHUNK_BYTES, MADV_POPULATE_WRITE); /* may be refused */
  end_touch(chunks, chunk);
  errno = saved;
  return true;
}

void chunks_lose_threads(struct chunks *chunks) {
  for (size_t i = 0; i < chunks->count; i++) chunks->table[i].touching = false;
}

size_t chunks_touched(struct chunks *chunks) {
  chunk_acquire(chunks);
  size_t bytes = atomic_load(&chunks->mapped_bytes) - chunks->fresh_count * CHUNK_BYTES;
  chunk_release(chunks);
  return bytes;
}

static size_t chunk_trim(struct chunks *chunks, size_t keep) {
  size_t bytes = 0;
  if (chunks->rotates) return 0;
  while (chunks->free_units >= chunks->reserve + keep + CHUNK_UNITS) {
    struct chunk *chunk = remove_unneeded(chunks);
    if (!chunk) break;
    unpoison(chunk->base, CHUNK_BYTES);
    metadata_unmap(chunk->base, CHUNK_BYTES);
    atomic_fetch_sub(&chunks->mapped_bytes, (size_t)CHUNK_BYTES);
    make_absent(chunks, chunk);
    bytes += CHUNK_BYTES;
  }
  if (bytes) event_size(chunks->events, EVENT_HEAP_SHRINKS, NULL, bytes, atomic_load(&chunks->mapped_bytes));
  return bytes;
}

size_t chunks_trim(struct chunks *chunks, size_t keep) {
  chunk_acquire(chunks);
  size_t bytes = chunk_trim(chunks, keep) + send_idle_back(chunks, SIZE_MAX);
  chunk_release(chunks);
  return bytes;
}

void chunks_decay(struct chunks *chunks, size_t keep, size_t room) {
  chunk_acquire(chunks);
  size_t unneeded = chunks->least_free > chunks->reserve ? chunks->least_free - chunks->reserve : 0;
  size_t wanted = chunks->free_units - (unneeded < chunks->free_units ? unneeded : chunks->free_units);
  size_t kept = wanted > chunks->reserve ? wanted - chunks->reserve : 0;
  chunk_trim(chunks, kept > keep ? kept : keep);
  chunks->least_free = chunks->free_units;
  decay_idle(chunks, keep * UNIT_BYTES, room);
  chunk_release(chunks);
}

void chunks_forget_need(struct chunks *chunks) {
  chunk_acquire(chunks);
  chunks->least_free = chunks->free_units;
  chunk_release(chunks);
}

void *chunks_map_large(struct chunks *chunks, size_t *bytes, bool filled, bool *zeroed) {
  size_t wanted = *bytes;
  chunk_acquire(chunks);
  char *mapping = take_idle(chunks, bytes);
  *zeroed = !mapping;
  if (!mapping) mapping = map_counted(chunks, wanted, metadata_map);
  chunk_release(chunks);
  if (!mapping) return NULL;
  if (*zeroed && filled && chunks->huge_pages && wanted >= CHUNK_BYTES)
    madvise(mapping, wanted, MADV_HUGEPAGE);
  count_used(chunks, *bytes);
  return mapping;
}

void chunks_unmap_large(struct chunks *chunks, void *mapping, size_t bytes) {
  chunk_acquire(chunks);
  count_unused(chunks, bytes);
  if (may_idle(chunks, bytes))
    add_idle(chunks, mapping, bytes);
  else
    send_back(chunks, mapping, bytes);
  chunk_release(chunks);
}
/* SPDX-License-Identifier: MIT */
