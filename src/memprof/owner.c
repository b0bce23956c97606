/* An owner: the profile in which it takes part, and the tracked blocks of a domain by age.
 *
 * After a minor collection the engine asks for the fate of the young entries, after a major one for
 * that of the old entries. An entry that is no longer tracked (a zombie) leaves its list there.
 * Entries that a discard made zombies leave their lists at the owner's next drain at the latest: so
 * a program that starts and discards profiles for ever stays small without collections.
 *
 * A scan does not touch the entries of old blocks that stay where they are. It looks at each of
 * them only if some became zombies or changed their addresses since the last scan: `old_changed`
 * says so, or the engine's count of discards. */
#include "memprof/engine.h"

#include "base/check.h"

static void unlink_entry(struct memprof_owner *owner, struct memprof_entry *entry) {
  if (entry_post(owner->engine, entry, 0, ENTRY_LINKED)) owner_add_pending(owner, entry);
}

static void die(struct memprof_owner *owner, struct memprof_entry *entry) {
  if (entry_post(owner->engine, entry, ENTRY_DEAD, ENTRY_LINKED)) owner_add_pending(owner, entry);
}

static bool is_gone(uint64_t word) { return entry_stage(word) == STAGE_ZOMBIE || word & ENTRY_DEAD; }

/* Applies the fate of one tracked block: puts its entry in the list where it belongs, and makes its
 * callbacks pending. */
static void apply(struct memprof_owner *owner, struct memprof_entry *entry, struct memprof_fate fate) {
  if (fate.age == MEMPROF_DEAD) {
    die(owner, entry);
    return;
  }
  memprof_moved(entry, fate.address);
  if (fate.age == MEMPROF_YOUNG) {
    entry_list_append(&owner->young, entry);
    return;
  }
  owner_track_old(owner, entry);
  if (!(entry_word(entry) & ENTRY_OLD) && entry_post(owner->engine, entry, ENTRY_OLD, 0))
    owner_add_pending(owner, entry);
}

/* One scan of an owner's tracked blocks. */
struct scan {
  struct memprof_owner *owner;
  memprof_fate_function *fate;
  void *context;
  bool looks; /* the scan looks at each entry, for those that are gone */
};

/* Scans the list of young blocks: the blocks that are young, or, if `old`, the old blocks that are
 * there. */
static void scan_young(const struct scan *scan, bool old) {
  struct memprof_owner *owner = scan->owner;
  struct memprof_entry *entry = owner->young.first;
  owner->young = (struct entry_list){0};
  while (entry) {
    struct memprof_entry *next = entry->next;
    uint64_t word = entry_word(entry);
    if (is_gone(word))
      unlink_entry(owner, entry);
    else if (old == !!(word & ENTRY_OLD))
      apply(owner, entry,
            scan->fate(atomic_load_explicit(&entry->address, memory_order_relaxed), scan->context));
    else if (old)
      entry_list_append(&owner->young, entry);
    else
      owner_track_old(owner, entry); /* there was no room for it before */
    entry = next;
  }
}

static bool is_here(struct tracked *tracked, void *owner) {
  if (!is_gone(entry_word(tracked->entry))) return true;
  unlink_entry(owner, tracked->entry);
  return false;
}

static bool stays(struct tracked *tracked, void *context) {
  const struct scan *scan = context;
  if (scan->looks) {
    if (!is_here(tracked, scan->owner)) return false;
    tracked->address = atomic_load_explicit(&tracked->entry->address, memory_order_relaxed);
  }
  struct memprof_fate fate = scan->fate(tracked->address, scan->context);
  if (fate.age == MEMPROF_DEAD) {
    die(scan->owner, tracked->entry);
    return false;
  }
  if (fate.address != tracked->address) memprof_moved(tracked->entry, tracked->address = fate.address);
  return true;
}

static void scan_old(struct scan *scan) {
  struct memprof_owner *owner = scan->owner;
  uint64_t discards = atomic_load_explicit(&owner->engine->discards, memory_order_acquire);
  scan->looks = owner->old_changed || discards != owner->discards_seen;
  owner->old_changed = false;
  tracked_filter(&owner->old, &owner->engine->pieces, stays, scan);
}

struct visitation {
  memprof_visit_function *visit;
  void *visitor;
};

/* An entry that is in the list of young blocks because there was no room elsewhere. If it is gone,
 * no scan asks for its block's fate any more. */
static void visit_entry(struct memprof_entry *entry, const struct visitation *of) {
  uint64_t word = entry_word(entry);
  if (is_gone(word) || !(word & ENTRY_OLD)) return;
  uintptr_t address = atomic_load_explicit(&entry->address, memory_order_relaxed);
  of->visit(of->visitor, &address);
  memprof_moved(entry, address);
}

/* A block whose entry is gone, too: the last scan found it live, and the next one may ask for its
 * fate before it looks at the entry. */
static bool visit_tracked(struct tracked *tracked, void *context) {
  const struct visitation *of = context;
  uintptr_t before = tracked->address;
  of->visit(of->visitor, &tracked->address);
  if (tracked->address != before) memprof_moved(tracked->entry, tracked->address);
  return true;
}

static void wake_if_due(struct memprof_owner *owner, bool was_due, bool has_rows) {
  const struct memprof_ops *ops = owner->engine->ops;
  if (((!was_due && owner->pending.first) || has_rows) && ops->wake) ops->wake(owner);
}

static void clean_young(struct memprof_owner *owner) {
  struct memprof_entry *entry = owner->young.first;
  owner->young = (struct entry_list){0};
  while (entry) {
    struct memprof_entry *next = entry->next;
    if (entry_stage(entry_word(entry)) == STAGE_ZOMBIE)
      unlink_entry(owner, entry);
    else
      entry_list_append(&owner->young, entry);
    entry = next;
  }
}

/* ---- the engine ---- */

/* If there is no room for an old block's address, its entry stays in the list of young ones. */
void owner_track_old(struct memprof_owner *owner, struct memprof_entry *entry) {
  uintptr_t address = atomic_load_explicit(&entry->address, memory_order_relaxed);
  if (!tracked_append(&owner->old, &owner->engine->pieces, entry, address))
    entry_list_append(&owner->young, entry);
}

void owner_clean_all(struct memprof_owner *owner, uint64_t discards) {
  if (owner->engine->ops->parallel) return; /* a parallel host has no lists */
  owner->discards_seen = discards;
  orphans_adopt(owner);
  clean_young(owner);
  tracked_filter(&owner->old, &owner->engine->pieces, is_here, owner);
}

bool owner_enter(struct memprof_owner *owner, uint64_t *seen, uint64_t handle) {
  return atomic_compare_exchange_strong_explicit(&owner->profile, seen, handle, memory_order_acq_rel,
                                                 memory_order_acquire);
}

/* ---- hosts ---- */

void memprof_owner_create(struct memprof_owner *owner, struct memprof *engine, struct memprof_owner *parent,
                          void *host) {
  owner->engine = engine;
  owner->host = host;
  owner->discards_seen = atomic_load(&engine->discards);
  uint64_t handle = parent ? atomic_load(&parent->profile) : 0;
  atomic_store(&owner->profile, handle && profile_enter(handle) ? handle : 0);
}

void memprof_owner_end(struct memprof_owner *owner) {
  uint64_t handle = atomic_exchange(&owner->profile, 0);
  if (handle) profile_leave(handle);
  young_leave(owner);
  orphans_leave(owner);
}

void memprof_moved(struct memprof_entry *entry, uintptr_t address) {
  atomic_store_explicit(&entry->address, address, memory_order_relaxed);
}

void memprof_after_minor(struct memprof_owner *owner, memprof_fate_function *fate, void *context) {
  struct scan scan = {.owner = owner, .fate = fate, .context = context};
  orphans_adopt(owner);
  bool was_due = owner->pending.first != NULL;
  young_settle(owner);
  scan_young(&scan, false);
  /* Last: it makes entries of rows whose blocks stay young, and scan_young must not ask for them
   * again. */
  bool has_rows = young_after_minor(owner, fate, context);
  wake_if_due(owner, was_due, has_rows);
}

void memprof_after_major(struct memprof_owner *owner, memprof_fate_function *fate, void *context) {
  struct scan scan = {.owner = owner, .fate = fate, .context = context};
  orphans_adopt(owner);
  bool was_due = owner->pending.first != NULL;
  scan_old(&scan);
  scan_young(&scan, true);
  wake_if_due(owner, was_due, false);
}

void memprof_visit_old(struct memprof_owner *owner, memprof_visit_function *visit, void *visitor) {
  struct visitation of = {visit, visitor};
  orphans_adopt(owner);
  tracked_filter(&owner->old, &owner->engine->pieces, visit_tracked, &of);
  for (struct memprof_entry *entry = owner->young.first; entry; entry = entry->next) visit_entry(entry, &of);
}
/* SPDX-License-Identifier: MIT */
