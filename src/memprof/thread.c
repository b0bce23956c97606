/* A thread: its stream of gaps, its queue of due callbacks, and the loop that runs them.
 *
 * The queue has two parts. `due` is a plain list, used by this thread only. Where a signal handler interrupts that use,
 * which it sees by `busy`, it adds to `arrived` instead, by an exchange; what is there comes after what is due. So the
 * common path has no locked instruction. Callbacks are taken by a suspended thread only, hence never by two loops. */
#include "memprof/engine.h"

#include "base/check.h"

static void thread_push_arrived(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct memprof_entry *first = atomic_load_explicit(&thread->arrived, memory_order_relaxed);
  do {
    entry->due_next = first;
  } while (!atomic_compare_exchange_weak_explicit(&thread->arrived, &first, entry, memory_order_release,
                                                  memory_order_relaxed));
}

/* True if this thread was not busy with its list, and is now. */
static bool busy_begin(struct memprof_thread *thread) {
  if (atomic_load_explicit(&thread->busy, memory_order_relaxed)) return false;
  atomic_store_explicit(&thread->busy, true, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}

static void busy_end(struct memprof_thread *thread) {
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&thread->busy, false, memory_order_relaxed);
}

static void thread_push(struct memprof_thread *thread, struct memprof_entry *entry) {
  if (!busy_begin(thread)) {
    thread_push_arrived(thread, entry);
    return;
  }
  entry_due_append(&thread->due, entry);
  busy_end(thread);
}

/* Moves what arrived to the list, oldest first. The thread is busy. */
static void take_arrived(struct memprof_thread *thread) {
  struct memprof_entry *newest = atomic_exchange_explicit(&thread->arrived, NULL, memory_order_acquire);
  struct memprof_entry *oldest = NULL;
  while (newest) {
    struct memprof_entry *next = newest->due_next;
    newest->due_next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest) {
    struct memprof_entry *next = oldest->due_next;
    entry_due_append(&thread->due, oldest);
    oldest = next;
  }
}

static bool thread_is_due(const struct memprof_thread *thread) {
  return thread->due.first || atomic_load_explicit(&thread->arrived, memory_order_relaxed);
}

static struct memprof_entry *thread_take(struct memprof_thread *thread) {
  if (!thread_is_due(thread)) return NULL;
  if (!busy_begin(thread)) return NULL; /* a signal handler interrupted the list: its callbacks run later */
  if (atomic_load_explicit(&thread->arrived, memory_order_relaxed)) take_arrived(thread);
  struct memprof_entry *entry = entry_due_pop(&thread->due);
  busy_end(thread);
  return entry;
}

static bool exception_pending(struct memprof_thread *thread) {
  const struct memprof_ops *ops = thread->owner->engine->ops;
  return ops->exception_pending && ops->exception_pending(thread);
}

static __attribute__((noinline)) bool seed_sampler(struct memprof_thread *thread, uint64_t handle) {
  struct profile *profile = profile_acquire(handle, PROFILE_SAMPLING);
  if (!profile) return false;
  uint64_t sequence = atomic_load_explicit(&profile->sequence, memory_order_relaxed);
  sampler_init(&thread->sampler, profile->options.sampling_rate, profile->options.seed, sequence,
               thread->sequence);
  thread->sampled = sequence;
  profile_release(profile);
  return true;
}

/* Seeds the sampler if the owner's profile is another one than last time. False if it does not sample. */
static inline bool sampler_ready(struct memprof_thread *thread) {
  uint64_t handle = atomic_load_explicit(&thread->owner->profile, memory_order_acquire);
  if (profile_status(handle) != PROFILE_SAMPLING) return false;
  return atomic_load_explicit(&profile_of(handle)->sequence, memory_order_relaxed) == thread->sampled ||
         seed_sampler(thread, handle);
}

/* What a thread that ends cannot run: the owner's other threads can run all but its alloc callbacks. */
static void thread_give_up(struct memprof_thread *thread) {
  struct memprof_owner *owner = thread->owner;
  for (struct memprof_entry *entry; (entry = thread_take(thread));) {
    bool own = owner->engine->ops->parallel || entry_stage(entry_word(entry)) == STAGE_ALLOC;
    if (own)
      callbacks_drop(thread, entry);
    else
      owner_due(owner, entry);
  }
}

/* ---- hosts ---- */

void memprof_thread_attach(struct memprof_thread *thread, struct memprof_owner *owner, wn_domain *domain,
                           void *host) {
  thread->owner = owner;
  thread->domain = domain;
  thread->host = host;
  thread->sequence = atomic_fetch_add(&owner->engine->thread_sequence, 1);
}

void memprof_thread_stop(struct memprof_thread *thread) {
  if (thread->running) callbacks_abandon(thread);
  atomic_store_explicit(&thread->suspended, 0, memory_order_relaxed);
}

void memprof_thread_leave(struct memprof_thread *thread) {
  memprof_suspend(thread);
  thread_give_up(thread);
}

void memprof_thread_detach(struct memprof_thread *thread) {
  memprof_thread_stop(thread);
  memprof_drain(thread);
  memprof_thread_leave(thread);
}

void memprof_suspend(struct memprof_thread *thread) {
  unsigned depth = atomic_load_explicit(&thread->suspended, memory_order_relaxed);
  atomic_store_explicit(&thread->suspended, depth + 1, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
}

void memprof_resume(struct memprof_thread *thread) {
  atomic_signal_fence(memory_order_seq_cst);
  unsigned depth = atomic_load_explicit(&thread->suspended, memory_order_relaxed);
  ASSERT(depth > 0);
  atomic_store_explicit(&thread->suspended, depth - 1, memory_order_relaxed);
}

bool memprof_suspended(const struct memprof_thread *thread) {
  return atomic_load_explicit(&thread->suspended, memory_order_relaxed) != 0;
}

int64_t memprof_gap(struct memprof_thread *thread) {
  return sampler_ready(thread) ? sampler_gap(&thread->sampler) - 1 : SAMPLER_NEVER;
}

size_t memprof_hits(struct memprof_thread *thread, int64_t *left) {
  if (!sampler_ready(thread)) {
    *left = SAMPLER_NEVER;
    return 0;
  }
  size_t hits = sampler_hits(&thread->sampler, left);
  return memprof_suspended(thread)
             ? 0
             : hits; /* a suspended thread's words stand trial, and the result is ignored */
}

size_t memprof_hits_of(struct memprof_thread *thread, size_t words) {
  int64_t left = memprof_gap(thread);
  if (words > (size_t)INT64_MAX / 4) words = (size_t)INT64_MAX / 4; /* the gap must stay above -2^62 */
  left -= (int64_t)words;
  return left < 0 ? memprof_hits(thread, &left) : 0;
}

struct memprof_entry *memprof_allocated(struct memprof_thread *thread, const struct memprof_birth *birth) {
  struct memprof_owner *owner = thread->owner;
  struct memprof_entry *entry = entry_birth(owner, thread, birth);
  if (!entry) return NULL;
  if (!owner->engine->ops->parallel) owner_track(owner, entry, !birth->minor);
  thread_push(thread, entry);
  return entry;
}

/* Puts an entry that was just posted into the queue where it belongs. */
static void enqueue(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct memprof_owner *owner = thread->owner;
  if (owner->engine->ops->parallel)
    thread_push(thread, entry);
  else
    owner_due(owner, entry);
}

static uint64_t link_of(const struct memprof_thread *thread) {
  return thread->owner->engine->ops->parallel ? ENTRY_LINKED : 0; /* else the owner's list still has it */
}

void memprof_freed(struct memprof_thread *thread, struct memprof_entry *entry) {
  if (!thread->owner->engine->ops->parallel) thread->owner->old_changed = true;
  if (entry_post(thread->owner->engine, entry, ENTRY_DEAD, link_of(thread))) enqueue(thread, entry);
}

void memprof_cancelled(struct memprof_thread *thread, struct memprof_entry *entry) {
  uint64_t word = entry_word(entry);
  if (entry_stage(word) == STAGE_ALLOC) callbacks_forget(thread->owner->engine, entry, word);
  memprof_freed(thread, entry);
}

void memprof_promoted(struct memprof_thread *thread, struct memprof_entry *entry, uintptr_t address) {
  memprof_moved(entry, address);
  if (entry_post(thread->owner->engine, entry, ENTRY_OLD, 0)) enqueue(thread, entry);
}

/* A zombie's changes are seen by no callback. */
static void note_size(struct memprof_thread *thread, struct memprof_entry *entry, size_t size, size_t bytes,
                      size_t trials, size_t n_samples) {
  if (entry_stage(entry_word(entry)) == STAGE_ZOMBIE) return;
  const wn_callstack *callstack = thread->owner->engine->ops->capture(thread, entry->depth);
  size_t previous = atomic_load_explicit(&entry->bytes, memory_order_relaxed);
  atomic_store_explicit(&entry->callstack, callstack, memory_order_relaxed);
  atomic_store_explicit(&entry->previous_bytes, previous, memory_order_relaxed);
  atomic_store_explicit(&entry->size, size, memory_order_relaxed);
  atomic_store_explicit(&entry->bytes, bytes, memory_order_relaxed);
  atomic_store_explicit(&entry->trials, trials, memory_order_relaxed);
  atomic_store_explicit(&entry->n_samples, n_samples, memory_order_relaxed);
}

void memprof_resized(struct memprof_thread *thread, struct memprof_entry *entry, uintptr_t address,
                     size_t size, size_t bytes, size_t trials, size_t n_samples) {
  if (!thread->owner->engine->ops->parallel) thread->owner->old_changed = true;
  memprof_moved(entry, address);
  note_size(thread, entry, size, bytes, trials, n_samples);
  if (entry_post(thread->owner->engine, entry, ENTRY_RESIZED, 0)) enqueue(thread, entry);
}

bool memprof_drain(struct memprof_thread *thread) {
  if (memprof_suspended(thread)) return true;
  memprof_suspend(thread);
  owner_clean(thread->owner);
  bool pending;
  for (;;) {
    pending = exception_pending(thread);
    if (pending) break;
    struct memprof_entry *entry = thread_take(thread);
    if (!entry) entry = owner_take(thread->owner);
    if (!entry) break;
    callbacks_run(thread, entry);
  }
  memprof_resume(thread);
  return !pending;
}

bool memprof_is_due(const struct memprof_thread *thread) {
  return thread_is_due(thread) || thread->owner->due.first ||
         (!thread->owner->engine->ops->parallel && atomic_load(&thread->owner->engine->has_orphans));
}
/* SPDX-License-Identifier: MIT */
