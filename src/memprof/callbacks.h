/* Running pending callbacks (memprof_drain of host.h), and forgetting them. */
#ifndef MEMPROF_CALLBACKS_H
#define MEMPROF_CALLBACKS_H

#include "memprof/profile.h"

/* Stops tracking an entry that the caller took out of its queue, without a callback but `drop`. */
void callbacks_drop(struct memprof_thread *thread, struct memprof_entry *entry);

/* IMMEDIATE of host.h, each for an entry in STAGE_MAJOR that this thread may claim, in a parallel
 * host. callbacks_end: the block died; the entry is freed. callbacks_resize: the block has another
 * size, which the entry has already. False, and nothing is done, if the entry's profile is not
 * immediate or another thread forgets it: then the change is posted. */
bool callbacks_end(struct memprof_thread *thread, struct memprof_entry *entry);
bool callbacks_resize(struct memprof_thread *thread, struct memprof_entry *entry,
                      const wn_callstack *callstack);

/* IMMEDIATE of host.h. Calls `promote` for an entry in STAGE_MINOR that the caller has made,
 * RUNNING and OLD. The world is stopped. */
void callbacks_promote(struct memprof_entry *entry, wn_domain *domain);

/* Called when this thread ends within a callback, which therefore never returns: the callback's
 * block is no longer tracked. */
void callbacks_abandon(struct memprof_thread *thread);

/* Stops tracking an entry that was in state `word`, without a callback but `drop`. False if another
 * thread has claimed the entry, or if its state has changed. */
bool callbacks_forget(struct memprof_entry *entry, uint64_t word);

/* callbacks_forget_profile forgets all samples of a profile that the caller just discarded and to
 * which it still has a reference. callbacks_forget_rows forgets the profile's rows in one table. */
void callbacks_forget_profile(struct profile *profile);
struct young_table;
void callbacks_forget_rows(struct young_table *table, uint64_t handle);

#endif
/* SPDX-License-Identifier: MIT */
