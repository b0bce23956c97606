/* New rows, and rows that become entries. The callbacks of rows run in callbacks.c. The picture is
 * in young.h. */
#include "memprof/young.h"

#include "base/check.h"
#include "base/metadata.h"
#include "memprof/engine.h"
#include "memprof/pending.h"
#include <sched.h>

/* ---- entries ---- */

/* Takes an entry, with a hold of the profile beside the table's. NULL if a discard has begun: no
 * thread takes a hold of a discarded profile (HOLDS of profile.h). */
static struct memprof_entry *take_entry(struct profile *profile, uint32_t *number) {
  unsigned stripe = stripe_of_thread();
  _Atomic(int64_t) *held = &profile->stripes[stripe].held;
  struct memprof_entry *entry = NULL;
  atomic_fetch_add(held, 1);
  if (!profile_reached(profile, PROFILE_DISCARDED))
    entry = slots_take(&profile->engine->entries, stripe, number);
  if (!entry) atomic_fetch_sub(held, 1);
  return entry;
}

/* COUNTS. The caller has the guard. Adds births first: otherwise a thread that reads the counts in
 * between would find more ends than births. */
static void count_fresh(struct young_table *table) {
  struct young_counts *fresh = &table->fresh;
  if (!(fresh->born | fresh->died | fresh->dropped)) return;
  struct tally *tally = &profile_of(table->handle)->stripes[stripe_of_thread()].tally;
  count_more(&tally->allocs_minor, fresh->born);
  count_more(&tally->dealloc_minor, fresh->died);
  count_more(&tally->dropped_minor, fresh->dropped);
  *fresh = (struct young_counts){0};
}

/* Makes an entry in this state in place of a row. The caller has the guard, so the table still
 * holds the profile. If it returns NULL, the row is LOST. */
static struct memprof_entry *make_entry(struct young_table *table, struct young_row *row, uint64_t state) {
  struct profile *profile = profile_of(table->handle);
  count_fresh(table);
  uint32_t number;
  struct memprof_entry *entry = take_entry(profile, &number);
  row->state = entry ? YOUNG_GONE : YOUNG_LOST;
  if (!entry && profile_reached(profile, PROFILE_DISCARDED)) return NULL;
  if (!entry) {
    count_one(&profile->stripes[stripe_of_thread()].tally.lost);
    return NULL;
  }
  entry_describe(entry, &row->allocation);
  atomic_store_explicit(&entry->profile, profile, memory_order_relaxed);
  atomic_store_explicit(&entry->address, row->address, memory_order_relaxed);
  entry->metadata = row->metadata;
  entry->depth = profile->options.callstack_size;
  entry->number = number;
  entry->minor = true;
  entry->outside = false;
  entry_publish(entry, state);
  return entry;
}

/* Makes an entry of the RUNNING row: when the callback returns, its metadata goes to the entry. If
 * there is no memory for the entry, the thread drops the metadata then, and counts the row as
 * dropped. */
static void settle_running(struct memprof_owner *owner, struct young_table *table) {
  struct memprof_entry *entry = make_entry(table, table->running, STAGE_ALLOC | ENTRY_RUNNING | ENTRY_LINKED);
  table->running->state = YOUNG_GONE;
  table->running = NULL;
  if (!entry) return;
  owner_track_young(owner, entry);
  table->thread->running = entry;
  table->thread->running_step = STEP_ALLOC;
}

static void settle_due(struct memprof_owner *owner, struct young_table *table, struct young_row *row) {
  struct memprof_entry *entry = make_entry(table, row, STAGE_ALLOC | ENTRY_QUEUED | ENTRY_LINKED);
  if (!entry) return;
  owner_track_young(owner, entry);
  pending_push(table->thread, entry);
}

static void settle_kept(struct memprof_owner *owner, struct young_table *table, struct young_row *row) {
  struct memprof_entry *entry = make_entry(table, row, STAGE_MINOR | ENTRY_LINKED);
  if (entry) owner_track_young(owner, entry);
}

static void settle_dead(struct memprof_owner *owner, struct young_table *table, struct young_row *row) {
  struct memprof_entry *entry = make_entry(table, row, STAGE_MINOR | ENTRY_DEAD | ENTRY_QUEUED);
  if (entry) owner_add_pending(owner, entry);
}

static void promote(struct memprof_owner *owner, struct young_table *table, struct young_row *row) {
  struct memprof_entry *entry = make_entry(table, row, STAGE_MINOR | ENTRY_OLD | ENTRY_QUEUED | ENTRY_LINKED);
  if (!entry) return;
  owner_track(owner, entry);
  owner_add_pending(owner, entry);
}

static void settle(struct memprof_owner *owner, struct young_table *table) {
  if (table->running) settle_running(owner, table);
  for (; young_has_births(table); table->pending++)
    if (table->rows[table->pending].state == YOUNG_PENDING)
      settle_due(owner, table, &table->rows[table->pending]);
}

/* True if no row is left. */
static bool settle_all(struct memprof_owner *owner, struct young_table *table) {
  bool is_lost = false;
  settle(owner, table);
  for (uint32_t i = table->told; i < table->count; i++) {
    struct young_row *row = &table->rows[i];
    if (row->state == YOUNG_KEPT) settle_kept(owner, table, row);
    if (row->state == YOUNG_DEAD) settle_dead(owner, table, row);
    is_lost |= row->state == YOUNG_LOST;
  }
  table->aged = table->count;
  if (!is_lost) table->told = table->aged;
  young_empty(table);
  return !is_lost;
}

/* ---- tables ---- */

static struct young_table *take_table(struct memprof *engine) {
  struct young_table *first = young_first(engine);
  for (struct young_table *table = first; table; table = table->next)
    if (!atomic_exchange(&table->taken, true)) return table;
  struct young_table *fresh = metadata_map(sizeof *fresh);
  if (!fresh) return NULL;
  atomic_store(&fresh->taken, true);
  do {
    fresh->next = first;
  } while (!atomic_compare_exchange_weak_explicit(&engine->tables, &first, fresh, memory_order_acq_rel,
                                                  memory_order_acquire));
  return fresh;
}

/* Makes the table the profile's. False if it is that already, if the profile no longer samples, or
 * if rows of another profile are left. The function checks again with the guard that the profile
 * samples: a discard may have passed this table in between, and does not come to it again. */
static bool bind(struct memprof_owner *owner, uint64_t handle) {
  struct young_table *table = owner->table;
  struct profile *surplus = profile_of(handle);
  unsigned stripe = stripe_of_thread();
  if (!profile_hold(handle, &surplus->stripes[stripe])) return false;
  young_lock(table);
  bool binds =
      table->handle != handle && !table->users && settle_all(owner, table) && profile_is_sampling(handle);
  if (binds) {
    count_fresh(table);
    surplus = table->handle ? profile_of(table->handle) : NULL;
    table->handle = handle;
    table->depth = profile_of(handle)->options.callstack_size;
  }
  young_unlock(table);
  if (surplus) profile_let_go(surplus, &surplus->stripes[stripe]);
  return binds;
}

/* ---- births ---- */

/* False if the owner has no table, or the table is full or another profile's. */
static inline bool add_row(struct memprof_thread *thread, uintptr_t address, size_t words, size_t n_samples,
                           wn_alloc_source source) {
  struct memprof_owner *owner = thread->owner;
  struct young_table *table = owner->table;
  if (!table) return false;
  const wn_callstack *callstack = owner->engine->ops->capture(thread, table->depth);
  uint64_t handle = atomic_load_explicit(&owner->profile, memory_order_relaxed);
  young_lock(table);
  bool fits = handle && table->handle == handle && table->count < YOUNG_MOST && profile_is_sampling(handle);
  if (fits) {
    struct young_row *row = &table->rows[table->count++];
    table->thread = thread;
    row->state = YOUNG_PENDING;
    row->address = address;
    row->metadata = NULL;
    row->allocation = (wn_allocation){.n_samples = n_samples,
                                      .size = words,
                                      .source = source,
                                      .callstack = callstack,
                                      .bytes = 8 * words,
                                      .trials = words + 1};
    table->fresh.born++;
  }
  young_unlock(table);
  return fits;
}

/* True if there may be room for a row now, since the table has become this profile's. */
static __attribute__((noinline)) bool make_fit(struct memprof_thread *thread) {
  struct memprof_owner *owner = thread->owner;
  uint64_t handle = atomic_load_explicit(&owner->profile, memory_order_acquire);
  if (!handle) return false;
  if (!owner->table) owner->table = take_table(owner->engine);
  return owner->table && bind(owner, handle);
}

static bool born_as_entry(struct memprof_thread *thread, uintptr_t address, size_t words, size_t n_samples,
                          wn_alloc_source source) {
  const struct memprof_birth birth = {.address = address,
                                      .size = words,
                                      .trials = words + 1,
                                      .bytes = 8 * words,
                                      .n_samples = n_samples,
                                      .source = source,
                                      .minor = true};
  return memprof_allocated(thread, &birth) != NULL;
}

/* ---- the engine ---- */

/* Waits for the other side, which calls nothing that waits while it has the guard. */
void young_stand_back(struct young_table *table) {
  young_unlock(table);
  while (atomic_load_explicit(&table->seized, memory_order_acquire)) sched_yield();
}

void young_seize(struct young_table *table) {
  while (atomic_exchange_explicit(&table->seized, true, memory_order_acquire)) sched_yield();
  fence_heavy();
  while (atomic_load_explicit(&table->entered, memory_order_acquire)) sched_yield();
}

void young_release(struct young_table *table) {
  atomic_store_explicit(&table->seized, false, memory_order_release);
}

void young_count(const struct memprof *engine, uint64_t handle) {
  for (struct young_table *table = young_first(engine); table; table = table->next) {
    if (!atomic_load(&table->taken)) continue; /* such a table has no fresh counts */
    young_seize(table);
    if (table->handle == handle) count_fresh(table);
    young_release(table);
  }
}

bool young_has_pending(const struct memprof_owner *owner) {
  struct young_table *table = owner->table;
  if (!table) return false;
  young_lock(table);
  bool is_due = young_has_births(table) || young_has_deaths(table);
  young_unlock(table);
  return is_due;
}

void young_settle_rows(struct memprof_owner *owner) {
  young_lock(owner->table);
  settle(owner, owner->table);
  young_unlock(owner->table);
}

bool young_after_minor(struct memprof_owner *owner, memprof_fate_function *fate, void *context) {
  struct young_table *table = owner->table;
  if (!table) return false;
  young_lock(table);
  count_fresh(table);
  for (uint32_t i = table->aged; i < table->count; i++) {
    struct young_row *row = &table->rows[i];
    if (row->state != YOUNG_KEPT) continue;
    struct memprof_fate now = fate(row->address, context);
    row->address = now.address;
    if (now.age == MEMPROF_DEAD)
      row->state = YOUNG_DEAD;
    else if (now.age == MEMPROF_OLD)
      promote(owner, table, row);
    else
      settle_kept(owner, table, row);
  }
  table->aged = table->count;
  young_empty(table);
  bool is_due = young_has_deaths(table);
  young_unlock(table);
  return is_due;
}

size_t young_forget(struct young_table *table, uint64_t handle, void **metadata, size_t room) {
  struct profile *profile = profile_of(handle);
  struct profile_stripe *stripe = &profile->stripes[stripe_of_thread()];
  size_t found = 0;
  young_seize(table);
  bool is_bound = table->handle == handle;
  if (is_bound) count_fresh(table);
  /* `told` goes past rows that the owner may come to before the next call of this function: so they
   * become GONE. */
  for (; is_bound && table->told < table->count && found < room; table->told++) {
    struct young_row *row = &table->rows[table->told];
    if (row->state == YOUNG_GONE || row->state == YOUNG_RUNNING) continue;
    row->state = YOUNG_GONE;
    count_one(&stripe->tally.dropped_minor);
    if (row->metadata) metadata[found++] = row->metadata;
  }
  bool is_over = is_bound && table->told == table->count;
  if (is_over) {
    table->aged = table->pending = table->count;
    table->running = NULL; /* the RUNNING row's thread sees that, and drops what its callback returns */
    table->handle = 0;
    is_over = !table->users;
    young_empty(table);
  }
  young_release(table);
  if (is_over) profile_let_go(profile, stripe);
  return found;
}

void young_leave(struct memprof_owner *owner) {
  struct young_table *table = owner->table;
  if (!table) return;
  young_lock(table);
  settle_all(owner, table);
  count_fresh(table);
  young_unlock(table);
  owner->table = NULL;
  atomic_store(&table->taken, false);
}

size_t young_rows(const struct memprof *engine, const struct profile *profile, size_t *tables) {
  size_t rows = 0;
  *tables = 0;
  for (const struct young_table *table = young_first(engine); table; table = table->next) {
    if (!table->handle || (profile && profile_of(table->handle) != profile)) continue;
    ++*tables;
    for (uint32_t i = table->told; i < table->count; i++) rows += table->rows[i].state != YOUNG_GONE;
  }
  return rows;
}

size_t young_mapped_bytes(const struct memprof *engine) {
  size_t bytes = 0;
  for (const struct young_table *table = young_first(engine); table; table = table->next)
    bytes += sizeof *table;
  return bytes;
}

void young_close(struct memprof *engine) {
  struct young_table *table = atomic_exchange(&engine->tables, NULL);
  while (table) {
    struct young_table *next = table->next;
    metadata_unmap(table, sizeof *table);
    table = next;
  }
}

/* ---- hosts ---- */

bool memprof_born_young(struct memprof_thread *thread, uintptr_t address, size_t words, size_t n_samples,
                        wn_alloc_source source) {
  do {
    if (__builtin_expect(add_row(thread, address, words, n_samples, source), 1)) return true;
  } while (make_fit(thread));
  return born_as_entry(thread, address, words, n_samples, source);
}

void memprof_thread_pauses(struct memprof_thread *thread) { young_settle(thread->owner); }
/* SPDX-License-Identifier: MIT */
