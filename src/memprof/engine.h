/* What the engine's files share, and hosts do not see. */
#ifndef MEMPROF_ENGINE_H
#define MEMPROF_ENGINE_H

#include "memprof/callbacks.h"
#include "memprof/tracked.h"

/* A tracked block's entry, with its alloc callback due; not yet in any queue or list. NULL: not sampling, or lost. */
struct memprof_entry *entry_birth(struct memprof_owner *owner, struct memprof_thread *thread,
                                  const struct memprof_birth *birth);

/* Puts a tracked block's entry where the owner finds it. The caller has the owner to itself. */
void owner_track(struct memprof_owner *owner, struct memprof_entry *entry, bool old);

/* Queues an entry that was posted on its owner, and takes the oldest: NULL if there is none. Adopts orphans. The caller
 * has the owner to itself. */
void owner_due(struct memprof_owner *owner, struct memprof_entry *entry);
struct memprof_entry *owner_take(struct memprof_owner *owner);

/* Unlinks the zombies of profiles that were discarded since it was last called; free where there were none. */
void owner_clean(struct memprof_owner *owner);

/* Takes part in another profile, in place of one that does not sample. False if another thread was faster. */
bool owner_enter(struct memprof_owner *owner, uint64_t *seen, uint64_t handle);

/* Moves what an ended owner left to the engine, and from there to an owner that scans. */
void orphans_leave(struct memprof_owner *owner);
void orphans_adopt_all(struct memprof_owner *owner);
static inline void orphans_adopt(struct memprof_owner *owner) {
  if (atomic_load_explicit(&owner->engine->has_orphans, memory_order_relaxed)) orphans_adopt_all(owner);
}

#endif
/* SPDX-License-Identifier: MIT */
