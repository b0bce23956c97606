/* A thread: its stream of gaps, and its reports of blocks. Its queue is in pending.h, the loop that
 * runs the queue's callbacks in callbacks.c. */
#include "memprof/engine.h"
#include "memprof/pending.h"

#include "base/check.h"

static __attribute__((noinline)) bool seed_sampler(struct memprof_thread *thread, uint64_t handle) {
  struct profile *profile = profile_acquire(handle, PROFILE_SAMPLING);
  if (!profile) return false;
  uint64_t sequence = atomic_load_explicit(&profile->sequence, memory_order_acquire);
  thread->rate = atomic_load_explicit(&profile->rate, memory_order_relaxed);
  sampler_init(&thread->sampler, thread->rate, profile->options.seed, sequence, thread->sequence);
  thread->sampled = sequence;
  thread->sampled_of = handle;
  profile_release(profile);
  return true;
}

static inline bool sampler_is_for(const struct memprof_thread *thread, uint64_t handle) {
  return atomic_load_explicit(&profile_of(handle)->sequence, memory_order_relaxed) == thread->sampled;
}

/* Seeds the sampler if the owner's profile is not the one that it was seeded for. False if the
 * profile does not sample. */
static inline bool sampler_ready(struct memprof_thread *thread) {
  uint64_t handle = atomic_load_explicit(&thread->owner->profile, memory_order_acquire);
  if (!handle || !profile_is_sampling(handle)) return false;
  return sampler_is_for(thread, handle) || seed_sampler(thread, handle);
}

/* Empties the queue of a thread that ends. The owner's other threads can run its callbacks, except
 * alloc callbacks, which are dropped. */
static void thread_give_up(struct memprof_thread *thread) {
  struct memprof_owner *owner = thread->owner;
  for (struct memprof_entry *entry; (entry = pending_take(thread));) {
    bool own = owner->engine->ops->parallel || entry_stage(entry_word(entry)) == STAGE_ALLOC;
    if (own)
      callbacks_drop(thread, entry);
    else
      owner_add_pending(owner, entry);
  }
}

static const bool *exception_of(struct memprof_thread *thread) {
  static const bool never = false;
  const struct memprof_ops *ops = thread->owner->engine->ops;
  return ops->exception ? ops->exception(thread) : &never;
}

/* ---- hosts ---- */

void memprof_thread_attach(struct memprof_thread *thread, struct memprof_owner *owner, wn_domain *domain,
                           void *host) {
  thread->owner = owner;
  thread->domain = domain;
  thread->host = host;
  thread->stripe = stripe_of_thread();
  thread->exception = exception_of(thread);
  thread->sequence = atomic_fetch_add(&owner->engine->thread_sequence, 1);
}

void memprof_thread_stop(struct memprof_thread *thread) {
  callbacks_abandon(thread);
  atomic_store_explicit(&thread->suspended, 0, memory_order_relaxed);
}

void memprof_thread_leave(struct memprof_thread *thread) {
  memprof_suspend(thread);
  young_settle(thread->owner);
  thread_give_up(thread);
}

/* Until the host knows that the thread has left, a signal handler on it may free a block, and runs
 * that block's callback itself unless the thread is suspended. So in a parallel host this function
 * does not leave the thread suspended, unless there are callbacks to give up. */
void memprof_thread_detach(struct memprof_thread *thread) {
  memprof_thread_stop(thread);
  bool all_ran = memprof_drain(thread);
  if (all_ran && thread->owner->engine->ops->parallel) return;
  memprof_thread_leave(thread);
}

int64_t memprof_gap(struct memprof_thread *thread) {
  return sampler_ready(thread) ? sampler_gap(&thread->sampler) - 1 : SAMPLER_NEVER;
}

/* RATES: the sampler has the rate that the profile had before. */
static bool has_old_rate(const struct memprof_thread *thread, uint64_t handle) {
  return thread->sampled_of == handle && profile_is_sampling(handle) && !sampler_is_for(thread, handle);
}

/* RATES: decides the block at hand by the old rate, and begins a count by the new one. */
static size_t hits_at_old_rate(struct memprof_thread *thread, int64_t *left) {
  thread->trial_rate = thread->rate;
  size_t hits = sampler_hits(&thread->sampler, left);
  *left = memprof_gap(thread);
  return hits;
}

/* The words of a suspended thread are counted, and the samples among them ignored. */
static __attribute__((noinline)) size_t hits_at_all(struct memprof_thread *thread, int64_t *left) {
  uint64_t handle = atomic_load_explicit(&thread->owner->profile, memory_order_acquire);
  size_t hits = 0;
  if (handle && has_old_rate(thread, handle)) {
    hits = hits_at_old_rate(thread, left);
  } else if (sampler_ready(thread)) {
    thread->trial_rate = thread->rate;
    hits = sampler_hits(&thread->sampler, left);
  } else {
    *left = SAMPLER_NEVER;
  }
  return memprof_suspended(thread) ? 0 : hits;
}

/* The usual case, which needs only one gap of the batch, is separate, since it calls no
 * function. */
size_t memprof_hits(struct memprof_thread *thread, int64_t *left) {
  uint64_t handle = atomic_load_explicit(&thread->owner->profile, memory_order_acquire);
  bool is_seeded = handle && profile_is_sampling(handle) && sampler_is_for(thread, handle);
  if (__builtin_expect(is_seeded && sampler_hits_once(&thread->sampler, left), 1)) {
    thread->trial_rate = thread->rate;
    return !memprof_suspended(thread);
  }
  return hits_at_all(thread, left);
}

size_t memprof_hits_after_cut(struct memprof_thread *thread, int64_t *left) {
  uint64_t handle = atomic_load_explicit(&thread->owner->profile, memory_order_acquire);
  *left += handle && has_old_rate(thread, handle) ? sampler_gap(&thread->sampler) - 1 : memprof_gap(thread);
  return memprof_hits(thread, left);
}

double memprof_trial_rate(const struct memprof_thread *thread) { return thread->trial_rate; }
void memprof_counted(struct memprof_thread *thread) { thread->trial_rate = thread->rate; }

size_t memprof_hits_of(struct memprof_thread *thread, size_t words) {
  int64_t left = memprof_gap(thread);
  if (words > (size_t)INT64_MAX / 4) words = (size_t)INT64_MAX / 4; /* the gap must stay above -2^62 */
  left -= (int64_t)words;
  return left < 0 ? memprof_hits(thread, &left) : 0;
}

/* Puts an entry that was just posted into the queue where it belongs. */
static void enqueue(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct memprof_owner *owner = thread->owner;
  if (owner->engine->ops->parallel)
    pending_push(thread, entry);
  else
    owner_add_pending(owner, entry);
}

/* What a block that is freed clears: the owner's list of young blocks still has an entry. */
static uint64_t link_of(struct memprof *engine, struct memprof_entry *entry) {
  bool gives_up = engine->ops->parallel ||
                  (entry_is_tabled(entry, entry_word(entry)) && tracked_remove(&engine->tracked, entry));
  return gives_up ? ENTRY_LINKED : 0;
}

void memprof_freed(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct memprof *engine = thread->owner->engine;
  if (engine->ops->parallel && callbacks_end(thread, entry)) return;
  if (entry_post(engine, entry, ENTRY_DEAD, link_of(engine, entry))) enqueue(thread, entry);
}

/* An entry that stands in a table moves there. */
static void thread_move(struct memprof_owner *owner, struct memprof_entry *entry, uintptr_t address) {
  bool moves = !owner->engine->ops->parallel && entry_is_tabled(entry, entry_word(entry)) &&
               tracked_remove(&owner->engine->tracked, entry);
  memprof_moved(entry, address);
  if (moves) owner_track(owner, entry);
}

static void note_size(struct memprof_entry *entry, size_t bytes, size_t trials, size_t n_samples) {
  size_t previous = atomic_load_explicit(&entry->bytes, memory_order_relaxed);
  atomic_store_explicit(&entry->previous_bytes, previous, memory_order_relaxed);
  atomic_store_explicit(&entry->bytes, bytes, memory_order_relaxed);
  atomic_store_explicit(&entry->trials, trials, memory_order_relaxed);
  atomic_store_explicit(&entry->n_samples, n_samples, memory_order_relaxed);
}

static bool is_immediate(const struct memprof_entry *entry) {
  return atomic_load_explicit(&entry->profile, memory_order_relaxed)->immediate;
}

void memprof_resized(struct memprof_thread *thread, struct memprof_entry *entry, uintptr_t address,
                     size_t bytes, size_t trials, size_t n_samples) {
  struct memprof *engine = thread->owner->engine;
  thread_move(thread->owner, entry, address);
  if (entry_stage(entry_word(entry)) == STAGE_ZOMBIE) return; /* it has no callbacks */
  const wn_callstack *callstack = engine->ops->capture(thread, entry->depth);
  note_size(entry, bytes, trials, n_samples);
  if (engine->ops->parallel && is_immediate(entry) && callbacks_resize(thread, entry, callstack)) {
    engine_release(engine, callstack);
    return;
  }
  engine_release(engine, atomic_exchange(&entry->callstack, engine_keep(engine, callstack)));
  if (entry_post(engine, entry, ENTRY_RESIZED, 0)) enqueue(thread, entry);
}

bool memprof_is_due(const struct memprof_thread *thread) {
  return pending_is_any(thread) || thread->owner->pending.first || young_has_pending(thread->owner) ||
         (!thread->owner->engine->ops->parallel && atomic_load(&thread->owner->engine->has_orphans));
}
/* SPDX-License-Identifier: MIT */
