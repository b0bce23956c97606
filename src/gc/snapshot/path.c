/* One path from a root to a block.
 *
 * The search is breadth first, from all roots but the caller's handle, while the world is stopped:
 * so no shorter path leads there. An ephemeron leads to its data once all of its keys have been met;
 * until then it waits for the first of them that has not. */
#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/index.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/stress.h"
#include "gc/events/hooks.h"
#include "gc/snapshot/holders.h"
#include "gc/snapshot/types.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winnow/snapshot.h>

enum { NO_PARENT = UINT32_MAX, NAME_MOST = 512 };

/* A block that was met. */
struct met {
  wn_value block;
  uint32_t parent; /* NO_PARENT: a root leads to it */
  uint32_t field;  /* of the parent */
};

struct search {
  struct wn_heap *heap;
  wn_value target;
  const wn_value *excluded; /* the slot of the caller's handle; NULL: none */
  struct met *met;
  size_t count, capacity;
  struct index by_block;
  struct waiter {
    wn_value key;
    uint32_t ephemeron; /* that waits for it */
  } * waiting;
  size_t waiting_count, waiting_capacity;
  struct index by_key;
  bool found, no_memory;
};

static uint64_t path_hash_of(wn_value block) { return hash_mix(block); }

static bool is_met(const struct search *search, wn_value block) {
  struct index_walk walk = {.hash = path_hash_of(block)};
  uint32_t number;
  while ((number = index_next(&search->by_block, &walk)))
    if (search->met[number - 1].block == block) return true;
  return false;
}

static bool wants_more(const struct search *search) { return !search->found && !search->no_memory; }

static void path_meet(struct search *search, wn_value block, uint32_t parent, size_t field) {
  struct met met = {block, parent, field < UINT32_MAX ? (uint32_t)field : UINT32_MAX};
  if (!wants_more(search) || is_met(search, block)) return;
  bool added = search->count < NO_PARENT && ARRAY_ADD(search->met, search->count, search->capacity, met) &&
               index_add(&search->by_block, path_hash_of(block), (uint32_t)search->count);
  search->no_memory |= !added;
  search->found = added && block == search->target;
}

/* ---- the search ---- */

/* The first key of an ephemeron that was not met; WEAK_EMPTY: all were. */
static wn_value unmet_key(const struct search *search, wn_value ephemeron) {
  for (size_t i = WEAK_KEYS; i < header_words(header_of(ephemeron)); i++) {
    wn_value key = field_load((const wn_value *)ephemeron + i);
    if (key != WEAK_EMPTY && !(key & 1) && !is_met(search, key)) return key;
  }
  return WEAK_EMPTY;
}

static void visit_ephemeron(struct search *search, uint32_t at) {
  wn_value ephemeron = search->met[at].block, data = field_load((const wn_value *)ephemeron + WEAK_DATA);
  if (data == WEAK_EMPTY || data & 1) return;
  struct waiter waiter = {unmet_key(search, ephemeron), at};
  if (waiter.key == WEAK_EMPTY) {
    path_meet(search, data, at, WEAK_DATA);
    return;
  }
  search->no_memory |= !ARRAY_ADD(search->waiting, search->waiting_count, search->waiting_capacity, waiter) ||
                       !index_add(&search->by_key, path_hash_of(waiter.key), (uint32_t)search->waiting_count);
}

/* A waiter that is woken may wait for another key, behind those that the walk passes. */
static void path_wake(struct search *search, wn_value key) {
  struct index_walk walk = {.hash = path_hash_of(key)};
  uint32_t *woken = NULL, number;
  size_t count = 0, capacity = 0;
  while ((number = index_next(&search->by_key, &walk)))
    if (search->waiting[number - 1].key == key)
      search->no_memory |= !ARRAY_ADD(woken, count, capacity, search->waiting[number - 1].ephemeron);
  for (size_t i = 0; i < count && wants_more(search); i++) visit_ephemeron(search, woken[i]);
  free(woken);
}

static void path_visit_block(struct search *search, uint32_t at) {
  wn_value block = search->met[at].block, header = header_of(block);
  if (search->waiting_count) path_wake(search, block);
  if (header_tag(header) == WN_TAG_WEAK) {
    visit_ephemeron(search, at);
    return;
  }
  for (size_t i = 0; i < block_scanned(header, (const wn_value *)block) && wants_more(search); i++) {
    wn_value value = field_load((const wn_value *)block + i);
    if (!(value & 1)) path_meet(search, value, at, i);
  }
}

struct roots {
  struct holders_walk walk;
  struct search *search;
};

static void meet_root(struct holders_walk *walk, const wn_value *slot) {
  struct search *search = ((struct roots *)walk)->search; /* whose first member it is */
  if (slot != search->excluded) path_meet(search, *slot, NO_PARENT, 0);
}

static void path_run(struct search *search) {
  struct roots roots = {{.meet = meet_root}, search};
  holders_each(search->heap, &roots.walk);
  for (size_t at = 0; wants_more(search) && at < search->count; at++) path_visit_block(search, (uint32_t)at);
}

/* ---- telling the steps ---- */

struct telling {
  struct holders_walk walk;
  const struct search *search;
  wn_path_visit *visit;
  void *context;
  wn_value first; /* the block to which the root leads; 0: that was told */
};

/* The root that was met first. */
static void tell_root(struct holders_walk *walk, const wn_value *slot) {
  static const char *const kinds[HOLDER_KINDS] = {
      [HOLDER_HANDLES] = "handle", [HOLDER_ROOTS] = "root of the language",
      [HOLDER_GLOBALS] = "global", [HOLDER_FINALISERS] = "finaliser that is to run",
      [HOLDER_PINS] = "pin",       [HOLDER_SCOPES] = "handle in",
  };
  struct telling *telling = (struct telling *)walk; /* whose first member it is */
  if (*slot != telling->first || slot == telling->search->excluded) return;
  telling->first = 0;
  telling->visit(telling->context, &(wn_path_step){.type = kinds[walk->now.kind],
                                                   .name = *walk->now.name ? walk->now.name : NULL,
                                                   .blocks = 1});
}

static bool is_described(const wn_heap_hooks *hooks, wn_value block) {
  unsigned tag = header_tag(header_of(block));
  return hooks->describe && tag != WN_TAG_WEAK && tag != WN_TAG_CUSTOM;
}

static const char *description_of(const wn_heap_hooks *hooks, wn_value block) {
  return is_described(hooks, block) ? hooks->describe(block, hooks->context) : NULL;
}

static const char *name_of_field(const struct search *search, const struct met *met) {
  const wn_heap_hooks *hooks = &search->heap->hooks;
  if (met->parent == NO_PARENT) return NULL;
  wn_value parent = search->met[met->parent].block;
  if (header_tag(header_of(parent)) == WN_TAG_WEAK) return "data";
  unsigned type = types_number(hooks, parent);
  return hooks->field_name && type < WN_TYPES_MOST ? hooks->field_name(type, met->field, hooks->context)
                                                   : NULL;
}

/* Whether the second block is one more of the first one's step. */
static bool path_repeats(const wn_heap_hooks *hooks, wn_value before, wn_value block) {
  return header_tag(header_of(before)) == header_tag(header_of(block)) &&
         header_tag(header_of(block)) != WN_TAG_CUSTOM &&
         types_number(hooks, before) == types_number(hooks, block) && !description_of(hooks, before) &&
         !description_of(hooks, block);
}

/* `path` leads from the block, the last one met, to the one that a root leads to. */
static void tell_blocks(const struct telling *telling, const uint32_t *path, size_t count) {
  const struct met *met = telling->search->met;
  const wn_heap_hooks *hooks = &telling->search->heap->hooks;
  char text[32];
  for (size_t first = count, last; first; first = last) {
    last = first - 1;
    while (last && path_repeats(hooks, met[path[last]].block, met[path[last - 1]].block)) last--;
    wn_value block = met[path[last]].block;
    wn_path_step step = {.type = types_name(hooks, block, text),
                         .name = description_of(hooks, block),
                         .field = name_of_field(telling->search, &met[path[first - 1]]),
                         .index = met[path[first - 1]].field,
                         .blocks = first - last};
    telling->visit(telling->context, &step);
  }
}

/* False without memory. */
static bool path_tell(const struct search *search, wn_path_visit *visit, void *context) {
  struct telling telling = {{.meet = tell_root}, search, visit, context, 0};
  uint32_t *path = NULL;
  size_t count = 0, capacity = 0;
  for (uint32_t at = (uint32_t)search->count - 1; at != NO_PARENT; at = search->met[at].parent)
    if (!ARRAY_ADD(path, count, capacity, at)) return free(path), false;
  if (!count) return true;
  telling.first = search->met[path[count - 1]].block;
  holders_each(search->heap, &telling.walk);
  tell_blocks(&telling, path, count);
  free(path);
  return true;
}

/* ---- the stop ---- */

/* What the path leads to: a handle's block, or a tracked block of a profile, by its metadata. */
struct goal {
  wn_ref ref;
  const wn_profile *profile;
  const void *metadata;
};

struct seeking {
  const struct goal *goal;
  wn_value block;
};

static void seek(void *context, const struct memprof_tracked *tracked) {
  struct seeking *seeking = context;
  if (tracked->metadata == seeking->goal->metadata) seeking->block = tracked->address;
}

static wn_value block_of(struct wn_heap *heap, const struct goal *goal) {
  struct seeking seeking = {.goal = goal};
  if (!goal->profile) return *goal->ref.slot;
  memprof_tell_old(&heap->engine, goal->profile, seek, &seeking);
  return seeking.block;
}

static wn_status find_path(wn_domain *domain, const struct goal *goal, wn_path_visit *visit, void *context) {
  struct search search = {.heap = domain->heap, .excluded = goal->profile ? NULL : goal->ref.slot};
  stress_world_stop(domain, STOP_REQUEST);
  major_collect_stopped(domain, COLLECT_MINOR);
  helpers_pause(domain->heap);
  search.target = block_of(domain->heap, goal);
  hooks_running++;
  if (search.target) path_run(&search);
  if (search.found) search.no_memory = !path_tell(&search, visit, context);
  hooks_running--;
  helpers_resume(domain->heap);
  world_release(domain);
  free(search.met), free(search.by_block.slots), free(search.waiting), free(search.by_key.slots);
  domain_reset_limit(domain);
  return search.no_memory ? error_set(WN_ENOMEM, "path to a block: no memory for the blocks it met") : WN_OK;
}

static wn_status path_check(wn_domain *domain, wn_path_visit *visit) {
  wn_status status = caller_check(domain, "path to a block");
  if (status) return status;
  if (hooks_running) return error_set(WN_ESTATE, "path to a block: it is called in a hook");
  return visit ? WN_OK : error_set(WN_EINVAL, "path to a block: there is no function that gets it");
}

/* ---- public ---- */

wn_status wn_block_path(wn_domain *domain, wn_ref ref, wn_path_visit *visit, void *context) {
  DEBUG_DOMAIN(domain);
  wn_status status = path_check(domain, visit);
  if (status) return status;
  debug_check_given(domain, ref, "wn_block_path");
  if (wn_is_null(ref) || *ref.slot & 1) return error_set(WN_EINVAL, "path to a block: it is no block");
  return find_path(domain, &(struct goal){.ref = ref}, visit, context);
}

wn_status wn_sample_path(wn_domain *domain, const wn_profile *profile, const void *metadata,
                         wn_path_visit *visit, void *context) {
  DEBUG_DOMAIN(domain);
  wn_status status = path_check(domain, visit);
  if (status) return status;
  if (!profile || !metadata)
    return error_set(WN_EINVAL, "path to a block: the profile or the metadata are NULL");
  return find_path(domain, &(struct goal){.profile = profile, .metadata = metadata}, visit, context);
}
/* SPDX-License-Identifier: MIT */
