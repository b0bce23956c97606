/* A cache that forgets what was used least recently, and how long its operations take: cache
 * ENTRIES OPERATIONS.
 *
 * An entry is two blocks: its links, and its value. All entries stand in a ring in the order of
 * their last use, and in the chain of their bucket. Half of the keys that are asked for are there.
 * The time of an operation is that from its begin to the next one's, so no pause is lost. */
#include "latency.h"
#include "tree.h"

enum { BUCKETS, RING, CACHE_FIELDS };
enum { KEY, VALUE, BEFORE, AFTER, CHAIN, ENTRY_FIELDS };
#define VALUE_WORDS 4

struct cache {
  wn_domain *d;
  wn_ref buckets, ring; /* the ring's own entry: AFTER it is the latest, BEFORE it the oldest */
  size_t mask;
  long entries, hits;
};

static intptr_t key_of(wn_ref entry) { return wn_to_int(wn_field(entry, KEY)); }
static size_t bucket_of(const struct cache *cache, intptr_t key) {
  return ((size_t)key * 0x9E3779B97F4A7C15u >> 20) & cache->mask;
}

static void unlink_entry(wn_domain *d, wn_ref entry) {
  WN_SCOPE(d);
  wn_ref before = wn_get(d, entry, BEFORE), after = wn_get(d, entry, AFTER);
  wn_set(d, before, AFTER, after);
  wn_set(d, after, BEFORE, before);
}

static void link_latest(struct cache *cache, wn_ref entry) {
  WN_SCOPE(cache->d);
  wn_ref latest = wn_get(cache->d, cache->ring, AFTER);
  wn_set(cache->d, entry, BEFORE, cache->ring);
  wn_set(cache->d, entry, AFTER, latest);
  wn_set(cache->d, latest, BEFORE, entry);
  wn_set(cache->d, cache->ring, AFTER, entry);
}

static void unchain(struct cache *cache, wn_ref entry) {
  wn_domain *d = cache->d;
  WN_SCOPE(d);
  size_t bucket = bucket_of(cache, key_of(entry));
  wn_ref at = wn_get(d, cache->buckets, bucket), rest = wn_get(d, entry, CHAIN);
  if (*at.slot == *entry.slot) {
    wn_set(d, cache->buckets, bucket, rest);
    return;
  }
  while (wn_field(at, CHAIN) != *entry.slot) *at.slot = wn_field(at, CHAIN);
  wn_set(d, at, CHAIN, rest);
}

static void evict(struct cache *cache) {
  WN_SCOPE(cache->d);
  wn_ref oldest = wn_get(cache->d, cache->ring, BEFORE);
  unlink_entry(cache->d, oldest);
  unchain(cache, oldest);
  cache->entries--;
}

static void insert(struct cache *cache, intptr_t key) {
  wn_domain *d = cache->d;
  WN_SCOPE(d);
  size_t bucket = bucket_of(cache, key);
  wn_ref value = wn_alloc_bytes(d, VALUE_WORDS * sizeof(wn_value) - 1), entry = wn_alloc(d, ENTRY_FIELDS, 0);
  *(intptr_t *)wn_bytes(value) = key;
  wn_set_int(d, entry, KEY, key);
  wn_set(d, entry, VALUE, value);
  wn_set(d, entry, CHAIN, wn_get(d, cache->buckets, bucket));
  wn_set(d, cache->buckets, bucket, entry);
  link_latest(cache, entry);
  cache->entries++;
}

/* An entry that is there becomes the latest; one that is not takes the oldest's place. */
static void use(struct cache *cache, intptr_t key) {
  WN_SCOPE(cache->d);
  wn_ref at = wn_get(cache->d, cache->buckets, bucket_of(cache, key));
  while (!wn_is_int(*at.slot) && key_of(at) != key) *at.slot = wn_field(at, CHAIN);
  if (wn_is_int(*at.slot)) {
    evict(cache);
    insert(cache, key);
    return;
  }
  cache->hits++;
  unlink_entry(cache->d, at);
  link_latest(cache, at);
}

static int check(struct cache *cache, long entries) {
  WN_SCOPE(cache->d);
  wn_ref at = wn_get(cache->d, cache->ring, AFTER);
  long seen = 0, wrong = 0;
  for (; *at.slot != *cache->ring.slot; *at.slot = wn_field(at, AFTER), seen++)
    wrong += *(const intptr_t *)wn_field(at, VALUE) != key_of(at);
  printf("%ld hits, %ld entries, %ld wrong\n", cache->hits, seen, wrong);
  return wrong || seen != entries || cache->entries != entries;
}

static size_t power_above(long entries) {
  size_t power = 1;
  while (power < (size_t)entries) power *= 2;
  return power;
}

static struct cache create(wn_domain *d, long entries) {
  struct cache cache = {.d = d, .mask = power_above(entries) - 1};
  cache.buckets = wn_alloc(d, cache.mask + 1, 0);
  cache.ring = wn_alloc(d, ENTRY_FIELDS, 0);
  wn_set(d, cache.ring, BEFORE, cache.ring);
  wn_set(d, cache.ring, AFTER, cache.ring);
  for (long key = 0; key < entries; key++) insert(&cache, key);
  return cache;
}

static int run(wn_domain *d, long entries, long operations) {
  WN_SCOPE(d);
  static struct latency latency;
  struct cache cache = create(d, entries);
  uint64_t seed = 1, begin, last;
  latency_begin(&latency);
  begin = last = latency_now();
  for (long i = 0; i < operations; i++) {
    uint64_t now;
    use(&cache, sequence_next(&seed) % (2 * entries));
    now = latency_now();
    latency_add(&latency, now - last);
    last = now;
  }
  printf("%.0f ns an operation\n", (double)(last - begin) / (double)operations);
  latency_print(&latency);
  latency_print_histogram(&latency);
  return check(&cache, entries);
}

int main(int count, char **words) {
  long entries = sequence_argument(count, words, 2000000), operations = count > 2 ? atol(words[2]) : 10000000;
  struct program program = program_begin();
  int wrong = run(program.domain, entries, operations);
  return program_end(program) + wrong;
}
/* SPDX-License-Identifier: MIT */
