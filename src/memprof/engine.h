/* What the engine's files share, and hosts do not see. */
#ifndef MEMPROF_ENGINE_H
#define MEMPROF_ENGINE_H

#include "memprof/callbacks.h"
#include "memprof/tracked.h"
#include "memprof/young.h"

/* engine_keep: a callstack that was captured, for a callback that comes later. */
static inline const wn_callstack *engine_keep(const struct memprof *engine, const wn_callstack *callstack) {
  return callstack && engine->ops->keep ? engine->ops->keep(callstack) : callstack;
}
static inline void engine_release(const struct memprof *engine, const wn_callstack *callstack) {
  if (callstack && engine->ops->release) engine->ops->release(callstack);
}

/* The words of a block without its header, by its bytes. */
static inline size_t words_of_bytes(size_t bytes) { return bytes / 8 + (bytes % 8 != 0); }

static inline wn_allocation engine_description(const struct memprof_birth *birth,
                                               const wn_callstack *callstack) {
  return (wn_allocation){.n_samples = birth->n_samples,
                         .size = words_of_bytes(birth->bytes),
                         .source = birth->source,
                         .callstack = callstack,
                         .bytes = birth->bytes,
                         .trials = birth->trials,
                         .previous_bytes = birth->previous_bytes,
                         .tag = birth->tag,
                         .custom_name = birth->custom_name};
}

/* Takes the callstack that an entry has kept; NULL if it has none. A claimant that calls a callback
 * takes it, since another thread that resizes the block gives the entry another one. */
static inline const wn_callstack *entry_take_callstack(struct memprof_entry *entry) {
  if (!atomic_load_explicit(&entry->callstack, memory_order_relaxed)) return NULL;
  return atomic_exchange_explicit(&entry->callstack, NULL, memory_order_acq_rel);
}

/* owner_track_young puts a tracked block's entry in the owner's list of young blocks, owner_track in
 * the table. The caller has the owner to itself. */
static inline void owner_track_young(struct memprof_owner *owner, struct memprof_entry *entry) {
  entry_list_append(&owner->young, entry);
}
void owner_track(struct memprof_owner *owner, struct memprof_entry *entry);

/* Unlinks the young zombies of profiles that were discarded since the last call. Costs one
 * comparison if none was. */
void owner_clean_all(struct memprof_owner *owner, uint64_t discards);
static inline void owner_clean(struct memprof_owner *owner) {
  uint64_t discards = atomic_load_explicit(&owner->engine->discards, memory_order_acquire);
  if (__builtin_expect(discards != owner->discards_seen, 0)) owner_clean_all(owner, discards);
}

/* Makes the owner take part in another profile instead of `*seen`, which does not sample. False if
 * another thread was faster. */
bool owner_enter(struct memprof_owner *owner, uint64_t *seen, uint64_t handle);

/* Sets flags of an entry, clears others, and gives the callbacks that this makes pending to the
 * entry's owner, or to `heir` if that has ended. The world is stopped. */
void owner_post(struct memprof *engine, struct memprof_entry *entry, uint64_t set, uint64_t clear,
                struct memprof_owner *heir);

/* orphans_leave moves the entries of an owner that ends to the engine; orphans_adopt moves them to
 * an owner that scans or drains. */
void orphans_leave(struct memprof_owner *owner);
void orphans_adopt_all(struct memprof_owner *owner);
static inline void orphans_adopt(struct memprof_owner *owner) {
  if (atomic_load_explicit(&owner->engine->has_orphans, memory_order_relaxed)) orphans_adopt_all(owner);
}

/* owner_add_pending queues an entry that was posted on its owner. owner_take adopts orphans and
 * takes the oldest entry of the queue, NULL if there is none. The caller has the owner to itself,
 * except in a parallel host, where this queue stays empty and there are no orphans. */
static inline void owner_add_pending(struct memprof_owner *owner, struct memprof_entry *entry) {
  entry_pending_append(&owner->pending, entry);
}
static inline bool owner_has_pending(const struct memprof_owner *owner) {
  return owner->pending.first || atomic_load_explicit(&owner->engine->has_orphans, memory_order_relaxed);
}
static inline struct memprof_entry *owner_take(struct memprof_owner *owner) {
  orphans_adopt(owner);
  return entry_pending_pop(&owner->pending);
}

#endif
/* SPDX-License-Identifier: MIT */
