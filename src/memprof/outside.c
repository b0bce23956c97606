/* Memory outside of a block of a collected heap: each sampled part of it has an entry, which stands
 * in the table under the block's address from its birth on, so that any thread can find it.
 *
 * SHRINK. If a block that has `from` bytes outside keeps `to` of them, each of its parts keeps that
 * share of its bytes, and the samples and trials of its birth: its probability to be in the sample
 * stays what it was, so the estimate of what is held stays unbiased. Shares are rounded to bytes so
 * that the parts add up to the share of their sum, and each is right in the mean: the ends of the
 * parts, laid one behind the other, are moved by one random fraction and rounded down. At rate 1 the
 * parts of a block are therefore exactly what the block keeps. A part of which nothing is left is
 * dead. */
#include "memprof/engine.h"

#include "base/random.h"

struct shrink {
  size_t from, to;
  uint64_t fraction; /* below `from` */
  size_t before;     /* bytes of the parts that were looked at */
};

static size_t outside_share_of(const struct shrink *shrink, size_t bytes) {
  return (size_t)(((unsigned __int128)bytes * shrink->to + shrink->fraction) / shrink->from);
}

/* The bytes that the next part keeps. */
static size_t outside_keeps(struct shrink *shrink, size_t bytes) {
  size_t begin = outside_share_of(shrink, shrink->before);
  shrink->before += bytes;
  return outside_share_of(shrink, shrink->before) - begin;
}

static void note_bytes(struct memprof_entry *entry, size_t before, size_t bytes) {
  /* The size that was told last: no birth or shrink that is still to be told is such a size. */
  uint64_t word = entry_word(entry);
  if (entry_stage(word) != STAGE_ALLOC && !(word & ENTRY_RESIZED))
    atomic_store_explicit(&entry->previous_bytes, before, memory_order_relaxed);
  atomic_store_explicit(&entry->bytes, bytes, memory_order_relaxed);
}

/* Gives a posted entry to its owner: at once if that is the thread's. True if it is. */
static bool outside_give(struct memprof_thread *thread, struct tracked_shard *shard,
                         struct memprof_entry *entry) {
  struct memprof_owner *owner = thread->owner;
  bool is_own = entry->owner == owner->number;
  if (is_own)
    owner_add_pending(owner, entry);
  else
    tracked_post(&owner->engine->tracked, shard, entry);
  return is_own;
}

/* Shrinks the part to which `*link` leads, and moves the link on. */
static bool shrink_part(struct memprof_thread *thread, struct tracked_shard *shard,
                        struct memprof_entry ***link, struct shrink *shrink) {
  struct memprof *engine = thread->owner->engine;
  struct memprof_entry *entry = **link;
  size_t before = atomic_load_explicit(&entry->bytes, memory_order_relaxed),
         bytes = outside_keeps(shrink, before);
  bool pending;
  if (bytes) {
    *link = &entry->next;
    if (bytes == before) return false;
    note_bytes(entry, before, bytes);
    pending = entry_post(engine, entry, ENTRY_RESIZED, 0);
  } else {
    pending = entry_post(engine, tracked_unlink(shard, *link), ENTRY_DEAD, ENTRY_LINKED);
  }
  return pending && outside_give(thread, shard, entry);
}

/* ---- hosts ---- */

bool memprof_outside_shrank(struct memprof_thread *thread, uintptr_t address, size_t from, size_t to) {
  struct memprof_entry **link;
  struct tracked_shard *shard = tracked_lock(&thread->owner->engine->tracked, address, &link);
  struct shrink shrink = {.from = from, .to = to, .fraction = random_bits(&thread->owner->fractions) % from};
  bool pending = false;
  while (*link) {
    if ((*link)->outside && atomic_load_explicit(&(*link)->address, memory_order_relaxed) == address)
      pending |= shrink_part(thread, shard, &link, &shrink);
    else
      link = &(*link)->next;
  }
  tracked_unlock(shard);
  return pending;
}

void memprof_outside_aged(struct memprof *engine, uintptr_t address, struct memprof_fate fate,
                          struct memprof_owner *heir) {
  struct entry_list parts = {0};
  tracked_take(&engine->tracked, address, &parts);
  for (struct memprof_entry *entry, *next = parts.first; (entry = next);) {
    next = entry->next;
    if (fate.age == MEMPROF_DEAD) {
      owner_post(engine, entry, ENTRY_DEAD, ENTRY_LINKED, heir);
      continue;
    }
    memprof_moved(entry, fate.address);
    owner_post(engine, entry, ENTRY_OLD, 0, heir);
    if (!tracked_insert(&engine->tracked, entry)) owner_post(engine, entry, 0, ENTRY_LINKED, heir);
  }
}
/* SPDX-License-Identifier: MIT */
