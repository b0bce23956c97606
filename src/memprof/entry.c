/* The rarer functions on entries. The picture and the invariants are in entry.h. */
#include "memprof/entry.h"

#include "base/check.h"

/* ---- shared ---- */

uint64_t entry_postpone(struct memprof_entry *entry, enum entry_step step) {
  uint64_t from = entry_word(entry), to;
  do {
    ASSERT(from & ENTRY_RUNNING && !(from & ENTRY_QUEUED));
    to = (from & ~(uint64_t)ENTRY_RUNNING) | ENTRY_QUEUED;
    if (step == STEP_RESIZE) to |= ENTRY_RESIZED; /* `settle` had cleared it */
  } while (!entry_swap(entry, &from, to));
  return to;
}

bool entry_seize(struct memprof_entry *entry, uint64_t word) {
  enum entry_stage stage = entry_stage(word);
  if (word & ENTRY_RUNNING || stage == STAGE_FREE || stage == STAGE_ZOMBIE) return false;
  return atomic_compare_exchange_strong_explicit(&entry->word, &word, word | ENTRY_RUNNING,
                                                 memory_order_seq_cst, memory_order_relaxed);
}

void entry_list_join(struct entry_list *list, struct entry_list *tail) {
  if (!tail->first) return;
  if (list->last)
    list->last->next = tail->first;
  else
    list->first = tail->first;
  list->last = tail->last;
  *tail = (struct entry_list){0};
}

void entry_pending_join(struct entry_list *list, struct entry_list *tail) {
  if (!tail->first) return;
  if (list->last)
    list->last->pending_next = tail->first;
  else
    list->first = tail->first;
  list->last = tail->last;
  *tail = (struct entry_list){0};
}
/* SPDX-License-Identifier: MIT */
