/* The malloc heap as a host of the sampling engine: what the entry points call once in a while. */
#ifndef PRELOAD_MALLOC_HOST_H
#define PRELOAD_MALLOC_HOST_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/memprof.h>

/* Words this thread may still allocate before it must come to host_hits. Begins at 0, so that a new
 * thread comes at once. While the host works for this thread it is so large that nothing nested is
 * sampled. */
extern _Thread_local int64_t words_left;

/* After words_left went below zero: how many samples fell into the words just subtracted, usually 1
 * or 0. Sets this thread up at its first call. Counts again up to the next sample. */
size_t host_hits(void);

/* False for a size that the system would refuse, which the region, being reserved beforehand, would
 * not notice; it makes no sense to draw samples for its words. */
bool host_can_have(size_t bytes);

/* A new block that took `hits` samples, followed, or NULL when the real allocator is to give it. */
void *host_allocate(size_t bytes, size_t alignment, bool zero, size_t hits);

/* Follows a block that took `hits` samples and that the real allocator gave instead. A NULL block
 * is ignored; so is one that is sampled already: operator new may get it from malloc. */
void host_follow(void *block, size_t bytes, size_t hits);

/* True if `block`, whose address may be that of a sampled block, is one. */
bool host_owns(void *block);

/* What free, realloc and malloc_usable_size do for an address that may be a sampled block's.
 * host_realloc and host_usable_size need host_owns(block). */
void host_free(void *block);
void *host_realloc(void *block, size_t bytes);
size_t host_usable_size(void *block);

/* After realloc grew an unsampled block, whose usable size was `before`, and the words it gained
 * exhausted the count: follows it if they took samples. Returns the block, which may move. */
void *host_follow_grown(void *block, size_t bytes, size_t before);

/* Prepares the engine and the region or its substitute. Once, before anything is sampled. False if
 * there is no memory. */
bool host_open(void);

/* The sampling profile of the heap, through the engine; the calling thread is set up if it was
 * not. */
wn_status host_start(const wn_memprof_options *options, const wn_tracker *tracker, wn_profile **profile);
wn_status host_stop(void);
wn_status host_discard(wn_profile *profile);

/* Around other work that the host does for the calling thread, in what the program calls: nothing
 * nested is sampled, and the thread has a number. host_is_working: it is within such work, or
 * within malloc's. */
struct host_visit {
  int64_t left;
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
