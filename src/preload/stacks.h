/* Stacks of threads, which neither malloc nor the program maps.
 *
 * A stack is a piece of the table of mappings (mappings.h), of a kind of its own, with the callers
 * of pthread_create or thrd_create, from the thread's start to its end. The C library gives a stack
 * and puts the thread's descriptor at its upper end, so pthread_self is an address there; how large
 * a stack is, the attributes say. A stack that the program brings is a mapping or a block already.
 *
 * HANDED OVER: the thread itself notes its stack, before it calls the program's function. Its
 * creator could not: the variable in which pthread_create puts the thread's number may be gone when
 * that returns, if the thread was faster. The function is called by a jump, so that stacks look as
 * they do without us.
 *
 * FIRST: the kernel makes the first thread's stack larger where it is used, and what was used stays
 * resident. The stack is noted at the first measurement that finds that thread deep in it, with the
 * callers that it has then; or before, without callers, at the first one that finds that it was
 * deep between two measurements.
 */
#ifndef PRELOAD_STACKS_H
#define PRELOAD_STACKS_H

/* Finds what creates threads below us, and where the first thread's stack lies. */
void stacks_resolve(void);

/* FIRST. The calling thread is within host_enter. */
void stacks_look(void);

/* The calling thread ends. It is within host_enter. */
void stacks_thread_ends(void);

#endif
/* SPDX-License-Identifier: MIT */
