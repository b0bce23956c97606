/* Running pending callbacks: the only file that claims entries and calls a tracker.
 *
 * A claimant holds the entry, and through it (invariant P of entry.h) its profile. It calls one
 * callback for each step, and leaves the entry in the stage that follows. Metadata is owned by
 * exactly one side: it is handed to a callback, or kept in the entry, or dropped.
 *
 * A discard and a claimant may meet. All four steps are sequentially consistent:
 *
 *   The discarding thread:                        A claimant:
 *   1. sets the profile's status to DISCARDED;    1. settles its entry: it no longer claims it;
 *   2. seizes every entry that is not claimed.    2. reads the profile's status.
 *
 * So at least one of them sees the other, and the exchange of the entry's word lets only one of
 * them forget the entry. */
#include "memprof/callbacks.h"

#include "base/check.h"
#include "memprof/engine.h"
#include "memprof/pending.h"

/* ---- claims ---- */

/* Claims an entry that the caller removed from its queue. Returns its pending step. STEP_NONE:
 * there is none, and the caller has not claimed the entry. */
static inline enum entry_step callbacks_claim(struct memprof *engine, struct memprof_entry *entry) {
  uint64_t from = entry_word(entry), to;
  enum entry_step step;
  do {
    ASSERT(from & ENTRY_QUEUED);
    to = from & ~(uint64_t)ENTRY_QUEUED;
    step = from & ENTRY_RUNNING ? STEP_NONE : entry_step(to); /* seized: the other thread makes it a zombie */
    if (step != STEP_PROMOTE) to &= ~(uint64_t)ENTRY_RESIZED; /* reported by this step, or never */
    to = step != STEP_NONE ? to | ENTRY_RUNNING : entry_concluded(to);
  } while (!entry_swap(entry, &from, to));
  if (step == STEP_NONE) entry_free_if_over(engine, entry, to);
  return step;
}

/* The claimant puts the entry in a stage other than ZOMBIE. Returns the next pending step, and the
 * caller is still the claimant. STEP_NONE: there is none, and the entry is no longer claimed.
 * `*word` is the entry's new state. */
static inline enum entry_step callbacks_settle(struct memprof_entry *entry, enum entry_stage stage,
                                               uint64_t *word) {
  uint64_t from = entry_word(entry), to;
  enum entry_step step;
  do {
    ASSERT(from & ENTRY_RUNNING && stage != STAGE_ZOMBIE);
    to = (from & ~(uint64_t)(ENTRY_STAGE | ENTRY_RUNNING)) | stage;
    step = entry_step(to);
    if (step == STEP_RESIZE) to &= ~(uint64_t)ENTRY_RESIZED;
    if (step != STEP_NONE) to |= ENTRY_RUNNING;
  } while (!entry_swap(entry, &from, to));
  *word = to;
  return step;
}

/* ZOMBIES of tracked.h, steps 2 and 3. Returns the entry's state. */
static __attribute__((noinline)) uint64_t leave_table(struct memprof *engine, struct memprof_entry *entry) {
  uint64_t given_up = ENTRY_RUNNING | (tracked_remove(&engine->tracked, entry) ? ENTRY_LINKED : 0);
  uint64_t from = entry_word(entry), to;
  do to = entry_concluded(from & ~given_up);
  while (!entry_swap(entry, &from, to));
  return to;
}

/* The claimant makes the entry a zombie, which has no pending step, and gives it up: the entry may
 * be free then. */
static inline void callbacks_bury(struct memprof_entry *entry, struct profile *profile,
                                  struct profile_stripe *stripe) {
  struct memprof *engine = profile->engine;
  uint64_t from = entry_word(entry), to;
  bool tabled;
  engine_release(engine, entry_take_callstack(entry));
  do {
    ASSERT(from & ENTRY_RUNNING);
    tabled = entry_is_tabled(entry, from) && !engine->ops->parallel;
    to = (from & ~(uint64_t)(ENTRY_STAGE | (tabled ? 0 : ENTRY_RUNNING))) | STAGE_ZOMBIE;
    if (!tabled) to = entry_concluded(to);
  } while (!entry_swap(entry, &from, to));
  if (__builtin_expect(tabled, 0)) to = leave_table(engine, entry);
  entry_free_if_over(engine, entry, to);
  profile_let_go(profile, stripe);
}

/* ---- the steps ---- */

static void drop_callbacks(struct profile *profile, void *metadata) {
  if (metadata && profile->tracker.drop) profile->tracker.drop(metadata, profile->tracker.context);
}

static enum entry_stage callbacks_dropped(struct profile *profile, struct memprof_entry *entry,
                                          enum entry_stage stage) {
  profile_count_dropped(profile, entry, stage);
  return STAGE_ZOMBIE;
}

static inline wn_allocation description(const struct memprof_entry *entry, const wn_callstack *callstack) {
  size_t bytes = atomic_load_explicit(&entry->bytes, memory_order_relaxed);
  return (wn_allocation){
      .n_samples = atomic_load_explicit(&entry->n_samples, memory_order_relaxed),
      .size = words_of_bytes(bytes),
      .source = (wn_alloc_source)entry->source,
      .callstack = callstack,
      .bytes = bytes,
      .tag = entry->tag,
      .custom_name = entry->custom_name,
      .trials = atomic_load_explicit(&entry->trials, memory_order_relaxed),
      .previous_bytes = atomic_load_explicit(&entry->previous_bytes, memory_order_relaxed),
  };
}

/* The callstack for a callback that is about to begin. An entry of memory outside keeps it, since
 * each of its callbacks gets the same one. */
static inline const wn_callstack *lend_callstack(struct memprof_thread *thread, struct memprof_entry *entry) {
  if (entry->outside) return atomic_load_explicit(&entry->callstack, memory_order_relaxed);
  return thread->callstack = entry_take_callstack(entry);
}

static inline void take_callstack_back(struct memprof_thread *thread) {
  const wn_callstack *callstack = thread->callstack;
  thread->callstack = NULL;
  engine_release(thread->owner->engine, callstack);
}

static __attribute__((noinline)) bool has_raised(const struct memprof_thread *thread) {
  const struct memprof_ops *ops = thread->owner->engine->ops;
  return !ops->raised || ops->raised(thread);
}

/* Whether the sample keeps the metadata that a callback returned: it is not NULL, and the callback
 * did not raise an exception. */
static inline bool callbacks_is_kept(const struct memprof_thread *thread, const void *metadata) {
  return metadata && (!*thread->exception || !has_raised(thread));
}

/* Stops tracking an entry that may have metadata, unless it is in STAGE_ALLOC: drops the metadata,
 * and counts. */
static enum entry_stage forgotten(struct memprof_entry *entry, struct profile *profile,
                                  enum entry_stage stage) {
  if (stage != STAGE_ALLOC) drop_callbacks(profile, entry->metadata);
  return callbacks_dropped(profile, entry, stage);
}

/* run_alloc, run_promote and run_resize call a callback that returns metadata. They return the
 * entry's next stage: STAGE_ZOMBIE if it is no longer tracked. */
static inline enum entry_stage run_alloc(struct memprof_thread *thread, struct memprof_entry *entry,
                                         struct profile *profile, enum profile_status status) {
  if (status >= PROFILE_STOPPED) return callbacks_dropped(profile, entry, STAGE_ALLOC);
  const wn_tracker *tracker = &profile->tracker;
  void *(*alloc)(wn_domain *, const wn_allocation *, void *) =
      entry->minor ? tracker->alloc_minor : tracker->alloc_major;
  if (!alloc) return callbacks_dropped(profile, entry, STAGE_ALLOC);
  wn_allocation allocation = description(entry, lend_callstack(thread, entry));
  entry->metadata = alloc(thread->domain, &allocation, tracker->context);
  take_callstack_back(thread);
  return entry->minor ? STAGE_MINOR : STAGE_MAJOR;
}

static enum entry_stage run_promote(struct memprof_thread *thread, struct memprof_entry *entry,
                                    struct profile *profile) {
  const wn_tracker *tracker = &profile->tracker;
  count_one(&profile->stripes[thread->stripe].tally.promotes);
  if (!tracker->promote) return forgotten(entry, profile, STAGE_MAJOR);
  entry->metadata = tracker->promote(thread->domain, entry->metadata, tracker->context);
  return STAGE_MAJOR;
}

static enum entry_stage run_resize(struct memprof_thread *thread, struct memprof_entry *entry,
                                   struct profile *profile) {
  const wn_tracker *tracker = &profile->tracker;
  enum entry_stage stage = entry_stage(entry_word(entry));
  if (!tracker->resize) return stage;
  wn_allocation allocation = description(entry, lend_callstack(thread, entry));
  entry->metadata = tracker->resize(thread->domain, entry->metadata, &allocation, tracker->context);
  take_callstack_back(thread);
  return stage;
}

static inline void run_dealloc(struct memprof_thread *thread, struct memprof_entry *entry,
                               struct profile *profile, bool minor) {
  const wn_tracker *tracker = &profile->tracker;
  void (*dealloc)(wn_domain *, void *, void *) = minor ? tracker->dealloc_minor : tracker->dealloc_major;
  struct tally *tally = &profile->stripes[thread->stripe].tally;
  count_one(minor ? &tally->dealloc_minor : &tally->dealloc_major);
  if (dealloc)
    dealloc(thread->domain, entry->metadata, tracker->context);
  else
    drop_callbacks(profile, entry->metadata);
}

/* Runs one step. Returns the entry's next stage. */
static inline enum entry_stage run_step(struct memprof_thread *thread, struct memprof_entry *entry,
                                        struct profile *profile, enum entry_step step) {
  enum profile_status status = profile_word_status(profile_word(profile));
  enum entry_stage next;
  if (__builtin_expect(status >= PROFILE_DISCARDED, 0))
    return forgotten(entry, profile, entry_stage(entry_word(entry)));
  if (step >= STEP_DEALLOC_MINOR) {
    run_dealloc(thread, entry, profile, step == STEP_DEALLOC_MINOR);
    return STAGE_ZOMBIE;
  }
  if (__builtin_expect(step == STEP_ALLOC, 1))
    next = run_alloc(thread, entry, profile, status);
  else
    next = step == STEP_PROMOTE ? run_promote(thread, entry, profile) : run_resize(thread, entry, profile);
  return next == STAGE_ZOMBIE || callbacks_is_kept(thread, entry->metadata) ? next
                                                                            : forgotten(entry, profile, next);
}

/* While the last callback slept, another thread raised an exception: the next step waits until the
 * program takes that exception. Returns the entry's state. */
static __attribute__((noinline)) uint64_t postpone(struct memprof_thread *thread, struct memprof_entry *entry,
                                                   enum entry_step step) {
  uint64_t word = entry_postpone(entry, step);
  pending_push(thread, entry);
  return word;
}

/* The claimant ran a step that leads the entry to `stage`. Runs the entry's other pending steps, in
 * order. */
static inline void run_on(struct memprof_thread *thread, struct memprof_entry *entry, struct profile *profile,
                          enum entry_stage stage) {
  enum entry_step step;
  uint64_t word;
  while (stage != STAGE_ZOMBIE && (step = callbacks_settle(entry, stage, &word)) != STEP_NONE) {
    if (*thread->exception) {
      word = postpone(thread, entry, step);
      break;
    }
    thread->running_step = step;
    stage = run_step(thread, entry, profile, step);
  }
  thread->running = NULL;
  if (stage == STAGE_ZOMBIE)
    callbacks_bury(entry, profile, &profile->stripes[thread->stripe]);
  else if (__builtin_expect(profile_reached(profile, PROFILE_DISCARDED), 0))
    callbacks_forget(entry, word);
}

/* Runs all pending steps of an entry that was taken out of its queue. */
static inline void callbacks_run(struct memprof_thread *thread, struct memprof_entry *entry) {
  enum entry_step step = callbacks_claim(thread->owner->engine, entry);
  if (step == STEP_NONE) return;
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  thread->running = entry;
  thread->running_step = step;
  run_on(thread, entry, profile, run_step(thread, entry, profile, step));
}

/* ---- rows of young.h ---- */

/* Counts a birth as dropped. The caller has the guard. If a discard has forgotten the row (`is_row`
 * is false), the table may be another profile's, so the count goes to the profile itself. */
static void callbacks_count_end(struct young_table *table, const struct memprof_thread *thread,
                                struct profile *profile, bool is_row) {
  if (is_row)
    table->fresh.dropped++;
  else
    count_one(&profile->stripes[thread->stripe].tally.dropped_minor);
}

/* Called when a birth's callback has returned. Meanwhile the row has stayed this thread's, or has
 * become an entry, or a discard has forgotten it. */
static void end_birth(struct memprof_thread *thread, struct young_table *table, struct profile *profile,
                      struct young_row *row, void *metadata) {
  struct memprof_entry *entry = thread->running;
  if (__builtin_expect(entry != NULL, 0)) {
    entry->metadata = metadata;
    run_on(thread, entry, profile,
           callbacks_is_kept(thread, metadata) ? STAGE_MINOR : forgotten(entry, profile, STAGE_MINOR));
    young_lock(table);
    return;
  }
  bool keeps = callbacks_is_kept(thread, metadata);
  young_lock(table);
  bool is_its_own = table->running == row && table->thread == thread;
  if (is_its_own) table->running = NULL;
  if (__builtin_expect(is_its_own && keeps, 1)) {
    row->metadata = metadata;
    row->state = YOUNG_KEPT;
    return;
  }
  if (is_its_own) row->state = YOUNG_GONE;
  callbacks_count_end(table, thread, profile, is_its_own);
  young_unlock(table);
  thread->running_step = STEP_NONE; /* so that the birth is not counted again if the thread ends in `drop` */
  drop_callbacks(profile, metadata);
  young_lock(table);
}

/* The caller of run_births and run_deaths has the guard before and after, and is a user of the
 * table all the time: so the rows are of this profile, and a discard leaves none pending. */
static inline void run_births(struct memprof_thread *thread, struct young_table *table,
                              struct profile *profile) {
  while (young_has_births(table) && !*thread->exception) {
    uint32_t number = table->pending++;
    struct young_row *row = &table->rows[number];
    if (row->state != YOUNG_PENDING) continue;
    void *(*alloc)(wn_domain *, const wn_allocation *, void *) = profile->tracker.alloc_minor;
    if (!alloc || profile_reached(profile, PROFILE_STOPPED)) {
      engine_release(profile->engine, table->births[number].callstack);
      row->state = YOUNG_GONE;
      table->fresh.dropped++;
      continue;
    }
    row->state = YOUNG_RUNNING;
    table->running = row;
    thread->running_step = STEP_ALLOC;
    thread->callstack = table->births[number].callstack;
    young_unlock(table);
    void *metadata = alloc(thread->domain, &table->births[number], profile->tracker.context);
    take_callstack_back(thread);
    end_birth(thread, table, profile, row, metadata);
  }
}

/* The metadata of LOST rows is dropped instead. */
static inline void run_deaths(struct memprof_thread *thread, struct young_table *table,
                              struct profile *profile) {
  while (young_has_deaths(table) && !pending_is_any(thread) && !*thread->exception) {
    struct young_row *row = &table->rows[table->told++];
    enum young_state state = row->state;
    void *metadata = row->metadata;
    if (state == YOUNG_GONE) continue;
    bool is_told = state == YOUNG_DEAD;
    row->state = YOUNG_GONE;
    table->fresh.died += is_told;
    table->fresh.dropped += !is_told;
    thread->running_step = STEP_DEALLOC_MINOR;
    young_unlock(table);
    void (*dealloc)(wn_domain *, void *, void *) = profile->tracker.dealloc_minor;
    if (is_told && dealloc)
      dealloc(thread->domain, metadata, profile->tracker.context);
    else
      drop_callbacks(profile, metadata);
    young_lock(table);
  }
}

/* Runs the pending callbacks of rows. False if none was pending. */
static __attribute__((noinline)) bool run_rows(struct memprof_thread *thread, struct young_table *table) {
  young_lock(table);
  bool any = young_has_births(table) || young_has_deaths(table), is_last = false;
  uint64_t handle = table->handle;
  if (any) {
    table->users++;
    thread->rows_of = handle;
    run_births(thread, table, profile_of(handle));
    run_deaths(thread, table, profile_of(handle));
    thread->rows_of = 0;
    is_last = young_end(table, handle);
  }
  young_unlock(table);
  if (__builtin_expect(is_last, 0))
    profile_let_go(profile_of(handle), &profile_of(handle)->stripes[thread->stripe]);
  return any;
}

/* Runs the pending callbacks of entries, of the thread's queue or of its owner's. False if there
 * were none. */
static __attribute__((noinline)) bool run_entries(struct memprof_thread *thread, bool own) {
  struct memprof_entry *entry;
  bool any = false;
  while (!*thread->exception && (entry = own ? pending_take(thread) : owner_take(thread->owner))) {
    callbacks_run(thread, entry);
    any = true;
  }
  return any;
}

/* Runs until no callback is pending, or an exception waits. The order: the thread's entries, its
 * rows, the owner's entries. If a thread has both entries and rows, the rows are younger. If the
 * callback of a birth collects or sleeps, the rows behind it become entries of the thread, and so
 * come before the owner's entries. */
static inline void callbacks_run_all(struct memprof_thread *thread) {
  struct memprof_owner *owner = thread->owner;
  bool any;
  do {
    any = pending_is_any(thread) && run_entries(thread, true);
    if (owner->table && run_rows(thread, owner->table) && pending_is_any(thread))
      any = true;
    else if (owner_has_pending(owner))
      any |= run_entries(thread, false);
  } while (any && !*thread->exception);
}

/* ---- shared ---- */

/* LAST LOOK. A signal handler may come after this function last looked at the queue, while the
 * thread is still suspended. Then the handler leaves the callbacks that it made pending in the
 * queue. So this function looks at the queue once more after it has resumed the thread; from then
 * on handlers run their callbacks themselves. */
bool memprof_drain(struct memprof_thread *thread) {
  if (memprof_suspended(thread)) return true;
  do {
    memprof_suspend(thread);
    owner_clean(thread->owner);
    callbacks_run_all(thread);
    memprof_resume(thread);
  } while (__builtin_expect(pending_is_left(thread), 0) && !*thread->exception);
  return !*thread->exception;
}

bool callbacks_end(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  uint64_t word = entry_word(entry);
  if (entry_stage(word) != STAGE_MAJOR || word & (ENTRY_RUNNING | ENTRY_QUEUED) || !profile->immediate)
    return false;
  uint64_t to = (word | ENTRY_DEAD | ENTRY_RUNNING) & ~(uint64_t)ENTRY_LINKED;
  if (!atomic_compare_exchange_strong_explicit(&entry->word, &word, to, memory_order_seq_cst,
                                               memory_order_relaxed))
    return false;
  if (profile_reached(profile, PROFILE_DISCARDED))
    forgotten(entry, profile, STAGE_MAJOR);
  else
    run_dealloc(thread, entry, profile, false);
  callbacks_bury(entry, profile, &profile->stripes[thread->stripe]);
  return true;
}

bool callbacks_resize(struct memprof_thread *thread, struct memprof_entry *entry,
                      const wn_callstack *callstack) {
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  uint64_t word = entry_word(entry);
  if (entry_stage(word) != STAGE_MAJOR || word & ENTRY_QUEUED || !entry_seize(entry, word)) return false;
  enum entry_stage next = STAGE_MAJOR;
  if (profile_reached(profile, PROFILE_DISCARDED)) {
    next = forgotten(entry, profile, STAGE_MAJOR);
  } else if (profile->tracker.resize) {
    wn_allocation allocation = description(entry, callstack);
    entry->metadata =
        profile->tracker.resize(thread->domain, entry->metadata, &allocation, profile->tracker.context);
    if (!entry->metadata) next = forgotten(entry, profile, STAGE_MAJOR);
  }
  if (next == STAGE_ZOMBIE) {
    callbacks_bury(entry, profile, &profile->stripes[thread->stripe]);
    return true;
  }
  enum entry_step step = callbacks_settle(entry, STAGE_MAJOR, &word);
  if (step != STEP_NONE) { /* the program frees the block while it resizes it */
    entry_postpone(entry, step);
    pending_push(thread, entry);
  } else if (profile_reached(profile, PROFILE_DISCARDED)) {
    callbacks_forget(entry, word);
  }
  return true;
}

void callbacks_promote(struct memprof_entry *entry, wn_domain *domain) {
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  const wn_tracker *tracker = &profile->tracker;
  struct profile_stripe *stripe = &profile->stripes[stripe_of_thread()];
  uint64_t word;
  count_one(&stripe->tally.promotes);
  if (tracker->promote)
    entry->metadata = tracker->promote(domain, entry->metadata, tracker->context);
  else
    drop_callbacks(profile, entry->metadata), entry->metadata = NULL;
  if (!entry->metadata) {
    callbacks_dropped(profile, entry, STAGE_MAJOR);
    callbacks_bury(entry, profile, stripe);
    return;
  }
  enum entry_step step = callbacks_settle(entry, STAGE_MAJOR, &word);
  ASSERT(step == STEP_NONE);
  (void)step;
  if (profile_reached(profile, PROFILE_DISCARDED)) callbacks_forget(entry, word);
}

void callbacks_drop(struct memprof_thread *thread, struct memprof_entry *entry) {
  if (callbacks_claim(thread->owner->engine, entry) == STEP_NONE) return;
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  forgotten(entry, profile, entry_stage(entry_word(entry)));
  callbacks_bury(entry, profile, &profile->stripes[thread->stripe]);
}

static void abandon_entry(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  switch ((enum entry_step)thread->running_step) {
  case STEP_ALLOC: profile_count_dropped(profile, entry, STAGE_ALLOC); break;
  case STEP_PROMOTE: profile_count_dropped(profile, entry, STAGE_MAJOR); break;
  case STEP_RESIZE: profile_count_dropped(profile, entry, entry_stage(entry_word(entry))); break;
  default: break; /* a dealloc was counted when it began */
  }
  thread->running = NULL;
  callbacks_bury(entry, profile, &profile->stripes[thread->stripe]);
}

/* Gives up the row whose callback the ending thread ran: a birth's row, unless it has become an
 * entry. The callback of a death has no row any more. */
static void abandon_row(struct memprof_thread *thread) {
  struct young_table *table = thread->owner->table;
  uint64_t handle = thread->rows_of;
  struct profile_stripe *stripe = &profile_of(handle)->stripes[thread->stripe];
  bool in_birth = thread->running_step == STEP_ALLOC && !thread->running;
  thread->rows_of = 0;
  young_lock(table);
  bool is_its_own = table->running && table->thread == thread;
  if (in_birth) callbacks_count_end(table, thread, profile_of(handle), is_its_own);
  if (in_birth && is_its_own) {
    table->running->state = YOUNG_GONE;
    table->running = NULL;
  }
  bool is_last = young_end(table, handle);
  young_unlock(table);
  if (is_last) profile_let_go(profile_of(handle), stripe);
}

void callbacks_abandon(struct memprof_thread *thread) {
  take_callstack_back(thread);
  if (thread->rows_of) abandon_row(thread);
  if (thread->running) abandon_entry(thread, thread->running);
}

bool callbacks_forget(struct memprof_entry *entry, uint64_t word) {
  if (!entry_seize(entry, word)) return false;
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  forgotten(entry, profile, entry_stage(word));
  callbacks_bury(entry, profile, &profile->stripes[stripe_of_thread()]);
  return true;
}

/* Retries when it cannot seize the entry: the state may just have changed. It ends when another
 * thread has claimed the entry, since that thread then sees the discard, or when the entry is no
 * longer the profile's. */
static void forget_entry(struct profile *profile, struct memprof_entry *entry) {
  for (;;) {
    uint64_t word = atomic_load_explicit(&entry->word, memory_order_seq_cst);
    enum entry_stage stage = entry_stage(word);
    if (stage == STAGE_FREE || stage == STAGE_ZOMBIE || word & ENTRY_RUNNING) return;
    if (atomic_load_explicit(&entry->profile, memory_order_relaxed) != profile) return;
    if (callbacks_forget(entry, word)) return;
  }
}

void callbacks_forget_rows(struct young_table *table, uint64_t handle) {
  enum { ROOM = 32 };
  struct profile *profile = profile_of(handle);
  void *metadata[ROOM];
  size_t found;
  do {
    found = young_forget(table, handle, metadata, ROOM);
    for (size_t i = 0; i < found; i++) drop_callbacks(profile, metadata[i]);
  } while (found == ROOM);
}

/* The tables come first: if a row becomes an entry before this thread looks at its table, the
 * thread finds the entry afterwards. */
void callbacks_forget_profile(struct profile *profile) {
  struct memprof *engine = profile->engine;
  uint64_t handle = profile_handle(profile);
  for (struct young_table *table = young_first(engine); table; table = table->next)
    callbacks_forget_rows(table, handle);
  uint32_t count = slots_numbered(&engine->entries);
  for (uint32_t number = 0; number < count; number++)
    forget_entry(profile, slots_at(&engine->entries, number));
}
/* SPDX-License-Identifier: MIT */
