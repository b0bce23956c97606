/* The exchanges of an entry's state. The picture and the invariants are in entry.h. */
#include "memprof/entry.h"

#include "base/check.h"

static const uint64_t GENERATION = UINT64_C(1) << 32;

static bool swap(struct memprof_entry *entry, uint64_t *from, uint64_t to) {
  return atomic_compare_exchange_weak_explicit(&entry->word, from, to, memory_order_seq_cst,
                                               memory_order_acquire);
}

/* Invariant F. */
static bool is_over(uint64_t word) {
  return entry_stage(word) == STAGE_ZOMBIE && !(word & (ENTRY_RUNNING | ENTRY_QUEUED | ENTRY_LINKED));
}

static uint64_t freed(uint64_t word) { return ((word & ~(GENERATION - 1)) + GENERATION) | STAGE_FREE; }

/* The part of each exchange that is the same: where to go from a word whose flags are as they should be. */
static uint64_t concluded(uint64_t word) { return is_over(word) ? freed(word) : word; }

static void free_if_over(struct memprof *engine, struct memprof_entry *entry, uint64_t word) {
  if (entry_stage(word) == STAGE_FREE) slots_give(&engine->entries, entry, entry->number);
}

/* ---- shared ---- */

void entry_publish(struct memprof_entry *entry, uint64_t flags) {
  uint64_t word = atomic_load_explicit(&entry->word, memory_order_relaxed);
  ASSERT(entry_stage(word) == STAGE_FREE);
  word = (word & ~(GENERATION - 1)) | STAGE_ALLOC | ENTRY_QUEUED | ENTRY_LINKED | flags;
  atomic_store_explicit(&entry->word, word, memory_order_release);
}

bool entry_post(struct memprof *engine, struct memprof_entry *entry, uint64_t set, uint64_t clear) {
  uint64_t from = entry_word(entry), to;
  bool due;
  do {
    to = (from | set) & ~clear;
    due = !(to & (ENTRY_RUNNING | ENTRY_QUEUED)) && entry_step(to) != STEP_NONE;
    if (due) to |= ENTRY_QUEUED;
    to = concluded(to);
  } while (!swap(entry, &from, to));
  free_if_over(engine, entry, to);
  return due;
}

enum entry_step entry_claim(struct memprof *engine, struct memprof_entry *entry) {
  uint64_t from = entry_word(entry), to;
  enum entry_step step;
  do {
    ASSERT(from & ENTRY_QUEUED);
    to = from & ~(uint64_t)ENTRY_QUEUED;
    step = from & ENTRY_RUNNING ? STEP_NONE : entry_step(to); /* seized: that claimant makes it a zombie */
    if (step != STEP_NONE) to |= ENTRY_RUNNING;
    if (step == STEP_RESIZE || step == STEP_ALLOC) to &= ~(uint64_t)ENTRY_RESIZED;
    to = concluded(to);
  } while (!swap(entry, &from, to));
  free_if_over(engine, entry, to);
  return step;
}

bool entry_seize(struct memprof_entry *entry, uint64_t word) {
  enum entry_stage stage = entry_stage(word);
  if (word & ENTRY_RUNNING || stage == STAGE_FREE || stage == STAGE_ZOMBIE) return false;
  return atomic_compare_exchange_strong_explicit(&entry->word, &word, word | ENTRY_RUNNING,
                                                 memory_order_seq_cst, memory_order_relaxed);
}

enum entry_step entry_settle(struct memprof *engine, struct memprof_entry *entry, enum entry_stage stage,
                             uint64_t *word) {
  uint64_t from = entry_word(entry), to;
  enum entry_step step;
  do {
    ASSERT(from & ENTRY_RUNNING);
    to = (from & ~(uint64_t)(ENTRY_STAGE | ENTRY_RUNNING)) | stage;
    step = entry_step(to);
    if (step != STEP_NONE) to |= ENTRY_RUNNING;
    if (step == STEP_RESIZE) to &= ~(uint64_t)ENTRY_RESIZED;
    to = concluded(to);
  } while (!swap(entry, &from, to));
  free_if_over(engine, entry, to);
  *word = to;
  return step;
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
