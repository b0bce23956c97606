/* Statistics.
 *
 * Each domain keeps its own counts, which are added to the heap's `ended` when it ends. So the
 * program's allocation is exact at every moment: minor_words + major_words - promoted_words. A
 * block counts as promoted with the domain that had it in its minor heap, whichever thread copied
 * it.
 *
 * wn_gc_read_stat also walks the major heap. It adds each word to one of three sums, which together
 * are heap_words:
 *   live       blocks that are not known to be dead, with their headers. While the collector
 *              sweeps, unmarked blocks are known to be dead; otherwise none is
 *   free       runs that an allocation can use, as if everything were swept: dead blocks and free
 *              words that touch are one run, and so are the units of a chunk that are no pool
 *   fragments  words that no allocation can use: headers and tails of pools, what a block takes
 *              beyond its header and fields, and runs that are too short for any medium block
 *
 * The world is stopped for both kinds of statistics, since only the running thread of a domain
 * knows what its minor heap holds. */
#include "gc/api/stats.h"

#include "base/error.h"
#include "gc/collect/helpers.h"
#include "gc/collect/limit.h"
#include "gc/collect/nursery.h"
#include "gc/domains/caller.h"
#include "gc/domains/roots.h"
#include "gc/domains/safepoint.h"

/* ---- the walk ---- */

struct walk {
  wn_gc_stat *stat;
  bool sweeping;
  unsigned live;    /* the colour of blocks known to be live */
  size_t run;       /* free words that end where the walk is */
  size_t run_least; /* the least run that an allocation can use */
};

static void stats_end_run(struct walk *walk) {
  size_t words = walk->run;
  walk->run = 0;
  if (!words) return;
  if (words < walk->run_least) {
    walk->stat->fragments += (long)words;
    return;
  }
  walk->stat->free_words += (long)words;
  walk->stat->free_blocks++;
  if ((long)words > walk->stat->largest_free) walk->stat->largest_free = (long)words;
}

/* A block or a free run that takes `words` words of the heap. */
static void stats_add(struct walk *walk, wn_value header, size_t words) {
  unsigned colour = header_colour(header);
  if (colour == COLOUR_FREE || (walk->sweeping && colour != walk->live)) {
    walk->run += words;
    return;
  }
  stats_end_run(walk);
  walk->stat->live_blocks++;
  walk->stat->live_words += (long)header_extent(header);
  walk->stat->fragments += (long)(words - header_extent(header));
}

static void add_pool(struct pool *pool, void *context) {
  struct walk *walk = context;
  size_t of_blocks = 0;
  walk->run_least = 1;
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    size_t words = header_colour(*at) == COLOUR_FREE ? header_extent(*at) : class_words[pool->class];
    stats_add(walk, *at, words);
    at += words;
    of_blocks += words;
  }
  stats_end_run(walk);
  walk->stat->fragments += (long)(POOL_WORDS - of_blocks);
}

/* Chunks may be neighbours, but no run goes from one to the next. */
static void add_medium(wn_value *at, void *context) {
  struct walk *walk = context;
  if ((uintptr_t)at % CHUNK_BYTES == 0) stats_end_run(walk);
  walk->run_least = MEDIUM_EXTENT_LEAST;
  stats_add(walk, *at, medium_extent(*at));
}

static void stats_add_large(struct large *large, void *context) {
  struct walk *walk = context;
  stats_end_run(walk);
  walk->run_least = 1;
  stats_add(walk, large->header, large->bytes / 8);
  stats_end_run(walk);
}

static void add_units(struct walk *walk, const struct chunk *chunk) {
  walk->run_least = 1;
  for (unsigned unit = 0; unit < CHUNK_UNITS; unit++)
    if (chunk->used >> unit & 1)
      stats_end_run(walk);
    else
      walk->run += POOL_WORDS;
  stats_end_run(walk);
}

static void walk_heap(struct wn_heap *heap, wn_gc_stat *stat) {
  struct walk walk = {
      .stat = stat, .sweeping = heap_phase(heap) == PHASE_SWEEP, .live = heap_live_colour(heap)};
  domains_flush_pools(heap);
  pools_each(&heap->store, add_pool, &walk);
  for (size_t i = 0; i < heap->store.chunks.count; i++)
    if (heap->store.chunks.table[i].use == CHUNK_POOLS) add_units(&walk, &heap->store.chunks.table[i]);
  medium_each(&heap->store, add_medium, stats_add_large, &walk);
  stats_end_run(&walk);
}

/* ---- counts ---- */

static double minor_words(const struct wn_domain *domain) {
  return domain->minor_words + (double)domain_young_used(domain);
}

static void add_domains(const struct wn_heap *heap, wn_gc_stat *stat) {
  stat->minor_words = heap->ended.minor_words;
  stat->promoted_words = heap->ended.promoted_words;
  stat->major_words = heap->ended.major_words;
  for (const struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    stat->minor_words += minor_words(domain);
    stat->promoted_words += domain->promoted_words;
    stat->major_words += domain->major_words;
    stat->stack_size += (long)roots_count(domain);
  }
}

/* Helpers may be sweeping: under the lock of the chunks the sizes are those of one moment. But
 * top_bytes is raised after used_bytes, so it can be the smaller one here. */
static void add_sizes(struct wn_heap *heap, wn_gc_stat *stat) {
  lock_acquire(&heap->store.medium.lock, LOCK_RANK_MEDIUM);
  lock_acquire(&heap->store.chunks.lock, LOCK_RANK_CHUNKS);
  stat->heap_chunks = (long)(heap->store.chunks.used_count + heap->store.medium.large_count);
  size_t used = atomic_load(&heap->store.chunks.used_bytes), top = atomic_load(&heap->store.chunks.top_bytes);
  lock_release(&heap->store.chunks.lock, LOCK_RANK_CHUNKS);
  lock_release(&heap->store.medium.lock, LOCK_RANK_MEDIUM);
  stat->heap_words = (long)(used / 8);
  stat->top_heap_words = (long)((top > used ? top : used) / 8);
}

/* ---- shared ---- */

void stats_count(struct wn_heap *heap, wn_gc_stat *stat) {
  *stat = (wn_gc_stat){.minor_collections = atomic_load(&heap->minor_collections),
                       .major_collections = atomic_load(&heap->major_collections),
                       .forced_major_collections = atomic_load(&heap->forced_major_collections),
                       .compactions = atomic_load(&heap->compactions),
                       .limit_words = (long)(limit_bytes(heap) / 8)};
  add_domains(heap, stat);
  add_sizes(heap, stat);
}

/* ---- public ---- */

wn_status wn_gc_read_stat(wn_domain *domain, wn_gc_stat *stat) {
  wn_status status = stat ? caller_check(domain, "read stat")
                          : error_set(WN_EINVAL, "read stat: there is no place for the statistics");
  if (status) return status;
  struct wn_heap *heap = domain->heap;
  while (!world_stop(domain, STOP_STATISTICS)) {}
  helpers_pause(heap);
  stats_count(heap, stat);
  walk_heap(heap, stat);
  helpers_resume(heap);
  world_release(domain);
  return WN_OK;
}

wn_status wn_gc_quick_stat(wn_domain *domain, wn_gc_stat *stat) {
  wn_status status = stat ? caller_check(domain, "quick stat")
                          : error_set(WN_EINVAL, "quick stat: there is no place for the statistics");
  if (status) return status;
  while (!world_stop(domain, STOP_STATISTICS)) {}
  stats_count(domain->heap, stat);
  world_release(domain);
  return WN_OK;
}

void wn_gc_counters(wn_domain *domain, double *minor, double *promoted, double *major) {
  bool may = !caller_check(domain, "counters");
  if (minor) *minor = may ? minor_words(domain) : 0;
  if (promoted) *promoted = may ? domain->promoted_words : 0;
  if (major) *major = may ? domain->major_words : 0;
}

double wn_gc_minor_words(wn_domain *domain) {
  return caller_check(domain, "minor words") ? 0 : minor_words(domain);
}

double wn_gc_allocated_bytes(wn_domain *domain) {
  if (caller_check(domain, "allocated bytes")) return 0;
  return 8 * (minor_words(domain) + domain->major_words - domain->promoted_words);
}

long wn_gc_get_minor_free(wn_domain *domain) {
  if (caller_check(domain, "minor free")) return 0;
  size_t used = domain_young_used(domain), words = nursery_words(domain);
  return used < words ? (long)(words - used) : 0;
}

/* ---- printing ---- */

static int stats_width_of(double number) { return snprintf(NULL, 0, "%.0f", number); }

static void stats_print_collections(FILE *out, const wn_gc_stat *stat) {
  fprintf(out, "%-24s%ld\n%-24s%ld\n%-24s%ld\n%-26s%ld\n\n", "minor_collections:", stat->minor_collections,
          "major_collections:", stat->major_collections, "compactions:", stat->compactions,
          "forced_major_collections:", stat->forced_major_collections);
}

static void print_words(FILE *out, const wn_gc_stat *stat) {
  int width = stats_width_of(stat->minor_words);
  fprintf(out, "%-16s%*.0f\n%-16s%*.0f\n%-16s%*.0f\n\n", "minor_words:", width, stat->minor_words,
          "promoted_words:", width, stat->promoted_words, "major_words:", width, stat->major_words);
}

static void print_heap(FILE *out, const wn_gc_stat *stat) {
  int width = stats_width_of((double)stat->top_heap_words);
  const struct {
    const char *name;
    long value;
  } lines[] = {{"top_heap_words:", stat->top_heap_words}, {"heap_words:", stat->heap_words},
               {"live_words:", stat->live_words},         {"free_words:", stat->free_words},
               {"largest_free:", stat->largest_free},     {"fragments:", stat->fragments}};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    fprintf(out, "%-16s%*ld\n", lines[i].name, width, lines[i].value);
  fprintf(out, "\nlive_blocks: %ld\nfree_blocks: %ld\nheap_chunks: %ld\nstack_size: %ld\n", stat->live_blocks,
          stat->free_blocks, stat->heap_chunks, stat->stack_size);
}

wn_status wn_gc_print_stat(wn_domain *domain, FILE *out) {
  wn_gc_stat stat;
  if (!out) return error_set(WN_EINVAL, "print stat: there is no file");
  wn_status status = wn_gc_read_stat(domain, &stat);
  if (status) return status;
  stats_print_collections(out, &stat);
  print_words(out, &stat);
  print_heap(out, &stat);
  return ferror(out) ? error_set(WN_EIO, "print stat: the file cannot be written") : WN_OK;
}
/* SPDX-License-Identifier: MIT */
