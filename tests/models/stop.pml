/* Stopping the world: src/gc/world/safepoint.c, with what attach and wn_domain_detach of face/attach.c do around it.
 *
 * Followed line by line: change, claim, leave, raise_limit, await, give_up, take_back, world_wait, world_stop,
 * world_release, world_share_collection, world_unshare_collection, domain_reset_limit; enrol and wn_domain_detach as far as they touch the list of domains. Each load, store and
 * exchange of the code is one step here. They are sequentially consistent there, so any order of steps is all that can happen.
 *
 * Left out: spinning before sleep (it only repeats the loops), early returns of a futex (they would hide a wake-up that was
 * lost; the loops repeat), the count of domains awake (a hint), what those do who help, turns of the threads of one domain, samples (raise.pml), and
 * the lock `world`, which is taken to be right. A futex is its contract: to compare and to fall asleep is one step.
 *
 * Each thread has a domain of its own: it attaches, does one or two of these, and detaches: touch its domain and look
 * at the limit; run on and on until the limit says stop, as a loop that only allocates; block and come back; block and
 * never come back, as a system call that takes for ever; stop the world and touch all domains.
 *
 * Proved:
 * - The leader touches a domain only while it is claimed, in the list, and not freed, and no other thread touches it then.
 * - Two never lead at once.
 * - Nobody sleeps for ever: a state in which a thread waits and none can move is an error. So no wake-up is lost, and each
 *   stop ends, though a domain stays blocked for ever: it is collected without being woken.
 * - (Fair) Nobody goes round in circles for ever.
 *
 * TWIN_LATE_LOOK (invalid end state): claim reads `arrivals` after it found the domain running, not before.
 * TWIN_NO_SECOND_LOOK (invalid end state): who resets its limit does not look at `stopping` afterwards.
 * TWIN_SILENT_ARRIVAL (invalid end state): who blocks does not look whether the world is being stopped.
 * TWIN_SILENT_LEAVE (invalid end state): leave wakes nobody.
 * TWIN_PLAIN_UNBLOCK (assertion violated): who comes back looks at its state, and stores without exchange.
 * TWIN_END_WITHOUT_LOCK (assertion violated): a domain that ends takes itself off the list without the lock.
 * TWIN_PLAIN_STOP (invalid end state): who wants to lead looks at `stopping`, and stores without exchange.
 * TWIN_EARLY_WAKE (invalid end state): who lets the world go wakes those that wait before it says that it does.
 *
 * TWIN_NO_WAIT (non-progress cycle): who finds another leading tries again at once, and does not block.
 *
 * Sources: src/gc/world/safepoint.c, src/gc/world/safepoint.h, src/gc/world/domain.c, src/gc/face/attach.c.
 * Search: safety, fair. */
#ifdef SEARCH_fair /* costs more states */
#define THREADS 2
#else
#define THREADS 3
#endif

/* enum stopping */
#define NOT      0
#define STOPPING 1
#define HELP     2

/* enum domain_state */
#define RUNNING 0
#define BLOCKED 1
#define CLAIMED 2
#define AWAITED 3

byte state[THREADS] = BLOCKED;
bool raised[THREADS];  /* face.young_limit is above everything */
bool listed[THREADS];  /* heap->domains */
byte stopping, arrivals; /* enum stopping */
bool world;

/* Ghosts: what the properties speak of. */
bool alive[THREADS], touched[THREADS], leading;
byte gone; /* threads that ended, or never come back, or run on and on */

/* Which futex a thread sleeps on. */
#define ON_ARRIVALS 1
#define ON_STOPPING 2
#define ON_STATE    3
byte asleep[THREADS];

inline futex_wait(word, value, which) {
  atomic {
    if
    :: word == value -> asleep[me] = which
    :: else
    fi
  }
  asleep[me] == 0
}

/* Leader and waiters of one state are one thread at most; sleepers on `stopping` are woken together. */
inline futex_wake(which) {
  d_step {
    w = 0;
    do
    :: w < THREADS -> if :: asleep[w] == which -> asleep[w] = 0 :: else fi; w++
    :: else -> break
    od;
    w = 0
  }
}

inline touch(d) {
  d_step { assert(alive[d] && !touched[d]); touched[d] = true }
  touched[d] = false
}

inline reset_limit(d) {
  raised[d] = false;
#ifndef TWIN_NO_SECOND_LOOK
  if
  :: stopping != NOT -> raised[d] = true
  :: else
  fi
#endif
}

inline claim(d) {
  do
  ::
#ifndef TWIN_LATE_LOOK
     seen = arrivals;
#endif
     if
     :: atomic { state[d] == BLOCKED -> state[d] = CLAIMED }; break
     :: else
     fi;
     if
     :: state[d] == RUNNING ->
#ifdef TWIN_LATE_LOOK
        seen = arrivals;
#endif
        futex_wait(arrivals, seen, ON_ARRIVALS)
     :: else
     fi
  od;
  seen = 0
}

inline leave(d) {
  atomic { assert(alive[d]); was = state[d]; state[d] = BLOCKED }
#ifndef TWIN_SILENT_LEAVE
  if
  :: was == AWAITED -> futex_wake(ON_STATE + d)
  :: else
  fi;
#endif
  was = 0
}

inline await() {
  do
  :: state[me] == BLOCKED -> break
  :: state[me] == CLAIMED ->
     if
     :: atomic { state[me] == CLAIMED -> state[me] = AWAITED }; futex_wait(state[me], AWAITED, ON_STATE + me)
     :: else
     fi
  od
}

inline block() {
  state[me] = BLOCKED;
#ifndef TWIN_SILENT_ARRIVAL
  if
  :: stopping != NOT -> arrivals++; futex_wake(ON_ARRIVALS)
  :: else
  fi
#endif
}

inline unblock() {
  do
#ifdef TWIN_PLAIN_UNBLOCK
  :: state[me] == BLOCKED -> state[me] = RUNNING; break
#else
  :: atomic { state[me] == BLOCKED -> state[me] = RUNNING }; break
#endif
  :: state[me] != BLOCKED -> await()
  od;
  reset_limit(me)
}

inline world_wait() {
  block();
  do
  :: seen = stopping;
     if
     :: seen -> futex_wait(stopping, seen, ON_STOPPING) /* after minor_help, if it is HELP */
     :: else -> break
     fi
  od;
  unblock()
}

/* The domains of all other threads; an inline cannot be handed to another. */
#define OTHERS(ACTION)                           \
  i = 0;                                         \
  do                                             \
  :: i < THREADS ->                              \
     if                                          \
     :: listed[i] && i != me -> ACTION(i)        \
     :: else                                     \
     fi;                                         \
     i++                                         \
  :: else -> break                               \
  od;                                            \
  i = 0

inline raise_limit(d) { assert(alive[d]); raised[d] = true }

/* wn_domain_attach and wn_domain_detach need the lock, so the count cannot change now. */
#define ALONE (listed[0] + listed[1] + LISTED_2 == 1)
#if THREADS > 2
#define LISTED_2 listed[2]
#else
#define LISTED_2 0
#endif

inline world_stop() {
  if
#ifdef TWIN_PLAIN_STOP
  :: stopping == NOT -> stopping = STOPPING;
#else
  :: atomic { stopping == NOT -> stopping = STOPPING };
#endif
     atomic { !world -> world = true }
     OTHERS(raise_limit);
     OTHERS(claim);
     leads = true
#ifdef TWIN_NO_WAIT
  :: stopping != NOT -> skip
#else
  :: stopping != NOT -> world_wait()
#endif
  fi
}

/* Some are woken, as many as there are processors. */
inline world_ask_for_help() {
  stopping = HELP;
  atomic {
    for (w : 0 .. THREADS - 1) {
      if
      :: asleep[w] == ON_STOPPING -> asleep[w] = 0
      :: true
      fi
    }
    w = 0
  }
}

inline world_release() {
  OTHERS(leave);
  was = !ALONE;
#ifdef TWIN_EARLY_WAKE
  futex_wake(ON_STOPPING);
#endif
  stopping = NOT;
  world = false;
#ifndef TWIN_EARLY_WAKE
  if
  :: was -> futex_wake(ON_STOPPING)
  :: else
  fi;
#endif
  was = 0;
  reset_limit(me)
}

/* major_collect_stopped: everything is touched, and all limits are set anew. */
inline begin_touch(d) {
  d_step { assert(alive[d] && !touched[d]); assert(state[d] == CLAIMED || state[d] == AWAITED); touched[d] = true }
}
inline end_touch(d) { touched[d] = false }
inline collect() {
  d_step { assert(!leading); leading = true }
  d_step { OTHERS(begin_touch) }
  d_step { OTHERS(end_touch) }
  if
  :: steps -> world_ask_for_help(); stopping = STOPPING /* now and then */
  :: else
  fi;
  OTHERS(reset_limit);
  leading = false
}

proctype thread(byte me, steps) {
  byte i, w, seen, was;
  bool leads;
  /* attach */
  atomic { !world -> world = true }
  d_step { alive[me] = true; listed[me] = true }
  world = false;
  unblock();
  do
  :: steps -> steps--;
     if
     :: touch(me);
        if
        :: raised[me] -> world_wait()
        :: else
        fi
     :: gone++; /* it runs on and on, until it is told to stop, or nobody else will do anything */
        atomic { raised[me] || gone == THREADS -> gone-- }
        world_wait()
     :: block(); unblock()
     :: block(); gone++; goto end_blocked
     :: do
        :: !leads -> world_stop()
        :: else -> break
        od;
        collect();
        world_release();
        leads = false
     fi
  :: steps = 0; break
  od;
  /* detach */
  block();
#ifndef TWIN_END_WITHOUT_LOCK
  atomic { !world -> world = true }
#endif
  touch(me);
  listed[me] = false;
#ifndef TWIN_END_WITHOUT_LOCK
  world = false;
#endif
  d_step { alive[me] = false; gone++ }
end_blocked:
}

init {
  byte t;
  atomic {
    do
    :: t < THREADS -> run thread(t, (t -> 1 : 2)); t++
    :: else -> break
    od
  }
}
/* SPDX-License-Identifier: MIT */
