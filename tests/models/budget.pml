/* SPDX-License-Identifier: MIT */
/* The account of processor time that all heaps share: src/gc/collect/budget.c.
 *
 * Followed line by line: pass, budget_look, budget_take. Each load, store and exchange of
 * `looked_ns` and `saved_ns` is one step.
 *
 * Left out: the share (each moment earns one), forks (budget_begin runs while no other thread
 * does), the reading of the clock (a thread may read it long before it uses what it read).
 *
 * Two threads look and take, as often as they like up to a bound, while the clock goes on.
 *
 * Proved:
 * - No moment is earned twice, and none is lost: what was earned is the time of the latest look.
 * - Nothing that was taken is lost: what is saved is what was earned, less what was taken, and less
 *   what could not be saved up.
 * - When no thread is in the middle of a look, no more is saved than can be saved up.
 * - No look is repeated for ever while no other thread changes the account.
 *
 * TWIN_STORED (assertion violated): a look stores its time, and does not compare.
 * TWIN_BACKWARDS (assertion violated): a look exchanges the time also if it is late, and earns
 *   nothing then; what follows is earned twice.
 * TWIN_CUT (assertion violated): a look that finds too much saved stores the most that can be
 *   saved, and loses what was taken meanwhile.
 * TWIN_UNCUT (assertion violated): nothing bounds what is saved.
 *
 * Sources: src/gc/collect/budget.c.
 * Search: safety, fair. */
#define CLOCK_MOST 4
#define ROUNDS     2
#define SAVED_MOST 1
#define TAKEN      1

byte clock;
byte looked;
short saved;

/* Ghost variables. */
byte earned, taken, cut, looking;

#define CONSERVES (saved == earned - taken - cut)

active proctype processor() {
  do
  :: clock < CLOCK_MOST ->
progress:
     clock++
  :: clock == CLOCK_MOST -> break
  od
}

inline pass() {
  now = clock;
  before = looked;
  passed = 0;
  do
  :: now > before && !passed ->
#ifdef TWIN_STORED
     looked = now;
     passed = now - before
#else
     if
     :: atomic { looked == before -> looked = now; passed = now - before }
     :: atomic { looked != before -> before = looked }
     fi
#endif
  :: else -> break
  od;
#ifdef TWIN_BACKWARDS
  if
  :: now < before -> looked = now
  :: else
  fi
#endif
}

inline budget_look() {
  pass();
  atomic { saved = saved + passed; earned = earned + passed; found = saved };
#ifndef TWIN_STORED
  assert(earned <= clock);
#endif
  do
#ifndef TWIN_UNCUT
  :: found > SAVED_MOST ->
#ifdef TWIN_CUT
     atomic { cut = cut + found - SAVED_MOST; saved = SAVED_MOST };
     found = SAVED_MOST
#else
     if
     :: atomic { saved == found -> cut = cut + found - SAVED_MOST; saved = SAVED_MOST; found = SAVED_MOST }
     :: atomic { saved != found -> found = saved }
     fi
#endif
#endif
  :: else -> break
  od
}

inline budget_take() { atomic { saved = saved - TAKEN; taken = taken + TAKEN } }

proctype collector() {
  byte rounds = ROUNDS, now, before, passed;
  short found;
  do
  :: rounds ->
progress:
     rounds--;
     looking++;
     budget_look();
     looking--;
     assert(CONSERVES);
     assert(looking || saved <= SAVED_MOST);
     if
     :: budget_take()
     :: true
     fi;
     atomic { now = 0; before = 0; passed = 0; found = 0 }
  :: else -> break
  od
}

init {
  atomic { run collector(); run collector() };
  (_nr_pr == 2) -> assert(earned == looked);
  assert(CONSERVES && saved <= SAVED_MOST)
}
