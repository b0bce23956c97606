/* The control file of a recording: src/trace/control.h.
 *
 * Followed line by line: recordings_ask; control_claim and control_done, and what obey of commands.c
 * does between the last two.
 *
 * The memory model is that of x86-64 (TSO), in which the stores of a thread reach memory in their order. A
 * command's stores are single steps, between which anything may happen; a command may be killed before each
 * of them, which frees the lock of the file. The two threads of the process look again and again.
 *
 * Left out: the time at which a rate ends by itself, which a thread with `busy` does likewise.
 *
 * Proved:
 * - When all is quiet, the process has done the last request, and samples at its rate: commands that were
 *   killed before their last step have changed nothing.
 * - The number that is done never exceeds the number that was asked.
 * - The trace records no change of the rate to the rate in effect.
 *
 * TWIN_NUMBER_FIRST (assertion violated): a command increments the number before it stores the rate.
 * TWIN_NO_LOCK (assertion violated): commands do not lock the file.
 * TWIN_NO_BUSY (assertion violated): several threads do what is asked at once, so a change is recorded
 *   twice, and a slow thread stores an older rate after a newer one.
 * TWIN_ONE_PLACE (assertion violated): all numbers have one place for their rates, so a command that is
 *   killed changes the request before it.
 * TWIN_RATE_FIRST (assertion violated): a thread reads the rate before the number.
 * TWIN_EVERY_REQUEST (assertion violated): each request is recorded as a change, also the one whose rate a
 *   slow thread has read for the request before it.
 *
 * Sources: src/trace/control.h, src/trace/control.c, src/preload/commands.c, src/cli/recordings.c.
 * Search: safety. */
#define COMMANDS 3
#define THREADS  2
#ifdef TWIN_ONE_PLACE
#define PLACE(number) 0
#else
#define PLACE(number) (number % 2)
#endif

byte asked_rate[2], asked; /* of the page; rate 0 is that of the beginning */
byte done, rate;        /* rate: at which the process samples */
bool busy, locked;

/* Ghost variables: only assertions and guards of this model read them. */
byte last;                     /* the rate of the last command that took its last step */
byte recorded;                 /* the rate of the last change that the trace records */
byte commands_left = COMMANDS; /* that have not ended */
byte obeying;                  /* threads between claim and done */

#define QUIET (commands_left == 0 && obeying == 0 && asked == done)

proctype command(byte own) {
  byte number;
#ifndef TWIN_NO_LOCK
  atomic { !locked -> locked = true };
#endif
  if
  :: goto killed
  :: skip
  fi;
#ifdef TWIN_NUMBER_FIRST
  number = asked + 1;
  atomic { asked = number; last = own };
  asked_rate[PLACE(number)] = own;
#else
  number = asked + 1;
  asked_rate[PLACE(number)] = own;
  if
  :: goto killed
  :: skip
  fi;
  atomic { asked = number; last = own };
#endif
killed:
  atomic { locked = false; commands_left-- }
}

proctype thread() {
  byte number, new_rate;
end:
  do
  :: asked != done ->
#ifndef TWIN_NO_BUSY
     if
     :: atomic { !busy -> busy = true; obeying++ }
     :: atomic { busy -> goto end }
     fi;
#else
     obeying++;
#endif
#ifdef TWIN_RATE_FIRST
     new_rate = asked_rate[PLACE(asked)];
     number = asked;
#else
     number = asked;
     new_rate = asked_rate[PLACE(number)];
#endif
     if
     :: number == done -> skip
     :: else ->
#ifndef TWIN_EVERY_REQUEST
        if
        :: new_rate == rate -> goto unchanged
        :: else -> skip
        fi;
#endif
        assert(new_rate != recorded);
        atomic { rate = new_rate; recorded = new_rate };
unchanged:
        done = number;
        assert(done <= asked)
     fi;
     atomic { busy = false; obeying--; number = 0; new_rate = 0 }
  :: atomic { QUIET -> assert(rate == last); goto over }
  od;
over:
  skip
}

init {
  byte i;
  atomic {
    for (i : 1 .. COMMANDS) { run command(i) }
    for (i : 1 .. THREADS) { run thread() }
    i = 0
  }
}
