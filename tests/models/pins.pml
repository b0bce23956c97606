/* SPDX-License-Identifier: MIT */
/* Pins beside collections and compactions: src/gc/collect/pins.c, src/gc/api/pin.c, and of
 * compact.c may_move. G28b of docs/semantics.md promises it.
 *
 * Followed line by line: wn_pin, wn_unpin, pins_add, pins_remove, pins_has, pins_each where a cycle
 * begins. The table is a count for each address; to find a count, and to store it, are two steps.
 * While a table grows no other thread may read it.
 *
 * Left out: the hash table (tests/conformance/gc/pins.c), marking (a block is freed by one step if
 * neither a handle nor a pin leads to it; mark.pml), workers (compact.pml), stopping the world
 * (stop.pml).
 *
 * Two domains have handles of one block, which is young at first. They pin and unpin it, and may
 * let their handle go while they have pinned it: the raw address then is their only way to it. A
 * third domain compacts. The block has another address each time that it moves.
 *
 * Proved:
 * - From the return of wn_pin to the call of the last wn_unpin the block is where it was, and
 *   lives.
 * - In each stop of the world the counts are those of the pins, and no other address has a count.
 *   Unpinning finds what was pinned.
 * - No collection reads the table while it changes.
 * - No thread waits for ever.
 *
 * TWIN_NO_LOCK (assertion violated): the table changes without the lock.
 * TWIN_YOUNG (assertion violated): a young block is pinned where it is.
 * TWIN_OLD_ADDRESS (assertion violated): wn_pin reads the handle before the collection that
 *   promotes the block.
 * TWIN_SAFEPOINT (assertion violated): the domain stops between the load of the handle and the
 *   change of the table.
 * TWIN_EARLY_LOOK (assertion violated): a compaction looks which blocks are pinned, and then stops
 *   the world.
 * TWIN_UNSTOPPED (assertion violated): a compaction does not wait until the domains stand still.
 * TWIN_NO_COUNT (assertion violated): a block is not pinned as soon as it was unpinned once.
 * TWIN_NO_ROOT (assertion violated): a pin is no root.
 * TWIN_STOPS_LOCKED (invalid end state): wn_pin takes the lock, and then promotes the block.
 *
 * Sources: src/gc/collect/pins.c, src/gc/collect/pins.h, src/gc/api/pin.c.
 * Sources: src/gc/collect/compact.c.
 * Search: safety. */
#define DOMAINS     3
#define COMPACTOR   2
#define COMPACTIONS 2
#define OPERATIONS  4

/* Addresses of the block. */
#define FREED 0
#define YOUNG 1
#define OLD   2
#define MOST  (OLD + COMPACTIONS)
byte at = YOUNG;

byte handle[DOMAINS];
byte pins[MOST + 1]; /* by address: `count` of its slot */
bool lock, changing; /* `changing`: a thread is in the middle of a change of the table */

mtype = { RUNNING, BLOCKED, CLAIMED };
mtype state[DOMAINS] = RUNNING;
bool stopping, world;

/* Ghost variables: what each domain has pinned, and where. */
byte pinned[DOMAINS], raw[DOMAINS];

/* ---- stopping the world ---- */

inline take_back() { atomic { state[me] == BLOCKED -> state[me] = RUNNING } }

inline safepoint() {
  state[me] = BLOCKED;
  take_back()
}

inline claim(d) {
  if
  :: d != me -> atomic { state[d] == BLOCKED -> state[d] = CLAIMED }
  :: else
  fi
}

inline leave(d) { state[d] = (d != me -> BLOCKED : state[d]) }

/* `leads` is what it returns. */
inline world_stop() {
  if
  :: atomic { !stopping -> stopping = true }
     atomic { !world -> world = true }
#ifndef TWIN_UNSTOPPED
     claim(0);
     claim(1);
     claim(2);
#endif
     leads = true
  :: stopping ->
     state[me] = BLOCKED;
     !stopping;
     take_back()
  fi
}

inline world_release() {
#ifndef TWIN_UNSTOPPED
  d_step { leave(0); leave(1); leave(2) }
#endif
  stopping = false;
  world = false;
  leads = false
}

/* ---- collections ---- */

#ifdef TWIN_UNSTOPPED
#define HAS_STOPPED false
#else
#define HAS_STOPPED true
#endif

inline check_counts() {
  assert(!changing);
  for (a : FREED .. MOST) { assert(!HAS_STOPPED || pins[a] == (a == at -> pinned[0] + pinned[1] : 0)) }
  a = 0
}

/* The block and its handles get another address. */
inline move_to(address) {
  at = address;
  handle[0] = (handle[0] -> at : 0);
  handle[1] = (handle[1] -> at : 0)
}

#ifdef TWIN_NO_ROOT
#define IS_KEPT (handle[0] || handle[1])
#else
#define IS_KEPT (handle[0] || handle[1] || pins[at])
#endif

/* A minor collection, and then the end of a cycle. */
inline collect_stopped() {
  d_step {
    check_counts();
    if
    :: at == YOUNG -> move_to(OLD)
    :: else
    fi;
    if
    :: !IS_KEPT -> at = FREED
    :: else
    fi
  }
}

/* pins_has */
#define IS_PINNED (pins[at] > 0)

proctype compactor() {
  byte me = COMPACTOR, a, times = COMPACTIONS;
  bool leads, is_pinned;
  do
  :: times ->
#ifdef TWIN_EARLY_LOOK
     is_pinned = IS_PINNED;
#endif
     do
     :: leads -> break
     :: else -> world_stop()
     od;
     collect_stopped();
#ifndef TWIN_EARLY_LOOK
     d_step { assert(!changing); is_pinned = IS_PINNED }
#endif
     if
     :: at && !is_pinned -> d_step { move_to(at + 1) }
     :: else
     fi;
     is_pinned = false;
     world_release();
     times--
  :: else -> break
  od;
  state[me] = BLOCKED
}

/* ---- pin.c, pins.c ---- */

inline lock_acquire() {
#ifdef TWIN_NO_LOCK
  lock = true
#else
  atomic { !lock -> lock = true }
#endif
}

/* `delta` is 1 or -1. */
inline change(address, delta) {
  d_step { found = pins[address]; changing = true }
#ifdef TWIN_NO_COUNT
  pins[address] = (delta < 0 -> 0 : found + 1);
#else
  pins[address] = found + delta;
#endif
  changing = false
}

inline load_handle() {
  address = handle[me];
#ifdef TWIN_SAFEPOINT
  safepoint()
#endif
}

#ifdef TWIN_YOUNG
#define IS_YOUNG false
#else
#define IS_YOUNG (handle[me] == YOUNG)
#endif

inline promote() {
  do
  :: IS_YOUNG ->
     world_stop();
     if
     :: leads -> collect_stopped(); world_release()
     :: else
     fi
  :: else -> break
  od
}

inline wn_pin() {
#ifdef TWIN_OLD_ADDRESS
  load_handle();
#endif
#ifdef TWIN_STOPS_LOCKED
  lock_acquire();
  promote();
  load_handle();
#else
  promote();
#ifndef TWIN_OLD_ADDRESS
  load_handle();
#endif
  lock_acquire();
#endif
  change(address, 1);
  d_step { lock = false; pinned[me]++; raw[me] = handle[me] }
}

inline wn_unpin() {
  load_handle();
  lock_acquire();
  change(address, -1);
  assert(found);
  d_step { lock = false; pinned[me]--; raw[me] = (pinned[me] -> raw[me] : 0) }
}

#define LEADS_THERE(address) ((address) && (address) == at)

proctype domain(byte me) {
  byte a, address, operations = OPERATIONS;
  short found;
  bool leads;
  do
  :: operations && (handle[me] || pinned[me]) ->
     operations--;
     assert(!pinned[me] || LEADS_THERE(raw[me]));
     assert(!handle[me] || LEADS_THERE(handle[me]));
     if
     :: handle[me] -> wn_pin()
     :: handle[me] && pinned[me] -> wn_unpin()
     :: handle[me] -> handle[me] = 0
     :: !handle[me] && pinned[me] -> handle[me] = raw[me]
     fi;
     address = 0;
     found = 0;
     safepoint()
  :: else -> break
  od;
  assert(!pinned[me] || LEADS_THERE(raw[me]));
  state[me] = BLOCKED
}

init {
  atomic {
    handle[0] = YOUNG;
    handle[1] = YOUNG;
    run domain(0);
    run domain(1);
    run compactor()
  }
}
