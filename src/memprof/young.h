/* Samples of young blocks in a collected host.
 *
 * Most blocks die young. What a collection alone decides needs no entry, no queue and no list: so a young sample is a row
 * of a table, in the order of birth, and one collection settles all rows at once. A row becomes an entry (entry.h) in the
 * same state when its block is promoted, and when anything happens that rows are not made for.
 *
 *   DUE ---alloc---> RUNNING ---metadata---> KEPT ---dead---> DEAD ---dealloc---> GONE
 *    |                  |                      |
 *    '------------------'------> entry <-------'
 *
 * A table has the rows of one owner and one profile, which it holds:
 *
 *   0      told        aged        due       count
 *   | GONE  | DEAD, or  | KEPT, or  | DUE, or  |
 *   |       | GONE      | GONE      | GONE     |   and LOST ones from `told` to `due`
 *
 * A discard forgets rows, some at a time, by moving `told` on, past `aged` and `due` too; what it forgot is GONE.
 *
 * The rows below `aged` were there at the last minor collection. When all of them have been told of, and there are no
 * others, the table is empty again. One row, at most, is RUNNING: the last one that was DUE. Rows that are DUE, and it, are
 * of the thread that runs in the owner: before another one does they become entries (young_settle).
 *
 * Threads that run callbacks of rows are `users`: while there is one the table is not emptied, since a callback may read its row,
 * and serves no other profile. A discard then leaves the profile to the last of them.
 *
 * COUNTS. What happens to rows is counted in the table, `fresh`, and in the profile at the next collection, when a row becomes
 * an entry, and when somebody asks. So nothing that happened is missed, and no row's end is counted before its birth.
 *
 * GUARD. A table is used by the owner's side, its thread that runs or a collection that stopped that, and by who discards its
 * profile or asks for counts, from any thread. Each takes the guard for as long as it takes to look at the rows, and calls nothing of
 * the user's meanwhile. So a discard finds each sample once: as a row, or, since it looks at the tables first, as an entry.
 * The owner's side takes it several times a sample, others hardly ever: it says that it is there, then looks whether
 * somebody seizes the table; they seize it, then wait until the owner's side is not there (fence.h). tests/models/guard.pml explores it. */
#ifndef MEMPROF_YOUNG_H
#define MEMPROF_YOUNG_H

#include "base/fence.h"
#include "memprof/profile.h"

/* As many samples as a minor heap of the default size has at a rate of 1e-2, and a sixth more. */
enum { YOUNG_MOST = TINY ? 4 : 3072 };

/* LOST: it should become an entry, and there was no memory for one, or a discard of its profile had begun: it is dropped instead
 * of told of. */
enum young_state { YOUNG_GONE, YOUNG_DUE, YOUNG_RUNNING, YOUNG_KEPT, YOUNG_DEAD, YOUNG_LOST };

struct young_row {
  enum young_state state;
  uintptr_t address;
  void *metadata;
  wn_allocation allocation;
};

struct young_table {
  struct young_table *next; /* of the engine; constant */
  _Atomic(bool) taken;      /* by an owner */
  _Atomic(bool) entered;    /* GUARD: the owner's side is there */
  _Atomic(bool) seized;     /* by another thread */
  size_t depth;             /* of callstacks; written and read by the owner's threads */
  /* Used by who has the guard. */
  uint64_t handle; /* of the profile; 0: none, and no rows */
  uint32_t told, aged, due, count, users;
  struct memprof_thread *thread; /* whose rows are DUE or RUNNING */
  struct young_row *running;     /* or NULL */
  struct young_counts {
    uint64_t born, died, dropped;
  } fresh; /* COUNTS */
  struct young_row rows[YOUNG_MOST];
};

/* The guard, for the owner's side. */
void young_stand_back(struct young_table *table);
static inline void young_lock(struct young_table *table) {
  for (;;) {
    atomic_store_explicit(&table->entered, true, memory_order_relaxed);
    fence_light();
    if (__builtin_expect(!atomic_load_explicit(&table->seized, memory_order_acquire), 1)) return;
    young_stand_back(table);
  }
}
static inline void young_unlock(struct young_table *table) {
  atomic_store_explicit(&table->entered, false, memory_order_release);
}

/* The guard, for anybody else. */
void young_seize(struct young_table *table);
void young_release(struct young_table *table);

/* With the guard: some rows are to be told of. The table is empty again, if all were. */
static inline bool young_has_births(const struct young_table *table) { return table->due < table->count; }
static inline bool young_has_deaths(const struct young_table *table) { return table->told < table->aged; }
static inline void young_empty(struct young_table *table) {
  if (table->told == table->aged && table->aged == table->count && !table->users)
    table->told = table->aged = table->due = table->count = 0;
}

/* With the guard: a user leaves. True if it is the last, and must let the profile go. */
static inline bool young_end(struct young_table *table, uint64_t handle) {
  table->users--;
  young_empty(table);
  return !table->users && table->handle != handle;
}

/* One of the owner's threads has callbacks to run. */
bool young_is_due(const struct memprof_owner *owner);

/* Makes entries of the rows that are DUE or RUNNING. The caller has the owner to itself, but for discards. */
void young_settle_rows(struct memprof_owner *owner);
static inline void young_settle(struct memprof_owner *owner) {
  if (owner->table) young_settle_rows(owner);
}

/* After a minor collection, and after young_settle: asks for each block. True if something is due. */
bool young_after_minor(struct memprof_owner *owner, memprof_fate_function *fate, void *context);

/* Forgets the rows of a discarded profile, but one that is RUNNING, and lets it go unless there are users. The first of those
 * for which there is `room` go with their metadata, which the caller drops. Returns how many did; if that is less than
 * the room, none is left. */
size_t young_forget(struct young_table *table, uint64_t handle, void **metadata, size_t room);

/* The owner ends: what is left of its rows becomes entries, and its table serves another, which drops those that are LOST; until
 * then, or a discard, it is the same profile's. Calls nothing of the user's: the host may hold a lock. */
void young_leave(struct memprof_owner *owner);

/* How many rows are of a profile, or of any if it is NULL, and how many tables hold it; while no thread is in the engine. */
size_t young_rows(const struct memprof *engine, const struct profile *profile, size_t *tables);
size_t young_mapped_bytes(const struct memprof *engine);

/* The tables of an engine, through `next`. */
static inline struct young_table *young_first(const struct memprof *engine) {
  return atomic_load_explicit(&engine->tables, memory_order_acquire);
}

/* COUNTS: what is fresh of a profile is counted there. For who asks, from any thread. */
void young_count(const struct memprof *engine, uint64_t handle);

/* Unmaps all tables. */
void young_close(struct memprof *engine);

#endif
/* SPDX-License-Identifier: MIT */
