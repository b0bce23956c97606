/* Turns of the threads of one domain: src/gc/domains/turn.c, with the code around it in domain.c and
 * safepoint.c.
 *
 * Followed line by line: take_ticket, turn_take, await, request_yield, turn_give, turn_yield,
 * domain_yield, domain_reset_limit, the safepoint (wn_poll_slow), blocking sections, the end of a
 * thread. Each load, store and exchange of the code is one step here; in the code they are
 * sequentially consistent. Now and then another domain stops the world; the model has only what
 * that does to this domain's limit.
 *
 * Left out: tickets that wrap around to 0; two sleepers whose tickets have the same bit (both are
 * woken, and look); early returns of a futex; what else a domain's thread does while it runs, such
 * as samples (raise.pml). futex_wait_until is modelled by its contract: to compare and to fall
 * asleep is one step.
 *
 * Time: a sleeper may time out once at any moment, and again whenever no other step is possible.
 *
 * Each thread takes its turn, once or more often, and sets its limit. Then it either runs until the
 * limit tells it to stop, as a loop that only allocates, or goes on at once. In the end it gives
 * its turn: it yields, blocks, or has ended.
 *
 * Proved:
 * - One thread runs at a time, and none while the world is stopped.
 * - While a thread waits, each other thread runs at most once, with an earlier ticket.
 * - The thread that yields on request is the thread that the request was for, and another thread
 *   waits.
 * - No thread needs a timeout to learn that its turn has come; no request is in vain; no thread
 *   sleeps for ever.
 *
 * TWIN_SILENT_GIVE (assertion violated): a thread that gives its turn wakes no thread.
 * TWIN_EARLY_LOOK (invalid end state): a thread that gives its turn looks for waiters before it
 *   serves the next ticket.
 * TWIN_NO_SECOND_LOOK (assertion violated): a thread that sets its limit anew does not look for a
 *   request.
 * TWIN_LATE_REQUEST (invalid end state): a waiter raises the limit before it stores its request.
 * TWIN_ONE_WORD (invalid end state): there is one word for requests, and a delayed waiter
 *   overwrites a newer request.
 * TWIN_ANY_WAITER_REQUESTS (invalid end state): a waiter makes a request although it is not the
 *   next in line.
 * TWIN_PLAIN_TICKET (invalid end state): a ticket is taken by a load and a store.
 *
 * Sources: src/gc/domains/turn.c, src/gc/domains/turn.h, src/gc/domains/domain.c, src/gc/domains/safepoint.c.
 * Sources: src/gc/api/allocate.c.
 * Search: safety (three threads), safety_world (two, while the world is stopped). */
#ifdef SEARCH_safety_world
#define THREADS  2
#define STEPS(t) 2
#else
#define THREADS  3
#define STEPS(t) 1
#endif

#define NO_REQUEST 255
#ifdef TWIN_ONE_WORD
#define WORD(of) 0
#else
#define WORD(of) ((of) % 2)
#endif
#define MUST_YIELD (yield_requests[WORD(now_serving)] == now_serving)

byte next_ticket, now_serving;
byte yield_requests[2] = NO_REQUEST; /* tickets of the threads that should yield */
bool raised;                         /* the limit is above everything */
bool stopping;
bool blocked = true; /* no thread of the domain runs; the leader may have claimed the domain */
bool claimed;

byte ticket_of[THREADS];
#define ticket ticket_of[me]

/* Ghost variables: only assertions and guards of this model read them. */
byte running, gone, overtakes[THREADS];
bool waits[THREADS], asleep[THREADS], clock[THREADS];

/* A change of a thread's own variables is part of the step before it. */
inline domain_reset_limit() {
  raised = false;
#ifdef TWIN_NO_SECOND_LOOK
#define MUST_STOP stopping
#else
#define MUST_STOP (stopping || MUST_YIELD)
#endif
  if
  :: MUST_STOP -> raised = true
  :: else
  fi
}

inline request_yield() {
#ifdef TWIN_LATE_REQUEST
  raised = true;
  atomic { yield_requests[WORD(request)] = request; requested = true; request = 0 }
#else
  atomic { yield_requests[WORD(request)] = request; requested = true; request = 0 };
  raised = true
#endif
}

/* Sets `timed_out` if a timeout ended the wait. */
inline futex_wait_until(value) {
  if
  :: atomic { now_serving != value -> timed_out = false }
  :: atomic { now_serving == value -> asleep[me] = true };
     if
     :: atomic { !asleep[me] -> timed_out = false }
     :: atomic {
          asleep[me] && !requested && clock[me] -> clock[me] = false;
          asleep[me] = false;
          timed_out = true
        }
     :: atomic { timeout && asleep[me] && !requested ->
          assert(now_serving != ticket && !MUST_YIELD); asleep[me] = false; timed_out = true }
     fi
  fi
}

#ifdef TWIN_ANY_WAITER_REQUESTS
#define IS_NEXT (now_serving != ticket)
#else
#define IS_NEXT (ticket == now_serving + 1)
#endif

inline await() {
  do
  :: atomic { now_serving == ticket -> break }
  :: atomic { now_serving != ticket -> seen = now_serving };
     futex_wait_until(seen);
     if
     :: atomic { timed_out && IS_NEXT -> timed_out = false; seen = 0; request = now_serving }; request_yield()
     :: atomic { timed_out && !(IS_NEXT) -> timed_out = false; seen = 0 }
     :: atomic { !timed_out -> seen = 0 }
     fi
  od;
  requested = false
}

inline begins_to_wait() { waits[me] = true; overtakes[me] = 0; clock[me] = true }

inline begins_to_run() {
  d_step {
    assert(running == 0);
    running++;
    waits[me] = false;
    clock[me] = false;
    overtakes[me] = 0;
    other = 0;
    do
    :: other < THREADS ->
       if
       :: waits[other] -> overtakes[other]++; assert(overtakes[other] < THREADS)
       :: else
       fi;
       other++
    :: else -> break
    od;
    other = 0
  }
}

/* Called by turn_take, and by turn_yield before it gives the turn. */
inline take_ticket() {
#ifdef TWIN_PLAIN_TICKET
  taken = next_ticket;
  atomic { next_ticket = taken + 1; begins_to_wait() }
#else
  atomic { taken = next_ticket; next_ticket++; begins_to_wait() }
#endif
}

inline run_in_turn() {
  await();
  atomic { blocked && !claimed -> blocked = false; begins_to_run() }; /* domain_unblock */
  domain_reset_limit()
}

inline futex_wake_next() {
  d_step {
    other = 0;
    do
    :: other < THREADS ->
       if
       :: asleep[other] && ticket_of[other] == ticket + 1 -> asleep[other] = false
       :: else
       fi;
       other++
    :: else -> break
    od;
    other = 0
  }
}

inline turn_give() {
  atomic { running--; blocked = true };
#ifdef TWIN_EARLY_LOOK
  seen = next_ticket;
  now_serving = ticket + 1;
#else
  now_serving = ticket + 1;
  seen = next_ticket;
#endif
  if
  :: atomic { seen == ticket + 1 -> seen = 0 }
#ifdef TWIN_SILENT_GIVE
  :: atomic { seen != ticket + 1 -> seen = 0 }
#else
  :: atomic { seen != ticket + 1 -> seen = 0; futex_wake_next() }
#endif
  fi
}

/* world_wait; then a thread that must yield yields, by giving its turn. */
inline safepoint() {
  if
  :: atomic { stopping -> running--; blocked = true };
     atomic { blocked && !stopping && !claimed -> blocked = false; running++ }
  :: atomic { !stopping -> skip }
  fi;
  domain_reset_limit();
  if
  :: atomic { MUST_YIELD -> assert(now_serving == ticket && next_ticket > now_serving + 1) }
  :: atomic { !MUST_YIELD -> skip }
  fi
}

proctype thread(byte me, steps) {
  byte seen, other, request, taken;
  bool timed_out, requested, yields;
  take_ticket();
  do
  :: ticket = taken;
     run_in_turn();
     if
     :: true -> /* runs until the limit tells it to stop */
        atomic { raised || gone == THREADS - 1 -> skip };
        safepoint()
     :: true
     fi;
     if
     :: atomic { steps -> steps--; yields = true }; take_ticket()
     :: atomic { steps -> steps-- }
     :: atomic { !steps -> gone++ }; turn_give(); break
     fi;
     turn_give();
     if
     :: atomic { yields -> yields = false }
     :: atomic { !yields -> skip }; take_ticket()
     fi
  od
}

/* A thread of another domain that stops the world: world_stop, claim, leave, and the limit that a
 * collection sets. */
proctype leader() {
  if
  :: true ->
     stopping = true;
     raised = true;
     atomic { blocked -> claimed = true };
     assert(running == 0);
     domain_reset_limit();
     claimed = false;
     stopping = false
  :: true
  fi
}

init {
  byte t;
  atomic {
    do
    :: t < THREADS -> run thread(t, STEPS(t)); t++
    :: else -> break
    od;
#ifdef SEARCH_safety_world
    run leader()
#endif
  }
}
/* SPDX-License-Identifier: MIT */
