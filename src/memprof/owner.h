/* An owner of tracked blocks: a domain of a collected heap, or the whole malloc heap. */
#ifndef MEMPROF_OWNER_H
#define MEMPROF_OWNER_H

#include "base/random.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct memprof;
struct memprof_entry;
struct young_table;

/* A first-in first-out list of entries through one of their links. */
struct entry_list {
  struct memprof_entry *first, *last;
};

/* Provided by the host, zeroed, at a fixed address until memprof_owner_end. Hosts read `host` and
 * nothing else. */
struct memprof_owner {
  /* Set by memprof_owner_create; constant afterwards. */
  struct memprof *engine;
  void *host;
  uint64_t number;            /* no other owner of the engine ever has it; 0 in a parallel host */
  struct memprof_owner *next; /* in a list of owner.c; protected by the engine's lock */
  /* The handle of the profile that this owner takes part in, or of one that ended; 0 for none.
   * Written by the owner's threads by compare and exchange; pairs with owner_profile. */
  _Atomic(uint64_t) profile;
  /* Only the one thread that has the owner to itself uses the rest: the owner's running thread, or
   * the collection that stopped this thread. All of it stays empty in a parallel host. */
  struct young_table *table; /* of samples of young blocks; NULL until one is needed */
  struct entry_list young;   /* young tracked blocks, through `next` */
  struct entry_list pending; /* promote and dealloc callbacks to run, through `pending_next` */
  uint64_t discards_seen;    /* of engine->discards, when `young` was last cleaned */
  struct random fractions;   /* of bytes, for SHRINK of outside.c */
};

#endif
/* SPDX-License-Identifier: MIT */
