/* An entry: what the engine knows of one tracked block, and the state machine that says which
 * thread may touch it. The sample of a young block in a collected host begins as a row (young.h)
 * and becomes an entry, in any state, when it needs one.
 *
 *               alloc pending        minor                        major
 *   birth ----> ALLOC ----(minor)--> MINOR --promote--> MAJOR --dealloc_major--> ZOMBIE ----> FREE
 *                 |  \                 |                  ^ |                      ^
 *                 |   '--(major)-------+------------------' '--resize--> MAJOR     |
 *                 '---- NULL, raise, stop, discard, dealloc_minor, discard --------'
 *
 * A resize leaves an entry in its stage, MINOR too.
 *
 * The state is one atomic word: a stage, six flags, and a generation that changes each time the
 * slot is freed, so that a compare and exchange on a word that was read earlier fails if the slot
 * serves another block by now.
 *
 *   RUNNING  one thread has claimed the entry: only it calls callbacks, changes the stage, and
 *            touches `metadata`.
 *   QUEUED   the entry stands in exactly one queue of pending callbacks, through `pending_next`.
 *   LINKED   the host still knows the entry: the block carries it, or an owner's list or the table of
 *            old blocks (tracked.h) does, through `next`.
 *   OLD, RESIZED, DEAD   what happened to the block. They are set when it happens. The pending step
 *            follows from the stage and these flags (entry_steps, the one table), so callbacks come in
 *            order however late they run.
 *
 * Invariants. Q: an entry with a pending step is RUNNING or QUEUED, unless the post that makes it
 * pending is under way. F: a ZOMBIE that is none of RUNNING, QUEUED, LINKED becomes FREE in the
 * same exchange that cleared the last of these flags. P: an entry in ALLOC, MINOR or MAJOR holds
 * its profile; a ZOMBIE does not. */
#ifndef MEMPROF_ENTRY_H
#define MEMPROF_ENTRY_H

#include "base/check.h"
#include "memprof/host.h"

enum entry_stage { STAGE_FREE, STAGE_ALLOC, STAGE_MINOR, STAGE_MAJOR, STAGE_ZOMBIE };

enum {
  ENTRY_STAGE = 7,
  ENTRY_OLD = 1 << 3,
  ENTRY_RESIZED = 1 << 4,
  ENTRY_DEAD = 1 << 5,
  ENTRY_RUNNING = 1 << 6, /* the bits below are the stage and what happened */
  ENTRY_QUEUED = 1 << 7,
  ENTRY_LINKED = 1 << 8,
};

/* The pending step. */
enum entry_step { STEP_NONE, STEP_ALLOC, STEP_PROMOTE, STEP_RESIZE, STEP_DEALLOC_MINOR, STEP_DEALLOC_MAJOR };

struct profile;

/* In two lines of 64 bytes: the first has all that a queue and a walk of a table need. */
struct memprof_entry {
  _Alignas(64) _Atomic(uint64_t) free_link; /* belongs to slots.c */
  _Atomic(uint64_t) word; /* every exchange of it releases what the claimant wrote, and acquires it */
  _Atomic(struct profile *) profile;
  /* Written by the claimant. */
  void *metadata;
  /* Written by the thread that owns the block; read by the claimant. */
  _Atomic(uintptr_t) address;
  /* Written by the thread that has the list or queue. */
  struct memprof_entry *next, *pending_next;
  uint64_t owner; /* the number of the owner that gets its callbacks; changed only where one adopts it */
  /* As the address. */
  _Atomic(size_t) bytes, previous_bytes, trials, n_samples;
  _Atomic(const wn_callstack *) callstack;
  /* Set at birth; constant afterwards. */
  const char *custom_name;
  size_t depth; /* of callstacks, as the profile wants it */
  uint32_t number;
  uint8_t source, tag;
  bool minor;
  bool outside; /* memory outside of a block: it stands in the table from its birth on */
};

static inline enum entry_stage entry_stage(uint64_t word) { return (enum entry_stage)(word & ENTRY_STAGE); }

static inline uint64_t entry_word(const struct memprof_entry *entry) {
  return atomic_load_explicit(&entry->word, memory_order_acquire);
}

/* The pending step in the stages MINOR and MAJOR, for each set of flags. */
#define ENTRY_STEPS(happened, minor, major)                                           \
  [(happened) | STAGE_ALLOC] = STEP_ALLOC, [(happened) | STAGE_MINOR] = STEP_##minor, \
                [(happened) | STAGE_MAJOR] = STEP_##major
static const uint8_t entry_steps[ENTRY_RUNNING] = {
    ENTRY_STEPS(0, NONE, NONE),
    ENTRY_STEPS(ENTRY_OLD, PROMOTE, NONE),
    ENTRY_STEPS(ENTRY_RESIZED, RESIZE, RESIZE),
    ENTRY_STEPS(ENTRY_DEAD, DEALLOC_MINOR, DEALLOC_MAJOR),
    ENTRY_STEPS(ENTRY_OLD | ENTRY_RESIZED, PROMOTE, RESIZE),
    ENTRY_STEPS(ENTRY_OLD | ENTRY_DEAD, PROMOTE, DEALLOC_MAJOR),
    ENTRY_STEPS(ENTRY_RESIZED | ENTRY_DEAD, DEALLOC_MINOR, RESIZE),
    ENTRY_STEPS(ENTRY_OLD | ENTRY_RESIZED | ENTRY_DEAD, PROMOTE, RESIZE),
};
#undef ENTRY_STEPS

/* The pending step of an entry in this state. */
static inline enum entry_step entry_step(uint64_t word) {
  return (enum entry_step)entry_steps[word % ENTRY_RUNNING];
}

/* Whether an entry of a collected host stands in the table of tracked.h, or is on its way there. */
static inline bool entry_is_tabled(const struct memprof_entry *entry, uint64_t word) {
  return word & ENTRY_LINKED && (word & ENTRY_OLD || entry->outside);
}

/* ---- exchanges ---- */

#define ENTRY_GENERATION (UINT64_C(1) << 32)

static inline bool entry_swap(struct memprof_entry *entry, uint64_t *from, uint64_t to) {
  return atomic_compare_exchange_weak_explicit(&entry->word, from, to, memory_order_seq_cst,
                                               memory_order_acquire);
}

/* Invariant F. */
static inline bool entry_is_over(uint64_t word) {
  return (word & (ENTRY_STAGE | ENTRY_RUNNING | ENTRY_QUEUED | ENTRY_LINKED)) == STAGE_ZOMBIE;
}

/* The next generation, in STAGE_FREE and without a flag, which is 0. */
static inline uint64_t entry_freed(uint64_t word) { return (word | (ENTRY_GENERATION - 1)) + 1; }

/* The last part of each exchange: from a word whose stage and flags are set as wanted, the word to
 * store. It is the word itself, or the freed one if the entry is over; such an entry has no pending
 * step. */
static inline uint64_t entry_concluded(uint64_t word) {
  return entry_is_over(word) ? entry_freed(word) : word;
}

static inline void entry_free_if_over(struct memprof *engine, struct memprof_entry *entry, uint64_t word) {
  if (entry_stage(word) == STAGE_FREE) slots_give(&engine->entries, entry, entry->number);
}

/* Stores the description of the block that callbacks get. */
static inline void entry_describe(struct memprof_entry *entry, const wn_allocation *allocation) {
  atomic_store_explicit(&entry->n_samples, allocation->n_samples, memory_order_relaxed);
  entry->source = (uint8_t)allocation->source;
  entry->tag = (uint8_t)allocation->tag;
  entry->custom_name = allocation->custom_name;
  atomic_store_explicit(&entry->callstack, allocation->callstack, memory_order_relaxed);
  atomic_store_explicit(&entry->bytes, allocation->bytes, memory_order_relaxed);
  atomic_store_explicit(&entry->trials, allocation->trials, memory_order_relaxed);
  atomic_store_explicit(&entry->previous_bytes, allocation->previous_bytes, memory_order_relaxed);
}

/* Makes a fresh slot, whose other fields are set, an entry with the stage and flags in `state`. */
static inline void entry_publish(struct memprof_entry *entry, uint64_t state) {
  uint64_t generation = atomic_load_explicit(&entry->word, memory_order_relaxed);
  ASSERT(generation % ENTRY_GENERATION == STAGE_FREE);
  atomic_store_explicit(&entry->word, generation | state, memory_order_release);
}

/* Sets the flags `set` and clears the flags `clear`. True if that made a step pending: then the
 * entry is QUEUED, and the caller must put it into a queue. If this returns false, the entry may
 * have been freed, and the caller must not touch it. */
static inline bool entry_post(struct memprof *engine, struct memprof_entry *entry, uint64_t set,
                              uint64_t clear) {
  uint64_t from = entry_word(entry), to;
  bool pending;
  do {
    to = (from | set) & ~clear;
    pending = !(to & (ENTRY_RUNNING | ENTRY_QUEUED)) && entry_step(to) != STEP_NONE;
    to = pending ? to | ENTRY_QUEUED : entry_concluded(to);
  } while (!entry_swap(entry, &from, to));
  if (!pending) entry_free_if_over(engine, entry, to);
  return pending;
}

/* The claimant gives the entry up and leaves undone the step that `settle` (callbacks.c) returned.
 * The entry becomes QUEUED, and the caller must put it into a queue. Returns the entry's state. */
uint64_t entry_postpone(struct memprof_entry *entry, enum entry_step step);

/* Claims an entry that was in state `word`, wherever it is queued or linked. False if another
 * thread has claimed it, or if its state has changed. */
bool entry_seize(struct memprof_entry *entry, uint64_t word);

/* ---- lists ---- */

static inline void entry_list_append(struct entry_list *list, struct memprof_entry *entry) {
  entry->next = NULL;
  if (list->last)
    list->last->next = entry;
  else
    list->first = entry;
  list->last = entry;
}

void entry_list_join(struct entry_list *list, struct entry_list *tail);

static inline void entry_pending_append(struct entry_list *list, struct memprof_entry *entry) {
  entry->pending_next = NULL;
  if (list->last)
    list->last->pending_next = entry;
  else
    list->first = entry;
  list->last = entry;
}

void entry_pending_join(struct entry_list *list, struct entry_list *tail);

static inline struct memprof_entry *entry_pending_pop(struct entry_list *list) {
  struct memprof_entry *entry = list->first;
  if (!entry) return NULL;
  list->first = entry->pending_next;
  if (!list->first) list->last = NULL;
  return entry;
}

#endif
/* SPDX-License-Identifier: MIT */
