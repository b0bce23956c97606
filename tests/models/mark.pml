/* Marking, and how its end is detected: src/gc/collect/mark.c, helpers.c, barrier.h, and of major.c
 * start_cycle, end_mark, is_marked and collect_markers.
 *
 * Followed line by line: visit, scan, give, take, share, mark_some, mark_give_all, mark_again;
 * begin_work, end_work, wait_for_work, return_work, mark_packets, help, wait_while, helpers_pause,
 * helpers_resume, helpers_await, helpers_wake, helpers_stop; barrier_before and barrier_store.
 *
 * Left out: sizes, pieces of spans, finalisers, sweeping. A mark stack and a ring are sets here,
 * and a packet is one span. A stack has room for one or two. The lock `marking` is assumed to be
 * correct: the code under it is one step. The world is stopped by a flag that domains respect
 * between operations; stop.pml is about that. Hints (`sleeping`, `hungry`) may have any value,
 * except in `give`. A slice (work_for_a_moment of major.c) is here to mark anything at all.
 *
 * Two domains change the graph and mark, and one of them leads. The leader also reclaims what
 * helpers hold, but only where one domain and one helper mark (else there are too many states).
 * HELPERS threads help. First a cycle ends in which there was nothing to do, while helpers may
 * still be about to look for work. Then the cycle begins for which the following is proved.
 *
 * Proved:
 * - When marking ends, every block that was reachable when the cycle began is marked, and so is
 *   every block that is reachable then, whatever the domains did; no marker holds a span, and there
 *   is no packet.
 * - While helpers are paused no helper touches the heap.
 * - No helper is busy when a cycle begins.
 * - A domain that reclaims waits for the piece that a helper is in, or is about to begin, and for
 *   no other piece; and the spans that were returned meanwhile are there for it.
 * - A slice of a domain that owes work marks something, unless nothing is left: however far
 *   helpers get, the domain does not allocate further before.
 * - No thread sleeps for ever, and the helpers end when they are told to quit.
 *
 * TWIN_NO_BARRIER (assertion violated): a field is overwritten without marking the old value.
 * TWIN_LATE_BARRIER (assertion violated): the old value is read after it was overwritten.
 * TWIN_IGNORED_OVERFLOW (assertion violated): the end does not check whether spans were dropped.
 * TWIN_IGNORED_HELPERS (assertion violated): the end does not check whether helpers are busy.
 * TWIN_TWO_LOOKS (assertion violated, safety_helpers): the end looks for packets, then for busy
 *   helpers; a helper may return its spans in between.
 * TWIN_LATE_BUSY (assertion violated): a helper raises `busy` after it took a packet.
 * TWIN_IGNORED_MARKER (assertion violated): the end does not look at what the barriers of the
 *   stopped domain left.
 * TWIN_OLD_COLOUR (assertion violated, safety, random): a helper reads which colour is white before
 *   it takes its first packet.
 * TWIN_LATE_PAUSE_CHECK (assertion violated): a helper checks whether it is paused before it raises
 *   `working`.
 * TWIN_QUIET_QUIT (invalid end state): helpers are told to quit and not woken.
 * TWIN_QUIET_HELPER (invalid end state, safety_reclaiming): a helper that has marked all that it
 *   held does not tell a domain that reclaims.
 * TWIN_QUIET_PAUSE (invalid end state): a helper that ceases to touch the heap does not tell the
 *   thread that pauses it.
 * TWIN_LATE_RECLAIM (invalid end state, safety_reclaiming): a domain raises `reclaimers` after it
 *   checked whether it has to wait.
 * TWIN_LATE_SEEN (invalid end state, safety_reclaiming): a domain reads the futex after it checked
 *   whether it has to wait.
 * TWIN_DEAF (assertion violated, safety_reclaiming): a helper does not look at `reclaimers`.
 * TWIN_OVERTAKEN (assertion violated, safety_reclaiming): a helper takes again what it returned for
 *   a domain.
 * TWIN_PATIENT (assertion violated, safety_reclaiming): a slice that finds nothing leaves the rest to
 *   the helpers that hold it.
 * TWIN_ONE_LOOK (assertion violated, safety_reclaiming): a domain that finds that helpers do not hold
 *   all does not look for packets again; one may have been returned since it looked.
 *
 * Sources: src/gc/collect/mark.c, src/gc/collect/mark.h, src/gc/collect/helpers.c, src/gc/collect/helpers.h.
 * Sources: src/gc/collect/barrier.c, src/gc/collect/barrier.h, src/gc/collect/major.c.
 * Search: safety, safety_helpers (two helpers, no changes), safety_reclaiming (a domain reclaims). */
#ifdef SEARCH_safety_helpers
#define HELPERS    2
#define OPERATIONS 0
#define PAUSES     0
#define RECLAIMS       0
#define ROOM       2
#else
#ifdef SEARCH_safety_reclaiming
#define HELPERS    1
#define OPERATIONS 0
#define PAUSES     1
#define RECLAIMS       1
#define ROOM       2
#else
#define HELPERS    1
#define OPERATIONS 1
#define PAUSES     1
#define RECLAIMS       0
#define ROOM       1
#endif
#endif
#define MARKERS (2 + HELPERS) /* two domains; helpers */
#define N       4
#define F       2

/* Blocks are 1 to N; a set has a bit for each. */
#define BIT(block) (1 << (block))
byte field[(N + 1) * F];
bool colour[N + 1], live; /* heap->marked */

#define MARK  1
#define SWEEP 2
byte phase = MARK;

byte stack[MARKERS], ring[MARKERS]; /* struct marker */
byte span[MARKERS];                 /* the block whose fields the marker is scanning */
byte packets;                        /* the spans of all packets: a set */
byte busy, sleeping, working;
bool paused, overflowed, quit;
bool reclaimers; /* one domain at most */
mtype = { NOT_READ, SEEN, CHANGED };
mtype news = NOT_READ; /* the futex; a thread that read it only needs to know whether it changed since */
bool returned; /* ghost variable: a helper returned a span while a domain reclaimed */
byte pieces[MARKERS]; /* ghost variable: begun by a helper while a domain reclaimed and no packet was there */

byte handle[3]; /* two of the first domain, one of the second */
bool stopped, in_operation;

/* The futex `wake` only counts up: a thread that read it only needs to know whether it has changed
 * since. */
bool asleep[MARKERS], changed[MARKERS], changed_in_pause[MARKERS];
bool at_rest;           /* ghost variable: helpers are paused */
byte snapshot, reached; /* ghost variables: sets */

inline reach() { /* the blocks that the handles lead to */
  reached = 0;
  for (k : 0 .. 2) { reached = reached | BIT(handle[k]) }
  for (j : 1 .. N) {
    for (k : 1 .. N) {
      if
      :: reached & BIT(k) -> reached = reached | BIT(field[k * F]) | BIT(field[k * F + 1])
      :: else
      fi
    }
  }
  k = 0;
  j = 0
}

#define COUNT(set) (((set) >> 1 & 1) + ((set) >> 2 & 1) + ((set) >> 3 & 1) + ((set) >> 4 & 1))

/* The first of a set. */
inline choose(block, set) {
  if
  :: set & BIT(1) -> block = 1
  :: !(set & BIT(1)) && set & BIT(2) -> block = 2
  :: !(set & (BIT(1) | BIT(2))) && set & BIT(3) -> block = 3
  :: !(set & (BIT(1) | BIT(2) | BIT(3))) -> block = 4
  fi
}

/* ---- mark.c ---- */

inline push(block) {
  if
  :: COUNT(stack[me]) >= ROOM -> overflowed = true
  :: else -> stack[me] = stack[me] | BIT(block)
  fi
}

/* `white` is set. Two markers may find the same block white; its fields are then scanned twice. The
 * fields are looked at one by one, and a block without children is not pushed. */
inline visit(block) {
  if
  :: colour[block] == white ->
     d_step {
       assert(!at_rest || me < 2);
       colour[block] = !white
     };
     if
     :: atomic { field[block * F] -> push(block) }
     :: else ->
        if
        :: atomic { field[block * F + 1] -> push(block) }
        :: else
        fi
     fi
  :: else
  fi
}

inline helpers_wake() {
  d_step {
    for (k : 2 .. MARKERS - 1) { asleep[k] = false; changed[k] = true; changed_in_pause[k] = true }
    k = 0
  }
}

inline helpers_tell() { news = (news == SEEN -> CHANGED : news) }

inline give() {
  atomic {
    returned = returned || reclaimers && me >= 2;
    choose(block, stack[me]);
    stack[me] = stack[me] & ~BIT(block);
    packets = packets | BIT(block);
    block = 0
  }
  if
  :: reclaimers -> helpers_tell()
  :: else
  fi;
  if
  :: sleeping -> helpers_wake()
  :: else
  fi
}

#ifdef TWIN_OVERTAKEN
#define MAY_TAKE true
#else
#define MAY_TAKE (me < 2 || !reclaimers)
#endif

inline take() {
  atomic {
    if
    :: packets && MAY_TAKE ->
       choose(block, packets);
       packets = packets & ~BIT(block);
       stack[me] = BIT(block);
       block = 0
    :: else
    fi
  }
}

/* Under the same lock as take. */
inline mark_take_first() {
  atomic {
    if
    :: packets && MAY_TAKE ->
#ifndef TWIN_LATE_BUSY
       busy++;
#endif
       choose(block, packets);
       packets = packets & ~BIT(block);
       stack[me] = BIT(block);
       block = 0
    :: else
    fi
  }
}

/* WATERLINE is 1. */
#define VISITS (COUNT(ring[me]) > 1 || ring[me] && !stack[me])

/* Ends when the marker holds nothing and there is no packet; or, if `may_stop`, at any time. */
inline mark_some(may_stop) {
#ifdef TWIN_OLD_COLOUR
  if
  :: me < 2 -> white = !live
  :: else -> white = early
  fi;
#else
  white = !live;
#endif
  do
  :: atomic { VISITS -> choose(block, ring[me]); ring[me] = ring[me] & ~BIT(block) }
     worked = true;
     visit(block);
     block = 0
  :: atomic {
       stack[me] && !(VISITS) -> choose(block, stack[me]);
       stack[me] = stack[me] & ~BIT(block);
       span[me] = block
     }
     worked = true;
     atomic { child = field[block * F]; ring[me] = (child -> ring[me] | BIT(child) : ring[me]) }
     atomic { child = field[block * F + 1]; ring[me] = (child -> ring[me] | BIT(child) : ring[me]) }
     atomic { span[me] = 0; block = 0; child = 0 }
  :: COUNT(stack[me]) > 1 && !packets -> give() /* share */
  :: !ring[me] && !stack[me] ->
     take();
     if
     :: !stack[me] -> break
     :: else
     fi
  :: may_stop && worked -> break
  od;
  white = false
}

inline mark_give_all() {
  white = !live;
  do
  :: atomic { ring[me] -> choose(block, ring[me]); ring[me] = ring[me] & ~BIT(block) }
     visit(block);
     block = 0
  :: !ring[me] && stack[me] -> give()
  :: !ring[me] && !stack[me] -> break
  od;
  white = false
}

/* The world is stopped. Marks the children of each marked block, and the blocks that they lead to. */
inline mark_again() {
  do
  :: overflowed = false;
     at = 1;
     do
     :: at <= N ->
        if
        :: colour[at] == live ->
           f = 0;
           do
           :: f < F ->
              white = !live;
              atomic { child = field[at * F + f]; f++ }
              if
              :: child -> visit(child)
              :: else
              fi;
              child = 0
           :: else -> break
           od;
           f = 0;
           mark_some(false)
        :: else
        fi;
        at++
     :: else -> break
     od;
     at = 0;
     if
     :: !overflowed -> break
     :: else
     fi
  od
}

/* ---- barrier.h ---- */

inline store(block, i, value) {
#ifndef TWIN_LATE_BARRIER
  old = field[(block) * F + i];
#endif
#ifndef TWIN_NO_BARRIER
#ifdef TWIN_LATE_BARRIER
  field[(block) * F + i] = value;
  old = field[(block) * F + i];
#endif
  if
  :: phase == MARK && old -> white = !live; visit(old); white = false
  :: else
  fi;
#endif
  field[(block) * F + i] = value;
  old = 0
}

/* One operation of a domain between two safepoints. Its handles are `mine` and `other`, which may
 * be the same. */
inline operate(mine, other) {
  if
  :: handle[mine] -> handle[other] = field[handle[mine] * F]
  :: handle[mine] -> handle[other] = field[handle[mine] * F + 1]
  :: handle[mine] -> store(handle[mine], 0, 0)
  :: handle[mine] && handle[other] -> store(handle[mine], 1, handle[other])
  fi
}

#define LOCALS                                      \
  byte block, child, old, k, j;                     \
  bool white, worked, early

/* ---- major.c ---- */

inline stop() {
  stopped = true;
  !in_operation
}

inline start_cycle() {
  assert(!busy);
  live = !live;
  phase = MARK;
  d_step { reach(); snapshot = reached; reached = 0 }
  for (root : 0 .. 2) {
    white = !live;
    if
    :: handle[root] -> visit(handle[root])
    :: else
    fi
  }
  root = 0;
  mark_give_all();
  begun = true
}

inline check_marked() {
  reach();
  for (k : 1 .. N) {
    assert(colour[k] == live || !(snapshot & BIT(k)));
    assert(colour[k] == live || !(reached & BIT(k)))
  }
  for (k : 0 .. MARKERS - 1) { assert(!stack[k] && !ring[k] && !span[k]) }
  assert(!packets);
  reached = 0;
  k = 0
}

inline end_mark() {
#ifndef TWIN_IGNORED_MARKER
  me = 1; /* collect_markers: for the domain that is stopped */
  mark_give_all();
  me = 0;
#endif
  if
  :: !packets && !busy -> mark_give_all() /* the leader's, where helpers are idle */
  :: else
  fi;
  /* is_marked: others_have_nothing has the lock, so it sees both in one step */
#ifdef TWIN_TWO_LOOKS
  if
  :: !packets -> over = !busy
  :: else
  fi;
#else
#ifdef TWIN_IGNORED_HELPERS
  over = !packets;
#else
  over = !packets && !busy;
#endif
#endif
  if
  :: over && !stack[0] && !ring[0] ->
     if
#ifndef TWIN_IGNORED_OVERFLOW
     :: overflowed -> mark_again()
#endif
     :: else -> phase = SWEEP
     fi
  :: else
  fi;
  over = false
}

/* ---- helpers.c: waiting for helpers ---- */

#define HOLD_THE_REST (busy && !packets)

/* Waits until `news` changes, at most. */
inline wait_while(condition) {
#ifdef TWIN_LATE_SEEN
  if
  :: condition -> news = SEEN; news == CHANGED
  :: else
  fi;
#else
  news = SEEN;
  if
  :: condition -> news == CHANGED
  :: else
  fi;
#endif
  news = NOT_READ
}

inline forget_pieces() {
  returned = false;
  for (k : 2 .. MARKERS - 1) { pieces[k] = 0 }
  k = 0
}

/* `got`: there was something to wait for, or to take. */
inline helpers_await() {
#ifdef TWIN_LATE_RECLAIM
  news = SEEN;
  if
  :: HOLD_THE_REST -> got = true; reclaimers = true; news == CHANGED
  :: else
  fi;
  news = NOT_READ;
#else
#ifndef TWIN_ONE_LOOK
  d_step { reclaimers = true; forget_pieces() }
#endif
  if
  :: HOLD_THE_REST ->
#ifdef TWIN_ONE_LOOK
     d_step { reclaimers = true; forget_pieces() }
#endif
     got = true;
     wait_while(HOLD_THE_REST)
  :: else
  fi;
#endif
#ifdef TWIN_ONE_LOOK
  if
  :: reclaimers -> d_step { take(); assert(!returned || stack[me]); forget_pieces() }
  :: else
  fi;
#else
  d_step { take(); assert(!returned || stack[me]); got = got || stack[me]; forget_pieces() }
#endif
  reclaimers = false;
  if
  :: packets && sleeping -> helpers_wake()
  :: else
  fi
}

/* Of work_for_a_moment. */
inline slice() {
  do
  :: mark_some(true);
     if
     :: worked -> break
     :: else
     fi;
#ifndef TWIN_PATIENT
     helpers_await();
#endif
     if
     :: got -> got = false
     :: else -> d_step { assert(!packets && !busy) } break
     fi
  od;
  worked = false
}

inline helpers_pause() {
  paused = true;
  do
  :: working -> wait_while(working)
  :: else -> break
  od
}

proctype leader() {
  LOCALS;
  byte me, root, at, f, operations = OPERATIONS;
  bool begun, over, got, rested = !PAUSES;
  do
  :: operations && begun -> operations--; operate(0, 1)
  :: !RECLAIMS && begun && phase == MARK -> mark_some(true); worked = false
  :: RECLAIMS && begun && phase == MARK -> slice()
  :: stop();
     if
     :: phase == MARK ->
        end_mark();
        if
        :: begun && phase == SWEEP -> d_step { check_marked(); snapshot = 0 } break
        :: else
        fi
     :: else -> start_cycle()
     fi;
     if
     :: begun && !rested -> /* verify: helpers are paused */
        rested = true;
        helpers_pause();
        at_rest = true;
        at_rest = false;
        paused = false;
        helpers_wake()
     :: true
     fi;
     stopped = false
  od;
  stopped = false;
  operations = 0;
  quit = true;
#ifndef TWIN_QUIET_QUIT
  helpers_wake();
#endif
  _nr_pr == 2 /* this thread, and init */
}

proctype second() {
  LOCALS;
  byte me = 1, operations = OPERATIONS;
  do
  :: atomic { operations && snapshot && !stopped -> in_operation = true }
     operations--;
     operate(2, 2);
     in_operation = false
  :: break
  od
}

/* ---- helpers.c ---- */

inline end_work() {
  working--;
  if
#ifdef TWIN_QUIET_PAUSE
  :: reclaimers -> helpers_tell()
#else
  :: paused || reclaimers -> helpers_tell()
#endif
  :: else
  fi
}

inline wait_for_work() {
  do
  ::
#ifdef TWIN_LATE_PAUSE_CHECK
     if
     :: !paused -> working++; break
     :: else
     fi;
#else
     working++;
     if
     :: !paused -> break
     :: else -> end_work()
     fi;
#endif
     changed_in_pause[me] = false;
     if
     :: paused -> futex_wait(changed_in_pause[me])
     :: else
     fi
  od;
  changed_in_pause[me] = false
}

inline futex_wait(news) {
  asleep[me] = !news;
  !asleep[me]
}

#ifdef TWIN_DEAF
#define IS_RECLAIMED false
#else
#define IS_RECLAIMED (reclaimers && !packets)
#endif

inline begin_piece() {
  wait_for_work();
  d_step {
    pieces[me] = pieces[me] + (reclaimers && !packets);
    assert(pieces[me] <= 1)
  }
}

inline mark_packets() {
#ifdef TWIN_OLD_COLOUR
  early = !live;
#endif
  if
  :: !IS_RECLAIMED -> wait_for_work(); mark_take_first(); end_work()
  :: else
  fi;
  if
  :: stack[me] ->
#ifdef TWIN_LATE_BUSY
     busy++;
#endif
     do
     :: IS_RECLAIMED -> break
     :: !IS_RECLAIMED ->
        worked = false;
        begin_piece();
        mark_some(PAUSES || !left);
        end_work();
        if
        :: !worked -> break
        :: !left -> left = true; break /* may_work is false; once, for one helper, is enough */
        :: worked
        fi
     od;
     if /* return_work */
     :: stack[me] || ring[me] -> wait_for_work(); mark_give_all(); end_work()
     :: else
     fi;
     worked = false;
     busy--;
     if
#ifndef TWIN_QUIET_HELPER
     :: reclaimers -> helpers_tell()
#endif
     :: else
     fi
  :: else -> slept = true
  fi
}

proctype helper(byte me) {
  LOCALS;
  bool left = me != 2, slept;
  do
  :: quit -> break
  :: !quit ->
     changed[me] = false;
     mark_packets();
     if
     :: slept ->
        slept = false;
        sleeping++;
        if
        :: !(packets && !reclaimers) && !quit -> futex_wait(changed[me])
        :: else
        fi;
        sleeping--
     :: else
     fi
  od
}

init {
  atomic {
    field[1 * F] = 2;
    field[1 * F + 1] = 3;
    field[3 * F] = 4;
    field[3 * F + 1] = 1;
    field[4 * F] = 2; /* so that a block that only a barrier marks has a child */
    handle[0] = 1;
    handle[2] = (OPERATIONS -> 3 : 0);
    for (reached : 1 .. N) { colour[reached] = live }
    reached = 0;
    run leader();
    run second();
    for (reached : 2 .. MARKERS - 1) { run helper(reached) }
    reached = 0
  }
}
/* SPDX-License-Identifier: MIT */
