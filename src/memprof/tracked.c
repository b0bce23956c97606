/* Shards of a linear hash table. The picture and the invariants are in tracked.h. */
#include "memprof/tracked.h"

#include "base/check.h"
#include "base/metadata.h"
#include "memprof/entry.h"
#include <string.h>

/* ---- buckets ---- */

/* The blocks of a region of addresses have buckets near each other: a sweep, which comes to one
 * after the other, then finds most of what it needs in a cache. Where the regions' buckets begin is
 * as if at random. */
enum { REGION_SHIFT = 14, BLOCK_SHIFT = 5 };

static uint64_t region_hash(uintptr_t address) {
  return (address >> REGION_SHIFT) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t tracked_hash_of(uintptr_t address) {
  uint64_t region = region_hash(address);
  uintptr_t in_region = (address >> BLOCK_SHIFT) % (1 << (REGION_SHIFT - BLOCK_SHIFT));
  return (uint32_t)((region ^ region >> 32) + in_region);
}

static struct tracked_shard *shard_of(struct tracked_table *table, uintptr_t address) {
  return &table->shards[(region_hash(address) >> 60) % TRACKED_SHARDS];
}

static size_t bucket_count(const struct tracked_shard *shard) { return BUCKETS_FIRST + shard->added; }

static size_t power_below(size_t count) { return (size_t)1 << (63 - __builtin_clzll(count)); }

static unsigned tracked_chunk_of(size_t bucket) {
  return 63u - (unsigned)__builtin_clzll(bucket / BUCKETS_FIRST);
}

static size_t chunk_buckets(unsigned chunk) { return (size_t)BUCKETS_FIRST << chunk; }

static struct memprof_entry **bucket_at(struct tracked_shard *shard, size_t bucket) {
  if (bucket < BUCKETS_FIRST) return &shard->first[bucket];
  unsigned chunk = tracked_chunk_of(bucket);
  return &shard->chunks[chunk][bucket - chunk_buckets(chunk)];
}

static struct memprof_entry **tracked_bucket_of(struct tracked_shard *shard, uintptr_t address) {
  size_t count = bucket_count(shard), power = power_below(count);
  size_t bucket = tracked_hash_of(address) & (2 * power - 1);
  return bucket_at(shard, bucket < count ? bucket : bucket - power);
}

static uintptr_t tracked_address_of(const struct memprof_entry *entry) {
  return atomic_load_explicit(&entry->address, memory_order_relaxed);
}

static bool has_bucket(struct tracked_shard *shard, size_t bucket) {
  unsigned chunk = tracked_chunk_of(bucket);
  if (shard->chunks[chunk]) return true;
  if (chunk + 1 < BUCKET_CHUNKS)
    shard->chunks[chunk] = metadata_map(chunk_buckets(chunk) * sizeof *shard->chunks[chunk]);
  return shard->chunks[chunk] != NULL;
}

/* Adds a bucket, and gives it its part of the chain that it splits. */
static void add_bucket(struct tracked_shard *shard) {
  size_t bucket = bucket_count(shard);
  if (!has_bucket(shard, bucket)) return;
  struct memprof_entry **from = bucket_at(shard, bucket - power_below(bucket)), *entry = *from;
  *from = NULL;
  shard->added++;
  while (entry) {
    struct memprof_entry *next = entry->next, **to = tracked_bucket_of(shard, tracked_address_of(entry));
    entry->next = *to;
    *to = entry;
    entry = next;
  }
}

static void lock_shard(struct tracked_shard *shard) { lock_acquire(&shard->lock, LOCK_RANK_TRACKED); }

static void visit_chain(struct tracked_shard *shard, struct memprof_entry **link,
                        void (*visit)(void *visitor, uintptr_t *address), void *visitor,
                        struct entry_list *moved) {
  struct memprof_entry *entry;
  while ((entry = *link)) {
    uintptr_t address = tracked_address_of(entry), now = address;
    visit(visitor, &now);
    if (now == address) {
      link = &entry->next;
      continue;
    }
    entry_list_append(moved, tracked_unlink(shard, link));
    atomic_store_explicit(&entry->address, now, memory_order_relaxed);
  }
}

/* ---- shared ---- */

bool tracked_insert(struct tracked_table *table, struct memprof_entry *entry) {
  struct tracked_shard *shard = shard_of(table, tracked_address_of(entry));
  lock_shard(shard);
  bool lives = entry_stage(atomic_fetch_or(&entry->word, ENTRY_LINKED)) != STAGE_ZOMBIE; /* ZOMBIES */
  if (lives) {
    if (++shard->count > bucket_count(shard)) add_bucket(shard);
    struct memprof_entry **bucket = tracked_bucket_of(shard, tracked_address_of(entry));
    entry->next = *bucket;
    *bucket = entry;
  }
  tracked_unlock(shard);
  return lives;
}

bool tracked_remove(struct tracked_table *table, struct memprof_entry *entry) {
  uintptr_t address = tracked_address_of(entry);
  struct tracked_shard *shard = shard_of(table, address);
  lock_shard(shard);
  struct memprof_entry **link = tracked_bucket_of(shard, address);
  while (*link && *link != entry) link = &(*link)->next;
  bool stands = *link != NULL;
  if (stands) tracked_unlink(shard, link);
  tracked_unlock(shard);
  return stands;
}

void tracked_take(struct tracked_table *table, uintptr_t address, struct entry_list *list) {
  struct memprof_entry **link;
  struct tracked_shard *shard = tracked_lock(table, address, &link);
  while (*link) {
    if (tracked_address_of(*link) != address)
      link = &(*link)->next;
    else
      entry_list_append(list, tracked_unlink(shard, link));
  }
  tracked_unlock(shard);
}

/* Adds what the shard's list `i` has to the lists of `news`. */
static void take_news(struct tracked_shard *shard, unsigned i, struct tracked_news *news) {
  struct tracked_news *from = &shard->news[i];
  if (!from->list.first) return;
  news->owner = news->list.first && news->owner != from->owner ? 0 : from->owner;
  entry_pending_join(&news->list, &from->list);
}

void tracked_take_news(struct tracked_table *table, struct tracked_news news[NEWS_LISTS]) {
  memset(news, 0, NEWS_LISTS * sizeof *news);
  if (!atomic_load(&table->has_news)) return;
  atomic_store(&table->has_news, false); /* before it looks: what comes later is told later */
  for (unsigned i = 0; i < TRACKED_SHARDS; i++) {
    struct tracked_shard *shard = &table->shards[i];
    lock_shard(shard);
    for (unsigned k = 0; k < NEWS_LISTS; k++) take_news(shard, k, &news[k]);
    tracked_unlock(shard);
  }
}

struct tracked_shard *tracked_lock(struct tracked_table *table, uintptr_t address,
                                   struct memprof_entry ***link) {
  struct tracked_shard *shard = shard_of(table, address);
  lock_shard(shard);
  *link = tracked_bucket_of(shard, address);
  return shard;
}

void tracked_unlock(struct tracked_shard *shard) { lock_release(&shard->lock, LOCK_RANK_TRACKED); }

struct memprof_entry *tracked_unlink(struct tracked_shard *shard, struct memprof_entry **link) {
  struct memprof_entry *entry = *link;
  *link = entry->next;
  shard->count--;
  return entry;
}

void tracked_post(struct tracked_table *table, struct tracked_shard *shard, struct memprof_entry *entry) {
  struct tracked_news *news = &shard->news[entry->owner % NEWS_LISTS];
  news->owner = news->list.first && news->owner != entry->owner ? 0 : entry->owner;
  entry_pending_append(&news->list, entry);
  atomic_store(&table->has_news, true);
}

void tracked_each(struct tracked_table *table, void (*each)(void *context, struct memprof_entry *entry),
                  void *context) {
  for (unsigned i = 0; i < TRACKED_SHARDS; i++) {
    struct tracked_shard *shard = &table->shards[i];
    lock_shard(shard);
    for (size_t bucket = 0; bucket < bucket_count(shard); bucket++)
      for (struct memprof_entry *entry = *bucket_at(shard, bucket); entry; entry = entry->next)
        each(context, entry);
    tracked_unlock(shard);
  }
}

void tracked_visit(struct tracked_table *table, void (*visit)(void *visitor, uintptr_t *address),
                   void *visitor, struct entry_list *moved) {
  for (unsigned i = 0; i < TRACKED_SHARDS; i++) {
    struct tracked_shard *shard = &table->shards[i];
    lock_shard(shard);
    for (size_t bucket = 0; bucket < bucket_count(shard); bucket++)
      visit_chain(shard, bucket_at(shard, bucket), visit, visitor, moved);
    tracked_unlock(shard);
  }
}

size_t tracked_mapped_bytes(const struct tracked_table *table) {
  size_t bytes = 0;
  for (unsigned i = 0; i < TRACKED_SHARDS; i++)
    for (unsigned chunk = 0; chunk < BUCKET_CHUNKS; chunk++)
      if (table->shards[i].chunks[chunk]) bytes += chunk_buckets(chunk) * sizeof(struct memprof_entry *);
  return bytes;
}

void tracked_unmap(struct tracked_table *table) {
  for (unsigned i = 0; i < TRACKED_SHARDS; i++)
    for (unsigned chunk = 0; chunk < BUCKET_CHUNKS; chunk++)
      metadata_unmap(table->shards[i].chunks[chunk], chunk_buckets(chunk) * sizeof(struct memprof_entry *));
  *table = (struct tracked_table){0};
}

size_t tracked_verify(const struct tracked_table *table) {
  size_t all = 0;
  for (unsigned i = 0; i < TRACKED_SHARDS; i++) {
    struct tracked_shard *shard = (struct tracked_shard *)&table->shards[i];
    size_t found = 0;
    for (size_t bucket = 0; bucket < bucket_count(shard); bucket++)
      for (struct memprof_entry *entry = *bucket_at(shard, bucket); entry; entry = entry->next, found++) {
        uint64_t word = entry_word(entry);
        ASSERT(tracked_bucket_of(shard, tracked_address_of(entry)) == bucket_at(shard, bucket));
        ASSERT(word & ENTRY_LINKED && entry_stage(word) != STAGE_FREE && entry_stage(word) != STAGE_ZOMBIE);
      }
    ASSERT(found == shard->count);
    all += found;
  }
  return all;
}
/* SPDX-License-Identifier: MIT */
