/* Running pending callbacks (memprof_drain of host.h), and forgetting them. */
#ifndef MEMPROF_CALLBACKS_H
#define MEMPROF_CALLBACKS_H

#include "memprof/profile.h"

/* Stops tracking an entry that the caller took out of its queue, without a callback but `drop`. */
void callbacks_drop(struct memprof_thread *thread, struct memprof_entry *entry);

/* A callback that runs on this thread will never return, since its thread ends: its block is
 * tracked no more. */
void callbacks_abandon(struct memprof_thread *thread);

/* Stops tracking an entry that was in state `word`, without a callback but `drop`, unless it is
 * another thread's or has changed. */
bool callbacks_forget(struct memprof_entry *entry, uint64_t word);

/* Forgets all samples of a profile that the caller just discarded and still holds; its rows in one
 * table. */
void callbacks_forget_profile(struct profile *profile);
struct young_table;
void callbacks_forget_rows(struct young_table *table, uint64_t handle);

#endif
/* SPDX-License-Identifier: MIT */
