/* Callbacks that became pending while the thread was busy with its queue. */
#include "memprof/pending.h"

void pending_arrives(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct memprof_entry *first = atomic_load_explicit(&thread->arrived, memory_order_relaxed);
  do {
    entry->pending_next = first;
  } while (!atomic_compare_exchange_weak_explicit(&thread->arrived, &first, entry, memory_order_release,
                                                  memory_order_relaxed));
}

void pending_take_arrived(struct memprof_thread *thread) {
  struct memprof_entry *newest = atomic_exchange_explicit(&thread->arrived, NULL, memory_order_acquire);
  struct memprof_entry *oldest = NULL;
  while (newest) {
    struct memprof_entry *next = newest->pending_next;
    newest->pending_next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest) {
    struct memprof_entry *next = oldest->pending_next;
    entry_pending_append(&thread->pending, oldest);
    oldest = next;
  }
}
/* SPDX-License-Identifier: MIT */
