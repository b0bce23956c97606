/* Stacks of threads, which neither malloc nor the program maps.
 *
 * A stack is a piece of the table of mappings (mappings.h) from the thread's start to its end. It
 * has a kind of its own, and its callstack is that of the call of pthread_create or thrd_create.
 * The C library maps the stack and puts the thread's descriptor at its upper end, so pthread_self
 * is an address there; the attributes have the stack's size. A stack that the program provides is a
 * mapping or a block already.
 *
 * HANDED OVER: the new thread itself notes its stack, before it calls the program's function. The
 * creating thread could not: to find the stack it would read the new thread's pthread_t from the
 * variable where pthread_create stored it, and the new thread may have freed that variable before
 * pthread_create returns. The new thread calls the program's function by a jump (a tail call), so
 * that callstacks look as they do without us.
 *
 * FIRST: the kernel makes the first thread's stack larger as the thread uses it, and pages that
 * were used stay resident. Measurements look at the stack. If the first thread itself measures and
 * is deep in its stack, the stack is noted with the thread's callers at that time. If a measurement
 * only finds that the thread was deep at some time before, it notes the stack without callers; a
 * later measurement may add the callers.
 */
#ifndef PRELOAD_STACKS_H
#define PRELOAD_STACKS_H

/* Finds the C library's pthread_create and thrd_create, and where the first thread's stack lies. */
void stacks_resolve(void);

/* Looks at the first thread's stack, at a measurement (FIRST). The calling thread is within
 * host_enter. */
void stacks_look(void);

/* Called when the calling thread ends: notes that its stack is no longer in use. The thread is
 * within host_enter. */
void stacks_thread_ends(void);

#endif
/* SPDX-License-Identifier: MIT */
