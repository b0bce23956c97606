/* Running pending callbacks (memprof_drain of host.h), and forgetting them. */
#ifndef MEMPROF_CALLBACKS_H
#define MEMPROF_CALLBACKS_H

#include "memprof/profile.h"

/* Stops tracking an entry that the caller took out of its queue, without a callback but `drop`. */
void callbacks_drop(struct memprof_thread *thread, struct memprof_entry *entry);

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
