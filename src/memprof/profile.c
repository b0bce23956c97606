/* The exchanges of a profile's word, and its counts. The picture is in profile.h. */
#include "memprof/profile.h"

#include "base/check.h"
#include <string.h>

static const uint64_t REFERENCES = UINT64_C(0xffffffff);

static uint64_t with_status(uint64_t word, enum profile_status status) {
  return (word & ~(UINT64_C(3) << 32)) | (uint64_t)status << 32;
}
static bool profile_swap(struct profile *profile, uint64_t *from, uint64_t to) {
  return atomic_compare_exchange_weak_explicit(&profile->word, from, to, memory_order_seq_cst,
                                               memory_order_acquire);
}

/* ---- shared ---- */

struct profile *profile_create(struct memprof *engine, const wn_memprof_options *options,
                               const wn_tracker *tracker) {
  uint32_t number;
  struct profile *profile = slots_take(&engine->profiles, stripe_of_thread(), &number);
  if (!profile) return NULL;
  for (unsigned i = 0; i < STRIPES; i++) memset(&profile->stripes[i].tally, 0, sizeof(struct tally));
  profile->engine = engine;
  profile->tracker = *tracker;
  profile->options = *options;
  profile->number = number;
  atomic_store(&profile->participants, 1);
  atomic_store_explicit(&profile->rate, options->sampling_rate, memory_order_relaxed);
  atomic_store(&profile->sequence, atomic_fetch_add(&engine->profile_sequence, 1) + 1);
  uint64_t generation = (profile_word(profile) >> 48) + 1;
  atomic_store(&profile->word, with_status(generation << 48 | 1, PROFILE_SAMPLING));
  return profile;
}

void profile_free_if_over(struct profile *profile) {
  uint64_t word = profile_word(profile);
  if (profile_word_status(word) != PROFILE_DISCARDED || word & REFERENCES || profile_holders(profile)) return;
  if (!atomic_compare_exchange_strong_explicit(&profile->word, &word, with_status(word, PROFILE_FREE),
                                               memory_order_seq_cst, memory_order_relaxed))
    return;
  struct memprof *engine = profile->engine;
  if (profile->tracker.release) profile->tracker.release(profile->tracker.context);
  slots_give(&engine->profiles, profile, profile->number);
}

struct profile *profile_acquire(uint64_t handle, enum profile_status most) {
  if (!handle) return NULL;
  struct profile *profile = profile_of(handle);
  uint64_t word = profile_word(profile);
  do {
    enum profile_status status = profile_word_status(word);
    if (!profile_same_generation(word, handle) || status == PROFILE_FREE || status > most) return NULL;
  } while (!profile_swap(profile, &word, word + 1));
  return profile;
}

void profile_release(struct profile *profile) {
  uint64_t from = profile_word(profile), to;
  do {
    ASSERT(from & REFERENCES);
    to = from - 1;
  } while (!profile_swap(profile, &from, to));
  profile_free_if_over(profile);
}

uint64_t profile_references(const struct profile *profile) { return profile_word(profile) & REFERENCES; }

uint64_t profile_holders(const struct profile *profile) {
  int64_t sum = 0;
  for (unsigned i = 0; i < STRIPES; i++) sum += atomic_load(&profile->stripes[i].held);
  return (uint64_t)sum;
}

bool profile_advance(uint64_t handle, enum profile_status from, enum profile_status to) {
  struct profile *profile = profile_of(handle);
  uint64_t word = profile_word(profile);
  do {
    if (!profile_same_generation(word, handle) || profile_word_status(word) != from) return false;
  } while (!profile_swap(profile, &word, with_status(word, to)));
  return true;
}

bool profile_enter(uint64_t handle) {
  struct profile *profile = profile_acquire(handle, PROFILE_SAMPLING);
  if (!profile) return false;
  uint32_t count = atomic_load(&profile->participants);
  while (count && !atomic_compare_exchange_weak(&profile->participants, &count, count + 1)) {}
  profile_release(profile);
  return count != 0;
}

void profile_leave(uint64_t handle) {
  struct profile *profile = profile_acquire(handle, PROFILE_SAMPLING);
  if (!profile) return;
  if (atomic_fetch_sub(&profile->participants, 1) == 1)
    profile_advance(handle, PROFILE_SAMPLING, PROFILE_STOPPED);
  profile_release(profile);
}

void profile_count_dropped(struct profile *profile, const struct memprof_entry *entry,
                           enum entry_stage stage) {
  bool in_minor = stage == STAGE_MINOR || (stage == STAGE_ALLOC && entry->minor);
  struct tally *tally = &profile->stripes[stripe_of_thread()].tally;
  count_one(in_minor ? &tally->dropped_minor : &tally->dropped_major);
}

void profile_counts(uint64_t handle, wn_memprof_count *count) {
  memset(count, 0, sizeof *count);
  struct profile *profile = profile_acquire(handle, PROFILE_DISCARDED);
  if (!profile) return;
#define READ(name)                       \
  for (unsigned i = 0; i < STRIPES; i++) \
  count->name += atomic_load_explicit(&profile->stripes[i].tally.name, memory_order_acquire)
  READ(lost);
  READ(dealloc_major);
  READ(dropped_major);
  READ(dealloc_minor);
  READ(dropped_minor);
  READ(promotes);
  READ(allocs_major);
  READ(allocs_minor);
#undef READ
  count->live_minor = count->allocs_minor - count->promotes - count->dealloc_minor - count->dropped_minor;
  count->live_major = count->promotes + count->allocs_major - count->dealloc_major - count->dropped_major;
  profile_release(profile);
}

uint64_t profile_lost(uint64_t handle) {
  uint64_t lost = 0;
  struct profile *profile = profile_acquire(handle, PROFILE_DISCARDED);
  if (!profile) return 0;
  for (unsigned i = 0; i < STRIPES; i++)
    lost += atomic_load_explicit(&profile->stripes[i].tally.lost, memory_order_relaxed);
  profile_release(profile);
  return lost;
}
/* SPDX-License-Identifier: MIT */
