/* Stopping the world: src/gc/domains/safepoint.c, and the code around it in attach and
 * wn_domain_detach of gc/api/attach.c.
 *
 * Followed line by line: change, claim, leave, domain_raise_limit, await, tell_leader, give_up,
 * take_back, world_wait, claim_all, leave_all, back_out, world_stop, world_release,
 * world_share_collection, world_unshare_collection, domain_reset_limit, domain_begin_fork,
 * domain_end_fork, world_stop_for_fork, world_release_after_fork; enrol and wn_domain_detach as far as they touch the list of domains. Each
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
 * - It forks (the search safety_fork, without what a thread does that never leads or waits), in its domain, in a blocking section, or once it has detached. What follows in the
 *   parent is modelled; in the child no other thread runs.
 *
 * Proved:
 * - The leader touches a domain only while the domain is claimed, in the list, and not freed, and
 *   no other thread touches it then.
 * - Two threads never lead at once.
 * - No thread sleeps for ever: a state in which a thread waits and none can move is an error. So no
 *   wake-up is lost, and each stop ends, even if a domain stays blocked for ever: it is collected
 *   without being woken.
 * - While a thread forks, no other thread touches its domain, and none leads. A thread that forks in
 *   its domain is not collected from then on until its fork is over.
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
 * TWIN_NO_BACK_OUT (invalid end state, safety_fork): a leader waits for a thread that forks.
 * TWIN_SILENT_FORK (invalid end state, safety_fork): a thread that forks does not look whether the
 *   world is being stopped.
 * TWIN_UNSEEN_FORK (invalid end state, safety_fork): a thread that is in no domain waits for a leader
 *   that does not know of it.
 * TWIN_LATE_END (assertion violated, safety_fork): a thread releases the lock of process.h, and then
 *   its domain ceases to be `forking`.
 *
 * TWIN_NO_WAIT (non-progress cycle): a thread that finds another thread leading tries again at
 *   once, and does not block.
 *
 * Sources: src/gc/domains/safepoint.c, src/gc/domains/safepoint.h, src/gc/domains/domain.c, src/gc/api/attach.c.
 * Search: safety, safety_fork, fair. */
#ifdef SEARCH_fair /* costs more states */
#define THREADS 2
#else
#define THREADS 3
#endif
#ifdef SEARCH_safety_fork /* so do forks */
#define FORKS
#define STEPS_OF_FIRST 1
/* One thread leads, and forks once it has detached, one forks, and one does either. */
#define MAY_LEAD (me != 1)
#define MAY_FORK (me != 0)
#define MAY_FORK_BLOCKED (me == 1)
#else
#define MAY_LEAD true
#define STEPS_OF_FIRST 2
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
byte arrivals; /* modulo 8: that can only make a thread sleep for too long */
bool world;
#ifdef FORKS
bool forking[THREADS];
bool process; /* the lock of process.h */
bool fork_waits;
#endif

/* Ghost variables: only assertions and guards of this model read them. */
bool alive[THREADS], touched[THREADS], leading;
#ifdef FORKS
bool quiet[THREADS]; /* it waits for `process`, and touches nothing before it has it */
bool copying;
#endif
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

#ifdef FORKS
#define NOT_COPYING !copying
#define FORK_WAITS fork_waits
#else
#define NOT_COPYING true
#define FORK_WAITS false
#endif

inline touch(d) {
  d_step { assert(alive[d] && !touched[d] && NOT_COPYING); touched[d] = true }
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
#if defined(FORKS) && !defined(TWIN_NO_BACK_OUT)
     if
     :: forking[d] -> unclaimed = true; break
     :: else
     fi;
#endif
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

inline exchange_state(d) {
  atomic { assert(alive[d]); was = state[d]; state[d] = BLOCKED }
#ifndef TWIN_SILENT_LEAVE
  if
  :: was == CLAIMED_AWAITED -> futex_wake(ON_STATE + d)
  :: else
  fi;
#endif
  was = 0
}

inline leave(d) {
#ifdef FORKS
  if
  :: state[d] == RUNNING
  :: else -> exchange_state(d)
  fi
#else
  exchange_state(d)
#endif
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

inline tell_leader() {
  if
  :: stopping != STOPPING_NOT -> arrivals = (arrivals + 1) % 8; futex_wake(ON_ARRIVALS)
  :: else
  fi
}

inline give_up() {
  state[me] = BLOCKED;
#ifndef TWIN_SILENT_ARRIVAL
  tell_leader()
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
     :: listed[i] && i != own -> ACTION(i)       \
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

#ifdef FORKS
/* Ends at the first domain that is `forking`, which is `i` then. */
inline claim_all() {
  i = 0;
  do
  :: i < THREADS && listed[i] && i != own ->
     claim(i);
     if
     :: unclaimed -> break
     :: else -> i++
     fi
  :: i < THREADS && !(listed[i] && i != own) -> i++
  :: i == THREADS -> i = 0; break
  od
}

inline back_out() {
  f = i;
  i = 0;
  do
  :: i < f ->
     if
     :: listed[i] && i != own -> leave(i)
     :: else
     fi;
     i++
  :: else -> break
  od;
  i = 0;
  stopping = STOPPING_NOT;
  world = false;
  futex_wake(ON_STOPPING);
  domain_reset_limit(me);
  (!forking[f] || stopping != STOPPING_NOT);
  f = 0;
  unclaimed = false
}

/* Any thread that is not collected or copied must be quiet. */
inline is_at_rest(d) { assert(!touched[d] && (state[d] != RUNNING || quiet[d])) }

/* `own` is THREADS in a blocking section. */
inline fork_process() {
  if
  :: own == me ->
     quiet[me] = true;
     forking[me] = true;
#ifndef TWIN_SILENT_FORK
     tell_leader()
#endif
  :: else
  fi;
  atomic { !process -> process = true; quiet[me] = false }
#ifndef TWIN_UNSEEN_FORK
  fork_waits = own != me;
#endif
  do
  :: atomic { stopping == STOPPING_NOT -> stopping = STOPPING }; break
  :: atomic { own != me && stopping != STOPPING_NOT -> seen = stopping }; futex_wait(stopping, seen, ON_STOPPING); seen = 0
  od;
  fork_waits = false;
  atomic { !world -> world = true }
  OTHERS(domain_raise_limit);
  OTHERS(claim);
  unclaimed = false;
  d_step { assert(!leading && !copying); copying = true; OTHERS(is_at_rest) }
  copying = false;
  OTHERS(leave);
  stopping = STOPPING_NOT;
  world = false;
  futex_wake(ON_STOPPING);
  if
  :: own == me -> domain_reset_limit(me)
  :: else
  fi;
#ifndef TWIN_LATE_END
  forking[me] = false;
#endif
  process = false
#ifdef TWIN_LATE_END
  ;
  forking[me] = false
#endif
}
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
#ifdef FORKS
     claim_all();
     if
     :: unclaimed -> back_out()
     :: else -> leads = true
     fi
#else
     OTHERS(claim);
     leads = true
#endif
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
  :: was || FORK_WAITS -> futex_wake(ON_STOPPING)
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
  d_step { assert(!leading && NOT_COPYING); leading = true }
  d_step { OTHERS(begin_touch) }
  d_step { OTHERS(end_touch) }
#ifndef FORKS
  if
  :: steps -> world_share_collection(); stopping = STOPPING /* world_unshare_collection; sometimes */
  :: else
  fi;
#endif
  OTHERS(domain_reset_limit);
  leading = false
}

proctype thread(byte me, steps) {
  byte i, w, seen, was, own = me;
  bool leads;
#ifdef FORKS
  byte f;
  bool unclaimed;
#endif
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
#ifndef FORKS
     :: gone++; /* it runs until the limit tells it to stop, or until no other thread will make a step */
        atomic { raised[me] || gone == THREADS -> gone-- }
        world_wait()
     :: give_up(); take_back()
     :: give_up(); gone++; goto end_blocked
#else
     :: MAY_FORK -> fork_process()
     :: MAY_FORK_BLOCKED -> give_up(); own = THREADS; fork_process(); own = me; take_back()
#endif
     :: MAY_LEAD ->
        do
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
  alive[me] = false;
#ifdef FORKS
  if
  :: MAY_LEAD && !MAY_FORK -> own = THREADS; fork_process()
  :: skip
  fi;
#endif
  gone++;
end_blocked:
}

init {
  byte t;
  atomic {
    do
    :: t < THREADS -> run thread(t, (t -> 1 : STEPS_OF_FIRST)); t++
    :: else -> break
    od
  }
}
/* SPDX-License-Identifier: MIT */
