/* SPDX-License-Identifier: MIT */
/* Rounds of marking the data of ephemerons, RECHECK: src/gc/collect/ephemeron.c, and of mark.c
 * visit, mark_some and mark_give_all, of major.c end_mark.
 *
 * Followed line by line: unmet, wait_for, take_waiting, advance, conditions_of, mark_ready,
 * ephemerons_mark, ephemerons_marked, ephemerons_end, visit. Each load and store of a header's
 * colour, of `watching`, and of a slot's `block` is one step. The code's orders are weaker than
 * that of the model: a marker can look up a block before another one sees that it is marked. The
 * model has the same effect by its steps, since no fence is between the look at a colour and the
 * store of a slot.
 *
 * Left out: sizes, overflow, handing over work in the middle of marking (mark.pml is about that),
 * stopping the world (stop.pml), weak->blocks that grow. A list of ephemerons and a mark stack are
 * sets here. The ephemeron's own block is one more key. The lock of mark.h is assumed to be
 * correct, that of weak.h is modelled.
 *
 * A leader marks, and so does a helper, which may return its work in the middle. Two data have no
 * condition and are marked by the first round. They lead to the keys of other ephemerons. One key
 * is dead, unless the program reads it: then a barrier marks it at any time, without a lookup, and
 * the program may replace a key of another ephemeron by it, or by EMPTY. Each round may find no
 * memory for its table, and each entry of the table may be refused, as if it were full.
 *
 * Proved:
 * - When marking ends, the data of each ephemeron whose keys are marked are marked.
 * - Nothing else is: no key is kept by its ephemeron, and no datum by some of its keys.
 * - Marking ends: no thread waits for ever, and (fair) rounds are not repeated for ever.
 * - No marker looks into a table that a later round has freed or replaced.
 * - An ephemeron is in one list at a time, and waits for each condition once in a round.
 *
 * TWIN_NO_RECHECK (assertion violated): marking ends with the first round.
 * TWIN_IGNORED_HELPERS (assertion violated): a round begins, or marking ends, while a helper is
 *   busy.
 * TWIN_NO_LOCK (assertion violated): a marker changes the lists without the lock.
 * TWIN_ONE_KEY (assertion violated): a marker marks the data of an ephemeron that waited for the
 *   block, and does not look at its other keys.
 * TWIN_EARLY_LOOKUP (assertion violated): a marker looks a block up, and then marks it.
 * TWIN_KEPT_TABLE (assertion violated): a round goes on with the last round's table.
 * TWIN_COUNTS_MARKED (non-progress cycle): a round counts ephemerons whose data are marked as
 *   ready.
 * TWIN_KEEPS_LOCK (invalid end state): a marker that finds no ephemeron does not release the lock.
 *
 * Sources: src/gc/collect/ephemeron.c, src/gc/collect/ephemeron.h, src/gc/collect/mark.c.
 * Sources: src/gc/collect/major.c.
 * Search: safety, fair. */
#define N          8
#define EPHEMERONS 5
#define KEYS       2
#define LEADER     0
#define HELPER     1
#define PROGRAM    2

/* Blocks are 1 to N; a set has a bit for each. */
#define BIT(x)  (1 << (x))
#define READ    7 /* the key that the program may read */
#define CHANGED 2 /* the ephemeron whose last key it may change */
short children[N + 1];
short marked; /* the blocks of the live colour */

/* 0 is EMPTY. */
byte key[EPHEMERONS * KEYS], data[EPHEMERONS];

bool watching, table;
short slots;       /* the blocks that have a slot */
short first[N + 1]; /* by slot: a set of ephemerons */
bool lock;

short ring[3], stack[3], packets; /* a packet is one span */
bool busy, stopped, in_operation;

/* Ghost variables. */
short roots, waited; /* marked for another reason; ephemeron by ephemeron, as WAITED says */
bool keys_changed, over;
byte round, inside;

/* The first of a set that is not empty. */
inline choose(x, set) {
  d_step {
    x = 0;
    do
    :: set & BIT(x) -> break
    :: else -> x++
    od
  }
}

/* ---- ephemeron.c ---- */

/* A key that is not marked, or EMPTY. `at` is a place in `key`. */
inline unmet(ephemeron) {
  awaited = 0;
  at = ephemeron * KEYS;
  do
  :: at < ephemeron * KEYS + KEYS ->
     atomic { awaited = key[at]; at++ }
     if
     :: !awaited
     :: awaited && marked & BIT(awaited) -> awaited = 0
     :: awaited && !(marked & BIT(awaited)) -> break
     fi
  :: else -> break
  od;
  at = 0
}

#define IS_WAITING(ephemeron) (!(marked & BIT(data[ephemeron])))

/* A place in `waited`. Ephemerons 0 and 1 wait for nothing. */
#define WAITED(ephemeron) (((ephemeron) - 2) * KEYS + (awaited == key[(ephemeron) * KEYS + 1]))
inline check_wait(ephemeron) {
  d_step {
    for (i : 1 .. N) { assert(!(first[i] & BIT(ephemeron))) }
    assert(keys_changed || !(waited & BIT(WAITED(ephemeron))));
    waited = waited | BIT(WAITED(ephemeron));
    i = 0
  }
}

inline wait_for(ephemeron) {
  if
  :: !(slots & BIT(awaited)) -> skip /* no room */
  :: true ->
     check_wait(ephemeron);
     first[awaited] = first[awaited] | BIT(ephemeron);
     slots = slots | BIT(awaited)
  fi;
  awaited = 0
}

inline take_waiting(block) {
  taken = first[block];
  first[block] = 0
}

inline advance() {
  do
  :: list ->
     choose(e, list);
#ifndef TWIN_ONE_KEY
     unmet(e);
#endif
     list = list & ~BIT(e);
     if
     :: awaited -> wait_for(e)
     :: !awaited && IS_WAITING(e) ->
        mark_value(data[e]);
        take_waiting(data[e]);
        atomic { list = list | taken; taken = 0 }
     :: else
     fi
  :: else -> break
  od;
  e = 0
}

inline ephemerons_marked(block) {
  assert(table && mine == round);
  if
  :: slots & BIT(block) ->
#ifndef TWIN_NO_LOCK
     atomic { !lock -> lock = true }
#endif
     take_waiting(block);
     atomic { list = taken; taken = 0 }
#ifdef TWIN_KEEPS_LOCK
     if
     :: list -> advance(); lock = false
     :: else
     fi
#else
     advance();
     lock = false
#endif
  :: else
  fi
}

inline ephemerons_end() {
  watching = false;
#ifndef TWIN_KEPT_TABLE
  d_step {
    table = false;
    slots = 0;
    for (i : 1 .. N) { first[i] = 0 }
    i = 0
  }
#endif
}

inline conditions_of() {
  ready = false;
  own = 0;
  do
  :: own < EPHEMERONS ->
     if
#ifdef TWIN_COUNTS_MARKED
     :: true ->
#else
     :: IS_WAITING(own) ->
#endif
        unmet(own);
        ready = ready || !awaited;
        awaited = 0
#ifndef TWIN_COUNTS_MARKED
     :: else
#endif
     fi;
     own++
  :: else -> break
  od;
  own = 0
}

inline mark_ready() {
  do
  :: own < EPHEMERONS ->
     if
     :: IS_WAITING(own) ->
        unmet(own);
        if
        :: !awaited -> mark_value(data[own])
        :: else -> awaited = 0
        fi
     :: else
     fi;
     own++
  :: else -> break
  od;
  own = 0
}

inline ephemerons_mark() {
  ephemerons_end();
  conditions_of();
  if
  :: ready ->
     d_step { round++; waited = 0; table = true }
     if
     :: true ->
        do
        :: own < EPHEMERONS ->
           if
           :: IS_WAITING(own) -> list = BIT(own); advance()
           :: else
           fi;
           own++
        :: else -> break
        od;
        own = 0;
        watching = true
     :: true -> table = false; mark_ready()
     fi;
     mark_give_all()
  :: else
  fi
}

/* ---- mark.c ---- */

inline mark_value(block) {
  if
  :: !(marked & BIT(block)) ->
     atomic {
       marked = marked | BIT(block);
       stack[me] = (children[block] -> stack[me] | BIT(block) : stack[me])
     }
  :: else
  fi
}

inline visit(block) {
  if
  :: !(marked & BIT(block)) ->
#ifdef TWIN_EARLY_LOOKUP
     if
     :: watches -> ephemerons_marked(block)
     :: else
     fi;
#endif
     atomic {
       marked = marked | BIT(block);
       stack[me] = (children[block] -> stack[me] | BIT(block) : stack[me])
     }
#ifndef TWIN_EARLY_LOOKUP
     if
     :: watches -> ephemerons_marked(block)
     :: else
     fi
#endif
  :: else
  fi
}

inline mark_some() {
  d_step { watches = watching; mine = round }
  do
  :: ring[me] ->
     choose(block, ring[me]);
     ring[me] = ring[me] & ~BIT(block);
     visit(block);
     block = 0
  :: !ring[me] && stack[me] ->
     atomic {
       choose(block, stack[me]);
       stack[me] = stack[me] & ~BIT(block);
       ring[me] = children[block];
       block = 0
     }
  :: !ring[me] && !stack[me] ->
     atomic {
       if
       :: packets ->
          choose(block, packets);
          packets = packets & ~BIT(block);
          stack[me] = BIT(block);
          block = 0
       :: else -> break
       fi
     }
  :: may_return -> may_return = false; break
  od;
  atomic { watches = false; mine = 0 }
}

inline mark_give_all() {
  do
  :: ring[me] ->
     choose(block, ring[me]);
     ring[me] = ring[me] & ~BIT(block);
     mark_value(block);
     block = 0
  :: !ring[me] && stack[me] -> d_step { packets = packets | stack[me]; stack[me] = 0 }
  :: !ring[me] && !stack[me] -> break
  od
}

#define LOCALS                                              \
  byte block, e, at, awaited, i, mine;                      \
  short list, taken;                                        \
  bool watches

/* ---- what must be ---- */

inline keys_are_in(ephemeron, set) {
  met = true;
  for (j : ephemeron * KEYS .. ephemeron * KEYS + KEYS - 1) {
    if
    :: key[j] && !(set & BIT(key[j])) -> met = false
    :: else
    fi
  }
}

/* What the roots, the children and the ephemerons lead to. */
inline check_marked() {
  d_step {
    reached = roots;
    for (i : 1 .. N) {
      for (own : 1 .. N) { reached = reached | (reached & BIT(own) -> children[own] : 0) }
      for (own : 0 .. EPHEMERONS - 1) {
        keys_are_in(own, reached);
        reached = reached | (met -> BIT(data[own]) : 0)
      }
    }
    assert(!(reached & ~marked));
    assert(keys_changed || reached == marked);
    assert(!ring[LEADER] && !stack[LEADER] && !ring[HELPER] && !stack[HELPER] && !packets);
    i = 0;
    own = 0;
    j = 0;
    met = false;
    reached = 0
  }
}

/* ---- threads ---- */

#ifdef TWIN_IGNORED_HELPERS
#define OTHERS_HAVE_NOTHING (!packets)
#else
#define OTHERS_HAVE_NOTHING (!packets && !busy)
#endif

/* It stops the world when it finds nothing to mark, and no earlier. */
proctype leader() {
  LOCALS;
  byte me = LEADER, own, j;
  bool ready, met, may_return;
  short reached;
  do
  :: ring[me] || stack[me] || packets -> mark_some()
  :: !ring[me] && !stack[me] && OTHERS_HAVE_NOTHING ->
     stopped = true;
     !in_operation;
     if
     :: OTHERS_HAVE_NOTHING ->
#ifdef TWIN_NO_RECHECK
        if
        :: !round -> ephemerons_mark()
        :: else -> ready = false
        fi;
#else
        ephemerons_mark();
#endif
        if
        :: !ready -> break
        :: else
        fi
     :: else
     fi;
     stopped = false
  od;
  check_marked();
  over = true;
  stopped = false
}

proctype helper() {
  LOCALS;
  byte me = HELPER;
  bool may_return = true;
  do
  :: atomic {
       packets && !over -> busy = true;
       choose(block, packets);
       packets = packets & ~BIT(block);
       stack[me] = BIT(block);
       block = 0
     }
     mark_some();
     mark_give_all();
     busy = false
  :: over -> break
  od
}

/* A domain that does not mark. It reads, by weak_load or with a barrier, and stores a key. */
proctype program() {
  byte me = PROGRAM;
  if
  :: atomic { !stopped && !over -> in_operation = true }
     roots = roots | BIT(READ);
     mark_value(READ);
     in_operation = false;
     if
     :: atomic { !stopped && !over -> in_operation = true }
        keys_changed = true;
        if
        :: key[CHANGED * KEYS + 1] = READ
        :: key[CHANGED * KEYS + 1] = 0
        fi;
        in_operation = false
     :: true
     fi
  :: true
  fi
}

init {
  d_step {
    children[1] = BIT(3);
    children[2] = BIT(3) | BIT(4);
    data[0] = 1;
    data[1] = 2;
    key[2 * KEYS] = 3;
    key[2 * KEYS + 1] = 4;
    data[2] = 5;
    key[3 * KEYS] = 5;
    data[3] = 6;
    key[4 * KEYS] = 3;
    key[4 * KEYS + 1] = READ;
    data[4] = 8
  }
  atomic { run leader(); run helper(); run program() }
}
