/* Turns of the threads of one domain: src/gc/world/turn.c, with what domain.c and safepoint.c do around it.
 *
 * Followed line by line: turn_take, await, request_yield (ask), turn_give, domain_yield, domain_reset_limit, the safepoint (wn_poll_slow), blocking
 * sections, the end of a thread. Each load, store and exchange of the code is one step here; they are sequentially
 * consistent there. Another domain stops the world now and then: of it there is what it does to this domain's limit.
 *
 * Left out: numbers that come round to 0, two sleepers whose numbers have the same bit (both are woken, and look), early returns of a
 * futex, what else a domain's thread does while it runs, samples among it (raise.pml). A futex is its contract: to compare and to fall asleep is one step.
 *
 * Time: the clock of a sleeper may be over once whenever it likes, and again whenever nobody can do anything else.
 *
 * Each thread takes its turn, once or more often, and sets its limit; then it runs on and on until the limit says stop, as a
 * loop that only allocates, or goes on at once. In the end it gives its turn: it yields, blocks, or has ended.
 *
 * Proved:
 * - One thread runs at a time, and none while the world is stopped.
 * - Who waits is overtaken by each other thread at most once: the one before it.
 * - Who is asked to yield is the one that was asked, and somebody waits.
 * - Nobody needs the clock to learn that its turn has come; nobody is asked in vain, or sleeps for ever.
 *
 * TWIN_SILENT_GIVE (assertion violated): who gives its turn wakes nobody.
 * TWIN_EARLY_LOOK (invalid end state): who gives its turn looks whether somebody waits before it serves the next.
 * TWIN_NO_SECOND_LOOK (assertion violated): who sets the limit anew does not look whether it is asked.
 * TWIN_LATE_QUESTION (invalid end state): who asks raises the limit first.
 * TWIN_ONE_PLACE (invalid end state): there is one place for the number that is asked, and who is late overwrites a newer one.
 * TWIN_ANYBODY_ASKS (invalid end state): who is not the next in turn asks, too.
 * TWIN_PLAIN_DRAW (invalid end state): numbers are drawn by a load and a store.
 *
 * Sources: src/gc/world/turn.c, src/gc/world/turn.h, src/gc/world/domain.c, src/gc/world/safepoint.c.
 * Sources: src/gc/face/allocate.c.
 * Search: safety (three threads), safety_world (two, while the world is stopped). */
#ifdef SEARCH_safety_world
#define THREADS  2
#define STEPS(t) 2
#else
#define THREADS  3
#define STEPS(t) 1
#endif

#define NOBODY   255
#ifdef TWIN_ONE_PLACE
#define PLACE(number) 0
#else
#define PLACE(number) (number % 2)
#endif
#define IS_ASKED (asked[PLACE(served)] == served)

byte drawn, served;
byte asked[2] = NOBODY;        /* numbers that should yield */
bool raised;                   /* the limit is above everything */
bool stopping, blocked = true; /* the domain is in no thread's hands, but perhaps in the leader's */
bool claimed;

byte number_of[THREADS]; /* that they drew */
#define number number_of[me]

/* Ghosts. */
byte running, gone, overtakes[THREADS];
bool waits[THREADS], asleep[THREADS], clock[THREADS];

/* What a thread does to its own things goes into the step before. */
inline reset_limit() {
  raised = false;
#ifdef TWIN_NO_SECOND_LOOK
#define MUST_STOP stopping
#else
#define MUST_STOP (stopping || IS_ASKED)
#endif
  if
  :: MUST_STOP -> raised = true
  :: else
  fi
}

inline ask() {
#ifdef TWIN_LATE_QUESTION
  raised = true;
  atomic { asked[PLACE(question)] = question; has_asked = true; question = 0 }
#else
  atomic { asked[PLACE(question)] = question; has_asked = true; question = 0 };
  raised = true
#endif
}

/* `late`: the clock ended it. */
inline futex_wait_until(value) {
  if
  :: atomic { served != value -> late = false }
  :: atomic { served == value -> asleep[me] = true };
     if
     :: atomic { !asleep[me] -> late = false }
     :: atomic { asleep[me] && !has_asked && clock[me] -> clock[me] = false; asleep[me] = false; late = true }
     :: atomic { timeout && asleep[me] && !has_asked ->
          assert(served != number && !IS_ASKED); asleep[me] = false; late = true }
     fi
  fi
}

#ifdef TWIN_ANYBODY_ASKS
#define IS_NEXT (served != number)
#else
#define IS_NEXT (number == served + 1)
#endif

inline await() {
  do
  :: atomic { served == number -> break }
  :: atomic { served != number -> seen = served };
     futex_wait_until(seen);
     if
     :: atomic { late && IS_NEXT -> late = false; seen = 0; question = served }; ask()
     :: atomic { late && !(IS_NEXT) -> late = false; seen = 0 }
     :: atomic { !late -> seen = 0 }
     fi
  od;
  has_asked = false
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

/* Of turn_take, and of turn_yield before it gives. */
inline draw() {
#ifdef TWIN_PLAIN_DRAW
  drew = drawn;
  atomic { drawn = drew + 1; begins_to_wait() }
#else
  atomic { drew = drawn; drawn++; begins_to_wait() }
#endif
}

inline run_in_turn() {
  await();
  atomic { blocked && !claimed -> blocked = false; begins_to_run() }; /* domain_unblock */
  reset_limit()
}

inline wake_next() {
  d_step {
    other = 0;
    do
    :: other < THREADS ->
       if
       :: asleep[other] && number_of[other] == number + 1 -> asleep[other] = false
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
  seen = drawn;
  served = number + 1;
#else
  served = number + 1;
  seen = drawn;
#endif
  if
  :: atomic { seen == number + 1 -> seen = 0 }
#ifdef TWIN_SILENT_GIVE
  :: atomic { seen != number + 1 -> seen = 0 }
#else
  :: atomic { seen != number + 1 -> seen = 0; wake_next() }
#endif
  fi
}

/* world_wait. Who is asked yields after it: the turn is given. */
inline safepoint() {
  if
  :: atomic { stopping -> running--; blocked = true };
     atomic { blocked && !stopping && !claimed -> blocked = false; running++ }
  :: atomic { !stopping -> skip }
  fi;
  reset_limit();
  if
  :: atomic { IS_ASKED -> assert(served == number && drawn > served + 1) }
  :: atomic { !IS_ASKED -> skip }
  fi
}

proctype thread(byte me, steps) {
  byte seen, other, question, drew;
  bool late, has_asked, yields;
  draw();
  do
  :: number = drew;
     run_in_turn();
     if
     :: true -> /* on and on, until it is told to stop */
        atomic { raised || gone == THREADS - 1 -> skip };
        safepoint()
     :: true
     fi;
     if
     :: atomic { steps -> steps--; yields = true }; draw()
     :: atomic { steps -> steps-- }
     :: atomic { !steps -> gone++ }; turn_give(); break
     fi;
     turn_give();
     if
     :: atomic { yields -> yields = false }
     :: atomic { !yields -> skip }; draw()
     fi
  od
}

/* Another domain's thread, which stops the world: world_stop, claim, leave, and the limit that a collection sets. */
proctype leader() {
  if
  :: true ->
     stopping = true;
     raised = true;
     atomic { blocked -> claimed = true };
     assert(running == 0);
     reset_limit();
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
