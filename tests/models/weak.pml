/* SPDX-License-Identifier: MIT */
/* Weak blocks while the program runs: MARKING and CLEANING of src/gc/collect/weak.h, which M70, G50
 * and G53 of docs/semantics.md promise.
 *
 * Followed line by line: weak_load, weak_put, copy_key, weak_add, clean, weak_clean; of major.c
 * start_cycle, collect_markers, end_mark, end_cycle. Each load and store of a word, of a header's
 * colour and of the phase is one step.
 *
 * Left out: young keys (they change only while the world is stopped), helper threads and packets
 * (mark.pml), rounds of ephemerons (ephemeron.pml), stopping the world (stop.pml), weak blocks that
 * die. The world is stopped by a flag that domains respect between operations.
 *
 * A leader marks, cleans and sweeps in CYCLES cycles. Two domains read, store, copy and let go
 * meanwhile, unsynchronised. Each has one handle, and may make a weak array of its own. Both use
 * one ephemeron. Its key is block KEY, which leads to CHILD; its data are block DATUM.
 *
 * Proved:
 * - What a domain reads from a weak block, and what that leads to, is not freed while the domain
 *   has its handle. It is marked at the end of marking.
 * - A value that was erased is never read again. All weak blocks lose it at the same moment: when
 *   sweeping begins, each word of a weak block that is not EMPTY leads to a block that is marked.
 * - No key is erased while a handle leads to it.
 *
 * TWIN_NO_MARK (assertion violated): weak_load does not mark what it returns.
 * TWIN_SAFEPOINT (assertion violated): a domain stops between the load of the word and the mark.
 * TWIN_LATE_CLEAN (assertion violated): sweeping begins, and the domains run, before weak_clean.
 * TWIN_EARLY_CLEAN (assertion violated): weak_clean comes before the data of ephemerons are marked.
 * TWIN_IGNORED_MARKER (assertion violated): the end of marking does not look at what the markers of
 *   other domains hold.
 * TWIN_KEPT_DATA (assertion violated): clean empties keys alone.
 * TWIN_UNLISTED (assertion violated): a weak block that is born while marking goes on is not put
 *   into the table.
 * TWIN_NO_LOCK (assertion violated): weak_add does not take the lock.
 *
 * Sources: src/gc/collect/weak.c, src/gc/collect/weak.h, src/gc/api/weak.c.
 * Sources: src/gc/collect/major.c.
 * Search: safety, safety_even (both domains do as many operations). */
#define CYCLES     2
#ifdef SEARCH_safety_even
#define OPERATIONS 2
#else
#define OPERATIONS (me == 1 -> 3 : 1)
#endif
#define DOMAINS    3 /* the leader's is 0 */

#define BIT(x) (1 << (x))
#define KEY    1
#define CHILD  2
#define DATUM  3
#define REST(set) ((set) | ((set) & BIT(KEY) -> BIT(CHILD) : 0)) /* what a set leads to */

#define IDLE  0
#define MARK  1
#define SWEEP 2
byte phase;
byte marked = BIT(KEY) | BIT(CHILD) | BIT(DATUM), freed; /* sets */
byte stack[DOMAINS];

/* Weak block 0 is the ephemeron that both use, 1 and 2 are those of domains 1 and 2. 0 is EMPTY. */
#define SHARED 0
byte key[DOMAINS] = 0, datum;
byte blocks[DOMAINS], count; /* the table: a weak block + 1 */
bool lock;

byte handle[DOMAINS];
bool stopped, in_operation[DOMAINS];

/* Ghost variables. */
byte erased, read_in_cycle; /* sets */

/* ---- mark.c ---- */

inline mark_value(value) {
  if
  :: !(marked & BIT(value)) ->
     atomic { marked = marked | BIT(value); stack[me] = (value == KEY -> stack[me] | BIT(KEY) : stack[me]) }
  :: else
  fi
}

/* All but the spans of other domains. */
inline mark_some() {
  do
  :: stack[0] -> stack[0] = 0; mark_value(CHILD)
  :: else -> break
  od
}

/* ---- weak.c: domains ---- */

inline check_handle() {
  assert(!(REST(BIT(handle[me])) & freed))
}

inline weak_load(word) {
  value = word;
  assert(!value || !(erased & BIT(value)));
#ifdef TWIN_SAFEPOINT
  in_operation[me] = false;
  atomic { !stopped -> in_operation[me] = true }
#endif
#ifndef TWIN_NO_MARK
  if
  :: value && phase == MARK -> mark_value(value)
  :: else
  fi;
#endif
  d_step {
    handle[me] = value;
    read_in_cycle = (value && phase == MARK -> read_in_cycle | BIT(value) : read_in_cycle);
    check_handle();
    value = 0
  }
}

inline weak_put(word, stored) { word = stored }

inline copy_key() {
  value = key[SHARED];
  assert(!value || !(erased & BIT(value)));
  weak_put(key[me], value);
  value = 0
}

inline weak_add() {
#ifdef TWIN_UNLISTED
  if
  :: phase == MARK -> goto added
  :: else
  fi;
#endif
#ifndef TWIN_NO_LOCK
  atomic { !lock -> lock = true }
#endif
  seen = count;
  blocks[seen] = me + 1;
  count = seen + 1;
  seen = 0;
  lock = false;
#ifdef TWIN_UNLISTED
added: skip
#endif
}

proctype program(byte me) {
  byte value, seen, operations = OPERATIONS;
  bool has_array;
  do
  :: atomic { operations && !stopped -> in_operation[me] = true; operations-- }
     if
     :: weak_load(key[SHARED])
     :: weak_load(datum)
     :: has_array -> weak_load(key[me])
     :: has_array -> copy_key()
     :: !has_array -> weak_add(); has_array = true; copy_key()
     :: handle[me] -> weak_put(key[SHARED], handle[me])
     :: handle[me] -> weak_put(datum, handle[me])
     :: weak_put(key[SHARED], 0)
     :: handle[me] == KEY -> d_step { check_handle(); handle[me] = CHILD; check_handle() }
     :: handle[me] -> d_step { check_handle(); handle[me] = 0 }
     fi;
     in_operation[me] = false
  :: atomic { !operations -> break }
  od
}

/* ---- weak.c: cleaning ---- */

#define HANDLES (REST(BIT(handle[1]) | BIT(handle[2])) & ~BIT(0))

inline clean(w) {
  if
  :: key[w] && !(marked & BIT(key[w])) ->
     assert(!(HANDLES & BIT(key[w])));
     erased = erased | BIT(key[w]);
     key[w] = 0;
#ifndef TWIN_KEPT_DATA
     datum = (w == SHARED -> 0 : datum)
#endif
  :: else
  fi;
  assert(w != SHARED || !datum || marked & BIT(datum))
}

/* One step: the world is stopped. */
inline weak_clean() {
  d_step {
    do
    :: at < count -> clean(blocks[at] - 1); at++
    :: else -> break
    od;
    at = 0
  }
}

inline check_cleaned() {
  d_step {
    for (at : 0 .. DOMAINS - 1) { assert(!key[at] || marked & BIT(key[at])) }
    assert(!datum || marked & BIT(datum));
    assert(!((HANDLES | REST(read_in_cycle)) & ~marked));
    read_in_cycle = 0;
    at = 0
  }
}

/* ---- major.c ---- */

inline stop() {
  stopped = true;
  !in_operation[1] && !in_operation[2]
}

inline start_cycle() {
  d_step {
    phase = MARK;
    marked = BIT(handle[1]) | BIT(handle[2]) & ~BIT(0);
    stack[0] = marked & BIT(KEY)
  }
}

/* One round finds all. The world is stopped. */
inline ephemerons_mark() {
  if
  :: datum && !(marked & BIT(datum)) && (!key[SHARED] || marked & BIT(key[SHARED])) ->
     found = true;
     mark_value(datum)
  :: else
  fi
}

inline end_mark() {
#ifndef TWIN_IGNORED_MARKER
  d_step { stack[0] = stack[0] | stack[1] | stack[2]; stack[1] = 0; stack[2] = 0 }
#endif
  found = false;
  if
  :: !stack[0] ->
#ifndef TWIN_EARLY_CLEAN
     ephemerons_mark();
#endif
     if
     :: !found ->
#ifdef TWIN_LATE_CLEAN
        phase = SWEEP;
        stopped = false;
        weak_clean();
#else
        weak_clean();
        check_cleaned();
        phase = SWEEP
#endif
     :: else
     fi
  :: else
  fi
}

/* A block stays freed, so the worst is that all are freed at once. */
inline sweep() { freed = freed | (BIT(KEY) | BIT(CHILD) | BIT(DATUM)) & ~marked }

active proctype leader() {
  byte me, at, cycles = CYCLES;
  bool found;
  d_step {
    key[SHARED] = KEY;
    datum = DATUM;
    blocks[0] = SHARED + 1;
    count = 1;
    handle[1] = KEY
  }
  atomic { run program(1); run program(2) }
  do
  :: cycles ->
     stop();
     start_cycle();
     stopped = false;
     do
     :: phase == MARK ->
        mark_some();
        stop();
        end_mark();
        stopped = false
     :: else -> break
     od;
     sweep();
     stop();
     phase = IDLE;
     stopped = false;
     cycles--
  :: else -> break
  od
}
