/* A trace and its history: src/trace/history.h, src/compact/compact.c.
 *
 * Followed step by step: compact_locked and what it calls; trace_reader_open up to the end of the file; and the
 * writer, which seals a chunk as it leaves it, and which takes sealed chunks out of a file that has reached its
 * bound, oldest first.
 *
 * A chunk has a number of records; each step of a process is one that another process can see: a record is
 * published, a chunk is sealed, a history is renamed, a hole is made. The compactor may be killed before each
 * step of its own that others see; compactors come one after another, since each holds a lock.
 *
 * Proved:
 * - A reader finds all records that were published before it began, each in one place, but for those of
 *   chunks of which the trace says that they were dropped.
 * - It is not told of a dropped chunk whose records it has.
 * - When all is quiet, each record is in the history or in the trace, or its chunk is told as dropped.
 *
 * TWIN_HOLES_FIRST (assertion violated): holes are made before the new history has its name.
 * TWIN_NO_LOCK (assertion violated): holes are made without a look at readers.
 * TWIN_OPEN_CHUNKS (assertion violated): chunks are taken over that are not sealed.
 * TWIN_READ_LATER (assertion violated): the compactor finds chunks, and reads them in the file afterwards.
 *
 * Sources: src/trace/history.h, src/trace/history.c, src/trace/reader.c, src/compact/compact.c, src/compact/excerpt.c.
 * Search: safety. */
#define CHUNKS     2
#define COMPACTORS 2

/* The trace. */
byte records[CHUNKS]; /* published; 0: nothing is there yet, or a hole */
bool sealed[CHUNKS], dropped[CHUNKS];
/* The history that has the name. */
bool has[CHUNKS];
byte kept[CHUNKS]; /* records */

byte readers; /* with a lock */

/* Ghost variables: only assertions read them. */
byte published[CHUNKS];

proctype writer() {
  byte chunk = 0, oldest = 0;
  do
  :: chunk < CHUNKS ->
     atomic { records[chunk] = 1; published[chunk] = 1 };
     if
     :: atomic { records[chunk] = 2; published[chunk] = 2 }
     :: skip
     fi;
     sealed[chunk] = true;
     chunk++
  :: oldest < chunk -> /* at the bound; holes that a compactor made are passed over */
     if
     :: records[oldest] != 0 ->
        dropped[oldest] = true;
        records[oldest] = 0
     :: else -> skip
     fi;
     oldest++
  :: chunk == CHUNKS -> break
  od
}

proctype compactors() {
  bool takes[CHUNKS], any;
  byte read[CHUNKS], i, number = 0;
again:
  /* Step 1. */
  atomic {
    any = false;
    for (i : 0 .. CHUNKS - 1) {
      takes[i] = false;
      read[i] = 0
    }
    i = 0
  };
  do
  :: i < CHUNKS ->
     atomic {
#ifdef TWIN_OPEN_CHUNKS
       takes[i] = (!has[i] && records[i] != 0);
#else
       takes[i] = (!has[i] && sealed[i] && records[i] != 0);
#endif
       read[i] = (has[i] -> kept[i] : (takes[i] -> records[i] : 0))
     };
     any = any || takes[i];
     i++
  :: else -> i = 0; break
  od;
  if
  :: !any -> goto holes
  :: else -> skip
  fi;
  /* Step 2. */
#ifdef TWIN_READ_LATER
  do
  :: i < CHUNKS ->
     if
     :: takes[i] -> read[i] = records[i]
     :: else -> skip
     fi;
     i++
  :: else -> i = 0; break
  od;
#endif
  if
  :: goto killed
  :: skip
  fi;
#ifdef TWIN_HOLES_FIRST
  do
  :: i < CHUNKS ->
     if
     :: takes[i] -> atomic { readers == 0 -> records[i] = 0 }
     :: else -> skip
     fi;
     i++
  :: else -> i = 0; break
  od;
#endif
  /* Step 3. */
  atomic {
    for (i : 0 .. CHUNKS - 1) {
      has[i] = has[i] || takes[i];
      kept[i] = read[i]
    }
    i = 0
  };
holes:
  /* Step 4: with the lock, so that no reader begins meanwhile; one that waits too long for it goes on. */
  do
  :: i < CHUNKS ->
     if
     :: goto killed
     :: skip
     fi;
     if
#ifdef TWIN_NO_LOCK
     :: has[i] -> records[i] = 0
#else
     :: atomic { has[i] && readers == 0 -> records[i] = 0 }
     :: has[i] && readers != 0 -> skip /* the next compactor */
#endif
     :: !has[i] -> skip
     fi;
     i++
  :: else -> i = 0; break
  od;
killed:
  atomic {
    number++;
    if
    :: number < COMPACTORS -> goto again
    :: else -> skip
    fi
  }
}

proctype reader() {
  bool old_has[CHUNKS], was_dropped;
  byte old_kept[CHUNKS], least[CHUNKS], seen, i;
  atomic {
    readers++;
    for (i : 0 .. CHUNKS - 1) {
      least[i] = published[i]
    }
    i = 0
  };
  atomic { /* the history is opened */
    for (i : 0 .. CHUNKS - 1) {
      old_has[i] = has[i];
      old_kept[i] = kept[i]
    }
    i = 0
  };
  do
  :: i < CHUNKS ->
     if
     :: old_has[i] -> seen = old_kept[i]
     :: else -> seen = records[i]
     fi;
     /* Chunks that are written later tell of those that were dropped. */
     was_dropped = dropped[i] && !old_has[i];
     assert(seen >= least[i] || was_dropped);
     i++
  :: else -> break
  od;
  readers--
}

init {
  byte i;
  atomic {
    run writer();
    run compactors();
    run reader()
  };
  (_nr_pr == 1);
  for (i : 0 .. CHUNKS - 1) {
    assert(published[i] == 2 || published[i] == 1);
    assert((has[i] && kept[i] == published[i]) || (!has[i] && records[i] == published[i]) || (dropped[i] && !has[i]));
  }
}
