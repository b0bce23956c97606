/* Orphans: the young entries and pending callbacks of owners that ended. The engine's lock protects
 * them; an owner that ends takes it, and the first owner that scans or drains afterwards. Entries in
 * the table keep the number of their owner, and have an heir when they die. */
#include "memprof/engine.h"

void orphans_leave(struct memprof_owner *owner) {
  struct memprof *engine = owner->engine;
  if (!owner->young.first && !owner->pending.first) return;
  lock_acquire(&engine->lock, LOCK_RANK_ORPHANS);
  entry_list_join(&engine->orphan_young, &owner->young);
  entry_pending_join(&engine->orphan_pending, &owner->pending);
  atomic_store_explicit(&engine->has_orphans, true, memory_order_relaxed);
  lock_release(&engine->lock, LOCK_RANK_ORPHANS);
}

void orphans_adopt_all(struct memprof_owner *owner) {
  struct memprof *engine = owner->engine;
  lock_acquire(&engine->lock, LOCK_RANK_ORPHANS);
  entry_list_join(&owner->young, &engine->orphan_young);
  entry_pending_join(&owner->pending, &engine->orphan_pending);
  atomic_store_explicit(&engine->has_orphans, false, memory_order_relaxed);
  lock_release(&engine->lock, LOCK_RANK_ORPHANS);
}
/* SPDX-License-Identifier: MIT */
