/* A profile: what it calls, how it samples, what it counted, and when its memory may go.
 *
 *   SAMPLING --stop, or the last owner left--> STOPPED --discard--> DISCARDED --last reference--> FREE
 *
 * Status, references and a generation share one word, so that each change is one exchange. References are the user's
 * handle, until discard, and each entry that is not a zombie. A profile's slot is reused but never unmapped: whoever
 * holds a handle may look at the word, and see by the generation whether it is still the same profile.
 *
 * A handle is the slot's address with the generation's 16 bits in the upper half-word, which addresses do not use: a
 * user's handle to a discarded profile does not become a handle to the next one. */
#ifndef MEMPROF_PROFILE_H
#define MEMPROF_PROFILE_H

#include "memprof/entry.h"

/* Counts of events, in a cache line of their own, so that threads which count do not wait for each other. What leaves is
 * counted with release, and read, with acquire, from all tallies before what arrives is read from any. */
enum { TALLIES = 8 };
struct tally {
  _Alignas(64) _Atomic(uint64_t) allocs_minor;
  _Atomic(uint64_t) allocs_major, promotes, dealloc_minor, dealloc_major, dropped_minor, dropped_major, lost;
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
  struct tally tallies[TALLIES];
};

static inline struct tally *profile_tally(struct profile *profile, const struct memprof_thread *thread) {
  return &profile->tallies[thread->sequence % TALLIES];
}

/* A sampling profile with one participant; the user's handle holds it. NULL if there is no memory. */
struct profile *profile_create(struct memprof *engine, const wn_memprof_options *options,
                               const wn_tracker *tracker);

uint64_t profile_handle(const struct profile *profile);
struct profile *profile_of(uint64_t handle); /* its slot, for handle != 0 */
enum profile_status profile_status(uint64_t handle);

/* The profile of a handle, with one more reference, if its status is at most `most`; else NULL. */
struct profile *profile_acquire(uint64_t handle, enum profile_status most);
void profile_release(struct profile *profile);

/* Whether a profile that the caller holds a reference to has come to a status, or went past it. */
bool profile_reached(const struct profile *profile, enum profile_status status);

/* How many references there are now, and whether any but the caller's. */
uint64_t profile_references(const struct profile *profile);
bool profile_is_shared(const struct profile *profile);

/* Moves the profile from one status to the next; false if it is in another, or gone. */
bool profile_advance(uint64_t handle, enum profile_status from, enum profile_status to);

/* One owner more; false if the profile does not sample. One less: stops it if that was the last. */
bool profile_enter(uint64_t handle);
void profile_leave(uint64_t handle);

static inline void count_one(_Atomic(uint64_t) *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_release);
}

/* Counts an entry that ends in a stage without a dealloc callback. */
void profile_count_dropped(struct profile *profile, const struct memprof_entry *entry,
                           enum entry_stage stage);

void profile_counts(uint64_t handle, wn_memprof_count *count);

#endif
/* SPDX-License-Identifier: MIT */
