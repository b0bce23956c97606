/* Stopping the world: src/gc/world/safepoint.c, and the code around it in attach and
 * wn_domain_detach of face/attach.c.
 *
 * Followed line by line: change, claim, leave, domain_raise_limit, await, give_up, take_back,
 * world_wait, world_stop, world_release, world_share_collection, world_unshare_collection,
 * domain_reset_limit; enrol and wn_domain_detach as far as they touch the list of domains. Each
 * load, store and exchange of the code is one step here. They are sequentially consistent there, so
 * every execution is an order of these steps.
 *
 * Left out: spinning before sleep (it only repeats the loops); early returns of a futex (they would
 * hide a lost wake-up; the loops repeat); the count of domains awake (a hint); the work of the
 * threads that share a collection; turns of the threads of one domain; samples (raise.pml); and the
 * lock `world`, which is assumed to be correct. futex_wait is modelled by its contract: to compare
 * and to fall asleep is one step.
 *
 * Each thread has a domain of its own. It attaches, does one or two of the following, and detaches:
 * - It touches its domain and looks at the limit.
 * - It runs until the limit tells it to stop, as a loop that only allocates.
 * - It blocks and returns.
 * - It blocks and never returns, as in a system call that takes for ever.
 * - It stops the world and touches all domains.
 *
 * Proved:
 * - The leader touches a domain only while the domain is claimed, in the list, and not freed, and
 *   no other thread touches it then.
 * - Two threads never lead at once.
 * - No thread sleeps for ever: a state in which a thread waits and none can move is an error. So no
 *   wake-up is lost, and each stop ends, even if a domain stays blocked for ever: it is collected
 *   without being woken.
 * - (fair) No thread repeats a loop for ever.
 *
 * TWIN_LATE_LOOK (invalid end state): claim reads `arrivals` after it found the domain running, not
 *   before.
 * TWIN_NO_SECOND_LOOK (invalid end state): a thread that resets its limit does not read `stopping`
 *   afterwards.
 * TWIN_SILENT_ARRIVAL (invalid end state): a thread that blocks does not look whether the world is
 *   being stopped.
 * TWIN_SILENT_LEAVE (invalid end state): leave wakes no thread.
 * TWIN_PLAIN_UNBLOCK (assertion violated): a thread that unblocks looks at its state, and stores
 *   without exchange.
 * TWIN_END_WITHOUT_LOCK (assertion violated): a domain that ends leaves the list without the lock.
 * TWIN_PLAIN_STOP (invalid end state): a thread that wants to lead looks at `stopping`, and stores
 *   without exchange.
 * TWIN_EARLY_WAKE (invalid end state): the leader wakes the waiting threads before it releases the
 *   world.
 *
 * TWIN_NO_WAIT (non-progress cycle): a thread that finds another thread leading tries again at
 *   once, and does not block.
 *
 * Sources: src/gc/world/safepoint.c, src/gc/world/safepoint.h, src/gc/world/domain.c, src/gc/face/attach.c.
 * Search: safety, fair. */
#ifdef SEARCH_fair /* costs more states */
#define THREADS 2
#else
#define THREADS 3
#endif

/* enum stopping */
#define STOPPING_NOT    0
#define STOPPING        1
#define STOPPING_SHARED 2

/* enum domain_state */
#define RUNNING         0
#define BLOCKED         1
#define CLAIMED         2
#define CLAIMED_AWAITED 3

byte state[THREADS] = BLOCKED;
bool raised[THREADS];  /* context.young_limit is above everything */
bool listed[THREADS];  /* in heap->domains */
byte stopping;         /* enum stopping */
byte arrivals;
bool world;

/* Ghost variables: only assertions and guards of this model read them. */
bool alive[THREADS], touched[THREADS], leading;
byte gone; /* threads that ended, never return from a blocking section, or run without a safepoint */

/* The futex that a thread sleeps on. */
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

/* At most one thread sleeps on `arrivals`, and one on each state; sleepers on `stopping` are woken
 * together. */
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

inline domain_reset_limit(d) {
  raised[d] = false;
#ifndef TWIN_NO_SECOND_LOOK
  if
  :: stopping != STOPPING_NOT -> raised[d] = true
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
  :: was == CLAIMED_AWAITED -> futex_wake(ON_STATE + d)
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
     :: atomic { state[me] == CLAIMED -> state[me] = CLAIMED_AWAITED };
        futex_wait(state[me], CLAIMED_AWAITED, ON_STATE + me)
     :: else
     fi
  od
}

inline give_up() {
  state[me] = BLOCKED;
#ifndef TWIN_SILENT_ARRIVAL
  if
  :: stopping != STOPPING_NOT -> arrivals++; futex_wake(ON_ARRIVALS)
  :: else
  fi
#endif
}

inline take_back() {
  do
#ifdef TWIN_PLAIN_UNBLOCK
  :: state[me] == BLOCKED -> state[me] = RUNNING; break
#else
  :: atomic { state[me] == BLOCKED -> state[me] = RUNNING }; break
#endif
  :: state[me] != BLOCKED -> await()
  od;
  domain_reset_limit(me)
}

inline world_wait() {
  give_up();
  do
  :: seen = stopping;
     if
     :: seen -> futex_wait(stopping, seen, ON_STOPPING) /* if it is STOPPING_SHARED, after shared_collection */
     :: else -> break
     fi
  od;
  take_back()
}

/* ACTION on the domains of all other threads. A macro, since an inline cannot be a parameter. */
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

inline domain_raise_limit(d) { assert(alive[d]); raised[d] = true }

/* Attaching and detaching need the lock, so the number of domains cannot change now. */
#define ALONE (listed[0] + listed[1] + LISTED_2 == 1)
#if THREADS > 2
#define LISTED_2 listed[2]
#else
#define LISTED_2 0
#endif

inline world_stop() {
  if
#ifdef TWIN_PLAIN_STOP
  :: stopping == STOPPING_NOT -> stopping = STOPPING;
#else
  :: atomic { stopping == STOPPING_NOT -> stopping = STOPPING };
#endif
     atomic { !world -> world = true }
     OTHERS(domain_raise_limit);
     OTHERS(claim);
     leads = true
#ifdef TWIN_NO_WAIT
  :: stopping != STOPPING_NOT -> skip
#else
  :: stopping != STOPPING_NOT -> world_wait()
#endif
  fi
}

/* Wakes any of the sleepers: the code wakes as many as there are processors. */
inline world_share_collection() {
  stopping = STOPPING_SHARED;
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
  stopping = STOPPING_NOT;
  world = false;
#ifndef TWIN_EARLY_WAKE
  if
  :: was -> futex_wake(ON_STOPPING)
  :: else
  fi;
#endif
  was = 0;
  domain_reset_limit(me)
}

/* major_collect_stopped: the leader touches all domains, and sets all limits anew. */
inline begin_touch(d) {
  d_step {
    assert(alive[d] && !touched[d]);
    assert(state[d] == CLAIMED || state[d] == CLAIMED_AWAITED);
    touched[d] = true
  }
}
inline end_touch(d) { touched[d] = false }
inline collect() {
  d_step { assert(!leading); leading = true }
  d_step { OTHERS(begin_touch) }
  d_step { OTHERS(end_touch) }
  if
  :: steps -> world_share_collection(); stopping = STOPPING /* world_unshare_collection; sometimes */
  :: else
  fi;
  OTHERS(domain_reset_limit);
  leading = false
}

proctype thread(byte me, steps) {
  byte i, w, seen, was;
  bool leads;
  /* attach */
  atomic { !world -> world = true }
  d_step { alive[me] = true; listed[me] = true }
  world = false;
  take_back();
  do
  :: steps -> steps--;
     if
     :: touch(me);
        if
        :: raised[me] -> world_wait()
        :: else
        fi
     :: gone++; /* it runs until the limit tells it to stop, or until no other thread will make a step */
        atomic { raised[me] || gone == THREADS -> gone-- }
        world_wait()
     :: give_up(); take_back()
     :: give_up(); gone++; goto end_blocked
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
  give_up();
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
