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

static wn_allocation *young_birth_of(struct young_table *table, const struct young_row *row) {
  return &table->births[row - table->rows];
}

/* Makes an entry in this state in place of a row. The caller has the guard, so the table still
 * holds the profile. If it returns NULL, the row is LOST. */
static struct memprof_entry *young_make_entry(struct young_table *table, struct young_row *row,
                                              uint64_t state) {
  struct profile *profile = profile_of(table->handle);
  count_fresh(table);
  uint32_t number;
  struct memprof_entry *entry = take_entry(profile, &number);
  if (!entry) {
    if (row->state == YOUNG_PENDING) engine_release(profile->engine, young_birth_of(table, row)->callstack);
    row->state = YOUNG_LOST;
    if (!profile_reached(profile, PROFILE_DISCARDED))
      count_one(&profile->stripes[stripe_of_thread()].tally.lost);
    return NULL;
  }
  if (row->state == YOUNG_PENDING)
    entry_describe(entry, young_birth_of(table, row));
  else
    atomic_store_explicit(&entry->callstack, NULL, memory_order_relaxed);
  atomic_store_explicit(&entry->profile, profile, memory_order_relaxed);
  atomic_store_explicit(&entry->address, row->address, memory_order_relaxed);
  entry->metadata = row->metadata;
  entry->depth = profile->options.callstack_size;
  entry->number = number;
  entry->minor = true;
  entry->outside = false;
  row->state = YOUNG_GONE;
  row->address = 0; /* no row is asked again where its block is, so none may seem to hold it */
  entry_publish(entry, state);
  return entry;
}

/* Makes an entry of the RUNNING row: when the callback returns, its metadata goes to the entry. If
 * there is no memory for the entry, the thread drops the metadata then, and counts the row as
 * dropped. */
static void settle_running(struct memprof_owner *owner, struct young_table *table) {
  struct memprof_entry *entry =
      young_make_entry(table, table->running, STAGE_ALLOC | ENTRY_RUNNING | ENTRY_LINKED);
  table->running->state = YOUNG_GONE;
  table->running = NULL;
  if (!entry) return;
  owner_track_young(owner, entry);
  table->thread->running = entry;
  table->thread->running_step = STEP_ALLOC;
}

static void settle_due(struct memprof_owner *owner, struct young_table *table, struct young_row *row) {
  struct memprof_entry *entry = young_make_entry(table, row, STAGE_ALLOC | ENTRY_QUEUED | ENTRY_LINKED);
  if (!entry) return;
  owner_track_young(owner, entry);
  pending_push(table->thread, entry);
}

static void settle_kept(struct memprof_owner *owner, struct young_table *table, struct young_row *row) {
  struct memprof_entry *entry = young_make_entry(table, row, STAGE_MINOR | ENTRY_LINKED);
  if (entry) owner_track_young(owner, entry);
}

static void settle_dead(struct memprof_owner *owner, struct young_table *table, struct young_row *row) {
  struct memprof_entry *entry = young_make_entry(table, row, STAGE_MINOR | ENTRY_DEAD | ENTRY_QUEUED);
  if (entry) owner_add_pending(owner, entry);
}

static void promote(struct memprof_owner *owner, struct young_table *table, struct young_row *row) {
  struct memprof_entry *entry =
      young_make_entry(table, row, STAGE_MINOR | ENTRY_OLD | ENTRY_QUEUED | ENTRY_LINKED);
  if (!entry) return;
  owner_track(owner, entry);
  owner_add_pending(owner, entry);
}

static void settle_young(struct memprof_owner *owner, struct young_table *table) {
  if (table->running) settle_running(owner, table);
  for (; young_has_births(table); table->pending++)
    if (table->rows[table->pending].state == YOUNG_PENDING)
      settle_due(owner, table, &table->rows[table->pending]);
}

/* True if no row is left. */
static bool settle_all(struct memprof_owner *owner, struct young_table *table) {
  bool is_lost = false;
  settle_young(owner, table);
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

/* IMMEDIATE: the metadata of a row that is LOST here is dropped at the next drain. */
static void promote_now(struct memprof_owner *owner, struct young_table *table, struct young_row *row) {
  struct memprof_entry *entry =
      young_make_entry(table, row, STAGE_MINOR | ENTRY_OLD | ENTRY_RUNNING | ENTRY_LINKED);
  if (!entry) return;
  owner_track(owner, entry);
  callbacks_promote(entry, table->domain);
}

static void young_end_now(struct young_table *table, struct young_row *row) {
  const struct profile *profile = profile_of(table->handle);
  const wn_tracker *tracker = &profile->tracker;
  row->state = YOUNG_GONE;
  table->fresh.died++;
  if (tracker->dealloc_minor)
    tracker->dealloc_minor(table->domain, row->metadata, tracker->context);
  else if (tracker->drop)
    tracker->drop(row->metadata, tracker->context);
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
static bool young_bind(struct memprof_owner *owner, uint64_t handle) {
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
    table->immediate = profile_of(handle)->immediate;
  }
  young_unlock(table);
  if (surplus) profile_let_go(surplus, &surplus->stripes[stripe]);
  return binds;
}

/* ---- births ---- */

/* What became of a birth: the owner has no table, or the table is full or another profile's; its
 * callback waits; or it has been told (IMMEDIATE). */
enum row_result { ROW_NO_ROOM, ROW_WAITS, ROW_TOLD };

static void add_pending_row(struct young_table *table, uintptr_t address, const wn_allocation *birth) {
  uint32_t number = table->count++;
  table->rows[number] = (struct young_row){.state = YOUNG_PENDING, .address = address};
  table->births[number] = *birth;
}

static void add_told_row(struct memprof_thread *thread, struct young_table *table, uintptr_t address,
                         const wn_allocation *birth) {
  const struct memprof_ops *ops = thread->owner->engine->ops;
  const wn_tracker *tracker = &profile_of(table->handle)->tracker;
  void *metadata =
      tracker->alloc_minor ? tracker->alloc_minor(thread->domain, birth, tracker->context) : NULL;
  table->domain = thread->domain;
  if (metadata)
    table->rows[table->count++] =
        (struct young_row){.state = YOUNG_KEPT, .address = address, .metadata = metadata};
  else
    table->fresh.dropped++;
  table->pending = table->count;
  if (metadata && ops->told) ops->told(thread, address, metadata);
}

static inline enum row_result young_add_row(struct memprof_thread *thread, const struct memprof_birth *of) {
  struct memprof_owner *owner = thread->owner;
  struct young_table *table = owner->table;
  enum row_result result = ROW_NO_ROOM;
  if (!table) return result;
  wn_allocation birth = engine_description(of, owner->engine->ops->capture(thread, table->depth));
  if (!table->immediate) birth.callstack = engine_keep(owner->engine, birth.callstack);
  uint64_t handle = atomic_load_explicit(&owner->profile, memory_order_relaxed);
  young_lock(table);
  if (handle && table->handle == handle && table->count < YOUNG_MOST && profile_is_sampling(handle)) {
    table->fresh.born++;
    table->thread = thread;
    result = table->immediate ? ROW_TOLD : ROW_WAITS;
    if (table->immediate)
      add_told_row(thread, table, of->address, &birth);
    else
      add_pending_row(table, of->address, &birth);
  }
  young_unlock(table);
  if (result != ROW_WAITS) engine_release(owner->engine, birth.callstack);
  return result;
}

/* True if there may be room for a row now, since the table has become this profile's. */
static __attribute__((noinline)) bool make_fit(struct memprof_thread *thread) {
  struct memprof_owner *owner = thread->owner;
  uint64_t handle = atomic_load_explicit(&owner->profile, memory_order_acquire);
  if (!handle) return false;
  if (!owner->table) owner->table = take_table(owner->engine);
  return owner->table && young_bind(owner, handle);
}

static bool born_as_entry(struct memprof_thread *thread, const struct memprof_birth *birth) {
  const struct memprof_entry *entry = memprof_allocated(thread, birth);
  return entry && entry_word(entry) & ENTRY_QUEUED;
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
  settle_young(owner, owner->table);
  young_unlock(owner->table);
}

/* IMMEDIATE: nothing waits in the rows, unless one is LOST. */
static void pass_told(struct young_table *table) {
  while (table->told < table->aged && table->rows[table->told].state == YOUNG_GONE) table->told++;
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
    if (now.age == MEMPROF_YOUNG)
      settle_kept(owner, table, row);
    else if (table->immediate)
      now.age == MEMPROF_DEAD ? young_end_now(table, row) : promote_now(owner, table, row);
    else if (now.age == MEMPROF_DEAD)
      row->state = YOUNG_DEAD;
    else
      promote(owner, table, row);
  }
  table->aged = table->count;
  if (table->immediate) pass_told(table);
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
    if (row->state == YOUNG_PENDING) engine_release(profile->engine, young_birth_of(table, row)->callstack);
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

bool memprof_born_young(struct memprof_thread *thread, const struct memprof_birth *birth) {
  ASSERT(birth->minor && !birth->outside);
  do {
    enum row_result result = young_add_row(thread, birth);
    if (__builtin_expect(result != ROW_NO_ROOM, 1)) return result == ROW_WAITS;
  } while (make_fit(thread));
  return born_as_entry(thread, birth);
}

void memprof_thread_pauses(struct memprof_thread *thread) { young_settle(thread->owner); }
/* SPDX-License-Identifier: MIT */
