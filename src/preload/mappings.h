/* What the program maps itself, beside malloc: allocators of its own, stacks, buffers, files.
 *
 * The resident size of a process is more than malloc's blocks, and users ask first what the rest
 * is. So each mapping of MAPPING_LEAST or more that the program makes by mmap, mremap, brk or sbrk
 * is noted with its callstack, and so are the stacks of threads (stacks.h). From time to time a
 * thread that allocates or frees measures how much of each mapping is resident, and writes that to
 * the trace. Other mappings of the C library and the loader (malloc's heap, libraries) are not
 * noted.
 *
 * PIECES: the table has one piece for each stretch of addresses that such a call mapped. Pieces do
 * not overlap. A piece keeps its place in the array of pieces, and a second array has the numbers
 * of these places in order of address. So only numbers move when a piece comes or goes: there may
 * be tens of thousands. Each piece is one mapping in the trace. A hole in the midst of a piece
 * leaves two pieces; the upper one is a new mapping in the trace.
 *
 * LAZY: the thread that first measures a piece writes the piece's record to the trace, with the
 * time of that measurement. A piece that is gone before has no record: the trace could say nothing
 * of interest about it, and so it costs no disk.
 *
 * DROPPED: a bounded trace drops its oldest chunks. So where a piece's record is in the older half
 * of what the trace has, the table ends that mapping in the trace and begins a new one.
 *
 * A removal is noted before the system call and an addition after it, so that a thread which is
 * given the same addresses next finds them free in the table. If the system refuses to unmap, the
 * trace says wrongly that the mapping is gone; that is rare.
 *
 * A thread holds the lock (rank MAPPINGS) while it changes the table and writes the records of the
 * change, never during a system call that maps.
 *
 * QUEUED: a signal handler that interrupted the lock's holder must not wait for the lock, so it
 * puts its change in a small queue. The next thread that takes the lock first applies the queued
 * changes and then its own, since this thread may have been given addresses that the handler
 * unmapped.
 *
 * MISSED: a change that finds the table or the queue full is not noted. From then on the trace
 * cannot say what all resident memory is, and no measurement is complete.
 *
 * FORK: before a fork the lock of this table is taken first, then the lock of page runs. A signal
 * handler may interrupt the holder of the page runs' lock, and fork. The handler must not wait for
 * this table's lock: the thread that holds this table's lock may be waiting for the page runs'
 * lock. If the handler finds this table's lock held, the child begins with an empty table, and has
 * missed the mappings that were in the table.
 */
#ifndef PRELOAD_MAPPINGS_H
#define PRELOAD_MAPPINGS_H

#include "record/recorder.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPING_LEAST ((size_t)64 << 10)

/* Whether a call that maps or unmaps has to be noted: this process is recorded, and the call is the
 * program's, not our own. Only then may the other functions be called. */
bool mappings_wanted(void);

/* Whether a mapping was ever noted. If not, a removal has nothing to do. */
bool mappings_any(void);

/* Note that the program mapped or unmapped addresses. `begin` is the begin of a page. The table
 * releases `stack`, a callstack that the caller has kept, or NULL. The calling thread is within
 * host_enter. */
void mappings_add(uintptr_t begin, size_t bytes, enum recorder_map_kind kind, const wn_callstack *stack);
void mappings_remove(uintptr_t begin, size_t bytes);

/* Notes that a piece moved or changed its size. False if [begin, begin + bytes) is not a whole
 * piece, or if the caller must not wait for the lock; then nothing is noted. */
bool mappings_move(uintptr_t begin, size_t bytes, uintptr_t to, size_t to_bytes);

/* Notes the end of the thread that has this address in its stack. */
void mappings_stack_ends(uintptr_t address);

/* Measures how much of each mapping is resident and writes that to the trace, if a measurement is
 * due. It is due if `last` is true, or if no other thread is measuring and one of two things has
 * happened: the process has become an eighth larger than at any measurement so far; or since the
 * last measurement 10 ms have passed, and 100 times the time that it took. True if all mappings
 * were measured and none was missed. The calling thread is within host_enter. */
bool mappings_measure(uint64_t rss_bytes, bool last);

/* Called in a followed child: each piece that it inherited will be written to the child's own
 * trace, at the next measurement. */
void mappings_inherit(void);

void mappings_before_fork(void);
void mappings_after_fork(bool child);

#endif
/* SPDX-License-Identifier: MIT */
