/* What became due while the thread was busy with its queue. */
#include "memprof/due.h"

void due_arrives(struct memprof_thread *thread, struct memprof_entry *entry) {
  struct memprof_entry *first = atomic_load_explicit(&thread->arrived, memory_order_relaxed);
  do {
    entry->due_next = first;
  } while (!atomic_compare_exchange_weak_explicit(&thread->arrived, &first, entry, memory_order_release,
                                                  memory_order_relaxed));
}

void due_take_arrived(struct memprof_thread *thread) {
  struct memprof_entry *newest = atomic_exchange_explicit(&thread->arrived, NULL, memory_order_acquire);
  struct memprof_entry *oldest = NULL;
  while (newest) {
    struct memprof_entry *next = newest->due_next;
    newest->due_next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest) {
    struct memprof_entry *next = oldest->due_next;
    entry_due_append(&thread->due, oldest);
    oldest = next;
  }
}
/* SPDX-License-Identifier: MIT */
