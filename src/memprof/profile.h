/* A profile: what it calls, how it samples, what it counted, and when its memory is free again.
 *
 *   SAMPLING --stop, or the last owner left--> STOPPED --discard--> DISCARDED --last reference--> FREE
 *
 * REFERENCES. Status, reference count and generation share one word, so that each change is one
 * exchange. The user's handle is a reference until the discard. A thread that looks at the profile
 * takes a reference for that long.
 *
 * HOLDS. An entry in the stage ALLOC, MINOR or MAJOR (entry.h) holds its profile, and so does a
 * table of young samples (young.h). There are many entries, of all threads, so holds are counted
 * apart from references, in stripes. A thread may release at its own stripe a hold that was counted
 * at another stripe; only the sum of all stripes has a meaning.
 *
 * A profile becomes FREE when it is discarded and has neither a reference nor a hold. All steps are
 * sequentially consistent:
 *
 *   A thread that takes a hold:                   The discarding thread:
 *   1. increments the count of its stripe;        1. sets the status to DISCARDED;
 *   2. reads the status;                          2. sums the counts of all stripes.
 *   3. if the profile does not sample, takes
 *      the increment back at the same stripe.
 *
 * One of the two threads therefore sees the other. So after the discard every hold that succeeded
 * is in the sum, no hold succeeds any more, and a sum of 0 stays 0. A thread that releases a hold
 * of a discarded profile sums up as well. The exchange of the word from DISCARDED to FREE decides
 * which of these threads frees the profile.
 *
 * HANDLES. A profile's slot is reused but never unmapped, so a thread with an old handle may read
 * the word. A handle is the slot's address with the generation in the upper 16 bits, which
 * addresses do not use: if the word has another generation, the profile of the handle is gone. */
#ifndef MEMPROF_PROFILE_H
#define MEMPROF_PROFILE_H

#include "memprof/entry.h"

/* Counts of events. A writer counts with release. A reader reads the counts of ends from all
 * stripes before it reads the counts of beginnings from any, with acquire: so it never finds more
 * ends than beginnings. */
struct tally {
  _Atomic(uint64_t) allocs_minor, allocs_major, promotes, dealloc_minor, dealloc_major, dropped_minor,
      dropped_major, lost;
};

struct profile_stripe {
  _Alignas(STRIPE_BYTES) _Atomic(int64_t) held; /* HOLDS; may be negative in one stripe */
  struct tally tally;
};

enum profile_status { PROFILE_FREE, PROFILE_SAMPLING, PROFILE_STOPPED, PROFILE_DISCARDED };

struct profile {
  _Atomic(uint64_t) free_link; /* belongs to slots.c */
  _Atomic(uint64_t) word;      /* generation << 48 | status << 32 | references */
  /* No other profile of the engine has this number, and a change of the rate gives another one. It is
   * part of the seed of each thread's stream of gaps: a thread whose stream was seeded with another
   * number begins a new stream. `rate` is stored before; pairs with seed_sampler. */
  _Atomic(uint64_t) sequence;
  _Atomic(double) rate; /* RATES of host.h; at first that of the options */
  /* Set by profile_create; constant until the profile is free. */
  struct memprof *engine;
  wn_tracker tracker;
  wn_memprof_options options;
  /* IMMEDIATE of host.h. A thread may read it of an entry whose profile another thread discards, and a third
   * one makes anew: a change of the entry's word then tells the first that what it has read is old. */
  _Atomic(bool) immediate;
  uint32_t number;
  /* How many owners take part. At 0 the profile does not sample, and never will again. */
  _Atomic(uint32_t) participants;
  /* Each is written by the threads of that stripe; a reader sums up all of them. */
  struct profile_stripe stripes[STRIPES];
};

/* Makes a sampling profile with one participant; the user's handle is its reference. NULL if there
 * is no memory. */
struct profile *profile_create(struct memprof *engine, const wn_memprof_options *options,
                               const wn_tracker *tracker);

#define PROFILE_ADDRESS ((UINT64_C(1) << 48) - 1)

static inline uint64_t profile_word(const struct profile *profile) {
  return atomic_load_explicit(&profile->word,
                              memory_order_seq_cst); /* pairs with profile_advance to DISCARDED */
}
static inline enum profile_status profile_word_status(uint64_t word) {
  return (enum profile_status)(word >> 32 & 3);
}
static inline bool profile_same_generation(uint64_t word, uint64_t handle) {
  return word >> 48 == handle >> 48;
}

static inline uint64_t profile_handle(const struct profile *profile) {
  return (uintptr_t)profile | (profile_word(profile) & ~PROFILE_ADDRESS);
}
/* The profile's slot of a handle that is not 0. */
static inline struct profile *profile_of(uint64_t handle) {
  return (struct profile *)(uintptr_t)(handle & PROFILE_ADDRESS);
}
static inline enum profile_status profile_status(uint64_t handle) {
  if (!handle) return PROFILE_FREE;
  uint64_t word = profile_word(profile_of(handle));
  return profile_same_generation(word, handle) ? profile_word_status(word) : PROFILE_FREE;
}

/* profile_status(handle) == PROFILE_SAMPLING in one comparison, for handle != 0. */
static inline bool profile_is_sampling(uint64_t handle) {
  return profile_word(profile_of(handle)) >> 32 == (handle >> 48 << 16 | PROFILE_SAMPLING);
}

/* The profile of a handle, with one more reference, if its status is at most `most`; else NULL. */
struct profile *profile_acquire(uint64_t handle, enum profile_status most);
void profile_release(struct profile *profile);

/* Frees a discarded profile if it has neither a reference nor a hold, unless another thread frees
 * it. */
void profile_free_if_over(struct profile *profile);

/* HOLDS. profile_let_go releases a hold. profile_hold takes one, and returns false if the profile
 * does not sample. `stripe` may be any stripe of the profile; the calling thread's own is the
 * fastest. */
static inline void profile_let_go(struct profile *profile, struct profile_stripe *stripe) {
  atomic_fetch_sub(&stripe->held, 1);
  if (__builtin_expect(profile_word_status(profile_word(profile)) == PROFILE_DISCARDED, 0))
    profile_free_if_over(profile);
}
static inline bool profile_hold(uint64_t handle, struct profile_stripe *stripe) {
  atomic_fetch_add(&stripe->held, 1);
  if (__builtin_expect(profile_is_sampling(handle), 1)) return true;
  profile_let_go(profile_of(handle), stripe);
  return false;
}

/* Whether a profile, to which the caller has a reference, has reached a status or passed it. */
static inline bool profile_reached(const struct profile *profile, enum profile_status status) {
  return profile_word_status(profile_word(profile)) >= status;
}

/* How many references, and how many holds, there are now. */
uint64_t profile_references(const struct profile *profile);
uint64_t profile_holders(const struct profile *profile);

/* Moves the profile from one status to the next. False if it has another status, or is gone. */
bool profile_advance(uint64_t handle, enum profile_status from, enum profile_status to);

/* profile_enter counts one participating owner more; false if the profile does not sample.
 * profile_leave counts one less, and stops the profile if that was the last one. */
bool profile_enter(uint64_t handle);
void profile_leave(uint64_t handle);

static inline void count_one(_Atomic(uint64_t) *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_release);
}

static inline void count_more(_Atomic(uint64_t) *counter, uint64_t more) {
  if (more) atomic_fetch_add_explicit(counter, more, memory_order_release);
}

/* Counts an entry that ends without a dealloc callback. `stage` is the stage in which it ends. */
void profile_count_dropped(struct profile *profile, const struct memprof_entry *entry,
                           enum entry_stage stage);

/* Reads the counts, without those that are still in tables of young samples (COUNTS of young.h). */
void profile_counts(uint64_t handle, wn_memprof_count *count);

/* Only the count `lost`, which is never in a table; 0 for a profile that is gone. Any thread. */
uint64_t profile_lost(uint64_t handle);

#endif
/* SPDX-License-Identifier: MIT */
