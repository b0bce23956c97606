/* Raising a domain's limit while the domain moves it without a fence: RAISING of
 * src/gc/domains/domain.h, with the code around it in allocate.c, finaliser.c and safepoint.c.
 *
 * Followed line by line: domain_before_raising, domain_reset_limit, domain_is_wanted, draw_sample
 * of host.c, domain_move_limit, wn_poll, wn_poll_slow, find_room; of world_stop, world_wait,
 * request_yield and domain_yield the steps that concern one domain.
 *
 * The memory model is that of x86-64 (TSO). A plain store of the limit goes into the store buffer
 * of the domain's thread, and from there to memory at any later time, in order. The thread's own
 * loads see its newest store. The buffer is emptied before a sequentially consistent store or an
 * exchange of the thread, and when another thread makes it pass a fence (fence_heavy), but not
 * before a load. All plain stores of the limit lower it to the end of allocation, so the buffer is
 * a number of such stores. Stores of other threads are all sequentially consistent.
 *
 * Left out: fence_heavy where the system has none (both sides have ordinary fences then); weaker
 * memory models; what else turns do (turn.pml); `starved`, and what else find_room does.
 *
 * The domain runs on and on: it moves its limit, if it is sampled, or comes to the end of a piece
 * (find_room), or does neither; then it polls. It may do nothing but poll for ever. One other
 * thread requests that it yields, another one stops it, and both do so again.
 *
 * Proved:
 * - Once another thread that wants the domain has raised the limit, the domain's next poll or
 *   allocation sees it. So no raise is lost, whatever is in the buffer.
 * - (fair) A thread that requests a yield, or stops the domain, gets what it wants, even if the
 *   domain never takes a slow path by itself.
 *
 * TWIN_NO_FENCE (assertion violated): a thread that raises the limit makes no fence pass.
 * TWIN_NO_FENCE_EVER (non-progress cycle): the same.
 * TWIN_EARLY_RAISE (assertion violated): a thread makes the fence pass after it raised the limit.
 * TWIN_EARLY_FENCE (assertion violated): a thread makes the fence pass before it sets `stopping` or
 *   its request.
 * TWIN_LATE_WORD (assertion violated): a thread sets `stopping` or its request after it raised the
 *   limit.
 * TWIN_BLIND_MOVE (non-progress cycle): the domain does not check whether it is wanted after it
 *   moved its limit.
 * TWIN_EARLY_LOOK (assertion violated): the domain checks before it moves its limit.
 * TWIN_BLIND_RESET (non-progress cycle): a reset of the limit does not check whether the domain is
 *   wanted.
 * TWIN_PLAIN_RESET (assertion violated): the limit is reset by a plain store.
 * TWIN_LATE_SAMPLED (assertion violated): a domain moves its limit before it sets `was_sampled`.
 *
 * Sources: src/gc/domains/domain.c, src/gc/domains/domain.h, src/gc/domains/host.c, src/gc/domains/safepoint.c.
 * Sources: src/gc/api/allocate.c.
 * Search: safety (other threads want the domain for ever), fair (twice). */
#ifdef SEARCH_fair
#define ONCE_MORE times -> times--
#else
#define ONCE_MORE true
#endif
#ifdef TWIN_NO_FENCE_EVER
#define TWIN_NO_FENCE
#endif

#define BUFFER 3

bool raised = false; /* in memory: context.young_limit is above everything */
byte buffered;       /* stores in the buffer that lower it */
bool yield_requested, stopping, was_sampled;
bool blocked, claimed; /* the domain's state */

/* Ghost variable: threads that want the domain, and have not raised the limit yet. */
byte raising;

#define LIMIT (raised && !buffered) /* as the domain sees it */

/* In one step with the store or exchange that follows. */
inline empty_buffer() { raised = raised && !buffered; buffered = 0 }

inline domain_raise_limit() { atomic { empty_buffer(); raised = true } }

/* Called by the domain, or by the leader that claimed it. */
inline domain_reset_limit() {
#ifdef TWIN_PLAIN_RESET
  atomic { buffered < BUFFER -> buffered++ };
#else
  atomic { empty_buffer(); raised = false };
#endif
#ifndef TWIN_BLIND_RESET
  if
  :: atomic { stopping || yield_requested -> skip }; domain_raise_limit()
  :: atomic { !stopping && !yield_requested -> skip }
  fi
#endif
}

/* ---- the domain ---- */

inline look() {
  if
  :: atomic { stopping -> wanted = true }
  :: atomic { !stopping -> skip };
     if
     :: atomic { yield_requested -> wanted = true }
     :: atomic { !yield_requested -> skip }
     fi
  fi
}

inline domain_move_limit() {
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
     :: atomic { wanted -> wanted = false }; domain_raise_limit()
     :: atomic { !wanted -> skip }
     fi
  fi
}

inline world_wait() {
  atomic { empty_buffer(); blocked = true };
  atomic { !stopping && !claimed -> blocked = false };
  domain_reset_limit()
}

inline stop_if_wanted() {
  if
  :: atomic { stopping -> skip }; world_wait()
  :: atomic { !stopping -> skip }
  fi
}

inline yield_if_requested() {
  if
  :: atomic { yield_requested -> empty_buffer(); yield_requested = false }; domain_reset_limit()
  :: atomic { !yield_requested -> skip }
  fi
}

inline find_room() {
  stop_if_wanted(); /* the code then checks once more; here the reset below raises the limit if it must */
  yield_if_requested();
  domain_reset_limit()
}

inline poll() {
  if
  :: atomic { LIMIT -> skip };
     stop_if_wanted();
     if
     :: atomic { LIMIT -> skip }; domain_reset_limit()
     :: atomic { !LIMIT -> skip }
     fi;
     yield_if_requested()
  :: atomic { !LIMIT -> skip }
  fi
}

proctype domain() {
  bool wanted, samples;
  do
  ::
#ifndef SEARCH_fair
     assert(raising || !(yield_requested || stopping) || LIMIT);
#else
     if
     :: atomic { !yield_requested && !stopping -> skip }; progress_nothing_is_wanted: skip
     :: atomic { yield_requested || stopping -> skip }
     fi;
#endif
     if
     :: atomic { samples -> skip }; domain_move_limit()
     :: atomic { !samples -> samples = true }; /* draw_sample */
#ifndef TWIN_LATE_SAMPLED
        atomic { empty_buffer(); was_sampled = true };
#endif
        domain_reset_limit()
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

inline domain_before_raising() {
#ifdef TWIN_NO_FENCE
  skip
#else
  if
  :: atomic { was_sampled -> skip }; atomic { empty_buffer() }
  :: atomic { !was_sampled -> skip }
  fi
#endif
}

/* Another thread wants the domain. That does not empty the domain's buffer. */
inline want(word) {
#ifdef TWIN_EARLY_FENCE
  domain_before_raising();
#endif
#ifndef TWIN_LATE_WORD
  word = true;
#endif
#if !defined(TWIN_EARLY_FENCE) && !defined(TWIN_EARLY_RAISE)
  domain_before_raising();
#endif
#if defined(TWIN_LATE_WORD)
  raised = true;
  atomic { word = true; raising-- }
#elif defined(TWIN_EARLY_RAISE)
  raised = true;
  domain_before_raising();
  raising--
#else
  atomic { raised = true; raising-- }
#endif
}

/* request_yield of turn.c: a waiter makes one request until its turn has come. */
proctype waiter() {
  byte times = 2;
end:
  do
  :: atomic { !yield_requested && ONCE_MORE; raising++ };
     want(yield_requested)
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
     domain_reset_limit();
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
