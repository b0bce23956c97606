/* The malloc heap as a host of the sampling engine: what the entry points call once in a while. */
#ifndef PRELOAD_MALLOC_HOST_H
#define PRELOAD_MALLOC_HOST_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/memprof.h>

/* How many words this thread may still allocate before it must call host_hits. Begins at 0, so that
 * the first allocation of a new thread calls it. While the host works for this thread, the number
 * is so large that nested allocations are not sampled. */
extern _Thread_local int64_t words_left __attribute__((visibility("hidden")));

/* Called when words_left went below zero. Returns how many samples fell into the `words` just
 * subtracted, usually 1 or 0, and sets words_left to the distance to the next sample. The first
 * call of a thread also sets the thread up. */
size_t host_hits(size_t words);

/* False for a size that the system would refuse. The region would not notice that, since its
 * addresses are reserved beforehand, and the words of such a request must not be sampled. */
bool host_can_have(size_t bytes);

/* Allocates and follows a block that took `hits` samples. NULL: the caller takes a block of the
 * real allocator instead. */
void *host_allocate(size_t bytes, size_t alignment, bool zero, size_t hits, wn_alloc_source source);

/* Follows a block of the real allocator that took `hits` samples. Does nothing if the block is
 * NULL, or if it is sampled already, since operator new may have got it from malloc. */
void host_follow(void *block, size_t bytes, size_t hits);

/* Whether the block is a sampled one. The caller has checked that its address may be a sampled
 * block's (maybe_sampled of interpose.c). */
bool host_owns(void *block);

/* What free, realloc and malloc_usable_size do for an address that may be a sampled block's.
 * host_realloc and host_usable_size need host_owns(block). */
void host_free(void *block);
void *host_realloc(void *block, size_t bytes);
size_t host_usable_size(void *block);

/* Where an unsampled block was (0: what was there is read by nothing), and the usable sizes that it
 * had and has. */
struct host_growth {
  uintptr_t from;
  size_t before, after;
  wn_alloc_source source;
};

/* Called after realloc grew an unsampled block, if the words that the block gained exhausted the
 * count. Follows the block if these words took samples. Returns the block, or a new one: then the
 * caller moves the contents there and frees the block. */
void *host_follow_grown(void *block, size_t bytes, const struct host_growth *growth);

/* What this thread's next malloc of HOST_OFFER_BYTES returns, instead of failing; NULL: nothing. So a
 * sampled block goes through an allocator that asks malloc for it, and counts it (COUNTED of
 * python_objects.c). */
extern _Thread_local void *host_offer __attribute__((visibility("hidden")));
#define HOST_OFFER_BYTES (SIZE_MAX / 4)

/* The source of the blocks that this thread gets from malloc and its relatives, if they are sampled.
 * WN_SOURCE_NORMAL but for a moment (LARGE of python_objects.c). */
extern _Thread_local wn_alloc_source host_source __attribute__((visibility("hidden")));

/* Prepares the engine, and the region or the table of addresses. Called once, before anything is
 * sampled. False if there is no memory. */
bool host_open(void);

/* Start, stop and discard the sampling profile of the heap, by the engine's functions of these
 * names. They set the calling thread up if it is not. */
wn_status host_start(const wn_memprof_options *options, const wn_tracker *tracker, bool immediate,
                     wn_profile **profile);
wn_status host_stop(void);
wn_status host_discard(wn_profile *profile);

/* Gives the profile another rate (memprof_set_rate). */
void host_rate(wn_profile *profile, double rate);

/* The rate of the trials of the block that the calling thread reports. */
double host_trial_rate(void);

/* Stops the profile and discards it. From then on the region gets no new blocks, since that may
 * take a system call. */
void host_confine(wn_profile *profile);

/* Our code outside of malloc calls host_enter before it works in a thread, and host_leave
 * afterwards: in between, nested allocations are not sampled, and the thread has its number in
 * traces. host_is_working: the calling thread is between the two, or in the host's work within
 * malloc. */
struct host_visit {
  int64_t left;
  uint64_t began;
  struct program_errors errors;
};
struct host_visit host_enter(void);
void host_leave(struct host_visit visit);
bool host_is_working(void);

/* The calling thread's number in traces: 1 for the first one. */
uint32_t host_thread_number(wn_domain *domain);
struct callstacks *host_callstacks(void);

void host_before_fork(void);
void host_after_fork(bool child);

#endif
/* SPDX-License-Identifier: MIT */
