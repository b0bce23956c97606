/* The end of a domain: wn_domain_detach and bequeath of src/gc/api/attach.c, with what other
 * threads do to the domain meanwhile: a collection (minor.c, major.c), a join (wn_join_wait,
 * finalisers_inherit), wn_heap_close of open.c.
 *
 * Followed line by line: in the domain that ends, has_young_things and its loop, thread_pause,
 * bequeath, finalisers_leave, destroy; wn_join_wait and `inherit` of finaliser.c; wn_heap_close. Of
 * a collection: what it does with each domain's remembered set, pools, marker, registry and
 * counters, and that it finds heirs for registries. Even steps that the lock `world` protects are
 * single steps, so that a thread without the lock can come between them.
 *
 * Left out: how domains are stopped (stop.pml) and blocks are copied (copy.pml): a collection
 * claims the domain as soon as it is blocked, and empties everything at once. There is one item of
 * each kind, in one place at a time: a block to which only the domain's remembered set, or its
 * minor heap, or its registry leads; a pool with free memory; work to be marked; a registration; a
 * word that was counted; the domain's own memory.
 *
 * The domain may store while it runs, may be joined or not, and ends. Another domain collects now
 * and then, joins it or not, and ends. Then the heap is closed, by a thread that waited only until
 * no domain was left.
 *
 * Proved:
 * - Each item that the domain leaves is found once: the block was promoted, the pool is in a list,
 *   the work is shared, the registration has one heir, and the word is counted once whenever
 *   statistics are taken.
 * - No memory is touched after it was freed, or freed twice; at the end everything was freed.
 * - The domain that joins inherits the registration, if it was kept for it; otherwise another
 *   domain does.
 * - No thread waits for ever.
 *
 * TWIN_FORGOTTEN_SET (assertion violated): the domain does not check whether its remembered set is
 *   empty.
 * TWIN_ONE_COLLECTION (assertion violated): the domain does not check again after another domain's
 *   stop of the world, in which nothing was collected.
 * TWIN_KEPT_POOLS (assertion violated): the domain keeps its pools.
 * TWIN_KEPT_WORK (assertion violated): the domain keeps the work of its marker.
 * TWIN_END_WITHOUT_LOCK (assertion violated): the domain ends without the lock.
 * TWIN_LATE_LEAVE (assertion violated): the domain leaves the list, and hands over after it has
 *   released the lock.
 * TWIN_EARLY_CLOSE (assertion violated): the heap is closed without a look at the number of
 *   domains.
 *
 * Sources: src/gc/api/attach.c, src/gc/api/spawn.c, src/gc/api/open.c, src/gc/collect/finaliser.c.
 * Search: safety. */

/* Where an item is. */
#define NOWHERE 0 /* or freed */
#define OWN     1 /* of the domain that ends */
#define HEAP    2 /* shared, in a list, an orphan, or counted: of the whole heap */
#define OTHER   3 /* of the other domain */

bool listed[2], alive[2]; /* the domain that ends is 0 */
byte count;               /* heap->domain_count */
bool running[2];          /* neither claimed nor blocked */
bool world, orphans_lock, closed;
bool stopping;

byte young, remembered, pool, work, registry, counted;
bool young_registration, promoted, reserved;
bool has_ended; /* pthread_join waits for it */
byte frees;     /* of the domain's memory: a ghost variable */

#define LOCK(lock)   atomic { !lock -> lock = true }
#define UNLOCK(lock) lock = false
#define HEAP_IS_OPEN assert(!closed)


/* ---- the other domain's collections, and the domain's own ---- */

/* finaliser.c: takes an orphan, unless it is kept for the domain that will join. */
inline inherit(joins) {
  LOCK(orphans_lock);
  HEAP_IS_OPEN;
  if
  :: registry == HEAP && ((joins) || !reserved) ->
     registry = (me -> OTHER : OWN)
  :: else
  fi;
  UNLOCK(orphans_lock)
}

/* All that the collector does while the world is stopped. `all`: also phases of the major
 * collector. */
inline collect_stopped(all) {
  if
  :: listed[0] ->
     assert(alive[0] && (me == 0 || !running[0]));
     /* the minor collection looks at whatever leads to the block, then empties the minor heaps */
     if
     :: young == OWN || remembered == OWN || young_registration && registry == OWN -> promoted = true
     :: else
     fi;
     d_step { young = NOWHERE; remembered = NOWHERE; young_registration = false }
     if
     :: all -> /* flush_pools, collect_markers */
        pool = (pool == OWN -> HEAP : pool);
        work = (work == OWN -> HEAP : work)
     :: else
     fi;
     assert(alive[0])
  :: else
  fi;
  inherit(false);
  if
  :: all && registry == HEAP -> reserved = false /* finalisers_cycle_ended: it was kept long enough */
  :: else
  fi
}

inline statistics() {
  assert(counted == HEAP || counted == OWN && listed[0])
}

/* world_stop claims the other domain as soon as that is blocked; world_wait waits while the other
 * stops the world. */
inline world_wait() {
  running[me] = false;
  !stopping;
  atomic { !stopping -> running[me] = true }
}

/* `led` is false if the other domain stopped the world. */
inline world_stop() {
  if
  :: atomic { !stopping -> stopping = true }
     LOCK(world);
     HEAP_IS_OPEN;
     !listed[1 - me] || !running[1 - me];
     led = true
  :: stopping -> world_wait(); led = false
  fi
}

inline world_release() {
  stopping = false;
  UNLOCK(world);
  led = false
}

/* ---- the domain that ends ---- */

#ifdef TWIN_FORGOTTEN_SET
#define HAS_YOUNG_THINGS (young == OWN || young_registration)
#else
#define HAS_YOUNG_THINGS (young == OWN || remembered == OWN || young_registration)
#endif

inline bequeath() {
  HEAP_IS_OPEN;
#ifdef TWIN_LATE_LEAVE
  d_step { listed[0] = false; count-- }
  UNLOCK(world);
#endif
  assert(counted == OWN);
  counted = HEAP;
#ifndef TWIN_KEPT_POOLS
  pool = (pool == OWN -> HEAP : pool);
#endif
#ifndef TWIN_KEPT_WORK
  work = (work == OWN -> HEAP : work);
#endif
  LOCK(orphans_lock);
  HEAP_IS_OPEN;
  registry = (registry == OWN -> HEAP : registry);
  UNLOCK(orphans_lock);
#ifndef TWIN_LATE_LEAVE
  d_step { listed[0] = false; count-- }
#endif
}

/* destroy: the items that the domain still has are lost with its memory. */
inline destroy() {
  d_step {
    assert(alive[0]);
    alive[0] = false;
    frees++;
    assert(pool != OWN && work != OWN && registry != OWN && counted != OWN);
    if
    :: young == OWN || remembered == OWN || young_registration -> assert(promoted); young = NOWHERE; remembered = NOWHERE
    :: else
    fi
  }
}

proctype ending() {
  byte me = 0;
  bool led;
  /* what it may have done while it ran */
  d_step { pool = OWN; counted = OWN }
  if
  :: young = OWN
  :: remembered = OWN
  :: skip
  fi;
  if
  :: work = OWN
  :: skip
  fi;
  if
  :: atomic { registry = OWN; young_registration = true }
  :: skip
  fi;
  /* wn_domain_detach */
  do
  :: HAS_YOUNG_THINGS ->
     world_stop();
     if
     :: led -> collect_stopped(false); world_release()
     :: else
     fi
#ifdef TWIN_ONE_COLLECTION
     break
#endif
  :: !(HAS_YOUNG_THINGS) -> break
  od;
  running[0] = false; /* thread_pause */
#ifndef TWIN_END_WITHOUT_LOCK
  LOCK(world);
#endif
  bequeath();
#if !defined(TWIN_END_WITHOUT_LOCK) && !defined(TWIN_LATE_LEAVE)
  UNLOCK(world);
#endif
  destroy();
  has_ended = true
}

/* ---- the other ---- */

proctype other() {
  byte me = 1, collections = 2;
  bool led, joined;
  do
  :: collections -> collections--;
     world_stop();
     if
     :: led ->
        statistics();
        if
        :: true -> collect_stopped(true)
        :: true -> collect_stopped(false)
        :: skip /* statistics only, or the parameters */
        fi;
        world_release()
     :: else
     fi
  :: !joined -> /* wn_join_wait */
     running[1] = false;
     has_ended;
     atomic { !stopping -> running[1] = true }
     joined = true;
     inherit(true);
     assert(registry != HEAP)
  :: break
  od;
  running[1] = false;
  LOCK(world);
  d_step { HEAP_IS_OPEN; listed[1] = false; count-- }
  LOCK(orphans_lock);
  registry = (registry == OTHER -> HEAP : registry);
  UNLOCK(orphans_lock);
  alive[1] = false;
  UNLOCK(world)
}

/* wn_heap_close, repeated until no domain is left; finalise_all runs the finalisers of orphans. */
proctype closer() {
#ifndef TWIN_EARLY_CLOSE
  do
  :: LOCK(world);
     if
     :: !count -> UNLOCK(world); break
     :: else -> UNLOCK(world); !count
     fi
  od;
#endif
  atomic { closed = true; assert(!listed[0] && !listed[1]) }
  d_step {
    assert(pool == HEAP && counted == HEAP);
    assert(registry == HEAP || registry == NOWHERE);
    pool = NOWHERE; registry = NOWHERE; work = NOWHERE
  }
  has_ended && !alive[1];
  assert(frees == 1 && !alive[0])
}

init {
  atomic {
    listed[0] = true; listed[1] = true;
    alive[0] = true; alive[1] = true;
    running[0] = true; running[1] = true;
    count = 2;
    counted = OWN;
    if
    :: reserved = true /* it will be joined */
    :: skip
    fi;
    run ending();
    run other();
    run closer()
  }
}
/* SPDX-License-Identifier: MIT */
