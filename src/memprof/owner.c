/* An owner: which profile it takes part in, and the tracked blocks of a domain by age.
 *
 * A collection asks for the fate of young entries after a minor collection and of old ones after a major one, and only
 * of those; an entry that is no longer tracked (a zombie) leaves its list there. What a discard made zombies leaves at
 * the owner's next drain, so that starting and discarding for ever needs no collection to stay small. */
#include "memprof/engine.h"

#include "base/check.h"

/* Asks for one tracked block, puts its entry where it belongs, and makes its callbacks due. */
static void apply(struct memprof_owner *owner, struct memprof_entry *entry, struct memprof_fate fate) {
  uint64_t set = 0, clear = 0;
  if (fate.age == MEMPROF_DEAD) {
    set = ENTRY_DEAD;
    clear = ENTRY_LINKED;
  } else {
    memprof_moved(entry, fate.address);
    if (fate.age == MEMPROF_OLD && !(entry_word(entry) & ENTRY_OLD))
      set = ENTRY_OLD; /* most old ones were before */
    entry_list_append(fate.age == MEMPROF_OLD ? &owner->old : &owner->young, entry);
  }
  if (set && entry_post(owner->engine, entry, set, clear)) owner_due(owner, entry);
}

static void unlink_entry(struct memprof_owner *owner, struct memprof_entry *entry) {
  if (entry_post(owner->engine, entry, 0, ENTRY_LINKED)) owner_due(owner, entry);
}

static bool is_gone(uint64_t word) { return entry_stage(word) == STAGE_ZOMBIE || word & ENTRY_DEAD; }

static void scan(struct memprof_owner *owner, struct entry_list *list, memprof_fate_function *fate,
                 void *context) {
  bool was_due = owner->due.first != NULL;
  bool young = list == &owner->young;
  struct memprof_entry *entry = list->first;
  *list = (struct entry_list){0};
  while (entry) {
    struct memprof_entry *next = entry->next;
    uint64_t word = entry_word(entry);
    if (is_gone(word))
      unlink_entry(owner, entry);
    else if (young && word & ENTRY_OLD)
      entry_list_append(&owner->old, entry); /* by memprof_promoted */
    else
      apply(owner, entry, fate(atomic_load_explicit(&entry->address, memory_order_relaxed), context));
    entry = next;
  }
  const struct memprof_ops *ops = owner->engine->ops;
  if (!was_due && owner->due.first && ops->wake) ops->wake(owner);
}

static void clean_list(struct memprof_owner *owner, struct entry_list *list) {
  struct memprof_entry *entry = list->first;
  *list = (struct entry_list){0};
  while (entry) {
    struct memprof_entry *next = entry->next;
    if (entry_stage(entry_word(entry)) == STAGE_ZOMBIE)
      unlink_entry(owner, entry);
    else
      entry_list_append(list, entry);
    entry = next;
  }
}

/* ---- the engine ---- */

void owner_due(struct memprof_owner *owner, struct memprof_entry *entry) {
  entry_due_append(&owner->due, entry);
}

struct memprof_entry *owner_take(struct memprof_owner *owner) {
  if (owner->engine->ops->parallel) return NULL;
  orphans_adopt(owner);
  return entry_due_pop(&owner->due);
}

void owner_clean(struct memprof_owner *owner) {
  uint64_t discards = atomic_load_explicit(&owner->engine->discards, memory_order_acquire);
  if (owner->engine->ops->parallel || discards == owner->discards_seen) return;
  owner->discards_seen = discards;
  orphans_adopt(owner);
  clean_list(owner, &owner->young);
  clean_list(owner, &owner->old);
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
  orphans_leave(owner);
}

void memprof_moved(struct memprof_entry *entry, uintptr_t address) {
  atomic_store_explicit(&entry->address, address, memory_order_relaxed);
}

void memprof_after_minor(struct memprof_owner *owner, memprof_fate_function *fate, void *context) {
  orphans_adopt(owner);
  scan(owner, &owner->young, fate, context);
}

void memprof_after_major(struct memprof_owner *owner, memprof_fate_function *fate, void *context) {
  orphans_adopt(owner);
  scan(owner, &owner->old, fate, context);
}
/* SPDX-License-Identifier: MIT */
