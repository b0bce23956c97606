/* Calls the program's hooks when memory or its handles are used up (wn_heap_hooks).
 *
 * The caller holds no lock and has nothing to undo, since a hook may leave by longjmp. */
#ifndef GC_DOMAINS_SHORTAGE_H
#define GC_DOMAINS_SHORTAGE_H

#include "gc/domains/domain.h"

/* Calls the hook out_of_memory; ends the process if there is none. True if the caller should try
 * the request for `words` once more. wn_last_error has the message, whatever the hook did. */
bool shortage_of_memory(struct wn_domain *domain, size_t words, const char *message);

/* Calls the hook out_of_handles; ends the process if there is none. `status` is WN_ELIMIT where all
 * slots are in use, or WN_ENOMEM. wn_last_error has the reason, whatever the hook did. */
void shortage_of_handles(struct wn_domain *domain, wn_status status);

#endif
/* SPDX-License-Identifier: MIT */
