/* Forks of the process: parent and child both go on with all heaps that are open.
 *
 * A fork handler stops the world of each heap, pauses helper threads, and takes all locks, so that
 * the copy is in a state in which only the calling thread was at work (FORK of safepoint.h). The
 * parent lets go of all that.
 *
 * CHILD. The child has the calling thread alone. It takes back what the other threads held:
 *   - A domain of other threads is lost (LOST of ending.h). The other threads of a domain in which
 *     the calling thread is end as if by pthread_exit, but no callback runs.
 *   - Helper threads begin again at the next collection.
 *   - A trace is its parent's: its profile stops. Profiles go on, with the domains that are left.
 *   - Threads that were not joined yet cannot be joined.
 * Nothing here allocates blocks, starts threads or collects: most children execute another program
 * at once.
 *
 * The bare system call, vfork and posix_spawn call no handler. If the thread that forks is in a hook
 * (hooks.h), or holds a lock since a signal handler interrupted one of our functions, the copy is
 * made as it is: the child must not use the heaps. */
#ifndef GC_API_FORK_H
#define GC_API_FORK_H

/* From now on forks are handled. Any thread; may be called more than once. */
void fork_prepare(void);

#endif
/* SPDX-License-Identifier: MIT */
