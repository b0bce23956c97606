/* A profile: what it calls, how it samples, what it counted, and when its memory may go.
 *
 *   SAMPLING --stop, or the last owner left--> STOPPED --discard--> DISCARDED --last reference--> FREE
 *
 * Status, references and a generation share one word, so that each change is one exchange. References are the user's
 * handle, until discard, and whoever looks at the profile for a moment. Entries that are not zombies hold it too; there
 * are many, of all threads, so they are counted by stripes: what one stripe's thread holds another's may let go, and only
 * the sum means something. A profile's slot is reused but never unmapped: whoever has a handle may look at the word,
 * and see by the generation whether it is still the same profile.
 *
 * FREE comes when a discarded profile has no reference and nobody holds it. Who holds counts first and looks at the status
 * then; who discards sets the status first and sums up then; all of it is sequentially consistent. So once a profile is
 * discarded, every hold that succeeded is in the sum, a hold that fails is taken back at the stripe where it was
 * counted, and a sum of 0 is true and stays so. Who lets go sums up as well, and one exchange of the word decides who
 * frees.
 *
 * A handle is the slot's address with the generation's 16 bits in the upper half-word, which addresses do not use: a
 * user's handle to a discarded profile does not become a handle to the next one. */
#ifndef MEMPROF_PROFILE_H
#define MEMPROF_PROFILE_H

#include "memprof/entry.h"

/* Counts of events. What leaves is counted with release, and read, with acquire, from all stripes before what arrives is
 * read from any. */
struct tally {
  _Atomic(uint64_t) allocs_minor, allocs_major, promotes, dealloc_minor, dealloc_major, dropped_minor,
      dropped_major, lost;
};

struct profile_stripe {
  _Alignas(STRIPE_BYTES) _Atomic(int64_t) held; /* by entries; below 0 where others' were let go */
  struct tally tally;
};

enum profile_status { PROFILE_FREE, PROFILE_SAMPLING, PROFILE_STOPPED, PROFILE_DISCARDED };

struct profile {
  _Atomic(uint64_t) free_link; /* belongs to slots.c */
  _Atomic(uint64_t) word;      /* generation << 48 | status << 32 | references */
  _Atomic(uint64_t)
      sequence; /* never repeats in an engine: seeds, and tells threads that the profile is another one */
  /* Set by profile_create; constant until the profile is free. */
  struct memprof *engine;
  wn_tracker tracker;
  wn_memprof_options options;
  uint32_t number;
  /* The owners that take part. At 0 the profile is not sampling and never will be. */
  _Atomic(uint32_t) participants;
  /* Each is written by some of the threads, and all are summed up when somebody asks. */
  struct profile_stripe stripes[STRIPES];
};

/* A sampling profile with one participant; the user's handle holds it. NULL if there is no memory. */
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
/* Its slot, for handle != 0. */
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

/* Frees a discarded profile if that is due, and the caller is the one to do it. */
void profile_free_if_over(struct profile *profile);

/* An entry lets the profile go; or holds it, if it samples. Any of its stripes will do: best the calling thread's. */
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

/* Whether a profile that the caller holds a reference to has come to a status, or went past it. */
static inline bool profile_reached(const struct profile *profile, enum profile_status status) {
  return profile_word_status(profile_word(profile)) >= status;
}

/* How many references there are now, and how many entries hold it. */
uint64_t profile_references(const struct profile *profile);
uint64_t profile_holders(const struct profile *profile);

/* Moves the profile from one status to the next; false if it is in another, or gone. */
bool profile_advance(uint64_t handle, enum profile_status from, enum profile_status to);

/* One owner more; false if the profile does not sample. One less: stops it if that was the last. */
bool profile_enter(uint64_t handle);
void profile_leave(uint64_t handle);

static inline void count_one(_Atomic(uint64_t) *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_release);
}

static inline void count_more(_Atomic(uint64_t) *counter, uint64_t more) {
  if (more) atomic_fetch_add_explicit(counter, more, memory_order_release);
}

/* Counts an entry that ends in a stage without a dealloc callback. */
void profile_count_dropped(struct profile *profile, const struct memprof_entry *entry,
                           enum entry_stage stage);

/* Without what is fresh in tables (COUNTS of young.h). */
void profile_counts(uint64_t handle, wn_memprof_count *count);

#endif
/* SPDX-License-Identifier: MIT */
