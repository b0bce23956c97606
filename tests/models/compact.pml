/* The workers of a compaction: src/gc/collect/compact.c, do_step, compact_join, evacuate and update.
 *
 * A leader does two steps, of TASKS tasks each. WORKERS threads join and leave as they like: each can be
 * delayed between any two of its steps, and can join twice. `work` is which step's function a worker
 * calls. Between the steps the leader flushes the pools into which workers copy; after the second it
 * gives the old memory back. The world is stopped by the leader all the time; stop.pml is about that.
 *
 * Proved:
 * - Each task of each step is done, and none twice.
 * - No worker is in a task while the leader flushes pools, or gives memory back.
 * - No worker does a task of another step than the one that the leader is in.
 * - The leader comes to an end.
 *
 * TWIN_LATE_ACTIVE (assertion violated): a worker reads `open` before it increments `active`, and not after.
 * TWIN_EARLY_WORK (assertion violated): a worker reads which function to call before it increments `active`.
 * TWIN_NO_WAIT (assertion violated): the leader does not wait until `active` is 0.
 * TWIN_STAYS_OPEN (assertion violated): the leader waits before it clears `open`.
 * TWIN_FORGETS (invalid end state): a worker that comes too late does not decrement `active`.
 *
 * Sources: src/gc/collect/compact.c, src/gc/collect/compact.h.
 * Search: safety. */
#define WORKERS 2
#define TASKS   2
#define STEPS   2
#define NONE    255

bool open, alone, over;
byte inside; /* `active` of the code */
byte next, work, step = NONE;
byte done[4]; /* STEPS * TASKS */

/* Takes tasks of the step `mine_of` until none is left. */
inline do_tasks(mine_of) {
  do
  :: d_step { task = next; next++ }
     if
     :: task >= TASKS -> break
     :: else ->
        assert(!alone && mine_of == step);
        done[mine_of * TASKS + task]++
     fi
  od;
  task = 0
}

proctype worker() {
  byte task, mine, joins;
  do
  :: joins == 2 || over -> break
  :: open && joins < 2 ->
     joins++;
#ifdef TWIN_EARLY_WORK
     mine = work;
#endif
#ifdef TWIN_LATE_ACTIVE
     if :: open -> skip :: else -> goto next_time fi;
     inside++;
#else
     inside++;
     if
     :: open -> skip
     :: else ->
#ifndef TWIN_FORGETS
        inside--;
#endif
        goto next_time
     fi;
#endif
#ifndef TWIN_EARLY_WORK
     mine = work;
#endif
     do_tasks(mine);
     inside--;
next_time:
     mine = 0
  od
}

active proctype leader() {
  byte task, i;
  run worker();
  run worker();
  do
  :: i == STEPS -> break
  :: else ->
     work = i;
     next = 0;
     step = i;
     open = true;
     do_tasks(i);
#ifdef TWIN_STAYS_OPEN
     inside == 0;
     open = false;
#else
     open = false;
#ifndef TWIN_NO_WAIT
     inside == 0;
#endif
#endif
     alone = true;
     step = NONE;
     alone = false;
     i++
  od;
  alone = true;
  assert(done[0] == 1 && done[1] == 1 && done[2] == 1 && done[3] == 1);
  over = true
}
