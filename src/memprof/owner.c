/* An owner: the profile in which it takes part, its young tracked blocks, and its number, by which
 * the entries in the table lead to it.
 *
 * After a minor collection the engine asks for the fate of the young entries. An entry that is no
 * longer tracked (a zombie) leaves its list there. Entries that a discard made zombies leave their
 * lists at the owner's next drain at the latest: so a program that starts and discards profiles for
 * ever stays small without collections. */
#include "memprof/engine.h"

#include "base/check.h"

static void unlink_entry(struct memprof_owner *owner, struct memprof_entry *entry) {
  if (entry_post(owner->engine, entry, 0, ENTRY_LINKED)) owner_add_pending(owner, entry);
}

static bool owner_is_gone(uint64_t word) { return entry_stage(word) == STAGE_ZOMBIE || word & ENTRY_DEAD; }

static void post_owner(struct memprof_owner *owner, struct memprof_entry *entry, uint64_t set,
                       uint64_t clear) {
  if (entry_post(owner->engine, entry, set, clear)) owner_add_pending(owner, entry);
}

/* Applies the fate of a young tracked block: puts its entry where it belongs, and makes its
 * callbacks pending. OLD is set before the entry goes to the table, so that a thread which stops
 * tracking it looks there (ZOMBIES of tracked.h). */
static void apply(struct memprof_owner *owner, struct memprof_entry *entry, struct memprof_fate fate) {
  if (fate.age == MEMPROF_DEAD) {
    post_owner(owner, entry, ENTRY_DEAD, ENTRY_LINKED);
    return;
  }
  memprof_moved(entry, fate.address);
  if (fate.age == MEMPROF_YOUNG) {
    owner_track_young(owner, entry);
    return;
  }
  post_owner(owner, entry, ENTRY_OLD, 0);
  owner_track(owner, entry);
}

static void scan_young(struct memprof_owner *owner, memprof_fate_function *fate, void *context) {
  struct memprof_entry *entry = owner->young.first;
  owner->young = (struct entry_list){0};
  while (entry) {
    struct memprof_entry *next = entry->next;
    if (owner_is_gone(entry_word(entry)))
      unlink_entry(owner, entry);
    else
      apply(owner, entry, fate(atomic_load_explicit(&entry->address, memory_order_relaxed), context));
    entry = next;
  }
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
      owner_track_young(owner, entry);
    entry = next;
  }
}

/* ---- numbers ---- */

static struct memprof_owner **list_of(struct memprof *engine, uint64_t number) {
  return &engine->owners[number % OWNER_LISTS];
}

static void owner_enrol(struct memprof_owner *owner) {
  struct memprof *engine = owner->engine;
  if (engine->ops->parallel) return;
  lock_acquire(&engine->lock, LOCK_RANK_ORPHANS);
  owner->number = ++engine->owner_sequence;
  struct memprof_owner **list = list_of(engine, owner->number);
  owner->next = *list;
  *list = owner;
  lock_release(&engine->lock, LOCK_RANK_ORPHANS);
}

static void strike_off(struct memprof_owner *owner) {
  struct memprof *engine = owner->engine;
  if (engine->ops->parallel) return;
  lock_acquire(&engine->lock, LOCK_RANK_ORPHANS);
  struct memprof_owner **link = list_of(engine, owner->number);
  while (*link != owner) link = &(*link)->next;
  *link = owner->next;
  lock_release(&engine->lock, LOCK_RANK_ORPHANS);
}

/* NULL if the owner has ended. No owner ends while the world is stopped. */
static struct memprof_owner *owner_of(struct memprof *engine, uint64_t number) {
  lock_acquire(&engine->lock, LOCK_RANK_ORPHANS);
  struct memprof_owner *owner = *list_of(engine, number);
  while (owner && owner->number != number) owner = owner->next;
  lock_release(&engine->lock, LOCK_RANK_ORPHANS);
  return owner;
}

static struct memprof_owner *owner_heir_of(struct memprof *engine, uint64_t number,
                                           struct memprof_owner *heir) {
  if (number == heir->number) return heir;
  struct memprof_owner *owner = owner_of(engine, number);
  return owner ? owner : heir;
}

static void add_and_wake(struct memprof_owner *owner, struct memprof_entry *entry) {
  bool was_due = owner->pending.first != NULL;
  owner_add_pending(owner, entry);
  wake_if_due(owner, was_due, false);
}

/* ---- the engine ---- */

void owner_track(struct memprof_owner *owner, struct memprof_entry *entry) {
  entry->owner = owner->number;
  if (!tracked_insert(&owner->engine->tracked, entry)) unlink_entry(owner, entry);
}

void owner_post(struct memprof *engine, struct memprof_entry *entry, uint64_t set, uint64_t clear,
                struct memprof_owner *heir) {
  struct memprof_owner *owner = owner_heir_of(engine, entry->owner, heir);
  if (entry_post(engine, entry, set, clear)) add_and_wake(owner, entry);
}

void owner_clean_all(struct memprof_owner *owner, uint64_t discards) {
  if (owner->engine->ops->parallel) return; /* a parallel host has no lists */
  owner->discards_seen = discards;
  orphans_adopt(owner);
  clean_young(owner);
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
  owner_enrol(owner);
  random_seed(&owner->fractions, 0, 0, owner->number);
  owner->discards_seen = atomic_load(&engine->discards);
  uint64_t handle = parent ? atomic_load(&parent->profile) : 0;
  atomic_store(&owner->profile, handle && profile_enter(handle) ? handle : 0);
}

void memprof_owner_end(struct memprof_owner *owner) {
  uint64_t handle = atomic_exchange(&owner->profile, 0);
  if (handle) profile_leave(handle);
  young_leave(owner);
  strike_off(owner);
  orphans_leave(owner);
}

void memprof_moved(struct memprof_entry *entry, uintptr_t address) {
  atomic_store_explicit(&entry->address, address, memory_order_relaxed);
}

void memprof_after_minor(struct memprof_owner *owner, memprof_fate_function *fate, void *context) {
  bool was_due = owner->pending.first != NULL;
  orphans_adopt(owner);
  young_settle(owner);
  scan_young(owner, fate, context);
  /* Last: it makes entries of rows whose blocks stay young, and scan_young must not ask for them
   * again. */
  bool has_rows = young_after_minor(owner, fate, context);
  wake_if_due(owner, was_due, has_rows);
}

/* REUSE of tracked.h. The flags are set at once, while the entry is in a cache. */
void memprof_found_dead(struct memprof *engine, uintptr_t address) {
  struct tracked_table *table = &engine->tracked;
  struct memprof_entry **link;
  struct tracked_shard *shard = tracked_lock(table, address, &link);
  while (*link) {
    if (atomic_load_explicit(&(*link)->address, memory_order_relaxed) != address) {
      link = &(*link)->next;
      continue;
    }
    struct memprof_entry *entry = tracked_unlink(shard, link);
    if (entry_post(engine, entry, ENTRY_DEAD, ENTRY_LINKED)) tracked_post(table, shard, entry);
  }
  tracked_unlock(shard);
}

static void owner_tell_all(struct memprof_owner *owner, struct entry_list *list) {
  bool was_due = owner->pending.first != NULL;
  entry_pending_join(&owner->pending, list);
  wake_if_due(owner, was_due, false);
}

void memprof_tell(struct memprof *engine, struct memprof_owner *heir) {
  struct tracked_news news[NEWS_LISTS];
  tracked_take_news(&engine->tracked, news);
  for (unsigned i = 0; i < NEWS_LISTS; i++) {
    struct entry_list *list = &news[i].list;
    if (list->first && news[i].owner) owner_tell_all(owner_heir_of(engine, news[i].owner, heir), list);
    for (struct memprof_entry *entry; (entry = entry_pending_pop(list));)
      add_and_wake(owner_heir_of(engine, entry->owner, heir), entry);
  }
}

void memprof_visit_old(struct memprof *engine, memprof_visit_function *visit, void *visitor) {
  struct entry_list moved = {0};
  tracked_visit(&engine->tracked, visit, visitor, &moved);
  for (struct memprof_entry *entry, *next = moved.first; (entry = next);) {
    next = entry->next;
    /* A zombie has no callback that could become pending. */
    if (!tracked_insert(&engine->tracked, entry)) entry_post(engine, entry, 0, ENTRY_LINKED);
  }
}

struct telling {
  uint64_t profile; /* its handle */
  memprof_tell_function *tell;
  void *context;
};

static void tell_entry(void *context, struct memprof_entry *entry) {
  const struct telling *of = context;
  const struct profile *profile = atomic_load(&entry->profile);
  uint64_t word = entry_word(entry);
  bool is_old = entry_stage(word) == STAGE_MAJOR || (entry_stage(word) == STAGE_MINOR && word & ENTRY_OLD);
  if (!is_old || profile != profile_of(of->profile)) return;
  uintptr_t address = atomic_load_explicit(&entry->address, memory_order_relaxed);
  of->tell(of->context, &(struct memprof_tracked){address, entry->metadata});
}

void memprof_tell_old(struct memprof *engine, const wn_profile *profile, memprof_tell_function *tell,
                      void *context) {
  struct telling telling = {(uint64_t)(uintptr_t)profile, tell, context};
  if (telling.profile) tracked_each(&engine->tracked, tell_entry, &telling);
}
/* SPDX-License-Identifier: MIT */
