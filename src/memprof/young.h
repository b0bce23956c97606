/* Samples of young blocks in a collected host.
 *
 * Most blocks die young. A block whose fate a minor collection alone decides needs no entry, no
 * queue and no list: its sample is a row of a table, in the order of birth, and one collection
 * settles all rows at once. A row becomes an entry (entry.h) in the same state when its block is
 * promoted, and when anything else happens that rows are not made for.
 *
 *   PENDING --alloc--> RUNNING --metadata--> KEPT --dead--> DEAD --dealloc--> GONE
 *      |                  |                   |
 *      '------------------'------> entry <----'
 *
 * A table has the rows of one owner and one profile, and holds that profile:
 *
 *   0      told         aged         pending       count
 *   | GONE  | DEAD, or   | KEPT, or   | PENDING, or |
 *   |       | GONE       | GONE       | GONE        |   and LOST ones from `told` to `pending`
 *
 * The engine has finished with the rows below `told`: their callbacks have run, or they needed
 * none. A discard forgets rows, some at a time, by moving `told` on, past `aged` and `pending` too;
 * a row that it forgot is GONE. It also moves `told` past a RUNNING row, whose state stays.
 *
 * The rows below `aged` were there at the last minor collection; the other rows were born since.
 * When the engine has finished with all rows, the table becomes empty again. At most one row is
 * RUNNING: the one that was the last to leave PENDING. Rows that are PENDING or RUNNING belong to
 * the thread that runs in the owner; before another thread runs there they become entries
 * (young_settle).
 *
 * A thread that runs a callback of a row is a user of the table. Since a callback may read its row,
 * a table with users does not become empty, and takes no rows of another profile. If a discard
 * finds users, the last of them releases the table's hold of the profile.
 *
 * IMMEDIATE (host.h). The callback of a birth runs before there is a row, which is KEPT then, and
 * nothing is pending ever: the collection that decides a row's fate calls `dealloc_minor` or
 * `promote` itself. These callbacks run with the guard held, since they wait for no thread that
 * wants it.
 *
 * COUNTS. Births and ends of rows are counted in the table, in `fresh`. They are added to the
 * profile's counts at the next collection, when a row becomes an entry, and when a thread reads the
 * counts. So no event is missed, and no end of a row is counted before its birth.
 *
 * GUARD. Two sides use a table. The owner's side is the thread that runs in the owner, or a
 * collection that stopped that thread. The other side is any thread that discards the table's
 * profile or reads its counts. Each takes the guard for as long as it looks at the rows, and calls
 * no callback meanwhile. A row may become an entry, but no entry becomes a row. So a discard looks
 * at the tables first and then at the entries, and finds each sample once. The owner's side takes
 * the guard several times a sample, the other side hardly ever, so the guard is uneven
 * (base/fence.h):
 *
 *   The owner's side:                             The other side:
 *   1. stores `entered`;                          1. exchanges `seized` with true, again and
 *   2. passes a light fence;                         again until the old value is false;
 *   3. loads `seized`; if that is true, clears    2. passes a heavy fence;
 *      `entered`, waits until `seized` is false,  3. waits until `entered` is false.
 *      and begins again.
 *
 * One of the two sides therefore sees the other. tests/models/guard.pml explores it. */
#ifndef MEMPROF_YOUNG_H
#define MEMPROF_YOUNG_H

#include "base/fence.h"
#include "memprof/profile.h"

/* How many samples a minor heap of the default size has at a rate of 1e-2, and a sixth more. */
enum { YOUNG_MOST = TINY ? 4 : 3072 };

/* LOST: the row should have become an entry, but there was no memory for one, or a discard of its
 * profile had begun. The sample is dropped: no further callback is called for it. */
enum young_state { YOUNG_GONE, YOUNG_PENDING, YOUNG_RUNNING, YOUNG_KEPT, YOUNG_DEAD, YOUNG_LOST };

struct young_row {
  enum young_state state;
  uintptr_t address;
  void *metadata;
};

struct young_table {
  struct young_table *next; /* the engine's next table; constant */
  _Atomic(bool) taken;      /* an owner has the table */
  _Atomic(bool) entered;    /* GUARD: the owner's side is there */
  _Atomic(bool) seized;     /* GUARD: the other side has it or waits for it */
  size_t depth;             /* frames of a callstack; written and read by the owner's threads */
  /* Used by the side that has the guard. */
  uint64_t handle;   /* the profile's handle; 0: no profile, and no rows */
  bool immediate;    /* the profile is: each row is KEPT from its birth on */
  wn_domain *domain; /* what the callbacks of immediate rows get */
  uint32_t told, aged, pending, count, users;
  struct memprof_thread *thread; /* to which the PENDING and RUNNING rows belong */
  struct young_row *running;     /* or NULL */
  struct young_counts {
    uint64_t born, died, dropped;
  } fresh; /* COUNTS */
  struct young_row rows[YOUNG_MOST];
  /* What the callback of a row's birth gets, while the row is PENDING or RUNNING. Its callstack is
   * kept for that. */
  wn_allocation births[YOUNG_MOST];
};

/* Take and release the guard on the owner's side. */
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

/* Take and release the guard on the other side. */
void young_seize(struct young_table *table);
void young_release(struct young_table *table);

/* The caller of these three has the guard. young_has_births: alloc callbacks are pending.
 * young_has_deaths: dealloc callbacks are pending. young_empty: makes the table empty if the engine
 * has finished with all rows and the table has no users. */
static inline bool young_has_births(const struct young_table *table) { return table->pending < table->count; }
static inline bool young_has_deaths(const struct young_table *table) { return table->told < table->aged; }
static inline void young_empty(struct young_table *table) {
  if (table->told == table->aged && table->aged == table->count && !table->users)
    table->told = table->aged = table->pending = table->count = 0;
}

/* A user leaves the table; the caller has the guard. True if the user was the last one, and must
 * release the table's hold of the profile. */
static inline bool young_end(struct young_table *table, uint64_t handle) {
  table->users--;
  young_empty(table);
  return !table->users && table->handle != handle;
}

/* Whether the owner has pending callbacks of rows. */
bool young_has_pending(const struct memprof_owner *owner);

/* Makes entries of the rows that are PENDING or RUNNING. The caller has the owner to itself; only a
 * thread that discards or reads counts may use the table at the same time. */
void young_settle_rows(struct memprof_owner *owner);
static inline void young_settle(struct memprof_owner *owner) {
  if (owner->table) young_settle_rows(owner);
}

/* Called after a minor collection and after young_settle: asks `fate` about each block. True if
 * callbacks are pending. */
bool young_after_minor(struct memprof_owner *owner, memprof_fate_function *fate, void *context);

/* Forgets rows of a discarded profile, except a RUNNING one. Puts their metadata in `metadata`,
 * stops when that is full (`room`), and returns how many it put there; the caller drops them. If it
 * returns less than `room`, it has forgotten all rows of the profile. Then, if the table still held
 * the profile, the function has released that hold, or leaves it to the last user of the table
 * (young_end). */
size_t young_forget(struct young_table *table, uint64_t handle, void **metadata, size_t room);

/* Called when the owner ends: makes entries of the rows that are left, and gives the table up, so
 * that another owner may take it. LOST rows stay in the table; the next owner drops them. The table
 * holds its profile until another profile gets the table or a discard comes. Calls no callback,
 * since the host may hold a lock. */
void young_leave(struct memprof_owner *owner);

/* Returns how many rows are of a profile, or of any profile if `profile` is NULL; `*tables` becomes
 * how many tables hold it. The caller makes sure that no thread is in the engine meanwhile. */
size_t young_rows(const struct memprof *engine, const struct profile *profile, size_t *tables);
size_t young_mapped_bytes(const struct memprof *engine);

/* The tables of an engine, through `next`. */
static inline struct young_table *young_first(const struct memprof *engine) {
  return atomic_load_explicit(&engine->tables, memory_order_acquire);
}

/* COUNTS: adds the fresh counts of all tables of a profile to the profile's counts. Any thread may
 * call it. */
void young_count(const struct memprof *engine, uint64_t handle);

/* Unmaps all tables. */
void young_close(struct memprof *engine);

#endif
/* SPDX-License-Identifier: MIT */
