/* Checks of a program's mistakes. They cost nothing where checks are off.
 *
 * Inlined functions of the public header check where the program is compiled with WN_DEBUG. The
 * others check where the heap is compiled with CHECKS. A check never reads through a pointer that
 * the mistake could have made invalid: it finds the threads of domains in the calling system
 * thread's own list, and slots in a table of debug.c. The exception is a value of the major heap: its
 * header is read, and a crash there has the line of the mistake.
 *
 * A mistake is reported in one line that names the function, and the program aborts.
 *
 * SCOPES. A program that is compiled with WN_DEBUG notes the scopes that it opens. Only the outermost
 * ones count: those that begin at the lowest slot at which an open scope begins. So a jump out of
 * inner scopes leaves the count right. A handle that is made while none is open lives until its
 * thread ends. Such a program is told so once, at the next call, and goes on.
 *
 * The first two slots of a scope name its function. So a name lasts as long as the handles of its
 * scope. If a jump skips the end of the scope, that is until the scope around it ends: what the
 * function of that scope makes until then has the name, too. Both slots are integers, which no
 * collection looks at: the address of the text, and a product of it, by which the pair is told from
 * handles of integers. */
#ifndef GC_DOMAINS_DEBUG_H
#define GC_DOMAINS_DEBUG_H

#include "base/check.h"
#include "gc/store/layout.h"
#include <winnow/heap.h>

struct domain_thread;

/* A slot whose handle died has POISON_SLOT, and a field that the caller of wn_bump has not filled
 * yet has POISON_FIELD. Both are neither an integer nor a block. */
#define POISON_SLOT  ((wn_value)0xdeaddeaddeaddea8)
#define POISON_FIELD ((wn_value)0xfeedfeedfeedfee8)

_Noreturn void debug_complain(const char *function, const char *what);

/* Complains if the calling thread does not run in the domain. */
void debug_check_domain(const wn_domain *domain, const char *function);

/* True if an old block at this address was freed or has moved, as far as its header tells. */
bool debug_block_is_gone(wn_value block);

/* False if the program notes its scopes, and the thread has none open. */
bool debug_may_have_scope(const struct domain_thread *thread);

/* The function that is named by the slot and the one below it; NULL: they name none. */
const char *debug_scope_named_by(const wn_value *slot, const wn_value *first);

/* debug_note_slots: the slots of a thread exist from now on. debug_forget_slots: they are about to
 * go. */
void debug_note_slots(const struct domain_thread *thread);
void debug_forget_slots(const struct domain_thread *thread);

/* Around a fork, where checks are on: no other thread is at work on the table of slots then. */
void debug_before_fork(void);
void debug_after_fork(void);

/* Complains if a raw value is neither an integer nor a block where a block can be. */
void debug_check_value(const wn_domain *domain, wn_value value, const char *function);

/* Complains of a handle of a dead scope, of another thread or domain; not of a null one, which the
 * function refuses itself. `what` begins the message. */
static inline void debug_check_given(const wn_domain *domain, wn_ref ref, const char *what) {
  if (CHECKS && !wn_is_null(ref)) wn_check_handle(domain, ref, what);
}

/* Complains if the handle is not of a block of bytes. */
void debug_check_bytes(wn_ref raw, const char *function);

/* Stress mode `delays`: a pause now and then, so that other threads run in between. */
void debug_pause(void);

/* A pause between two steps of a protocol of several threads. Costs nothing where checks are
 * off. */
#define DEBUG_STEP(heap)                                \
  do {                                                  \
    if (CHECKS && (heap)->stress.delays) debug_pause(); \
  } while (0)

/* For public functions that are not inlined. */
#define DEBUG_DOMAIN(domain)                          \
  do {                                                \
    if (CHECKS) debug_check_domain(domain, __func__); \
  } while (0)
#define DEBUG_HANDLE(domain, ref)                       \
  do {                                                  \
    if (CHECKS) wn_check_handle(domain, ref, __func__); \
  } while (0)
#define DEBUG_FIELD(block, i)                       \
  do {                                              \
    if (CHECKS) wn_check_field(block, i, __func__); \
  } while (0)

#endif
/* SPDX-License-Identifier: MIT */
