/* What the program maps itself, beside malloc: own allocators, stacks, buffers, files.
 *
 * A resident size is more than malloc's blocks, and people ask first what the rest is. So each
 * mapping of MAPPING_LEAST or more that the program asks for by mmap, mremap or sbrk is noted with
 * its stack, and how much of it is resident is measured on the way and told to the trace. So are
 * the stacks of threads (stacks.h). What else the C library and the loader map for themselves
 * (malloc's heap, libraries) does not come here.
 *
 * PIECES: the table has a piece for each stretch of addresses that such a call mapped, none
 * overlapping; what is kept in order of address are their places, since that is what moves when one
 * comes or goes: tens of thousands may be mapped. A piece is a mapping of the trace. A hole in the
 * midst of one leaves two, of which the upper one is new in the trace.
 *
 * LAZY: a piece is told when it is measured first, with that time, and not before. So those that
 * are gone by then, of which the trace could say nothing of interest, cost no disk.
 *
 * A removal is noted before the system call and an addition after it, so that a thread which gets
 * the same addresses next finds them free here. If the system refuses to unmap, what it left is
 * told as gone; that is rare.
 *
 * The lock (rank MAPPINGS) is held while the table changes and the records of that are written,
 * never during a system call that maps.
 *
 * QUEUED: a signal handler that interrupted the lock's holder must not wait for it. What it maps
 * and unmaps goes through a small queue, from which the next thread that takes the lock notes it,
 * before what it does itself. Such a thread may have addresses that the handler unmapped before.
 *
 * MISSED: where the table or the queue is full nothing can be noted. From then on what is resident
 * cannot be told apart, and no measurement is complete.
 *
 * FORK: before a fork the lock of this table is taken first, then the lock of page runs. A signal
 * handler that interrupted the holder of the page runs' lock, and that forks, must not wait for
 * this table's lock: the holder of that may wait for the page runs' lock. If the handler finds it
 * held, the child begins with an empty table, and has missed the mappings that were in it.
 */
#ifndef PRELOAD_MAPPINGS_H
#define PRELOAD_MAPPINGS_H

#include "record/recorder.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPING_LEAST ((size_t)64 << 10)

/* Whether a call of the program's has to be noted: this process is recorded, and the call is not
 * our own. The other functions may only be called where this is so. */
bool mappings_wanted(void);

/* Whether any was ever noted: if not, nothing can be unmapped. */
bool mappings_any(void);

/* The calling thread is within host_enter. `begin` is a page's; `stack` is the number of a
 * callstack. */
void mappings_add(uintptr_t begin, size_t bytes, enum recorder_map_kind kind, uint32_t stack);
void mappings_remove(uintptr_t begin, size_t bytes);

/* A whole piece moved, or changed its size. False if it is no whole piece, or the caller must not
 * wait: nothing is noted. */
bool mappings_move(uintptr_t begin, size_t bytes, uintptr_t to, size_t to_bytes);

/* The stack of a thread, in which this address is, is no longer in use. */
void mappings_stack_ends(uintptr_t address);

/* Tells the trace how much of each mapping is resident, if it is time: now and then, so that it
 * takes a hundredth of the time at most; whenever the process has become an eighth larger than it
 * was at any time that was measured, which bounds how often; and for the last time. True if all of
 * them were measured, and none was missed. The calling thread is within host_enter. */
bool mappings_measure(uint64_t rss_bytes, bool last);

/* A followed child is going to tell its own trace what it has inherited. */
void mappings_inherit(void);

void mappings_before_fork(void);
void mappings_after_fork(bool child);

#endif
/* SPDX-License-Identifier: MIT */
