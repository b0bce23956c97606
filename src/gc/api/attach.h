/* Attaching and detaching domains, and the ends of their threads.
 *
 * ENDS. A thread can end anywhere in user code: its body returns, or it calls pthread_exit, in a
 * callback, in a hook, in a blocking section. Then:
 *   1. The thread *stops*: it leaves its blocking section, it is in no callback any more, and its
 *      handles die.
 *   2. Its last callbacks run, unless one of them ended the thread. No frame is left that could
 *      catch what they raise (exception.h).
 *   3. The thread leaves its domain. */
#ifndef GC_API_ATTACH_H
#define GC_API_ATTACH_H

#include "gc/domains/domain.h"

/* Makes a domain, with the calling thread as its first. The domain takes part in the profile of
 * `parent` if `parent` is not NULL. */
wn_status domain_attach(struct wn_heap *heap, struct wn_domain *parent, struct wn_domain **out);

/* ENDS, step 1. Harmless if the thread has stopped. */
void thread_stop(struct domain_thread *thread);

/* Called when the domain's first thread ends, wherever it is: ends the domain, too, once its other
 * threads have ended. Calls nothing of the program. */
void domain_give_up(struct domain_thread *thread);

/* Ends the domains that are lost (LOST of ending.h), if there are such. The calling thread runs in no
 * domain of the heap. */
void domain_end_lost(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
