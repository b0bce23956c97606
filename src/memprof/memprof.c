/* The engine: births, and profiles that start, stop and are discarded; the public functions. */
#include "memprof/engine.h"
#include "memprof/pending.h"

#include "base/check.h"
#include "base/error.h"
#include "base/metadata.h"

enum { MOST_PROFILES = 1 << 20 };

static uint64_t sampling_handle(const struct memprof_owner *owner) {
  uint64_t handle = atomic_load_explicit(&owner->profile, memory_order_acquire);
  return handle && profile_is_sampling(handle) ? handle : 0;
}

static wn_status check_options(const wn_memprof_options *options, const wn_tracker *tracker,
                               wn_profile **profile) {
  if (!options) return error_set(WN_EINVAL, "memprof start: the options are NULL");
  if (!tracker) return error_set(WN_EINVAL, "memprof start: the tracker is NULL");
  if (!profile) return error_set(WN_EINVAL, "memprof start: there is no place for the profile");
  double rate = options->sampling_rate;
  if (rate != rate) return error_set(WN_EINVAL, "memprof start: the sampling rate is not a number");
  if (!(rate >= 0 && rate <= 1))
    return error_set(WN_EINVAL, "memprof start: the sampling rate is not from 0 to 1");
  return WN_OK;
}

static wn_status already_sampling(void) { return error_set(WN_ESTATE, "already sampling"); }
static wn_status not_sampling(void) { return error_set(WN_ESTATE, "no profile is sampling"); }

/* Discards a profile that no owner took part in, without calling its `release`. */
static void unmake(struct profile *profile) {
  uint64_t handle = profile_handle(profile);
  profile->tracker.release = NULL;
  profile_advance(handle, PROFILE_SAMPLING, PROFILE_DISCARDED);
  profile_release(profile);
}

static void memprof_rearm(struct memprof_owner *owner) { owner->engine->ops->rearm(owner); }

static wn_status discard(uint64_t handle) {
  struct profile *profile = profile_of(handle);
  if (!profile_advance(handle, PROFILE_STOPPED, PROFILE_DISCARDED)) {
    if (profile_status(handle) == PROFILE_SAMPLING)
      return error_set(WN_ESTATE, "the profile is still sampling: stop it first");
    return error_set(WN_ESTATE, "the profile is already discarded");
  }
  struct memprof *engine = profile->engine;
  struct memprof_thread *thread = engine->ops->current ? engine->ops->current(engine) : NULL;
  if (thread) memprof_suspend(thread);
  if (profile_holders(profile)) {
    callbacks_forget_profile(profile);
    atomic_fetch_add_explicit(&engine->discards, 1, memory_order_release);
  }
  profile_release(profile);
  if (thread) memprof_resume(thread);
  return WN_OK;
}

/* IMMEDIATE. Calls the alloc callback. Returns the entry's stage. */
static enum entry_stage tell_birth(struct memprof_thread *thread, struct memprof_entry *entry,
                                   struct profile *profile, const wn_allocation *allocation) {
  const wn_tracker *tracker = &profile->tracker;
  void *(*alloc)(wn_domain *, const wn_allocation *, void *) =
      entry->minor ? tracker->alloc_minor : tracker->alloc_major;
  entry->metadata = alloc ? alloc(thread->domain, allocation, tracker->context) : NULL;
  if (entry->metadata) return entry->minor ? STAGE_MINOR : STAGE_MAJOR;
  profile_count_dropped(profile, entry, STAGE_ALLOC);
  profile_let_go(profile, &profile->stripes[thread->stripe]);
  return STAGE_ZOMBIE;
}

/* A callback `resize` of memory outside gets the callstack of the allocation (outside.c). */
static void keep_for_shrinks(const struct memprof *engine, struct memprof_entry *entry, uint64_t stage) {
  const wn_callstack *callstack = entry_take_callstack(entry);
  if (entry->outside && stage != STAGE_ZOMBIE)
    atomic_store_explicit(&entry->callstack, engine_keep(engine, callstack), memory_order_relaxed);
  else
    engine_release(engine, callstack);
}

/* Whether one more birth may wait. */
static inline bool may_wait(struct memprof_thread *thread, const struct profile *profile) {
  if (profile->immediate) return true;
  if (!pending_is_any(thread)) thread->births = 0;
  return thread->births++ < BIRTHS_MOST;
}

/* Makes a tracked block's entry, which is not yet in a queue or list; its alloc callback is
 * pending, or has run (IMMEDIATE). NULL: the owner does not sample, or the sample is lost. */
static inline struct memprof_entry *entry_birth(struct memprof_thread *thread,
                                                const struct memprof_birth *birth) {
  const struct memprof_owner *owner = thread->owner;
  struct memprof *engine = owner->engine;
  ASSERT(birth->n_samples > 0 && !(birth->minor && engine->ops->parallel));
  uint64_t handle = atomic_load_explicit(&owner->profile, memory_order_acquire);
  if (!handle) return NULL;
  struct profile *profile = profile_of(handle);
  struct profile_stripe *stripe = &profile->stripes[thread->stripe];
  if (!profile_hold(handle, stripe)) return NULL;
  uint32_t number;
  struct memprof_entry *entry =
      may_wait(thread, profile) ? slots_take(&engine->entries, thread->stripe, &number) : NULL;
  if (!entry) {
    count_one(&stripe->tally.lost);
    profile_let_go(profile, stripe);
    return NULL;
  }
  atomic_store_explicit(&entry->profile, profile, memory_order_relaxed);
  atomic_store_explicit(&entry->address, birth->address, memory_order_relaxed);
  entry->number = number;
  entry->minor = birth->minor;
  entry->outside = birth->outside;
  entry->metadata = NULL;
  entry->depth = profile->options.callstack_size;
  const wn_allocation allocation = engine_description(birth, engine->ops->capture(thread, entry->depth));
  entry_describe(entry, &allocation);
  count_one(birth->minor ? &stripe->tally.allocs_minor : &stripe->tally.allocs_major);
  uint64_t state = ENTRY_LINKED | (birth->minor ? 0 : ENTRY_OLD);
  if (!profile->immediate) {
    atomic_store_explicit(&entry->callstack, engine_keep(engine, allocation.callstack), memory_order_relaxed);
    entry_publish(entry, STAGE_ALLOC | ENTRY_QUEUED | state);
    return entry;
  }
  uint64_t stage = tell_birth(thread, entry, profile, &allocation);
  keep_for_shrinks(engine, entry, stage);
  if (stage != STAGE_ZOMBIE && !birth->outside && engine->ops->told)
    engine->ops->told(thread, birth->address, entry->metadata);
  entry_publish(entry, stage | state);
  return entry;
}

/* ---- hosts ---- */

struct memprof_entry *memprof_allocated(struct memprof_thread *thread, const struct memprof_birth *birth) {
  struct memprof_owner *owner = thread->owner;
  young_settle(owner); /* so that callbacks of older blocks come before */
  struct memprof_entry *entry = entry_birth(thread, birth);
  if (!entry) return NULL;
  bool waits = entry_word(entry) & ENTRY_QUEUED; /* read while the entry is linked, and so not freed */
  if (birth->minor && !birth->outside)
    owner_track_young(owner, entry);
  else if (!owner->engine->ops->parallel)
    owner_track(owner, entry);
  if (waits) pending_push(thread, entry);
  return entry;
}

void memprof_open(struct memprof *engine, const struct memprof_ops *ops, void *host, size_t limit) {
  engine->ops = ops;
  engine->host = host;
  if (!ops->parallel) fence_prepare();
  slots_open(&engine->entries, sizeof(struct memprof_entry), limit);
  slots_open(&engine->profiles, sizeof(struct profile), MOST_PROFILES);
}

void memprof_close(struct memprof *engine) {
  for (uint32_t number = 0; number < slots_numbered(&engine->profiles); number++) {
    struct profile *profile = slots_at(&engine->profiles, number);
    uint64_t handle = profile_handle(profile);
    profile_advance(handle, PROFILE_SAMPLING, PROFILE_STOPPED);
    if (profile_status(handle) == PROFILE_STOPPED) discard(handle);
  }
  young_close(engine);
  slots_close(&engine->entries);
  slots_close(&engine->profiles);
  tracked_unmap(&engine->tracked);
}

static wn_status start_memprof(struct memprof_thread *thread, const wn_memprof_options *options,
                               const wn_tracker *tracker, bool immediate, wn_profile **profile) {
  struct memprof_owner *owner = thread->owner;
  wn_status error = check_options(options, tracker, profile);
  if (error) return error;
  uint64_t seen = atomic_load(&owner->profile);
  if (profile_status(seen) == PROFILE_SAMPLING) return already_sampling();
  struct profile *fresh = profile_create(owner->engine, options, tracker);
  if (!fresh) return error_set(WN_ENOMEM, "memprof start: no memory for a profile");
  fresh->immediate = immediate;
  if (!owner_enter(owner, &seen, profile_handle(fresh))) {
    unmake(fresh);
    return already_sampling();
  }
  owner_clean(owner);
  *profile = (wn_profile *)(uintptr_t)profile_handle(fresh);
  memprof_rearm(owner);
  return WN_OK;
}

wn_status memprof_start(struct memprof_thread *thread, const wn_memprof_options *options,
                        const wn_tracker *tracker, wn_profile **profile) {
  return start_memprof(thread, options, tracker, false, profile);
}

wn_status memprof_start_immediate(struct memprof_thread *thread, const wn_memprof_options *options,
                                  const wn_tracker *tracker, wn_profile **profile) {
  return start_memprof(thread, options, tracker, true, profile);
}

wn_status memprof_stop(struct memprof_thread *thread) {
  if (!sampling_handle(thread->owner)) return not_sampling();
  if (!memprof_drain(thread)) return error_set(WN_EBUSY, "an exception of a callback is pending");
  uint64_t handle = sampling_handle(thread->owner); /* a callback may have stopped it */
  if (!handle || !profile_advance(handle, PROFILE_SAMPLING, PROFILE_STOPPED)) return not_sampling();
  memprof_rearm(thread->owner);
  return WN_OK;
}

wn_status memprof_join(struct memprof_thread *thread, wn_profile *profile) {
  struct memprof_owner *owner = thread->owner;
  uint64_t handle = (uintptr_t)profile, seen = atomic_load(&owner->profile);
  if (!handle) return error_set(WN_EINVAL, "memprof join: the profile is NULL");
  if (profile_status(seen) == PROFILE_SAMPLING) return already_sampling();
  struct profile *joined = profile_acquire(handle, PROFILE_SAMPLING);
  if (!joined) return error_set(WN_ESTATE, "memprof join: the profile is not sampling");
  bool same_engine = joined->engine == owner->engine;
  profile_release(joined);
  if (!same_engine) return error_set(WN_EINVAL, "memprof join: the profile is another heap's");
  if (!profile_enter(handle)) return error_set(WN_ESTATE, "memprof join: the profile is not sampling");
  if (!owner_enter(owner, &seen, handle)) {
    profile_leave(handle);
    return already_sampling();
  }
  memprof_rearm(owner);
  return WN_OK;
}

wn_status memprof_leave(struct memprof_thread *thread) {
  uint64_t handle = sampling_handle(thread->owner);
  if (!handle || !owner_enter(thread->owner, &handle, 0)) return not_sampling();
  profile_leave(handle);
  memprof_rearm(thread->owner);
  return WN_OK;
}

bool memprof_is_sampling(const struct memprof_thread *thread) { return sampling_handle(thread->owner) != 0; }

void memprof_set_rate(wn_profile *handle, double rate) {
  struct profile *profile = profile_acquire((uintptr_t)handle, PROFILE_SAMPLING);
  if (!profile) return;
  atomic_store_explicit(&profile->rate, rate, memory_order_relaxed);
  uint64_t sequence = atomic_fetch_add(&profile->engine->profile_sequence, 1) + 1;
  atomic_store_explicit(&profile->sequence, sequence, memory_order_release);
  profile_release(profile);
}

uint64_t memprof_lost(const wn_profile *profile) { return profile_lost((uintptr_t)profile); }

static size_t slots_in_use(const struct slots *slots) {
  return slots_numbered(slots) - slots_free_count(slots);
}

struct memprof_usage memprof_usage(const struct memprof *engine) {
  size_t tables, rows = young_rows(engine, NULL, &tables);
  return (struct memprof_usage){
      .entries = slots_in_use(&engine->entries) + rows,
      .profiles = slots_in_use(&engine->profiles),
      .mapped_bytes = slots_mapped_bytes(&engine->entries) + slots_mapped_bytes(&engine->profiles) +
                      tracked_mapped_bytes(&engine->tracked) + young_mapped_bytes(engine),
  };
}

static void memprof_counts(uint64_t handle, wn_memprof_count *count) {
  struct profile *profile = profile_acquire(handle, PROFILE_DISCARDED);
  if (profile) {
    young_count(profile->engine, handle);
    profile_release(profile);
  }
  profile_counts(handle, count);
}

/* Invariant P, and the counts against the entries themselves. */
static void check_profile(const struct memprof *engine, const struct profile *profile) {
  size_t tables;
  uint64_t live_minor = young_rows(engine, profile, &tables), live_major = 0, live_entries = 0;
  for (uint32_t number = 0; number < slots_numbered(&engine->entries); number++) {
    const struct memprof_entry *entry = slots_at(&engine->entries, number);
    enum entry_stage stage = entry_stage(entry_word(entry));
    if (stage == STAGE_FREE || stage == STAGE_ZOMBIE || atomic_load(&entry->profile) != profile) continue;
    live_entries++;
    if (stage == STAGE_MINOR || (stage == STAGE_ALLOC && entry->minor))
      live_minor++;
    else
      live_major++;
  }
  wn_memprof_count count;
  memprof_counts(profile_handle(profile), &count);
  ASSERT(count.live_minor == live_minor && count.live_major == live_major);
  uint64_t handles = profile_reached(profile, PROFILE_DISCARDED) ? 0 : 1;
  ASSERT(profile_references(profile) == handles && profile_holders(profile) == tables + live_entries);
}

void memprof_check(const struct memprof *engine) {
  for (uint32_t number = 0; number < slots_numbered(&engine->profiles); number++) {
    const struct profile *profile = slots_at(&engine->profiles, number);
    if (profile_reached(profile, PROFILE_SAMPLING)) check_profile(engine, profile);
  }
  size_t in_use = 0, tabled = 0;
  for (uint32_t number = 0; number < slots_numbered(&engine->entries); number++) {
    uint64_t word = entry_word(slots_at(&engine->entries, number));
    if (entry_stage(word) == STAGE_FREE) continue;
    in_use++;
    ASSERT(entry_step(word) == STEP_NONE || word & (ENTRY_RUNNING | ENTRY_QUEUED)); /* invariant Q */
    ASSERT(entry_stage(word) != STAGE_ZOMBIE || word & (ENTRY_RUNNING | ENTRY_QUEUED | ENTRY_LINKED)); /* F */
    tabled += entry_is_tabled(slots_at(&engine->entries, number), word);
  }
  ASSERT(engine->ops->parallel || tabled == tracked_verify(&engine->tracked));
  ASSERT(in_use == slots_in_use(&engine->entries)); /* none is lost */
}

/* ---- public ---- */

/* The status for a call that the host refused. The domain is NULL, or may not be used so; the host
 * has set the message. */
static wn_status memprof_refused(const wn_domain *domain) { return domain ? WN_ESTATE : WN_EINVAL; }

wn_status wn_memprof_start(wn_domain *domain, const wn_memprof_options *options, const wn_tracker *tracker,
                           wn_profile **profile) {
  struct memprof_thread *thread = memprof_host_thread(domain);
  return thread ? memprof_start(thread, options, tracker, profile) : memprof_refused(domain);
}

wn_status wn_memprof_stop(wn_domain *domain) {
  struct memprof_thread *thread = memprof_host_thread(domain);
  return thread ? memprof_stop(thread) : memprof_refused(domain);
}

void memprof_before_fork(struct memprof *engine) {
  for (struct young_table *table = young_first(engine); table; table = table->next) young_seize(table);
}

void memprof_after_fork(struct memprof *engine) {
  for (struct young_table *table = young_first(engine); table; table = table->next) young_release(table);
}

struct lock *memprof_lock(struct memprof *engine, unsigned i) {
  return i ? &engine->tracked.shards[i - 1].lock : &engine->lock;
}

void memprof_forget(wn_profile *profile) {
  uint64_t handle = (uintptr_t)profile;
  profile_advance(handle, PROFILE_SAMPLING, PROFILE_STOPPED);
  discard(handle);
}

wn_status wn_memprof_discard(wn_profile *profile) {
  if (!profile) return error_set(WN_EINVAL, "memprof discard: the profile is NULL");
  return discard((uintptr_t)profile);
}

bool wn_memprof_is_sampling(wn_domain *domain) {
  struct memprof_thread *thread = memprof_host_thread(domain);
  return thread && memprof_is_sampling(thread);
}

wn_status wn_memprof_join(wn_domain *domain, wn_profile *profile) {
  struct memprof_thread *thread = memprof_host_thread(domain);
  return thread ? memprof_join(thread, profile) : memprof_refused(domain);
}

wn_status wn_memprof_leave(wn_domain *domain) {
  struct memprof_thread *thread = memprof_host_thread(domain);
  return thread ? memprof_leave(thread) : memprof_refused(domain);
}

wn_status wn_memprof_drain(wn_domain *domain) {
  struct memprof_thread *thread = memprof_host_thread(domain);
  if (!thread) return memprof_refused(domain);
  if (memprof_drain(thread)) return WN_OK;
  return error_set(WN_EBUSY, "an exception of a callback is pending");
}

void wn_memprof_counts(const wn_profile *profile, wn_memprof_count *count) {
  memprof_counts((uintptr_t)profile, count);
}
/* SPDX-License-Identifier: MIT */
