/* A thread's queue of pending callbacks.
 *
 * It has two parts. `pending` is a plain list, used by this thread only. A signal handler that
 * interrupted a use of the list, as `busy` says, adds to `arrived` instead, by an exchange; these
 * callbacks run after the ones of the list. So the common path has no locked instruction. A thread
 * takes callbacks only while it is suspended, so a signal handler's drain takes none meanwhile. */
#ifndef MEMPROF_PENDING_H
#define MEMPROF_PENDING_H

#include "memprof/entry.h"

/* The rarer half. pending_arrives adds an entry to `arrived`. pending_take_arrived moves the
 * entries that are there to the list, oldest first; the thread is busy meanwhile. */
void pending_arrives(struct memprof_thread *thread, struct memprof_entry *entry);
void pending_take_arrived(struct memprof_thread *thread);

/* Makes this thread busy with its list. False if it was busy already. */
static inline bool pending_begin(struct memprof_thread *thread) {
  if (atomic_load_explicit(&thread->busy, memory_order_relaxed)) return false;
  atomic_store_explicit(&thread->busy, true, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}

static inline void pending_end(struct memprof_thread *thread) {
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&thread->busy, false, memory_order_relaxed);
}

static inline void pending_push(struct memprof_thread *thread, struct memprof_entry *entry) {
  if (!pending_begin(thread)) {
    pending_arrives(thread, entry);
    return;
  }
  entry_pending_append(&thread->pending, entry);
  pending_end(thread);
}

static inline bool pending_is_any(const struct memprof_thread *thread) {
  return thread->pending.first || atomic_load_explicit(&thread->arrived, memory_order_relaxed);
}

/* Whether the list has entries that the caller may take. A signal handler that interrupted the use
 * of the list leaves them to the thread that it interrupted. */
static inline bool pending_is_left(const struct memprof_thread *thread) {
  atomic_signal_fence(memory_order_seq_cst);
  return thread->pending.first && !atomic_load_explicit(&thread->busy, memory_order_relaxed);
}

/* Takes the oldest entry of the queue; NULL if there is none that may be taken. */
static inline struct memprof_entry *pending_take(struct memprof_thread *thread) {
  if (!pending_is_any(thread)) return NULL;
  if (!pending_begin(thread))
    return NULL; /* in a signal handler that interrupted a use of the list: the callbacks run later */
  if (atomic_load_explicit(&thread->arrived, memory_order_relaxed)) pending_take_arrived(thread);
  struct memprof_entry *entry = entry_pending_pop(&thread->pending);
  pending_end(thread);
  return entry;
}

#endif
/* SPDX-License-Identifier: MIT */
