/* A thread's queue of due callbacks.
 *
 * It has two parts. `due` is a plain list, used by this thread only. Where a signal handler interrupts that use, which it
 * sees by `busy`, it adds to `arrived` instead, by an exchange; what is there comes after what is due. So the common path has
 * no locked instruction. Callbacks are taken by a suspended thread only, hence never by two loops. */
#ifndef MEMPROF_DUE_H
#define MEMPROF_DUE_H

#include "memprof/entry.h"

/* The rarer half: adds to `arrived`; moves what is there to the list, oldest first, while the thread is busy. */
void due_arrives(struct memprof_thread *thread, struct memprof_entry *entry);
void due_take_arrived(struct memprof_thread *thread);

/* True if this thread was not busy with its list, and is now. */
static inline bool due_begin(struct memprof_thread *thread) {
  if (atomic_load_explicit(&thread->busy, memory_order_relaxed)) return false;
  atomic_store_explicit(&thread->busy, true, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}

static inline void due_end(struct memprof_thread *thread) {
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&thread->busy, false, memory_order_relaxed);
}

static inline void due_push(struct memprof_thread *thread, struct memprof_entry *entry) {
  if (!due_begin(thread)) {
    due_arrives(thread, entry);
    return;
  }
  entry_due_append(&thread->due, entry);
  due_end(thread);
}

static inline bool due_is_any(const struct memprof_thread *thread) {
  return thread->due.first || atomic_load_explicit(&thread->arrived, memory_order_relaxed);
}

/* Something is there to be taken, and by this thread: where a signal handler interrupted the list, who was interrupted looks. */
static inline bool due_is_left(const struct memprof_thread *thread) {
  atomic_signal_fence(memory_order_seq_cst);
  return thread->due.first && !atomic_load_explicit(&thread->busy, memory_order_relaxed);
}

/* The oldest, or NULL. */
static inline struct memprof_entry *due_take(struct memprof_thread *thread) {
  if (!due_is_any(thread)) return NULL;
  if (!due_begin(thread)) return NULL; /* a signal handler interrupted the list: its callbacks run later */
  if (atomic_load_explicit(&thread->arrived, memory_order_relaxed)) due_take_arrived(thread);
  struct memprof_entry *entry = entry_due_pop(&thread->due);
  due_end(thread);
  return entry;
}

#endif
/* SPDX-License-Identifier: MIT */
