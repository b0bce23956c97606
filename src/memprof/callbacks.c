/* Running what is due: the only file that claims entries and calls a tracker.
 *
 * A claimant holds the entry, and through it (invariant P of entry.h) its profile. It calls one callback for each step,
 * and leaves the entry in the stage that follows. Metadata is owned by exactly one side: it is handed to a callback, or
 * kept in the entry, or dropped.
 *
 * Discard and a claimant may meet. Discard marks the profile, then seizes every entry that nobody has claimed; the
 * claimant settles its entry, then looks at the mark. Both orders are sequentially consistent, so one of them, at
 * least, sees the other, and the exchange of the entry's word lets only one of them forget the entry. */
#include "memprof/callbacks.h"

#include "base/check.h"
#include "memprof/due.h"
#include "memprof/engine.h"

/* ---- claims ---- */

/* Takes an entry that the caller removed from its queue. Returns its due step, and the caller is the claimant; or
 * STEP_NONE, and it is not the caller's. */
static inline enum entry_step claim(struct memprof *engine, struct memprof_entry *entry) {
  uint64_t from = entry_word(entry), to;
  enum entry_step step;
  do {
    ASSERT(from & ENTRY_QUEUED);
    to = from & ~(uint64_t)ENTRY_QUEUED;
    step = from & ENTRY_RUNNING ? STEP_NONE : entry_step(to); /* seized: that claimant makes it a zombie */
    if (step != STEP_PROMOTE) to &= ~(uint64_t)ENTRY_RESIZED; /* told by this step, or never */
    to = step != STEP_NONE ? to | ENTRY_RUNNING : entry_concluded(to);
  } while (!entry_swap(entry, &from, to));
  if (step == STEP_NONE) entry_free_if_over(engine, entry, to);
  return step;
}

/* The claimant leaves the entry in a stage. Returns the next due step, and it is still the claimant; or STEP_NONE, and
 * the entry is no longer its own. `*word` is the state it left. */
static inline enum entry_step settle(struct memprof *engine, struct memprof_entry *entry,
                                     enum entry_stage stage, uint64_t *word) {
  uint64_t from = entry_word(entry), to;
  enum entry_step step;
  do {
    ASSERT(from & ENTRY_RUNNING);
    to = (from & ~(uint64_t)(ENTRY_STAGE | ENTRY_RUNNING)) | stage;
    step = entry_step(to);
    if (step == STEP_RESIZE) to &= ~(uint64_t)ENTRY_RESIZED;
    to = step != STEP_NONE ? to | ENTRY_RUNNING : entry_concluded(to);
  } while (!entry_swap(entry, &from, to));
  if (step == STEP_NONE) entry_free_if_over(engine, entry, to);
  *word = to;
  return step;
}

/* ---- the steps ---- */

static void drop(struct profile *profile, void *metadata) {
  if (metadata && profile->tracker.drop) profile->tracker.drop(metadata, profile->tracker.context);
}

static enum entry_stage dropped(struct profile *profile, struct memprof_entry *entry,
                                enum entry_stage stage) {
  profile_count_dropped(profile, entry, stage);
  return STAGE_ZOMBIE;
}

static inline wn_allocation description(const struct memprof_entry *entry) {
  return (wn_allocation){
      .n_samples = atomic_load_explicit(&entry->n_samples, memory_order_relaxed),
      .size = atomic_load_explicit(&entry->size, memory_order_relaxed),
      .source = (wn_alloc_source)entry->source,
      .callstack = atomic_load_explicit(&entry->callstack, memory_order_relaxed),
      .bytes = atomic_load_explicit(&entry->bytes, memory_order_relaxed),
      .trials = atomic_load_explicit(&entry->trials, memory_order_relaxed),
      .previous_bytes = atomic_load_explicit(&entry->previous_bytes, memory_order_relaxed),
  };
}

static __attribute__((noinline)) bool has_raised(const struct memprof_thread *thread) {
  const struct memprof_ops *ops = thread->owner->engine->ops;
  return !ops->raised || ops->raised(thread);
}

/* What a callback returned stays the entry's, unless there is none or the callback raised. */
static bool is_kept(const struct memprof_thread *thread, const struct memprof_entry *entry) {
  return entry->metadata && (!*thread->exception || !has_raised(thread));
}

/* The entry is tracked no more, from a stage in which it may have metadata. */
static enum entry_stage forgotten(struct memprof_entry *entry, struct profile *profile,
                                  enum entry_stage stage) {
  if (stage != STAGE_ALLOC) drop(profile, entry->metadata);
  return dropped(profile, entry, stage);
}

/* These call a callback that returns metadata, and say where the entry goes with it; a zombie if there is no callback. */
static inline enum entry_stage run_alloc(struct memprof_thread *thread, struct memprof_entry *entry,
                                         struct profile *profile, enum profile_status status) {
  if (status >= PROFILE_STOPPED) return dropped(profile, entry, STAGE_ALLOC);
  const wn_tracker *tracker = &profile->tracker;
  void *(*alloc)(wn_domain *, const wn_allocation *, void *) =
      entry->minor ? tracker->alloc_minor : tracker->alloc_major;
  if (!alloc) return dropped(profile, entry, STAGE_ALLOC);
  wn_allocation allocation = description(entry);
  entry->metadata = alloc(thread->domain, &allocation, tracker->context);
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
  if (!tracker->resize) return STAGE_MAJOR;
  wn_allocation allocation = description(entry);
  entry->metadata = tracker->resize(thread->domain, entry->metadata, &allocation, tracker->context);
  return STAGE_MAJOR;
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
    drop(profile, entry->metadata);
}

static inline enum entry_stage run_step(struct memprof_thread *thread, struct memprof_entry *entry,
                                        struct profile *profile, enum entry_step step) {
  enum profile_status status = profile_word_status(profile_word(profile));
  if (status >= PROFILE_DISCARDED) return forgotten(entry, profile, entry_stage(entry_word(entry)));
  enum entry_stage next = STAGE_ZOMBIE;
  switch (step) {
  case STEP_ALLOC: next = run_alloc(thread, entry, profile, status); break;
  case STEP_PROMOTE: next = run_promote(thread, entry, profile); break;
  case STEP_RESIZE: next = run_resize(thread, entry, profile); break;
  case STEP_DEALLOC_MINOR: run_dealloc(thread, entry, profile, true); break;
  case STEP_DEALLOC_MAJOR: run_dealloc(thread, entry, profile, false); break;
  case STEP_NONE: break;
  }
  return next == STAGE_ZOMBIE || is_kept(thread, entry) ? next : forgotten(entry, profile, next);
}

/* An entry that is tracked no more, though its block lives, is still among its owner's. */
static void note_zombie(struct memprof_owner *owner, uint64_t word) {
  if (word & ENTRY_LINKED && !owner->engine->ops->parallel) owner->old_changed = true;
}

/* While the last callback slept another thread raised: the next step waits until that exception is taken. Returns the entry's
 * state. */
static __attribute__((noinline)) uint64_t postpone(struct memprof_thread *thread, struct memprof_entry *entry,
                                                   enum entry_step step) {
  uint64_t word = entry_postpone(entry, step);
  due_push(thread, entry);
  return word;
}

/* Runs everything that is due for an entry that was taken out of its queue, in order. */
static inline void run(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct memprof *engine = thread->owner->engine;
  enum entry_step step = claim(engine, entry);
  if (step == STEP_NONE) return;
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  enum entry_stage stage = STAGE_ZOMBIE;
  uint64_t word = 0;
  thread->running = entry;
  while (step != STEP_NONE) {
    thread->running_step = step;
    stage = run_step(thread, entry, profile, step);
    step = settle(engine, entry, stage, &word);
    if (__builtin_expect(step != STEP_NONE && *thread->exception, 0)) {
      word = postpone(thread, entry, step);
      break;
    }
  }
  thread->running = NULL;
  if (stage == STAGE_ZOMBIE) {
    note_zombie(thread->owner, word);
    profile_let_go(profile, &profile->stripes[thread->stripe]);
  } else if (profile_reached(profile, PROFILE_DISCARDED) && callbacks_forget(engine, entry, word)) {
    note_zombie(thread->owner, word);
  }
}

/* Until none is left, or an exception waits. */
static inline void run_all(struct memprof_thread *thread) {
  while (!*thread->exception) {
    struct memprof_entry *entry = due_take(thread);
    if (!entry) entry = owner_take(thread->owner);
    if (!entry) return;
    run(thread, entry);
  }
}

/* ---- shared ---- */

/* LAST LOOK. A signal handler that comes after the last look at the queue, and before the thread is no longer suspended, leaves
 * there what it made due: so the queue is looked at once more afterwards. From then on handlers run their callbacks themselves. */
bool memprof_drain(struct memprof_thread *thread) {
  if (memprof_suspended(thread)) return true;
  do {
    memprof_suspend(thread);
    owner_clean(thread->owner);
    run_all(thread);
    memprof_resume(thread);
  } while (__builtin_expect(due_is_left(thread), 0) && !*thread->exception);
  return !*thread->exception;
}

void callbacks_drop(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct memprof *engine = thread->owner->engine;
  if (claim(engine, entry) == STEP_NONE) return;
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  uint64_t word = entry_word(entry);
  forgotten(entry, profile, entry_stage(word));
  settle(engine, entry, STAGE_ZOMBIE, &word);
  note_zombie(thread->owner, word);
  profile_let_go(profile, &profile->stripes[thread->stripe]);
}

void callbacks_abandon(struct memprof_thread *thread) {
  struct memprof_entry *entry = thread->running;
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  uint64_t word;
  switch ((enum entry_step)thread->running_step) {
  case STEP_ALLOC: profile_count_dropped(profile, entry, STAGE_ALLOC); break;
  case STEP_PROMOTE:
  case STEP_RESIZE: profile_count_dropped(profile, entry, STAGE_MAJOR); break;
  default: break; /* a dealloc was counted when it began */
  }
  thread->running = NULL;
  settle(thread->owner->engine, entry, STAGE_ZOMBIE, &word);
  note_zombie(thread->owner, word);
  profile_let_go(profile, &profile->stripes[thread->stripe]);
}

bool callbacks_forget(struct memprof *engine, struct memprof_entry *entry, uint64_t word) {
  if (!entry_seize(entry, word)) return false;
  struct profile *profile = atomic_load_explicit(&entry->profile, memory_order_relaxed);
  forgotten(entry, profile, entry_stage(word));
  settle(engine, entry, STAGE_ZOMBIE, &word);
  profile_let_go(profile, &profile->stripes[stripe_of_thread()]);
  return true;
}

/* A failed seizure is tried again: the entry's block may just have moved on. It ends when the entry is another
 * thread's, which then sees the discard, or is no longer the profile's. */
static void forget_entry(struct profile *profile, struct memprof_entry *entry) {
  for (;;) {
    uint64_t word = atomic_load_explicit(&entry->word, memory_order_seq_cst);
    enum entry_stage stage = entry_stage(word);
    if (stage == STAGE_FREE || stage == STAGE_ZOMBIE || word & ENTRY_RUNNING) return;
    if (atomic_load_explicit(&entry->profile, memory_order_relaxed) != profile) return;
    if (callbacks_forget(profile->engine, entry, word)) return;
  }
}

void callbacks_forget_profile(struct profile *profile) {
  struct memprof *engine = profile->engine;
  uint32_t count = slots_numbered(&engine->entries);
  for (uint32_t number = 0; number < count; number++)
    forget_entry(profile, slots_at(&engine->entries, number));
}
/* SPDX-License-Identifier: MIT */
