/* The shipping of a batch to a server: src/cli/fleet/shipper.h.
 *
 * Followed step by step: shipper_ship for one window, of which `samples` and `loads` are the two tables that matter;
 * and the server, with the system between them. A request is on its way, is executed, in system.processes, and ends
 * well or not. Its reply may be lost at any time; then the shipper goes on, while the request does, too. The shipper
 * may be killed after each of its steps, and knows nothing afterwards. The server may be killed: what it executes
 * ends. What a killed or impatient shipper has sent may arrive later, but not after the shipper has waited (LATE):
 * the step 1a.
 *
 * Proved:
 * - The rows of a batch are inserted once at most into each table, and into `loads` only when those of `samples` are
 *   there.
 * - When the shipper says that it is done, both are there.
 *
 * TWIN_NO_QUESTION (assertion violated): the shipper sends again without asking what is there.
 * TWIN_NO_PROCESSES (assertion violated): it asks that while an insertion may be being executed.
 * TWIN_NO_WAIT (assertion violated): it does not wait for what may be on its way.
 * TWIN_ASKS_FIRST (assertion violated): it asks what is there, and whether something is being executed afterwards.
 * TWIN_LOADS_FIRST (assertion violated): `loads` is written before `samples`.
 *
 * Sources: src/cli/fleet/shipper.c, src/cli/fleet/shipper.h, src/cli/fleet/http.h.
 * Search: safety. */
#define SAMPLES 0
#define LOADS   1
#define SENT_MOST 3 /* insertions into a table */

#define NEVER     0
#define ON_WAY    1
#define EXECUTING 2
#define ENDED     3

byte rows[2]; /* how often the rows were inserted */
byte state[6]; /* of an insertion: SENT_MOST of each table */
bool good[6]; /* it ended well */
byte sent[2];

#define is_on_way    (state[0] == ON_WAY || state[1] == ON_WAY || state[2] == ON_WAY || \
                      state[3] == ON_WAY || state[4] == ON_WAY || state[5] == ON_WAY)
#define is_executing (state[0] == EXECUTING || state[1] == EXECUTING || state[2] == EXECUTING || \
                      state[3] == EXECUTING || state[4] == EXECUTING || state[5] == EXECUTING)

proctype server() {
  byte i;
end:
  do
  :: atomic { /* a request is begun */
       is_on_way;
       if
       :: i = 0 :: i = 1 :: i = 2 :: i = 3 :: i = 4 :: i = 5
       fi;
       if
       :: state[i] == ON_WAY -> state[i] = EXECUTING
       :: else -> skip
       fi
     }
  :: atomic { /* its rows are there at once */
       is_executing;
       if
       :: i = 0 :: i = 1 :: i = 2 :: i = 3 :: i = 4 :: i = 5
       fi;
       if
       :: state[i] == EXECUTING ->
          rows[i / SENT_MOST]++;
          good[i] = true;
          state[i] = ENDED;
          assert(rows[i / SENT_MOST] == 1);
          assert(i / SENT_MOST == SAMPLES || rows[SAMPLES] == 1)
       :: else -> skip
       fi
     }
  :: atomic { /* it fails, or the server is killed: all that is executed ends */
       is_executing;
       for (i : 0 .. 5) {
         if
         :: state[i] == EXECUTING -> state[i] = ENDED
         :: else -> skip
         fi
       }
     }
  od
}

proctype shipper() {
  bool has[2];
  byte mine;
unknown:
  has[SAMPLES] = false;
  has[LOADS] = false;
#ifndef TWIN_NO_QUESTION
#ifdef TWIN_ASKS_FIRST
  has[LOADS] = rows[LOADS] > 0;
  has[SAMPLES] = rows[SAMPLES] > 0;
#endif
#ifndef TWIN_NO_WAIT
  /* Step 1a. */
  !is_on_way;
#endif
#ifndef TWIN_NO_PROCESSES
  /* Step 1b: it is tried again. */
  if
  :: is_executing -> goto unknown
  :: else -> skip
  fi;
#endif
#ifndef TWIN_ASKS_FIRST
  /* Step 1c. */
  has[LOADS] = rows[LOADS] > 0;
  has[SAMPLES] = rows[SAMPLES] > 0;
#endif
#endif
  if
  :: has[LOADS] -> goto finished
  :: else -> skip
  fi;
#ifdef TWIN_LOADS_FIRST
  goto step_3;
#endif
step_2:
  if
  :: !has[SAMPLES] && sent[SAMPLES] < SENT_MOST ->
     atomic { mine = sent[SAMPLES]; sent[SAMPLES]++; state[mine] = ON_WAY };
     if
     :: atomic { state[mine] == ENDED && good[mine] -> has[SAMPLES] = true }
     :: atomic { state[mine] == ENDED && !good[mine] -> goto unknown }
     :: goto unknown /* the reply is lost, or the shipper killed */
     fi
  :: !has[SAMPLES] && sent[SAMPLES] == SENT_MOST -> goto given_up /* the model's bound */
  :: has[SAMPLES] -> skip
  fi;
step_3:
  if
  :: sent[LOADS] < SENT_MOST ->
     atomic { mine = SENT_MOST + sent[LOADS]; sent[LOADS]++; state[mine] = ON_WAY };
     if
     :: atomic { state[mine] == ENDED && good[mine] -> goto finished }
     :: atomic { state[mine] == ENDED && !good[mine] -> goto unknown }
     :: goto unknown
     fi
  :: else -> goto given_up
  fi;
finished:
  assert(rows[SAMPLES] == 1 && rows[LOADS] == 1);
given_up:
  skip
}

init {
  atomic {
    run server();
    run shipper()
  }
}
