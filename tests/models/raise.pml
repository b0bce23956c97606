/* Raising a domain's limit, where the domain moves it without a fence: RAISING of src/gc/world/domain.h, with what allocate.c, finaliser.c
 * and safepoint.c do around it.
 *
 * Followed line by line: domain_before_raising, domain_reset_limit, domain_is_wanted, draw_sample of host.c, domain_move_limit,
 * wn_poll, wn_poll_slow, find_room; of world_stop, world_wait, request_yield and domain_yield what they do to one domain.
 *
 * Memory is that of x86-64 (TSO): a plain store of the limit goes into the store buffer of the domain's thread, and from there to
 * memory at any later time, in order. The thread's own loads see the newest one that is there. The buffer is emptied before a
 * sequentially consistent store or an exchange of the thread, and when another thread has it pass a fence (fence_heavy); not
 * before a load. All plain stores of the limit put it where it belongs, so the buffer is a number of those. Other threads'
 * stores are all sequentially consistent.
 *
 * Left out: fence_heavy where the system has none (both sides have common fences then), weaker memories, what turns do besides
 * (turn.pml), `starved` and what find_room does else.
 *
 * The domain runs on and on: it moves its limit, if it is sampled, or comes to the end of a piece (find_room), or does neither;
 * then it polls. It may do nothing but poll for ever. One other thread asks it to yield, another stops it, and both again.
 *
 * Proved:
 * - What another thread wants is seen by the domain's next poll or allocation, once that thread has raised the limit. So no raise is
 *   lost, whatever is in the buffer.
 * - (Fair) Who asks the domain to yield, or stops it, gets it, though it may never come to a slow path by itself.
 *
 * TWIN_NO_FENCE (assertion violated): who raises the limit has no fence passed.
 * TWIN_NO_FENCE_EVER (non-progress cycle): the same.
 * TWIN_EARLY_RAISE (assertion violated): who raises the limit has the fence passed afterwards.
 * TWIN_EARLY_FENCE (assertion violated): who wants something has the fence passed before it says so.
 * TWIN_LATE_WORD (assertion violated): who wants something says so after it raised the limit.
 * TWIN_BLIND_MOVE (non-progress cycle): the domain does not look after it moved its limit.
 * TWIN_EARLY_LOOK (assertion violated): the domain looks before it moves its limit.
 * TWIN_BLIND_RESET (non-progress cycle): who resets the limit does not look whether the domain should stop.
 * TWIN_PLAIN_RESET (assertion violated): the limit is reset by a plain store.
 * TWIN_LATE_SAMPLED (assertion violated): a domain moves its limit before it says that it is sampled.
 *
 * Sources: src/gc/world/domain.c, src/gc/world/domain.h, src/gc/world/host.c, src/gc/world/safepoint.c.
 * Sources: src/gc/face/allocate.c.
 * Search: safety (they want something for ever), fair (twice). */
#ifdef SEARCH_fair
#define ONCE_MORE times -> times--
#else
#define ONCE_MORE true
#endif
#ifdef TWIN_NO_FENCE_EVER
#define TWIN_NO_FENCE
#endif

#define BUFFER 3

bool raised = false; /* in memory: face.young_limit is above everything */
byte buffered;       /* stores that lower it */
bool asked, stopping, was_sampled;
bool blocked, claimed; /* the domain's state */

/* Ghost: who said what they want, and have not raised the limit yet. */
byte raising;

#define LIMIT (raised && !buffered) /* as the domain sees it */

/* In the step of the store or exchange that comes after it. */
inline empty_buffer() { raised = raised && !buffered; buffered = 0 }

inline raise_limit() { atomic { empty_buffer(); raised = true } }

/* By the domain, or by who claimed it. */
inline reset_limit() {
#ifdef TWIN_PLAIN_RESET
  atomic { buffered < BUFFER -> buffered++ };
#else
  atomic { empty_buffer(); raised = false };
#endif
#ifndef TWIN_BLIND_RESET
  if
  :: atomic { stopping || asked -> skip }; raise_limit()
  :: atomic { !stopping && !asked -> skip }
  fi
#endif
}

/* ---- the domain ---- */

inline look() {
  if
  :: atomic { stopping -> wanted = true }
  :: atomic { !stopping -> skip };
     if
     :: atomic { asked -> wanted = true }
     :: atomic { !asked -> skip }
     fi
  fi
}

inline move_limit() {
  if
  :: atomic { LIMIT -> skip }
  :: atomic { !LIMIT -> skip };
#ifdef TWIN_EARLY_LOOK
     look();
#endif
     atomic { buffered < BUFFER -> buffered++ };
#if !defined(TWIN_EARLY_LOOK) && !defined(TWIN_BLIND_MOVE)
     look();
#endif
     if
     :: atomic { wanted -> wanted = false }; raise_limit()
     :: atomic { !wanted -> skip }
     fi
  fi
}

inline world_wait() {
  atomic { empty_buffer(); blocked = true };
  atomic { !stopping && !claimed -> blocked = false };
  reset_limit()
}

inline stop_if_asked() {
  if
  :: atomic { stopping -> skip }; world_wait()
  :: atomic { !stopping -> skip }
  fi
}

inline yield_if_asked() {
  if
  :: atomic { asked -> empty_buffer(); asked = false }; reset_limit()
  :: atomic { !asked -> skip }
  fi
}

inline find_room() {
  stop_if_asked(); /* then it looks once more; the limit will be raised, if it has to */
  yield_if_asked();
  reset_limit()
}

inline poll() {
  if
  :: atomic { LIMIT -> skip };
     stop_if_asked();
     if
     :: atomic { LIMIT -> skip }; reset_limit()
     :: atomic { !LIMIT -> skip }
     fi;
     yield_if_asked()
  :: atomic { !LIMIT -> skip }
  fi
}

proctype domain() {
  bool wanted, samples;
  do
  ::
#ifndef SEARCH_fair
     assert(raising || !(asked || stopping) || LIMIT);
#else
     if
     :: atomic { !asked && !stopping -> skip }; progress_nothing_is_wanted: skip
     :: atomic { asked || stopping -> skip }
     fi;
#endif
     if
     :: atomic { samples -> skip }; move_limit()
     :: atomic { !samples -> samples = true }; /* aim_anew */
#ifndef TWIN_LATE_SAMPLED
        atomic { empty_buffer(); was_sampled = true };
#endif
        reset_limit()
#ifdef TWIN_LATE_SAMPLED
     :: atomic { samples && !was_sampled -> empty_buffer(); was_sampled = true }
#endif
     :: true -> find_room()
     :: true
     fi;
     poll()
  od
}

proctype memory() {
end:
  do
  :: atomic { buffered -> buffered--; raised = false }
  od
}

/* ---- others ---- */

inline before_raising() {
#ifdef TWIN_NO_FENCE
  skip
#else
  if
  :: atomic { was_sampled -> skip }; atomic { empty_buffer() }
  :: atomic { !was_sampled -> skip }
  fi
#endif
}

/* Of another thread: the domain's buffer is left alone. */
inline want(word) {
#ifdef TWIN_EARLY_FENCE
  before_raising();
#endif
#ifndef TWIN_LATE_WORD
  word = true;
#endif
#if !defined(TWIN_EARLY_FENCE) && !defined(TWIN_EARLY_RAISE)
  before_raising();
#endif
#if defined(TWIN_LATE_WORD)
  raised = true;
  atomic { word = true; raising-- }
#elif defined(TWIN_EARLY_RAISE)
  raised = true;
  before_raising();
  raising--
#else
  atomic { raised = true; raising-- }
#endif
}

/* ask of turn.c: who waits asks once, until its turn has come. */
proctype waiter() {
  byte times = 2;
end:
  do
  :: atomic { !asked && ONCE_MORE; raising++ };
     want(asked)
  od
}

/* world_stop, a collection that sets the limit, world_release. */
proctype leader() {
  byte times = 2;
end:
  do
  :: atomic { ONCE_MORE; raising++ };
     want(stopping);
     atomic { blocked -> claimed = true };
     reset_limit();
     claimed = false;
     stopping = false
  od
}

init {
  atomic {
    run domain();
    run memory();
    run waiter();
    run leader()
  }
}
/* SPDX-License-Identifier: MIT */
