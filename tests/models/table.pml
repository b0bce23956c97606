/* The table of old tracked blocks: src/memprof/tracked.h, ZOMBIES and REUSE; callbacks.c, bury; owner.c,
 * memprof_visit_old, memprof_found_dead and memprof_tell.
 *
 * One entry, of a block at address 0, stands in the table. A collector moves the block to address 1, each in
 * a shard of its own, or finds it dead. Two threads may stop tracking it: one whose
 * profile is discarded, and the owner, once the death is told. A free slot serves another block, of the next
 * generation, which is put into the table at address 0.
 *
 * Proved:
 * - At the end no zombie is in the table, and each is free.
 * - No slot is freed that is in the table or on its way there.
 * - A thread that stops tracking a block takes out no entry of another block.
 *
 * TWIN_NO_LOOK (assertion violated): a thread that puts an entry into the table does not look whether it is a zombie.
 * TWIN_EARLY_ADDRESS (assertion violated): the address is read before the entry is made a zombie.
 * TWIN_NO_CLAIM (assertion violated): the claim is given up when the zombie is made, and not at the end.
 * TWIN_KEEPS_LINK (assertion violated): an entry that turns out to be a zombie on its way stays LINKED.
 *
 * Sources: src/memprof/tracked.c, src/memprof/tracked.h, src/memprof/entry.h, src/memprof/callbacks.c, src/memprof/owner.c.
 * Search: safety. */
bool held[2];  /* the locks of the shards */
bool chain[2]; /* whether the entry is in the chain of its address */
bool flight;   /* it is on its way */
bool zombie, running, linked = true, died, free; /* the entry's word */
byte generation, address, over;

inline acquire(shard) { d_step { !held[shard] -> held[shard] = true } }
inline release(shard) { held[shard] = false }

/* Invariant F of entry.h, in the exchange that may free the entry. */
inline free_if_over() {
  if
  :: zombie && !running && !linked ->
     assert(!chain[0] && !chain[1] && !flight && !free);
     free = true
  :: else
  fi
}

inline put(to) {
  address = to;
  acquire(to);
  d_step {
    linked = true;
    looked = !zombie;
#ifdef TWIN_NO_LOOK
    looked = true;
#endif
  }
  if
  :: looked -> d_step { chain[to] = true; flight = false }
  :: else
  fi;
  release(to);
  if
  :: !looked ->
     d_step {
       flight = false;
#ifndef TWIN_KEEPS_LINK
       linked = false;
#endif
       free_if_over()
     }
  :: else
  fi
}

proctype collector() {
  bool looked, found;
  acquire(0);
  if
  :: d_step { chain[0] -> chain[0] = false; flight = true; found = true }
  :: d_step { chain[0] -> chain[0] = false; linked = false; died = true; free_if_over() }
  :: d_step { !chain[0] -> skip }
  fi;
  release(0);
  if
  :: found -> put(1)
  :: else
  fi;
  over++
}

/* Stops tracking the block: `when` is the discard of a profile, or the death that was told. */
proctype forgetter(bool at_death) {
  bool mine, removed;
  byte its, where;
  if
  :: d_step { (!at_death || died) && !running && !zombie && !free -> running = true; its = generation; mine = true }
  :: d_step { over >= 1 && (!at_death || !died || running || zombie || free) -> skip }
  fi;
  if
  :: mine ->
#ifdef TWIN_EARLY_ADDRESS
     where = address;
#endif
     d_step {
       zombie = true;
#ifdef TWIN_NO_CLAIM
       running = false;
       free_if_over()
#endif
     }
#ifndef TWIN_EARLY_ADDRESS
     where = address;
#endif
     acquire(where);
     if
     :: d_step { chain[where] -> assert(its == generation); chain[where] = false; removed = true }
     :: else
     fi;
     release(where);
     d_step {
#ifndef TWIN_NO_CLAIM
       running = false;
#endif
       if :: removed -> linked = false :: else fi;
       if :: its == generation && !free -> free_if_over() :: else fi
     }
  :: else
  fi;
  over++
}

/* The slot serves another block. */
proctype birth() {
  bool looked;
  if
  :: d_step { free -> free = false; zombie = false; died = false; linked = true; generation++ }
     put(0)
  :: over == 3 && !free -> skip
  :: over == 3 && free -> skip
  fi;
  over++
}

init {
  atomic {
    chain[0] = true;
    run collector();
    run forgetter(false);
    run forgetter(true);
    run birth()
  }
  over == 4;
  assert(!(zombie && (chain[0] || chain[1])));
  assert(!zombie || free)
}
