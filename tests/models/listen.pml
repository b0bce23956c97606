/* SPDX-License-Identifier: MIT */
/* Listeners that come and go while events are told: LISTENING of src/gc/events/events.h, and BEGUN
 * of src/gc/api/listen.c.
 *
 * Followed line by line: events_tell, is_heard, listeners_add, listeners_remove, wn_gc_listen,
 * wn_gc_unlisten; collect_or_be_collected of major.c; of safepoint.c world_stop, world_wait,
 * world_release and domain_unblock, as far as they tell events; begin_work and end_work;
 * minor_join.
 *
 * A clock is modelled by what it is compared with: of each pause, to which listeners it began too
 * early. A clock may give the same time twice.
 *
 * Left out: the sets of kinds (each listener wants all), futexes and the thread that forks
 * (stop.pml), heaps that open or close. events_add and events_remove are one step, and a flag tells
 * that they are in progress.
 *
 * Two domains each may listen and unlisten, with a listener of its own; or collect, tell growth
 * with the lock CHUNKS, or be in a blocking section. While they wait for a leader they may share
 * its collection. A helper tells growth. A thread tells that a domain begins, with the lock WORLD.
 *
 * Proved:
 * - The list changes while no thread is telling, and no thread tells while it changes.
 * - After wn_gc_unlisten has released the listener, no thread reads it.
 * - A listener that is added hears the begin and the end of a pause or stop, or neither, and no
 *   span begins for it before the last one of its kind has ended.
 * - No thread waits for ever.
 *
 * TWIN_NO_STOP (assertion violated): the list changes while the domains run.
 * TWIN_NO_PAUSE (assertion violated): the thread that pauses helpers does not wait for them.
 * TWIN_EARLY_RESUME (assertion violated): helpers are resumed before the list changes.
 * TWIN_LATE_WORKING (assertion violated): a helper looks whether it is paused, and then raises
 *   `working`.
 * TWIN_NO_LOCK (assertion violated): a domain that begins is told without the lock WORLD.
 * TWIN_NO_WAIT (assertion violated): a leader does not wait for the threads that share its
 *   collection.
 * TWIN_SUSPENDED (assertion violated): a thread tells of its pause before its domain runs again.
 * TWIN_EARLY_FREE (assertion violated): a listener is released before it has left the list.
 * TWIN_END_TIME (assertion violated): the end of a pause is compared by its own time.
 * TWIN_EVERY_STOP (assertion violated): the end of a stop is heard, whether or not its begin was.
 * TWIN_CALLBACK (invalid end state): a callback may listen.
 * TWIN_STOPS_LOCKED (invalid end state): a domain stops while it has the lock CHUNKS.
 *
 * Sources: src/gc/events/events.c, src/gc/events/events.h, src/gc/api/listen.c.
 * Sources: src/gc/collect/listeners.c.
 * Sources: src/gc/collect/helpers.c, src/gc/domains/safepoint.c.
 * Search: safety, safety_block (blocking sections, one change). */
#define DOMAINS    2
#define THREADS    4
#define HELPER     2
#define NEWCOMER   3
#define OPERATIONS 2

#ifdef SEARCH_safety_block
#define CHANGES(me) (me == 0)
#define MAY_BLOCK   true
#else
#define CHANGES(me) true
#define MAY_BLOCK   false
#endif

#define BIT(x) (1 << (x))
mtype = { POINT, PAUSE_BEGINS, PAUSE_ENDS, STOP_BEGINS, STOP_ENDS };

/* Listeners are 1 and 2: of domain 0 and 1. */
byte first, next[DOMAINS + 1];
bool wanted;
byte early[THREADS]; /* of the pause of a thread: the listeners that it began too early for */
bool stop_began;     /* heap->stop_began_ns */
byte stopped_ns;     /* by listener: a set */

mtype = { RUNNING, BLOCKED, CLAIMED };
mtype state[DOMAINS] = RUNNING;
bool stopping, world, chunks;
bool open, paused;
byte inside, working; /* `active` of the code, and `working` */

/* Ghost variables. */
byte listed, alive;     /* sets of listeners */
byte tellers;           /* threads in events_tell */
bool changing;
byte in_pause[DOMAINS + 1], in_stop; /* by listener: a set of threads; a set of listeners */

/* ---- events.c, listen.c ---- */

inline begin_span(set, x) {
  assert(!(set & BIT(x)));
  set = set | BIT(x)
}

inline end_span(set, x) {
  assert(set & BIT(x));
  set = set & ~BIT(x)
}

#ifdef TWIN_END_TIME
#define EARLY_END 0
#else
#define EARLY_END early[me]
#endif

/* is_heard */
inline hear(kind) {
  d_step {
    assert(alive & BIT(l) && listed & BIT(l) && !changing);
    if
    :: kind == PAUSE_BEGINS && !(early[me] & BIT(l)) -> begin_span(in_pause[l], me)
    :: kind == PAUSE_ENDS && !(EARLY_END & BIT(l)) -> end_span(in_pause[l], me)
    :: kind == STOP_BEGINS -> stopped_ns = stopped_ns | BIT(l); begin_span(in_stop, l)
#ifdef TWIN_EVERY_STOP
    :: kind == STOP_ENDS -> end_span(in_stop, l)
#else
    :: kind == STOP_ENDS && stopped_ns & BIT(l) -> stopped_ns = stopped_ns & ~BIT(l); end_span(in_stop, l)
#endif
    :: else
    fi
  }
#ifdef TWIN_CALLBACK
  if
  :: kind == STOP_BEGINS -> !stopping /* in world_wait */
  :: else
  fi
#endif
}

inline events_tell(kind) {
  if
  :: wanted ->
     atomic { assert(!changing); tellers++; l = first }
     do
     :: atomic { l -> hear(kind); l = next[l] } /* since the list does not change meanwhile */
     :: else -> break
     od;
     tellers--
  :: else
  fi
}

inline read_clock() {
  early[me] = 0;
  if
  :: early[me] = listed /* the same time as that of the last change */
  :: true
  fi
}

inline event_clock() {
  atomic {
    began = wanted;
    if
    :: began -> read_clock()
    :: else -> early[me] = 0
    fi
  }
}

inline event_pause(kind) {
  if
  :: began -> events_tell(kind)
  :: else
  fi
}

inline begin_change() { atomic { assert(!tellers); changing = true } }

#define OWN (me + 1)

inline events_add() {
  begin_change();
  d_step {
    l = first;
    if
    :: !first -> first = OWN
    :: else -> next[l] = OWN
    fi;
    l = 0;
    next[OWN] = 0;
    listed = listed | BIT(OWN);
    alive = alive | BIT(OWN);
    for (t : 0 .. THREADS - 1) { early[t] = early[t] | BIT(OWN) }
    t = 0;
    in_pause[OWN] = 0;
    in_stop = in_stop & ~BIT(OWN);
    stopped_ns = stopped_ns & ~BIT(OWN);
    wanted = true
  }
  changing = false
}

inline events_remove() {
  begin_change();
  d_step {
    if
    :: first == OWN -> first = next[OWN]
    :: else -> next[first] = 0
    fi;
    next[OWN] = 0;
    listed = listed & ~BIT(OWN);
    wanted = listed != 0
  }
  changing = false
}

/* ---- helpers.c ---- */

inline helpers_pause() {
  paused = true;
#ifndef TWIN_NO_PAUSE
  working == 0
#endif
}

inline helpers_resume() { paused = false }

/* ---- safepoint.c ---- */

inline minor_join() {
  inside++;
  if
  :: open -> events_tell(POINT)
  :: else
  fi;
  inside--
}

/* Waits while a leader claims the domain. */
inline take_back() { atomic { state[me] == BLOCKED -> state[me] = RUNNING } }

inline world_wait() {
  event_clock();
  event_pause(PAUSE_BEGINS);
  state[me] = BLOCKED;
  do
  :: !stopping -> break
  :: open && shares -> shares = false; minor_join()
  od;
#ifdef TWIN_SUSPENDED
  event_pause(PAUSE_ENDS);
  take_back()
#else
  take_back();
  event_pause(PAUSE_ENDS)
#endif
}

inline block_and_unblock() {
  state[me] = BLOCKED;
  if
  :: atomic { state[me] == BLOCKED -> state[me] = RUNNING; began = false }
  :: atomic { state[me] != BLOCKED -> began = true; read_clock() } take_back()
  fi;
  event_pause(PAUSE_BEGINS);
  event_pause(PAUSE_ENDS)
}

#define OTHER (1 - me)

/* `leads` is what it returns. */
inline world_stop() {
  stop_wanted = wanted;
  if
  :: atomic { !stopping -> stopping = true }
     stop_wanted = stop_wanted || wanted;
     atomic { !world -> world = true }
     atomic { state[OTHER] == BLOCKED -> state[OTHER] = CLAIMED }
     leads = true;
     stop_began = stop_wanted;
     if
     :: stop_began -> events_tell(STOP_BEGINS)
     :: else
     fi
  :: stopping -> world_wait(); leads = false
  fi;
  stop_wanted = false
}

inline world_release() {
  if
  :: stop_began -> events_tell(STOP_ENDS)
  :: else
  fi;
  state[OTHER] = BLOCKED;
  stopping = false;
  world = false;
  leads = false
}

/* ---- what domains do ---- */

inline grow() {
  atomic { !chunks -> chunks = true }
#ifdef TWIN_STOPS_LOCKED
  if
  :: me < DOMAINS && stopping -> state[me] = BLOCKED; take_back()
  :: else
  fi;
#endif
  events_tell(POINT);
  chunks = false
}

/* The second time comes where another thread led, and did not collect. */
inline collect() {
  event_clock();
  do
  :: world_stop();
     if
     :: leads -> break
     :: !leads -> goto collected
     :: !leads -> event_clock()
     fi
  od;
  event_pause(PAUSE_BEGINS);
  open = true;
  events_tell(POINT);
  open = false;
#ifndef TWIN_NO_WAIT
  inside == 0;
#endif
  world_release();
  event_pause(PAUSE_ENDS);
collected: skip
}

inline stop_for_change() {
#ifndef TWIN_NO_STOP
  do
  :: world_stop();
     if
     :: leads -> break
     :: else
     fi
  od;
#endif
  helpers_pause()
#ifdef TWIN_EARLY_RESUME
  ;
  helpers_resume()
#endif
}

inline end_change() {
  helpers_resume();
#ifndef TWIN_NO_STOP
  world_release()
#endif
}

inline listen() {
  stop_for_change();
  events_add();
  end_change()
}

inline unlisten() {
#ifdef TWIN_EARLY_FREE
  alive = alive & ~BIT(OWN);
#endif
  stop_for_change();
  events_remove();
  end_change();
  alive = alive & ~BIT(OWN)
}

proctype helper() {
  byte me = HELPER, l, times = 1;
  do
  :: times ->
#ifdef TWIN_LATE_WORKING
     !paused;
     working++;
#else
     working++;
     if
     :: !paused
     :: else -> working--; !paused; goto again
     fi;
#endif
     grow();
     working--;
     times--;
again: skip
  :: else -> break
  od
}

proctype domain(byte me) {
  byte l, t, operations = OPERATIONS;
  bool began, leads, stop_wanted, shares = true;
  do
  :: atomic { operations -> operations-- }
     if
     :: CHANGES(me) && !(listed & BIT(OWN)) -> listen()
     :: CHANGES(me) && listed & BIT(OWN) -> unlisten()
     :: collect()
     :: grow()
     :: MAY_BLOCK -> block_and_unblock()
     fi;
     began = false
  :: else -> break
  od;
  state[me] = BLOCKED
}

proctype newcomer() {
  byte me = NEWCOMER, l;
#ifndef TWIN_NO_LOCK
  atomic { !world -> world = true }
#endif
  events_tell(POINT);
#ifndef TWIN_NO_LOCK
  world = false
#endif
}

init { atomic { run domain(0); run domain(1); run helper(); run newcomer() } }
