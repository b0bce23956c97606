/* The rarer half of what is done to an entry. The picture and the invariants are in entry.h. */
#include "memprof/entry.h"

#include "base/check.h"

/* ---- shared ---- */

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

void entry_due_join(struct entry_list *list, struct entry_list *tail) {
  if (!tail->first) return;
  if (list->last)
    list->last->due_next = tail->first;
  else
    list->first = tail->first;
  list->last = tail->last;
  *tail = (struct entry_list){0};
}
/* SPDX-License-Identifier: MIT */
