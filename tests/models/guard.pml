/* The guard of a table of young samples: GUARD of src/memprof/young.h.
 *
 * Followed line by line: young_lock, young_unlock, young_stand_back, young_seize, young_release.
 *
 * The memory model is that of x86-64 (TSO). A store goes into the store buffer of its thread, and
 * from there to memory at any later time, in order. The thread's own loads see its newest store.
 * The buffer is empty before an exchange of the thread, and at some time while another thread makes
 * it pass a fence (fence_heavy).
 *
 * Left out: fence_heavy where the system has none (both sides have ordinary fences then); weaker
 * memory models; an owner's side that is another thread after the world was stopped (which empties
 * the buffer). A loop that waits is one step: the condition that it waits for.
 *
 * The owner's side takes the guard several times, and so do two other threads. A row of the table
 * is a number that each of them reads and then increments.
 *
 * Proved:
 * - One thread has the guard at a time.
 * - A thread that has the guard sees the stores of the thread that had it before.
 * - No thread waits for ever.
 *
 * TWIN_NO_FENCE (assertion violated): a thread that seizes the table makes no fence pass.
 * TWIN_EARLY_FENCE (assertion violated): a thread makes the fence pass before it seizes the table.
 * TWIN_EARLY_LOOK (assertion violated): the owner's side reads `seized`, then stores `entered`.
 * TWIN_NO_WAIT (assertion violated): a thread that seizes the table does not wait until `entered`
 *   is false.
 * TWIN_PLAIN_SEIZE (assertion violated): a thread seizes the table by a load and a store, without
 *   exchange.
 * TWIN_STUBBORN_OWNER (invalid end state): the owner's side leaves `entered` set while it waits.
 *
 * Sources: src/memprof/young.h, src/memprof/young.c, src/base/fence.c.
 * Search: safety. */
#define OWNER   0
#define THREADS 3

#define ENTERED 0
#define SEIZED  1
#define ROW     2
byte word[3]; /* in memory */
chan buffer[THREADS] = [4] of { byte, byte };

/* Ghost variables: only assertions and guards of this model read them. */
byte newest[THREADS], unseen[THREADS]; /* the row as a thread last stored it; its stores in the buffer */
byte written; /* the value that the row should have */
bool inside;

inline store(which, value) { buffer[me]!which,value }

/* fence_heavy; before it there is an exchange. */
inline fence() { atomic { empty(buffer[OWNER]) -> skip } }

#define ROW_SEEN (unseen[me] -> newest[me] : word[ROW])
inline use() {
  atomic { assert(!inside); inside = true; row = ROW_SEEN; assert(row == written) };
  atomic { row++; store(ROW, row); newest[me] = row; unseen[me]++; written = row; row = 0 };
  inside = false
}

inline young_lock() {
  do
  ::
#ifdef TWIN_EARLY_LOOK
     atomic { !word[SEIZED] -> skip };
     store(ENTERED, true);
     break
#else
     store(ENTERED, true);
     if
     :: atomic { !word[SEIZED] -> break }
     :: atomic { word[SEIZED] -> skip }; young_stand_back()
     fi
#endif
  od
}

inline young_unlock() { store(ENTERED, false) }

inline young_stand_back() {
#ifndef TWIN_STUBBORN_OWNER
  young_unlock();
#endif
  atomic { !word[SEIZED] -> skip }
}

inline young_seize() {
#ifdef TWIN_EARLY_FENCE
  fence();
#endif
#ifdef TWIN_PLAIN_SEIZE
  atomic { empty(buffer[me]) && !word[SEIZED] -> skip };
  word[SEIZED] = true;
#else
  atomic { empty(buffer[me]) && !word[SEIZED] -> word[SEIZED] = true };
#endif
#if !defined(TWIN_NO_FENCE) && !defined(TWIN_EARLY_FENCE)
  fence();
#endif
#ifndef TWIN_NO_WAIT
  atomic { !word[ENTERED] -> skip }
#endif
}

inline young_release() { store(SEIZED, false) }

proctype owner(byte me, times) {
  byte row;
  do
  :: atomic { times -> times-- };
     young_lock();
     use();
     young_unlock()
  :: atomic { !times -> break }
  od
}

proctype other(byte me, times) {
  byte row;
  do
  :: atomic { times -> times-- };
     young_seize();
     use();
     young_release()
  :: atomic { !times -> break }
  od
}

proctype memory(byte thread) {
  byte which, value;
end:
  do
  :: atomic {
       buffer[thread]?which,value ->
       word[which] = value;
       unseen[thread] = unseen[thread] - (which == ROW);
       which = 0;
       value = 0
     }
  od
}

init {
  byte t;
  atomic {
    run owner(OWNER, 3);
    run other(1, 2);
    run other(2, 2);
    do
    :: t < THREADS -> run memory(t); t++
    :: else -> break
    od
  }
}
/* SPDX-License-Identifier: MIT */
