/* An owner of tracked blocks: a domain of a collected heap, or the whole malloc heap. */
#ifndef MEMPROF_OWNER_H
#define MEMPROF_OWNER_H

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

/* Of tracked.h. */
struct tracked_list {
  struct tracked_piece *first, *last;
};

/* Provided by the host, zeroed, at a fixed address until memprof_owner_end. Hosts read `host` and
 * nothing else. */
struct memprof_owner {
  /* Set by memprof_owner_create; constant afterwards. */
  struct memprof *engine;
  void *host;
  /* The handle of the profile that this owner takes part in, or of one that ended; 0 for none.
   * Written by the owner's threads by compare and exchange; pairs with owner_profile. */
  _Atomic(uint64_t) profile;
  /* Only the one thread that has the owner to itself uses the rest: the owner's running thread, or
   * the collection that stopped this thread. All of it stays empty in a parallel host. */
  struct young_table *table; /* of samples of young blocks; NULL until one is needed */
  struct entry_list young;   /* young tracked blocks, through `next`; also old ones without room in `old` */
  struct tracked_list old;   /* old tracked blocks */
  bool old_changed; /* an old block became a zombie or has a new address: the next scan looks at each */
  struct entry_list pending; /* promote and dealloc callbacks to run, through `pending_next` */
  uint64_t discards_seen;    /* of engine->discards, when the lists were last cleaned */
};

#endif
/* SPDX-License-Identifier: MIT */
