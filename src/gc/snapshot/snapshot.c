/* Taking a snapshot of the heap.
 *
 * STOP. The world stops, and a minor collection empties the minor heaps: so all blocks are in the
 * store. The leader writes the roots, since the hook walk_roots is code of the program's, which may
 * wait for a lock. Then it makes a copy of the process, and the world goes on.
 *
 * COPY of snapshot/file.h. The copy writes the blocks. The handlers of fork() would end the heap's
 * other threads (api/fork.c). Where it cannot be made, the blocks are written in the stop.
 *
 * DEAD. A cycle may be under way. Its garbage is written as well, as far as its fields can be read:
 * not what marking has left when it ended, since that may lead to memory that was freed. The reader
 * follows the roots, and so finds what is reachable. */
#include "base/array.h"
#include "base/error.h"
#include "base/metadata.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/stress.h"
#include "gc/events/hooks.h"
#include "gc/snapshot/holders.h"
#include "gc/snapshot/samples.h"
#include "gc/snapshot/types.h"
#include "snapshot/file.h"
#include <stdlib.h>
#include <winnow/snapshot.h>

/* Memory with blocks: a chunk, or a large block. */
struct extent {
  uintptr_t at;
  const struct chunk *chunk; /* NULL: a large block */
};

struct snapshot {
  struct wn_heap *heap;
  struct extent *extents;
  size_t extent_count, extent_capacity;
  struct types types;
  struct snapshot_file file;
};

/* ---- blocks ---- */

static void write_edges(struct snapshot *of, struct type *type, wn_value block, size_t words) {
  for (size_t i = 0; i < words; i++) {
    wn_value value = field_load((const wn_value *)block + i);
    if (value & 1 || value == WEAK_EMPTY) continue;
    if (i < NAMED_FIELDS) type->fields |= UINT64_C(1) << i;
    snapshot_edge(&of->file.writer, i, value);
  }
}

static void snapshot_write_custom(struct snapshot *of, wn_value block, size_t words) {
  const struct custom *custom = (const struct custom *)block;
  snapshot_block(&of->file.writer, block,
                 &(struct snapshot_block){.shape = SHAPE_CUSTOM,
                                          .type = types_of_custom(&of->types, custom->ops),
                                          .words = words,
                                          .outside = custom_external(custom)});
}

static void snapshot_write_block(wn_value *at, void *context) {
  struct snapshot *of = context;
  const struct wn_heap *heap = of->heap;
  wn_value header = *at, block = (wn_value)(at + 1);
  size_t words = header_words(header);
  if (header_colour(header) == COLOUR_FREE || major_knows_dead(heap, header)) return; /* DEAD */
  if (header_tag(header) == WN_TAG_CUSTOM) {
    snapshot_write_custom(of, block, words);
    return;
  }
  bool weak = header_tag(header) == WN_TAG_WEAK, scanned = header_is_scanned(header);
  struct type *type = types_of_block(&of->types, block);
  struct snapshot_block record = {.shape = weak      ? SHAPE_WEAK
                                           : scanned ? SHAPE_SCANNED
                                                     : SHAPE_RAW,
                                  .type = type->id,
                                  .words = words};
  if (heap->hooks.describe && !weak) record.description = heap->hooks.describe(block, heap->hooks.context);
  snapshot_block(&of->file.writer, block, &record);
  write_edges(of, type, block, weak ? words : block_scanned(header, at + 1));
}

static void write_chunk(struct snapshot *of, const struct chunk *chunk) {
  if (chunk->use == CHUNK_MEDIUM)
    for (wn_value *at = medium_first(chunk); at < medium_end(chunk); at += medium_extent_at(at))
      snapshot_write_block(at, of);
  else
    for (unsigned unit = 0; unit < CHUNK_UNITS; unit++)
      if (chunk->used >> unit & 1)
        pool_each_block((struct pool *)(chunk->base + (size_t)unit * UNIT_BYTES), snapshot_write_block, of);
}

static void snapshot_write_blocks(void *context) {
  struct snapshot *of = context;
  for (size_t i = 0; i < of->extent_count && !of->file.writer.error; i++)
    if (of->extents[i].chunk)
      write_chunk(of, of->extents[i].chunk);
    else
      snapshot_write_block(&((struct large *)of->extents[i].at)->header, of);
  types_write(&of->types, &of->file.writer);
  snapshot_end(&of->file.writer);
}

/* ---- what there is to write ---- */

static int snapshot_by_address(const void *a, const void *b) {
  const struct extent *one = a, *other = b;
  return (one->at > other->at) - (one->at < other->at);
}

static bool add_extent(struct snapshot *of, const void *at, const struct chunk *chunk) {
  return ARRAY_ADD(of->extents, of->extent_count, of->extent_capacity, (struct extent){(uintptr_t)at, chunk});
}

static bool snapshot_add_large(struct snapshot *of, struct large *large) {
  for (; large; large = large->next)
    if (!add_extent(of, large, NULL)) return false;
  return true;
}

/* Under the lock of the chunks, since a helper that is paused may still touch one. */
static bool find_extents(struct snapshot *of) {
  struct store *store = &of->heap->store;
  bool added =
      snapshot_add_large(of, store->medium.large) && snapshot_add_large(of, store->medium.unswept_large);
  lock_acquire(&store->chunks.lock, LOCK_RANK_CHUNKS);
  for (size_t i = 0; added && i < store->chunks.count; i++) {
    const struct chunk *chunk = &store->chunks.table[i];
    if (chunk->use == CHUNK_POOLS || chunk->use == CHUNK_MEDIUM) added = add_extent(of, chunk->base, chunk);
  }
  lock_release(&store->chunks.lock, LOCK_RANK_CHUNKS);
  if (added) array_sort(of->extents, of->extent_count, sizeof *of->extents, snapshot_by_address);
  return added;
}

/* ---- STOP ---- */

static wn_status take_snapshot(struct wn_domain *domain, struct snapshot *of) {
  struct wn_heap *heap = domain->heap;
  long copy = -1;
  stress_world_stop(domain, STOP_REQUEST);
  major_collect_stopped(domain, COLLECT_MINOR);
  helpers_pause(heap);
  domains_flush_pools(heap);
  bool found = find_extents(of) && holders_write(heap, &of->file.writer);
  if (found) samples_write(heap, &of->file.writer);
  if (found && (copy = snapshot_file_copy(&of->file, snapshot_write_blocks, of)) < 0)
    snapshot_write_blocks(of);
  helpers_resume(heap);
  world_release(domain);
  if (!found) return error_set(WN_ENOMEM, "heap snapshot: no memory for its tables");
  domain_suspend(domain);
  wn_status status = snapshot_file_wait(&of->file, copy);
  domain_resume(domain);
  return status;
}

/* ---- public ---- */

wn_status wn_heap_snapshot(wn_domain *domain, const char *path) {
  DEBUG_DOMAIN(domain);
  wn_status status = caller_check(domain, "heap snapshot");
  if (status) return status;
  if (hooks_running) return error_set(WN_ESTATE, "heap snapshot: it is called in a hook");
  struct snapshot *of = metadata_map(sizeof *of);
  if (!of) return error_set(WN_ENOMEM, "heap snapshot: no memory for its tables");
  of->heap = domain->heap;
  types_begin(&of->types, &domain->heap->hooks);
  status = snapshot_file_open(&of->file, path, of->heap->language);
  if (!status) status = take_snapshot(domain, of);
  status = snapshot_file_close(&of->file, status);
  free(of->extents);
  metadata_unmap(of, sizeof *of);
  domain_reset_limit(domain);
  return status;
}
/* SPDX-License-Identifier: MIT */
